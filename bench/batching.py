# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Steps per second of one core, by how many rows a step does. CPU time: other programs on the machine count little."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from leapp import InferenceManager, _runtime
from processes import OURS, ROOT, call

SIZES = (1, 8, 64, 256)
STEPS = 8192  # of all rows together, in one measurement


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


def measure(bundle: Path, engine: Any, rows: int) -> dict[str, Any]:
    manager = InferenceManager(bundle, batch=rows, engine=engine)
    given = _episodes(manager, rows, max(1, STEPS // rows))
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        failed = _runtime.run_episodes(manager._manager, given, "exported")
        best = min(best, time.process_time() - start)
        assert failed is None, failed
    done = rows * given[0][0]
    return {"steps_per_second": done / best, "widened": not manager.widened, "engine": manager.engines[0].engine}


def report() -> None:
    """In a process of its own each: engines warm each other's caches."""
    print("\nrows in a step (batch): steps per second of one core, and the ratio to one row")
    with TemporaryDirectory() as folder:
        for name in ("mlp", "small", "gru"):
            call(OURS, ROOT / "bench" / "batching.py", "export", name, folder)
            for engine in ("native", "onnxruntime"):
                found = {
                    rows: call(OURS, ROOT / "bench" / "batching.py", "measure", Path(folder) / name, engine, rows)
                    for rows in SIZES
                }
                one = found[1]["steps_per_second"]
                cells = "".join(
                    f"   {rows:3d}: {row['steps_per_second']:10,.0f} ({row['steps_per_second'] / one:5.1f} x)"
                    for rows, row in found.items()
                )
                print(f"  {name:6s} {engine:12s}{cells}")


def main() -> None:
    import json

    if sys.argv[1] == "export":
        import policies

        policies.export(sys.argv[2], "onnx", Path(sys.argv[3]))
        print(json.dumps({"exported": 1}))
    else:
        print(json.dumps(measure(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))))


if __name__ == "__main__":
    main()
