# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that remember which tensor they are from.

From start to stop, ``item()`` of a tensor in an open node gives a float or an int that is a little more than one: what
the program computes from it with ``+ - * / // % abs`` is computed with the tensor too, a comparison is a branch that
capture sees, and an operator that takes a float takes the tensor. Everything else finds an ordinary number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from leapp import _capture
from leapp.patches import replace

__all__ = ["FollowedFloat", "FollowedInt", "install"]

_FLOATS = frozenset((torch.float32, torch.float64, torch.float16, torch.bfloat16))
_INTEGERS = frozenset((torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8))


def install() -> None:
    """Until patches are removed."""
    original = torch.Tensor.item

    def item(self: torch.Tensor) -> Any:
        if type(self) is torch.Tensor or isinstance(self, torch.nn.Parameter):
            followed = _followed(self)
            if followed is not None:
                return followed
        return original(self)

    item.__doc__ = original.__doc__
    replace(torch.Tensor, "item", item)


def _followed(tensor: torch.Tensor) -> Any:
    wanted = torch.float64 if tensor.dtype in _FLOATS else torch.int64 if tensor.dtype in _INTEGERS else None
    if wanted is None or tensor.numel() != 1 or tensor.layout is not torch.strided:
        return None
    number = _capture.followed_number(tensor)
    if number is None:
        return None
    # A copy: the program may write to the tensor after it has read the number. On the CPU, where numbers are.
    return _made(number, tensor.detach().to("cpu", wanted, copy=True).reshape(()))


def _made(number: float | int, tensor: torch.Tensor) -> Any:
    made: Any = FollowedInt(number) if type(number) is int else FollowedFloat(number)
    made._tensor = tensor
    return made


def _plain(value: Any) -> Any:
    return value._number() if isinstance(value, _Followed) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and (isinstance(value, _Followed) or type(value) in (int, float, bool))


def _operand(value: Any, dtype: torch.dtype) -> Any:
    return value._tensor.to(dtype) if isinstance(value, _Followed) else value


def _computed(name: str, operation: Callable[..., Any], *values: Any) -> Any:
    if not all(_is_number(value) for value in values):
        return NotImplemented
    number = operation(*(_plain(value) for value in values))
    if type(number) not in (int, float) or not _capture.in_node():
        return number
    dtype = torch.float64 if type(number) is float or name == "truediv" else torch.int64
    return _made(number, operation(*(_operand(value, dtype) for value in values)))


def _compared(operation: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    if not _is_number(second):
        return NotImplemented
    answer = operation(_plain(first), _plain(second))
    if _capture.in_node():
        exact = isinstance(first, int) and isinstance(second, int)
        dtype = torch.int64 if exact else torch.float64
        bool(operation(_operand(first, dtype), _operand(second, dtype)))  # capture sees what decides
    return answer


class _Followed:
    """What both kinds have in common. REQUIRES: `_tensor` has no dimensions and is float64, or int64."""

    _tensor: torch.Tensor

    def _number(self) -> Any:
        raise NotImplementedError

    def __reduce__(self) -> Any:
        return type(self._number()), (self._number(),)

    def __bool__(self) -> bool:
        if _capture.in_node():
            bool(self._tensor)
        return bool(self._number())

    def __neg__(self) -> Any:
        return _computed("neg", operator.neg, self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return _computed("abs", operator.abs, self)


def _arithmetic(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    operation = getattr(operator, name)
    return (
        lambda self, other: _computed(name, operation, self, other),
        lambda self, other: _computed(name, operation, other, self),
    )


def _comparison(name: str) -> Callable[..., Any]:
    operation = getattr(operator, name)
    return lambda self, other: _compared(operation, self, other)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
    _forward, _backward = _arithmetic(_name)
    setattr(_Followed, f"__{_name}__", _forward)
    setattr(_Followed, f"__r{_name}__", _backward)
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(_Followed, f"__{_name}__", _comparison(_name))


class FollowedFloat(_Followed, float):
    """A float that ``item()`` gave."""

    __hash__ = float.__hash__

    # Not for integers: torch.zeros(n, 3) does not take sizes that have one.
    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return _call(function, args, kwargs or {})

    def _number(self) -> float:
        return float.__float__(self)

    def __float__(self) -> float:
        _capture.note_escape(self._tensor, "float()")
        return self._number()

    def __int__(self) -> int:
        _capture.note_escape(self._tensor, "int()")
        return int(self._number())


class FollowedInt(_Followed, int):
    """An int that ``item()`` gave."""

    __hash__ = int.__hash__

    def _number(self) -> int:
        return int.__int__(self)

    def __float__(self) -> float:
        _capture.note_escape(self._tensor, "float()")
        return float(self._number())

    def __int__(self) -> int:
        _capture.note_escape(self._tensor, "int()")
        return self._number()


# ---- operators that take one ----


def _replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, _Followed):
        return change(value)
    if isinstance(value, (list, tuple)) and any(isinstance(inner, _Followed) for inner in value):
        return type(value)(_replaced(inner, change) for inner in value)
    return value


def _writes(function: Any, kwargs: dict[str, Any]) -> bool:
    name = getattr(function, "__name__", "")
    in_place = name.endswith("_") and not name.endswith("__")
    return in_place or name == "__setitem__" or kwargs.get("out") is not None or name.startswith("__i")


def _call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The program gets what the number gives; recorded is what the tensor gives, as far as they agree."""
    tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]

    def as_tensor(value: Any) -> torch.Tensor:
        if not tensors:
            return value._tensor
        return value._tensor.to(tensors[0].device, torch.result_type(tensors[0], _plain(value)))

    def run(change: Callable[[Any], Any]) -> Any:
        return function(
            *(_replaced(value, change) for value in args),
            **{name: _replaced(value, change) for name, value in kwargs.items()},
        )

    if not _capture.in_node():
        return run(_plain)
    if _writes(function, kwargs):
        return run(as_tensor)
    try:
        recorded = run(as_tensor)
    except (RuntimeError, TypeError, ValueError):
        return run(_plain)  # an argument that has to be a number: it is baked in, with a warning
    result = _capture.unrecorded(lambda: run(_plain))
    if isinstance(recorded, torch.Tensor) and _capture.repeated(recorded, result):
        return result
    return run(_plain)
