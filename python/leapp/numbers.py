# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of numbers that users give."""

from __future__ import annotations

import math
from typing import Any

from leapp.errors import LeappError, LeappTypeError, LeappValueError

__all__ = ["check_positive"]


def check_positive(what: str, value: Any, unit: str, other_type: type[LeappError] = LeappTypeError) -> None:
    """Refuse all but finite numbers above zero; what is no number raises `other_type`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise other_type(f"{what} must be a number, found {type(value).__name__}")
    if not (value > 0 and math.isfinite(value)):
        raise LeappValueError(f"{what} must be > 0 {unit}, found {value}")
