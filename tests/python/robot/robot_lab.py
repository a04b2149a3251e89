# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A small robot environment with managers, and an exporter that annotates what its terms read, when they read it.

It has the shape of the environments that most bundles come from: the simulator writes into the same tensors at every
step, observation terms read them through a proxy, histories and recurrent actors keep state, action terms may read the
robot too, one policy step is several simulator steps, and the session ends when the next observation is already there.
Without `leapp.start` the same program is the reference.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import torch
from leapp import InputKindEnum, OutputKindEnum, TensorSemantics, annotate

NODE = "Robot-Stub-v0"
JOINTS = ["hip_left", "hip_right", "knee_left", "knee_right", "finger_left", "finger_right"]
XYZ = ["x", "y", "z"]
# property -> kind, names of the elements
PROPERTIES: dict[str, tuple[Any, Any]] = {
    "joint_position": (InputKindEnum.JOINT_POSITION, JOINTS),
    "joint_velocity": (InputKindEnum.JOINT_VELOCITY, JOINTS),
    "orientation": (InputKindEnum.BODY_ROTATION, ["qx", "qy", "qz", "qw"]),
    "angular_velocity": ("state/body/angular_velocity", XYZ),
    "hand": (InputKindEnum.BODY_POSITION, [None, ["hand", "foot"], XYZ]),
    "heights": ("state/heights", None),
    "jacobian": ("state/jacobian", None),
    "command": ("command/velocity", ["forward", "sideways", "turn"]),
}


class Simulator:
    """The robot. Everything it holds is written in place by `advance`."""

    def __init__(self, seed: int) -> None:
        self.random = torch.Generator().manual_seed(seed)
        shapes = {"joint_position": (6,), "joint_velocity": (6,), "orientation": (4,), "angular_velocity": (3,)}
        shapes |= {"hand": (2, 3), "heights": (9,), "jacobian": (3, 4), "command": (3,)}
        self.data = {name: self.noise(1, *shape) for name, shape in shapes.items()}
        self.default_position = self.noise(1, 6) * 0.1
        self.limits = torch.stack([-1.0 - torch.rand(6, generator=self.random), 1.0 + torch.arange(6.0)], -1)
        self.stiffness, self.damping = torch.full((1, 6), 25.0), torch.full((1, 6), 0.5)
        self.target = torch.zeros(1, 6)

    def noise(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=self.random)

    def write(self, target: torch.Tensor, joints: list[int]) -> None:
        self.target[:, joints] = target.detach()

    def advance(self) -> None:
        for value in self.data.values():
            value.add_(self.noise(*value.shape) * 0.1)
        self.data["joint_position"].lerp_(self.target, 0.1)


class Reader:
    """Announces a property of the robot when a term reads it for the first time in a step."""

    def __init__(self, simulator: Simulator, unconnected: tuple[str, ...]) -> None:
        self._simulator, self._unconnected, self._read = simulator, unconnected, dict[str, torch.Tensor]()

    def __getattr__(self, name: str) -> torch.Tensor:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._read:
            kind, names = PROPERTIES[name]
            extra = None if name in self._unconnected else {"robot_connection": f"state:{name}"}
            port = TensorSemantics(
                name=f"robot_{name}", ref=self._simulator.data[name], kind=kind, element_names=names, extra=extra
            )
            self._read[name] = annotate.input_tensors(NODE, port)
        return self._read[name]

    def forget(self) -> None:
        self._read.clear()


class History:
    """The last observations, oldest first. What it holds first is made from the observation of that very call."""

    def __init__(self, name: str, length: int) -> None:
        self.name, self.length, self.content = name, length, None

    def push(self, value: torch.Tensor) -> torch.Tensor:
        if self.content is None:
            self.content = value.unsqueeze(1).repeat(1, self.length, *[1] * (value.dim() - 1))
        before = annotate.state_tensors(NODE, {self.name: self.content})
        self.content = annotate.update_state(NODE, {self.name: torch.cat([before[:, 1:], value.unsqueeze(1)], 1)})
        return self.content


Term = Callable[["Environment"], torch.Tensor]


@dataclasses.dataclass
class Task:
    observations: Mapping[str, Mapping[str, Term]]  # group -> name -> term
    actions: Mapping[str, Callable[[Environment], Any]]
    histories: Mapping[str, int] = dataclasses.field(default_factory=dict)
    flat_history: bool = True
    actor: str = "mlp"
    announced: bool = True  # the recurrent state, by state_tensors
    decimation: int = 2
    last_action: bool = True
    unconnected: tuple[str, ...] = ()


class Environment:
    def __init__(self, task: Task, backend: str, seed: int = 0) -> None:
        self.task, self.backend = task, backend
        self.simulator = Simulator(seed)
        self.read = Reader(self.simulator, task.unconnected)
        self.terms = {name: make(self) for name, make in task.actions.items()}
        self.action = torch.zeros(1, sum(term.size for term in self.terms.values()))
        self.histories = {name: History(f"h_{name}", length) for name, length in task.histories.items()}
        self.written: list[dict[str, torch.Tensor]] = []

    def reset(self) -> dict[str, torch.Tensor]:
        for term in self.terms.values():
            if hasattr(term, "reset"):
                term.reset(self)
        return self.observe()

    def observe(self) -> dict[str, torch.Tensor]:
        self.read.forget()
        groups = {}
        for group, terms in self.task.observations.items():
            values = [self.in_history(name, term(self).clone()) for name, term in terms.items()]
            if self.task.last_action and group == "policy":
                values.append(annotate.state_tensors(NODE, {"last_action": self.action}))
            groups[group] = torch.cat(values, -1)
        return groups

    def in_history(self, name: str, value: torch.Tensor) -> torch.Tensor:
        if name not in self.histories:
            return value
        held = self.histories[name].push(value)
        return held.flatten(1) if self.task.flat_history else held.transpose(1, 2).reshape(1, -1)

    def step(self, action: torch.Tensor) -> dict[str, torch.Tensor]:
        self.action = action.clone()
        parts = action.split([term.size for term in self.terms.values()], -1)
        for term, part in zip(self.terms.values(), parts, strict=True):
            term.process(self, part)
        for substep in range(self.task.decimation):
            if substep:
                self.read.forget()  # the simulator has moved on
            targets = {name: term.target(self) for name, term in self.terms.items()}
            if not substep:
                self.publish(targets)
            for name, term in self.terms.items():
                self.simulator.write(targets[name], term.joints)
            self.simulator.advance()
        return self.observe()

    def publish(self, targets: dict[str, torch.Tensor]) -> None:
        ports, gains = [], []
        for name, term in self.terms.items():
            names = [JOINTS[joint] for joint in term.joints]
            kind, extra = OutputKindEnum.JOINT_POSITION, {"robot_connection": "write:target"}
            ports.append(TensorSemantics(name, targets[name].clone(), kind=kind, element_names=names, extra=extra))
            stiffness = self.simulator.stiffness[:, term.joints]
            gains.append(TensorSemantics(f"{name}_kp", stiffness, kind=OutputKindEnum.KP, element_names=names))
        if self.task.last_action:
            annotate.update_state(NODE, {"last_action": self.action})
        annotate.output_tensors(NODE, ports, static_outputs=gains, export_with=self.backend)
        self.written.append({name: target.detach().clone() for name, target in targets.items()})
