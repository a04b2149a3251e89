# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Policies as people write them, exported with onnx: ONNX Runtime against eager, on inputs the export never saw."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
import torch.nn.functional as F
from harness import read_log, warnings_in
from leapp import annotate
from onnx_run import OnnxModel, Tensors, export_onnx, largest_error, named
from torch import Tensor, nn

TOLERANCE = 1e-5


def check(fn: Callable[..., Any], inputs: Callable[[], Tensors], save_path: Path, opset: int = 18) -> OnnxModel:
    """Export with one draw of the inputs, compare on others."""
    torch.manual_seed(0)
    model = export_onnx(fn, inputs(), save_path, {"opset_version": opset})
    for _ in range(3):
        fresh = inputs()
        with torch.no_grad():
            expected = named(fn(*fresh.values()))
        assert largest_error(model(fresh), expected) < TOLERANCE
        assert largest_error(model.native(fresh), expected) < TOLERANCE
    return model


# ---- an ACT-like transformer ----


def positions(length: int, width: int) -> Tensor:
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angle.sin(), angle.cos()], dim=2).reshape(length, width)


class ActLike(nn.Module):
    """Tokens of joints and image features to a chunk of actions: encoder, decoder with learned queries."""

    def __init__(self, norm_first: bool) -> None:
        super().__init__()
        width = 32
        self.joints = nn.Linear(7, width)
        self.latent = nn.Parameter(torch.randn(1, 1, width))
        self.image = nn.Conv2d(3, width, 4, stride=4)
        self.queries = nn.Embedding(10, width)
        self.register_buffer("places", positions(18, width))
        self.transformer = nn.Transformer(
            width, 4, 2, 2, 64, dropout=0.1, activation="gelu", batch_first=True, norm_first=norm_first
        )
        self.head = nn.Linear(width, 7)

    def forward(self, joints: Tensor, image: Tensor) -> Tensor:
        features = self.image(image).flatten(2).transpose(1, 2)
        batch = joints.shape[0]
        tokens = torch.cat([self.latent.expand(batch, -1, -1), self.joints(joints)[:, None], features], dim=1)
        queries = self.queries.weight.expand(batch, -1, -1)
        return self.head(self.transformer(tokens + self.places, queries))


@pytest.mark.parametrize("opset", [13, 17, 23])
@pytest.mark.parametrize("norm_first", [False, True], ids=["norm_last", "norm_first"])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
def test_act_like_transformer(norm_first: bool, opset: int, tmp_path: Path) -> None:
    policy = ActLike(norm_first).eval()
    model = check(policy, lambda: {"joints": torch.randn(2, 7), "image": torch.rand(2, 3, 16, 16)}, tmp_path, opset)
    assert ("LayerNormalization" in model.operators()) == (opset >= 17)


@pytest.mark.parametrize("masked", [False, True], ids=["all", "masked"])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_encoder_layer_fast_path(masked: bool, tmp_path: Path) -> None:
    """In eval mode without gradients torch runs one fused operator for the layer."""
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu").eval()
    mask = nn.Transformer.generate_square_subsequent_mask(6) if masked else None

    def call(x: Tensor) -> Tensor:
        with torch.no_grad():
            return layer(x, src_mask=mask)

    check(call, lambda: {"x": torch.randn(2, 6, 16)}, tmp_path)


