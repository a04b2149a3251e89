# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests share: run a function under capture, load what was written, compare."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import os
import random
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import leapp
import torch
import yaml
from leapp import annotate
from torch.utils._pytree import tree_leaves

LONG = bool(os.environ.get("LEAPP_LONG"))  # make test-long: everything, not a selection
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

Tensors = Sequence[torch.Tensor]
Function = Callable[..., Any]


def seed_all(seed: int) -> None:
    torch.default_generator.manual_seed(seed)  # torch.manual_seed also queues work for devices that are not there
    random.seed(seed)


def as_ports(value: Any) -> list[torch.Tensor]:
    """The tensors in `value`, in order; complex ones as pairs of floats, since a port cannot be complex."""
    tensors = [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]
    return [torch.view_as_real(t.resolve_conj()) if t.is_complex() else t for t in tensors]


def cloned(tensors: Tensors) -> list[torch.Tensor]:
    return [t.detach().clone() for t in tensors]


def bits(tensor: torch.Tensor) -> bytes:
    flat = torch.empty(tensor.numel(), dtype=tensor.dtype, device="cpu").copy_(tensor.detach().reshape(-1))
    return flat.view(torch.uint8).numpy().tobytes()


def difference_in_bits(first: Tensors, second: Tensors) -> str | None:
    """None when both hold the same number of tensors of the same shape, dtype, strides and bytes."""
    if len(first) != len(second):
        return f"{len(first)} tensors, then {len(second)}"
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        if (a.shape, a.dtype, a.stride()) != (b.shape, b.dtype, b.stride()):
            return f"output {i}: {a.dtype}{list(a.shape)}/{a.stride()}, then {b.dtype}{list(b.shape)}/{b.stride()}"
        if bits(a) != bits(b):
            return f"output {i}: other bits: {a.flatten()[:4].tolist()}, then {b.flatten()[:4].tolist()}"
    return None


def difference(expected: Tensors, found: Tensors, rtol: float = 1e-5, atol: float = 1e-6) -> str | None:
    """None when equal up to rounding, NaN being equal to NaN. `atol` is for tensors whose largest element is one.

    On whatever devices they are: models run on the CPU, programs may run elsewhere.
    """
    if len(expected) != len(found):
        return f"expected {len(expected)} tensors, found {len(found)}"
    for i, (a, b) in enumerate(zip(expected, found, strict=True)):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"output {i}: expected {a.dtype}{list(a.shape)}, found {b.dtype}{list(b.shape)}"
        largest = a.detach().double().nan_to_num(0.0, 0.0, 0.0).abs().max().item() if a.numel() else 0.0
        coarse = 1e3 if a.dtype in (torch.bfloat16, torch.float16) else 1.0
        allowed = {"rtol": rtol * coarse, "atol": atol * coarse * max(1.0, largest)}
        try:
            torch.testing.assert_close(b.cpu(), a.cpu(), equal_nan=True, **allowed)
        except AssertionError as failure:
            return f"output {i}: " + " ".join(str(failure).split())
    return None


def assert_same(expected: Tensors, found: Tensors, **tolerance: float) -> None:
    problem = difference(list(expected), list(found), **tolerance)
    assert problem is None, problem


