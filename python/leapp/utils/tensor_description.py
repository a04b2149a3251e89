# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The same as in the leapp package."""

from leapp.kinds import InputKindEnum, OutputKindEnum
from leapp.semantics import GraphConfigs, TemporalAxis, TensorSemantics

__all__ = ["GraphConfigs", "InputKindEnum", "OutputKindEnum", "TemporalAxis", "TensorSemantics"]
