# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles of the documentation's programs, of the examples and of the peer, stepped beside what they were made from.

Each goes through plain torch and ONNX Runtime, InferenceManager, the C++ runtime in a program of its own and, when all
of its models are ONNX, InferenceManager in a process that has no torch.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bundle_runner
import harness
import pytest
import torch
from leapp import InferenceManager

ROOT = Path(__file__).resolve().parents[3]
SEEDS = ROOT / "tests/python/programs/seeds"
BUNDLES = ROOT / "tests" / "bundles"
STEPS = 100
STEPPED: list[bundle_runner.Bundle] = []
_stepped_elsewhere = bundle_runner.fixture_that_steps_elsewhere(STEPPED)

Original = Callable[..., dict[str, torch.Tensor]]  # inputs by port; outputs by "node/port"


def assert_equal_loop(folder: Path, original: Original) -> None:
    bundle = bundle_runner.Bundle(folder)
    for step in range(STEPS):
        inputs = bundle.manager.get_mock_input(seed=step)
        with torch.no_grad():
            expected = original(**{name.partition("/")[2]: value for name, value in inputs.items()})
        found = bundle.step_with(inputs)
        assert set(found) >= set(expected)
        for name, value in expected.items():
            problem = harness.difference([value], [found[name]], rtol=1e-4, atol=1e-5)
            assert problem is None, f"step {step}: {name}: {problem}"
    STEPPED.append(bundle)


