# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The names in a function's return statements, read from its source."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["return_names"]

# The name a value is returned under, or None for any other expression.
Names = list[str | None]

_Function = ast.FunctionDef | ast.Lambda


def return_names(function: Callable[..., Any], count: int | None) -> Names:
    """Names for what `function` returned: for the value (`count` None), or for each of the `count` of a tuple.

    Of several return statements the last that fits counts, whichever ran: names must not change from call to call.
    """
    expressions = list(reversed(_returned(function)))
    if count is None:
        single = [expression for expression in expressions if not isinstance(expression, ast.Tuple)]
        return [_name(single[0]) if single else None]
    for expression in expressions:
        if isinstance(expression, ast.Tuple) and len(expression.elts) == count:
            return [_name(item) for item in expression.elts]
    for expression in expressions:
        if isinstance(expression, ast.Name):  # it holds a tuple
            return [f"{expression.id}_{i}" for i in range(count)]
    return [None] * count


def _name(expression: ast.expr | None) -> str | None:
    return expression.id if isinstance(expression, ast.Name) else None


@functools.lru_cache(maxsize=256)
def _returned(function: Callable[..., Any]) -> list[ast.expr | None]:
    """What stands behind each `return`, in order; nothing when there is no source."""
    found = _find(function)
    if found is None:
        return []
    if isinstance(found, ast.Lambda):
        return [found.body]
    return [statement.value for statement in _returns(found)]


def _returns(node: ast.AST) -> Iterator[ast.Return]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child
        elif not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _returns(child)


def _find(function: Callable[..., Any]) -> _Function | None:
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    try:
        tree = ast.parse("".join(inspect.findsource(function)[0]))
    except (OSError, TypeError, SyntaxError, IndexError):
        return None  # typed at a prompt, made by exec, or changed on disk since
    kind = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    found = [node for node in ast.walk(tree) if isinstance(node, kind) and _is_of(node, code)]
    return found[0] if len(found) == 1 else None  # several lambdas on one line may look the same


def _is_of(node: _Function, code: types.CodeType) -> bool:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return (
        _first_line(node) == code.co_firstlineno
        and getattr(node, "name", "<lambda>") == code.co_name
        and _arguments(node.args) == code.co_varnames[:count]
    )


def _first_line(node: _Function) -> int:
    decorators = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


def _arguments(arguments: ast.arguments) -> tuple[str, ...]:
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    rest = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return tuple(argument.arg for argument in plain + rest)
