# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The command line on a bundle as it is exported: a policy of three nodes with a GRU's state."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import bundle_runner
import leapp
import numpy as np
import pytest
import torch
from leapp import InputKindEnum, OutputKindEnum, TensorSemantics, annotate

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get("LEAPP_PROGRAM", ROOT / "build/default/bin/leapp"))
JOINTS = [f"joint_{i}" for i in range(8)]


def run(*arguments: object, code: int = 0) -> Any:
    spec = importlib.util.find_spec("onnxruntime")
    assert spec is not None
    assert spec.submodule_search_locations
    done = subprocess.run(
        [PROGRAM, *map(str, arguments), "--json"],
        env={"LEAPP_ONNXRUNTIME": spec.submodule_search_locations[0] + "/capi"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr + done.stdout
    return json.loads(done.stdout)


class Policy(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = torch.nn.GRU(8, 32)
        self.actor = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ELU(), torch.nn.Linear(64, 8))

    def forward(self, features: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        output, hidden = self.gru(features.unsqueeze(0), hidden)
        return self.actor(output.squeeze(0)), hidden


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walk")
    torch.manual_seed(0)
    policy = Policy().eval()
    hidden = torch.randn(1, 1, 32)
    names = [["robot"], JOINTS]
    leapp.start("walk", save_path=str(folder))
    with torch.no_grad():
        for _ in range(3):
            position = torch.randn(1, 8)
            position = annotate.input_tensors(
                "normalise", TensorSemantics("position", position, InputKindEnum.JOINT_POSITION, names)
            )
            features = annotate.output_tensors("normalise", {"features": (position - 0.1) / 1.5}, export_with="onnx")
            features, hidden = annotate.input_tensors("policy", {"features": features, "hidden": hidden})
            action, hidden = policy(features, hidden)
            action, hidden = annotate.output_tensors("policy", {"action": action, "hidden": hidden}, export_with="onnx")
            action = annotate.input_tensors("scale", {"action": action})
            annotate.output_tensors(
                "scale",
                TensorSemantics("target", 0.5 * torch.tanh(action), OutputKindEnum.JOINT_POSITION, names),
                export_with="onnx",
            )
    leapp.stop()
    leapp.compile_graph(visualize=False, graph_configs=leapp.GraphConfigs(frequency=50))
    return folder / "walk"


def test_our_own_bundle_has_no_findings(walk: Path) -> None:
    found = run("check", walk, "--strict")
    assert found["loaded"]
    assert found["findings"] == []
    nodes = {node["name"]: node["model"] for node in run("inspect", walk)["nodes"]}
    weights = sum(parameter.numel() for parameter in Policy().parameters())
    assert nodes["policy"]["parameters"] >= weights
    assert nodes["policy"]["operators"]["GRU"] == 1


def test_fused_it_is_ready_for_isaac_ros_and_steps_the_same(walk: Path) -> None:
    assert run("check", walk, "--target", "isaac-ros", code=1)["errors"] > 0
    fused = walk.parent / "fused"
    result = run("fuse", walk, "--output", fused, "--steps", 100)
    assert result["agrees"]
    assert max(port["max_abs_diff"] for port in result["ports"]) < 1e-6
    found = run("check", fused, "--target", "isaac-ros")
    assert (found["errors"], found["warnings"]) == (0, 0)

    original = bundle_runner.Bundle(walk)
    (port,) = [port for port in run("inspect", fused)["nodes"][0]["outputs"] if "target" in port["name"]]
    other = bundle_runner.Bundle(fused)
    for step in range(100):
        position = torch.sin(torch.arange(8) + 0.3 * step).unsqueeze(0)
        expected = original.step(position=position)["scale/target"]
        torch.testing.assert_close(other.step(position=position)[f"walk/{port['name']}"], expected)


def test_a_trace_replays_fused_and_node_by_node(walk: Path) -> None:
    trace = walk.parent / "trace.npz"
    assert run("run", walk, "--steps", 50, "--trace", trace)["fused"]
    replayed = run("run", walk, "--replay", trace, "--no-fuse", "--rtol", 1e-5, "--atol", 1e-6)
    assert not replayed["fused"]
    assert replayed["replay"]["agrees"]


def test_another_seed_shows_in_the_weights(walk: Path) -> None:
    import shutil

    import onnx

    other = walk.parent / "other" / "walk"
    shutil.copytree(walk, other, dirs_exist_ok=True)
    model = onnx.load(other / "policy.onnx")
    tensor = max(model.graph.initializer, key=lambda each: len(each.raw_data))
    values = torch.frombuffer(bytearray(tensor.raw_data), dtype=torch.float32).clone()
    values[5] += 0.25
    tensor.raw_data = values.numpy().tobytes()
    onnx.save(model, other / "policy.onnx")
    (found,) = run("diff", walk, other, code=1)["differences"]
    assert (found["what"], found["where"]) == ("weights", f"policy: {tensor.name}")
    assert found["max_abs_diff"] == pytest.approx(0.25, rel=1e-5)
    assert run("diff", walk, other, "--atol", 0.3)["same"]


def test_made_up_inputs_are_those_of_python(walk: Path, tmp_path: Path) -> None:
    done = run("run", walk, "--seed", 11, "--steps", 1, "--trace", tmp_path / "trace.npz")
    assert done["steps"] == 1
    made = leapp.InferenceManager(walk).get_mock_input(seed=11)
    trace = np.load(tmp_path / "trace.npz")
    assert made
    for name, values in made.items():
        np.testing.assert_array_equal(trace[f"inputs/{name}"][0], values.numpy())
