# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Edges between nodes, and from one pass to the next."""

from __future__ import annotations

import copy
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from bundle_nodes import finish, load, node
from harness import assert_same, line_of, location_pattern, read_log, warnings_in
from leapp import annotate
from torch import Tensor


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    leapp.start("g", save_path=str(tmp_path))
    return tmp_path / "g"


# ---- Edges -----------------------------------------------------------------------------------------------------------


def test_one_output_into_two_inputs_and_two_nodes(folder: Path) -> None:
    value = node("source", lambda x: {"v": x * 2}, x=torch.ones(3))
    node("twice", lambda a, b: {"y": a - 2 * b}, a=value, b=value)
    node("once", lambda c: {"y": c + 1}, c=value)
    found = finish(folder)
    assert found["pipeline"]["data_flow"] == {"source/v": ["twice/a", "twice/b", "once/c"]}
    assert found["pipeline"]["inputs"] == {"source": ["x"]}
    assert found["pipeline"]["outputs"] == {"twice": ["y"], "once": ["y"]}
    assert_same([torch.tensor([-13.0])], [load(folder, "twice")(torch.tensor([7.0]), torch.tensor([10.0]))])


def test_an_input_handed_on_by_two_nodes(folder: Path) -> None:
    """A value that a node returns unchanged is that node's output from then on."""
    x = node("first", lambda x: {"x": x, "y": x * 2}, x=torch.ones(2))[0]
    node("second", lambda x: {"z": x + 1}, x=x)
    assert finish(folder)["pipeline"]["data_flow"] == {"first/x": ["second/x"]}


def keeps_copy_(value: Tensor) -> Tensor:
    target = torch.empty_like(value)
    target.copy_(value)
    return target


KEEPS: dict[str, Callable[[Tensor], Tensor]] = {
    "nothing": lambda v: v,
    "clone": lambda v: v.clone(),
    "detach": lambda v: v.detach(),
    "contiguous": lambda v: v.contiguous(),
    "to": lambda v: v.to(torch.float32),
    "to_with_copy": lambda v: v.to(torch.float32, copy=True),
    "float": lambda v: v.float(),
    "cpu": lambda v: v.cpu(),
    "copy_": keeps_copy_,
    "data": lambda v: v.data,
    "copy": lambda v: copy.copy(v),
    "deepcopy": lambda v: copy.deepcopy(v),
    "dlpack": lambda v: torch.from_dlpack(v),
    "whole_slice": lambda v: v[:],
    "ellipsis": lambda v: v[...],
    "view_as": lambda v: v.view_as(v),
    "view_of_the_same_shape": lambda v: v.view(2, 3),
    "alias": lambda v: torch.ops.aten.alias(v),
    "several": lambda v: keeps_copy_(copy.deepcopy(v.detach().clone()).contiguous()),
    "from_numpy_of_numpy": lambda v: torch.from_numpy(v.numpy()),
}


@pytest.mark.parametrize("name", KEEPS)
def test_identity_survives(name: str, folder: Path) -> None:
    value = node("first", lambda x: {"v": x * 2}, x=torch.arange(6.0).reshape(2, 3))
    node("second", lambda w: {"y": w + 1}, w=KEEPS[name](value))
    assert finish(folder)["pipeline"]["data_flow"] == {"first/v": ["second/w"]}
    assert not warnings_in(read_log(folder))


def glue_add(value: Tensor) -> Tensor:
    return value + 1  # glue


def glue_slice(value: Tensor) -> Tensor:
    return value[:1]  # glue


def glue_dtype(value: Tensor) -> Tensor:
    return value.double()  # glue


def glue_in_place(value: Tensor) -> Tensor:
    value.mul_(2)  # glue
    return value


def glue_through_another(value: Tensor) -> Tensor:
    return torch.cat([value, torch.zeros(2, 3)]).clone()  # glue


@pytest.mark.parametrize("glue", [glue_add, glue_slice, glue_dtype, glue_in_place, glue_through_another])
def test_glue_is_reported(glue: Callable[[Tensor], Tensor], folder: Path) -> None:
    value = node("first", lambda x: {"v": x * 2}, x=torch.ones(2, 3))
    node("second", lambda w: {"y": w + 1}, w=glue(value))
    found = finish(folder)
    assert found["pipeline"]["data_flow"] == {}
    assert found["pipeline"]["inputs"] == {"first": ["x"], "second": ["w"]}
    warnings = warnings_in(read_log(folder))
    assert len(warnings) == 1, warnings
    assert "first/v" in warnings[0]
    assert "second/w" in warnings[0]
    assert "aten::" in warnings[0]
    assert location_pattern(__file__, line_of(glue, "# glue")).search(warnings[0]), warnings[0]


def test_glue_names_the_operator(folder: Path) -> None:
    value = node("first", lambda x: {"v": x * 2}, x=torch.ones(2))
    node("second", lambda w: {"y": w + 1}, w=torch.sigmoid(value))
    finish(folder)
    assert "aten::sigmoid" in warnings_in(read_log(folder))[0]


def test_an_overwritten_output_is_no_source(folder: Path) -> None:
    value = node("first", lambda x: {"v": x * 2}, x=torch.ones(2))
    value.copy_(torch.tensor([5.0, 6.0]))
    node("second", lambda w: {"y": w + 1}, w=value)
    assert finish(folder)["pipeline"]["data_flow"] == {}


def test_memory_that_numpy_overwrote_is_no_source(folder: Path) -> None:
    value = node("first", lambda x: {"v": x * 2}, x=torch.ones(2))
    value.numpy()[:] = 7
    node("second", lambda w: {"y": w + 1}, w=value)
    assert finish(folder)["pipeline"]["data_flow"] == {}


