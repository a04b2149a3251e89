# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on live arrays: NumPy gives value, shape, dtype and errors, `torch._numpy` gives the operators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch._numpy as tnp

from leapp import _capture
from leapp.capture.arrays.arguments import (
    argument_of,
    arguments_of,
    as_index,
    is_array,
    leaves,
    live_arrays,
    map_leaves,
    ordinary,
    rebuilt,
    recorded,
)
from leapp.capture.arrays.counterparts import COUNTERPARTS
from leapp.capture.arrays.live import LiveArray, array_over, live_view, memory_of, on_the_cpu, plain, store, torch_dtype
from leapp.errors import LeappTypeError

Call = Callable[..., Any]

# Written in Python on top of functions that are recorded; NumPy's own code runs.
_BY_NUMPY = frozenset(["polyval", "trapezoid"])
_WRITE_FIRST_ARGUMENT = frozenset(["copyto", "fill_diagonal", "put", "put_along_axis"])
_SAY_NOTHING_OF_VALUES = frozenset(
    [
        "can_cast",
        "common_type",
        "iscomplexobj",
        "isrealobj",
        "may_share_memory",
        "min_scalar_type",
        "ndim",
        "result_type",
        "shape",
        "shares_memory",
        "size",
    ]
)
# Several results are right, or none.
_MAY_DIFFER = frozenset(["argsort", "eig", "eigh", "empty_like", "lstsq", "qr", "svd"])
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod"}


# ---- One call -----------------------------------------------------------------------------------------------------


def asleep(arguments: Any) -> bool:
    """No session: an array that outlived it is an ordinary one."""
    return not _capture.is_active() or not live_arrays(arguments)


def _any_live(arguments: Any) -> bool:
    return any(_capture.is_live(memory_of(array)) for array in live_arrays(arguments))


def refused(name: str, why: str) -> LeappTypeError:
    return LeappTypeError(f"{name} cannot be recorded: {why}")


def _call(name: str, numpy_call: Call, torch_call: Call | None, args: Any, kwargs: dict[str, Any]) -> Any:
    out = kwargs.pop("out", None)
    ordinary_args, ordinary_kwargs = map_leaves(ordinary, args), map_leaves(ordinary, kwargs)
    if out is not None:
        ordinary_kwargs["out"] = map_leaves(lambda array: plain(array).copy(), out)
    expected = numpy_call(*ordinary_args, **ordinary_kwargs)
    views = None if out is not None else _views(expected, args)
    if views is not None:
        return views
    if torch_call is None:
        if _any_live((args, kwargs)):
            raise refused(name, "PyTorch has no such function for arrays")
        found = expected
    else:
        found = _by_torch(name, torch_call, args, kwargs)
    if out is not None:
        return _into(name, out, expected, found)
    if torch_call is None:
        return expected
    return _joined(name, expected, found, (args, kwargs))


def _by_torch(name: str, torch_call: Call, args: Any, kwargs: Any) -> Any:
    try:
        return torch_call(*arguments_of(name, args), **{key: argument_of(value) for key, value in kwargs.items()})
    except Exception as error:
        raise refused(name, f"PyTorch does not take these arguments ({error})") from error


def _views(expected: Any, args: Any) -> Any:
    """What NumPy gives back when that is memory of the arguments, as live arrays; else None."""
    if isinstance(expected, (list, tuple)) and expected:
        views = [_views(inner, args) for inner in expected]
        return None if any(view is None for view in views) else rebuilt(expected, views)
    if not isinstance(expected, np.ndarray):
        return None
    for array in leaves(args):
        if isinstance(array, np.ndarray) and np.may_share_memory(expected, plain(array)):
            return live_view(expected, array._source) if isinstance(array, LiveArray) else expected
    return None


def _joined(name: str, expected: Any, found: Any, arguments: Any) -> Any:
    """torch's results, with NumPy's values, as NumPy gives them back."""
    if isinstance(expected, (np.ndarray, np.generic)):
        return live_result(name, expected, found)
    if isinstance(expected, (list, tuple)) and any(isinstance(x, (np.ndarray, np.generic)) for x in leaves(expected)):
        return rebuilt(expected, [_joined(name, e, f, arguments) for e, f in zip(expected, found, strict=True)])
    for array in live_arrays(arguments):
        _capture.note_escape(memory_of(array), name)
    return expected


def live_result(name: str, expected: Any, found: Any) -> LiveArray:
    tensor = _checked(name, expected, found)
    if not isinstance(found, torch.Tensor):
        tensor = tensor.clone() if tensor._base is not None or not tensor.is_contiguous() else tensor
    array = array_over(tensor)
    np.copyto(array, expected)
    return live_view(array, tensor, scalar=isinstance(expected, np.generic))


