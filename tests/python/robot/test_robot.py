# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""From a bundle to a robot's motors, in Python: ports by meaning, order by name, guards, loop, action chunks."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from leapp import (
    ChunkPlayer,
    GraphConfigs,
    InferenceManager,
    InputKindEnum,
    Loop,
    NameMap,
    OutputKindEnum,
    TemporalAxis,
    TensorSemantics,
    annotate,
)

JOINTS = ["hip", "knee", "ankle"]
ROBOT = ["ankle", "hip", "knee"]
GUARD = {"lower": -2.0, "upper": 2.0, "elements": {"knee": {"upper": 1.0}}}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """action = q + v + h, chunk = q * (0, 1, 2, 3) 10 ms apart, h = h / 2 + q from 0 on; 50 Hz."""
    folder = tmp_path_factory.mktemp("robot")
    leapp.start("walk", save_path=folder)
    names = [None, JOINTS]
    for _ in range(2):
        q, v = annotate.input_tensors(
            "policy",
            [
                TensorSemantics("q", torch.ones(1, 3), kind=InputKindEnum.JOINT_POSITION, element_names=names),
                TensorSemantics("v", torch.ones(1, 3), kind=InputKindEnum.JOINT_VELOCITY, element_names=names),
            ],
        )
        h = annotate.state_tensors("policy", {"h": torch.zeros(1, 3)})
        annotate.update_state("policy", {"h": h / 2 + q})
        chunk = q.reshape(1, 1, 3) * torch.arange(4.0).reshape(1, 4, 1)
        annotate.output_tensors(
            "policy",
            [
                TensorSemantics(
                    "action",
                    q + v + h,
                    kind=OutputKindEnum.JOINT_POSITION,
                    element_names=names,
                    extra={"leapp_guard": GUARD},
                ),
                TensorSemantics("chunk", chunk, element_names=[None, TemporalAxis(10.0), JOINTS]),
            ],
            export_with="onnx",
        )
    leapp.stop()
    leapp.compile_graph(visualize=False, graph_configs=GraphConfigs(frequency=50.0))
    return folder / "walk"


@pytest.fixture
def manager(bundle: Path) -> InferenceManager:
    return InferenceManager(bundle)


def step(manager: InferenceManager, *v: float) -> list[float]:
    values = torch.tensor([v], dtype=torch.float32)
    outputs = manager({"policy/q": torch.zeros(1, 3), "policy/v": values})
    return [float(x) for x in outputs["policy/action"][0]]


def test_ports(manager: InferenceManager) -> None:
    assert [port.name for port in manager.input_ports] == ["policy/q", "policy/v"]
    assert [port.name for port in manager.output_ports] == ["policy/action", "policy/chunk"]
    q = manager.input_by_kind(InputKindEnum.JOINT_POSITION)
    assert q == manager.input_by_kind("state/joint/position") == manager.input_ports[0]
    assert (q.name, q.node, q.role, q.kind) == ("policy/q", "policy", "input", "state/joint/position")
    assert (q.dtype, q.shape, q.element_names, q.frequency) == ("float32", (1, 3), (None, tuple(JOINTS)), 50.0)
    assert q.temporal_axis is None
    assert q.extra == {}
    chunk = manager.output_ports[1]
    assert (chunk.temporal_axis, chunk.temporal_period_ms) == (1, 10.0)
    assert manager.output_by_kind("target/joint/position").extra["leapp_guard"]["upper"] == 2.0
    assert [port.role for port in manager.feedback_ports] == ["feedback"]
    assert manager.frequency == 50.0
    with pytest.raises(KeyError, match=r"kp.*policy/action"):
        manager.output_by_kind(OutputKindEnum.KP)


def test_zeros_and_the_state_read_back(manager: InferenceManager) -> None:
    zeros = manager.zeros_input()
    assert {name: tuple(value.shape) for name, value in zeros.items()} == {"policy/q": (1, 3), "policy/v": (1, 3)}
    assert not any(value.any() for value in zeros.values())
    zeros["policy/q"][0, 0] = 4
    manager(zeros)
    (name,) = manager.state
    assert manager.state[name].tolist() == [[4, 0, 0]]
    before = manager.state
    first = manager(zeros)["policy/action"].tolist()
    assert manager.state[name].tolist() == [[6, 0, 0]]
    assert manager({**zeros, **before})["policy/action"].tolist() == first


