# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Steps a whole bundle by what its YAML says, with plain torch and ONNX Runtime: nothing of ours is in between.

Beside it goes InferenceManager, which has to give the same. What was stepped can be stepped again elsewhere: by a C++
program on the runtime library, and where there is no torch.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import harness
import leapp
import numpy as np
import pytest
import torch
from leapp import _runtime

_SAFETENSORS = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
    "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
}  # fmt: skip


def read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = torch.frombuffer(bytearray(data[8 + size + begin : 8 + size + end]) or bytearray(1), dtype=torch.uint8)
        flat = raw[: end - begin].view(_SAFETENSORS[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"]).clone()
    return tensors


def _load(folder: Path, model: dict[str, Any]) -> Callable[[list[torch.Tensor]], list[torch.Tensor]]:
    path = str(folder / model["parameters"]["model_path"])
    if model["parameters"]["backend"] == "jit":
        module = torch.jit.load(path)

        def run_jit(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
            with torch.no_grad():
                result = module(*(value.cpu() for value in inputs))
            return [result] if isinstance(result, torch.Tensor) else list(result)

        return run_jit
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs_of = [port["name"] for port in model["inputs"]]
    outputs_of = [port["name"] for port in model["outputs"]]

    def run_onnx(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        feed = {name: value.cpu().numpy() for name, value in zip(inputs_of, inputs, strict=True)}
        return [torch.from_numpy(np.asarray(value).copy()) for value in session.run(outputs_of, feed)]

    return run_onnx


class Bundle:
    """Keeps feedback from step to step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.yaml = harness.read_yaml(folder)
        self.models = {name: _load(folder, model) for name, model in self.yaml["models"].items()}
        pipeline = self.yaml["pipeline"]
        self.state = read_safetensors(folder / pipeline["initial_values"]) if "initial_values" in pipeline else {}
        self.manager = leapp.InferenceManager(folder / f"{folder.name}.yaml")
        self.steps: list[tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]] = []  # in and out, so far

    def step(self, **external: torch.Tensor) -> dict[str, torch.Tensor]:
        """`external` by port name; returns every output by "node/port", the runtime's where the runtime has it."""
        inputs: dict[str, torch.Tensor] = {}
        for node, ports in self.yaml["pipeline"]["inputs"].items():
            inputs.update({f"{node}/{port}": external[port] for port in ports})
        return self.step_with(inputs)

    def step_with(self, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """`inputs` by "node/port"."""
        expected = self._step_plain(inputs)
        found = self.manager.run_policy(inputs)
        for name, value in found.items():
            harness.assert_same([expected[name]], [value], rtol=1e-4, atol=1e-5)
        self.steps.append(({name: value.detach().clone() for name, value in inputs.items()}, found))
        return {**expected, **found}

    def _step_plain(self, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        values = {**self.state, **inputs}
        outputs: dict[str, torch.Tensor] = {}
        for node, model in self.yaml["models"].items():
            arguments = [values[f"{node}/{port['name']}"].clone() for port in model["inputs"]]
            for port, result in zip(model["outputs"], self.models[node](arguments), strict=True):
                outputs[f"{node}/{port['name']}"] = result
                for target in self.yaml["pipeline"]["data_flow"].get(f"{node}/{port['name']}", []):
                    values[target] = result
        for source, targets in self.yaml["pipeline"]["feedback_flow"].items():
            self.state.update(dict.fromkeys(targets, outputs[source]))
        return outputs

    @property
    def is_onnx(self) -> bool:
        return all(model["parameters"]["backend"] == "onnx" for model in self.yaml["models"].values())


BUILD = Path(_runtime.__file__).resolve().parents[2]
ONNXRUNTIME = {"LEAPP_ONNXRUNTIME": str(Path(np.__file__).parents[1] / "onnxruntime")}


def step_elsewhere(bundles: Sequence[Bundle], folder: Path) -> None:
    """The same steps in a C++ program; those of ONNX models also in a Python without torch."""
    cpp = [BUILD / "tests" / "runtime_steps" / "step_bundle"]
    _step_in(cpp, bundles, folder / "cpp", {**os.environ, **ONNXRUNTIME})
    python = [sys.executable, "-W", "error", Path(__file__).with_name("step_bundle.py")]
    path = os.pathsep.join(sys.path)
    _step_in(
        python, [each for each in bundles if each.is_onnx], folder / "no_torch", {**os.environ, "PYTHONPATH": path}
    )


def _step_in(command: list[Any], bundles: Sequence[Bundle], folder: Path, environment: dict[str, str]) -> None:
    folder.mkdir()
    arguments: list[Path] = []
    for i, bundle in enumerate(bundles):
        given = b"".join(harness.bits(value[name]) for value, _ in bundle.steps for name in bundle.manager.inputs)
        (folder / f"{i}.in").write_bytes(given)
        arguments += [bundle.folder, folder / f"{i}.in", folder / f"{i}.out"]
    command = [str(part) for part in [*command, *arguments]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    for i, bundle in enumerate(bundles):
        _compare(bundle, (folder / f"{i}.out").read_bytes())


def _compare(bundle: Bundle, found: bytes) -> None:
    at = 0
    for step, (_, expected) in enumerate(bundle.steps):
        for name in bundle.manager.outputs:
            value = expected[name]
            size = value.numel() * value.element_size()
            raw = torch.frombuffer(bytearray(found[at : at + size]) or bytearray(1), dtype=torch.uint8)[:size]
            at += size
            problem = harness.difference([value], [raw.view(value.dtype).reshape(value.shape)])
            assert problem is None, f"{bundle.folder}: step {step}: {name}: {problem}"
    assert at == len(found)


def fixture_that_steps_elsewhere(stepped: list[Bundle]) -> Any:
    """At a module's end the bundles in `stepped` are stepped again, by a C++ program and without torch."""

    @pytest.fixture(scope="module", autouse=True)
    def stepped_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        yield
        if stepped:
            step_elsewhere(stepped, tmp_path_factory.mktemp("elsewhere"))
        stepped.clear()

    return stepped_elsewhere
