# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Names of strangers, for terminals and pages."""

from __future__ import annotations

import html
import unicodedata

__all__ = ["escape", "printable"]

_JOINERS = "\u200c\u200d"  # letters' own


def _is_unseen(character: str) -> bool:
    """Controls, what turns lines round or is not seen, separators of lines, and halves of characters."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _JOINERS


def printable(text: str) -> str:
    """The text with unseen characters, and bytes of files' names that are not text, written as \\x1b: as the program
    ``leapp`` does, a terminal shows it and does nothing else.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(one) if _is_unseen(one) else one for one in text)


def _escaped(character: str) -> str:
    code = ord(character)
    raw = bytes([code - 0xDC00]) if 0xDC80 <= code <= 0xDCFF else character.encode("utf-8", "surrogatepass")
    return "".join(f"\\x{byte:02x}" for byte in raw)


def escape(text: str) -> str:
    """For text and attributes of HTML, made printable."""
    return html.escape(printable(text))
