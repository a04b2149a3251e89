# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The same as in the leapp package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leapp.axes import Axis
from leapp.kinds import InputKindEnum, OutputKindEnum
from leapp.semantics import TEMPORAL_AXIS as TEMPORAL_AXIS_SENTINEL
from leapp.semantics import GraphConfigs, TemporalAxis, TensorSemantics

if TYPE_CHECKING:
    TRACABLE_BASE_TYPES: tuple[type, ...]

__all__ = [
    "TEMPORAL_AXIS_SENTINEL",
    "TRACABLE_BASE_TYPES",
    "Axis",
    "GraphConfigs",
    "InputKindEnum",
    "OutputKindEnum",
    "TemporalAxis",
    "TensorSemantics",
]


def __getattr__(name: str) -> Any:
    if name != "TRACABLE_BASE_TYPES":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    import numpy as np
    import torch

    return torch.Tensor, np.ndarray