def test_order_by_name(manager: InferenceManager) -> None:
    q = NameMap(manager.input_by_kind("state/joint/position"), -1, ROBOT)
    target = NameMap(manager.output_by_kind("target/joint/position"), 1, ROBOT)
    there = q.to_port(np.array([30.0, 10.0, 20.0]))
    assert there.dtype == torch.float32
    assert there.tolist() == [[10, 20, 30]]
    back = target.from_port(manager({"policy/q": there, "policy/v": torch.zeros(1, 3)})["policy/action"])
    assert back.tolist() == [[30, 10, 20]]
    signed = NameMap(manager.input_ports[0], 1, ROBOT, scale=[2, 1, 0.5], offset=[0.25, 0, -1], sign=[-1, 1, 1])
    assert signed.to_port(torch.tensor([3, 4, 5])).tolist() == [[4, 1.5, -5.75]]
    assert signed.from_port(signed.to_port(torch.tensor([3, 4, 5]))).tolist() == [[3, 4, 5]]


def test_names_that_do_not_fit(manager: InferenceManager) -> None:
    q = manager.input_ports[0]
    with pytest.raises(ValueError, match=r"the robot lacks: ankle.*does not know: toe.*hip, knee, ankle.*hip"):
        NameMap(q, -1, ["hip", "knee", "toe"])
    with pytest.raises(ValueError, match="twice among the robot's: hip"):
        NameMap(q, -1, ["hip", "hip", "knee"])
    with pytest.raises(ValueError, match="axis"):
        NameMap(q, 2, ROBOT)
    with pytest.raises(ValueError, match=r"sign of hip: expected 1 or -1, found 0.5"):
        NameMap(q, -1, ROBOT, sign=[1, 0.5, 1])
    mapping = NameMap(q, -1, ROBOT)
    with pytest.raises(ValueError, match=r"expected 3 numbers.*found 2"):
        mapping.to_port(np.zeros(2))
    with pytest.raises(ValueError, match=r"expected float32\[1,3\], found float64\[3\]"):
        mapping.from_port(np.zeros(3))
    with pytest.raises(TypeError, match="array"):
        mapping.to_port("hip")


def test_guards(manager: InferenceManager, tmp_path: Path) -> None:
    rules: dict[str, Any] = {"policy/action": {**GUARD, "per_second": 50, "non_finite": "hold"}}
    manager.set_guards(rules)
    assert step(manager, 3, 0.5, -1) == [2, 0.5, -1]
    (event,) = manager.guard_events
    assert (event.port, event.element, event.cause, event.action) == ("policy/action", 0, "above", "clamp")
    assert (event.found, event.limit, event.became) == (3, 2, 2)
    assert str(event) == "policy/action[0,0] (hip): 3 is above 2: clamped to 2"
    assert step(manager, 0, math.nan, -1) == [1, 0.5, -1]
    assert [e.cause for e in manager.guard_events] == ["rate", "non_finite"]
    manager.forget_last_good()
    with pytest.raises(RuntimeError, match=r"policy/action\[0,1\] \(knee\): nan is not finite: the step is refused"):
        step(manager, 0, math.nan, 0)
    manager.set_last_good("policy/action", np.array([1.5, 0, 0]))
    assert step(manager, 0, 0, 0) == [0.5, 0, 0]
    file = tmp_path / "limits.yaml"
    file.write_text("guards:\n  policy/v: {upper: 0.25}\n")
    manager.set_guards(file=file)
    assert step(manager, 3, 0, 0) == [0.25, 0, 0]
    manager.set_guards(bundle=True)
    assert step(manager, 3, 3, -3) == [2, 1, -2]
    manager.set_guards({})
    assert step(manager, 3, 3, -3) == [3, 3, -3]
    assert manager.guard_events == []


def test_a_refused_step_changes_nothing(manager: InferenceManager) -> None:
    manager.set_guards({"policy/action": {"upper": 5, "bounds": "fail"}})
    manager({"policy/q": torch.ones(1, 3), "policy/v": torch.zeros(1, 3)})
    (name,) = manager.state
    before = manager.state[name].tolist()
    with pytest.raises(RuntimeError, match="above 5"):
        manager({"policy/q": torch.full((1, 3), 7.0), name: torch.full((1, 3), 2.0)})
    assert manager.state[name].tolist() == before
    assert manager.value_dict["==out=="]["policy/action"].tolist() == [[1, 1, 1]]


