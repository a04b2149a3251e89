# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""An exporter and a deployment of the shape that Isaac Lab's have: bundles do what the program did, for 20 steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from robot_lab import JOINTS, NODE, Environment, Task
from robot_lab_tasks import TASKS, Actor, act, walking

CALLS, STEPS = 4, 20


class Deployment:
    """Maps the bundle's ports by what their descriptions say, and leaves the others out."""

    def __init__(self, bundle: Path) -> None:
        self.manager = leapp.InferenceManager(str(bundle))
        self.sources: dict[str, str] = {}
        self.targets: dict[str, list[int]] = {}
        for key in self.manager.inputs:
            description = self.describe(key, "input_descriptions")
            if "robot_connection" in description:
                self.sources[key] = description["robot_connection"].split(":")[1]
        for key in self.manager.outputs:
            description = self.describe(key, "output_descriptions")
            if "robot_connection" in description:
                self.targets[key] = [JOINTS.index(name) for name in description["element_names"][-1]]

    def describe(self, key: str, direction: str) -> dict[str, Any]:
        node, _, port = key.partition("/")
        found: dict[str, Any] = next(d for d in getattr(self.manager.nodes[node], direction) if d["name"] == port)
        return found

    def step(self, env: Environment) -> dict[str, torch.Tensor]:
        return self.manager.run_policy({key: env.simulator.data[name] for key, name in self.sources.items()})


def trained(task: Task) -> Actor:
    """The policy that a checkpoint would hold, made before the session."""
    env = Environment(task, "jit")
    inputs = sum(value.shape[-1] for value in env.reset().values())
    return Actor(task.actor, inputs, env.action.shape[-1])


def rollout(
    task: Task, backend: str, steps: int, deployment: Deployment | None = None, actor: Actor | None = None
) -> Environment:
    """The program. With a deployment, its outputs are compared with what the program writes."""
    actor = actor or trained(task)
    env = Environment(task, backend)
    observation = env.reset()
    for step in range(steps):
        with torch.inference_mode():
            given = deployment.step(env) if deployment else {}
            observation = env.step(act(actor, observation, task.announced))
        for key in deployment.targets if deployment else ():
            wanted = env.written[-1][key.removeprefix(f"{NODE}/")]
            torch.testing.assert_close(given[key], wanted, rtol=1e-4, atol=1e-5, msg=lambda m, s=step: f"step {s}: {m}")
    return env


def export(task: Task, folder: Path, backend: str) -> Path:
    actor = trained(task)
    leapp.start("lab", save_path=str(folder), max_cached_io=CALLS)
    rollout(task, backend, CALLS, actor=actor)
    leapp.stop()  # the next observation is already computed: that call is dropped
    assert all(leapp.compile_graph().values())
    return folder / "lab" / "lab.yaml"


@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.parametrize("name", TASKS)
def test_the_bundle_acts_as_the_program(name: str, backend: str, tmp_path: Path) -> None:
    deployment = Deployment(export(TASKS[name], tmp_path, backend))
    assert deployment.targets, "nothing to send to the robot"
    rollout(TASKS[name], backend, STEPS, deployment)


def test_ports_carry_what_a_deployment_needs(tmp_path: Path) -> None:
    deployment = Deployment(export(TASKS["arm_and_gripper"], tmp_path, "onnx"))
    assert set(deployment.sources.values()) == {"joint_position", "joint_velocity", "orientation", "command"}
    assert deployment.targets == {f"{NODE}/arm": [0, 1, 2, 3], f"{NODE}/gripper": [4, 5]}
    gains = deployment.describe(f"{NODE}/arm_kp", "output_descriptions")
    assert gains["kind"] == leapp.OutputKindEnum.KP.value
    assert deployment.manager.feedback_inputs == [f"{NODE}/last_action_in"]


def test_a_deployment_leaves_an_input_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The command has no connection: the bundle goes on with zeros, and says so once."""
    task = walking(unconnected=("command",))
    deployment = Deployment(export(task, tmp_path, "jit"))
    assert "command" not in deployment.sources.values()
    capfd.readouterr()
    env = Environment(task, "jit")
    first = deployment.step(env)
    deployment.step(env)
    assert capfd.readouterr().err.count(f"{NODE}/robot_command") == 1
    deployment.manager.reset()
    zeros = {f"{NODE}/robot_command": torch.zeros(1, 3)}
    given = {key: env.simulator.data[name] for key, name in deployment.sources.items()}
    again = deployment.manager.run_policy({**given, **zeros})
    assert all(torch.equal(first[key], again[key]) for key in first)


def test_an_unfinished_call_leaves_nothing_in_the_bundle(tmp_path: Path) -> None:
    """A property that only the dropped call read is no port."""
    task = TASKS["flat"]
    actor = trained(task)
    leapp.start("lab", save_path=str(tmp_path))
    env = rollout(task, "jit", 2, actor=actor)
    _ = env.read.heights * 2
    leapp.stop()
    assert all(leapp.compile_graph().values())
    inputs = leapp.InferenceManager(str(tmp_path / "lab" / "lab.yaml")).inputs
    assert f"{NODE}/robot_heights" not in inputs
