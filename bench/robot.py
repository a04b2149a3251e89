# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The part of `make bench` about what stands between a bundle and a robot: 25 inputs and 25 outputs of 12 elements.

robot.py             measures, prints, keeps the figures
robot.py --write     makes the table in docs/how_to/drive_a_robot.md from them
robot.py FOLDER      exports the bundle
"""

from __future__ import annotations

import sys
from pathlib import Path

import pages
from processes import OURS, ROOT, call

FOLDER = ROOT / "build" / "bench-bundles" / "robot"
PROGRAM = ROOT / "build" / "default" / "bench" / "bench_robot"
PAGE = ROOT / "docs" / "how_to" / "drive_a_robot.md"
PARTS = {
    "maps": "order by name, with scale and offset",
    "guards": "guards: finite, bounds and rate of every element",
    "loop": "the loop's deadlines and statistics",
    "recorder": "the recorder: inputs, outputs and times of every step",
    "all": "all together",
}


def export(folder: Path) -> None:
    import leapp
    import torch
    from leapp import TensorSemantics, annotate

    names = [None, [f"joint_{i}" for i in range(12)]]
    leapp.start("robot", save_path=folder)
    inputs = [TensorSemantics(f"in_{i}", torch.rand(1, 12), element_names=names) for i in range(25)]
    values = annotate.input_tensors("policy", inputs)
    outputs = [TensorSemantics(f"out_{i}", value * 0.5, element_names=names) for i, value in enumerate(values)]
    annotate.output_tensors("policy", outputs, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False, validate=False, graph_configs=leapp.GraphConfigs(frequency=1000.0))
    print("{}")


def report() -> None:
    call(OURS, Path(__file__), FOLDER)
    rounds = (call(PROGRAM, FOLDER / "robot", 100000) for _ in range(3))
    best = pages.keep("robot", min(rounds, key=lambda found: float(found["all"])))
    print(f"\nbetween a bundle and a robot, ns per step beside the bare step of {best['bare']:.0f} ns:")
    print(f"  {'50 ports of 12 elements, float32':50s} {'by the clock':>12s} {'on the core':>12s}")
    for part, title in PARTS.items():
        print(f"  {title:50s} {best[part]:12.0f} {best['cpu_ns'][part]:12.0f}")


def write() -> None:
    found = pages.kept("robot")
    head = pages.taken(found, f"nanoseconds for each step, beside {found['bare']:.0f} for the bare step")
    columns = ["50 ports of 12 elements, float32", "by the clock", "on the core"]
    rows = [[title, f"{found[part]:.0f}", f"{found['cpu_ns'][part]:.0f}"] for part, title in PARTS.items()]
    lines = pages.table(head, columns, rows)
    pages.put(PAGE, "robot", "\n".join(lines))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        export(Path(sys.argv[1])) if sys.argv[1:] else report()
