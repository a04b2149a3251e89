# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The same as in the leapp package."""

from leapp.axes import AxisKind, ExpressionFrame
from leapp.kinds import InputKindEnum, Kind, OutputKindEnum

__all__ = ["AxisKind", "ExpressionFrame", "InputKindEnum", "Kind", "OutputKindEnum"]
