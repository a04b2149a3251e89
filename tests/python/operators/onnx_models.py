# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Exported ONNX models: checked by the onnx package, run by ONNX Runtime as anybody would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import leapp
import numpy as np
import onnx
import onnxruntime
import torch
from harness import as_ports, cloned, read_yaml, seed_all, snapshot
from leapp import annotate

QUIET_BUT_FOR_ERRORS = 3
WARNINGS_ARE_ERRORS = 2


def session_options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = QUIET_BUT_FOR_ERRORS
    return options


def check(model: bytes) -> None:
    """The checker with full, strict shape inference: raises on the first thing that is not as ONNX wants it."""
    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes(onnx.load_from_string(model), strict_mode=True)


def to_ort(tensor: torch.Tensor) -> onnxruntime.OrtValue:
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:  # NumPy has none
        bits = tensor.view(torch.uint16).numpy()
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, onnx.TensorProto.BFLOAT16)
    return onnxruntime.OrtValue.ortvalue_from_numpy(tensor.numpy())


def from_ort(value: onnxruntime.OrtValue) -> torch.Tensor:
    if value.data_type() == "tensor(bfloat16)":
        return torch.from_dlpack(value._ortvalue.to_dlpack()).clone()
    return torch.from_numpy(np.array(value.numpy()))


@dataclass
class OnnxExported:
    """One node of a bundle, exported with onnx."""

    path: Path
    inputs: list[int]  # which of the announced inputs the model kept
    eager: list[torch.Tensor]  # what the program computed under capture
    yaml: dict[str, Any]
    session: onnxruntime.InferenceSession = field(init=False)
    bytes: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.bytes = self.path.read_bytes()
        check(self.bytes)
        self.session = onnxruntime.InferenceSession(self.bytes, session_options(), providers=["CPUExecutionProvider"])

    @property
    def model(self) -> onnx.ModelProto:
        return onnx.load_from_string(self.bytes)

    def own(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        """On LEAPP's own engine. NotImplementedError: it does not cover the model."""
        manager = leapp.InferenceManager(self.path.parent, engine="native")
        names = [port.name for port in self.session.get_inputs()]
        given = {f"node/{name}": inputs[i] for name, i in zip(names, self.inputs, strict=True)}
        results = manager(given)
        return [results[f"node/{port.name}"] for port in self.session.get_outputs()]

    def __call__(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        names = [port.name for port in self.session.get_inputs()]
        feeds = {name: to_ort(inputs[i]) for name, i in zip(names, self.inputs, strict=True)}
        return [from_ort(value) for value in self.session.run_with_ort_values(None, feeds)]


def export(
    fn: Callable[..., Any],
    inputs: Sequence[torch.Tensor],
    save_path: Path,
    leaks: str = "promote",
    **backend_params: int,
) -> OnnxExported:
    """Runs `fn` as the only node of a session and exports it natively with onnx. Raises what leapp raises."""
    refused = leapp.LeappNotImplementedError("not wanted here")
    with mock.patch("leapp.exporters.pytorch.export_model", side_effect=refused):
        return export_somehow(fn, inputs, save_path, leaks, **backend_params)


def export_somehow(
    fn: Callable[..., Any],
    inputs: Sequence[torch.Tensor],
    save_path: Path,
    leaks: str = "promote",
    **backend_params: int,
) -> OnnxExported:
    """The same, where PyTorch's exporter may step in as it does for users."""
    seed_all(42)
    leapp.start("graph", save_path=str(save_path), max_cached_io=0, leaks=leaks)
    announced = annotate.input_tensors("node", {f"x{i}": t for i, t in enumerate(cloned(inputs))})
    results = as_ports(fn(*(announced if isinstance(announced, tuple) else (announced,))))
    outputs = {f"y{i}": t for i, t in enumerate(results)}
    annotate.output_tensors("node", outputs, export_with="onnx", backend_params=backend_params or None)
    eager = snapshot(results)
    leapp.stop()
    leapp.compile_graph(visualize=False, strict=False, validate=False)
    folder = save_path / "graph"
    bundle = read_yaml(folder)
    kept = [int(port["name"].removeprefix("x")) for port in bundle["models"]["node"]["inputs"]]
    return OnnxExported(folder / "node.onnx", kept, eager, bundle)
