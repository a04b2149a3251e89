# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Who runs a bundle gets every output that was announced and that no other node reads in the same step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import closed_loop
import harness
import leapp
import pytest
import torch
from leapp import annotate
from torch import nn

BACKENDS = pytest.mark.parametrize("backend", ["jit", "onnx"])


class Fed:
    """The last action, announced as an input."""

    port = "last"

    def __init__(self) -> None:
        self.last = torch.zeros(4)

    def __call__(self, x: torch.Tensor, backend: str) -> torch.Tensor:
        x, last = annotate.input_tensors("policy", {"x": x, self.port: self.last})
        self.last = annotate.output_tensors("policy", {"action": torch.tanh(x + 0.5 * last)}, export_with=backend)
        return self.last


class FedUnderItsOwnName(Fed):
    port = "action"


class Found(Fed):
    """The same, kept by the program and announced nowhere."""

    def __call__(self, x: torch.Tensor, backend: str) -> torch.Tensor:
        x = annotate.input_tensors("policy", {"x": x})
        self.last = torch.tanh(x + 0.5 * self.last)
        return annotate.output_tensors("policy", {"action": self.last}, export_with=backend)


class FoundInPlace(Fed):
    def __call__(self, x: torch.Tensor, backend: str) -> torch.Tensor:
        x = annotate.input_tensors("policy", {"x": x})
        self.last.mul_(0.5).add_(x)
        return annotate.output_tensors("policy", {"action": self.last.clone()}, export_with=backend)


