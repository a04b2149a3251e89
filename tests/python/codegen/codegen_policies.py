# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Policies with state and without, exported as bundles for the tests of the source form."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import test_onnx_policies
import torch
from leapp import InputKindEnum, OutputKindEnum, TensorSemantics, annotate
from torch import Tensor, nn

Tensors = dict[str, Tensor]


def export(name: str, fn: Callable[..., Any], inputs: Tensors, states: Tensors, folder: Path) -> Path:
    """One node. `fn` takes inputs and states and returns the action and the next states."""
    leapp.start(name, save_path=str(folder))
    kept = dict(states)
    with torch.no_grad():
        for _ in range(2):
            live = annotate.input_tensors("policy", {**inputs, **kept})
            results = fn(*(live if isinstance(live, tuple) else (live,)))
            results = results if isinstance(results, tuple) else (results,)
            ports = dict(zip(["action", *states], results, strict=True))
            made = annotate.output_tensors("policy", ports, export_with="onnx")
            kept = dict(zip(states, made[1:], strict=True)) if states else {}
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return folder / name


def mlp(folder: Path) -> Path:
    """12-32-32-8 as three nodes, with names and kinds."""
    torch.manual_seed(0)
    layers = [nn.Linear(12, 32), nn.Linear(32, 32), nn.Linear(32, 8)]
    leapp.start("mlp", save_path=str(folder))
    with torch.no_grad():
        obs: Any = TensorSemantics(
            "obs", torch.randn(1, 12), InputKindEnum.JOINT_POSITION, [["robot"], [f"j{i}" for i in range(12)]]
        )
        obs = annotate.input_tensors("pre", obs)
        hidden = annotate.output_tensors("pre", {"features": nn.functional.elu(layers[0](obs))}, export_with="onnx")
        hidden = annotate.input_tensors("policy", {"features": hidden})
        hidden = annotate.output_tensors("policy", {"hidden": nn.functional.elu(layers[1](hidden))}, export_with="onnx")
        hidden = annotate.input_tensors("post", {"hidden": hidden})
        action = TensorSemantics(
            "action", layers[2](hidden), OutputKindEnum.JOINT_POSITION, [["robot"], [f"a{i}" for i in range(8)]]
        )
        annotate.output_tensors("post", action, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return folder / "mlp"


ACTIVATIONS: list[nn.Module] = [
    nn.ReLU(), nn.LeakyReLU(), nn.ELU(1.5), nn.SELU(), nn.CELU(0.7), nn.GELU(), nn.GELU("tanh"), nn.SiLU(), nn.Mish(),
    nn.Tanh(), nn.Sigmoid(), nn.Softplus(), nn.Softsign(), nn.Hardsigmoid(), nn.Hardswish(), nn.Hardtanh(), nn.PReLU(),
    nn.LogSigmoid(), nn.Softmax(dim=-1), nn.LayerNorm(16),
]  # fmt: skip


def activations(folder: Path) -> Path:
    torch.manual_seed(1)
    layers: list[nn.Module] = [nn.Linear(6, 16)]
    for activation in ACTIVATIONS:
        layers += [activation, nn.Linear(16, 16)]
    return export("activations", nn.Sequential(*layers).eval(), {"obs": torch.randn(1, 6)}, {}, folder)


class Recurrent(nn.Module):
    def __init__(self, cell: nn.RNNBase) -> None:
        super().__init__()
        self.cell = cell
        self.head = nn.Sequential(nn.LayerNorm(12), nn.Linear(12, 4), nn.Tanh())

    def forward(self, obs: Tensor, h: Tensor, c: Tensor | None = None) -> tuple[Tensor, ...]:
        out, state = self.cell(obs[None], h if c is None else (h, c))
        return (self.head(out[0]), *(state if isinstance(state, tuple) else (state,)))


def gru(folder: Path) -> Path:
    torch.manual_seed(2)
    states = {"h": torch.randn(2, 1, 12)}
    return export("gru", Recurrent(nn.GRU(5, 12, 2)).eval(), {"obs": torch.randn(1, 5)}, states, folder)


def lstm(folder: Path) -> Path:
    torch.manual_seed(3)
    states = {"h": torch.randn(1, 1, 12), "c": torch.randn(1, 1, 12)}
    return export("lstm", Recurrent(nn.LSTM(5, 12)).eval(), {"obs": torch.randn(1, 5)}, states, folder)


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.image = nn.Conv2d(2, 8, 3, stride=2, padding=1)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
        self.head = nn.Linear(8, 3)

    def forward(self, image: Tensor) -> Tensor:
        x = torch.relu(self.image(image))
        x = nn.functional.max_pool2d(torch.relu(self.depthwise(x)), 2) + nn.functional.avg_pool2d(x, 2)
        tokens = self.layer(x.flatten(2).transpose(1, 2))
        return self.head(tokens.mean(1))


def encoder(folder: Path) -> Path:
    torch.manual_seed(4)
    return export("encoder", Encoder().eval(), {"image": torch.randn(1, 2, 12, 12)}, {}, folder)


def counters(obs: Tensor, mode: Tensor, count: Tensor, history: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Integers, comparisons, choices, gather and scatter, with an integer and a float state."""
    table = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])
    phase = torch.remainder(count + mode, 5)
    picked = table[mode.clamp(0, 1)]
    smoothed = torch.cat([history[:, 3:], obs * picked], dim=1)
    best = smoothed.argmax(dim=1)
    mask = torch.nn.functional.one_hot(phase, 5).to(torch.float32)[:, :3]
    action = torch.where(obs > 0.25, smoothed[:, -3:] * mask, -smoothed.cumsum(1)[:, :3] + best[:, None])
    return action, count + 1 + (best // 2), smoothed


def integers(folder: Path) -> Path:
    inputs = {"obs": torch.randn(1, 3), "mode": torch.tensor([1])}
    states = {"count": torch.tensor([3]), "history": torch.randn(1, 9)}
    return export("integers", counters, inputs, states, folder)


POLICIES = [mlp, activations, gru, lstm, encoder, integers]


# ---- those of test_onnx_policies.py: too slow for an emulator ----


def act_like(folder: Path) -> Path:
    torch.manual_seed(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nested tensors are not used
        policy = test_onnx_policies.ActLike(norm_first=False).eval()
    return export("act_like", policy, {"joints": torch.randn(1, 7), "image": torch.rand(1, 3, 16, 16)}, {}, folder)


def depth_image(folder: Path) -> Path:
    torch.manual_seed(6)
    policy = test_onnx_policies.DepthPolicy()
    policy.encoder(torch.randn(8, 1, 30, 44))  # running statistics that are not 0 and 1
    inputs = {"depth": torch.rand(1, 1, 58, 87) * 4, "proprioception": torch.randn(1, 6)}
    return export("depth_image", policy.eval(), inputs, {"hidden": torch.randn(2, 1, 24)}, folder)


def quaternions(folder: Path) -> Path:
    def call(a: Tensor, b: Tensor, v: Tensor, t: Tensor) -> Tensor:
        a, b = nn.functional.normalize(a, dim=-1), nn.functional.normalize(b, dim=-1)
        turned = test_onnx_policies.rotate(a, v)
        between = test_onnx_policies.slerp(a, b, t.sigmoid())
        return torch.cat([test_onnx_policies.multiply(a, b), turned, test_onnx_policies.to_euler(a), between], dim=-1)

    torch.manual_seed(7)
    inputs = {"a": torch.randn(6, 4), "b": torch.randn(6, 4), "v": torch.randn(6, 3), "t": torch.rand(6, 1)}
    return export("quaternions", call, inputs, {}, folder)


def height_scan(folder: Path) -> Path:
    points = torch.stack(torch.meshgrid(torch.linspace(-0.5, 0.5, 5), torch.linspace(-0.8, 0.8, 9), indexing="ij"), -1)

    def scan(terrain: Tensor, place: Tensor) -> Tensor:
        heights = nn.functional.grid_sample(terrain, points[None] + place[:, None, None], align_corners=True)
        return (0.5 - heights[:, 0]).clamp(-1, 1).flatten(1)

    inputs = {"terrain": torch.rand(1, 1, 12, 10), "place": torch.rand(1, 2) - 0.5}
    return export("height_scan", scan, inputs, {}, folder)


def rsl_rl(folder: Path) -> Path:
    """The state is a plain attribute of the actor."""
    actor = test_onnx_policies.rsl_rl_actor("RNNModel", rnn_type="lstm", rnn_hidden_dim=8, rnn_num_layers=2)
    actor.reset()
    with torch.no_grad():
        actor(test_onnx_policies.rsl_rl_inputs())
        return export(
            "rsl_rl",
            lambda policy, scan: actor({"policy": policy, "scan": scan}),
            test_onnx_policies.rsl_rl_inputs(),
            {},
            folder,
        )


LARGER = [act_like, depth_image, quaternions, height_scan, rsl_rl]
