# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy programs: the values they get are NumPy's, the models they become give the same ones for other inputs."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from harness import line_of, location_pattern, read_log, read_yaml, warnings_in
from leapp import annotate, arrays

Array = Any
Function = Callable[..., Any]


def make(seed: int, shape: tuple[int, ...] = (3, 4), dtype: Any = np.float64) -> Array:
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "b":
        return generator.random(shape) > 0.5
    if np.dtype(dtype).kind in "iu":
        return generator.integers(1, 20, shape).astype(dtype)
    return (generator.random(shape) * 1.6 + 0.1).astype(dtype)


class Captured:
    """A NumPy function run as one node, and its model."""

    def __init__(self, fn: Function, inputs: list[Array], folder: Path) -> None:
        leapp.start("g", save_path=str(folder))
        announced = annotate.input_tensors("n", {f"x{i}": x for i, x in enumerate(inputs)})
        result = fn(*(announced if isinstance(announced, tuple) else (announced,)))
        self.results = list(result) if isinstance(result, (list, tuple)) else [result]
        annotate.output_tensors("n", {f"y{i}": y for i, y in enumerate(self.results)}, export_with="jit")
        leapp.stop()
        leapp.compile_graph()
        self.log = read_log(folder / "g")
        self.model = torch.jit.load(str(folder / "g" / "n.pt"))

    def __call__(self, *inputs: Array) -> list[Array]:
        result = self.model(*(torch.from_numpy(x.copy()) for x in inputs))
        return [t.numpy() for t in ([result] if isinstance(result, torch.Tensor) else result)]


def assert_equal_bits(expected: Array, found: Array) -> None:
    assert np.shape(expected) == np.shape(found)
    assert np.asarray(expected).dtype == np.asarray(found).dtype
    assert np.array_equal(np.asarray(expected), np.asarray(found), equal_nan=np.asarray(expected).dtype.kind in "fc")


def assert_close(expected: Array, found: Array) -> None:
    assert np.shape(expected) == np.shape(found)
    assert np.asarray(expected).dtype == found.dtype
    tolerance = 1e-2 if found.dtype == np.float16 else 1e-5
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def check(fn: Function, make_inputs: Function, folder: Path) -> Captured:
    """Under capture `fn` gives NumPy's bits; its model gives NumPy's values for other inputs."""

    def by_numpy(inputs: list[Array]) -> list[Array]:
        result = fn(*inputs)
        return list(result) if isinstance(result, (list, tuple)) else [result]

    expected = by_numpy(make_inputs(0))
    captured = Captured(fn, make_inputs(0), folder)
    for one, other in zip(expected, captured.results, strict=True):
        assert isinstance(other, arrays.LiveArray)
        assert_equal_bits(one, other)
    for seed in (1, 2):
        for one, other in zip(by_numpy(make_inputs(seed)), captured(*make_inputs(seed)), strict=True):
            assert_close(one, other)
    return captured


# ---- Functions -------------------------------------------------------------------------------------------------------

