# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy programs: the values they get are NumPy's, the models they become give the same ones for other inputs."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness import warnings_in
from numpy_nodes import Array, Function, check, make

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
