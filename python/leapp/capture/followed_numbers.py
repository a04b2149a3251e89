# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that remember which tensor they are from.

From start to stop, ``item()`` of a tensor in an open node gives a float or an int that is a little more than one: what
the program computes from it with ``+ - * / // % ** abs round`` and with functions of ``math`` is computed with the
tensor too, a comparison is a branch that capture sees, and an operator that takes a float takes the tensor. Everything
else finds an ordinary number.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch

from leapp import _capture
from leapp.capture import checks
from leapp.capture.patches import keep_default_devices, replace

__all__ = ["FollowedFloat", "FollowedInt", "FollowedLength", "install"]

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
    for name, counterpart in _MATH.items():
        _follow_function(name, counterpart)
    keep_default_devices()
    for name in ("full", "full_like", "tensor", "as_tensor", "scalar_tensor"):
        made = getattr(torch, name)
        replace(torch, name, functools.wraps(made)(_made_of(name, made)))


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


def _made_from(values: Sequence[Any], number: float | int, tensor: torch.Tensor) -> Any:
    """What is computed from a length is one, too: a whole number that decides only if the program says so."""
    if type(number) is int:
        for value in values:
            if isinstance(value, FollowedLength):
                return FollowedLength.computed(number, tensor, value)
    return _made(number, tensor)


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
    return _made_from(values, number, operation(*(_operand(value, dtype) for value in values)))


