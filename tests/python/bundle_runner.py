# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Steps a whole bundle by what its YAML says, with plain torch and ONNX Runtime: nothing of ours is in between."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import numpy as np
import torch

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
                result = module(*inputs)
            return [result] if isinstance(result, torch.Tensor) else list(result)

        return run_jit
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs_of = [port["name"] for port in model["inputs"]]
    outputs_of = [port["name"] for port in model["outputs"]]

    def run_onnx(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        feed = {name: value.numpy() for name, value in zip(inputs_of, inputs, strict=True)}
        return [torch.from_numpy(np.asarray(value).copy()) for value in session.run(outputs_of, feed)]

    return run_onnx


class Bundle:
    """Keeps feedback from step to step."""

    def __init__(self, folder: Path) -> None:
        self.yaml = harness.read_yaml(folder)
        self.models = {name: _load(folder, model) for name, model in self.yaml["models"].items()}
        pipeline = self.yaml["pipeline"]
        self.state = read_safetensors(folder / pipeline["initial_values"]) if "initial_values" in pipeline else {}

    def step(self, **external: torch.Tensor) -> dict[str, torch.Tensor]:
        """`external` by port name; returns every output by "node/port"."""
        values: dict[str, torch.Tensor] = dict(self.state)
        for node, ports in self.yaml["pipeline"]["inputs"].items():
            values.update({f"{node}/{port}": external[port] for port in ports})
        outputs: dict[str, torch.Tensor] = {}
        for node, model in self.yaml["models"].items():
            inputs = [values[f"{node}/{port['name']}"].clone() for port in model["inputs"]]
            for port, result in zip(model["outputs"], self.models[node](inputs), strict=True):
                outputs[f"{node}/{port['name']}"] = result
                for target in self.yaml["pipeline"]["data_flow"].get(f"{node}/{port['name']}", []):
                    values[target] = result
        for source, targets in self.yaml["pipeline"]["feedback_flow"].items():
            self.state.update(dict.fromkeys(targets, outputs[source]))
        return outputs
