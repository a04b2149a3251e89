# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Wrong calls: which exception, which words, and that a new session works afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from harness import assert_same, line_of, location_pattern, read_log, warnings_in
from leapp import annotate

Words = tuple[str, ...]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    leapp.start("g", save_path=str(tmp_path))
    return tmp_path / "g"


def works_again(save_path: Path) -> None:
    """A whole export, from start to a model that is right."""
    leapp.start("again", save_path=str(save_path))
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    annotate.output_tensors("n", {"y": x * 3 + 1}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph()["n"]
    model = torch.jit.load(str(save_path / "again" / "n.pt"))
    assert_same([torch.tensor([7.0])], [model(torch.tensor([2.0]))])
    assert not leapp._capture.hook_installed()


def assert_raises(call: Callable[[], object], kinds: type | tuple[type, ...], words: Words) -> str:
    with pytest.raises(kinds) as raised:
        call()
    assert isinstance(raised.value, leapp.LeappError)
    text = str(raised.value)
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"
    return text


def open_node(node: str = "n", **tensors: torch.Tensor) -> Any:
    return annotate.input_tensors(node, tensors or {"x": torch.ones(2, 3)})


def close_node(node: str = "n", **tensors: torch.Tensor) -> Any:
    return annotate.output_tensors(node, tensors, export_with="jit")


# ---- One row per wrong call ------------------------------------------------------------------------------------------


@dataclass
class Row:
    name: str
    call: Callable[[], object]
    kinds: type | tuple[type, ...]
    words: Words = ()


def output_of_a_plain_tensor() -> None:
    open_node()
    close_node(y=torch.zeros(3))
    leapp.stop()
    leapp.compile_graph()


def output_of_a_constant_result() -> None:
    open_node()
    close_node(y=torch.zeros(3) + torch.ones(3))
    leapp.stop()
    leapp.compile_graph()


def output_of_another_node() -> None:
    open_node("first")
    x = open_node("second")
    close_node("first", y=x * 2)


def input_of_an_open_node() -> None:
    x = open_node("first")
    open_node("second", x=x * 2)


def unknown_backend() -> None:
    x = open_node()
    annotate.output_tensors("n", {"y": x * 2}, export_with="tensorflow")


def backend_of_another_type() -> None:
    x = open_node()
    annotate.output_tensors("n", {"y": x * 2}, export_with=3)


def unknown_keyword() -> None:
    x = open_node()
    annotate.output_tensors("n", {"y": x * 2}, eksport_with="jit")


def twice_closed() -> None:
    x = open_node()
    y = x * 2
    close_node(y=y)
    close_node(y=y)


def no_outputs() -> None:
    open_node()
    annotate.output_tensors("n", {}, export_with="jit")


def complex_input() -> None:
    open_node(x=torch.ones(2, dtype=torch.complex64))


def complex_output() -> None:
    x = open_node()
    close_node(y=x * 1j)


def meta_input() -> None:
    open_node(x=torch.ones(2, device="meta"))


def nested_input() -> None:
    open_node(x=torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]))


def quantised_input() -> None:
    open_node(x=torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8))


def sparse_output() -> None:
    x = open_node()
    close_node(y=x.to_sparse())