def test_equal_numbers_draw_no_edge(folder: Path) -> None:
    node("first", lambda x: {"v": x * 2}, x=torch.ones(2))
    node("second", lambda w: {"y": w + 1}, w=torch.full((2,), 2.0))
    assert finish(folder)["pipeline"]["data_flow"] == {}


def test_producers_come_first_however_the_nodes_close(folder: Path) -> None:
    late = annotate.input_tensors("late", {"x": torch.ones(2)})
    value = node("source", lambda x: {"v": x * 2}, x=torch.ones(2))
    late2 = annotate.input_tensors("late", {"v": value})
    annotate.output_tensors("late", {"y": late + late2}, export_with="jit")
    found = finish(folder)
    assert list(found["models"]) == ["source", "late"]
    assert found["pipeline"]["data_flow"] == {"source/v": ["late/v"]}
    assert found["pipeline"]["inputs"] == {"source": ["x"], "late": ["x"]}


def test_interleaved_open_nodes(folder: Path) -> None:
    a = annotate.input_tensors("a", {"x": torch.ones(2)})
    b = annotate.input_tensors("b", {"x": torch.ones(2)})
    a = a * 2
    b = b * 3
    plain = torch.zeros(2)
    plain += 1  # no live argument: belongs to whichever node uses it
    a, b = a + plain, b - plain
    c = annotate.input_tensors("c", {"x": torch.ones(2)})
    annotate.output_tensors("b", {"y": b}, export_with="jit")
    annotate.output_tensors("a", {"y": a}, export_with="jit")
    annotate.output_tensors("c", {"y": c * 5 + plain}, export_with="jit")
    finish(folder)
    for name, expected in (("a", 21.0), ("b", 29.0), ("c", 51.0)):
        assert_same([torch.tensor([expected] * 2)], [load(folder, name)(torch.tensor([10.0, 10.0]))])


# ---- Feedback --------------------------------------------------------------------------------------------------------


def read_safetensors(path: Path) -> dict[str, dict[str, Any]]:
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length])


def test_feedback_over_two_passes(folder: Path) -> None:
    h = torch.tensor([0.5, 0.25])
    for i in range(3):
        obs = torch.full((2,), float(i))
        _, h = node("cell", lambda x, h: {"y": x + h, "h_out": torch.tanh(h + x)}, x=obs, h_in=h)
    found = finish(folder)
    assert found["pipeline"]["data_flow"] == {}
    assert found["pipeline"]["feedback_flow"] == {"cell/h_out": ["cell/h_in"]}
    assert found["pipeline"]["inputs"] == {"cell": ["x"]}
    assert found["pipeline"]["outputs"]["cell"][0] == "y"
    assert found["pipeline"]["initial_values"] == "g_initial_values.safetensors"
    header = read_safetensors(folder / "g_initial_values.safetensors")
    assert header["cell/h_in"]["shape"] == [2]
    content = (folder / "g_initial_values.safetensors").read_bytes()
    assert struct.unpack("<2f", content[-8:]) == (0.5, 0.25)


def test_feedback_through_another_node_and_glue_across_passes(folder: Path) -> None:
    """What stands between two passes is the environment: a log line, no warning."""
    action = torch.zeros(2)
    obs = torch.ones(2)
    for _ in range(2):
        features = node("pre", lambda o, a: {"features": o + a}, obs=obs, last_action=action)
        action = node("policy", lambda f: {"action": f * 0.5}, features=features)
        obs = obs + action  # the environment
    found = finish(folder)
    assert found["pipeline"]["data_flow"] == {"pre/features": ["policy/features"]}
    assert found["pipeline"]["feedback_flow"] == {"policy/action": ["pre/last_action"]}
    assert found["pipeline"]["inputs"] == {"pre": ["obs"]}
    log = read_log(folder)
    assert not warnings_in(log)
    assert any("policy/action" in line and "pre/obs" in line for line in log.splitlines())


def test_a_delay(folder: Path) -> None:
    """A producer that stands earlier in the order feeds with the value of the pass before."""
    before = torch.zeros(2)
    for i in range(3):
        value = node("first", lambda x: {"v": x * 2}, x=torch.full((2,), float(i)))
        node("second", lambda now, old: {"y": now - old}, now=value, old=before)
        before = value
    found = finish(folder)
    assert found["pipeline"]["data_flow"] == {"first/v": ["second/now"]}
    assert found["pipeline"]["feedback_flow"] == {"first/v": ["second/old"]}


def test_a_reset_in_a_later_pass_never_conflicts(folder: Path) -> None:
    h = torch.zeros(2)
    for i in range(4):
        h = node("cell", lambda x, h: {"h_out": h + x}, x=torch.full((2,), float(i)), h_in=h)
        if i == 1:
            h = torch.zeros(2)
    assert finish(folder)["pipeline"]["feedback_flow"] == {"cell/h_out": ["cell/h_in"]}


def test_different_sources_in_different_passes(folder: Path) -> None:
    def one_pass(choose: int) -> None:
        a = node("a", lambda x: {"v": x * 2}, x=torch.ones(2))
        b = node("b", lambda x: {"v": x * 3}, x=torch.ones(2))
        node("c", lambda w: {"y": w + 1}, w=(a, b)[choose])

    one_pass(0)
    with pytest.raises(ValueError, match=r"(?s)'w'.*'c'") as raised:
        one_pass(1)
    assert "a/v" in str(raised.value)
    assert "b/v" in str(raised.value)
    assert isinstance(raised.value, leapp.LeappError)
