# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The decorator that makes a function a node."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from leapp.capture._native import capture
from leapp.capture.return_names import return_names
from leapp.errors import LeappRuntimeError, LeappTypeError, LeappValueError

__all__ = ["method"]

F = TypeVar("F", bound=Callable[..., Any])

_running = threading.local()  # .nodes: those whose functions are running on this thread


def method(
    node_name: str | None = None, export_with: str | None = None, backend_params: dict[str, Any] | None = None
) -> Callable[[F], F]:
    """Make a function or method a node: arguments are its inputs, what it returns its outputs.

    Inputs have the names of the parameters (``rest_0`` for ``*rest``, the keys of ``**kw``) and stand in the order of
    the first call: what is given by position, then the keywords as the call gives them. Arguments without tensors stay
    Python values, and so do defaults. An output has the name of the variable in the return statement, or of the
    field of a named tuple, else ``output1``, ``output2``... ``node_name`` is the function's name if not given. When not
    started, the function simply runs.

    >>> @annotate.method(export_with="jit")
    ... def normalise(raw):
    ...     features = (raw - raw.mean()) / (raw.std() + 1e-6)
    ...     return features
    """
    if callable(node_name):
        raise LeappTypeError("method: write @annotate.method(), with parentheses")
    for name, value in (("node_name", node_name), ("export_with", export_with)):
        if value is not None and not isinstance(value, str):
            raise LeappTypeError(f"method: {name} must be a string, found {type(value).__name__}")
    if backend_params is not None and not isinstance(backend_params, dict):
        raise LeappTypeError(f"method: backend_params must be a dict, found {type(backend_params).__name__}")
    options = {"export_with": export_with, "backend_params": backend_params}

    def decorate(function: F) -> F:
        if isinstance(function, (classmethod, staticmethod)):  # the decorators stand in the other order
            return cast(F, type(function)(decorate(function.__func__)))
        _check_function(function)
        node = _Node(node_name or _name_of(function), function, options)

        @functools.wraps(function)
        def annotated(*args: Any, **kwargs: Any) -> Any:
            if not capture.is_active():
                return function(*args, **kwargs)
            return node(args, kwargs)

        return cast(F, annotated)

    return decorate


def _check_function(function: Any) -> None:
    if not callable(function):
        raise LeappTypeError(f"method: expected a function, found {type(function).__name__}")
    kinds = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    if any(kind(function) for kind in kinds):
        raise LeappTypeError(
            f"method: '{_name_of(function)}' is a generator or a coroutine; a node is a function that returns tensors"
        )


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def _any_signature(*args: Any, **kwargs: Any) -> None:
    """What is taken for the signature of functions that have none."""


def _place_in_call(name: str, keywords: list[str]) -> int:
    """Arguments given by position come first, in their order; keywords follow as the call gives them."""
    return keywords.index(name) + 1 if name in keywords else 0