ROWS = [
    Row("output of a node never opened", lambda: close_node(y=torch.ones(2)), RuntimeError, ("'n'", "input_tensors")),
    Row("closed twice", twice_closed, RuntimeError, ("'n'", "not open")),
    Row(
        "output is a plain tensor",
        output_of_a_plain_tensor,
        (RuntimeError, ValueError),
        ("'y'", "'n'", "static_outputs"),
    ),
    Row(
        "output of constants", output_of_a_constant_result, (RuntimeError, ValueError), ("'y'", "'n'", "static_outputs")
    ),
    Row("output of another node", output_of_another_node, RuntimeError, ("'y'", "'first'", "'second'")),
    Row("input live in another node", input_of_an_open_node, RuntimeError, ("'x'", "'first'", "'second'")),
    Row("no outputs", no_outputs, ValueError, ("'n'", "output")),
    Row("sparse", lambda: open_node(x=torch.ones(2).to_sparse()), (ValueError, TypeError), ("'x'", "'n'", "sparse")),
    Row("sparse csr", lambda: open_node(x=torch.eye(2).to_sparse_csr()), (ValueError, TypeError), ("'x'", "sparse")),
    Row("quantised", quantised_input, (ValueError, TypeError), ("'x'", "'n'", "quanti")),
    Row("nested", nested_input, (ValueError, TypeError), ("'x'", "'n'", "nested")),
    Row("meta", meta_input, (ValueError, TypeError), ("'x'", "'n'", "meta")),
    Row("sparse output", sparse_output, (RuntimeError, ValueError, NotImplementedError), ("sparse", "'n'")),
    Row("complex", complex_input, (ValueError, TypeError), ("'x'", "'n'", "complex64")),
    Row("complex output", complex_output, (ValueError, TypeError), ("'y'", "'n'", "complex64")),
    Row("empty port name", lambda: open_node(**{"": torch.ones(1)}), ValueError, ("'n'", "empty")),
    Row("slash in a port name", lambda: open_node(**{"a/b": torch.ones(1)}), ValueError, ("a/b", "slash")),
    Row("port name is a number", lambda: annotate.input_tensors("n", {1: torch.ones(1)}), TypeError, ("1",)),
    Row("no tensor", lambda: annotate.input_tensors("n", {"x": object()}), TypeError, ("'x'", "object")),
    Row("unknown backend", unknown_backend, ValueError, ("'n'", "tensorflow", "jit")),
    Row("backend of another type", backend_of_another_type, TypeError, ("export_with", "int")),
    Row("bare tensor in", lambda: annotate.input_tensors("n", torch.ones(2)), TypeError, ("dict", "Tensor")),
    Row("bare list in", lambda: annotate.input_tensors("n", [torch.ones(2)]), TypeError, ("dict", "list")),
    Row("bare tensor out", lambda: annotate.output_tensors("n", torch.ones(2)), TypeError, ("dict", "Tensor")),
    Row("bare list out", lambda: annotate.output_tensors("n", [torch.ones(2)]), TypeError, ("dict", "list")),
    Row("None in", lambda: annotate.input_tensors("n", None), TypeError, ("dict", "None")),
    Row("node name is a number", lambda: annotate.input_tensors(3, {"x": torch.ones(1)}), TypeError, ("int",)),
    Row("compile before stop", lambda: leapp.compile_graph(), RuntimeError, ("stop",)),
]


@pytest.mark.filterwarnings("ignore")  # sparse and quantised tensors are deprecated or in beta
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_wrong_call(row: Row, session: Path) -> None:
    assert_raises(row.call, row.kinds, row.words)
    works_again(session.parent)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "row", [row for row in ROWS if "bare" in row.name or row.name == "None in"], ids=lambda row: row.name
)
def test_wrong_payload_also_when_not_started(row: Row) -> None:
    assert_raises(row.call, row.kinds, row.words)


def test_unknown_keyword_is_a_type_error(session: Path) -> None:
    """Python's own, since the signature says it."""
    with pytest.raises(TypeError, match="eksport_with"):
        unknown_keyword()
    works_again(session.parent)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/a", "a\\b", "a\nb", "a\tb", "a\0b", "\x7f"])
def test_illegal_node_name(name: str, session: Path) -> None:
    assert_raises(lambda: open_node(name), ValueError, ("node name",))
    works_again(session.parent)


@pytest.mark.parametrize("name", ["a b", "class", "a.b", "ünïcode", "...", "a-b", "0", "from", "self", "x" * 100])
def test_legal_names(name: str, session: Path) -> None:
    """Keywords, dots and spaces are legal; TorchScript's arguments get a spelling of their own."""
    x = open_node(name, **{name: torch.ones(2), "y": torch.ones(2)})
    close_node(name, **{name: x[0] * 2 - x[1], name + "2": x[1]})
    leapp.stop()
    assert leapp.compile_graph()[name]
    model = torch.jit.load(str(session / f"{name}.pt"))
    assert_same([torch.tensor([1.0]), torch.tensor([5.0])], model(torch.tensor([3.0]), torch.tensor([5.0])))


@pytest.mark.parametrize("names", [("a b", "a_b"), ("a.b", "a_b", "a b"), ("x", "X"), ("1", "_1"), ("self", "self_")])
def test_names_that_only_their_spelling_keeps_apart(names: Words, session: Path) -> None:
    inputs = annotate.input_tensors("n", {name: torch.ones(1) * i for i, name in enumerate(names)})
    close_node(**{name: value * (i + 2) for i, (name, value) in enumerate(zip(names, inputs, strict=True))})
    leapp.stop()
    assert leapp.compile_graph()["n"]
    fresh = [torch.tensor([10.0 + i]) for i in range(len(names))]
    found = torch.jit.load(str(session / "n.pt"))(*fresh)
    assert_same([torch.tensor([(10.0 + i) * (i + 2)]) for i in range(len(names))], found)


# ---- Nodes mixed in one operator -------------------------------------------------------------------------------------


def mix() -> tuple[torch.Tensor, torch.Tensor]:
    first, second = open_node("first"), open_node("second")
    first + second  # mixed
    return first, second


def mix_in_place() -> tuple[torch.Tensor, torch.Tensor]:
    first, second = open_node("first") * 1, open_node("second") * 1
    first.add_(second)  # mixed
    return first, second


