# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles written by hand around the models in tests/bundles/models."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import yaml

MODELS = Path(__file__).resolve().parents[2] / "bundles" / "models"

Port = tuple[str, str, list[int]]
DTYPES = ["float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool"]


def port(name: str) -> Port:
    return name, "float32", [1, 4]


class HandMade:
    """Change `pipeline` and `initial` as the test needs it, then write()."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "bundle"
        self.folder.mkdir()
        self.models: dict[str, Any] = {}
        self.pipeline: dict[str, Any] = {"data_flow": {}, "feedback_flow": {}, "inputs": {}, "outputs": {}}
        self.initial: dict[str, np.ndarray] = {}

    def add(self, node: str, model: str, inputs: list[Port], outputs: list[Port]) -> None:
        shutil.copy(MODELS / f"{model}.onnx", self.folder / f"{node}.onnx")
        self.models[node] = {
            "inputs": [{"name": n, "dtype": d, "shape": list(s), "type": "tensor"} for n, d, s in inputs],
            "outputs": [{"name": n, "dtype": d, "shape": list(s), "type": "tensor"} for n, d, s in outputs],
            "parameters": {"backend": "onnx", "model_path": f"{node}.onnx"},
        }

    def write(self) -> Path:
        if self.initial:
            self.pipeline["initial_values"] = "initial.safetensors"
            (self.folder / "initial.safetensors").write_bytes(safetensors(self.initial))
        system = {"leapp config version": "1.1"}
        text = yaml.safe_dump(
            {"models": self.models, "pipeline": self.pipeline, "system information": system}, sort_keys=False
        )
        (self.folder / "bundle.yaml").write_text(text)
        return self.folder / "bundle.yaml"


def safetensors(tensors: dict[str, np.ndarray]) -> bytes:
    header, data = {}, b""
    for name, value in tensors.items():
        assert value.dtype == np.float32
        begin = len(data)
        data += value.tobytes()
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def recurrent(folder: Path, initial: tuple[float, ...] = (1, 2, 3, 4)) -> Path:
    """pre (2x + 1) → policy (h = h/2 + f, y = 2h) → post (y/2), h fed back: three nodes that fuse to one model."""
    folder.mkdir(parents=True, exist_ok=True)
    bundle = HandMade(folder)
    bundle.add("pre", "affine", [port("x")], [port("y")])
    bundle.add("policy", "filter", [port("x"), port("h_in")], [port("y"), port("h_out")])
    bundle.add("post", "halve", [port("x")], [port("y")])
    bundle.pipeline.update(
        data_flow={"pre/y": ["policy/x"], "policy/y": ["post/x"]},
        feedback_flow={"policy/h_out": ["policy/h_in"]},
        inputs={"pre": ["x"]},
        outputs={"post": ["y"]},
    )
    bundle.initial = {"policy/h_in": np.array([initial], np.float32)}
    return bundle.write()


def every_type(folder: Path) -> Path:
    """What goes in comes out; one pair of ports for each dtype."""
    bundle = HandMade(folder)
    names = [(dtype, dtype, [2, 3]) for dtype in DTYPES]
    bundle.add(
        "node",
        "every_type",
        [(f"{name}_in", dtype, shape) for name, dtype, shape in names],
        [(f"{name}_out", dtype, shape) for name, dtype, shape in names],
    )
    bundle.pipeline["inputs"] = {"node": [f"{name}_in" for name in DTYPES]}
    bundle.pipeline["outputs"] = {"node": [f"{name}_out" for name in DTYPES]}
    return bundle.write()


def failing(folder: Path) -> Path:
    """h = h/2 + x beside a table of five that is read at `index`: an index outside of it fails the step."""
    bundle = HandMade(folder)
    bundle.add("policy", "filter", [port("x"), port("h_in")], [port("y"), port("h_out")])
    bundle.add("pick", "pick", [("index", "int64", [2])], [("y", "float32", [2])])
    bundle.pipeline.update(
        feedback_flow={"policy/h_out": ["policy/h_in"]},
        inputs={"policy": ["x"], "pick": ["index"]},
        outputs={"policy": ["y"], "pick": ["y"]},
    )
    bundle.initial = {"policy/h_in": np.zeros((1, 4), np.float32)}
    return bundle.write()
