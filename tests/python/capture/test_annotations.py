# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads of all shapes, static outputs, passthrough, edges, tags and liveness."""

from __future__ import annotations

import collections
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from harness import assert_same, read_log, read_yaml, warnings_in
from leapp import TensorSemantics, annotate

Pair = collections.namedtuple("Pair", "left right")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    leapp.start("g", save_path=tmp_path)
    return tmp_path / "g"


def finish() -> None:
    leapp.stop()
    assert all(leapp.compile_graph().values())


def names(folder: Path, node: str, direction: str) -> list[str]:
    return [port["name"] for port in read_yaml(folder)["models"][node][direction]]


def model(folder: Path, node: str = "n") -> Callable[..., Any]:
    return torch.jit.load(str(folder / f"{node}.pt"))


# ---- Nested payloads -------------------------------------------------------------------------------------------------


def tensors(count: int) -> list[torch.Tensor]:
    return [torch.full((2,), float(i + 1)) for i in range(count)]


A, B, C = tensors(3)

NESTED: list[tuple[Any, list[str]]] = [
    ({"a": A, "b": {"u": B, "v": C}}, ["a", "b_u", "b_v"]),
    ({"a": [A, (B, C)]}, ["a_0", "a_1_0", "a_1_1"]),
    ({"a": Pair(A, B), "b": C}, ["a_0", "a_1", "b"]),
    ({"a": collections.OrderedDict(z=A, y=B)}, ["a_z", "a_y"]),
    ({"a": {0: A, 1: B}}, ["a_0", "a_1"]),
    ({"a": {"deep": [{"er": (A,)}]}}, ["a_deep_0_er_0"]),
    ({"a": [A, 3, None, "text"], "b": True}, ["a_0"]),
]


