# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""InferenceManager: every dtype, layout and library of arrays goes in and comes out, and nobody's memory is kept."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hand_made
import leapp
import numpy as np
import pytest
import torch
from harness import RecurrentByHand
from leapp import InferenceManager, annotate

X = torch.tensor([[1.0, -2.0, 0.5, 3.0]])


@pytest.fixture
def manager(tmp_path: Path) -> InferenceManager:
    return InferenceManager(hand_made.recurrent(tmp_path))


@pytest.mark.parametrize("source", ["torch", "numpy"])
def test_every_dtype(source: str, tmp_path: Path) -> None:
    manager = InferenceManager(hand_made.every_type(tmp_path))
    given = manager.get_mock_input(seed=3)
    assert list(given) == [f"node/{dtype}_in" for dtype in hand_made.DTYPES]
    inputs: dict[str, Any] = dict(given)
    if source == "numpy":
        inputs = {k: v.numpy() if v.dtype != torch.bfloat16 else to_bfloat16_array(v) for k, v in given.items()}
    found = manager(inputs)
    for dtype in hand_made.DTYPES:
        value = given[f"node/{dtype}_in"]
        assert value.dtype == getattr(torch, dtype)
        assert torch.equal(found[f"node/{dtype}_out"], value)
        assert value.to(torch.float64).unique().numel() > 1  # it is random


def to_bfloat16_array(tensor: torch.Tensor) -> np.ndarray:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    return tensor.view(torch.uint16).numpy().view(ml_dtypes.bfloat16)


class OnlyDlpack:
    """An array of a library that nobody knows."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class OldDlpack(OnlyDlpack):
    """From before there was max_version."""

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__()


WIDE = torch.arange(64.0).reshape(4, 16)
INPUTS: dict[str, Callable[[], Any]] = {
    "tensor": lambda: X,
    "array": lambda: X.numpy(),
    "requires_grad": lambda: X.clone().requires_grad_(),
    "result_of_grad": lambda: X.clone().requires_grad_() * 1,
    "parameter": lambda: torch.nn.Parameter(X),
    "column": lambda: WIDE[:, 3:4].t(),
    "every_fourth": lambda: WIDE[1:2, ::4],
    "reversed": lambda: X.numpy()[:, ::-1],
    "fortran": lambda: np.asfortranarray(WIDE.numpy())[2:3, :4],
    "broadcast": lambda: torch.ones(1, 1).expand(1, 4),
    "negated_view": lambda: torch._neg_view(X),
    "read_only": lambda: np.broadcast_to(np.float32(2), (1, 4)),
    "memoryview": lambda: memoryview(X.numpy()),
    "inference_mode": lambda: torch.inference_mode()(lambda: X + 1)(),
    "dlpack_of_torch": lambda: OnlyDlpack(X),
    "dlpack_of_numpy": lambda: OnlyDlpack(WIDE.numpy()[2:3, 4:12:2]),
    "old_dlpack": lambda: OldDlpack(X.numpy().copy()),
    "subclass_of_array": lambda: np.ma.masked_array(X.numpy()),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_arrays_that_are_taken(kind: str, manager: InferenceManager) -> None:
    value = INPUTS[kind]()
    inner = value.array if isinstance(value, OnlyDlpack) else value
    expected = (
        inner.detach().clone()
        if isinstance(inner, torch.Tensor)
        else torch.from_numpy(np.array(inner, copy=True, order="C"))
    )
    assert torch.equal(manager({"pre/x": value})["post/y"], RecurrentByHand()(expected))


def strided(size: list[int], order: list[int], steps: list[int]) -> torch.Tensor:
    """A view of that size with axes in that order in memory, and gaps."""
    big = torch.arange(float(np.prod([size[a] * steps[a] for a in order]))).reshape([size[a] * steps[a] for a in order])
    back = [order.index(a) for a in range(len(size))]
    return big.permute(back)[tuple(slice(None, None, step) for step in steps)]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1]])
@pytest.mark.parametrize("steps", [[1, 1, 1], [1, 1, 2], [2, 1, 1], [1, 3, 1]])
def test_any_strides(order: list[int], steps: list[int], tmp_path: Path) -> None:
    manager = identity_manager(tmp_path, torch.zeros(2, 3, 5))
    value = strided([2, 3, 5], order, steps)
    assert torch.equal(manager({"n/x": value})["n/y"], value)
    assert torch.equal(manager({"n/x": value.numpy()})["n/y"], value)
    assert torch.equal(manager({"n/x": value.numpy()[::-1, :, ::-1]})["n/y"], value.flip(0, 2))


def identity_manager(folder: Path, value: torch.Tensor, backend: str = "onnx") -> InferenceManager:
    leapp.start("g", save_path=folder)
    x = annotate.input_tensors("n", {"x": value})
    annotate.output_tensors("n", {"y": x * 1}, export_with=backend)
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return InferenceManager(folder / "g")


@pytest.mark.parametrize("backend", ["onnx", "jit", "pt2"])
def test_scalars_and_empty_tensors(backend: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    manager = identity_manager(tmp_path, torch.tensor(1.5), backend)
    for value in (torch.tensor(2.5), np.array(2.5, np.float32), np.float32(2.5)):
        found = manager({"n/x": value})["n/y"]
        assert (found.shape, found.item()) == ((), 2.5)
    if backend != "onnx":
        empty = identity_manager(tmp_path / "empty", torch.zeros(0, 3), backend)
        for nothing in (torch.zeros(0, 3), np.zeros((0, 3), np.float32)):
            assert empty({"n/x": nothing})["n/y"].shape == (0, 3)


def test_the_callers_memory_is_neither_kept_nor_written(manager: InferenceManager) -> None:
    value, array = X.clone(), X.numpy().copy()
    references = sys.getrefcount(value), sys.getrefcount(array)
    first = manager({"pre/x": value})
    second = manager({"pre/x": array})
    manager.set_input_value("policy", "h_in", value)
    assert (sys.getrefcount(value), sys.getrefcount(array)) == references
    assert torch.equal(value, X)
    assert np.array_equal(array, X.numpy())
    kept = [each["post/y"].clone() for each in (first, second)]
    third = manager({"pre/x": value.fill_(100)})  # what was given before is no longer looked at
    third["post/y"].fill_(-1)  # results are the caller's
    assert torch.equal(manager({"pre/x": X})["post/y"], steps_from(X, [value, X])[-1])
    assert torch.equal(first["post/y"], kept[0])
    assert torch.equal(second["post/y"], kept[1])


def steps_from(h: torch.Tensor, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    loop = RecurrentByHand()
    loop.h = h
    return [loop(x) for x in inputs]


def test_results_outlive_the_manager(tmp_path: Path) -> None:
    manager = InferenceManager(hand_made.recurrent(tmp_path))
    found = manager({"pre/x": X})["post/y"]
    expected = found.clone()
    del manager
    gc.collect()
    assert torch.equal(found, expected)
    found.add_(1)
    assert found.is_contiguous()
    assert not found.requires_grad
