# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The networks of the zoo: for each library a table of names and what makes one: small sizes, random weights."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import stand_ins
import torch
from torch import Tensor

Inputs = dict[str, Tensor]

LIBRARIES = {
    "hand-written": "by_hand",
    "memories": "by_hand_memory",
    "torchvision": "from_torchvision",
    "timm": "from_timm",
    "transformers": "from_transformers",
    "diffusers": "from_diffusers",
    "lerobot": "from_lerobot",
}


@dataclass(frozen=True)
class Case:
    """A network, and how a step of it is fed. What it returns: tensors, nested at will."""

    network: Callable[..., Any]
    inputs: Callable[[torch.Generator], Inputs]
    before: int = 0  # steps before capture begins: what the program only does at the beginning of an episode
    passes: int = 4  # that are captured
    steps: int = 5  # that the model is compared in


Maker = Callable[[], Case]


def images(*shape: int, name: str = "image") -> Callable[[torch.Generator], Inputs]:
    return lambda generator: {name: torch.rand(*shape, generator=generator)}


def numbers(**shapes: tuple[int, ...]) -> Callable[[torch.Generator], Inputs]:
    return lambda generator: {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}


def tokens(count: int, *shape: int, name: str = "input_ids") -> Callable[[torch.Generator], Inputs]:
    return lambda generator: {name: torch.randint(0, count, shape, generator=generator)}


def together(*parts: Callable[[torch.Generator], Inputs]) -> Callable[[torch.Generator], Inputs]:
    def inputs(generator: torch.Generator) -> Inputs:
        return {name: tensor for part in parts for name, tensor in part(generator).items()}

    return inputs


class Chosen(torch.nn.Module):
    """A network whose result is an object, and the fields of it that are wanted."""

    def __init__(self, network: torch.nn.Module, *fields: str, **constants: Any) -> None:
        super().__init__()
        self.network, self.fields, self.constants = network.eval(), fields, constants

    def forward(self, **inputs: Tensor) -> list[Any]:
        result = self.network(**inputs, **self.constants)
        return [getattr(result, field) for field in self.fields]


def table(library: str) -> Mapping[str, Maker]:
    stand_ins.open_libraries()
    networks: Mapping[str, Maker] = importlib.import_module(LIBRARIES[library]).NETWORKS
    return networks


def library_of(name: str) -> str:
    return name.split("/", 1)[0]


def make(name: str) -> Case:
    """`library/network`, with weights that are the same each time."""
    library, network = name.split("/", 1)
    torch.manual_seed(0)
    case = table(library)[network]()
    if isinstance(case.network, torch.nn.Module):
        case.network.eval()
    return case
