# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""One node of a bundle that is loaded: what it is made of, and itself to call."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from leapp._runtime import Manager
from leapp.errors import LeappTypeError

__all__ = ["Node"]


class Node:
    """What the bundle says of one node. Descriptions are the ports' YAML: name, dtype, shape, kind, element names.

    Calling it runs its model alone, with its inputs in order; the pipeline it belongs to does not notice.

    >>> node = manager.nodes["policy"]
    >>> node.input_names, node.input_shapes
    (['obs', 'h'], [[1, 48], [1, 32]])
    >>> action, h = node(torch.zeros(1, 48), torch.zeros(1, 32))
    """

    device = "cpu"  # where arrays come from and go to; a model may compute elsewhere

    def __init__(
        self,
        name: str,
        backend: str,
        model_path: str,
        input_descriptions: list[dict[str, Any]],
        output_descriptions: list[dict[str, Any]],
        pipeline: Manager,
        alone: Callable[[str], Manager],
    ) -> None:
        """Keep what the bundle says. `alone` loads the node by itself."""
        self.name = name
        self.backend = backend
        self.model_path = model_path
        self.input_descriptions = input_descriptions
        self.output_descriptions = output_descriptions
        self._pipeline = pipeline
        self._alone = alone
        self._manager: Manager | None = None
        self._model: Any = None

    @property
    def input_names(self) -> list[str]:
        """The inputs' names, in the model's order."""
        return [port["name"] for port in self.input_descriptions]

    @property
    def input_shapes(self) -> list[list[int]]:
        """The inputs' shapes, in the model's order."""
        return [port["shape"] for port in self.input_descriptions]

    @property
    def input_dtypes(self) -> list[str]:
        """The inputs' dtypes by name, in the model's order."""
        return [port["dtype"] for port in self.input_descriptions]

    @property
    def output_names(self) -> list[str]:
        """The outputs' names, in the model's order."""
        return [port["name"] for port in self.output_descriptions]

    @property
    def output_shapes(self) -> list[list[int]]:
        """The outputs' shapes, in the model's order."""
        return [port["shape"] for port in self.output_descriptions]

    @property
    def output_dtypes(self) -> list[str]:
        """The outputs' dtypes by name, in the model's order."""
        return [port["dtype"] for port in self.output_descriptions]

    @property
    def mock_input(self) -> dict[str, Any]:
        """Zeros for every input."""
        return self._pipeline.zeros(self.name, True)

    @property
    def mock_output(self) -> dict[str, Any]:
        """Zeros for every output."""
        return self._pipeline.zeros(self.name, False)

    @property
    def model(self) -> Any:
        """The model as its own library loads it: a ScriptModule, an ``onnxruntime.InferenceSession``, a module."""
        if self._model is None:
            self._model = _LOADERS[self.backend](self.model_path)
        return self._model

    def __call__(self, *inputs: Any) -> Any:
        """Run the model once. Gives back its output, or a tuple when there are several."""
        names = self.input_names
        if len(inputs) != len(names):
            raise LeappTypeError(f"node '{self.name}': expected {len(names)} inputs, found {len(inputs)}")
        if self._manager is None:
            self._manager = self._alone(self.name)
        keys = [f"{self.name}/{name}" for name in names]
        outputs = tuple(self._manager.run(dict(zip(keys, inputs, strict=True))).values())
        return outputs[0] if len(outputs) == 1 else outputs

    def __repr__(self) -> str:
        """Name it and its ports."""
        return f"<Node {self.name} ({self.backend}): {', '.join(self.input_names)} -> {', '.join(self.output_names)}>"


def _load_jit(path: str) -> Any:
    import torch

    return torch.jit.load(path)


def _load_pt2(path: str) -> Any:
    import torch

    return torch.export.load(path).module()


def _load_onnx(path: str) -> Any:
    session = importlib.import_module("onnxruntime").InferenceSession
    return session(path, providers=["CPUExecutionProvider"])


_LOADERS = {"jit": _load_jit, "pt2": _load_pt2, "onnx": _load_onnx}
