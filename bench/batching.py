# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The part of `make bench` about many rows in a step: steps per second of one core, beside what it can do at most. CPU
time: other programs on the machine count little.

batching.py            measures, prints, keeps the figures; build bench_peak first
batching.py --write    makes the tables in docs/how_to/run_a_fleet.md from them
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pages
from leapp import InferenceManager, _runtime
from processes import OURS, ROOT, call

PEAK = ROOT / "build" / "default" / "bench" / "bench_peak"
PAGE = ROOT / "docs" / "how_to" / "run_a_fleet.md"
NAMES = ("small", "mlp", "gru", "heavy", "huge")
ENGINES = {"native": "own", "onnxruntime": "ONNX Runtime"}
SIZES = (1, 8, 64, 256)
ROUNDS, SECONDS = 7, 0.15  # of which the best counts; how long each is


def _episodes(manager: InferenceManager, rows: int, steps: int) -> list[Any]:
    random = np.random.default_rng(0)
    given = []
    for _ in range(rows):
        inputs = [
            random.standard_normal((steps, int(np.prod(port.shape)) // rows)).astype(port.dtype)
            for port in manager.input_ports
        ]
        outputs = [np.empty((steps, int(np.prod(port.shape)) // rows), port.dtype) for port in manager.output_ports]
        given.append((steps, inputs, outputs, []))
    return given


def _seconds(manager: InferenceManager, given: list[Any], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        failed = _runtime.run_episodes(manager._manager, given, "exported")
        assert failed is None, failed
    return time.process_time() - start


def measure(bundle: Path, engine: Any, rows: int) -> dict[str, Any]:
    manager = InferenceManager(bundle, batch=rows, engine=engine)
    steps = max(8, 4096 // rows)
    first = _seconds(manager, _episodes(manager, rows, 1), 1)
    if first > SECONDS / steps:
        steps = max(1, int(SECONDS / first))
    given = _episodes(manager, rows, steps)
    times = max(1, int(SECONDS / max(_seconds(manager, given, 1), 1e-6)))
    best = min(_seconds(manager, given, times) for _ in range(ROUNDS))
    return {"steps_per_second": rows * steps * times / best, "widened": not manager.widened}


def export(name: str, folder: Path) -> dict[str, Any]:
    """The numbers of its weights: twice as many operations are a step."""
    import policies

    policies.export(name, "onnx", folder)
    weights = sum(one.numel() for one in policies.Pipeline(name).policy.parameters() if one.dim() > 1)
    return {"weights": weights, "title": {**policies.WORKLOADS, **policies.HEAVY}[name][0]}


def figures() -> dict[str, Any]:
    """In a process of its own each: engines warm each other's caches."""
    program = ROOT / "bench" / "batching.py"
    rows = []
    with TemporaryDirectory() as folder:
        for name in NAMES:
            row = call(OURS, program, "export", name, folder)
            for engine in ENGINES:
                found = [call(OURS, program, "measure", Path(folder) / name, engine, size) for size in SIZES]
                assert all(one["widened"] for one in found), name
                row[engine] = [one["steps_per_second"] for one in found]
            rows.append(row)
    peak = call(PEAK, *(4 * row["weights"] for row in rows))
    return {"rows": rows, "peak": peak}


def reached(row: dict[str, Any], engine: str, size: int) -> float:
    """Billions of multiplications and additions a second, activations aside."""
    return float(row[engine][SIZES.index(size)] * 2 * row["weights"] / 1e9)


def report() -> None:
    found = pages.keep("batching", figures())
    print("\nrows in a step (batch): steps per second of one core, and the ratio to one row")
    for row in found["rows"]:
        for engine, title in ENGINES.items():
            rates = row[engine]
            cells = "".join(
                f"   {size:3d}: {rate:10,.0f} ({rate / rates[0]:5.1f} x)"
                for size, rate in zip(SIZES, rates, strict=True)
            )
            print(f"  {row['title']:34s} {title:12s}{cells}")
    peak = found["peak"]["gflops"]
    print(
        f"one core does {peak:.0f} billion operations a second at most ({found['peak']['instructions']}); own engine:"
    )
    for row, speed in zip(found["rows"], found["peak"]["gbytes"], strict=True):
        one, many = reached(row, "native", 1), reached(row, "native", 64)
        print(
            f"  {row['title']:34s} 1: {one:5.1f}   64: {many:5.1f}   at most {peak / one:4.1f} x   "
            f"memory of that size is read at {speed:.0f} GB/s"
        )


def write() -> None:
    found = pages.kept("batching")
    peak, rows = found["peak"]["gflops"], found["rows"]
    lines = [
        f"{found['cpu']}, {found['date']}, one core, CPU time:",
        "",
        "| steps per second | engine | " + " | ".join(map(str, SIZES)) + " |",
        "|---|---|" + "---|" * len(SIZES),
    ]
    for row in rows:
        for engine, title in ENGINES.items():
            rates = row[engine]
            cells = [
                f"{rate:,.0f}" + (f" ({rate / rates[0]:.1f} x)" if size > 1 else "")
                for size, rate in zip(SIZES, rates, strict=True)
            ]
            lines.append(f"| {row['title'] if engine == 'native' else ''} | {title} | {' | '.join(cells)} |")
    gains = [
        (row["title"], title, row[engine][SIZES.index(64)] / row[engine][0])
        for row in rows
        for engine, title in ENGINES.items()
    ]
    many = [f"{what} ({title}, {gain:.1f} x)" for what, title, gain in gains if gain >= 10]
    lines += [
        "",
        f"Ten times as many steps at 64 rows as at one: {'; '.join(many) or 'none of them'}.",
        "",
        f"Why not all: that core does {peak:.0f} billion multiplications and additions a second at most "
        f"({found['peak']['instructions']}, in registers, measured in the same run), and what a single row "
        "already gets bounds the gain. Billions of operations a second of the products alone, on our own engine:",
        "",
        "| | 1 row | 64 rows | of what the core can | gain | gain at most | memory of that size is read at |",
        "|---|---|---|---|---|---|---|",
    ]
    for row, speed in zip(rows, found["peak"]["gbytes"], strict=True):
        one, wide = reached(row, "native", 1), reached(row, "native", 64)
        lines.append(
            f"| {row['title']} | {one:.1f} | {wide:.1f} | {wide / peak:.0%} | {wide / one:.1f} x | "
            f"{peak / one:.1f} x | {speed:.0f} GB/s |"
        )
    pages.put(PAGE, "batching", "\n".join(lines))


def main() -> None:
    if sys.argv[1:] == ["--write"]:
        write()
    elif sys.argv[1:2] == ["export"]:
        print(json.dumps(export(sys.argv[2], Path(sys.argv[3]))))
    elif sys.argv[1:2] == ["measure"]:
        print(json.dumps(measure(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))))
    else:
        report()


if __name__ == "__main__":
    main()