UNARY = [
    "absolute",
    "arccos",
    "arcsin",
    "arctan",
    "arctanh",
    "ceil",
    "conjugate",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_not",
    "negative",
    "positive",
    "rad2deg",
    "radians",
    "reciprocal",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
BINARY = [
    "add",
    "arctan2",
    "copysign",
    "divide",
    "equal",
    "float_power",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "greater",
    "greater_equal",
    "hypot",
    "less",
    "less_equal",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "not_equal",
    "power",
    "remainder",
    "subtract",
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", UNARY)
def test_ufuncs_of_one_argument(name: str, dtype: Any, tmp_path: Path) -> None:
    ufunc = getattr(np, name)
    check(lambda x: ufunc(x * dtype(0.5)), lambda seed: [make(seed, dtype=dtype)], tmp_path)


@pytest.mark.parametrize(
    "dtypes",
    [(np.float32, np.float32), (np.float32, np.float64), (np.int32, np.float32), (np.int64, np.int64)],
    ids=str,
)
@pytest.mark.parametrize("name", BINARY)
def test_ufuncs_of_two_arguments_promote_as_numpy(name: str, dtypes: Any, tmp_path: Path) -> None:
    ufunc = getattr(np, name)
    check(ufunc, lambda seed: [make(seed, dtype=dtypes[0]), make(seed + 10, (4,), dtypes[1])], tmp_path)


OPERATORS: dict[str, Function] = {
    "number_right": lambda x: x + 1.5,
    "number_left": lambda x: 1 - x,
    "integer_times_float": lambda x: (x * 10).astype(np.int32) * 0.5,
    "integer_division": lambda x: (x * 10).astype(np.int64) / 3,
    "floor_division": lambda x: (x * 10).astype(np.int32) // 3,
    "remainder": lambda x: x % 0.3,
    "divmod": lambda x: divmod(x, 0.3),
    "power": lambda x: x**2 + x**0.5 + 2**x,
    "matmul": lambda x: x @ x.T,
    "compare": lambda x: (x > 0.5) & (x <= 1.2) | (x == 0.7),
    "invert": lambda x: ~(x > 0.5),
    "negate": lambda x: -x + abs(x - 1),
    "numpy_scalar": lambda x: x * np.float32(2.5) + np.float64(0.1) - np.int64(3),
    "plain_array": lambda x: x * np.arange(4) + np.ones((3, 1), np.float32),
    "shifts": lambda x: ((x * 10).astype(np.int64) << 2) >> 1,
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name: str, dtype: Any, tmp_path: Path) -> None:
    check(OPERATORS[name], lambda seed: [make(seed, dtype=dtype)], tmp_path)


FUNCTIONS: dict[str, Function] = {
    "all": lambda x: np.all(x > 0.2, axis=1),
    "allclose_free_mean": lambda x: np.mean(x),
    "amax": lambda x: np.amax(x, axis=0),
    "any": lambda x: np.any(x > 1.2, axis=0),
    "append": lambda x: np.append(x, x[:1], axis=0),
    "argmax": lambda x: np.argmax(x, axis=1),
    "argmin": lambda x: np.argmin(x),
    "argsort": lambda x: np.argsort(x, axis=1),
    "around": lambda x: np.around(x * 10, 1),
    "array_split": lambda x: np.array_split(x, 2, axis=1)[1] * 2,
    "average": lambda x: np.average(x, axis=1, weights=np.array([1.0, 2.0, 3.0, 4.0])),
    "broadcast_to": lambda x: np.broadcast_to(x[:, :1], (3, 5)) * 2,
    "clip": lambda x: np.clip(x, 0.3, 1.1),
    "column_stack": lambda x: np.column_stack([x[:, 0], x]),
    "concatenate": lambda x: np.concatenate([x, x * 2], axis=1),
    "concatenate_scalars": lambda x: np.concatenate([x[0], [x[1, 1], 2.0]]),
    "convolve": lambda x: np.convolve(x[0], x[1]),
    "copy": lambda x: np.copy(x) + 1,
    "cov": lambda x: np.cov(x),
    "cross": lambda x: np.cross(x[:, :3], x[:, 1:]),
    "cumsum": lambda x: np.cumsum(x, axis=0) + np.cumprod(x, axis=1),
    "diag": lambda x: np.diag(x[0]) + np.diag(np.diag(x[:3, :3]), 1)[:4, :4],
    "diff": lambda x: np.diff(x, axis=1),
    "dot": lambda x: np.dot(x, x.T) + np.inner(x, x) + np.outer(x[0], x[1])[:3, :3],
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "expand_dims": lambda x: np.expand_dims(x, 1) * np.squeeze(x[:1]),
    "flip": lambda x: np.flip(x, 1) + np.fliplr(x) * np.flipud(x),
    "full_like": lambda x: np.full_like(x, 2.5) * x + np.ones_like(x) + np.zeros_like(x),
    "gradient": lambda x: np.gradient(x[0]),
    "hstack": lambda x: np.hstack([x, x * 2]),
    "interp": lambda x: np.interp(x, [0.3, 0.5, 1.0], [0.0, 2.0, 1.0]) + np.interp(0.7, x[0].cumsum(), x[1], left=9.0),
    "isclose": lambda x: np.isclose(x, 0.5, atol=0.3),
    "kron": lambda x: np.kron(x, np.eye(2)),
    "linalg_det": lambda x: np.linalg.det(x @ x.T + np.eye(3)),
    "linalg_inv": lambda x: np.linalg.inv(x @ x.T + np.eye(3)),
    "linalg_norm": lambda x: np.linalg.norm(x, axis=1) + np.linalg.norm(x),
    "linalg_solve": lambda x: np.linalg.solve(x @ x.T + np.eye(3), x),
    "max": lambda x: np.max(x, axis=1, keepdims=True) - np.min(x),
    "median": lambda x: np.median(x, axis=0),
    "meshgrid": lambda x: np.meshgrid(x[0], x[1])[0] * 2,
    "moveaxis": lambda x: np.moveaxis(x, 0, 1) + np.swapaxes(x, 0, 1) * np.transpose(x),
    "nan_to_num": lambda x: np.nan_to_num(x),
    "nansum": lambda x: np.nansum(np.where(x > 0.6, x, np.nan), axis=0) + np.nanmean(np.log(x), axis=0) - np.nanprod(x),
    "nanmax": lambda x: np.nanmax(x, axis=0) - np.nanmin(x),
    "outer_of_ufunc": lambda x: np.subtract.outer(x[0], x[1]),
    "pad": lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=3.0),
    "percentile": lambda x: np.percentile(x, 30, axis=0) + np.quantile(x, 0.25),
    "polyval": lambda x: np.polyval([1.0, -2.0, 3.0], x),
    "prod": lambda x: np.prod(x, axis=1),
    "ptp": lambda x: np.ptp(x, axis=1),
    "reduce": lambda x: np.add.reduce(x) + np.maximum.reduce(x, axis=0) - np.minimum.reduce(x),
    "accumulate": lambda x: np.add.accumulate(x, axis=1),
    "repeat": lambda x: np.repeat(x, 2, axis=1),
    "reshape": lambda x: np.reshape(x, (4, 3)) + x.T,
    "roll": lambda x: np.roll(x, 1, axis=1),
    "rot90": lambda x: np.rot90(x) * 2,
    "searchsorted": lambda x: np.searchsorted(np.array([0.2, 0.6, 1.0]), x),
    "select": lambda x: np.select([x < 0.5, x < 1.0], [x * 2, x * 3], 0.0),
    "sinc": lambda x: np.sinc(x),
    "sort": lambda x: np.sort(x, axis=0),
    "split": lambda x: np.split(x, 2, axis=1)[0] - np.hsplit(x, 2)[1],
    "stack": lambda x: np.stack([x, x * 2], axis=1),
    "std": lambda x: np.std(x, axis=0) + np.var(x, axis=0, ddof=1),
    "sum": lambda x: np.sum(x, axis=(0, 1)) + np.sum(x),
    "take": lambda x: np.take(x, [2, 0], axis=1),
    "take_along_axis": lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1),
    "tensordot": lambda x: np.tensordot(x, x, axes=([1], [1])),
    "tile": lambda x: np.tile(x, (2, 1)),
    "trace": lambda x: np.trace(x),
    "trapezoid": lambda x: np.trapezoid(x, axis=1),
    "tril": lambda x: np.tril(x) + np.triu(x, 1) * 2,
    "vstack": lambda x: np.vstack([x, x[0]]) * np.dstack([x, x])[0, 0, 0],
    "where": lambda x: np.where(x > 0.8, x, -1.0),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, dtype: Any, tmp_path: Path) -> None:
    captured = check(FUNCTIONS[name], lambda seed: [make(seed, dtype=dtype)], tmp_path)
    assert not warnings_in(captured.log)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.bool_])
