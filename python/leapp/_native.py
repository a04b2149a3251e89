# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled half of capture. It needs torch; without it, every use says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leapp.errors import LeappImportError

__all__ = ["capture"]


class _Missing:
    """Stands in for the extension module where torch cannot be imported."""

    def __init__(self, reason: ImportError) -> None:
        self._reason = reason

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise LeappImportError(
            f"capturing and exporting need torch, which cannot be imported ({self._reason}); "
            "install it with pip install 'leapp-cpp[capture]'"
        ) from self._reason


if TYPE_CHECKING:
    from leapp import _capture as capture
else:
    try:
        import torch  # noqa: F401  (loads the libraries the extension is linked to)

        from leapp import _capture as capture
    except ImportError as error:
        capture = _Missing(error)
