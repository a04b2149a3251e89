# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of other libraries, and Python functions that write to tensors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import leapp
import pytest
import torch
from leapp import annotate
from torch import Tensor


@torch.library.custom_op("leapp_tests::composed", mutates_args=())
def composed(x: Tensor) -> Tensor:
    return (x * 2).sin()


@torch.library.custom_op("leapp_tests::opaque", mutates_args=())
def opaque(x: Tensor) -> Tensor:
    return torch.tensor([2.0 * value for value in x.tolist()])


@torch.library.custom_op("leapp_tests::increment", mutates_args=("x",))
def increment(x: Tensor) -> None:
    x.add_(1)


def exported(fn: Callable[[Tensor], Tensor], folder: Path) -> tuple[torch.jit.ScriptModule, str]:
    leapp.start("g", save_path=str(folder))
    x = annotate.input_tensors("n", {"x": torch.arange(3.0)})
    annotate.output_tensors("n", {"y": fn(x)}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph().nodes["n"].status == "passed"
    return torch.jit.load(str(folder / "g" / "n.pt")), (folder / "g" / "log.txt").read_text()


FRESH = torch.tensor([0.5, -1.0, 3.0])


def test_what_another_librarys_operator_calls_is_recorded(tmp_path: Path) -> None:
    model, log = exported(lambda x: composed(x), tmp_path)
    assert "leapp_tests" not in model.code
    torch.testing.assert_close(model(FRESH), torch.sin(2 * FRESH))
    assert "needs the library" not in log


def test_its_writes_are_recorded(tmp_path: Path) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 3
        increment(y)
        return y

    model, _ = exported(fn, tmp_path)
    assert "leapp_tests" not in model.code
    torch.testing.assert_close(model(FRESH), 3 * FRESH + 1)


def test_an_operator_that_computes_on_its_own_is_kept_with_a_warning(tmp_path: Path) -> None:
    model, log = exported(lambda x: opaque(x), tmp_path)
    assert "leapp_tests.opaque" in model.code
    torch.testing.assert_close(model(FRESH), 2 * FRESH)
    assert "needs the library that provides leapp_tests::opaque" in log


@pytest.mark.parametrize("method", ["apply_", "map_"])
def test_python_functions_that_write_are_noticed(tmp_path: Path, method: str) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.arange(3.0)})
    y = x * 1
    if method == "apply_":
        y.apply_(lambda value: value + 1)
    else:
        y.map_(torch.ones(3), lambda value, other: value + other)
    annotate.output_tensors("n", {"y": x + y}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert "leaves the graph through a Python function that writes to it" in (tmp_path / "g" / "log.txt").read_text()
    # What the function wrote is a constant: [1, 2, 3].
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    torch.testing.assert_close(model(FRESH), FRESH + torch.tensor([1.0, 2.0, 3.0]))