class FoundInModule(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("last", torch.zeros(4))

    def forward(self, x: torch.Tensor, backend: str) -> torch.Tensor:
        x = annotate.input_tensors("policy", {"x": x})
        self.last = torch.tanh(x + 0.5 * self.last)
        return annotate.output_tensors("policy", {"action": self.last}, export_with=backend)


def export(make: Callable[[], Any], folder: Path, backend: str, passes: int = 3) -> Path:
    program = make()
    leapp.start("loop", save_path=str(folder))
    for x in closed_loop.inputs(passes, seed=1):
        program(x, backend)
    leapp.stop()
    leapp.compile_graph()
    return folder / "loop"


def assert_equal(folder: Path, make: Callable[[], Any], output: str = "policy/action") -> None:
    manager = leapp.InferenceManager(folder)
    program = make()
    for step, x in enumerate(closed_loop.inputs(closed_loop.STEPS, seed=9)):
        expected = program(x, "jit").clone()
        problem = harness.difference([expected], [manager({manager.inputs[0]: x})[output]], rtol=1e-4, atol=1e-5)
        assert problem is None, f"step {step}: {problem}"


@BACKENDS
@pytest.mark.parametrize("passes", [2, 3])
@pytest.mark.parametrize(
    "kind", [Fed, FedUnderItsOwnName, Found, FoundInPlace, FoundInModule], ids=lambda k: k.__name__
)
def test_the_last_action_is_an_output(kind: Callable[[], Any], passes: int, backend: str, tmp_path: Path) -> None:
    folder = export(kind, tmp_path, backend, passes)
    listed = harness.read_yaml(folder)["pipeline"]["outputs"]
    name = "action_out" if kind is FedUnderItsOwnName and backend == "onnx" else "action"
    assert listed == {"policy": [name]}
    assert leapp.InferenceManager(folder).outputs == [f"policy/{name}"]
    assert_equal(folder, kind, f"policy/{name}")


class Between:
    """Two nodes; what the second announces is read by the first in the next step, and by nobody else."""

    def __init__(self) -> None:
        self.memory = torch.zeros(4)
        self.t = torch.zeros(4)
        self.own = torch.zeros(4)

    name = "memory"

    def __call__(self, x: torch.Tensor, backend: str) -> torch.Tensor:
        x, memory = annotate.input_tensors("policy", {"x": x, self.name: self.memory})
        hidden = annotate.state_tensors("policy", {"hidden": self.own}) * 0.5 + x
        self.own = annotate.update_state("policy", {"hidden": hidden})
        context = annotate.output_tensors("policy", {"context": torch.tanh(x + memory + hidden)}, export_with=backend)
        context = annotate.input_tensors("update", {"context": context})
        self.t = self.t * 0.9 + 0.1
        self.memory = annotate.output_tensors("update", {self.name: context * self.t}, export_with=backend)
        return self.memory


class BetweenAndOwn(Between):
    """It is read by its own node too, under its own name: its edges look like those of state."""

    def __call__(self, x: torch.Tensor, backend: str) -> torch.Tensor:
        x, memory = annotate.input_tensors("policy", {"x": x, self.name: self.memory})
        context = annotate.output_tensors("policy", {"context": torch.tanh(x + memory)}, export_with=backend)
        context, own = annotate.input_tensors("update", {"context": context, self.name: self.memory})
        self.memory = annotate.output_tensors("update", {self.name: context * 0.5 + own}, export_with=backend)
        return self.memory


@BACKENDS
@pytest.mark.parametrize("kind", [Between, BetweenAndOwn], ids=lambda kind: kind.__name__)
def test_what_is_only_fed_back_to_another_node_is_given_too(
    kind: Callable[[], Any], backend: str, tmp_path: Path
) -> None:
    folder = export(kind, tmp_path, backend)
    # As the example of the documentation shows, it is not listed.
    assert harness.read_yaml(folder)["pipeline"]["outputs"] == {}
    outputs = leapp.InferenceManager(folder).outputs
    assert outputs == ["update/memory" if kind is Between or backend == "jit" else "update/memory_out"]
    assert_equal(folder, kind, outputs[0])
    log = harness.read_log(folder)
    assert "output 'memory" in log
    assert "pipeline.outputs does not list it" in log


def test_a_fused_pipeline_gives_what_is_not_listed(tmp_path: Path) -> None:
    folder = export(Between, tmp_path, "onnx")
    outputs = {}
    for fuse in (False, True):
        manager = leapp.InferenceManager(folder, fuse=fuse)
        outputs[fuse] = [manager({"policy/x": x})["update/memory"] for x in closed_loop.inputs(3)]
    harness.assert_same(outputs[False], outputs[True])


class SeveralPassesAgo:
    """Found state that goes through a chain of ports."""

    def __init__(self) -> None:
        self.old = [torch.zeros(4), torch.zeros(4)]

    def __call__(self, x: torch.Tensor, backend: str) -> torch.Tensor:
        x = annotate.input_tensors("policy", {"x": x})
        action = x + self.old[0] * 0.5
        self.old = [self.old[1], x * 2]
        return annotate.output_tensors("policy", {"action": action}, export_with=backend)


@BACKENDS
def test_state_ports_are_never_given(backend: str, tmp_path: Path) -> None:
    folder = export(SeveralPassesAgo, tmp_path, backend, passes=4)
    assert leapp.InferenceManager(folder).outputs == ["policy/action"]
    assert_equal(folder, SeveralPassesAgo)


class ReadElsewhere:
    """A value that one node kept to itself and another reads in the next step."""

    def __init__(self) -> None:
        self.kept = torch.zeros(4)

    def __call__(self, x: torch.Tensor, backend: str) -> torch.Tensor:
        x = annotate.input_tensors("first", {"x": x})
        y = annotate.output_tensors("first", {"y": x + self.kept}, export_with=backend)
        y = annotate.input_tensors("second", {"y": y})
        self.kept = y * 0.5
        return annotate.output_tensors("second", {"z": y + 1}, export_with=backend)


@BACKENDS
def test_a_value_that_another_node_kept_is_no_output(backend: str, tmp_path: Path) -> None:
    folder = export(ReadElsewhere, tmp_path, backend)
    assert leapp.InferenceManager(folder).outputs == ["second/z"]
    assert_equal(folder, ReadElsewhere, "second/z")


def test_an_output_of_a_pipeline_that_lists_none(tmp_path: Path) -> None:
    """Bundles of others may list nothing, although an output has the name of the input it feeds."""
    folder = export(FedUnderItsOwnName, tmp_path, "jit")
    text = (folder / "loop.yaml").read_text()
    (folder / "loop.yaml").write_text(text.replace("  outputs:\n    policy: [action]\n", "  outputs: {}\n"))
    assert leapp.InferenceManager(folder).outputs == ["policy/action"]
