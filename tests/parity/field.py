# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs of the field_*.py files share."""

from __future__ import annotations

import torch
from leapp import annotate
from torch import nn

N = "policy"


def net(inputs=4, outputs=2):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(inputs, 8), nn.ELU(), nn.Linear(8, outputs))


def one_call(function, *shapes, node=N, export_with="jit"):
    """A node of one call, with random inputs of these shapes."""
    given = {f"x{i}": torch.randn(*shape) for i, shape in enumerate(shapes)}
    values = annotate.input_tensors(node, given)
    values = values if isinstance(values, tuple) else (values,)
    annotate.output_tensors(node, {"action": function(*values)}, export_with=export_with)


def loop(step, calls=3):
    for _ in range(calls):
        step()