class _Node:
    """A function that is called as a node."""

    def __init__(self, name: str, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._name = name
        self._function = function
        self._options = options
        try:
            self._signature = inspect.signature(function)
        except ValueError:
            self._signature = inspect.signature(_any_signature)

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:
            return self._function(*args, **kwargs)  # says it better
        nodes: list[str] = _running.__dict__.setdefault("nodes", [])
        if nodes:
            raise LeappRuntimeError(
                f"node '{self._name}': the annotated function was called inside node '{nodes[-1]}', whose function is "
                "still running; a node cannot contain another. Annotate only one of the two"
            )
        capture.begin_first_call(self._name, self._owner(bound.args), bound.args)
        copies = self._open(bound, list(kwargs))
        nodes.append(self._name)
        try:
            result = self._function(*bound.args, **bound.kwargs)
            copies.write_back()
            return self._close(result)
        except BaseException:
            capture.abandon(self._name)
            capture.abandon_first_call(self._name)
            raise
        finally:
            nodes.pop()

    def _owner(self, arguments: tuple[Any, ...]) -> Any:
        """The object that the function is a method of, or None."""
        name = getattr(self._function, "__name__", "")
        first = arguments[0] if arguments else None
        return first if any(name in vars(base) for base in type(first).__mro__) else None

    def _open(self, bound: inspect.BoundArguments, keywords: list[str]) -> ContainerCopies:
        """Announces the arguments that hold tensors, and puts what comes back in their places."""
        if capture.is_open(self._name):
            raise LeappRuntimeError(
                f"node '{self._name}' is open already; close it with output_tensors before the annotated function runs"
            )
        places = sorted(self._places(bound), key=lambda place: _place_in_call(place[0], keywords))
        inputs = [value for _, value, _ in places]
        names = [name for name, _, _ in places]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise LeappValueError(f"node '{self._name}': two arguments give the input '{twice}'; rename a parameter")
        values = capture.input_tensors(self._name, dict(zip(names, inputs, strict=True)), quiet=True)
        copies = ContainerCopies()
        for (_, given, put), value in zip(places, (values,) if len(places) == 1 else values, strict=True):
            copies.add(given, value)
            put(value)
        for name, parameter in self._signature.parameters.items():
            if name not in bound.arguments and parameter.default is not inspect.Parameter.empty:
                self._note_default(parameter.default)
        return copies

    def _note_default(self, value: Any) -> None:
        """Tensors that are not passed are constants of the node, which it may return."""
        if isinstance(value, (list, tuple)):
            for item in value:
                self._note_default(item)
        elif isinstance(value, dict):
            self._note_default(list(value.values()))
        elif hasattr(value, "data_ptr"):  # torch's; an array as a default is no tensor of the node
            capture.note_default(self._name, value)

    def _places(self, bound: inspect.BoundArguments) -> list[tuple[str, Any, Callable[[Any], None]]]:
        """Name, value and setter of each argument that holds a tensor."""
        found: list[tuple[str, Any, Callable[[Any], None]]] = []
        for name, value in list(bound.arguments.items()):
            kind = self._signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                rest = bound.arguments[name] = list(value)
                found += [(f"{name}_{i}", item, functools.partial(rest.__setitem__, i)) for i, item in enumerate(value)]
            elif kind is inspect.Parameter.VAR_KEYWORD:
                keywords = bound.arguments[name] = dict(value)
                found += [(key, item, functools.partial(keywords.__setitem__, key)) for key, item in value.items()]
            else:
                found.append((name, value, functools.partial(bound.arguments.__setitem__, name)))
        return [place for place in found if capture.holds_tensor(place[1])]

    def _close(self, result: Any) -> Any:
        if result is None or not capture.holds_tensor(result):
            found = "None" if result is None else type(result).__name__
            raise LeappTypeError(
                f"node '{self._name}': the annotated function must return tensors, alone or in tuples, lists and "
                f"dicts, found {found}"
            )
        outputs = self._outputs(result)
        values = capture.output_tensors(self._name, outputs, **self._options)
        values = (values,) if len(outputs) == 1 else values
        if len(outputs) == 1 and not isinstance(result, tuple):
            return values[0]
        unchanged = all(before is after for before, after in zip(result, values, strict=True))
        if unchanged:
            return result
        return type(result)._make(values) if hasattr(result, "_make") else tuple(values)

    def _outputs(self, result: Any) -> dict[str, Any]:
        """A tuple is several outputs; anything else is one, maybe nested."""
        if not isinstance(result, tuple):
            return {return_names(self._function, None)[0] or "output1": result}
        fields = getattr(type(result), "_fields", None)
        names = list(fields) if fields is not None else return_names(self._function, len(result))
        outputs: dict[str, Any] = {}
        for i, value in enumerate(result):
            name = names[i]
            outputs[f"output{i + 1}" if name is None or name in outputs else name] = value
        return outputs


class ContainerCopies:
    """The caller's lists and dicts, copied for an annotated function to work on, with live tensors in them.

    Repeats on the caller's containers what the function did to its copies.
    """

    def __init__(self) -> None:
        self._containers: list[tuple[Any, Any, list[Any]]] = []  # the caller's, its copy, what was in the copy
        self._owned: dict[int, Any] = {}  # by the id of a copy: what the caller has in its place
        self._kept: list[Any] = []  # keeps the ids from being reused

    def add(self, owned: Any, copy: Any) -> None:
        """`copy` has the structure of `owned`."""
        if copy is owned:
            return
        self._owned[id(copy)] = owned
        self._kept.append(copy)
        if isinstance(owned, dict):
            for key, value in owned.items():
                self.add(value, copy[key])
        elif isinstance(owned, (list, tuple)):
            for value, copied in zip(owned, copy, strict=True):
                self.add(value, copied)
        if isinstance(owned, (list, dict)):
            self._containers.append((owned, copy, _content(copy)))

    def write_back(self) -> None:
        """Repeats on the caller's containers what was changed in the copies."""
        for owned, copy, before in self._containers:
            after = _content(copy)
            if len(after) == len(before) and all(a is b for a, b in zip(after, before, strict=True)):
                continue
            if isinstance(owned, list):
                owned[:] = [self._of_caller(value) for value in copy]
            else:
                content = {key: self._of_caller(value) for key, value in copy.items()}
                owned.clear()
                owned.update(content)

    def _of_caller(self, value: Any) -> Any:
        return self._owned.get(id(value), value)


def _content(container: Any) -> list[Any]:
    return [*container.keys(), *container.values()] if isinstance(container, dict) else list(container)