def _compared(operation: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    if not _is_number(second):
        return NotImplemented
    answer = operation(_plain(first), _plain(second))
    if _capture.in_node():
        exact = isinstance(first, int) and isinstance(second, int)
        dtype = torch.int64 if exact else torch.float64

        def ask() -> None:
            bool(operation(_operand(first, dtype), _operand(second, dtype)))  # capture sees what decides

        lengths = [value for value in (first, second) if isinstance(value, FollowedLength)]
        lengths[0].ask(ask, *lengths[1:]) if lengths else ask()
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

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return NotImplemented if modulus is not None else _computed("pow", operator.pow, self, other)

    def __rpow__(self, other: Any, modulus: Any = None) -> Any:
        return NotImplemented if modulus is not None else _computed("pow", operator.pow, other, self)

    def __round__(self, digits: Any = None) -> Any:
        number = self._number()
        return round(number, digits) if digits is not None else self._whole(round(number), torch.round)

    def __floor__(self) -> Any:
        return self._whole(math.floor(self._number()), torch.floor)

    def __ceil__(self) -> Any:
        return self._whole(math.ceil(self._number()), torch.ceil)

    def __trunc__(self) -> Any:
        return self._whole(math.trunc(self._number()), torch.trunc)

    def _whole(self, number: int, function: Callable[[torch.Tensor], torch.Tensor]) -> Any:
        """An int of it, as torch.round and its kin give."""
        if not _capture.in_node():
            return number
        tensor = function(self._tensor) if self._tensor.is_floating_point() else self._tensor
        return _made_from((self,), number, tensor.to(torch.int64))


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

    def as_index(self) -> Any:
        """For a tensor to be indexed with."""
        return self._tensor if _capture.in_node() else self._number()

    def _number(self) -> int:
        return int.__int__(self)

    def __float__(self) -> float:
        _capture.note_escape(self._tensor, "float()")
        return float(self._number())

    def __int__(self) -> int:
        _capture.note_escape(self._tensor, "int()")
        return self._number()


class FollowedLength(FollowedInt):
    """An int that tells how many rows there are where the data says how many (row_lengths.py).

    Unlike a number that ``item()`` gave, it is used for shapes all the time. So it is a branch only where the program
    compares it, and then decides only if the program does something else.
    """

    __hash__ = int.__hash__
    _of: torch.Tensor  # that has the rows
    _source: int | None  # the operator that chose them; None: computed from such a number
    _count: Callable[[], torch.Tensor]
    _counted: torch.Tensor

    @classmethod
    def of(cls, number: int, tensor: torch.Tensor, source: int, count: Callable[[], torch.Tensor]) -> FollowedLength:
        made = cls(number)
        made._of, made._source, made._count = tensor, source, count
        return made

    @classmethod
    def computed(cls, number: int, counted: torch.Tensor, origin: FollowedLength) -> FollowedLength:
        made = cls.of(number, origin._of, 0, lambda: counted)
        made._source = None
        return made

    @property
    def _tensor(self) -> torch.Tensor:
        if not hasattr(self, "_counted"):
            self._counted = self._count()
        return self._counted

    def ask(self, question: Callable[[], object], *others: FollowedLength, loop: bool = False) -> None:
        """The program is told something of it. Two lengths of the same rows are alike whatever the data is."""
        same = any(self._source is not None and other._source == self._source for other in others)
        if not same and checks.asks_for_length(loop):
            _capture.ask_of_rows(self._of, question)

    def __bool__(self) -> bool:
        if _capture.in_node():
            self.ask(lambda: bool(self._tensor))
        return bool(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return self._number()


# ---- functions that take one ----

_SAME_NAMES: tuple[str, ...] = ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "copysign", "cos", "cosh")
_SAME_NAMES += ("erf", "erfc", "exp", "expm1", "fmod", "hypot", "log10", "log1p", "log2", "pow")
_SAME_NAMES += ("sin", "sinh", "sqrt", "tan", "tanh")
_MATH: dict[str, Any] = {name: getattr(torch, name) for name in _SAME_NAMES}
_MATH.update(degrees=torch.rad2deg, fabs=torch.abs, log=torch.log, radians=torch.deg2rad)


def _follow_function(name: str, counterpart: Callable[..., torch.Tensor]) -> None:
    replace(math, name, _following(name, getattr(math, name), counterpart))


@functools.cache
def _following(name: str, original: Callable[..., Any], counterpart: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """A function of ``math``, made once and kept: scripted code knows it by its address."""

    @functools.wraps(original)
    def function(*args: Any) -> Any:
        if not any(isinstance(value, _Followed) for value in args):
            return original(*args)
        number = original(*(_plain(value) for value in args))
        within = (
            len(args) <= (1 if name == "log" else 2) and all(_is_number(value) for value in args) and _capture.in_node()
        )
        if not within or type(number) is not float:
            return number
        first = next(value._tensor for value in args if isinstance(value, _Followed))
        tensors = [
            value._tensor.to(torch.float64)
            if isinstance(value, _Followed)
            else torch.full((), float(value), dtype=torch.float64, device=first.device)
            for value in args
        ]
        return _made(number, counterpart(*tensors))

    return function


def _made_of(name: str, original: Any) -> Any:
    """torch.full and torch.tensor of such numbers: tensors that depend on them."""

    def made(*args: Any, **kwargs: Any) -> Any:
        if not _capture.in_node():
            return original(*args, **kwargs)
        at = 1 if name.startswith("full") else 0
        given = args[at] if len(args) > at else kwargs.get("fill_value" if at else "data")
        if not _has_followed(given):
            return original(*args, **kwargs)
        plain = original(
            *(_replaced(value, _plain) for value in args), **{k: _replaced(v, _plain) for k, v in kwargs.items()}
        )
        tensor = _as_made(given).to(plain.device, plain.dtype)
        return tensor.expand(plain.shape).clone().requires_grad_(plain.requires_grad)

    return made


def _has_followed(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_followed(inner) for inner in value)
    return isinstance(value, _Followed)


def _as_made(value: Any) -> torch.Tensor:
    if isinstance(value, (list, tuple)):
        return torch.stack([_as_made(inner) for inner in value])
    return value._tensor.to(torch.float64) if isinstance(value, _Followed) else _plain_tensor(value)


def _plain_tensor(value: Any) -> torch.Tensor:
    return torch.zeros((), dtype=torch.float64) + (value.to("cpu") if isinstance(value, torch.Tensor) else value)


# ---- operators that take one ----


def _replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, _Followed):
        return change(value)
    if isinstance(value, (list, tuple)) and _has_followed(value):
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
        try:
            return run(as_tensor)
        except TypeError:  # of torch's reading of arguments, so that nothing is written yet: it takes numbers only
            return run(_plain)
    try:
        recorded = run(as_tensor)
    except (RuntimeError, TypeError, ValueError):
        return run(_plain)  # an argument that has to be a number: it is baked in, with a warning
    result = _capture.unrecorded(lambda: run(_plain))
    if isinstance(recorded, torch.Tensor) and _capture.repeated(recorded, result):
        return result
    return run(_plain)
