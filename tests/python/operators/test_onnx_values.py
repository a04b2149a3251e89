# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Dtypes, promotion, NaN, infinities, opsets: what ONNX Runtime computes is what torch computes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from pathlib import Path

import leapp
import pytest
import torch
import torch.nn.functional as F
from harness import assert_same, cloned
from onnx_models import export

Function = Callable[..., torch.Tensor]

SPECIAL = [math.nan, -math.inf, math.inf, -0.0, 0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 1e-7, -1e-7, 20.5, -20.5]
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]


def check(fn: Function, *inputs: torch.Tensor, save_path: Path) -> None:
    exported = export(fn, inputs, save_path)
    assert_same([fn(*cloned(inputs))], exported(*cloned(inputs)), rtol=tolerance(x.dtype for x in inputs))


def tolerance(dtypes: Iterable[torch.dtype]) -> float:
    """ONNX Runtime drops casts to half and back: what lies between keeps the digits that torch rounds away."""
    return 1e-2 if any(dtype in (torch.float16, torch.bfloat16) for dtype in dtypes) else 1e-5


UNARY: dict[str, Function] = {
    "sign": torch.sign,
    "round": torch.round,
    "trunc": torch.trunc,
    "frac": torch.frac,
    "floor": torch.floor,
    "relu": torch.relu,
    "clamp": lambda x: torch.clamp(x, -1.0, 2.0),
    "clamp_min": lambda x: torch.clamp(x, min=0.25),
    "hardtanh": F.hardtanh,
    "relu6": F.relu6,
    "nan_to_num": torch.nan_to_num,
    "isfinite": torch.isfinite,
    "isnan": torch.isnan,
    "isinf": torch.isinf,
    "signbit": torch.signbit,
    "log1p": torch.log1p,
    "expm1": torch.expm1,
    "softplus": F.softplus,
    "elu": F.elu,
    "leaky_relu": F.leaky_relu,
    "silu": F.silu,
    "hardshrink": F.hardshrink,
    "softshrink": F.softshrink,
    "threshold": lambda x: F.threshold(x, 0.1, 20.0),
    "logsigmoid": F.logsigmoid,
    "softmax": lambda x: torch.softmax(x, 0),
    "remainder": lambda x: torch.remainder(x, 1.5),
    "fmod": lambda x: torch.fmod(x, -1.5),
    "floor_divide": lambda x: torch.floor_divide(x, -1.5),
    "pow2": lambda x: x**2,
    "pow_half": lambda x: x**0.5,
    "pow_neg": lambda x: x**-1.5,
    "amax": lambda x: x.amax(),
    "amax_row": lambda x: x.reshape(4, 4).amax(1),
    "argmax_row": lambda x: x.reshape(4, 4).argmax(1),
    "argmin_row": lambda x: x.reshape(4, 4).argmin(1),
    "logsumexp": lambda x: x.reshape(4, 4).logsumexp(1),
    "mean": lambda x: x.reshape(4, 4).mean(0),
    "nansum": torch.nansum,
    "any": lambda x: x.reshape(4, 4).any(0),
}
# Their zeros may have another sign: ONNX Runtime's Where turns -0.0 into 0.0.
KERNELS_OWN_ZERO = {
    "elu",
    "hardshrink",
    "softshrink",
    "expm1",
    "log1p",
    "silu",
    "mean",
    "softplus",
    "logsigmoid",
    "trunc",
    "floor_divide",
}


@pytest.mark.parametrize("name", UNARY)
def test_special_numbers(name: str, tmp_path: Path) -> None:
    x = torch.tensor(SPECIAL)
    exported = export(UNARY[name], [x], tmp_path)
    expected = UNARY[name](x)
    found = exported(x)
    assert_same([expected], found)
    if name not in KERNELS_OWN_ZERO and expected.is_floating_point():
        zero = (expected == 0) & (found[0] == 0)
        assert torch.equal(torch.signbit(expected)[zero], torch.signbit(found[0])[zero]), "the sign of a zero"


BINARY: dict[str, Function] = {
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "fmax": torch.fmax,
    "fmin": torch.fmin,
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "floor_divide": torch.floor_divide,
    "trunc_divide": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "atan2": torch.atan2,
    "hypot": torch.hypot,
    "copysign": torch.copysign,
    "pow": torch.pow,
    "logaddexp": torch.logaddexp,
    "xlogy": torch.xlogy,
    "eq": torch.eq,
    "lt": torch.lt,
    "isclose": lambda x, y: torch.isclose(x, y, equal_nan=True),
    "heaviside": torch.heaviside,
    "where": lambda x, y: torch.where(x > y, x, y),
}


@pytest.mark.parametrize("name", BINARY)
def test_special_numbers_meet(name: str, tmp_path: Path) -> None:
    pairs = list(itertools.product(SPECIAL, SPECIAL))
    if name == "copysign":
        pairs = [(x, y) for x, y in pairs if not math.isnan(y)]  # the sign of a NaN is nobody's
    x, y = torch.tensor(pairs).unbind(1)
    exported = export(BINARY[name], [x, y], tmp_path)
    assert_same([BINARY[name](x, y)], exported(x, y))


