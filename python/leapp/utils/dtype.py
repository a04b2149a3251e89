# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Names of dtypes, as the YAML has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leapp.errors import LeappTypeError, LeappValueError

if TYPE_CHECKING:
    import torch

__all__ = ["dtype_to_name", "map_to_torch_dtype", "value_to_name_and_shape"]

_NAMES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64"),
)


def map_to_torch_dtype(string: str) -> torch.dtype:
    """The dtype of that name.

    >>> map_to_torch_dtype("float32")
    torch.float32
    """
    import torch

    if string not in _NAMES:
        raise LeappValueError(f"expected one of {', '.join(_NAMES)}; found {string!r}")
    found: torch.dtype = getattr(torch, string)
    return found


def dtype_to_name(dtype_obj: Any) -> str:
    """The name of a dtype of torch or NumPy.

    >>> dtype_to_name(torch.float32)
    'float32'
    """
    name = getattr(dtype_obj, "name", None) or str(dtype_obj).removeprefix("torch.")
    if name not in _NAMES:
        raise LeappValueError(f"expected a dtype of torch or NumPy that a port can have, found {dtype_obj!r}")
    return name


def value_to_name_and_shape(value: Any) -> tuple[str, tuple[int, ...]]:
    """The name of a tensor's or array's dtype, and its shape."""
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        raise LeappTypeError(f"expected a tensor or an array, found {type(value).__name__}")
    return dtype_to_name(value.dtype), value.shape
