# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Indices, scatters and sorts in the forms op_db has no sample of: every dtype, NaN, ties, masks, both opsets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from harness import as_ports, cloned, difference
from onnx_models import export
from torch import Tensor

NAN, INF = float("nan"), float("inf")
DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
]
OPSETS = [13, 16, 18, 23]  # what reduces in ScatterElements grew in 16 and in 18


def numbers(dtype: torch.dtype, *shape: int) -> Tensor:
    if dtype in (torch.uint8, torch.bool):
        return torch.randint(0, 2, shape).to(dtype)
    return (torch.randn(shape) * 3).to(dtype)


def check(fn: Callable[..., Any], first: list[Tensor], fresh: list[Tensor], path: Path, opset: int = 18) -> None:
    model = export(fn, first, path, opset_version=opset)
    for inputs in (first, fresh):
        assert difference(as_ports(fn(*cloned(inputs))), model(*inputs)) is None


def written(x: Tensor, key: Any, value: Any) -> Tensor:
    x = x.clone()
    x[key] = value
    return x


ALL = slice(None)
INDEXED: dict[str, Callable[[Tensor, Tensor, Tensor], Any]] = {
    "x[i, :, j]": lambda x, i, j: x[i, :, j],
    "x[:, i, j]": lambda x, i, j: x[:, i, j],
    "x[..., i]": lambda x, i, j: x[..., i],
    "x[None, i, ..., None, j]": lambda x, i, j: x[None, i, ..., None, j],
    "x[i, :, i by j]": lambda x, i, j: x[i[:, None], :, j],
    "x[i, :, j] = 1": lambda x, i, j: written(x, (i, ALL, j), 1),
    "x[:, i, 1:4] = 1": lambda x, i, j: written(x, (ALL, i, slice(1, 4)), 1),
    "x[i, j] += 1": lambda x, i, j: torch.ops.aten.index_put(x, [i * 0, j * 0], x.new_ones((3, 5)), True),
    "x[x > 0] = 0": lambda x, i, j: written(x, x > 0, 0),
    "index_add": lambda x, i, j: x.index_add(1, i + 1 - i, x[:, :3]),
    "index_copy": lambda x, i, j: x.index_copy(1, i % 3, x[:, :3]),
    "index_fill": lambda x, i, j: x.index_fill(1, i, 1),
    "scatter": lambda x, i, j: x.scatter(0, (i % 3).reshape(3, 1, 1), x),
    "scatter_add": lambda x, i, j: x.scatter_add(0, (i * 0).reshape(3, 1, 1).expand(3, 4, 5), x),
    "take_along_dim": lambda x, i, j: x.take_along_dim((i % 4).reshape(1, 3, 1), 1),
    "masked_scatter": lambda x, i, j: x.masked_scatter(x > 0, x.flip(0)),
    "sort": lambda x, i, j: torch.sort(x, dim=1, stable=True),
    "sort down": lambda x, i, j: torch.sort(x, dim=0, stable=True, descending=True),
    "cumsum": lambda x, i, j: x.cumsum(1),
    "cumprod": lambda x, i, j: x.cumprod(1),
    "cummax": lambda x, i, j: x.cummax(1),
    "cummin": lambda x, i, j: x.cummin(1),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", INDEXED)
def test_dtypes(name: str, dtype: torch.dtype, tmp_path: Path) -> None:
    i, j = torch.tensor([0, 2, -1]), torch.tensor([1, -2, 0])
    other_i, other_j = torch.tensor([-3, 1, 2]), torch.tensor([3, 0, -4])
    first, fresh = [numbers(dtype, 3, 4, 5), i, j], [numbers(dtype, 3, 4, 5), other_i, other_j]
    check(INDEXED[name], first, fresh, tmp_path)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.int8], ids=str)
def test_scatter_reduce(reduce: str, dtype: torch.dtype, include_self: bool, opset: int, tmp_path: Path) -> None:
    def fn(x: Tensor, index: Tensor, source: Tensor) -> Tensor:
        return x.scatter_reduce(1, index, source, reduce, include_self=include_self)

    def inputs() -> list[Tensor]:
        return [numbers(dtype, 3, 6), torch.randint(0, 4, (2, 7)), numbers(dtype, 3, 8)]

    check(fn, inputs(), inputs(), tmp_path, opset)


