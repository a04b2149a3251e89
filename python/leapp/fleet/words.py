# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Names of strangers, for terminals and pages."""

from __future__ import annotations

import html

from leapp import _runtime

__all__ = ["escape", "printable"]


def printable(text: str) -> str:
    """The text with unseen characters, and bytes of files' names that are not text, written as \\x1b: as the program
    ``leapp`` does, a terminal shows it and does nothing else.
    """
    if text.isascii() and text.isprintable():
        return text
    return _runtime.printable(b"".join(map(_encoded, text)))


def _encoded(character: str) -> bytes:
    """Halves of characters too, of which some stand for bytes of a file's name."""
    stands_for_a_byte = "\udc80" <= character <= "\udcff"
    return character.encode("utf-8", "surrogateescape" if stands_for_a_byte else "surrogatepass")


def escape(text: str) -> str:
    """For text and attributes of HTML, made printable."""
    return html.escape(printable(text))
