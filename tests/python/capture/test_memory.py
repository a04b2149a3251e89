# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Capture keeps no intermediate alive, nothing piles up, and big pipelines work."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import leapp
import pytest
import torch
from harness import assert_same, read_yaml
from leapp import annotate
from torch.multiprocessing.reductions import StorageWeakRef

PRELUDE = """
import gc, os, sys
import torch, leapp
from leapp import annotate

torch.set_num_threads(1)


def forget_peak():
    gc.collect()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key))


def annotated(x, fn, capture, target):
    if not capture:
        return fn(x)
    leapp.start("g", save_path=target)
    result = annotate.output_tensors("n", {"y": fn(annotate.input_tensors("n", {"x": x}))}, export_with="jit")
    leapp.stop()
    return result


capture, target = sys.argv[1] == "capture", sys.argv[2]
"""

# Prints the kB by which the process grew at most: while the pipeline ran, and then while it was compiled.
PEAK = """
sizes = [64, 256, 256, 256, 16]
weights = [torch.randn(a, b) * 0.1 for a, b in zip(sizes, sizes[1:])]  # 0.6 MB


def pipeline(x):
    x = x.repeat(ROWS, 1)
    for weight in weights:
        x = torch.nn.functional.elu(x @ weight)
        x.mul_(0.5)
        x[:, 0] = 1.0
    return x.mean(0)


ROWS = 2
annotated(torch.randn(1, 64), pipeline, True, target)  # what is loaded once does not count
leapp.compile_graph()
pipeline(torch.randn(1, 64))
ROWS = int(sys.argv[3])
x = torch.randn(1, 64)
forget_peak()
before = status("VmRSS:")
for _ in range(10):
    y = annotated(x, pipeline, capture, target)
print(status("VmHWM:") - before)
if capture:
    forget_peak()
    before = status("VmRSS:")
    leapp.compile_graph()
    print(status("VmHWM:") - before)
"""


def run_script(script: str, *arguments: str) -> list[int]:
    command = [sys.executable, "-W", "ignore", "-c", PRELUDE + script, *arguments]
    return [int(word) for word in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()]


@pytest.mark.parametrize("rows", [2000, 20000], ids=["2_MB_tensors", "20_MB_tensors"])
def test_peak_memory_is_that_of_eager(rows: int, tmp_path: Path) -> None:
    """Intermediates are more than a hundred times the weights (a few are alive at a time)."""
    (eager,) = run_script(PEAK, "eager", str(tmp_path), str(rows))
    capturing, compiling = run_script(PEAK, "capture", str(tmp_path), str(rows))
    allowance = 1.1 * eager + 2000
    assert eager > 1.5 * rows, "the pipeline does need memory"
    assert capturing <= allowance, f"{capturing} kB under capture, {eager} kB without"
    # To compile is to run another program: the model holds the old and the new where this one overwrites.
    # It is run for every sample and again, in an engine of its own, with the whole bundle.
    assert compiling <= 4 * eager + 12000, f"{compiling} kB to compile, {eager} kB to run"


WEIGHTS = """
weight = torch.randn(5000, 5000)  # 100 MB
annotated(torch.randn(1, 8), lambda x: x * 2, True, target)
x = torch.randn(1, 5000)
forget_peak()
before = status("VmRSS:")
annotated(x, lambda x: torch.tanh(x @ weight) @ weight[:, :8], True, target)
print(status("VmHWM:") - before)
"""


def test_weights_are_not_copied_while_capturing(tmp_path: Path) -> None:
    (growth,) = run_script(WEIGHTS, "capture", str(tmp_path))
    assert growth < 10_000, f"{growth} kB beside 100 MB of weights"


def test_intermediates_die_when_the_program_drops_them(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.ones(4)})
    y = x * 2
    view = y[1:]
    view.add_(1)
    storage = StorageWeakRef(y.untyped_storage())
    z = y.sum() + view.sum()
    assert not storage.expired()
    del y, view
    gc.collect()
    assert storage.expired()
    annotate.output_tensors("n", {"z": z}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph()["n"]
    assert_same(
        [torch.tensor(4 * 20.0 + 3 + 3 * 20 + 3)],
        [torch.jit.load(str(tmp_path / "g" / "n.pt"))(torch.full((4,), 10.0))],
    )


GROWTH = """
net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ELU(), torch.nn.Linear(32, 4))
counter, history = torch.zeros(()), torch.zeros(64, 4)
leapp.start("g", save_path=target)
with torch.no_grad():
    for i in range(600):
        x = annotate.input_tensors("n", {"x": torch.randn(1, 16)})
        counter += 1
        y = net(x)
        for _ in range(20):
            y = torch.tanh(y) + 0.1
        history[i % 64] = y[0]
        y = annotate.output_tensors("n", {"y": y}, export_with="jit")
        for _ in range(20):
            y = y * 0.99
        if i in (199, 399, 599):
            gc.collect()
            print(status("VmRSS:"))
"""


def test_nothing_piles_up_over_passes(tmp_path: Path) -> None:
    """What 200 further passes add, once everything is warm, must be next to nothing: 40 operators and more a pass."""
    marks = run_script(GROWTH, "capture", str(tmp_path))
    assert marks[2] - marks[1] < 2000, f"kB after 200, 400, 600 passes: {marks}"


def test_ten_thousand_operators(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.tensor([1.0, 2.0])})
    for i in range(5000):
        x = x + 0.001 * (i % 7)
        x = x * (1.0 if i % 2 else -1.0)
    annotate.output_tensors("n", {"y": x}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph()["n"]
    value = [3.0, -4.0]
    for i in range(5000):
        value = [(number + 0.001 * (i % 7)) * (1.0 if i % 2 else -1.0) for number in value]
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert_same([torch.tensor(value)], [model(torch.tensor([3.0, -4.0]))], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("writes", [False, True], ids=["plain", "in_place"])
def test_a_thousand_writes_to_one_storage(writes: bool, tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.ones(8)})
    y = x * 1
    for i in range(1000):
        if writes:
            y[i % 8] += 1
        else:
            y = y + 1
    annotate.output_tensors("n", {"y": y * 1}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph()["n"]
    expected = torch.arange(8.0) + (125 if writes else 1000)
    assert_same([expected], [torch.jit.load(str(tmp_path / "g" / "n.pt"))(torch.arange(8.0))])


def test_fifty_nodes(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    value = torch.ones(3)
    for i in range(50):
        x = annotate.input_tensors(f"n{i}", {"x": value})
        value = annotate.output_tensors(f"n{i}", {"y": x * 2 - i}, export_with="jit")
    leapp.stop()
    results = leapp.compile_graph()
    assert len(results) == 50
    assert all(results.values())
    flow = read_yaml(tmp_path / "g")["pipeline"]["data_flow"]
    assert flow == {f"n{i}/y": [f"n{i + 1}/x"] for i in range(49)}
    for i in (0, 7, 49):
        model = torch.jit.load(str(tmp_path / "g" / f"n{i}.pt"))
        assert_same([torch.tensor([10.0 - i])], [model(torch.tensor([5.0]))])
