# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A program that runs for long while it is captured needs no more memory for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys, torch, leapp
from leapp import annotate
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 8))
state = torch.zeros(1, 8)

def passes(count):
    global state
    for _ in range(count):
        x = annotate.input_tensors("pre", {"x": torch.randn(1, 8)})
        features = annotate.output_tensors("pre", {"f": net(x)}, export_with="onnx")
        f = annotate.input_tensors("policy", {"f": features.detach()})
        state = torch.tanh(f + state * 0.5)
        annotate.output_tensors("policy", {"y": state * 2}, export_with="onnx")

def kilobytes():
    return int(open("/proc/self/statm").read().split()[1]) * 4

leapp.start("g", save_path=sys.argv[1])
passes(2000)
before = kilobytes()
passes(6000)
print(kilobytes() - before)
leapp.stop()
"""


def test_memory_over_thousands_of_passes(tmp_path: Path) -> None:
    """Each read of a weight left 300 bytes, as somebody referred to it weakly."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) < 3000
