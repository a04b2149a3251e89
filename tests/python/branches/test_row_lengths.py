# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A length that depends on data and decides: a branch like any other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import closed_loop
import harness
import leapp
import numpy as np
import pytest
import torch
from leapp import annotate
from torch import Tensor

Program = Callable[[Tensor], Tensor]
FAR = 1000.0


def of_nonzero(x: Tensor, limit: float) -> Tensor:
    ids = (x > limit).nonzero()
    return x * 3 if len(ids) > 0 else x  # asks


def of_elements(x: Tensor, limit: float) -> Tensor:
    ids = (x > limit).nonzero().flatten()
    return x * 3 if ids.numel() else x  # asks


def of_shape(x: Tensor, limit: float) -> Tensor:
    ids = (x > limit).nonzero().squeeze(-1)
    if ids.shape[0] != 0:  # asks
        x = x * 3
    return x + x[ids].sum()


def of_size(x: Tensor, limit: float) -> Tensor:
    ids = torch.where(x > limit)[0]
    if not ids.size(0):  # asks
        return x + x[ids].sum()
    return x * 3


def of_sizes(x: Tensor, limit: float) -> Tensor:
    rows = x[x > limit]
    if rows.shape == (0,):  # asks
        return x + rows.sum()
    return x * 3


def of_masked(x: Tensor, limit: float) -> Tensor:
    rows = x[x > limit] * 2
    if len(rows):  # asks
        return x * 3
    return x + rows.sum()


def of_a_column(x: Tensor, limit: float) -> Tensor:
    ids = (x[None] > limit).nonzero()[:, 1]
    n = len(ids)
    return x * 3 if n >= 1 else x + x[ids].sum()  # asks


def of_a_sum_of_lengths(x: Tensor, limit: float) -> Tensor:
    above, below = (x > limit).nonzero(), (x < -limit).nonzero()
    return x * 3 if len(above) + len(below) else x  # asks


def of_rows_that_are_iterated(x: Tensor, limit: float) -> Tensor:
    for _ in (x > limit).nonzero():  # asks
        x = x * 3
    return x


def of_a_list_of_rows(x: Tensor, limit: float) -> Tensor:
    if list((x > limit).nonzero()):  # asks
        x = x * 3
    return x


def of_a_range(x: Tensor, limit: float) -> Tensor:
    ids = (x > limit).nonzero()
    for _ in range(len(ids)):  # asks
        x = x * 3
    return x


def of_a_range_up_to_a_variable(x: Tensor, limit: float) -> Tensor:
    ids = (x > limit).nonzero().flatten()
    count = ids.shape[0]  # asks
    for _ in range(count):
        x = x * 3
    return x + x[ids].sum()


def of_values(x: Tensor, limit: float) -> Tensor:
    if len(torch.unique(x > limit)) > 1:  # asks
        x = x * 3
    return x


def of_the_larger(x: Tensor, limit: float) -> Tensor:
    return x / max(len((x > limit).nonzero()), 1)  # asks


class OfState:
    """A command of Isaac Lab: what decides is a timer that no input touches."""

    def __init__(self, limit: float) -> None:
        self.left, self.goal = torch.full((4,), limit * 0.1), torch.zeros(4)

    def __call__(self, x: Tensor) -> Tensor:
        self.left -= 0.02
        ids = (self.left <= 0).nonzero().flatten()
        if len(ids) > 0:  # asks
            self.goal[ids] = x[ids]
            self.left[ids] = 0.06
        return x - self.goal


FUNCTIONS = (
    of_nonzero,
    of_elements,
    of_shape,
    of_size,
    of_sizes,
    of_masked,
    of_a_column,
    of_a_sum_of_lengths,
    of_rows_that_are_iterated,
    of_a_list_of_rows,
    of_a_range,
    of_a_range_up_to_a_variable,
    of_values,
    of_the_larger,
)


def made(function: Callable[..., Tensor], limit: float) -> Callable[[], Program]:
    if function is OfState:
        return lambda: OfState(limit)
    return lambda: lambda x: function(x, limit)


def warned(folder: Path) -> list[str]:
    return harness.warnings_in(harness.read_log(folder))


@pytest.mark.parametrize("function", [*FUNCTIONS, OfState], ids=lambda function: function.__name__)
def test_a_side_that_was_never_seen_is_reported_with_its_line(function: Callable[..., Tensor], tmp_path: Path) -> None:
    folder = closed_loop.export(made(function, FAR), tmp_path, passes=4)
    found = warned(folder)
    assert len(found) == 1, found
    assert "branches on a number of rows here: the comparison was" in found[0]
    line = harness.line_of(function, "# asks")
    assert harness.location_pattern(__file__, line).search(found[0])


