# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that are nodes, and their bundles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import torch
from harness import read_yaml
from leapp import annotate

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
jit = annotate.method(export_with="jit")


def ports(folder: Path, node: str) -> tuple[list[str], list[str]]:
    model = read_yaml(folder)["models"][node]
    return [port["name"] for port in model["inputs"]], [port["name"] for port in model["outputs"]]


def exported(folder: Path, node: str, *inputs: torch.Tensor) -> list[torch.Tensor]:
    found = torch.jit.load(str(folder / f"{node}.pt"))(*inputs)
    return [found] if isinstance(found, torch.Tensor) else list(found)


def trace_in(folder: Path) -> Callable[..., Any]:
    """Calls functions as one session; the result of the last, and the bundle's folder."""

    def run(*calls: Callable[[], Any]) -> tuple[Any, Path]:
        leapp.start("g", save_path=folder)
        results = [call() for call in calls]
        leapp.stop()
        assert all(leapp.compile_graph().values())
        return results[-1], folder / "g"

    return run


@jit
def plain_name(x):
    result = x * 2
    return result


@jit
def expression(x):
    return x * 2
