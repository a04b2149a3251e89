# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of the documentation that LEAPP was written for run as they stand there (tests/python/programs/seeds).

Each has a golden YAML beside it; checksums and the machine are starred. To write them anew after a change that is
meant: LEAPP_WRITE_GOLDEN=1.
"""

from __future__ import annotations

import os
import re
import runpy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness
import pytest
import torch
from torch import Tensor

SEEDS = Path(__file__).parent / "seeds"
PEER = Path(__file__).parents[2] / "bundles" / "peer"  # bundles that leapp 0.7.2 wrote for the same programs


@dataclass
class Run:
    """A program that ran, with what it left behind."""

    names: dict[str, Any]  # its variables
    folder: Path
    yaml: dict[str, Any]

    def model(self, node: str) -> torch.jit.ScriptModule:
        return torch.jit.load(str(self.folder / f"{node}.pt"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    def run(program: str, folder: str) -> Run:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", [str(SEEDS), *sys.path])
        harness.seed_all(0)
        names = runpy.run_path(str(SEEDS / f"{program}.py"), run_name="__main__")
        bundle = tmp_path / folder
        return Run(names, bundle, harness.read_yaml(bundle))

    return run


def normalised(text: str) -> str:
    """Without what depends on the machine and the day."""
    text = re.sub(r"(?m)^( +(?:md5sum|sha256sum): ).*$", r"\1*", text)
    head, mark, system = text.partition("system information:")
    kept = re.sub(r"(?m)^(  (?!leapp config version)[^:\n]+: ).*$", r"\1*", system)
    return head + mark + kept


GOLDEN = [
    ("my_pipeline_jit", "my_pipeline"),
    ("complete_pipeline", "exports/complete_pipeline"),
    ("static_example", "static_example"),
    ("buffer_mirror", "buffer_mirror"),
    ("lifecycle_head", "my_graph"),
    ("stateful_policy", "stateful_policy"),
    ("stateful_gru_jit", "stateful_gru"),
    ("sample_feedback_graph", "sample_feedback_graph"),
]


@pytest.mark.parametrize(
    ("program", "folder"),
    [
        *(pytest.param(*case, id=case[0]) for case in GOLDEN),
        pytest.param("my_pipeline", "my_pipeline", id="my_pipeline"),
        pytest.param("stateful_gru", "stateful_gru", id="stateful_gru"),
    ],
)
def test_the_yaml_is_the_golden_one(program: str, folder: str, run: Callable[..., Run]) -> None:
    bundle = run(program, folder).folder
    found = normalised((bundle / f"{bundle.name}.yaml").read_text())
    golden = SEEDS / "golden" / f"{program}.yaml"
    if os.environ.get("LEAPP_WRITE_GOLDEN"):
        golden.write_text(found)
    assert found == golden.read_text()


def described(bundle: dict[str, Any]) -> dict[str, Any]:
    """What both packages must agree on: ports, order and edges."""
    pipeline = bundle["pipeline"]
    ports = {
        node: {
            way: [(port["name"], port["dtype"], port["shape"]) for port in model[way]] for way in ("inputs", "outputs")
        }
        for node, model in bundle["models"].items()
    }
    flows = ("data_flow", "feedback_flow", "inputs", "outputs", "initial_values")
    return {"order": list(ports), "ports": ports} | {flow: pipeline.get(flow) for flow in flows}


@pytest.mark.parametrize(
    ("program", "folder"),
    [
        ("my_pipeline_jit", "my_pipeline"),
        ("complete_pipeline", "exports/complete_pipeline"),
        ("static_example", "static_example"),
        ("stateful_policy", "stateful_policy"),
        ("sample_feedback_graph", "sample_feedback_graph"),
        pytest.param("stateful_gru", "stateful_gru"),
    ],
)
def test_ports_and_edges_are_those_of_the_package_on_pypi(program: str, folder: str, run: Callable[..., Run]) -> None:
    ours = run(program, folder)
    theirs = PEER / ours.folder.name
    assert described(ours.yaml) == described(harness.read_yaml(theirs))
    for node, model in ours.yaml["models"].items():
        other = theirs / f"{node}.pt"
        if model["inputs"] and other.exists() and program != "complete_pipeline":  # whose weights are random
            inputs = [torch.linspace(-1, 1, torch.Size(port["shape"]).numel()) for port in model["inputs"]]
            inputs = [x.reshape(port["shape"]) for x, port in zip(inputs, model["inputs"], strict=True)]
            torch.testing.assert_close(ours.model(node)(*inputs), torch.jit.load(str(other))(*inputs))


def test_the_pipeline_of_the_readme(run: Callable[..., Run]) -> None:
    ran = run("my_pipeline_jit", "my_pipeline")
    harness.seed_all(0)
    obs1, obs2, weights = torch.randn(1, 8), torch.randn(1, 8), torch.randn(16, 4)

    def by_hand(obs1: Tensor, obs2: Tensor) -> tuple[Tensor, Tensor]:
        features = torch.cat([obs1 - obs1.mean(), obs2 / (obs2.abs().max() + 1e-6)], dim=-1)
        return features, torch.relu(features @ weights)

    for inputs in [(obs1, obs2), (obs1 * 3 + 1, obs2 - 2)]:
        features, output = by_hand(*inputs)
        torch.testing.assert_close(ran.model("preprocess")(*inputs), features)
        torch.testing.assert_close(ran.model("predict")(features), output)
    torch.testing.assert_close(ran.names["output"], by_hand(obs1, obs2)[1], rtol=0, atol=0)


def test_the_worked_example(run: Callable[..., Run]) -> None:
    ran = run("complete_pipeline", "exports/complete_pipeline")
    linear = ran.names["model"].linear
    for seed in (1, 2, 3):
        harness.seed_all(seed)
        raw = torch.randn(1, 10)
        normalized = (raw - raw.mean()) / (raw.std() + 1e-6)
        torch.testing.assert_close(ran.model("preprocess")(raw), normalized)
        predictions = linear(normalized)
        torch.testing.assert_close(ran.model("inference")(normalized), predictions)
        assert torch.equal(ran.model("postprocess")(predictions), predictions.argmax(dim=1))
    made = {path.name for path in ran.folder.iterdir()}
    assert made >= {"complete_pipeline.yaml", "preprocess.pt", "inference.pt", "postprocess.pt", "log.txt"}


def test_static_outputs(run: Callable[..., Run]) -> None:
    ran = run("static_example", "static_example")
    computed, static = ran.model("my_node")(torch.tensor([10.0, 20.0, 30.0]))
    assert computed.tolist() == [11.0, 21.0, 31.0]
    assert static.tolist() == [4.0, 5.0, 6.0]


def test_the_mirrored_buffer(run: Callable[..., Run]) -> None:
    ran = run("buffer_mirror", "buffer_mirror")
    fresh = torch.arange(10.0)
    assert torch.equal(ran.model("process")(fresh), fresh * 2)
    assert torch.equal(ran.names["result"], ran.names["data"] * 2)
    assert type(ran.names["processor"]._buffer) is Tensor


def test_the_head_of_the_api_page(run: Callable[..., Run]) -> None:
    ran = run("lifecycle_head", "my_graph")
    assert torch.equal(ran.model("double")(torch.arange(4.0)), torch.arange(4.0) * 2)
    assert torch.equal(ran.names["doubled"], ran.names["data"] * 2)


def test_the_stateful_policy(run: Callable[..., Run]) -> None:
    ran = run("stateful_policy", "stateful_policy")
    hidden = torch.zeros(1, 32)
    for seed in (1, 2, 3):
        harness.seed_all(seed)
        obs = torch.randn(1, 16)
        expected = torch.tanh(torch.cat([obs, hidden], dim=-1))[..., :32]
        action, hidden = ran.model("policy")(obs, hidden)
        torch.testing.assert_close(hidden, expected)
        torch.testing.assert_close(action, torch.tanh(expected))


def test_the_recurrent_module(run: Callable[..., Run]) -> None:
    ran = run("stateful_gru_jit", "stateful_gru")
    policy = ran.names["GRUPolicy"]().eval()
    policy.load_state_dict(ran.names["model"].state_dict())
    policy.h_state.zero_()
    hidden = torch.zeros(1, 1, 32)
    with torch.no_grad():
        for seed in (1, 2, 3):
            harness.seed_all(seed)
            obs = torch.randn(1, 16)
            expected = policy(obs)
            action, hidden = ran.model("policy")(obs, hidden)
            torch.testing.assert_close(action, expected)
            torch.testing.assert_close(hidden, policy.h_state)
    assert type(ran.names["model"].h_state) is Tensor


def test_the_feedback_graph(run: Callable[..., Run]) -> None:
    ran = run("sample_feedback_graph", "sample_feedback_graph")
    step, update = ran.model("policy_step"), ran.model("feedback_update")
    memory = torch.tensor([0.0])
    for value in (1.0, -0.5, 2.0):
        observation = torch.tensor([value])
        context, action = step(observation, memory)
        torch.testing.assert_close(context, torch.tanh(observation - 0.5 + 0.25 * memory))
        torch.testing.assert_close(action, torch.clamp(context * 2.0, min=-1.0, max=1.0))
        found = update(context, memory)
        torch.testing.assert_close(found, 0.8 * memory + 0.2 * context)
        memory = found