def mix_in_a_list() -> tuple[torch.Tensor, torch.Tensor]:
    first, second = open_node("first"), open_node("second")
    torch.cat([first, second])  # mixed
    return first, second


@pytest.mark.parametrize(
    ("mixing", "operator"), [(mix, "aten::add"), (mix_in_place, "aten::add_"), (mix_in_a_list, "aten::cat")]
)
@pytest.mark.parametrize("next_call", ["input", "output", "stop"])
def test_nodes_mixed(mixing: Callable[[], Any], operator: str, next_call: str, session: Path) -> None:
    first, _ = mixing()
    calls = {
        "input": lambda: open_node("third"),
        "output": lambda: close_node("first", y=first * 2),
        "stop": leapp.stop,
    }
    text = assert_raises(calls[next_call], RuntimeError, (operator, "'first'", "'second'"))
    assert location_pattern(__file__, line_of(mixing, "# mixed")).search(text), text
    works_again(session.parent)


def test_interleaved_nodes_that_do_not_mix_are_fine(session: Path) -> None:
    first = open_node("first")
    second = open_node("second")
    first, second = first * 2, second * 3
    close_node("first", y=first + 1)
    close_node("second", y=second + 1)
    leapp.stop()
    assert all(leapp.compile_graph().values())
    for name, factor in (("first", 2.0), ("second", 3.0)):
        assert_same(
            [torch.tensor([factor * 5 + 1])], [torch.jit.load(str(session / f"{name}.pt"))(torch.tensor([5.0]))]
        )


# ---- start, stop, compile --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", ".", "/", "a/..", "a/."])
def test_start_with_an_illegal_name(name: str, tmp_path: Path) -> None:
    assert_raises(lambda: leapp.start(name, save_path=str(tmp_path)), ValueError, ("name",))
    assert not leapp._capture.hook_installed()
    works_again(tmp_path)


@pytest.mark.parametrize("name", [3, None, b"g", Path("g")])
def test_start_with_a_name_that_is_no_string(name: Any, tmp_path: Path) -> None:
    assert_raises(lambda: leapp.start(name, save_path=str(tmp_path)), TypeError, ("name", type(name).__name__))
    works_again(tmp_path)


def test_start_with_a_path_as_name(tmp_path: Path) -> None:
    leapp.start("a/b/walk", save_path=str(tmp_path))
    x = open_node()
    close_node(y=x * 2)
    leapp.stop()
    leapp.compile_graph()
    assert (tmp_path / "a/b/walk/walk.yaml").is_file()


def test_start_where_a_file_stands(tmp_path: Path) -> None:
    (tmp_path / "g").write_text("mine")
    assert_raises(lambda: leapp.start("g", save_path=str(tmp_path)), OSError, (str(tmp_path / "g"),))
    assert (tmp_path / "g").read_text() == "mine"
    works_again(tmp_path)


def test_stop_when_not_started() -> None:
    assert_raises(leapp.stop, RuntimeError, ("start",))


def test_stop_twice(session: Path) -> None:
    leapp.stop()
    assert_raises(leapp.stop, RuntimeError, ("start",))
    works_again(session.parent)


def test_stop_with_open_nodes(session: Path) -> None:
    open_node("left_open")
    open_node("too")
    leapp.stop()
    assert_raises(leapp.compile_graph, RuntimeError, ("left_open", "too"))
    works_again(session.parent)


def test_compile_with_no_node(session: Path) -> None:
    leapp.stop()
    assert leapp.compile_graph() == {}
    assert "[error]" in read_log(session)


def test_start_while_active_warns_and_starts_over(tmp_path: Path) -> None:
    leapp.start("first", save_path=str(tmp_path))
    open_node("lost")
    leapp.start("second", save_path=str(tmp_path))
    assert any("first" in line for line in warnings_in(read_log(tmp_path / "second")))
    x = open_node("kept")
    close_node("kept", y=x * 2)
    leapp.stop()
    assert list(leapp.compile_graph()) == ["kept"]