def test_the_documentation_of_inference_manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its programs as they stand there, on the graphs they name."""
    monkeypatch.chdir(tmp_path)
    harness.seed_all(0)
    exported = runpy.run_path(str(SEEDS / "lifecycle_head.py"), run_name="__main__")
    assert "doubled" in exported
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        names = runpy.run_path(str(SEEDS / "inference_manager.py"), run_name="__main__")
    assert printed.getvalue() == "['double/values']\n['double/doubled']\n"
    assert torch.equal(names["outputs"]["double/doubled"], names["sample_inputs"]["double/values"] * 2)
    runpy.run_path(str(SEEDS / "inference_manager_state.py"), run_name="__main__")


def gru(names: dict[str, Any]) -> Original:
    policy = names["GRUPolicy"]().eval()
    policy.load_state_dict(names["model"].state_dict())
    policy.h_state.zero_()
    return lambda obs: {"policy/action": policy(obs)}


def stateful_policy(_: dict[str, Any]) -> Original:
    hidden = torch.zeros(1, 32)

    def step(obs: torch.Tensor) -> dict[str, torch.Tensor]:
        nonlocal hidden
        hidden = torch.tanh(torch.cat([obs, hidden], dim=-1))[..., :32]
        return {"policy/action": torch.tanh(hidden)}

    return step


def feedback(names: dict[str, Any]) -> Original:
    memory = torch.tensor([0.0])

    def step(observation_scalar: torch.Tensor) -> dict[str, torch.Tensor]:
        nonlocal memory
        context = names["mix_with_feedback"](observation_scalar, memory)
        memory = names["blend_feedback"](context, memory)
        return {"policy_step/control_action": torch.clamp(context * 2.0, min=-1.0, max=1.0)}

    return step


def my_pipeline(_: dict[str, Any]) -> Original:
    harness.seed_all(0)
    torch.randn(1, 8), torch.randn(1, 8)  # the observations that came before the weights
    weights = torch.randn(16, 4)

    def step(obs1_name: torch.Tensor, obs2_name: torch.Tensor) -> dict[str, torch.Tensor]:
        parts = [obs1_name - obs1_name.mean(), obs2_name / (obs2_name.abs().max() + 1e-6)]
        return {"predict/output": torch.relu(torch.cat(parts, dim=-1) @ weights)}

    return step


def complete_pipeline(names: dict[str, Any]) -> Original:
    def step(raw_data: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"postprocess/final_output": names["model"](names["preprocess"](raw_data)).argmax(dim=1)}

    return step


SEED_PROGRAMS: list[tuple[str, str, Callable[[dict[str, Any]], Original]]] = [
    ("my_pipeline", "my_pipeline", my_pipeline),
    ("my_pipeline_jit", "my_pipeline", my_pipeline),
    ("complete_pipeline", "exports/complete_pipeline", complete_pipeline),
    (
        "static_example",
        "static_example",
        lambda names: lambda input: {"my_node/computed": input + 1, "my_node/static": names["static_tensor"]},
    ),
    (
        "buffer_mirror",
        "buffer_mirror",
        lambda names: lambda input_data: {"process/output1": names["processor"].process(input_data)},
    ),
    ("lifecycle_head", "my_graph", lambda names: lambda values: {"double/doubled": names["double"](values)}),
    ("stateful_policy", "stateful_policy", stateful_policy),
    ("stateful_gru", "stateful_gru", gru),
    ("stateful_gru_jit", "stateful_gru", gru),
    ("sample_feedback_graph", "sample_feedback_graph", feedback),
]


@pytest.mark.parametrize(("program", "folder", "original"), SEED_PROGRAMS, ids=[case[0] for case in SEED_PROGRAMS])
def test_seeds(
    program: str,
    folder: str,
    original: Callable[[dict[str, Any]], Original],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(SEEDS), *sys.path])
    harness.seed_all(0)
    names = runpy.run_path(str(SEEDS / f"{program}.py"), run_name="__main__")
    assert_equal_loop(tmp_path / folder, original(names))


def getting_started(module: ModuleType) -> Original:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ELU(), torch.nn.Linear(16, 2)).eval()
    return lambda obs, command: {"policy/action": torch.tanh(net(module.preprocess(obs, command)))}


def example_pipeline(module: ModuleType) -> Original:
    model = module.SimpleNet().eval()

    def step(raw_data: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"postprocess/final_output": model(module.preprocess(raw_data)).argmax(dim=1)}

    return step


def recurrent_policy(module: ModuleType) -> Original:
    torch.manual_seed(0)
    policy, hidden = module.Policy().eval(), torch.zeros(1, 1, module.HIDDEN)

    def step(obs: torch.Tensor) -> dict[str, torch.Tensor]:
        nonlocal hidden
        action, hidden = policy(module.normalise(obs), hidden)
        return {"scale/target": 0.5 * torch.tanh(action)}

    return step


def semantics(_: ModuleType) -> Original:
    gain = torch.tensor([20.0, 20.0, 10.0])
    return lambda q, history: {"policy/target": q + 0.1 * history.mean(dim=0), "policy/kp": gain}


def stateful_gru_export(module: ModuleType) -> Original:
    policy = module.make_policy()
    return lambda obs: {"policy/action": policy(obs)}


def feedback_example(module: ModuleType) -> Original:
    memory = torch.tensor([0.0])

    def step(observation_scalar: torch.Tensor) -> dict[str, torch.Tensor]:
        nonlocal memory
        action, memory = module.step(observation_scalar, memory)
        return {"policy_step/control_action": action}

    return step


def undeclared_state(module: ModuleType) -> Original:
    policy = module.Policy()
    return lambda obs: {"policy/target": policy(obs)}


EXAMPLES: list[tuple[str, str, Callable[[ModuleType], Original]]] = [
    ("getting_started", "getting_started", getting_started),
    ("complete_pipeline", "complete_pipeline", example_pipeline),
    ("recurrent_policy", "recurrent_policy", recurrent_policy),
    ("semantics", "semantics", semantics),
    ("stateful_gru_export", "stateful_gru", stateful_gru_export),
    ("feedback_example", "sample_feedback_graph", feedback_example),
    ("undeclared_state", "undeclared_state", undeclared_state),
]


def test_every_example_is_here() -> None:
    assert {case[0] for case in EXAMPLES} == {path.stem for path in harness.EXAMPLES.glob("*.py")}


@pytest.mark.parametrize(("name", "folder", "original"), EXAMPLES, ids=[case[0] for case in EXAMPLES])
def test_examples(name: str, folder: str, original: Callable[[ModuleType], Original], tmp_path: Path) -> None:
    harness.run_example(name, tmp_path)
    assert_equal_loop(tmp_path / folder, original(harness.load_example(name)))


@pytest.mark.parametrize("name", sorted(path.name for path in (BUNDLES / "peer").iterdir()))
def test_what_the_peer_answered(name: str) -> None:
    recorded = bundle_runner.read_safetensors(BUNDLES / "peer_expected" / f"{name}.safetensors")
    bundle = bundle_runner.Bundle(BUNDLES / "peer" / name)
    steps = 1 + max(int(key.partition("/")[0]) for key in recorded)
    assert steps > 1
    for step in range(steps):
        inputs = {key: recorded[f"{step}/in/{key}"] for key in bundle.manager.inputs}
        found = bundle.step_with(inputs)
        for key in bundle.manager.outputs:
            # It does not give what is only fed back; we do.
            if f"{step}/out/{key}" in recorded:
                harness.assert_same([recorded[f"{step}/out/{key}"]], [found[key]])
    STEPPED.append(bundle)


def test_a_folder_stands_for_its_yaml() -> None:
    assert InferenceManager(BUNDLES / "peer" / "stateful_gru").inputs == ["policy/obs"]
