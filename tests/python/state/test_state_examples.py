# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of state run as a user would run them, and each bundle is stepped beside the original program.

The programs in docs/concepts/state.md run too, and say what the page shows.
"""

from __future__ import annotations

import collections
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bundle_runner
import leapp
import pytest
import torch
from harness import EXAMPLES, assert_same, load_example, read_log, read_yaml, warnings_in
from leapp import annotate

ROOT = Path(__file__).resolve().parents[3]
STEPS = 100


def run(name: str, folder: Path) -> list[str]:
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def numbers(line: str) -> list[float]:
    return [float(text) for text in re.findall(r"[+-]\d+\.\d+", line)]


def observations(size: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(11)
    return [torch.randn(1, size, generator=generator) for _ in range(STEPS)]


@pytest.mark.parametrize(
    ("name", "graph"),
    [
        ("stateful_gru_export", "stateful_gru"),
        ("feedback_example", "sample_feedback_graph"),
        ("undeclared_state", "undeclared_state"),
    ],
)
def test_the_last_line_says_where_the_files_are(name: str, graph: str, tmp_path: Path) -> None:
    written = Path(run(name, tmp_path)[-1].removeprefix("written: "))
    assert written == tmp_path / graph / f"{graph}.yaml"
    pipeline = read_yaml(tmp_path / graph)["pipeline"]
    assert (tmp_path / graph / pipeline["initial_values"]).is_file()
    for node in read_yaml(tmp_path / graph)["models"].values():
        assert (tmp_path / graph / node["parameters"]["model_path"]).is_file()


@torch.no_grad()
def test_stateful_gru(tmp_path: Path) -> None:
    printed = run("stateful_gru_export", tmp_path)
    folder = tmp_path / "stateful_gru"
    assert read_yaml(folder)["pipeline"]["feedback_flow"] == {"policy/h_state": ["policy/h_state"]}
    assert warnings_in(read_log(folder)) == []  # everything is declared
    policy = load_example("stateful_gru_export").make_policy()
    first = policy(torch.sin(0.1 * torch.arange(16)).unsqueeze(0))
    assert_same([first[0]], [torch.tensor(numbers(printed[0]))], atol=1e-6)
    assert_same([policy.h_state[0, 0, :8]], [torch.tensor(numbers(printed[1]))], atol=1e-6)

    policy, bundle = load_example("stateful_gru_export").make_policy(), bundle_runner.Bundle(folder)
    for obs in observations(16):
        assert_same([policy(obs)], [bundle.step(obs=obs)["policy/action"]])


def test_feedback(tmp_path: Path) -> None:
    printed = run("feedback_example", tmp_path)
    folder = tmp_path / "sample_feedback_graph"
    pipeline = read_yaml(folder)["pipeline"]
    assert pipeline["feedback_flow"] == {
        "feedback_update/policy_memory_out": ["policy_step/policy_memory_in", "feedback_update/policy_memory_prev"]
    }
    assert pipeline["data_flow"] == {"policy_step/policy_context": ["feedback_update/policy_context"]}
    assert warnings_in(read_log(folder)) == []

    step, memory, bundle = load_example("feedback_example").step, torch.tensor([0.0]), bundle_runner.Bundle(folder)
    seen = [torch.tensor([1.0]), torch.tensor([0.25]), *(obs.flatten() for obs in observations(1)[2:])]
    for i, obs in enumerate(seen):
        action, memory = step(obs, memory)
        found = bundle.step(observation_scalar=obs)
        assert_same([action, memory], [found["policy_step/control_action"], found["feedback_update/policy_memory_out"]])
        if i < 2:
            assert_same([torch.cat([action, memory])], [torch.tensor(numbers(printed[i]))], atol=1e-6)


@torch.no_grad()
def test_undeclared_state(tmp_path: Path) -> None:
    printed = run("undeclared_state", tmp_path)
    folder = tmp_path / "undeclared_state"
    names = ["history", "last_action", "smooth_action"]
    assert read_yaml(folder)["pipeline"]["feedback_flow"] == {f"policy/{name}": [f"policy/{name}"] for name in names}
    warnings = warnings_in(read_log(folder))
    assert len(warnings) == len(names)
    for name in names:
        assert any(f"'{name}'" in line and "undeclared_state.py:" in line for line in warnings)

    example = load_example("undeclared_state")
    assert "annotate" not in Path(example.__file__).read_text().partition("class Policy")[2].partition("def obs")[0]
    policy = example.Policy()
    targets = [policy(example.observation(i)) for i in range(example.PASSES)]
    assert_same([torch.cat(targets)], [torch.tensor([numbers(line) for line in printed[:-1]])], atol=1e-6)

    policy, bundle = example.Policy(), bundle_runner.Bundle(folder)
    for obs in observations(example.OBSERVATIONS):
        assert_same([policy(obs)], [bundle.step(obs=obs)["policy/target"]])


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / "concepts" / "state.md").read_text(), re.DOTALL)


def run_block(program: str, folder: Path) -> tuple[int, str]:
    """The exit code, and what it says with the folder's name as the page has it and all white space equal."""
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-W", "error", str(folder / "program.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    said = re.sub(r"^leapp: Bundle: .*\n", "", done.stderr, flags=re.MULTILINE)
    return done.returncode, one_line(said.replace(str(folder), "/home/me"))


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_the_page_shows_what_happens(tmp_path: Path) -> None:
    smooth, stateful, history, queue, steps = blocks("python")
    error, difference = blocks("text")
    code, _ = run_block(smooth, tmp_path)
    assert code == 0
    assert one_line(blocks("yaml")[0]) in one_line((tmp_path / "smooth" / "smooth.yaml").read_text())
    code, said = run_block(smooth.replace('"smooth")', '"smooth", leaks="error")', 1), tmp_path)
    assert code == 1
    assert one_line(error) in said
    assert run_block(stateful, tmp_path) == (0, "")
    assert run_block(history, tmp_path) == (0, "")
    assert run_block(queue, tmp_path)[0] == 0
    code, said = run_block(steps, tmp_path)
    assert code == 1
    assert one_line(difference) in said