def _checked(name: str, expected: Any, found: Any) -> torch.Tensor:
    """torch's result in NumPy's dtype. Another shape or value would make a wrong model: refused."""
    tensor = found.tensor if isinstance(found, tnp.ndarray) else torch.as_tensor(found)
    if tensor.numel() == 1 == np.size(expected):
        tensor = tensor.reshape(np.shape(expected))
    if tuple(tensor.shape) != np.shape(expected):
        raise refused(name, f"PyTorch's result has shape {list(tensor.shape)}, NumPy's {list(np.shape(expected))}")
    tensor = tensor.to(torch_dtype(np.asarray(expected).dtype)).resolve_conj().resolve_neg()
    if name.rpartition(".")[2] not in _MAY_DIFFER and not _agree(np.asarray(expected), tensor):
        raise refused(name, "PyTorch's result has other values than NumPy's")
    return tensor


def _agree(expected: np.ndarray[Any, Any], tensor: torch.Tensor) -> bool:
    found = array_over(tensor)
    if expected.dtype.kind not in "fc":
        return bool(np.array_equal(expected, found))
    coarse = 2e-2 if expected.dtype.itemsize == 2 else 2e-4
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
        return bool(np.allclose(found, expected, rtol=coarse, atol=coarse * float(scale), equal_nan=True))


def _into(name: str, out: Any, expected: Any, found: Any) -> Any:
    if isinstance(out, tuple):
        expected = expected if isinstance(expected, tuple) else (expected,)
        found = found if isinstance(found, tuple) else (found,)
        results = [_into(name, o, e, f) for o, e, f in zip(out, expected, found, strict=True) if o is not None]
        return results[0] if len(results) == 1 else tuple(results)
    tensor = found.tensor if isinstance(found, tnp.ndarray) else torch.as_tensor(found)
    store(out, tensor, expected)
    return out


# ---- Functions and methods ----------------------------------------------------------------------------------------


