# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Scripted functions and methods that are called in a node: their branches and loops go into the model."""

from __future__ import annotations

from typing import Any

import torch

from leapp import _capture
from leapp.capture.patches import replace

__all__ = ["install"]


def install() -> None:
    """Until patches are removed."""
    for owner in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        replace(owner, "__call__", _recorded(owner.__call__))


def _recorded(original: Any) -> Any:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _capture.in_node():
            result = _capture.call_scripted(self, args, kwargs)
            if result is not None:
                return result[0]
        return original(self, *args, **kwargs)

    return call
