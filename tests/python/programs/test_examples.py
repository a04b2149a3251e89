# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The examples run, and what C++ prints is what Python printed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import bundle_runner
import harness
import pytest
import torch
import yaml

BUILT = bundle_runner.BUILD / "examples"

# What a line has to begin with to be one that both print, and the folder of the bundle.
PAIRS = {
    "getting_started": ("step", "getting_started"),
    "complete_pipeline": ("step", "complete_pipeline"),
    "recurrent_policy": ("step", "recurrent_policy"),
    "semantics": ("#", "semantics"),
    "stateful_gru_export": (("action", "h_state"), "stateful_gru"),
    "feedback_example": ("pass", "sample_feedback_graph"),
    "undeclared_state": ("step", "undeclared_state"),
}


def run(*command: str | Path) -> list[str]:
    environment = {**os.environ, **bundle_runner.ONNXRUNTIME}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


NUMBER = re.compile(r"[+-]\d+\.\d+")


def assert_same_lines(expected: list[str], found: list[str]) -> None:
    """Equal but for the last digit of a number, which depends on who computed it."""
    assert [NUMBER.sub("#", line) for line in expected] == [NUMBER.sub("#", line) for line in found]
    for first, second in zip(expected, found, strict=True):
        numbers = [[float(text) for text in NUMBER.findall(line)] for line in (first, second)]
        assert numbers[0] == pytest.approx(numbers[1], abs=2e-6, rel=0)


def test_every_example_has_its_twin() -> None:
    exporting = {path.stem for path in harness.EXAMPLES.glob("*.py")}
    assert exporting == set(PAIRS)
    assert exporting <= {path.stem for path in harness.EXAMPLES.glob("*.cpp")}


@pytest.mark.parametrize("name", PAIRS)
def test_cpp_prints_the_numbers_of_python(name: str, tmp_path: Path) -> None:
    start, bundle = PAIRS[name]
    printed = harness.run_example(name, tmp_path)
    expected = [line for line in printed if line.startswith(start)]
    assert len(expected) >= 2
    assert len(set(expected)) == len(expected)
    printed_by_cpp = run(BUILT / name, tmp_path / bundle)
    engines = [line for line in printed_by_cpp if line.startswith("engine: ")]
    assert_same_lines(expected, [line for line in printed_by_cpp if line not in engines])
    if name == "recurrent_policy":
        assert [line.partition(" (")[0] for line in engines] == ["engine: native"]
    if name == "semantics":
        check_semantics(printed, tmp_path)
    if name == "complete_pipeline":
        check_capture_twin(expected, tmp_path)


def check_semantics(printed: list[str], folder: Path) -> None:
    ports = yaml.safe_load("\n".join(printed))
    joints = ["hip", "knee", "ankle"]
    assert ports["pipeline"]["configs"] == {"frequency": 50.0}
    q, history = ports["models"]["policy"]["inputs"]
    assert (q["kind"], q["element_names"]) == ("state/joint/position", [joints])
    assert (history["element_names"], history["temporal_period_ms"]) == (["__temporal_axis__", joints], 20.0)
    target, gain = ports["models"]["policy"]["outputs"]
    assert (target["kind"], target["unit"], gain["kind"]) == ("target/joint/position", "rad", "kp")
    model = torch.jit.load(str(folder / "semantics" / "policy.pt"))
    assert model(torch.ones(3), torch.zeros(5, 3))[1].tolist() == [20, 20, 10]


def check_capture_twin(expected: list[str], folder: Path) -> None:
    """complete_pipeline_capture.cpp writes the bundle that complete_pipeline.py wrote."""
    assert run(BUILT / "complete_pipeline_capture", folder / "cpp") == expected
    folders = [folder / "complete_pipeline", folder / "cpp" / "complete_pipeline"]
    texts = [(each / "complete_pipeline.yaml").read_text() for each in folders]
    first, second = (text.partition("system information:")[0] for text in texts)
    assert "preprocess/normalized: [inference/features]" in first
    assert first.count("sha256sum: ") == 3
    assert first == second
    for node in ("preprocess", "inference", "postprocess"):
        python, cpp = (torch.jit.load(str(each / f"{node}.pt")) for each in folders)
        assert python.code == cpp.code
        assert list(python.state_dict()) == list(cpp.state_dict())
        x = torch.linspace(-1.0, 1.0, 10 if node != "postprocess" else 5).unsqueeze(0)
        assert torch.equal(python(x), cpp(x))


def test_a_robot_s_program_has_neither_python_nor_torch_in_it() -> None:
    needed = run("ldd", BUILT / "recurrent_policy")
    assert any("libleapp_runtime.so" in line for line in needed)
    assert not [line for line in needed if re.search(r"torch|c10|python|onnxruntime", line.split()[0])]


def test_a_robot_s_program_runs_where_no_onnxruntime_can_be_found(tmp_path: Path) -> None:
    harness.run_example("recurrent_policy", tmp_path)
    program, bundle = BUILT / "recurrent_policy", tmp_path / "recurrent_policy"
    # Not even the dynamic linker is asked for one.
    environment = {"LEAPP_ONNXRUNTIME": "/nowhere", "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(tmp_path / "linker")}
    done = subprocess.run([program, bundle], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == run(program, bundle)
    loaded = "".join(path.read_text() for path in tmp_path.glob("linker.*"))
    assert "libleapp_runtime" in loaded
    assert "onnxruntime" not in loaded


def test_a_wrong_call_says_how_to_use_it() -> None:
    done = subprocess.run([BUILT / "recurrent_policy"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage" in done.stderr
    missing = subprocess.run([BUILT / "recurrent_policy", "/nowhere"], capture_output=True, text=True, check=False)
    assert missing.returncode == 1
    assert "/nowhere" in missing.stderr


def test_export_from_cpp(tmp_path: Path) -> None:
    printed = run(BUILT / "export_from_cpp", tmp_path)
    assert "policy: passed" in printed
    model = torch.jit.load(str(tmp_path / "from_cpp" / "policy.pt"))
    assert list(model.state_dict()) == ["actor.weight"]
    obs = torch.linspace(-1.0, 1.0, 16).unsqueeze(0)
    scaled = torch.cat([0.5 * obs[:, :4], obs[:, 4:]], dim=1)
    torch.testing.assert_close(model(obs), torch.tanh(0.125 * scaled.sum(dim=1, keepdim=True).expand(1, 4)))