JOINED = [
    function
    for function in (*FUNCTIONS, OfState)
    if function
    not in (
        of_rows_that_are_iterated,  # loops of any length have no one form
        of_a_range,
        of_a_range_up_to_a_variable,
        of_the_larger,  # a divisor that is a Python number
        of_values,
    )
]


@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.parametrize("function", JOINED, ids=lambda function: function.__name__)
def test_both_sides_are_in_the_model_once_both_were_seen(
    function: Callable[..., Tensor], backend: str, tmp_path: Path
) -> None:
    make = made(function, 1.0 if function is not OfState else 0.5)
    folder = closed_loop.export(make, tmp_path, passes=24, backend=backend)
    closed_loop.assert_equal(folder, make, steps=40)
    # A loop over rows has a longest run.
    assert [line for line in warned(folder) if "number of rows" in line and "in round" not in line] == []


def only_sizes(x: Tensor) -> Tensor:
    ids = (x > 0).nonzero().flatten()
    noise = torch.zeros(len(ids)) + torch.ones(ids.shape)
    y = x.clone()
    y[ids] = x[ids] * noise.reshape(ids.shape[0])
    return y


def only_checks(x: Tensor) -> Tensor:
    ids = (x > 0).nonzero().flatten()
    rows = x[ids]
    assert len(ids) <= len(x)
    if rows.shape[0] != ids.shape[0]:
        raise ValueError(f"{len(rows)} rows of {ids.numel()}")
    y = x.clone()
    y[ids] = rows * 2
    return y


def only_printed(x: Tensor) -> Tensor:
    ids = (x > 0).nonzero().flatten()
    repr(len(ids)), f"{ids.shape[0]:3d} of {len(x)}"
    y = x.clone()
    y[ids] = x[ids] * 2
    return y


def of_fixed_sizes(x: Tensor) -> Tensor:
    mask = x > 0
    ids = mask.nonzero().flatten()
    y = x.clone()
    y[ids] = 0
    if len(y) == 4 and y.shape[0] > 1 and mask.numel() == 4:
        y = y + x[ids].sum()
    return y


class OfConstants:
    def __init__(self) -> None:
        self.chosen = torch.tensor([True, False, True, True])

    def __call__(self, x: Tensor) -> Tensor:
        ids = self.chosen.nonzero().flatten()
        return x[ids] * 2 if len(ids) else x


@pytest.mark.parametrize(
    "make",
    [
        lambda: only_sizes,
        lambda: only_checks,
        lambda: only_printed,
        lambda: of_fixed_sizes,
        OfConstants,
    ],
    ids=["sizes", "checks", "printed", "fixed", "constants"],
)
@pytest.mark.parametrize("passes", [1, 4])
def test_a_length_that_cannot_decide_is_not_reported(make: Callable[[], Program], passes: int, tmp_path: Path) -> None:
    folder = closed_loop.export(make, tmp_path, passes=passes)
    assert warned(folder) == []
    closed_loop.assert_equal(folder, make)


def test_a_length_is_a_number_like_any_other(tmp_path: Path) -> None:
    leapp.start("lengths", save_path=tmp_path)
    x = annotate.input_tensors("policy", {"x": torch.tensor([1.0, -1.0, 2.0])})
    ids = (x > 0).nonzero()
    assert (len(ids), ids.numel(), ids.size(0), ids.size(-1), tuple(ids.shape)) == (2, 2, 2, 1, (2, 1))
    assert isinstance(len(ids), int)
    assert isinstance(ids.shape, torch.Size)
    assert torch.zeros(len(ids), 3).shape == (2, 3)
    assert np.zeros(ids.shape).shape == (2, 1)
    assert [1, 2, 3][len(ids)] == 3
    assert list(range(len(ids))) == [0, 1]
    assert {2: "two"}[ids.shape[0]] == "two"
    assert (len([1, 2]), len("abc"), len(x)) == (2, 3, 3)
    with pytest.raises(TypeError, match=r"has no len\(\)"):
        len(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="0-d"):
        len(x.sum())


def test_functions_of_python_and_torch_are_their_own_again(tmp_path: Path) -> None:
    before = len
    shape = torch.Tensor.shape
    leapp.start("lengths", save_path=tmp_path)
    assert torch.Tensor.shape is shape
    leapp.stop()
    assert len is before
    assert type(len(torch.ones(3).nonzero())) is int
