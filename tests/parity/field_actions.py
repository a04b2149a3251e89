# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What the field makes of a policy's output."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from field import N, net, one_call
from leapp import OutputKindEnum, TensorSemantics, annotate
from programs import program


@program
def scaled_by_a_dict():
    scale = {"hip": 0.1, "knee": 0.5}
    names = ["hip", "knee", "hip"]
    factors = torch.tensor([scale[n] for n in names])
    offset = torch.randn(3)
    one_call(lambda x: (x * factors + offset).clamp(min=-1, max=1), (1, 3))


@program
def gym_space_rescale():
    low, high = torch.tensor([-1.0, 0.0]), torch.tensor([1.0, 2.0])
    one_call(lambda x: low + 0.5 * (torch.tanh(x) + 1.0) * (high - low), (1, 2))


@program
def written_into_a_buffer():
    raw = torch.zeros(1, 3)

    def act(x):
        raw[:] = x
        return raw * 0.5 + 1

    one_call(act, (1, 3))


@program
def joint_reordering():
    order = torch.tensor([2, 0, 1])

    def act(x):
        out = torch.zeros_like(x)
        out[:, order] = x
        return out

    one_call(act, (1, 3))


@program
def binary_gripper():
    opened, closed = torch.tensor([0.04, 0.04]), torch.tensor([0.0, 0.0])
    one_call(lambda x: torch.where(x < 0, closed, opened), (1, 1))


@program
def relative_action():
    q, x = annotate.input_tensors(N, {"q": torch.randn(1, 3), "x": torch.randn(1, 3)})
    annotate.output_tensors(N, {"target": q + 0.1 * torch.tanh(x)}, export_with="jit")


@program
def gains_as_static_outputs():
    kp, kd = torch.full((1, 3), 25.0), torch.full((1, 3), 0.5)
    for _ in range(2):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 3)})
        statics = [
            TensorSemantics(name="kp", ref=kp.clone(), kind="kp"),
            TensorSemantics(name="kd", ref=kd.clone(), kind="kd"),
        ]
        annotate.output_tensors(
            N,
            [TensorSemantics("target", x * 2, kind=OutputKindEnum.JOINT_POSITION)],
            static_outputs=statics,
            export_with="jit",
        )


@program
def quaternion_rotation():
    def rotate(q, v):
        xyz, w = q[..., :3], q[..., 3:4]
        t = torch.cross(xyz, v, dim=-1) * 2.0
        return v - w * t + torch.cross(xyz, t, dim=-1)

    one_call(rotate, (1, 4), (1, 3))


@program
def filled_constant_in_the_node():
    def gravity(q):
        g = torch.zeros((*q.shape[:-1], 3), dtype=q.dtype, device=q.device)
        g[..., 2] = -1.0
        return torch.cross(q[..., :3], g, dim=-1)

    one_call(gravity, (1, 4))


@program
def argmax_action():
    one_call(lambda x: torch.argmax(x, dim=-1), (1, 5))


@program
def one_hot_command():
    i = annotate.input_tensors(N, {"i": torch.tensor([1])})
    annotate.output_tensors(N, {"action": F.one_hot(i, 3).float() * 2}, export_with="jit")


@program
def sampled_mean_of_a_distribution():
    policy = net()
    one_call(lambda x: torch.distributions.Independent(torch.distributions.Normal(policy(x), 1.0), 1).mean, (1, 4))