@dataclass
class Exported:
    """One node of a bundle, as anybody's plain torch would load it."""

    folder: Path
    node: str
    names: list[str]  # of all the inputs that were announced
    eager: list[torch.Tensor]  # what the program computed under capture
    yaml: dict[str, Any]  # what the bundle says
    module: torch.jit.ScriptModule = field(init=False)
    inputs: list[str] = field(init=False)  # of the inputs the model kept

    def __post_init__(self) -> None:
        self.inputs = [port["name"] for port in self.yaml["models"][self.node]["inputs"]]
        self.module = torch.jit.load(str(self.folder / f"{self.node}.pt"))

    @property
    def log(self) -> str:
        return read_log(self.folder)

    def __call__(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        by_name = dict(zip(self.names, inputs, strict=True))
        with torch.no_grad():
            result = self.module(*(by_name[name].cpu() for name in self.inputs))
        return [result] if isinstance(result, torch.Tensor) else list(result)


def read_yaml(folder: Path) -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C when there, ten times as fast
    return yaml.load((folder / f"{folder.name}.yaml").read_text(), loader)


def read_log(folder: Path) -> str:
    return (folder / "log.txt").read_text()


def warnings_in(log: str) -> list[str]:
    return [line for line in log.splitlines() if line.startswith("[warning]")]


def capture_node(node: str, fn: Function, inputs: Tensors) -> list[torch.Tensor]:
    """Runs `fn` as one node inside an active session."""
    announced = annotate.input_tensors(node, {f"x{i}": t for i, t in enumerate(inputs)})
    results = as_ports(fn(*(announced if isinstance(announced, tuple) else (announced,))))
    annotate.output_tensors(node, {f"y{i}": t for i, t in enumerate(results)}, export_with="jit")
    return results


def snapshot(tensors: Tensors) -> list[torch.Tensor]:
    """Copies that keep strides, so that later writes do not reach them."""
    return [t.detach().clone() for t in tensors]


def export(fn: Function, *inputs: torch.Tensor, save_path: Path, name: str = "graph") -> Exported:
    """Runs `fn` once without and once under capture (bit-equal, or it fails), and loads the exported model."""
    seed_all(0)
    before = snapshot(as_ports(fn(*cloned(inputs))))
    seed_all(0)
    leapp.start(name, save_path=str(save_path), verbose=False)
    eager = snapshot(capture_node("node", fn, cloned(inputs)))
    leapp.stop()
    problem = difference_in_bits(before, eager)
    assert problem is None, f"capture changed what the program computes: {problem}"
    results = leapp.compile_graph(validate=True, strict=True)
    assert results.nodes["node"].status == "passed", results.nodes["node"].message
    folder = Path(save_path) / name
    return Exported(folder, "node", [f"x{i}" for i in range(len(inputs))], eager, read_yaml(folder))


def check(fn: Function, make_inputs: Function, seeds: Iterable[int] = (1, 2), *, save_path: Path) -> Exported:
    """Exports `fn` with one set of inputs and compares with eager on others of the same shapes."""
    seed_all(0)
    exported = export(fn, *make_inputs(), save_path=save_path)
    for seed in seeds:
        seed_all(seed)
        inputs = make_inputs()
        seed_all(0)
        expected = as_ports(fn(*cloned(inputs)))
        seed_all(0)
        assert_same(expected, exported(*cloned(inputs)))
    return exported


def check_formula(
    fn: Function, formula: Function, *inputs: torch.Tensor, save_path: Path, **tolerance: float
) -> Exported:
    """`fn` under capture and its exported model must both give what `formula` says, also for other inputs."""
    exported = export(fn, *inputs, save_path=save_path)
    assert_same(as_ports(formula(*cloned(inputs))), exported.eager, **tolerance)
    for scale in (1.0, -0.5, 3.0):
        fresh = [t * scale + 0.25 if t.is_floating_point() else t.clone() for t in cloned(inputs)]
        assert_same(as_ports(formula(*cloned(fresh))), exported(*cloned(fresh)), **tolerance)
    return exported


def line_of(function: Function, marker: str) -> int:
    """The line in the file of the one line of `function` that contains `marker`."""
    lines, first = inspect.getsourcelines(function)
    found = [first + i for i, line in enumerate(lines) if marker in line]
    assert len(found) == 1, f"{marker!r} stands in lines {found}"
    return found[0]


def load_example(name: str) -> ModuleType:
    """An example's own functions and classes; without a session its annotations hand back what they are given."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_example(name: str, folder: Path) -> list[str]:
    """What it prints; it is run here, which saves the seconds that importing torch takes."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        load_example(name).main(str(folder))
    return printed.getvalue().splitlines()


def reset() -> None:
    """Ends whatever a failed test left behind."""
    with tempfile.TemporaryDirectory() as folder:
        leapp.start("reset", save_path=folder)
        leapp.stop()


def location_pattern(file: str, line: int) -> re.Pattern[str]:
    return re.compile(re.escape(Path(file).name) + rf":{line}\b")


class RecurrentByHand:
    """What `hand_made.recurrent` computes."""

    def __init__(self) -> None:
        self.h = torch.tensor([[1.0, 2.0, 3.0, 4.0]])

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.h = self.h / 2 + (2 * x + 1)
        return self.h
