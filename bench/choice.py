# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Does "auto" take the faster engine, for networks that nobody looked at when its numbers were made?

    choice.py            exports them, runs each on both engines, prints, keeps the figures in build/bench/choice.json
    choice.py --write    makes the table in docs/concepts/realtime.md from those figures

The numbers behind the choice (src/engine/native/speed.cpp) come from single operators (bench/operators.py) and from the
networks of bench/engines.py; none of these here. Times are of the thread's own work, so that others on the machine
count for little. Build bench_operators first.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pages
from processes import OURS, ROOT, call, environment_of

PROGRAM = ROOT / "build" / "default" / "bench" / "bench_operators"
PAGE = ROOT / "docs" / "concepts" / "realtime.md"
ROUNDS = 3


def networks() -> dict[str, tuple[str, Callable[[], Any], tuple[int, ...]]]:
    """Name: what it is, how it is made, the shape of an observation."""
    import other_policies as made

    return {
        "rough": ("MLP 235-512-256-128-12", lambda: made.mlp(235, 512, 256, 128, 12), (1, 235)),
        "wide": ("MLP 376-1024-1024-17, 8 rows", lambda: made.mlp(376, 1024, 1024, 17), (8, 376)),
        "dreamer": ("residual MLP, LayerNorm and SiLU, 4 x 256", lambda: made.Residual(256, 4), (1, 64)),
        "lstm": ("LSTM, 2 layers of 128, 16 moments", lambda: made.Lstm(48, 128, 2), (16, 1, 48)),
        "history": ("1-D convolutions over 50 moments of 42", lambda: made.History(42), (1, 42, 50)),
        "impala": ("IMPALA's CNN, 3x64x64", lambda: made.Impala(3), (1, 3, 64, 64)),
        "depthwise": ("depthwise CNN (MobileNet-like), 3x96x96", lambda: made.Depthwise(3), (1, 3, 96, 96)),
        "decoder": ("decoder of pictures, ConvTranspose to 3x64x64", lambda: made.Decoder(64), (1, 64)),
        "tokens": ("transformer encoder, d 128, 3 layers, 16 tokens", lambda: made.Tokens(128, 3), (1, 16, 128)),
        "points": ("PointNet-like, 1,024 points", lambda: made.Points(), (1, 1024, 3)),
        "unet": ("1-D U-Net with GroupNorm and Mish (diffusion), 16 moments", lambda: made.Unet(14), (1, 14, 16)),
    }


def export(folder: Path) -> dict[str, str]:
    """Each as a bundle of one node; where its model is."""
    import leapp
    import torch
    from leapp import annotate

    torch.set_num_threads(1)
    found = {}
    with torch.no_grad():
        for name, (_, make, shape) in networks().items():
            torch.manual_seed(0)
            network = make().eval()
            leapp.start(name, save_path=str(folder))
            obs = annotate.input_tensors("policy", {"obs": torch.randn(*shape)})
            annotate.output_tensors("policy", {"action": network(obs)}, export_with="onnx")
            leapp.stop()
            leapp.compile_graph(visualize=False, validate=False)
            found[name] = str(folder / name / "policy.onnx")
    return found


def measure(path: str) -> dict[str, Any]:
    """The round with the lowest sum; in one process both engines run in turns."""
    rounds = []
    for _ in range(ROUNDS):
        done = subprocess.run([PROGRAM, path], capture_output=True, text=True, check=False, env=environment_of(PROGRAM))
        if done.returncode != 0:
            return {"falls_back": done.stderr.strip()}
        rounds.append(json.loads(done.stdout))
    return min(rounds, key=lambda row: float(row["native"]) + float(row["onnxruntime"]))


def is_slower(row: dict[str, Any]) -> bool:
    """Whether "auto" takes an engine that is slower by more than a tenth and a microsecond."""
    own, other = row["native"], row["onnxruntime"]
    lost = own - other if row["wins"] else other - own
    return bool(lost > 1 and lost > 0.1 * min(own, other))


def report() -> None:
    rows: dict[str, Any] = {}
    print(
        f"\nnetworks that the choice was not made from; us of one step  {'own':>10s} {'ORT':>10s} {'ratio':>6s}  auto"
    )
    with tempfile.TemporaryDirectory() as folder:
        paths = call(OURS, Path(__file__), "--export", folder)
        for name, (text, _, _) in networks().items():
            row = rows[name] = measure(paths[name])
            if "falls_back" in row:
                print(f"  {text:58s} falls back: {row['falls_back'][:120]}", flush=True)
                continue
            own, other, taken = row["native"], row["onnxruntime"], "native" if row["wins"] else "onnxruntime"
            slower = "  SLOWER" if is_slower(row) else ""
            print(f"  {text:58s} {own:10.1f} {other:10.1f} {own / other:6.2f}  {taken}{slower}", flush=True)
    pages.keep("choice", {"rows": rows})


def table(figures: dict[str, Any]) -> str:
    rows = []
    for name, (text, _, _) in networks().items():
        row = figures["rows"][name]
        if "falls_back" in row:
            rows.append([text, "not covered", "", "", "onnxruntime"])
            continue
        own, other, taken = row["native"], row["onnxruntime"], "native" if row["wins"] else "onnxruntime"
        note = ", the slower one" if is_slower(row) else ""
        rows.append([text, f"{own:.1f}", f"{other:.1f}", f"{own / other:.2f}", taken + note])
    head = pages.taken(figures, "microseconds of one run of the model, the thread's own time")
    return "\n".join(pages.table(head, ["", "LEAPP's own engine", "ONNX Runtime", "ratio", "`auto` takes"], rows))


def write() -> None:
    pages.put(PAGE, "choice", table(pages.kept("choice")))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--export"]:
        print(json.dumps(export(Path(sys.argv[2]))))
    else:
        write() if sys.argv[1:] == ["--write"] else report()
