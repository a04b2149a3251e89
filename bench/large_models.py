# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Memory and time of large made-up models: capture, compile, validate, load and run.

Weights are matrices of 64 MiB (float32) drawn at random. Every case runs in processes of its own; memory is the peak of
what a process had in memory that no file holds (RssAnon), less what the program had by itself before.

    python bench/large_models.py --sizes 1 2 4 --dtypes float32 bfloat16 --backends onnx jit --markdown
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

GIB = 1 << 30
WIDTH = 4096
COLUMNS = ("export", "memory", "load", "memory", "step")


def anonymous_bytes() -> int:
    """What this process has in memory that is not the content of a file."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))


class Peak:
    """The largest anonymous memory while it is open, looked at every few milliseconds."""

    def __enter__(self) -> Peak:
        self.most = self.before = anonymous_bytes()
        self.start = time.perf_counter()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.005):
            self.most = max(self.most, anonymous_bytes())

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self.seconds = time.perf_counter() - self.start

    @property
    def more(self) -> int:
        return self.most - self.before


def export(folder: Path, gib: float, dtype_name: str, backend: str) -> dict[str, float]:
    import leapp
    import torch
    from leapp import annotate

    dtype = getattr(torch, dtype_name)
    each = WIDTH * WIDTH * dtype.itemsize
    layers = [
        (torch.randn(WIDTH, WIDTH, dtype=torch.float32) / 90).to(dtype) for _ in range(max(1, round(gib * GIB / each)))
    ]
    weights = each * len(layers)

    def network(x: torch.Tensor) -> torch.Tensor:
        for layer in layers:
            x = x + torch.tanh(torch.nn.functional.linear(x, layer))
        return x

    with torch.no_grad():
        network(torch.randn(1, WIDTH).to(dtype))
        with Peak() as capture:
            leapp.start("large", save_path=str(folder))
            for _ in range(2):
                x = annotate.input_tensors("net", {"x": torch.randn(1, WIDTH).to(dtype)})
                annotate.output_tensors("net", {"y": network(x)}, export_with=backend)
            leapp.stop()
        with Peak() as compiling:
            passed = leapp.compile_graph(visualize=False)
    assert passed == {"net": True}, passed
    return {
        "weights": weights,
        "capture_seconds": capture.seconds,
        "capture_memory": capture.more,
        "export_seconds": compiling.seconds,
        "export_memory": compiling.more,
    }


def load(folder: Path, dtype_name: str) -> dict[str, float]:
    import leapp

    yaml = folder / "large" / "large.yaml"
    if dtype_name == "bfloat16" or (folder / "large" / "net.pt").exists():
        import torch  # noqa: F401  # the program's own; NumPy has no bfloat16
    with Peak() as loading:
        manager = leapp.InferenceManager(str(yaml))
        inputs = manager.get_mock_input(seed=0)
        manager.run_policy(inputs)
    start = time.perf_counter()
    manager.run_policy(inputs)
    return {
        "load_seconds": loading.seconds,
        "load_memory": loading.more,
        "step_seconds": time.perf_counter() - start,
    }


def in_process(name: str, folder: Path, case: tuple[float, str, str]) -> dict[str, float]:
    command = [sys.executable, __file__, "--phase", name, "--folder", str(folder), "--case", json.dumps(case)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
    return json.loads(run.stdout.splitlines()[-1])


def measure(case: tuple[float, str, str], folder: Path) -> dict[str, float]:
    try:
        result = in_process("export", folder, case)
        return result | in_process("load", folder, case)
    finally:
        shutil.rmtree(folder / "large", ignore_errors=True)


def row(case: tuple[float, str, str], result: dict[str, float]) -> str:
    weights = result["weights"]
    cells = [
        f"{weights / GIB:.3g} GiB",
        case[1],
        case[2],
        f"{result['capture_seconds']:.1f} s",
        f"{result['capture_memory'] / weights:.2f}",
        f"{result['export_seconds']:.1f} s",
        f"{result['export_memory'] / weights:.2f}",
        f"{result['load_seconds']:.1f} s",
        f"{result['load_memory'] / weights:.2f}",
        f"{1000 * result['step_seconds']:.0f} ms",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1, 2, 4], help="GiB of weights")
    parser.add_argument("--dtypes", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--backends", nargs="+", default=["onnx", "jit"])
    parser.add_argument("--folder", type=Path, default=None, help="where bundles are written, and removed again")
    parser.add_argument("--limit", type=float, default=None, help="fail when more than this many times the weights")
    parser.add_argument("--phase", help=argparse.SUPPRESS)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    phases: dict[str, Callable[[], dict[str, float]]] = {
        "export": lambda: export(options.folder, *json.loads(options.case)),
        "load": lambda: load(options.folder, json.loads(options.case)[1]),
    }
    if options.phase:
        print(json.dumps(phases[options.phase]()))
        return
    folder = options.folder or Path(tempfile.mkdtemp(prefix="leapp_large_"))
    print("| weights | dtype | model | capture | memory | compile and validate | memory | load | memory | step |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    worst = 0.0
    for size in options.sizes:
        for dtype in options.dtypes:
            for backend in options.backends:
                result = measure((size, dtype, backend), folder)
                print(row((size, dtype, backend), result), flush=True)
                used = (result["capture_memory"], result["export_memory"], result["load_memory"])
                worst = max(worst, max(used) / result["weights"])
    if options.limit is not None and worst > options.limit:
        sys.exit(f"{worst:.2f} times the weights in memory; expected at most {options.limit}")


if __name__ == "__main__":
    main()
