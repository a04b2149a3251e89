# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A program that keeps something, exported and run against itself on inputs it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import harness
import leapp
import torch
from leapp import annotate

STEPS = 20

Program = Callable[[torch.Tensor], Any]


def inputs(count: int, seed: int = 5, shape: tuple[int, ...] = (4,)) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for _ in range(count)]


def export(
    make: Callable[[], Program],
    folder: Path,
    passes: int = 3,
    backend: str = "jit",
    shape: tuple[int, ...] = (4,),
    **options: Any,
) -> Path:
    """Runs a fresh program as node "policy" with input x and output y (y0, y1, … of a tuple). Nothing may change."""
    compared = {key: options.pop(key) for key in ("strict", "rtol", "atol") if key in options}
    seen = inputs(passes, seed=1, shape=shape)
    plain = make()
    expected = [harness.snapshot(harness.as_ports(plain(x.clone()))) for x in seen]
    program = make()
    leapp.start("loop", save_path=str(folder), **options)
    for x, before in zip(seen, expected, strict=True):
        results = harness.as_ports(program(annotate.input_tensors("policy", {"x": x.clone()})))
        annotate.output_tensors("policy", names(results), export_with=backend)
        problem = harness.difference_in_bits(before, harness.snapshot(results))
        assert problem is None, f"capture changed what the program computes: {problem}"
    leapp.stop()
    leapp.compile_graph(**compared)
    return folder / "loop"


def names(results: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    return {"y": results[0]} if len(results) == 1 else {f"y{i}": result for i, result in enumerate(results)}


def difference_in_step(manager: leapp.InferenceManager, x: torch.Tensor, expected: torch.Tensor) -> str | None:
    """One step of a bundle whose node 'policy' takes `x`, unless it turned out not to matter, and gives `y`."""
    found = manager({"policy/x": x} if "policy/x" in manager.inputs else {})["policy/y"]
    return harness.difference([expected], [found], rtol=1e-3, atol=1e-4)


def assert_equal(folder: Path, make: Callable[[], Program], shape: tuple[int, ...] = (4,), steps: int = STEPS) -> None:
    """The bundle gives what a fresh program gives, step by step, on inputs that were not captured."""
    manager = leapp.InferenceManager(folder)
    program = make()
    takes_x = "policy/x" in manager.inputs
    for step, x in enumerate(inputs(steps, seed=99, shape=shape)):
        expected = names(harness.snapshot(harness.as_ports(program(x.clone()))))
        found = manager({"policy/x": x} if takes_x else {})
        for name, value in expected.items():
            problem = harness.difference([value], [found[f"policy/{name}"]], rtol=1e-4, atol=1e-5)
            assert problem is None, f"step {step}: {name}: {problem}"


def check(
    make: Callable[[], Program],
    folder: Path,
    passes: Iterable[int] = (1, 2, 3),
    backends: Iterable[str] = ("jit", "onnx"),
    **options: Any,
) -> None:
    shape = options.get("shape", (4,))
    for count in passes:
        for backend in backends:
            place = folder / f"{backend}_{count}"
            assert_equal(export(make, place, count, backend, **options), make, shape=shape)
