# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a number that leaves the graph is only looked at by a branch of a library that raises.

torch.distributions looks at its arguments with ``if not valid.all(): raise ValueError``. Such a branch selects no
computation: leaving it out of the model changes nothing but who complains. So the bytecode of the library's function is
asked where the value goes. Branches of the user's own functions are never asked about.
"""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
from types import FrameType

import leapp
from leapp import _capture
from leapp.capture.fates import Fate, fate

__all__ = ["install", "is_only_checked"]

# The whole package: modules of every sub-package are LEAPP's own.
_OURS = os.path.join(os.path.dirname(os.path.abspath(leapp.__file__)), "")
# These do what the program asks of a number.
_ASKING = frozenset(os.path.join(_OURS, "capture", name) for name in ("followed_numbers.py", "row_lengths.py"))


def install() -> None:
    _capture.install_check_finder(is_only_checked)


def is_only_checked() -> bool:
    """Of the value that the innermost function is about to read from a tensor."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    while frame is not None:
        file = frame.f_code.co_filename
        ours = file.startswith(_OURS)  # the call of a module hands on what it gets
        if not ours and not _is_installed(file):
            return False
        found = Fate.RETURNED if ours else fate(frame.f_code, frame.f_lasti)
        if found is not Fate.RETURNED:
            return found is Fate.CHECKED
        frame = frame.f_back
    return False


def asks_for_length(loop: bool) -> bool:
    """Whether a length that is compared may decide: not if LEAPP compares it, nor where the other side raises."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in _ASKING:
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(_OURS):
        return False
    return loop or (fate(frame.f_code, frame.f_lasti) is not Fate.CHECKED and not is_only_checked())


@functools.cache
def _folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    found = {paths["stdlib"], paths["purelib"], paths["platlib"], *site.getsitepackages(), site.getusersitepackages()}
    for package in ("torch", "numpy"):
        file = getattr(sys.modules.get(package), "__file__", None)
        if file:
            found.add(os.path.dirname(os.path.abspath(file)))
    return tuple(os.path.join(folder, "") for folder in found)


@functools.cache
def _is_installed(file: str) -> bool:
    return file.startswith(_folders())
