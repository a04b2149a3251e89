# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Small pipelines, and what compile_graph made of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import torch
from harness import read_yaml
from leapp import annotate
from torch import Tensor


def node(name: str, fn: Callable[..., Any], **inputs: Tensor) -> Any:
    """One node with inputs by name; `fn` returns a dict of outputs."""
    values = annotate.input_tensors(name, inputs)
    return annotate.output_tensors(name, fn(*(values if isinstance(values, tuple) else (values,))), export_with="jit")


def finish(folder: Path) -> dict[str, Any]:
    leapp.stop()
    assert all(leapp.compile_graph().values())
    return read_yaml(folder)


def load(folder: Path, name: str) -> torch.jit.ScriptModule:
    return torch.jit.load(str(folder / f"{name}.pt"))


def three_nodes() -> Tensor:
    features = node("pre", lambda obs: {"features": (obs - 1) / 2}, obs=torch.ones(1, 4))
    raw = node("policy", lambda x: {"raw": torch.tanh(x[:, :2])}, features=features)
    return node("post", lambda x: {"action": x * 3}, raw=raw)