@pytest.mark.parametrize(
    ("rules", "error", "words"),
    [
        ({"policy/actions": {}}, KeyError, "policy/actions.*policy/action"),
        ({"policy/action": {"uper": 1}}, ValueError, "uper.*upper"),
        ({"policy/action": {"upper": "high"}}, ValueError, "a number"),
        ({"policy/action": {"lower": 1, "upper": 0}}, ValueError, "lower 1 and upper 0"),
        ({"policy/action": {"elements": {"toe": {"upper": 1}}}}, ValueError, "toe.*hip, knee, ankle"),
        ({"policy/action": {"upper": math.inf}}, ValueError, r"guards\[policy/action\].upper: expected a number"),
    ],
)
def test_guards_that_cannot_be_right(
    manager: InferenceManager, rules: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        manager.set_guards(rules)
    with pytest.raises(ValueError, match="one of rules, file and bundle"):
        manager.set_guards()


def test_chunks(manager: InferenceManager) -> None:
    player = ChunkPlayer(manager, "policy/chunk", mode="linear")
    assert player.play(1.0) == ("empty", None)
    assert player.port.shape == (1, 3)
    assert player.length == pytest.approx(0.03)
    manager({"policy/q": torch.tensor([[4.0, 0, 0]]), "policy/v": torch.zeros(1, 3)})
    player.take(100.0)
    state, value = player.play(100.015)
    assert state == "playing"
    assert value[0].tolist() == pytest.approx([6, 0, 0])
    assert NameMap(player.port, -1, ROBOT).from_port(value)[0].tolist() == pytest.approx([0, 6, 0])
    assert player.play(101.0)[0] == "ended"
    assert player.play(99.0)[0] == "before"
    for wrong, words in (
        ({"mode": "cubic"}, "cubic"),
        ({"mode": "blend"}, "overlap_ms.*at most 30"),
        ({"overlap_ms": 5.0}, "only blend"),
    ):
        with pytest.raises(ValueError, match=words):
            ChunkPlayer(manager, "policy/chunk", **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"axis of moments.*TemporalAxis"):
        ChunkPlayer(manager, "policy/action")
    with pytest.raises(KeyError, match="policy/chunk"):
        ChunkPlayer(manager, "policy/chunks")
    with pytest.raises(ValueError, match="seconds"):
        player.take(math.nan)
    del manager
    assert player.play(100.0)[0] == "playing"


def test_the_loop(manager: InferenceManager) -> None:
    loop = Loop(1000.0)
    ticks: list[tuple[int, int]] = []

    def call(tick: leapp.robot.Tick) -> bool:
        assert time.monotonic() >= tick.woken >= tick.deadline
        tick.set_input_time(tick.woken)
        manager(manager.zeros_input())
        ticks.append((tick.number, tick.period))
        return tick.number < 4

    loop.run(call)
    assert [number for number, _ in ticks] == [0, 1, 2, 3, 4]
    found = loop.statistics
    assert found.calls == found.step.count == found.lateness.count == found.input_age.count == 5
    assert 0 < found.step.p50 <= found.step.max
    assert found.input_age.max >= found.step.p50
    assert Loop(manager.frequency).frequency == 50.0


def test_a_loop_that_ends_otherwise() -> None:
    def fail(tick: Any) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Loop(100.0).run(fail)
    with pytest.raises(RuntimeError, match="call 0 of the loop took"):
        Loop(1000.0, overrun="stop").run(lambda tick: time.sleep(0.01))
    loop = Loop(1000.0)
    started = threading.Event()
    stopper = threading.Thread(target=lambda: (started.wait(), loop.stop()))
    stopper.start()
    loop.run(lambda tick: started.set())
    stopper.join()
    with pytest.raises(ValueError, match="found None"):
        Loop(None)
    with pytest.raises(ValueError, match="Hz, found 0"):
        Loop(0)
    with pytest.raises(ValueError, match="cpus"):
        Loop(50, cpus=[100000])
    with pytest.raises(ValueError, match="overrun"):
        Loop(50, overrun="wait")  # type: ignore[arg-type]
