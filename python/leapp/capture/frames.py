# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The user's functions that are running, and the attributes of objects."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from leapp import _capture


def user_frames() -> Iterator[FrameType]:
    """Innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _capture.is_users_code(frame.f_code):
            yield frame
        frame = frame.f_back


def members(owner: Any) -> dict[str, Any]:
    """The attributes of an object, without running any code of its class."""
    try:
        found = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}