ODD = torch.tensor([1.0, NAN, INF, -INF, 2.0, NAN, INF, 3.4028234663852886e38, -0.0, 0.0])
WITH_NAN: dict[str, Callable[[Tensor], Any]] = {
    "sort": lambda x: torch.sort(x, stable=True),
    "sort down": lambda x: torch.sort(x, stable=True, descending=True),
    "topk": lambda x: [v for k in (1, 2, 3, 5) for v in (x.topk(k)[0], x.topk(k, largest=False)[0])],
    "median": lambda x: [x.median(), *x.median(1)],
    "nanmedian": lambda x: [x.nanmedian(), x.nanmedian(1)[0]],
    "kthvalue": lambda x: x.kthvalue(9, 1)[0],
    "quantile": lambda x: [x.quantile(0.3, 1), x.nanquantile(0.3, 1)],
    "cummax": lambda x: [*x.cummax(1), *x.cummin(1)],
    "logcumsumexp": lambda x: x.logcumsumexp(1),
    "bucketize": lambda x: [torch.bucketize(x, torch.tensor([0.0, 1, 2]), right=r) for r in (False, True)],
    "histc": lambda x: torch.histc(x, 5, -1, 2),
    "mode": lambda x: x.mode(1)[0],
    "scatter amax": lambda x: x.scatter_reduce(1, torch.arange(10).remainder(4).expand(2, 10), x.flip(1), "amax"),
    "scatter amin": lambda x: x.scatter_reduce(
        1, torch.arange(10).remainder(4).expand(2, 10), x.flip(1), "amin", include_self=False
    ),
}


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("name", WITH_NAN)
def test_nan_and_infinity(name: str, opset: int, tmp_path: Path) -> None:
    odd = torch.stack([ODD, ODD.flip(0)])
    check(WITH_NAN[name], [odd], [torch.randn(2, 10)], tmp_path, opset)


def test_a_mask_with_one_value_for_all_keeps_the_shape(tmp_path: Path) -> None:
    def fn(x: Tensor, mask: Tensor) -> Tensor:
        return written(x, (ALL, mask), torch.arange(5.0))

    few, many = torch.tensor([True, False, False, False]), torch.tensor([True, True, False, True])
    check(fn, [torch.randn(3, 4, 5), few], [torch.randn(3, 4, 5), many], tmp_path)


def test_no_dimension_at_all(tmp_path: Path) -> None:
    def fn(x: Tensor, i: Tensor) -> list[Tensor]:
        picked = [x.gather(0, i), x.index_select(0, i), x.take(i), x.scatter(0, i, 2.0), x.index_fill(0, i, 1.0)]
        return [*picked, *x.sort(0), *x.topk(1), *x.kthvalue(1), *x.mode(), x.cumsum(0), x.median()]

    check(fn, [torch.randn(()), torch.tensor(0)], [torch.randn(()), torch.tensor(0)], tmp_path)


def test_nothing_at_all(tmp_path: Path) -> None:
    def fn(x: Tensor, i: Tensor) -> list[Tensor]:
        return [x.index_select(0, i).sum(0) + x[0], x.index_add(0, i, x[:0]), x.scatter(0, i[None].expand(1, 0), 1.0)]

    none = torch.zeros(0, dtype=torch.int64)
    check(fn, [torch.randn(4, 3), none], [torch.randn(4, 3), none], tmp_path)


REFUSED: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "x[mask]": (lambda x: x[x > 0].median(), "aten::index.Tensor at .*mask"),
    "x[mask] that chose nothing": (lambda x: x[x > 100].sort().values.sum(), "aten::index.Tensor at .*mask"),
    "nonzero of nothing": (lambda x: (x * 0).nonzero().unique().sum(), "aten::nonzero at .*depends on data"),
    "masked_select": (lambda x: x.masked_select(x > 0).sort().values.sum(), "aten::masked_select at .*depends on data"),
    "unique": (lambda x: x.unique().sum(), "aten::_unique2 at .*depends on data"),
    "one_hot": (lambda x: torch.nn.functional.one_hot(x.argmax(1)).sum(-1), "give num_classes"),
    "bincount": (lambda x: torch.bincount(x.argmax(1)).sum(), "give minlength"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_shapes_that_depend_on_data_are_refused(name: str, tmp_path: Path) -> None:
    fn, why = REFUSED[name]
    with pytest.raises((ValueError, NotImplementedError), match=why):
        export(fn, [torch.randn(4, 5)], tmp_path)