ARITHMETIC: dict[str, Function] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "lt": lambda x, y: x < y,
    "max": torch.maximum,
    "where": lambda x, y: torch.where(x > y, x, y),
    "number": lambda x, y: x * 3 + y * 2.5,
    "square": lambda x, y: x**2 + y,
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_every_dtype_meets_every_other(name: str, tmp_path: Path) -> None:
    """All pairs in one model: to write and load one for each takes minutes."""
    torch.manual_seed(0)
    dtypes = FLOATS + INTEGERS
    inputs = [torch.randint(1, 100, (3, 4)).to(a) for a in dtypes] + [torch.randint(1, 100, (4,)).to(b) for b in dtypes]

    def all_pairs(*values: torch.Tensor) -> list[torch.Tensor]:
        return [ARITHMETIC[name](x, y) for x in values[: len(dtypes)] for y in values[len(dtypes) :]]

    found, expected = export(all_pairs, inputs, tmp_path)(*cloned(inputs)), all_pairs(*cloned(inputs))
    assert len(found) == len(dtypes) ** 2
    for pair, got, want in zip(itertools.product(dtypes, dtypes), found, expected, strict=True):
        assert_same([want], [got], rtol=tolerance(pair))


def test_booleans_count(tmp_path: Path) -> None:
    x = torch.tensor([True, True, False, False])
    y = torch.tensor([True, False, True, False])
    for fn in (
        lambda x, y: x + y,
        lambda x, y: x * y,
        lambda x, y: x & y,
        lambda x, y: x ^ y,
        lambda x, y: x + 1 + y * 2.5,
        lambda x, y: x.sum() + y.sum(),
        lambda x, y: torch.where(x, y, ~y),
        lambda x, y: x < y,
        lambda x, y: torch.cat([x, y]).any(),
        lambda x, y: torch.stack([x, y]).all(0),
    ):
        check(fn, x, y, save_path=tmp_path)


def test_zero_dimensional_tensors_do_not_promote(tmp_path: Path) -> None:
    x = torch.arange(4, dtype=torch.float16)
    check(lambda x, y: x + y, x, torch.tensor(1.5, dtype=torch.float64), save_path=tmp_path)
    check(lambda x, y: x < y, x, torch.tensor(1.5, dtype=torch.float64), save_path=tmp_path)
    check(lambda x, y: x * y, torch.arange(4, dtype=torch.int8), torch.tensor(100), save_path=tmp_path)


def test_integers_wrap(tmp_path: Path) -> None:
    for dtype in INTEGERS:
        high = torch.iinfo(dtype).max
        x = torch.tensor([high, 2, 7], dtype=dtype)
        check(lambda x: x * x + x, x, save_path=tmp_path)
        check(lambda x: x**5, x, save_path=tmp_path)


ACTIVATIONS: dict[str, Function] = {
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "mish": F.mish,
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "selu": F.selu,
    "celu": lambda x: F.celu(x, 1.5),
    "elu": lambda x: F.elu(x, 0.7),
    "softplus": lambda x: F.softplus(x, 2.0, 5.0),
    "tril": lambda x: x.reshape(4, 4).tril(1),
    "sum": lambda x: x.reshape(4, 4).sum(1),
    "amax": lambda x: x.reshape(4, 4).amax(0, keepdim=True),
    "split": lambda x: x.reshape(4, 4).split([1, 3], 1)[1],
    "linear": lambda x: F.linear(x.reshape(4, 4), x.reshape(4, 4) * 0.1),
    "int_sum": lambda x: x.to(torch.int16).sum() + (x.to(torch.int8) * 3).to(torch.float32),
}


@pytest.mark.parametrize("opset", range(13, 24))
def test_every_opset(opset: int, tmp_path: Path) -> None:
    x = torch.linspace(-4, 4, 16)
    for fn in ACTIVATIONS.values():
        exported = export(fn, [x], tmp_path, opset_version=opset)
        assert exported.model.opset_import[0].version == opset
        assert_same([fn(x)], exported(x))


def test_new_operators_are_used_where_the_opset_has_them(tmp_path: Path) -> None:
    x = torch.linspace(-4, 4, 16)
    for fn, op, opset in ((F.gelu, "Gelu", 20), (F.mish, "Mish", 18), (F.hardswish, "HardSwish", 14)):
        new = export(fn, [x], tmp_path, opset_version=opset).model
        assert [node.op_type for node in new.graph.node] == [op]
        old = export(fn, [x], tmp_path, opset_version=13).model
        assert op not in [node.op_type for node in old.graph.node]


@pytest.mark.parametrize("dtype", FLOATS)
def test_activations_of_every_float(dtype: torch.dtype, tmp_path: Path) -> None:
    x = torch.linspace(-4, 4, 16).to(dtype)
    for name in ("mish", "hardswish", "hardsigmoid", "selu", "celu", "elu", "softplus", "tril", "sum", "amax"):
        check_refused_or_right(ACTIVATIONS[name], x, tmp_path)


def check_refused_or_right(fn: Function, x: torch.Tensor, save_path: Path) -> None:
    if x.dtype == torch.float64:  # not every kernel is there
        try:
            exported = export(fn, [x], save_path)
        except NotImplementedError:
            return
    else:
        exported = export(fn, [x], save_path)
    assert_same([fn(x)], exported(x))


def test_a_dtype_without_a_kernel_is_refused_with_its_line(tmp_path: Path) -> None:
    x = torch.ones(1, 2, 3, dtype=torch.float64)
    with pytest.raises(NotImplementedError, match=r"aten::conv_transpose1d at .*test_onnx_values.py:\d+: .*float64"):
        export(lambda x: F.conv_transpose1d(x, x.transpose(0, 1)), [x], tmp_path)


def test_opsets_out_of_range(tmp_path: Path) -> None:
    for opset in (12, 24):
        with pytest.raises(ValueError, match="13"):
            export(torch.sin, [torch.ones(3)], tmp_path, opset_version=opset)
        leapp.start("again", save_path=str(tmp_path))
        leapp.stop()
