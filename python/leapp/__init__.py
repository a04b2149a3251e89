# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""LEAPP: watch a PyTorch pipeline run, export each stage, and get a folder a robot can run.

>>> import leapp, torch
>>> from leapp import annotate
>>> leapp.start("walk")
>>> obs = annotate.input_tensors("policy", {"obs": torch.zeros(1, 48)})
>>> action = torch.tanh(obs[:, :12])
>>> action = annotate.output_tensors("policy", {"action": action}, export_with="jit")
>>> leapp.stop()
>>> leapp.compile_graph()
{'policy': <NodeResult policy: passed>}
"""

from leapp import annotate
from leapp.errors import (
    LeappError,
    LeappKeyError,
    LeappNotImplementedError,
    LeappOSError,
    LeappRuntimeError,
    LeappTypeError,
    LeappValueError,
    ValidationError,
)
from leapp.lifecycle import NodeResult, compile_graph, start, stop

__all__ = [
    "LeappError",
    "LeappKeyError",
    "LeappNotImplementedError",
    "LeappOSError",
    "LeappRuntimeError",
    "LeappTypeError",
    "LeappValueError",
    "NodeResult",
    "ValidationError",
    "annotate",
    "compile_graph",
    "start",
    "stop",
]
