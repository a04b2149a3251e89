# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Telling live tensors from others."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from leapp.capture._native import capture
from leapp.errors import LeappTypeError

__all__ = ["TracedTensor"]


class _Liveness(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        torch = sys.modules.get("torch")
        return torch is not None and isinstance(instance, torch.Tensor) and capture.is_live(instance)


class TracedTensor(metaclass=_Liveness):
    """What a live tensor is an instance of: one whose value depends on the inputs or the state of an open node.

    Live tensors are ordinary ``torch.Tensor`` objects; this class only answers ``isinstance``.

    >>> isinstance(annotate.input_tensors("policy", {"obs": obs}), leapp.TracedTensor)
    True
    """

    def __new__(cls) -> NoReturn:
        raise LeappTypeError("TracedTensor cannot be made; tensors that input_tensors returns are live")
