# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""annotate.method: names of inputs and outputs, every kind of function, and what must not happen inside one."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import leapp
import pytest
import torch
from harness import assert_same, read_log, read_yaml, warnings_in
from leapp import annotate

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
jit = annotate.method(export_with="jit")


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


Untyped = collections.namedtuple("Untyped", "p q")


def ports(folder: Path, node: str) -> tuple[list[str], list[str]]:
    model = read_yaml(folder)["models"][node]
    return [port["name"] for port in model["inputs"]], [port["name"] for port in model["outputs"]]


def exported(folder: Path, node: str, *inputs: torch.Tensor) -> list[torch.Tensor]:
    found = torch.jit.load(str(folder / f"{node}.pt"))(*inputs)
    return [found] if isinstance(found, torch.Tensor) else list(found)


@pytest.fixture
def trace(tmp_path: Path) -> Callable[..., Any]:
    """Calls functions as one session; the result of the last, and the bundle's folder."""

    def run(*calls: Callable[[], Any]) -> tuple[Any, Path]:
        leapp.start("g", save_path=tmp_path)
        results = [call() for call in calls]
        leapp.stop()
        assert all(leapp.compile_graph().values())
        return results[-1], tmp_path / "g"

    return run


# ---- Names of outputs ------------------------------------------------------------------------------------------------


@jit
def plain_name(x):
    result = x * 2
    return result


@jit
def expression(x):
    return x * 2


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