def test_reductions_of_integers_have_numpys_dtype(dtype: Any, tmp_path: Path) -> None:
    def fn(x: Array) -> list[Array]:
        return [x.sum(), x.mean(axis=0), np.cumsum(x), x.max(axis=1), x.any(), np.argmax(x), x.prod(axis=1)]

    check(fn, lambda seed: [make(seed, dtype=dtype)], tmp_path)


METHODS: dict[str, Function] = {
    "astype": lambda x: x.astype(np.float32) + x.astype("float64"),
    "argsort": lambda x: x.argsort(axis=0),
    "clip": lambda x: x.clip(0.3, 1.0),
    "copy": lambda x: x.copy() * 2,
    "cumsum": lambda x: x.cumsum(axis=1) + x.cumprod(0),
    "diagonal": lambda x: x.diagonal() * 2,
    "dot": lambda x: x.dot(x.T),
    "flatten": lambda x: x.flatten() + x.ravel(),
    "max": lambda x: x.max() - x.min(axis=0),
    "mean": lambda x: x.mean(axis=1, keepdims=True) + x.std() - x.var(),
    "prod": lambda x: x.prod() + x.trace(),
    "repeat": lambda x: x.repeat(2),
    "reshape": lambda x: x.reshape(4, 3) + x.reshape((2, -1)).T.reshape(4, 3) + x.reshape(-1)[:3],
    "round": lambda x: x.round(1),
    "sum": lambda x: x.sum(0) + x.sum(axis=(0, 1)),
    "swapaxes": lambda x: x.swapaxes(0, 1) + x.T * x.transpose() - x.transpose(1, 0),
    "squeeze": lambda x: x[None].squeeze(0) * 2,
    "take": lambda x: x.take([0, 3], axis=1),
    "real": lambda x: x.real + x.imag,
    "view_of_bits": lambda x: (x.view(np.int64) & 0x7FFF000000000000).view(np.float64),
    "view": lambda x: x.view() * 2,
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=1).sum(axis=-1),
    "complex": lambda x: (x * 1j + 1).real + np.abs(x + 2j) * np.angle(1j * x + x),
    "deepcopy": lambda x: copy.deepcopy(x) + copy.copy(x),
    "iteration": lambda x: np.stack([row * 2 for row in x]),
    "unpacking": lambda x: (lambda a, b, c: a + b * c)(*x),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str, tmp_path: Path) -> None:
    captured = check(METHODS[name], lambda seed: [make(seed)], tmp_path)
    assert not warnings_in(captured.log)


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


