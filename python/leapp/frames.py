# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The user's functions that are running, their variables, and the attributes of objects."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

_NOT_THE_USERS = ("leapp", "torch")


def user_frames() -> Iterator[FrameType]:
    """Innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _NOT_THE_USERS:
            yield frame
        frame = frame.f_back


def variables(frame: FrameType) -> dict[str, Any]:
    """A copy that leaves nothing behind in the frame.

    Before Python 3.13 a frame keeps the dict it hands out, and with it every tensor that is in a variable now.
    """
    names = frame.f_locals
    found = dict(names)
    # Ours and the frame's: with one more, the program has asked for its locals() and keeps them.
    nobody_elses = sys.getrefcount(names) <= 3
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED and isinstance(names, dict) and nobody_elses:
        names.clear()
    return found


def members(owner: Any) -> dict[str, Any]:
    """The attributes of an object, without running any code of its class."""
    try:
        found = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}
