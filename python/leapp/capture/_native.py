# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled half of capture. It needs torch; without it, every use says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leapp.errors import LeappImportError

__all__ = ["capture"]


class _Missing:
    """Stands in for the extension module where there is none that could be loaded."""

    def __init__(self, reason: LeappImportError) -> None:
        self._reason = reason

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise LeappImportError(str(self._reason)) from self._reason


if TYPE_CHECKING:
    from leapp import _capture as capture
else:
    try:
        from leapp import _capture as capture
    except LeappImportError as error:
        capture = _Missing(error)