# ---- Between torch and NumPy -----------------------------------------------------------------------------------------

CONVERSIONS: dict[str, Function] = {
    "numpy": lambda x: torch.from_numpy(np.sin(x.numpy()) + 1),
    "detached": lambda x: torch.from_numpy(x.detach().cpu().numpy() * 2),
    "as_tensor": lambda x: torch.as_tensor(x.numpy()[1:], dtype=torch.float64) * 2,
    "tensor": lambda x: torch.tensor(x.numpy() + 1),
    "tensor_of_list": lambda x: torch.tensor([x.numpy()[0] * 2, x.numpy()[1]]),
    "asarray": lambda x: torch.from_numpy(np.asarray(x) * 2),
    "array": lambda x: torch.from_numpy(np.array(x.numpy())).add_(1) + x,
    "array_of_scalars": lambda x: torch.from_numpy(np.array([x.numpy()[2] * 2, x.numpy()[0], np.float32(1.0)])),
    "ascontiguousarray": lambda x: torch.from_numpy(np.ascontiguousarray(x.numpy()[::-1])),
    "asarray_with_dtype": lambda x: torch.from_numpy(np.asarray(x.numpy(), dtype=np.float64)),
    "write_through_array": lambda x: (lambda y: (y.numpy().__setitem__(1, 5.0), y * 2)[1])(x * 3),
    "write_through_tensor": lambda x: (lambda a: (torch.from_numpy(a).mul_(2), torch.from_numpy(a + 1))[1])(
        x.numpy() + 1
    ),
    "from_dlpack": lambda x: torch.from_dlpack(np.sin(x.numpy())),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_keep_the_trace(name: str, tmp_path: Path) -> None:
    fn = CONVERSIONS[name]
    inputs = [torch.from_numpy(make(seed, (3,), np.float32)) for seed in range(3)]
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": inputs[0].clone()})
    y = fn(x)
    annotate.output_tensors("n", {"y": y}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert not warnings_in(read_log(tmp_path / "g"))
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    for fresh in inputs:
        torch.testing.assert_close(model(fresh.clone()), fn(fresh.clone()))


def test_without_patching_numpy_is_a_way_out(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path), global_patching=False)
    x = annotate.input_tensors("n", {"x": torch.ones(3)})
    assert type(x.numpy()) is np.ndarray
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    leapp.stop()
    assert "Tensor.numpy" in "".join(warnings_in(read_log(tmp_path / "g")))


def test_arrays_are_recorded_without_patching(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path), global_patching=False)
    x = annotate.input_tensors("n", {"x": np.ones(3)})
    annotate.output_tensors("n", {"y": np.sin(x) + 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert_close(np.sin(np.full(3, 2.0)) + 1, model(torch.full((3,), 2.0, dtype=torch.float64)).numpy())


def test_an_edge_between_nodes_that_speak_numpy(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("a", {"x": np.ones(3)})
    y = np.exp(x)
    annotate.output_tensors("a", {"y": y}, export_with="jit")
    z = annotate.input_tensors("b", {"z": y})
    annotate.output_tensors("b", {"w": z * 2}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert "a/y: [b/z]" in (tmp_path / "g" / "g.yaml").read_text()


# ---- Patches ---------------------------------------------------------------------------------------------------------


def patched_functions() -> list[Any]:
    return [
        torch.from_numpy,
        torch.as_tensor,
        torch.tensor,
        np.asarray,
        np.asanyarray,
        np.ascontiguousarray,
        np.array,
        torch.Tensor.numpy,
        torch.Tensor.tolist,
        torch.nn.Module.__call__,
        math.sin,
        operator.add,
        sorted(vars(torch.Tensor)),
    ]


def test_all_patches_are_undone_at_stop(tmp_path: Path) -> None:
    before = patched_functions()
    leapp.start("g", save_path=str(tmp_path))
    assert torch.from_numpy is not before[0]
    leapp.start("again", save_path=str(tmp_path))
    leapp.stop()
    assert patched_functions() == before


def test_start_puts_function_patches_in_force_and_stop_undoes_them(tmp_path: Path) -> None:
    before, sine = patched_functions(), math.sin
    patches = [leapp.FunctionPatch("math", "sin", lambda x: 10.0)]
    leapp.start("g", save_path=str(tmp_path), patching=patches)
    assert math.sin is not sine
    leapp.start("again", save_path=str(tmp_path), patching=patches)
    leapp.stop()
    assert patched_functions() == before


@pytest.mark.parametrize(
    "start",
    [
        lambda folder: leapp.start("", save_path=folder),
        lambda folder: leapp.start("g", save_path=folder, patching=[leapp.FunctionPatch("math", "no_such", abs)]),
        lambda folder: leapp.start("g", save_path=folder, patching=3),
    ],
    ids=["name", "patch", "list"],
)
def test_a_start_that_fails_leaves_nothing_behind(start: Function, tmp_path: Path) -> None:
    before = patched_functions()
    with pytest.raises((ValueError, TypeError)):
        start(str(tmp_path))
    assert patched_functions() == before
    assert not leapp._capture.is_active()


def test_patches_are_undone_when_compiling_fails(tmp_path: Path) -> None:
    before = patched_functions()
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.tensor([1.0, 0.0])})
    annotate.output_tensors("n", {"y": x.nonzero()}, export_with="jit")
    leapp.stop()
    with pytest.raises(ValueError, match="depends on data"):
        leapp.compile_graph()
    assert patched_functions() == before


@pytest.mark.parametrize(
    ("patching", "error", "words"),
    [
        (lambda patch: [patch("math", "no_such", abs)], ValueError, "'math' has no function 'no_such'"),
        (lambda patch: [patch("no.such.module", "f", abs)], ValueError, "no module 'no.such.module'"),
        (lambda patch: [patch(math, "pi", abs)], ValueError, "'math' has no function 'pi'"),
        (lambda patch: [patch(math, "sin", 3)], TypeError, "must be callable"),
        (lambda patch: [patch(math, 3, abs)], TypeError, "function_name must be a string"),
        (lambda patch: [abs], TypeError, "expected a FunctionPatch"),
        (lambda patch: "sin", TypeError, "a list of FunctionPatch"),
    ],
    ids=["function", "module", "no_function", "replacement", "name", "type", "list"],
)
def test_patches_that_cannot_be(patching: Function, error: type[Exception], words: str) -> None:
    from leapp.patches import install_patches

    before = patched_functions()
    with pytest.raises(error, match=words) as raised:
        install_patches(patching(leapp.FunctionPatch))
    assert isinstance(raised.value, leapp.LeappError)
    assert patched_functions() == before


# ---- Between nodes ---------------------------------------------------------------------------------------------------


def edges_after(between: Function, folder: Path) -> dict[str, list[str]]:
    """Of a node `second` that reads `between` of what a node `first` published."""
    leapp.start("g", save_path=str(folder))
    for start in (0.0, 1.0):
        x = annotate.input_tensors("first", {"x": np.arange(3.0) + start})
        out = annotate.output_tensors("first", {"out": x * 2}, export_with="jit")
        y = annotate.input_tensors("second", {"y": between(out)})
        annotate.output_tensors("second", {"z": y + 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    found: dict[str, list[str]] = read_yaml(folder / "g")["pipeline"]["data_flow"]
    return found


def mirrored(out: Array) -> Array:
    other = np.zeros(3)
    memoryview(other)[:] = memoryview(out.tobytes()).cast("d")  # type: ignore[assignment]
    annotate.mirror_leapp_tags(out, other)
    return other


@pytest.mark.parametrize(
    "between",
    [
        lambda out: out.copy(),
        lambda out: np.copy(out),
        lambda out: np.array(out),
        lambda out: out.astype(out.dtype),
        copy.copy,
        copy.deepcopy,
        lambda out: out.copy().copy()[:],
        lambda out: np.asarray(out.copy()),
        lambda out: torch.from_numpy(out.copy()),
        mirrored,
        lambda out: annotate.mirror_leapp_tags(out, np.array(out.tolist())).copy(),
    ],
    ids=[
        "copy",
        "np.copy",
        "np.array",
        "astype",
        "copy.copy",
        "deepcopy",
        "twice",
        "asarray",
        "torch",
        "mirror",
        "mirror_copy",
    ],
)
def test_a_copy_of_an_array_between_nodes_keeps_the_edge(between: Function, tmp_path: Path) -> None:
    assert edges_after(between, tmp_path) == {"first/out": ["second/y"]}


@pytest.mark.parametrize(
    "between",
    [lambda out: out * 2, lambda out: out[::-1].copy(), lambda out: out[:2].copy(), lambda out: out.astype(np.float32)],
    ids=["computed", "reversed", "part", "cast"],
)
def test_what_is_no_copy_of_an_array_draws_no_edge(between: Function, tmp_path: Path) -> None:
    assert edges_after(between, tmp_path) == {}


def test_what_a_node_hands_out_is_an_ordinary_array(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": np.arange(3.0)})
    out = annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    assert isinstance(out, np.ndarray)
    for result in (
        out + 1,
        np.sin(out),
        np.stack([out, out]),
        np.linalg.norm(out, keepdims=True),
        out.astype(np.int32),
    ):
        assert type(result) is np.ndarray
    assert (float(out[1]), out.tolist(), str(out)) == (2.0, [0.0, 2.0, 4.0], "[0. 2. 4.]")
    out += 1
    np.multiply(out, 2, out=out)
    assert out.tolist() == [2.0, 6.0, 10.0]
    leapp.stop()
    assert pickle.loads(pickle.dumps(out)).tolist() == out.tolist()
    assert type(out.copy()) is np.ndarray, "after stop"


def test_mirror_leapp_tags_inside_a_node(tmp_path: Path) -> None:
    def fn(x: Array) -> Array:
        y = x * 2
        other = np.array(y.tolist())
        return annotate.mirror_leapp_tags(y, other) + 1

    captured = Captured(fn, [np.arange(3.0)], tmp_path)
    assert np.array_equal(captured(np.array([5.0, 6.0, 7.0]))[0], [11.0, 13.0, 15.0])


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: (x.sum() == 6).all() * x,
        lambda x: (x.sum() == 6).any() + x,
        lambda x: np.isfinite(x.sum()).all() * x,
        lambda x: x.max().mean() * x,
        lambda x: x.sum().reshape(1) * x,
        lambda x: x.sum().clip(0, 2) * x,
        lambda x: x.sum().astype(np.float32) * x,
        lambda x: x.sum().copy() * x,
        lambda x: x.sum().ravel() * x,
        lambda x: x.sum().round(1) * x,
        lambda x: x[0].squeeze() * x,
    ],
    ids=["all", "any", "isfinite", "mean", "reshape", "clip", "astype", "copy", "ravel", "round", "element"],
)
def test_methods_of_arrays_without_dimensions(fn: Function, tmp_path: Path) -> None:
    captured = Captured(fn, [np.array([1.0, 2.0, 3.0])], tmp_path)
    for other in (np.array([3.0, 2.0, 1.0]), np.array([0.5, 7.0, -1.0])):
        assert np.allclose(captured(other)[0], fn(other))


@pytest.mark.parametrize(
    "fn",
    [lambda x: np.nonzero(x)[0], lambda x: np.where(x > 1)[0], lambda x: np.flatnonzero(x), lambda x: x[x > 1]],
    ids=["nonzero", "where", "flatnonzero", "mask"],
)
def test_a_data_dependent_array_is_refused_at_the_port(fn: Function, tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": np.array([1.0, 0.0, 2.0])})
    annotate.output_tensors("n", {"y": fn(x)}, export_with="jit")
    leapp.stop()
    with pytest.raises(ValueError, match="output 'y' of node 'n': its shape depends on data"):
        leapp.compile_graph()
