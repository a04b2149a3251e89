# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""annotate.method: names of inputs and outputs."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import leapp
import pytest
import torch
from harness import assert_same, read_log, warnings_in
from leapp import annotate
from method_nodes import X, exported, expression, jit, plain_name, ports, trace_in


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


Untyped = collections.namedtuple("Untyped", "p q")


@pytest.fixture
def trace(tmp_path: Path) -> Callable[..., Any]:
    return trace_in(tmp_path)


# ---- Names of outputs ------------------------------------------------------------------------------------------------


@jit
def tuple_of_names(x):
    first, second = x * 2, x * 3
    return first, second


@jit
def tuple_with_an_expression(x):
    first = x * 2
    return first, x * 3


@jit
def the_same_name_twice(x):
    first = x * 2
    return first, first


@jit
def list_of_names(x):
    first, second = x * 2, x * 3
    return [first, second]


@jit
def dict_literal(x):
    return {"u": x * 2, "v": x * 3}


@jit
def dict_in_a_variable(x):
    found = {"u": x * 2, "v": {"w": x * 3}}
    return found


@jit
def named_tuple(x):
    pair = Pair(x * 2, x * 3)
    return pair


@jit
def untyped_named_tuple(x):
    return Untyped(x * 2, x * 3)


def helper(x):
    return x * 2, x * 3


@jit
def tuple_of_a_helper(x):
    return helper(x)


@jit
def tuple_in_a_variable(x):
    both = helper(x)
    return both


@jit
def nested_tuple(x):
    first = x * 2
    rest = (x * 3, [x * 4])
    return first, rest


@jit
def several_returns(x, flag=True):
    if flag:
        early = x * 2
        return early
    late = x * 3
    return late


@jit
def several_returns_of_other_lengths(x, flag=True):
    if flag:
        first, second = helper(x)
        return first, second
    alone = x * 3
    return alone


@jit
def return_inside_with_and_try(x):
    try:
        with torch.no_grad():
            found = x * 2
            return found
    finally:
        pass


@jit
def function_inside(x):
    def inner(y):
        hidden = y * 2
        return hidden

    outer = inner(x)
    return outer


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


two_lambdas = {"a": jit(lambda x: x * 2), "b": (lambda y: y)}

OUTPUTS = [
    (plain_name, ["result"]),
    (expression, ["output1"]),
    (tuple_of_names, ["first", "second"]),
    (tuple_with_an_expression, ["first", "output2"]),
    (the_same_name_twice, ["first", "output2"]),
    (list_of_names, ["output1_0", "output1_1"]),
    (dict_literal, ["output1_u", "output1_v"]),
    (dict_in_a_variable, ["found_u", "found_v_w"]),
    (named_tuple, ["left", "right"]),
    (untyped_named_tuple, ["p", "q"]),
    (tuple_of_a_helper, ["output1", "output2"]),
    (tuple_in_a_variable, ["both_0", "both_1"]),
    (nested_tuple, ["first", "rest_0", "rest_1_0"]),
    (several_returns, ["late"]),
    (several_returns_of_other_lengths, ["first", "second"]),
    (return_inside_with_and_try, ["found"]),
    (function_inside, ["outer"]),
]


