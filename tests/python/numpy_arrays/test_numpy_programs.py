# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy programs that index, write and let values leave."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import pytest
from harness import line_of, location_pattern, warnings_in
from leapp import annotate
from numpy_nodes import Array, Captured, Function, check, make

# ---- Indexing and writing --------------------------------------------------------------------------------------------


def writes_through_views(x: Array) -> Array:
    y = x * 2
    y[1:, ::2] += 1
    row = y[0]
    row[:] = row[::-1]
    y.T[3] = 7
    y[:, 1] -= y[:, 2]
    y[y > 2] = 0.25
    y[[0, 2], [1, 3]] = [5.0, 6.0]
    y[..., -1:] = x[..., :1]
    return y


def writes_backwards(x: Array) -> Array:
    y = x.copy()
    y[::-1, ::-1] *= np.arange(4)
    back = y[:, ::-1]
    back[0] = x[1]
    back += 1
    return back * 2 + y


def out_arguments(x: Array) -> Array:
    y = np.empty_like(x)
    np.sin(x, out=y)
    np.add(y, 1, y)
    np.cumsum(y, axis=1, out=y)
    np.log(x, out=y, where=x > 0.9)
    total = np.zeros_like(x[0])
    x.sum(axis=0, out=total)
    np.multiply(y, total, out=y[:])
    return y


def functions_that_write(x: Array) -> Array:
    y = x.copy()
    np.copyto(y, x[::-1], where=x > 0.8)
    np.fill_diagonal(y, 9.0)
    np.put_along_axis(y, np.argmax(x, axis=1)[:, None], 3.0, axis=1)
    y.sort(axis=0)
    z = np.zeros_like(y)
    z.fill(2.0)
    z[1, 1] = y.sum()
    np.add.at(z, ([0, 0, 1], [2, 2, 3]), x[0, :3])
    return y * z


def live_indices(x: Array) -> Array:
    i = np.argmax(x[0])
    j = np.argsort(x[1])
    y = x.copy()
    y[1, i] = 4.0
    y[2, j] = x[0]
    y[:, j[:2]] += 1
    return y[:, i] + x[:, j][:, 0] + x[0, i] + x[np.arange(3), j[:3]]


def scalars(x: Array) -> Array:
    first = x[0, 0]
    kept = first
    first += 1  # a new scalar: `kept` stays, and so does x
    x[0, 1] = first * 2
    total = x.sum()
    total *= 2
    return np.array([kept, first, total, x[0, 0], math.pi])


def nested_views(x: Array) -> Array:
    y = x.reshape(2, 6)[1].reshape(3, 2).T[1]
    y[0] = 100.0
    return x * y.sum() + x[None, :, None, 1:2].squeeze()[:, None]


PROGRAMS = [
    writes_through_views,
    writes_backwards,
    out_arguments,
    functions_that_write,
    live_indices,
    scalars,
    nested_views,
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs(fn: Function, dtype: Any, tmp_path: Path) -> None:
    captured = check(fn, lambda seed: [make(seed, dtype=dtype)], tmp_path)
    assert not warnings_in(captured.log)


def test_in_place_operators_on_integers_refuse_what_numpy_refuses(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": np.arange(3)})
    with pytest.raises(TypeError, match="same_kind"):
        x += 0.5
    with pytest.raises(ValueError, match="broadcast"):
        x + np.ones(4)
    with pytest.raises(IndexError):
        x[7]


def test_what_is_written_reaches_the_callers_array(tmp_path: Path) -> None:
    mine = np.zeros((2, 3))
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": mine})
    assert np.shares_memory(x, mine)
    x[0] += 2
    x[:, 1] = 5
    assert np.array_equal(mine, [[2, 5, 2], [0, 5, 0]])
    annotate.output_tensors("n", {"y": x * 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert type(mine) is np.ndarray


def test_a_plain_array_among_the_arguments_is_a_constant_as_it_was(tmp_path: Path) -> None:
    weights = np.arange(3.0)

    def fn(x: Array) -> Array:
        y = x * weights
        weights[:] = 100.0  # by NumPy: nobody sees it
        return y

    captured = Captured(fn, [np.ones(3)], tmp_path)
    assert np.array_equal(captured(np.full(3, 2.0))[0], [0.0, 2.0, 4.0])


# ---- What is refused, what leaves ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fn", "name"),
    [
        (lambda x: np.delete(x, 1), "numpy.delete"),
        (lambda x: np.apply_along_axis(np.sum, 0, x), "numpy.apply_along_axis"),
        (lambda x: np.unwrap(x), "numpy.unwrap"),
        (lambda x: np.lexsort((x, x)), "numpy.lexsort"),
        (lambda x: np.spacing(x), "numpy.spacing"),
        (lambda x: np.multiply.at(x, [0], 2.0), "numpy.multiply.at"),
        (lambda x: np.hypot.reduce(x), "numpy.hypot.reduce"),
        (lambda x: x.partition(1), "ndarray.partition"),
        (lambda x: x.flat, "ndarray.flat"),
        (lambda x: np.sin(x, where=x > 0, out=None), "numpy.sin"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_recorded_is_refused_by_name(fn: Function, name: str, tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": np.array([3.0, 1.0, 2.0])})
    with pytest.raises(TypeError, match=name.replace(".", r"\.") + " cannot be recorded") as raised:
        fn(x)
    assert isinstance(raised.value, leapp.LeappError)


def test_a_function_without_live_arguments_is_numpys_own(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": np.ones(3)})
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    assert np.array_equal(np.unwrap(x), [1.0, 1.0, 1.0]), "refused only where a value would be lost"
    leapp.stop()
    assert type(np.sin(x)) is np.ndarray, "after stop it is an ordinary array"
    assert type(x[:2]) is np.ndarray
    assert type(x.sum()) is np.float64
    x += 1
    assert np.array_equal(x, [2.0, 2.0, 2.0])


def to_float(x: Array) -> Array:
    float(x.sum())  # here
    return x * 2


def to_list(x: Array) -> Array:
    x.tolist()  # here
    return x * 2


def branch(x: Array) -> Array:
    if x.sum() > 0:  # here
        return x * 2
    return x * 3


def formatted(x: Array) -> Array:
    _ = f"{x[0]:.2f}"  # here
    return x * 2


def printed(x: Array) -> Array:
    print(x)  # here
    return x * 2


def compared(x: Array) -> Array:
    np.allclose(x, 1.0)  # here
    return x * 2


def mathematical(x: Array) -> Array:
    math.sin(x[0])  # here
    return x * 2


def indexed(x: Array) -> Array:
    "abcdef"[np.argmax(x)]  # here
    return x * 2


def item(x: Array) -> Array:
    x[0].item()  # here
    return x * 2


def data_pointer(x: Array) -> Array:
    _ = x.ctypes.data  # here
    return x * 2


@pytest.mark.parametrize(
    "fn",
    [to_float, to_list, branch, formatted, printed, compared, mathematical, indexed, item, data_pointer],
    ids=lambda fn: fn.__name__,
)
def test_values_that_leave_are_warned_about_once(fn: Function, tmp_path: Path) -> None:
    captured = Captured(fn, [np.array([0.5, 1.5])], tmp_path)
    found = warnings_in(captured.log)
    assert len(found) == 1, found
    assert location_pattern(__file__, line_of(fn, "# here")).search(found[0]), found