def test_multi_head_attention_with_weights(tmp_path: Path) -> None:
    attention = nn.MultiheadAttention(16, 4, batch_first=True).eval()

    def call(query: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        return attention(query, memory, memory, average_attn_weights=False)

    check(call, lambda: {"query": torch.randn(2, 3, 16), "memory": torch.randn(2, 5, 16)}, tmp_path)


@pytest.mark.parametrize("opset", [13, 18, 23])
def test_attention_masks(opset: int, tmp_path: Path) -> None:
    """Bool and float masks, also dynamic ones that leave a row nothing; causal; scale; shared heads."""

    def call(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> list[Tensor]:
        attend = F.scaled_dot_product_attention
        return [
            attend(q, k, v, attn_mask=mask > 0),
            attend(q, k, v, attn_mask=mask),
            attend(q, k, v, is_causal=True),
            attend(q, k, v, scale=0.3),
            attend(q, k[:, :2], v[:, :2], enable_gqa=True),
        ]

    def inputs() -> Tensors:
        mask = torch.randn(5, 6)
        mask[2] = -1.0
        tensors = {name: torch.randn(2, 4, 6, 8) for name in "qkv"}
        tensors["q"] = tensors["q"][:, :, :5].contiguous()
        return {**tensors, "mask": mask}

    check(call, inputs, tmp_path, opset)


# ---- a depth image ----


class DepthPolicy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 5, stride=2, padding=2),
            nn.BatchNorm2d(8),
            nn.ELU(),
            nn.MaxPool2d(2, ceil_mode=True),
            nn.Conv2d(8, 16, 3, padding="same", groups=4),
            nn.GroupNorm(4, 16),
            nn.SiLU(),
            nn.AdaptiveAvgPool2d((3, 5)),
            nn.Flatten(),
        )
        self.memory = nn.GRU(16 * 15 + 6, 24, num_layers=2)
        self.head = nn.Sequential(nn.LayerNorm(24), nn.Linear(24, 12), nn.Tanh())

    def forward(self, depth: Tensor, proprioception: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        depth = F.interpolate(depth.clamp(0.1, 3.0), size=(30, 44), mode="bilinear", align_corners=False)
        features = torch.cat([self.encoder(depth), proprioception], dim=1)
        output, hidden = self.memory(features[None], hidden)
        return self.head(output[0]), hidden


@pytest.mark.parametrize("opset", [13, 18, 23])
def test_depth_image_and_gru(opset: int, tmp_path: Path) -> None:
    policy = DepthPolicy()
    policy.encoder(torch.randn(8, 1, 30, 44))  # running statistics that are not 0 and 1
    policy.eval()

    def inputs() -> Tensors:
        depth = torch.rand(2, 1, 58, 87) * 4
        return {"depth": depth, "proprioception": torch.randn(2, 6), "hidden": torch.randn(2, 2, 24)}

    operators = check(policy, inputs, tmp_path, opset).operators()
    assert operators.count("GRU") == 2
    assert operators.count("Conv") == 2


# ---- quaternions, w first ----


def multiply(a: Tensor, b: Tensor) -> Tensor:
    w1, x1, y1, z1 = a.unbind(-1)
    w2, x2, y2, z2 = b.unbind(-1)
    return torch.stack(
        [
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        ],
        dim=-1,
    )


def rotate(q: Tensor, v: Tensor) -> Tensor:
    axis = q[..., 1:]
    t = 2 * torch.cross(axis, v, dim=-1)
    return v + q[..., :1] * t + torch.cross(axis, t, dim=-1)


def to_euler(q: Tensor) -> Tensor:
    w, x, y, z = q.unbind(-1)
    roll = torch.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    sine = 2 * (w * y - z * x)
    pitch = torch.where(sine.abs() >= 1, torch.copysign(torch.full_like(sine, math.pi / 2), sine), torch.asin(sine))
    yaw = torch.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return torch.stack([roll, pitch, yaw], dim=-1)


def slerp(a: Tensor, b: Tensor, t: Tensor) -> Tensor:
    dot = (a * b).sum(-1, keepdim=True)
    b = torch.where(dot < 0, -b, b)
    angle = torch.acos(dot.abs().clamp(max=1.0))
    sine = torch.sin(angle)
    near = sine < 1e-4
    safe = torch.where(near, torch.ones_like(sine), sine)
    first = torch.where(near, 1 - t, torch.sin((1 - t) * angle) / safe)
    second = torch.where(near, t, torch.sin(t * angle) / safe)
    return F.normalize(first * a + second * b, dim=-1)


def test_quaternions(tmp_path: Path) -> None:
    def call(a: Tensor, b: Tensor, v: Tensor, t: Tensor) -> list[Tensor]:
        return [multiply(a, b), rotate(a, v), to_euler(a), slerp(a, b, t)]

    def inputs() -> Tensors:
        a = F.normalize(torch.randn(6, 4), dim=-1)
        b = F.normalize(torch.randn(6, 4), dim=-1)
        b[0] = a[0]
        b[1] = -a[1]
        return {"a": a, "b": b, "v": torch.randn(6, 3), "t": torch.rand(6, 1)}

    check(call, inputs, tmp_path)


# ---- a height scan ----


@pytest.mark.parametrize("opset", [13, 16, 20])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_height_scan(mode: str, padding_mode: str, opset: int, tmp_path: Path) -> None:
    """A terrain map sampled at points around a robot that turns."""
    points = torch.stack(torch.meshgrid(torch.linspace(-0.5, 0.5, 5), torch.linspace(-0.8, 0.8, 9), indexing="ij"), -1)

    def scan(terrain: Tensor, place: Tensor, yaw: Tensor) -> Tensor:
        c, s = torch.cos(yaw), torch.sin(yaw)
        turn = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
        grid = points.reshape(1, -1, 2) @ turn.transpose(1, 2) + place[:, None]
        heights = F.grid_sample(
            terrain, grid.reshape(-1, 5, 9, 2), mode=mode, padding_mode=padding_mode, align_corners=True
        )
        return (0.5 - heights[:, 0]).clamp(-1, 1).flatten(1)

    def inputs() -> Tensors:
        return {"terrain": torch.rand(3, 1, 12, 10), "place": torch.rand(3, 2) - 0.5, "yaw": torch.randn(3)}

    model = check(scan, inputs, tmp_path, opset)
    assert ("GridSample" in model.operators()) == (opset >= 16)


# ---- rsl-rl ----


def rsl_rl_observations(batch: int) -> Any:
    from tensordict import TensorDict

    return TensorDict({"policy": torch.randn(batch, 11), "scan": torch.randn(batch, 6)}, batch_size=[batch])


def rsl_rl_actor(kind: str, **options: Any) -> Any:
    models = pytest.importorskip("rsl_rl.models", reason="rsl-rl-lib is not installed (requirements/policies.txt)")
    torch.manual_seed(0)
    actor = getattr(models, kind)(
        rsl_rl_observations(4),
        {"actor": ["policy", "scan"]},
        "actor",
        5,
        hidden_dims=[32, 16],
        obs_normalization=True,
        distribution_cfg={"class_name": "GaussianDistribution", "init_std": 1.0, "std_type": "scalar"},
        **options,
    )
    for _ in range(3):
        actor.obs_normalizer.update(torch.randn(64, 17) * 3 + 1)
    return actor.eval()


def rsl_rl_inputs() -> Tensors:
    return dict(rsl_rl_observations(1).items())


def test_rsl_rl_actor(tmp_path: Path) -> None:
    actor = rsl_rl_actor("MLPModel")

    def call(policy: Tensor, scan: Tensor) -> Tensor:
        return actor({"policy": policy, "scan": scan})

    check(call, rsl_rl_inputs, tmp_path)
    assert not warnings_in(read_log(tmp_path / "graph"))


def test_a_stochastic_rsl_rl_actor_gives_no_warning(tmp_path: Path) -> None:
    """torch.distributions looks at its arguments."""
    actor = rsl_rl_actor("MLPModel")
    leapp.start("graph", save_path=str(tmp_path))
    for _ in range(2):
        policy, scan = annotate.input_tensors("node", rsl_rl_inputs())
        action = actor({"policy": policy, "scan": scan}, stochastic_output=True)
        outputs = {"action": action, "log_prob": actor.get_output_log_prob(action)}
        annotate.output_tensors("node", outputs, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    assert not warnings_in(read_log(tmp_path / "graph"))


@pytest.mark.parametrize("rnn_type", ["gru", "lstm"])
def test_rsl_rl_recurrent_actor(rnn_type: str, tmp_path: Path) -> None:
    """The hidden state is a plain attribute nobody announced: it has to become a feedback port."""
    actor = rsl_rl_actor("RNNModel", rnn_type=rnn_type, rnn_hidden_dim=8, rnn_num_layers=2)
    actor.reset()
    with torch.inference_mode(False), torch.no_grad():
        actor(rsl_rl_inputs())
        leapp.start("graph", save_path=str(tmp_path))
        for _ in range(3):
            policy, scan = annotate.input_tensors("node", rsl_rl_inputs())
            action = actor({"policy": policy, "scan": scan})
            annotate.output_tensors("node", {"y0": action}, export_with="onnx")
        leapp.stop()
        leapp.compile_graph(visualize=False)

        model = OnnxModel(tmp_path / "graph" / "node.onnx")
        states = [port.name for port in model.session.get_inputs() if port.name not in ("policy", "scan")]
        assert len(states) == (2 if rnn_type == "lstm" else 1)
        hidden = actor.get_hidden_state()
        fed = dict(zip(states, hidden if isinstance(hidden, tuple) else (hidden,), strict=True))
        for name, value in fed.items():
            model.manager.set_input_value("node", name, value)
        worst = 0.0
        for _ in range(30):
            fresh = rsl_rl_inputs()
            found = model({**fresh, **fed})
            own = model.manager({f"node/{name}": value for name, value in fresh.items()})["node/y0"]
            expected = actor(fresh)
            worst = max(worst, *(float((each - expected).abs().max()) for each in (found["y0"], own)))
            fed = {name: found[name.removesuffix("_in") + "_out"] for name in states}
    assert worst < TOLERANCE


# ---- stable-baselines3 ----


def sb3_policy(name: str, observation: Any, action: Any, **options: Any) -> Any:
    policies = pytest.importorskip(
        "stable_baselines3.common.policies", reason="stable-baselines3 is not installed (requirements/policies.txt)"
    )
    torch.manual_seed(0)
    policy = getattr(policies, name)(observation, action, lambda _: 3e-4, **options)
    return policy.eval()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_sb3_mlp_policy(tmp_path: Path) -> None:
    spaces = pytest.importorskip("gymnasium.spaces")
    policy = sb3_policy("ActorCriticPolicy", spaces.Box(-10, 10, (9,)), spaces.Box(-1, 1, (3,)))

    def call(obs: Tensor) -> list[Tensor]:
        action, value, _ = policy(obs, deterministic=True)
        return [action, value]

    check(call, lambda: {"obs": torch.randn(2, 9)}, tmp_path)
    assert "leaves the graph" not in read_log(tmp_path / "graph")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_sb3_cnn_policy(tmp_path: Path) -> None:
    import numpy as np

    spaces = pytest.importorskip("gymnasium.spaces")
    observation = spaces.Box(0, 255, (3, 40, 44), dtype=np.uint8)
    policy = sb3_policy("ActorCriticCnnPolicy", observation, spaces.Discrete(6))

    def call(obs: Tensor) -> list[Tensor]:
        distribution = policy.get_distribution(obs)
        return [distribution.distribution.logits, distribution.get_actions(deterministic=True)]

    check(call, lambda: {"obs": torch.randint(0, 256, (2, 3, 40, 44), dtype=torch.uint8)}, tmp_path)
    assert "leaves the graph" not in read_log(tmp_path / "graph")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("actions", ["box", "discrete", "multi_discrete", "multi_binary"])
def test_a_stochastic_sb3_policy_gives_no_warning(actions: str, tmp_path: Path) -> None:
    spaces = pytest.importorskip("gymnasium.spaces")
    space = {
        "box": spaces.Box(-1, 1, (3,)),
        "discrete": spaces.Discrete(6),
        "multi_discrete": spaces.MultiDiscrete([3, 4]),
        "multi_binary": spaces.MultiBinary(4),
    }[actions]
    policy = sb3_policy("ActorCriticPolicy", spaces.Box(-10, 10, (9,)), space)
    leapp.start("graph", save_path=str(tmp_path))
    for _ in range(2):
        obs = annotate.input_tensors("node", {"obs": torch.randn(2, 9)})
        action, value, log_prob = policy(obs)
        _, again, _ = policy.evaluate_actions(obs, action)
        outputs = {"action": action, "value": value, "log_prob": log_prob + again}
        annotate.output_tensors("node", outputs, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False, strict=False)
    assert not warnings_in(read_log(tmp_path / "graph"))