def leaves(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


@pytest.mark.parametrize(("function", "names"), OUTPUTS, ids=lambda value: getattr(value, "__name__", ""))
def test_names_of_outputs(function: Callable[..., Any], names: list[str], trace: Any) -> None:
    """And while tracing, the function returns what it returns otherwise, in the same types."""
    before = function(X)
    found, folder = trace(lambda: function(X))
    assert type(found) is type(before)
    assert_same(list(leaves(before)), list(leaves(found)))
    assert ports(folder, function.__name__) == (["x"], names)
    assert_same(list(leaves(function(X + 1))), exported(folder, function.__name__, X + 1))


def test_the_names_do_not_depend_on_which_return_ran(trace: Any) -> None:
    _, folder = trace(lambda: several_returns(X, False))
    assert ports(folder, "several_returns") == (["x"], ["late"])


def test_lambda(trace: Any) -> None:
    _, folder = trace(lambda: two_lambdas["a"](X))
    assert ports(folder, "<lambda>") == (["x"], ["output1"])
    _, folder = trace(lambda: annotate.method(node_name="n", export_with="jit")(lambda value: value)(X))
    assert ports(folder, "n") == (["value"], ["value"])


def test_a_function_without_source(trace: Any) -> None:
    scope: dict[str, Any] = {}
    exec("def made(x):\n    y = x * 2\n    return y\n", scope)
    _, folder = trace(lambda: jit(scope["made"])(X))
    assert ports(folder, "made") == (["x"], ["output1"])


def test_a_module_and_a_built_in_function(trace: Any) -> None:
    _, folder = trace(lambda: jit(Model())(X), lambda: jit(torch.tanh)(X))
    assert ports(folder, "Model") == (["args_0"], ["output1"])
    assert ports(folder, "tanh")[1] == ["output1"]


# ---- Names of inputs -------------------------------------------------------------------------------------------------


TEN = torch.tensor(10.0)


def every_kind(a, /, b, *rest, c, scale=2.0, offset=TEN, **more):
    y = a + b["k"] * scale + sum(rest) + c[0][1] + offset + more["z"]
    return y


def test_names_of_inputs(trace: Any) -> None:
    """Defaults that are tensors and Python values are constants; nested values become several inputs."""
    arguments = (X, {"k": X + 1}, X + 2, X + 3)
    keywords: dict[str, Any] = {"c": [(0, X + 4)], "z": X + 5, "scale": 3.0}
    expected = every_kind(*arguments, **keywords)
    found, folder = trace(lambda: jit(every_kind)(*arguments, **keywords))
    assert_same([expected], [found])
    inputs, outputs = ports(folder, "every_kind")
    assert inputs == ["a", "b_k", "rest_0", "rest_1", "c_0_1", "z"]
    assert outputs == ["y"]
    fresh = [X * (i + 1) for i in range(6)]
    by_name = dict(zip(inputs, fresh, strict=True))
    again = every_kind(
        by_name["a"], {"k": by_name["b_k"]}, by_name["rest_0"], by_name["rest_1"],
        c=[(0, by_name["c_0_1"])], z=by_name["z"], scale=3.0,
    )  # fmt: skip
    assert_same([again], exported(folder, "every_kind", *fresh))
    assert not warnings_in(read_log(folder))


def test_inputs_stand_as_the_call_gives_them(trace: Any) -> None:
    """Positions first, then keywords, whatever the order of the parameters; a later call may give them otherwise."""
    keywords = {"z": X + 5, "offset": X, "c": [(0, X + 4)], "b": {"k": X + 1}}
    _, folder = trace(
        lambda: jit(every_kind)(X, **keywords),
        lambda: jit(every_kind)(X, keywords["b"], **dict(list(keywords.items())[:3])),
    )
    assert ports(folder, "every_kind")[0] == ["a", "z", "offset", "c_0_1", "b_k"]
    fresh = [X * (i + 1) for i in range(5)]
    expected = every_kind(fresh[0], {"k": fresh[4]}, c=[(0, fresh[3])], offset=fresh[2], z=fresh[1])
    assert_same([expected], exported(folder, "every_kind", *fresh))


def test_a_tensor_for_a_default_is_an_input(trace: Any) -> None:
    _, folder = trace(lambda: jit(every_kind)(X, {"k": X}, c=[(0, X)], z=X, offset=torch.tensor(1.0)))
    assert "offset" in ports(folder, "every_kind")[0]


def test_one_tensor_for_two_parameters(trace: Any) -> None:
    def difference(a, b):
        y = a * 2 - b
        return y

    _, folder = trace(lambda: jit(difference)(X, X))
    assert ports(folder, "difference") == (["a", "b"], ["y"])
    assert_same([X * 2 - (X + 1)], exported(folder, "difference", X, X + 1))


def test_two_parameters_that_give_one_input(trace: Any, tmp_path: Path) -> None:
    def clash(rest_0, *rest):
        return rest_0 + rest[0]

    leapp.start("g", save_path=tmp_path)
    with pytest.raises(leapp.LeappValueError, match="rest_0"):
        jit(clash)(X, X)


def test_wrong_arguments_raise_what_they_raise_otherwise(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    with pytest.raises(TypeError, match="plain_name"):
        plain_name()
    assert_same([X * 2], [plain_name(X)])
