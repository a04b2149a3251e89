# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""annotate.method: every kind of function, and what must not happen inside one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from harness import assert_same, read_log, read_yaml, warnings_in
from leapp import annotate
from method_nodes import X, exported, expression, jit, plain_name, ports, trace_in


@pytest.fixture
def trace(tmp_path: Path) -> Callable[..., Any]:
    return trace_in(tmp_path)


# ---- Kinds of functions ----------------------------------------------------------------------------------------------


class Robot:
    gain = 3.0

    @jit
    def act(self, obs):
        """Doc of act."""
        action = obs * self.gain
        return action

    @classmethod
    @jit
    def of_class(cls, obs):
        action = obs * cls.gain
        return action

    @jit
    @classmethod
    def of_class_outside(cls, obs):
        action = obs * cls.gain
        return action

    @staticmethod
    @jit
    def static(obs):
        action = obs * 3.0
        return action

    @jit
    @staticmethod
    def static_outside(obs):
        action = obs * 3.0
        return action


@pytest.mark.parametrize("owner", [Robot(), Robot], ids=["instance", "class"])
@pytest.mark.parametrize("name", ["act", "of_class", "of_class_outside", "static", "static_outside"])
def test_methods(owner: Any, name: str, trace: Any) -> None:
    if name == "act" and owner is Robot:
        owner = Robot()
    assert_same([X * 3], [getattr(owner, name)(X)])
    found, folder = trace(lambda: getattr(owner, name)(X))
    assert_same([X * 3], [found])
    assert ports(folder, name) == (["obs"], ["action"])


def test_the_wrapper_looks_like_the_function() -> None:
    assert Robot.act.__name__ == "act"
    assert Robot.act.__doc__ == "Doc of act."
    assert Robot.act.__qualname__ == "Robot.act"
    assert Robot.act.__wrapped__.__code__.co_name == "act"


def test_a_function_that_is_wrapped_already(trace: Any) -> None:
    def doubled(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inner(*args: Any) -> Any:
            return function(*args) * 2

        return inner

    def base(x):
        y = x + 1
        return y

    _, folder = trace(lambda: jit(doubled(base))(X))
    assert ports(folder, "base")[0] == ["x"]


@pytest.mark.parametrize("kind", ["generator", "coroutine", "asynchronous generator", "no function", "no parentheses"])
def test_what_cannot_be_a_node(kind: str) -> None:
    def generator(x):
        yield x

    async def coroutine(x):
        return x

    async def both(x):
        yield x

    functions: dict[str, Any] = {"generator": generator, "coroutine": coroutine, "no function": 3}
    decorate = annotate.method if kind == "no parentheses" else annotate.method()
    with pytest.raises(leapp.LeappTypeError, match=r"generator|function|parentheses"):
        decorate(functions.get(kind, both))


@pytest.mark.parametrize("arguments", [{"node_name": 3}, {"export_with": 3}, {"backend_params": [1]}])
def test_options_of_other_types(arguments: dict[str, Any]) -> None:
    with pytest.raises(leapp.LeappTypeError, match=next(iter(arguments))):
        annotate.method(**arguments)


# ---- Inside ----------------------------------------------------------------------------------------------------------


@annotate.method(node_name="outer", export_with="jit")
def outer(x):
    more = annotate.input_tensors("outer", {"more": torch.ones(3)})
    y = x + more
    return y


def test_further_inputs_inside(trace: Any) -> None:
    _, folder = trace(lambda: outer(X))
    assert ports(folder, "outer") == (["x", "more"], ["y"])
    assert_same([X + 5], exported(folder, "outer", X, torch.full((3,), 5.0)))


def recursive(x, depth):
    return jit(recursive)(x, depth - 1) if depth else x * 2


def calls_another(x):
    y = plain_name(x) + 1
    return y


@pytest.mark.parametrize(("function", "arguments"), [(recursive, (X, 2)), (calls_another, (X,))])
def test_a_node_inside_a_node(function: Callable[..., Any], arguments: tuple[Any, ...], tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    with pytest.raises(leapp.LeappRuntimeError, match=f"inside node '{function.__name__}'"):
        jit(function)(*arguments)
    plain_name(X)
    leapp.stop()
    assert list(leapp.compile_graph()) == ["plain_name"]


def test_a_node_that_is_open_already(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    annotate.input_tensors("plain_name", {"x": X})
    with pytest.raises(leapp.LeappRuntimeError, match="'plain_name' is open already"):
        plain_name(X)


def test_a_live_argument_of_another_node(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("first", {"x": X})
    with pytest.raises(leapp.LeappRuntimeError, match="'first'"):
        plain_name(x * 2)
    annotate.output_tensors("first", {"y": x * 2}, export_with="jit")
    leapp.stop()
    assert list(leapp.compile_graph()) == ["first"]


@jit
def failing(x, fail=False):
    y = x * 2
    if fail:
        raise ZeroDivisionError("mine")
    return y


def test_an_exception_drops_the_call_and_leaves_the_session_usable(trace: Any, tmp_path: Path) -> None:
    def fails() -> None:
        with pytest.raises(ZeroDivisionError, match="mine"):
            failing(X, fail=True)

    _, folder = trace(fails, lambda: failing(X), fails, lambda: failing(X + 1))
    assert ports(folder, "failing") == (["x"], ["y"])
    assert_same([X * 4], exported(folder, "failing", X * 2))


@pytest.mark.parametrize("result", [None, 3, (), [], {"a": 1}, object()], ids=lambda value: type(value).__name__)
def test_a_function_must_return_tensors(result: Any, tmp_path: Path) -> None:
    def node(x):
        x * 2
        return result

    leapp.start("g", save_path=tmp_path)
    with pytest.raises(leapp.LeappTypeError, match="'node'"):
        jit(node)(X)
    plain_name(X)
    leapp.stop()
    assert list(leapp.compile_graph()) == ["plain_name"]


def test_other_values_in_the_result_pass_through(trace: Any) -> None:
    def node(x):
        y = x * 2
        return y, 3, None

    found, folder = trace(lambda: jit(node)(X))
    assert found[1:] == (3, None)
    assert ports(folder, "node") == (["x"], ["y"])
    assert len(warnings_in(read_log(folder))) == 1


def test_an_output_that_depends_on_nothing(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    jit(lambda x: torch.ones(2))(X)
    plain_name(X)
    leapp.stop()
    with pytest.raises(leapp.LeappValueError, match="static_outputs"):
        leapp.compile_graph()


def test_the_callers_list_is_the_callers(trace: Any) -> None:
    """A function may fill a list or a dict it was given."""

    def node(x, history, info):
        y = x + history[0]
        history.append(y)
        info["last"] = y
        return y

    history, info = [X], {"first": X}
    found, _ = trace(lambda: jit(node)(X, history, info))
    assert len(history) == 2
    assert history[0] is X
    assert history[1] is found
    assert info["first"] is X
    assert info["last"] is found


def test_results_feed_the_next_node(trace: Any) -> None:
    _, folder = trace(lambda: expression(plain_name(X)))
    assert read_yaml(folder)["pipeline"]["data_flow"] == {"plain_name/result": ["expression/x"]}
