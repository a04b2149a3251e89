# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The user's functions that are running, their variables, and the attributes of objects."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any


@functools.cache
def _is_the_users(module: str) -> bool:
    return module.partition(".")[0] not in ("leapp", "torch")


def user_frames() -> Iterator[FrameType]:
    """Innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_the_users(frame.f_globals.get("__name__", "")):
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
