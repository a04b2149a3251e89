# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles written by hand: what the program reads is not what our own writer made."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import yaml

MODELS = Path(__file__).resolve().parents[1] / "bundles/models"
PEER = Path(__file__).resolve().parents[1] / "bundles/peer"


def port(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "dtype": "float32", "shape": [1, 4], "type": "tensor", **more}


def node(folder: Path, name: str, model: Path, inputs: list[Any], outputs: list[Any]) -> dict[str, Any]:
    file = f"{name}{model.suffix}"
    shutil.copyfile(model, folder / file)
    data = model.read_bytes()
    return {
        "inputs": inputs,
        "outputs": outputs,
        "parameters": {
            "backend": "onnx",
            "model_path": file,
            "md5sum": hashlib.md5(data).hexdigest(),
            "sha256sum": hashlib.sha256(data).hexdigest(),
            "opset_version": 18,
        },
    }


def safetensors(arrays: dict[str, np.ndarray]) -> bytes:
    header: dict[str, Any] = {}
    data = b""
    for name, array in arrays.items():
        header[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + array.nbytes],
        }
        data += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def write(folder: Path, spec: dict[str, Any]) -> Path:
    path = folder / f"{folder.name}.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    return path


def read(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def recurrent(folder: Path) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    file = f"{folder.name}_initial_values.safetensors"
    (folder / file).write_bytes(safetensors({"policy/h_in": np.array([[1, 2, 3, 4]], np.float32)}))
    kind = {"kind": "state/joint/position", "element_names": [["batch"], ["a", "b", "c", "d"]]}
    target = {"kind": "target/joint/position", "element_names": [["batch"], ["a", "b", "c", "d"]]}
    return {
        "models": {
            "pre": node(folder, "pre", MODELS / "affine.onnx", [port("x", **kind)], [port("y")]),
            "policy": node(
                folder, "policy", MODELS / "filter.onnx", [port("x"), port("h_in")], [port("y"), port("h_out")]
            ),
            "post": node(folder, "post", MODELS / "halve.onnx", [port("x")], [port("y", **target)]),
        },
        "pipeline": {
            "configs": {"frequency": 50.0},
            "data_flow": {"pre/y": ["policy/x"], "policy/y": ["post/x"]},
            "feedback_flow": {"policy/h_out": ["policy/h_in"]},
            "initial_values": file,
            "inputs": {"pre": ["x"]},
            "outputs": {"post": ["y"]},
        },
        "system information": {
            "leapp config version": "1.3",
            "leapp version": "0.1.0",
            "os": "Debian GNU/Linux 12",
            "python version": "3.11.2",
            "torch version": "2.13.0",
        },
    }


def write_recurrent(folder: Path) -> Path:
    return write(folder, recurrent(folder))


def expected_steps(values: np.ndarray) -> np.ndarray:
    """What the recurrent bundle makes of [N, 1, 4] inputs."""
    state = np.array([[1, 2, 3, 4]], np.float32)
    outputs = []
    for value in values:
        state = state * np.float32(0.5) + (value * np.float32(2) + np.float32(1))
        outputs.append(state * np.float32(2) * np.float32(0.5))
    return np.stack(outputs)
