# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The user's functions that are running, and the attributes of objects."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any


@functools.cache
def _is_the_users(module: str) -> bool:
    return module.partition(".")[0] not in ("leapp", "torch")


def user_frame() -> FrameType | None:
    """The innermost."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_the_users(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return frame


def user_frames() -> Iterator[FrameType]:
    """Innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_the_users(frame.f_globals.get("__name__", "")):
            yield frame
        frame = frame.f_back


def members(owner: Any) -> dict[str, Any]:
    """The attributes of an object, without running any code of its class."""
    try:
        found = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}
