# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The part of `make bench` that is about LEAPP's own engine beside ONNX Runtime.

engines.py            measures, prints, keeps the figures in build/bench/engines.json; about two minutes
engines.py --quick    a tenth of that, and keeps nothing: does it work?
engines.py --write    makes the table in docs/concepts/realtime.md and docs/pictures/engines.svg from those figures
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pages
from processes import OURS, ROOT, call

BUNDLES = ROOT / "build" / "bench-engines"
BUILD = ROOT / "build" / "default"
CPP = BUILD / "bench" / "bench_runtime"
PAGE = ROOT / "docs" / "concepts" / "realtime.md"
PICTURE = ROOT / "docs" / "pictures" / "engines.svg"
ROUNDS = 3

# Name: what it is, steps in a round, the largest ratio to ONNX Runtime that is expected.
NETWORKS = {
    "small": ("MLP 12-32-32-8", 20000, 0.25),
    "mlp": ("MLP 48-512-256-128-12", 10000, 0.75),
    "gru": ("GRU-256", 10000, 0.8),
    "cnn": ("CNN 4x84x84 (Nature)", 3000, 1.1),
    "act": ("ACT-like, d 256, 4+4 layers, chunk 50", 1000, 1.2),
}
MOST_OVER_WEIGHTS = 1.3  # the large MLP, over reading its weights once
_STARTED = time.monotonic()


def progress(what: str) -> None:
    print(f"  [{time.monotonic() - _STARTED:4.0f} s] {what}", file=sys.stderr, flush=True)


def prepare() -> None:
    shutil.rmtree(BUNDLES, ignore_errors=True)
    worker = ROOT / "bench" / "stepping.py"
    progress("engines: exporting " + ", ".join(NETWORKS))
    call(OURS, worker, "export", BUNDLES, "onnx", *NETWORKS)
    for name in NETWORKS:
        call(OURS, worker, "merge", BUNDLES / name)