def test_exception_in_the_middle_of_a_node(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = open_node()
    with pytest.raises(RuntimeError, match="shapes"):
        x @ torch.ones(7, 7)
    with pytest.raises(ZeroDivisionError):
        x * (1 / 0)
    works_again(tmp_path)


def test_a_failed_operator_leaves_the_node_usable(session: Path) -> None:
    x = open_node(x=torch.ones(2))
    y = x * 1
    with pytest.raises(RuntimeError):
        y.add_(torch.ones(3, 2))  # the result does not fit into y
    close_node(y=y + 1)
    leapp.stop()
    assert leapp.compile_graph()["n"]
    assert_same([torch.tensor([3.0, 4.0])], [torch.jit.load(str(session / "n.pt"))(torch.tensor([2.0, 3.0]))])


def test_a_refused_call_changes_nothing(session: Path) -> None:
    x = open_node(x=torch.ones(2))
    with pytest.raises(ValueError, match="dtype"):
        open_node(x=torch.zeros(2), more=torch.ones(2, dtype=torch.complex64))
    with pytest.raises(ValueError, match="backend"):
        annotate.output_tensors("n", {"y": x * 2}, export_with="nothing")
    more = open_node(more=torch.ones(2))
    close_node(y=x * 2 + more)
    leapp.stop()
    assert leapp.compile_graph()["n"]
    model = torch.jit.load(str(session / "n.pt"))
    assert_same([torch.tensor([9.0])], [model(torch.tensor([2.0]), torch.tensor([5.0]))])


def test_nothing_is_left_after_stop(tmp_path: Path) -> None:
    before = (torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.__array__, *vars(torch.Tensor))
    call = torch.nn.Module.__call__
    leapp.start("g", save_path=str(tmp_path))
    assert leapp._capture.hook_installed()
    x = open_node()
    close_node(y=x * 2)
    leapp.stop()
    assert not leapp._capture.hook_installed()
    assert before == (torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.__array__, *vars(torch.Tensor))
    assert not torch.nn.modules.module._global_forward_pre_hooks
    assert torch.nn.Module.__call__ is call
    log = read_log(tmp_path / "g")
    x.sum().item()
    assert read_log(tmp_path / "g") == log


# ---- Re-entry --------------------------------------------------------------------------------------------------------


def first_call() -> None:
    a, b = open_node("n", a=torch.ones(2, 3), b=torch.ones(1))
    close_node("n", y=a * 2 + b, z=a + b)


def outputs(**changes: torch.Tensor | None) -> Callable[[], object]:
    """A second call of which some outputs are others (None: left out)."""

    def call() -> object:
        a, b = open_node("n", a=torch.ones(2, 3), b=torch.ones(1))
        found = {"y": a * 2 + b, "z": a + b}
        for name, change in changes.items():
            found.pop(name, None)
            if change is not None:
                found[name] = a.sum() * change
        return close_node("n", **found)

    return call


def fewer_inputs() -> object:
    a = open_node("n", a=torch.ones(2, 3))
    return close_node("n", y=a * 2, z=a + 1)


def renamed_input() -> object:
    a, other = open_node("n", a=torch.ones(2, 3), other=torch.ones(1))
    return close_node("n", y=a * 2 + other, z=a + other)


REENTRIES = [
    Row(
        "input shape",
        lambda: open_node("n", a=torch.ones(3, 3), b=torch.ones(1)),
        ValueError,
        ("'a'", "'n'", "2, 3", "3, 3"),
    ),
    Row(
        "input dtype",
        lambda: open_node("n", a=torch.ones(2, 3).int(), b=torch.ones(1)),
        ValueError,
        ("'a'", "float32", "int32"),
    ),
    Row("input name", renamed_input, ValueError, ("'other'", "'b'", "'n'")),
    Row("fewer inputs", fewer_inputs, ValueError, ("'b'", "'n'")),
    Row("fewer outputs", outputs(z=None), ValueError, ("'n'", "outputs")),
    Row("more outputs", outputs(w=torch.ones(1)), ValueError, ("'n'", "outputs")),
    Row("output shape", outputs(z=torch.ones(7)), ValueError, ("'z'", "'n'", "2, 3", "7")),
    Row("output dtype", outputs(z=torch.ones(2, 3).double()), ValueError, ("'z'", "float32", "float64")),
    Row("output name", outputs(z=None, other=torch.ones(2, 3)), ValueError, ("other", "z", "'n'")),
]


@pytest.mark.parametrize("row", REENTRIES, ids=lambda row: row.name)
def test_reentry_with_something_else(row: Row, session: Path) -> None:
    first_call()
    assert_raises(row.call, row.kinds, row.words)
    works_again(session.parent)


def test_reentry_with_the_same(session: Path) -> None:
    for _ in range(9):
        first_call()
    leapp.stop()
    result = leapp.compile_graph().nodes["n"]
    assert result
    assert (result.status, result.outputs) == ("passed", 2)
    assert re.search("samples=|NodeResult", repr(result))


# ---- Not started -----------------------------------------------------------------------------------------------------


def test_annotations_hand_back_what_they_were_given() -> None:
    x, y = torch.ones(2), torch.ones(3)
    assert annotate.input_tensors("n", {"x": x}) is x
    assert annotate.output_tensors("n", {"x": x}, export_with="jit") is x
    both = annotate.input_tensors("n", {"x": x, "y": y})
    assert isinstance(both, tuple)
    assert both[0] is x
    assert both[1] is y


def test_errors_are_of_both_families() -> None:
    assert issubclass(leapp.ValidationError, leapp.LeappError)
    assert issubclass(leapp.ValidationError, RuntimeError)
