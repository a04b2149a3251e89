# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks for robot_lab.py: observation terms, action terms, actors, and their combinations by name."""

from __future__ import annotations

from typing import Any

import torch
from leapp import annotate
from robot_lab import NODE, Environment, Task
from torch import nn

ARM, LEGS, GRIPPER = [0, 1, 2, 3], list(range(6)), [4, 5]


def joint_position(env: Environment) -> torch.Tensor:
    return env.read.joint_position - env.simulator.default_position


def joint_velocity(env: Environment) -> torch.Tensor:
    return env.read.joint_velocity.clone().clip_(min=-1.0, max=1.0).mul_(0.5)


def gravity(env: Environment) -> torch.Tensor:
    quaternion = env.read.orientation
    down = torch.zeros((*quaternion.shape[:-1], 3), dtype=quaternion.dtype)
    down[..., 2] = -1.0
    turned = torch.cross(quaternion[..., :3], down, dim=-1) * 2.0
    return down - quaternion[..., 3:4] * turned + torch.cross(quaternion[..., :3], turned, dim=-1)


def command(env: Environment) -> torch.Tensor:
    return env.read.command * torch.tensor([2.0, 2.0, 0.25])


def heights(env: Environment) -> torch.Tensor:
    return env.read.hand[:, 0, 2].unsqueeze(1) - env.read.heights - 0.5


def angular_velocity(env: Environment) -> torch.Tensor:
    return env.read.angular_velocity


class PositionAction:
    """Scaled and added to an offset; written into a tensor that stays, as such terms do."""

    def __init__(self, env: Environment, joints: list[int], scale: float = 0.25) -> None:
        self.joints, self.size, self.scale = joints, len(joints), scale
        self.raw = torch.zeros(1, self.size)
        self.processed = torch.zeros(1, self.size)

    def process(self, env: Environment, action: torch.Tensor) -> None:
        self.raw[:] = action
        self.processed = self.raw * self.scale + env.simulator.default_position[:, self.joints]

    def target(self, env: Environment) -> torch.Tensor:
        return self.processed


class RelativeAction(PositionAction):
    def target(self, env: Environment) -> torch.Tensor:
        return self.processed + env.read.joint_position[:, self.joints]


class MovingAverage(PositionAction):
    """Starts from where the joints are when the environment is reset, then remembers what it sent."""

    def reset(self, env: Environment) -> None:
        self.sent = torch.zeros(1, self.size)
        self.sent[:] = env.simulator.data["joint_position"][:, self.joints]

    def process(self, env: Environment, action: torch.Tensor) -> None:
        super().process(env, action)
        limits = env.simulator.limits[self.joints]
        self.processed[:] = torch.clamp(0.7 * self.processed + 0.3 * self.sent, limits[:, 0], limits[:, 1])
        self.sent[:] = self.processed[:]


class Gripper(PositionAction):
    def __init__(self, env: Environment) -> None:
        super().__init__(env, GRIPPER)
        self.size = 1

    def process(self, env: Environment, action: torch.Tensor) -> None:
        self.processed = torch.where(action < 0, torch.zeros(2), torch.full((2,), 0.04))


class InverseKinematics(PositionAction):
    """Damped least squares from the hand's displacement to the joints."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env, ARM)
        self.size = 3

    def process(self, env: Environment, action: torch.Tensor) -> None:
        self.wanted = env.read.hand[:, 0] + action * 0.1

    def target(self, env: Environment) -> torch.Tensor:
        jacobian, error = env.read.jacobian, self.wanted - env.read.hand[:, 0]
        transposed = torch.transpose(jacobian, 1, 2)
        damped = jacobian @ transposed + 0.05 * torch.eye(3)
        return env.read.joint_position[:, ARM] + (transposed @ torch.inverse(damped) @ error.unsqueeze(-1)).squeeze(-1)


class Actor(nn.Module):
    """An MLP, or an LSTM/GRU before it whose state the module keeps."""

    def __init__(self, kind: str, inputs: int, outputs: int) -> None:
        super().__init__()
        torch.manual_seed(11)
        self.register_buffer("mean", torch.randn(inputs) * 0.1)
        self.recurrent = {"lstm": nn.LSTM, "gru": nn.GRU}[kind](inputs, 5) if kind != "mlp" else None
        self.mlp = nn.Sequential(nn.Linear(5 if self.recurrent else inputs, 16), nn.ELU(), nn.Linear(16, outputs))
        zeros = torch.zeros(1, 1, 5)
        self.hidden: Any = (zeros, zeros.clone()) if kind == "lstm" else zeros

    def states(self) -> dict[str, torch.Tensor]:
        hidden = self.hidden if isinstance(self.hidden, tuple) else (self.hidden,)
        return {f"actor_state_{i}": value for i, value in enumerate(hidden)}

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        latent = observation - self.mean
        if self.recurrent is not None:
            latent, self.hidden = self.recurrent(latent.unsqueeze(0), self.hidden)
            latent = latent.squeeze(0)
        return self.mlp(latent)


def act(actor: Actor, observations: dict[str, torch.Tensor], announced: bool) -> torch.Tensor:
    state = actor.recurrent is not None and announced
    if state:
        actor.hidden = annotate.state_tensors(NODE, actor.states())
    action = actor(torch.cat(list(observations.values()), -1))
    if state:
        annotate.update_state(NODE, actor.states())
    return action.clamp(-3.0, 3.0)


WALK = {"position": joint_position, "velocity": joint_velocity, "gravity": gravity, "command": command}


def legs(kind: Any = PositionAction) -> dict[str, Any]:
    return {"legs": lambda env: kind(env, LEGS)}


def walking(**options: Any) -> Task:
    return Task(**{"observations": {"policy": WALK}, "actions": legs(), **options})


ARM_AND_GRIPPER = {"arm": lambda env: PositionAction(env, ARM), "gripper": Gripper}
TASKS = {
    "flat": walking(),
    "rough": walking(observations={"policy": {**WALK, "heights": heights}}),
    "lstm": walking(actor="lstm"),
    "gru": walking(actor="gru"),
    "lstm_not_announced": walking(actor="lstm", announced=False),
    "histories": walking(histories={"position": 3, "gravity": 2}),
    "histories_not_flat": walking(histories={"velocity": 4}, flat_history=False),
    "history_and_gru": walking(histories={"position": 2}, actor="gru"),
    "moving_average": walking(actions=legs(MovingAverage)),
    "relative": walking(actions=legs(RelativeAction)),
    "arm_and_gripper": walking(actions=ARM_AND_GRIPPER),
    "inverse_kinematics": walking(actions={"arm": InverseKinematics, "gripper": Gripper}, decimation=3),
    "two_groups": walking(observations={"policy": WALK, "more": {"heights": heights, "turn": angular_velocity}}),
    "no_last_action": walking(last_action=False, decimation=1),
}