def leaves(value: Any) -> list[torch.Tensor]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def structure(value: Any) -> Any:
    if isinstance(value, dict):
        return type(value), {key: structure(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [structure(item) for item in value]
    return torch.Tensor if isinstance(value, torch.Tensor) else value


@pytest.mark.parametrize(("payload", "expected"), NESTED, ids=[",".join(row[1]) for row in NESTED])
def test_nested_inputs(payload: Any, expected: list[str], session: Path) -> None:
    """Flat in the bundle, in their structure in the program; what comes back aliases what was given."""
    found = annotate.input_tensors("n", payload)
    values = found if len(payload) > 1 else (found,)
    assert structure(list(values)) == structure(list(payload.values()))
    given, back = leaves(list(payload.values())), leaves(list(values))
    assert all(a is not b and a.data_ptr() == b.data_ptr() for a, b in zip(given, back, strict=True))
    annotate.output_tensors("n", {"y": sum(value * (i + 1) for i, value in enumerate(back))}, export_with="jit")
    finish()
    assert names(session, "n", "inputs") == expected
    fresh = [torch.full((2,), 10.0 + i) for i in range(len(expected))]
    assert_same([sum(value * (i + 1) for i, value in enumerate(fresh))], [model(session)(*fresh)])


@pytest.mark.parametrize(("payload", "expected"), NESTED, ids=[",".join(row[1]) for row in NESTED])
def test_nested_outputs(payload: Any, expected: list[str], session: Path) -> None:
    x = annotate.input_tensors("n", {"x": torch.ones(2)})

    def live(value: Any) -> Any:
        if isinstance(value, dict):
            copy = type(value)()
            copy.update({key: live(item) for key, item in value.items()})
            return copy
        if isinstance(value, (list, tuple)):
            items = [live(item) for item in value]
            return type(value)._make(items) if hasattr(value, "_make") else type(value)(items)
        return x * value if isinstance(value, torch.Tensor) else value

    outputs = {name: live(value) for name, value in payload.items()}
    back = annotate.output_tensors("n", outputs, export_with="jit")
    values = back if len(payload) > 1 else (back,)
    assert all(a is b for a, b in zip(values, outputs.values(), strict=True))
    finish()
    assert names(session, "n", "outputs") == expected
    found = model(session)(torch.full((2,), 5.0))
    found = [found] if isinstance(found, torch.Tensor) else list(found)
    assert_same([value * 5 for value in leaves(list(payload.values()))], found)


def test_leaves_that_are_no_tensors_are_warned_about_once_per_line(session: Path) -> None:
    for _ in range(3):
        x, gain = annotate.input_tensors("n", {"x": torch.ones(2), "gain": 3})  # warned once
        annotate.output_tensors("n", {"y": x * gain}, export_with="jit")
    x, _ = annotate.input_tensors("m", {"x": torch.ones(2), "other": "text"})
    annotate.output_tensors("m", {"y": x * 2}, export_with="jit")
    finish()
    found = [line for line in warnings_in(read_log(session)) if "no tensor" in line]
    assert len(found) == 2
    assert "'gain' (int 3)" in found[0]
    assert "test_annotations.py" in found[0]
    assert "'other'" in found[1]


# ---- Inputs ----------------------------------------------------------------------------------------------------------


def test_one_tensor_under_two_names(session: Path) -> None:
    shared = torch.ones(2)
    a, b = annotate.input_tensors("n", {"a": shared, "b": shared})
    annotate.output_tensors("n", {"y": a * 2 - b}, export_with="jit")
    finish()
    assert_same([torch.tensor([5.0])], [model(session)(torch.tensor([4.0]), torch.tensor([3.0]))])


def test_inputs_that_overlap_in_memory(session: Path) -> None:
    buffer = torch.arange(4.0)
    a, b = annotate.input_tensors("n", {"a": buffer[:3], "b": buffer[1:]})
    annotate.output_tensors("n", {"y": a * 2 - b}, export_with="jit")
    finish()
    first, second = torch.tensor([4.0, 5.0, 6.0]), torch.tensor([1.0, 1.0, 2.0])
    assert_same([first * 2 - second], [model(session)(first, second)])


def test_in_place_code_reaches_the_callers_tensor(session: Path) -> None:
    given = torch.ones(2)
    x = annotate.input_tensors("n", {"x": given})
    x.add_(4)
    assert given.tolist() == [5.0, 5.0]
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    finish()
    assert_same([torch.tensor([14.0])], [model(session)(torch.tensor([3.0]))])


def test_inputs_from_several_places(session: Path) -> None:
    def first() -> torch.Tensor:
        return annotate.input_tensors("n", {"a": torch.ones(2)}) * 2

    def second() -> torch.Tensor:
        return annotate.input_tensors("n", TensorSemantics("b", torch.ones(2), "kind")) * 3

    annotate.output_tensors("n", {"y": torch.cat([first(), second()])}, export_with="jit")
    finish()
    assert names(session, "n", "inputs") == ["a", "b"]
    assert_same([torch.tensor([8.0, 15.0])], [model(session)(torch.tensor([4.0]), torch.tensor([5.0]))])


# ---- Outputs ---------------------------------------------------------------------------------------------------------


def test_outputs_come_back_as_they_are(session: Path) -> None:
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    y, z = x * 2, x * 3
    back = annotate.output_tensors("n", {"y": y, "z": z}, export_with="jit")
    assert back[0] is y
    assert back[1] is z
    assert not isinstance(y, leapp.TracedTensor)
    finish()


def test_passthrough(session: Path) -> None:
    x, other = annotate.input_tensors("n", {"x": torch.ones(2), "other": torch.ones(1)})
    annotate.output_tensors("n", {"same": x, "y": x + other}, export_with="jit")
    finish()
    found = model(session)(torch.tensor([4.0]), torch.tensor([5.0]))
    assert_same([torch.tensor([4.0]), torch.tensor([9.0])], list(found))


def test_static_outputs_are_constants_and_draw_edges(session: Path) -> None:
    x = annotate.input_tensors("first", {"x": torch.ones(3)})
    gains = torch.tensor([4.0, 5.0, 6.0])
    y = annotate.output_tensors("first", {"y": x + 1}, static_outputs={"gains": gains}, export_with="jit")
    y, g = annotate.input_tensors("second", {"y": y, "g": gains})
    annotate.output_tensors("second", {"z": y * g}, export_with="jit")
    gains.fill_(100.0)
    finish()
    data = read_yaml(session)
    assert names(session, "first", "outputs") == ["y", "gains"]
    assert data["pipeline"]["data_flow"] == {"first/y": ["second/y"], "first/gains": ["second/g"]}
    found = model(session, "first")(torch.zeros(3))
    assert_same([torch.ones(3), torch.tensor([4.0, 5.0, 6.0])], list(found))


def test_nested_static_outputs(session: Path) -> None:
    x = annotate.input_tensors("n", {"x": torch.ones(3)})
    static = {"gains": {"p": torch.tensor([1.0]), "d": [torch.tensor([2.0])]}}
    annotate.output_tensors("n", {"y": x + 1}, static_outputs=static, export_with="jit")
    finish()
    assert names(session, "n", "outputs") == ["y", "gains_p", "gains_d_0"]


def test_one_output_into_two_inputs(session: Path) -> None:
    x = annotate.input_tensors("first", {"x": torch.ones(3)})
    y = annotate.output_tensors("first", {"y": x + 1}, export_with="jit")
    a, b = annotate.input_tensors("second", {"a": y, "b": y})
    annotate.output_tensors("second", {"z": a - b * 2}, export_with="jit")
    finish()
    assert read_yaml(session)["pipeline"]["data_flow"] == {"first/y": ["second/a", "second/b"]}


# ---- Tags and liveness -----------------------------------------------------------------------------------------------


def test_mirror_continues_the_trace(session: Path) -> None:
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    y = x * 2
    copy = torch.tensor(y.tolist())
    assert annotate.mirror_leapp_tags(y, copy) is copy
    assert isinstance(copy, leapp.TracedTensor)
    annotate.output_tensors("n", {"z": copy + 1}, export_with="jit")
    finish()
    assert_same([torch.tensor([11.0])], [model(session)(torch.tensor([5.0]))])


def test_traced_tensor(session: Path) -> None:
    given = torch.ones(2)
    x = annotate.input_tensors("n", {"x": given})
    y = x * 2
    assert isinstance(x, leapp.TracedTensor)
    assert isinstance(y, leapp.TracedTensor)
    assert isinstance(y[0], leapp.TracedTensor)
    assert not isinstance(given, leapp.TracedTensor)
    assert not isinstance(torch.ones(2) + 1, leapp.TracedTensor)
    assert not isinstance(3, leapp.TracedTensor)
    annotate.output_tensors("n", {"y": y}, export_with="jit")
    assert not isinstance(y, leapp.TracedTensor)
    with pytest.raises(leapp.LeappTypeError):
        leapp.TracedTensor()
