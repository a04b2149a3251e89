# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The logger ``leapp``, by the names that the leapp package has for it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NoReturn

__all__ = ["FATAL", "SECTION", "SYSTEM"]

SECTION = 25
SYSTEM = 31
FATAL = 41


if TYPE_CHECKING:
    _Adapter = logging.LoggerAdapter[logging.Logger]
else:
    _Adapter = logging.LoggerAdapter  # takes no parameter before Python 3.11


class _Logger(_Adapter):
    """The logger, with the further levels."""

    def section(self, msg: str) -> None:
        self.log(SECTION, msg)

    def system(self, msg: str) -> None:
        self.log(SYSTEM, msg)

    def fatal(
        self, msg: object, error_type: type[Exception] = RuntimeError, *, cause: BaseException | None = None
    ) -> NoReturn:
        """Log the message and raise it."""
        self.log(FATAL, msg)
        raise error_type(msg) from cause


def _get_logger() -> _Logger:
    return _Logger(logging.getLogger("leapp"), {})
