# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy functions that `torch._numpy` lacks or does otherwise, on its arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch._numpy as tnp

Call = Callable[..., Any]


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if period is not None:
        raise NotImplementedError("period")
    x, xp, fp = (tnp.asarray(value).astype("float64") for value in (x, xp, fp))
    i = tnp.clip(tnp.searchsorted(xp, x, side="right"), 1, len(xp) - 1)
    (x0, x1), (f0, f1) = ((_take(values, i - 1), _take(values, i)) for values in (xp, fp))
    inside = f0 + (f1 - f0) / (x1 - x0) * (x - x0)
    below, above = fp[0] if left is None else left, fp[-1] if right is None else right
    return tnp.where(x < xp[0], below, tnp.where(x > xp[-1], above, inside))


def _take(values: Any, indices: Any) -> Any:
    return tnp.ndarray(torch.take(values.tensor, indices.tensor))  # tnp.take reads the value of a single index


def _select(conditions: list[Any], choices: list[Any], default: Any = 0) -> Any:
    found = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        found = tnp.where(condition, choice, found)
    return found


def _scan(name: str) -> Call:
    """torch does not add up truth values."""

    def scan(array: Any, *args: Any, **kwargs: Any) -> Any:
        array = tnp.asarray(array)
        return getattr(tnp, name)(array.astype("int64") if array.tensor.dtype == torch.bool else array, *args, **kwargs)

    return scan


def _without_nan(name: str, neutral: float) -> Call:
    def reduce(array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(tnp, name)(tnp.where(tnp.isnan(array), neutral, array), *args, **kwargs)

    return reduce


def _nanmean(array: Any, *args: Any, **kwargs: Any) -> Any:
    number = tnp.sum(tnp.logical_not(tnp.isnan(array)), *args, **kwargs)
    return _without_nan("sum", 0.0)(array, *args, **kwargs) / number


COUNTERPARTS: dict[str, Call] = {
    "interp": _interp,
    "select": _select,
    "nanmax": _without_nan("max", -np.inf),
    "nanmin": _without_nan("min", np.inf),
    "nanprod": _without_nan("prod", 1.0),
    "nansum": _without_nan("sum", 0.0),
    "nanmean": _nanmean,
    "cumsum": _scan("cumsum"),
    "cumprod": _scan("cumprod"),
}