@on_the_cpu
def run_function(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """`np.mean(x)` and the like."""
    name = f"{func.__module__}.{func.__name__}"
    if asleep((args, kwargs)) or func.__name__ in _SAY_NOTHING_OF_VALUES:
        return func(*map_leaves(ordinary, args), **map_leaves(ordinary, kwargs))
    kwargs = {key: value for key, value in kwargs.items() if value is not np._NoValue}  # what NumPy's own code passes
    if func.__name__ in _WRITE_FIRST_ARGUMENT:
        return _write(name, func, args, dict(kwargs))
    if func.__name__ in _BY_NUMPY:
        return func._implementation(*args, **kwargs)
    return _call(name, func, _counterpart(func), args, dict(kwargs))


def _counterpart(func: Any) -> Call | None:
    """torch._numpy's function of the same module and name, or ours."""
    if func.__name__ in COUNTERPARTS:
        return COUNTERPARTS[func.__name__]
    module: Any = tnp
    for part in func.__module__.split(".")[1:]:
        module = getattr(module, part, None)
    return getattr(module, func.__name__, None)


def _write(name: str, func: Any, args: Any, kwargs: dict[str, Any]) -> None:
    destination, rest = args[0], args[1:]
    expected = plain(destination).copy()
    func(expected, *map_leaves(ordinary, rest), **map_leaves(ordinary, kwargs))
    if func.__name__ == "copyto":
        kwargs.pop("casting", None)
        where = kwargs.pop("where", True)
        value = rest[0] if where is True else np.where(where, rest[0], destination)
        store(destination, recorded(value).tensor if is_array(value) else torch.as_tensor(value), expected)
        return
    changed = tnp.ndarray(recorded(destination).tensor.clone())
    _by_torch(name, getattr(tnp, func.__name__), (changed.tensor, *rest), kwargs)
    store(destination, changed.tensor, expected)


@on_the_cpu
def run_method(self: LiveArray, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """`x.mean()` and the like."""
    original = _of_numpy(name)
    if asleep((self, args, kwargs)):
        return original(plain(self), *map_leaves(ordinary, args), **map_leaves(ordinary, kwargs))
    own = _METHODS.get(name)
    if own is not None:
        return own(self, *args, **kwargs)
    counterpart = COUNTERPARTS.get(name) or getattr(tnp.ndarray, name, None)
    return _call(f"ndarray.{name}", original, counterpart, (self, *args), dict(kwargs))


def _of_numpy(name: str) -> Call:
    """The method of an ordinary array, or of the scalar that it has in its place."""
    return lambda array, *args, **kwargs: getattr(array, name)(*args, **kwargs)


def _astype(self: LiveArray, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    def by_torch(array: Any, *_: Any, **__: Any) -> Any:
        return array.tensor.to(torch_dtype(np.dtype(dtype)), copy=True)

    return _call("ndarray.astype", _of_numpy("astype"), by_torch, (self, dtype, *args), dict(kwargs))


def _copy(self: LiveArray, *args: Any, **kwargs: Any) -> Any:
    def by_torch(array: Any, *_: Any, **__: Any) -> Any:
        return array.tensor.clone()

    return _call("ndarray.copy", _of_numpy("copy"), by_torch, (self, *args), dict(kwargs))


def _sort(self: LiveArray, axis: int = -1, **kwargs: Any) -> None:
    self[...] = np.sort(self, axis, **kwargs)


def _fill(self: LiveArray, value: Any) -> None:
    self[...] = value


def _put(self: LiveArray, indices: Any, values: Any, mode: Any = "raise") -> None:
    np.put(self, indices, values, mode)


_METHODS: dict[str, Call] = {"astype": _astype, "copy": _copy, "sort": _sort, "fill": _fill, "put": _put}


# ---- Universal functions ------------------------------------------------------------------------------------------


@on_the_cpu
def run_ufunc(ufunc: Any, method: str, inputs: Any, kwargs: dict[str, Any]) -> Any:
    """`np.sin(x)`, `x + 1`, `x += 1`, `np.add.reduce(x)`."""
    call = getattr(ufunc, method)
    name = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
    if asleep((inputs, kwargs)):
        outs = kwargs.pop("out", None)
        if outs is not None:
            kwargs["out"] = tuple(None if out is None else plain(out) for out in outs)
            call(*map_leaves(ordinary, inputs), **map_leaves(ordinary, kwargs))
            return outs[0] if len(outs) == 1 else outs
        return call(*map_leaves(ordinary, inputs), **map_leaves(ordinary, kwargs))
    if method == "outer":
        first, second = (value if isinstance(value, np.ndarray) else np.asarray(value) for value in inputs)
        return ufunc(first[(..., *(None,) * second.ndim)], second, **kwargs)
    if method == "at":
        return _at(name, ufunc, inputs)
    kwargs = dict(kwargs)
    if method == "__call__" and kwargs.get("where", True) is not True:
        return _masked(name, ufunc, inputs, kwargs)
    if len(kwargs.get("out") or ()) == 1:
        kwargs["out"] = kwargs["out"][0]
    return _call(name, call, _ufunc_counterpart(name, ufunc, method), inputs, kwargs)


def _masked(name: str, ufunc: Any, inputs: Any, kwargs: dict[str, Any]) -> Any:
    where, outs = kwargs.pop("where"), kwargs.pop("out", None) or (None,)
    if len(outs) != 1 or outs[0] is None:
        raise refused(name, "where= without out= leaves elements without a value; use np.where")
    np.copyto(outs[0], ufunc(*inputs, **kwargs), where=where, casting="unsafe")
    return outs[0]


def _ufunc_counterpart(name: str, ufunc: Any, method: str) -> Call | None:
    if method == "__call__":
        function = getattr(tnp, ufunc.__name__, None)
        return None if function is None else functools.partial(_by_loop, name, ufunc, function)
    table = {"reduce": _REDUCTIONS, "accumulate": _ACCUMULATIONS}.get(method, {})
    function = getattr(tnp, table.get(ufunc.__name__, ""), None)
    return None if function is None else functools.partial(_along, function)


def _along(function: Call, array: Any, axis: Any = 0, *args: Any, **kwargs: Any) -> Any:
    return function(array, axis, *args, **kwargs)


def _by_loop(name: str, ufunc: Any, function: Call, *inputs: Any, **kwargs: Any) -> Any:
    """Arguments in the dtypes of the loop that NumPy takes, so that torch has nothing to promote."""
    dtype = kwargs.pop("dtype", None)
    kwargs.pop("casting", None)
    asked = {} if dtype is None else {"signature": (*(None,) * ufunc.nin, *(np.dtype(dtype),) * ufunc.nout)}
    kinds = tuple(_kind(value) for value in inputs) + (None,) * ufunc.nout
    loop = ufunc.resolve_dtypes(kinds, casting="unsafe", **asked)
    return function(*map(_cast, inputs, loop), **kwargs)


def _kind(value: Any) -> Any:
    if isinstance(value, tnp.ndarray):
        return np.dtype(value.dtype.name)
    return type(value) if type(value) in (int, float, complex) else np.asarray(value).dtype


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, tnp.ndarray):
        return tnp.ndarray(value.tensor.to(torch_dtype(dtype)))
    if type(value) in (int, float, complex) and np.dtype(type(value)).kind == dtype.kind:
        return value  # a number stays a number
    return tnp.ndarray(torch.from_numpy(np.asarray(value).astype(dtype)))


def _at(name: str, ufunc: Any, inputs: Any) -> None:
    destination, index, *values = inputs
    if ufunc.__name__ not in ("add", "subtract"):
        raise refused(name, "PyTorch has no such function for arrays")
    expected = plain(destination).copy()
    ufunc.at(expected, map_leaves(ordinary, index), *map_leaves(ordinary, values))
    value = recorded(np.asanyarray(values[0])).tensor.to(torch_dtype(expected.dtype))
    changed = recorded(destination).tensor.clone()
    indices = [as_index(i) for i in (index if isinstance(index, tuple) else (index,))]
    changed.index_put_(indices, value if ufunc.__name__ == "add" else -value, accumulate=True)
    store(destination, changed, expected)