def stepping(rounds: int = ROUNDS, part: int = 1) -> dict[str, Any]:
    """Of each network the round with the lowest sum of medians: the rows of a round belong together."""
    found: dict[str, Any] = {}
    for name, (text, steps, _) in NETWORKS.items():
        progress(f"engines: {text}, {rounds} rounds of {steps // part} steps")
        rows_of = [call(CPP, "engines", BUNDLES / name, steps // part) for _ in range(rounds)]
        found[name] = min(rows_of, key=lambda rows: rows["native"][0] + rows["bare_merged"][0])
    return found


def loading(rounds: int = ROUNDS, times: int = 50) -> dict[str, Any]:
    """Of the large MLP: each in processes of its own."""
    folder, found = BUNDLES / "mlp", {}
    for engine, words in (("native", ["native"]), ("onnxruntime", [])):
        progress(f"engines: loading with {engine}")
        loads = [call(CPP, "load", folder, times, *words) for _ in range(rounds)]
        fused = [each.get("fused", each) for each in loads]
        best = {key: min(each[key] for each in fused) for key in ("first_ms", "then_ms")}
        found[engine] = {**best, "resident_mb": call(CPP, "memory", folder, *words)["resident_mb"]}
    return found


def stripped_mb(library: Path) -> float:
    to = BUNDLES / "stripped.so"
    subprocess.run(["strip", "-o", to, library.resolve()], check=True)
    return to.stat().st_size / 1e6


def sizes() -> dict[str, float]:
    spec = subprocess.run(
        [str(OURS), "-c", "import onnxruntime as o; print(o.__path__[0])"], capture_output=True, text=True, check=True
    )
    found = {"libleapp_runtime.so": stripped_mb(next(BUILD.glob("**/libleapp_runtime.so")))}
    for library in sorted((Path(spec.stdout.strip()) / "capi").glob("libonnxruntime.so*"))[:1]:
        found["libonnxruntime.so"] = stripped_mb(library)
    return found


def ratio(rows: dict[str, Any], at: int = 0) -> float:
    return rows["native"][at] / rows["bare_merged"][at]


def show(figures: dict[str, Any]) -> None:
    head = f"{'p50':>9s} {'p99':>9s} {'p99.9':>9s}"
    print(f"\nLEAPP's own engine and ONNX Runtime in C++, merged by hand; one step, one thread, us  {head}")
    for name, (text, _, most) in NETWORKS.items():
        rows = figures["steps"][name]
        print(f' {text}; "auto" takes {rows["auto"]}')
        for key, label in (("native", "LEAPP's own engine"), ("bare_merged", "ONNX Runtime"), ("floor", "weights")):
            print(f"  {label:82s} {rows[key][0]:9.2f} {rows[key][1]:9.2f} {rows[key][2]:9.2f}")
        print(f"  ratio {ratio(rows):.2f} x (expected at most {most}), at p99.9 {ratio(rows, 2):.2f} x")
        if name == "mlp":
            over = rows["native"][0] / rows["floor"][0]
            print(f"  over reading the weights once {over:.2f} x (expected at most {MOST_OVER_WEIGHTS})")
    print("\nthe large MLP: loading, ms (first in the process, then), and resident memory after 100 steps, MB")
    for engine, found in figures["loading"].items():
        print(f"  {engine:12s} {found['first_ms']:8.2f} {found['then_ms']:8.2f} {found['resident_mb']:8.1f}")
    for library, size in figures["sizes"].items():
        print(f"  {library} without debug information: {size:.2f} MB")


def report(quick: bool = False) -> None:
    prepare()
    if quick:
        show({"steps": stepping(1, 10), "loading": loading(1, 5), "sizes": sizes()})
    else:
        show(pages.keep("engines", {"steps": stepping(), "loading": loading(), "sizes": sizes()}))
    shutil.rmtree(BUNDLES)


# -- the page --------------------------------------------------------------------------------------------------------


def table(figures: dict[str, Any]) -> str:
    lines = [
        "![A step on LEAPP's own engine in parts of a step on ONNX Runtime](../pictures/engines.svg)",
        "",
        f"{figures['cpu']}, {figures['date']}; microseconds, p50 / p99.9:",
        "",
        "| | LEAPP's own engine | ONNX Runtime, merged by hand | ratio | reading the weights once | `auto` takes |",
        "|---|---|---|---|---|---|",
    ]
    for name, (text, _, _) in NETWORKS.items():
        rows = figures["steps"][name]
        own, other = (f"{rows[key][0]:.1f} / {rows[key][2]:.1f}" for key in ("native", "bare_merged"))
        floor = f"{rows['floor'][0]:.1f}"
        lines.append(f"| {text} | {own} | {other} | **{ratio(rows):.2f}** | {floor} | {rows['auto']} |")
    own, other = figures["loading"]["native"], figures["loading"]["onnxruntime"]
    small, large = figures["sizes"]["libleapp_runtime.so"], figures["sizes"].get("libonnxruntime.so", 0.0)
    lines += [
        "",
        "| the large MLP | LEAPP's own engine | ONNX Runtime |",
        "|---|---|---|",
        f"| loading, ms: first in the process / then | {own['first_ms']:.1f} / {own['then_ms']:.1f} "
        f"| {other['first_ms']:.1f} / {other['then_ms']:.1f} |",
        f"| resident memory after 100 steps, MB | {own['resident_mb']:.1f} | {other['resident_mb']:.1f} |",
        f"| libraries on the robot, stripped, MB | {small:.1f} | {small + large:.1f} |",
    ]
    return "\n".join(lines)


def picture(figures: dict[str, Any]) -> str:
    """Bars: the step on LEAPP's own engine in parts of ONNX Runtime's, whose bar is the line at 1."""
    left, right, row, top = 250, 620, 44, 46
    most = max(1.25, *(ratio(rows, at) for rows in figures["steps"].values() for at in (0, 2)))

    def x(value: float) -> float:
        return left + (right - left) * min(value, most) / most

    height = top + row * len(NETWORKS) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-40 0 {right + 100} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect x="-40" width="{right + 100}" height="{height}" fill="#fff"/>',
        f'<text x="{left}" y="20" font-weight="bold">A step on LEAPP\'s own engine / on ONNX Runtime</text>',
    ]
    for at, (name, (text, _, _)) in enumerate(NETWORKS.items()):
        y = top + row * at
        rows = figures["steps"][name]
        parts.append(f'<text x="{left - 10}" y="{y + 20}" text-anchor="end">{text}</text>')
        for shift, thick, column, colour in ((4, 14, 0, "#2f6f9f"), (20, 7, 2, "#9dbfd8")):
            value = ratio(rows, column)
            parts.append(
                f'<rect x="{left}" y="{y + shift}" width="{x(value) - left:.1f}" height="{thick}" fill="{colour}"/>'
            )
            if column == 0:
                parts.append(f'<text x="{x(value) + 6:.1f}" y="{y + 16}">{value:.2f}</text>')
    bottom = top + row * len(NETWORKS)
    parts += [
        f'<line x1="{x(1):.1f}" y1="{top - 12}" x2="{x(1):.1f}" y2="{bottom}" stroke="#b03030" stroke-width="1.5"/>',
        f'<text x="{x(1):.1f}" y="{top - 14}" text-anchor="middle" fill="#b03030" font-size="11">ONNX Runtime</text>',
        f'<text x="{left}" y="{bottom + 20}" font-size="11">thick: median, thin: p99.9; one thread, '
        f"{figures['cpu']}, {figures['date']}</text>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def write() -> None:
    figures = pages.kept("engines")
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(figures))
    pages.put(PAGE, "engines", table(figures))


if __name__ == "__main__":
    write() if sys.argv[1:] == ["--write"] else report(quick=sys.argv[1:] == ["--quick"])
