# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Values that meet in a node: overlapping inputs, integers, loops, matrices, buffers, two sessions."""

from __future__ import annotations

import shutil
import types

import leapp
import torch
import torch.nn.functional as F
from field import N, net, one_call
from leapp import annotate
from programs import program
from torch import nn


@program
def overlapping_inputs():
    state = torch.randn(1, 6)
    p, v = annotate.input_tensors(N, {"p": state[:, :3], "v": state[:, 3:]})
    annotate.output_tensors(N, {"action": p - v}, export_with="jit")


@program
def zero_dimensional_input():
    x = annotate.input_tensors(N, {"x": torch.tensor(2.0)})
    annotate.output_tensors(N, {"y": x * torch.arange(3.0)}, export_with="jit")


@program
def integers_and_booleans():
    a, b = annotate.input_tensors(N, {"mode": torch.tensor([1], dtype=torch.int32), "stop": torch.tensor([False])})
    annotate.output_tensors(N, {"y": torch.where(b, torch.zeros(1), a.float() * 2)}, export_with="jit")


@program
def python_control_flow():
    def act(x):
        total = x
        for k in range(3):
            total = total + x**k if k else total
        return total if len(x.shape) == 2 else x

    one_call(act, (1, 3))


@program
def list_comprehension_over_rows():
    one_call(lambda x: torch.stack([row * (i + 1) for i, row in enumerate(x)]), (3, 2))


@program
def tensor_split_and_unbind():
    def act(x):
        a, b = x.split([2, 1], -1)
        c = torch.stack(x.unbind(-1), 0)
        return torch.cat([a * 2, b, c.T], -1)

    one_call(act, (1, 3))


@program
def einsum_and_bmm():
    one_call(
        lambda a, b: torch.einsum("bij,bj->bi", a, b) + torch.bmm(a, b.unsqueeze(-1)).squeeze(-1), (1, 3, 3), (1, 3)
    )


@program
def differential_ik():
    def ik(j, e):
        lam = 0.05**2 * torch.eye(6)
        jt = torch.transpose(j, 1, 2)
        return (jt @ torch.inverse(j @ jt + lam) @ e.unsqueeze(-1)).squeeze(-1)

    one_call(ik, (1, 6, 7), (1, 6))


@program
def module_with_changed_buffer():
    class Filter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("y", torch.zeros(3))

        def forward(self, x):
            self.y = 0.9 * self.y + 0.1 * x
            return self.y

    f = Filter()
    for _ in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(3)})
        annotate.module(N, f)
        annotate.output_tensors(N, {"action": f(x) * 2}, export_with="jit")


@program
def register_buffer_overwritten():
    for _ in range(2):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 3)})
        b = annotate.register_buffer(N, {"buf": torch.zeros(1, 3)})
        b[:] = x
        annotate.output_tensors(N, {"action": b * 2}, export_with="jit")


@program
def mirrored_tags():
    x = annotate.input_tensors(N, {"x": torch.randn(3)})
    y = x * 2
    kept = torch.zeros(3)
    kept[:] = y
    kept = annotate.mirror_leapp_tags(y, kept)
    annotate.output_tensors(N, {"action": kept + 1}, export_with="jit")


@program
def frozen_parameters_reused_by_two_nodes():
    policy = net(4, 4)
    x = annotate.input_tensors("a", {"x": torch.randn(1, 4)})
    y = annotate.output_tensors("a", {"y": policy(x)}, export_with="jit")
    z = annotate.input_tensors("b", {"z": y})
    annotate.output_tensors("b", {"w": policy(z)}, export_with="jit")


@program
def hydra_like_config():
    cfg = types.SimpleNamespace(scale=0.25, clip=(-1, 1), act="tanh")
    one_call(lambda x: getattr(torch, cfg.act)(x * cfg.scale).clamp(*cfg.clip), (1, 3))


@program
def device_moves():
    policy = net().to("cpu")
    one_call(lambda x: policy(x.to("cpu", non_blocking=True)).cpu().detach(), (1, 4))


@program
def batch_of_environments():
    one_call(net(), (16, 4))


@program
def type_checked_inputs():
    def act(x):
        if not isinstance(x, torch.Tensor):
            raise TypeError("no tensor")
        if x.ndim != 2 or x.dtype != torch.float32 or x.requires_grad:
            raise ValueError("shape")
        return x * x.shape[-1] + x.numel()

    one_call(act, (1, 4))


@program
def logged_values():
    seen = []

    def act(x):
        y = x * 2
        seen.append(str(y.detach().abs().max()))
        return y

    one_call(act, (1, 4))


@program
def finite_assert():
    def act(x):
        assert torch.isfinite(x).all()
        return x * 2

    one_call(act, (1, 4))


@program
def subclass_of_tensor_parameter():
    layer = nn.Linear(3, 3)
    one_call(lambda x: F.linear(x, layer.weight.data, layer.bias.detach()), (1, 3))


@program
def functional_call():
    policy = net()
    params = {k: v * 2 for k, v in policy.named_parameters()}
    one_call(lambda x: torch.func.functional_call(policy, params, (x,)), (1, 4))


@program
def two_policies_and_a_switch():
    walk, stand = net(), net()

    def act(x, c):
        return torch.where(c > 0, walk(x), stand(x) * 0)

    one_call(act, (1, 4), (1, 1))


@program
def two_sessions_in_one_program():
    one_call(net(), (1, 4))
    leapp.stop()
    leapp.compile_graph(visualize=False, strict=False)

    shutil.rmtree("two_sessions_in_one_program")
    leapp.start("two_sessions_in_one_program")
    one_call(net(), (1, 4))


@program
def compiled_twice():
    one_call(net(), (1, 4))
    leapp.stop()
    leapp.compile_graph(visualize=False, strict=False)
    leapp.compile_graph(visualize=False, strict=False)
    leapp.start("compiled_twice")
    one_call(net(), (1, 4))
