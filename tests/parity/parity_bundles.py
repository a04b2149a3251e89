# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Two bundles of one program, part by part: ports, edges, order, initial values, back ends, numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import yaml


class Bundle:
    """The one bundle in a folder."""

    def __init__(self, folder: Path) -> None:
        (self.file,) = folder.glob("**/*.yaml")
        self.yaml: dict[str, Any] = yaml.safe_load(self.file.read_text())
        self.pipeline = self.yaml["pipeline"]

    def ports(self) -> Any:
        def described(port: dict[str, Any]) -> dict[str, Any]:
            # What state is a history of is a key of ours, which the other package reads past.
            return {key: value for key, value in port.items() if key not in ("type", "leapp_history")}

        return {
            node: {direction: [described(port) for port in model[direction]] for direction in ("inputs", "outputs")}
            for node, model in self.yaml["models"].items()
        }

    def edges(self) -> Any:
        def targets(flow: dict[str, list[str]]) -> dict[str, set[str]]:
            return {source: set(found) for source, found in flow.items()}

        flows = (targets(self.pipeline["data_flow"]), targets(self.pipeline["feedback_flow"]))
        return (*flows, self.pipeline["inputs"], self.pipeline["outputs"], self.pipeline.get("configs"))

    def order(self) -> list[str]:
        return list(self.yaml["models"])

    def initial(self) -> dict[str, Any]:
        file = self.pipeline.get("initial_values")
        if file is None:
            return {}
        data = (self.file.parent / file).read_bytes()
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        header.pop("__metadata__", None)
        return {
            name: (entry["dtype"], entry["shape"], data[8 + length :][slice(*entry["data_offsets"])])
            for name, entry in header.items()
        }

    def backends(self) -> list[Any]:
        return [model["parameters"]["backend"] for model in self.yaml["models"].values()]

    def numbers(self, seed: int) -> dict[str, list[torch.Tensor]]:
        """What each model gives for the same random inputs."""
        found = {}
        for node, model in self.yaml["models"].items():
            run = {"jit": run_jit, "onnx": run_onnx}.get(model["parameters"]["backend"])
            if run is None:
                continue
            torch.manual_seed(seed)
            inputs = {port["name"]: random_value(port) for port in model["inputs"]}
            found[node] = run(self.file.parent / model["parameters"]["model_path"], inputs)
        return found


def random_value(port: dict[str, Any]) -> torch.Tensor:
    if port["dtype"] in ("float16", "float32", "float64", "bfloat16"):
        return (torch.randn(port["shape"]) * 5).to(getattr(torch, port["dtype"]))
    return torch.randint(0, 2, tuple(port["shape"])).to(getattr(torch, port["dtype"]))


def run_jit(file: Path, inputs: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    with torch.no_grad():
        outputs = torch.jit.load(str(file))(*inputs.values())
    return [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)


def run_onnx(file: Path, inputs: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]
    outputs = session.run(None, {name: value.numpy() for name, value in zip(names, inputs.values(), strict=True)})
    return [torch.as_tensor(output) for output in outputs]


PARTS: dict[str, Callable[[Bundle], Any]] = {
    "ports": Bundle.ports,
    "order": Bundle.order,
    "edges": Bundle.edges,
    "initial values": Bundle.initial,
    "back ends": Bundle.backends,
}


def differing_parts(peer: Bundle, ours: Bundle) -> dict[str, Any]:
    """Part -> (the peer's, ours)."""
    found: dict[str, Any] = {name: (part(peer), part(ours)) for name, part in PARTS.items() if part(peer) != part(ours)}
    if "ports" not in found:
        for seed in (1, 2):
            try:
                torch.testing.assert_close(ours.numbers(seed), peer.numbers(seed))
            except AssertionError as error:
                found["numbers"] = str(error)
    return found