class Reassigned:
    def __init__(self) -> None:
        self.ema = torch.zeros(1, 2)

    def __call__(self, obs: torch.Tensor) -> torch.Tensor:
        self.ema = 0.9 * self.ema + 0.1 * obs
        return self.ema + 1


class NoneAtFirst:
    def __init__(self) -> None:
        torch.manual_seed(0)
        self.gru = torch.nn.GRU(2, 3)
        self.h: torch.Tensor | None = None

    def __call__(self, obs: torch.Tensor) -> torch.Tensor:
        out, self.h = self.gru(obs.unsqueeze(0), self.h)
        return out[0]


class LastAction:
    def __init__(self) -> None:
        self.last = torch.zeros(1, 2)

    def __call__(self, obs: torch.Tensor) -> torch.Tensor:
        self.last = torch.tanh(obs + 0.5 * self.last)
        return self.last


class LastActionAsInput(LastAction):
    def __call__(self, obs: torch.Tensor) -> torch.Tensor:
        self.last = annotate.input_tensors("policy", {"last": self.last})
        return super().__call__(obs)


class History:
    """The newest of `size` comes in before the old ones are read."""

    size = 4

    def __init__(self) -> None:
        self.history = collections.deque([torch.zeros(1, 2) for _ in range(self.size)], maxlen=self.size)

    def __call__(self, obs: torch.Tensor) -> torch.Tensor:
        self.history.append(obs * 2)
        return torch.cat(list(self.history), dim=1)


class HistoryReadFirst(History):
    def __call__(self, obs: torch.Tensor) -> torch.Tensor:
        action = torch.cat([obs, *self.history], dim=1)
        self.history.append(obs * 2)
        return action


class ShiftedInPlace:
    def __init__(self) -> None:
        self.history = torch.zeros(4, 2)

    def __call__(self, obs: torch.Tensor) -> torch.Tensor:
        self.history[:-1] = self.history[1:].clone()
        self.history[-1] = obs[0]
        return self.history.flatten()


@pytest.mark.parametrize(
    ("kind", "passes"),
    [
        (Reassigned, 2),
        (NoneAtFirst, 2),
        (LastAction, 2),
        (LastActionAsInput, 2),
        (History, History.size + 1),
        (HistoryReadFirst, History.size + 1),
        (ShiftedInPlace, 1),
    ],
)
@torch.no_grad()
def test_as_many_passes_as_the_page_names(kind: Callable[[], Any], passes: int, tmp_path: Path) -> None:
    policy, seen = kind(), observations(2)
    leapp.start("g", save_path=tmp_path)
    for obs in seen[:passes]:
        obs = annotate.input_tensors("policy", {"obs": obs})
        annotate.output_tensors("policy", {"action": policy(obs)}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    policy, bundle = kind(), bundle_runner.Bundle(tmp_path / "g")
    for obs in seen:
        assert_same([policy(obs)], [bundle.step(obs=obs)["policy/action"]])


def test_a_value_of_another_node_is_found_in_one_pass(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("a", {"x": torch.ones(2)})
    y = annotate.output_tensors("a", {"y": x * 3}, export_with="jit")
    z = annotate.input_tensors("b", {"z": torch.ones(2)})
    annotate.output_tensors("b", {"w": z + y}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    bundle = bundle_runner.Bundle(tmp_path / "g")
    assert bundle.yaml["pipeline"]["data_flow"] == {"a/y": ["b/y"]}
    assert bundle.step(x=torch.full((2,), 2.0), z=torch.ones(2))["b/w"].tolist() == [7.0, 7.0]


def test_a_value_of_two_passes_ago_gets_no_edge(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    made = [torch.zeros(2)] * 2
    for i in range(4):
        x = annotate.input_tensors("a", {"x": torch.full((2,), i + 1.0)})
        made.append(annotate.output_tensors("a", {"y": x * 3}, export_with="jit"))
        z = annotate.input_tensors("b", {"z": made[-3]})
        annotate.output_tensors("b", {"w": z + 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    pipeline = read_yaml(tmp_path / "g")["pipeline"]
    assert (pipeline["data_flow"], pipeline["feedback_flow"]) == ({}, {})
    warning = warnings_in(read_log(tmp_path / "g"))[0]
    for word in ("'z'", "'b'", "a/y", "2 passes ago"):
        assert word in warning
