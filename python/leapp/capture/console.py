# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What a person sees: ``logging.getLogger("leapp")``, and the ``sys.stderr`` of the moment.

Every line of a session's log is a record of the logger ``leapp``, with the user's file and line. One handler, on that
logger, shows what the session shows (warnings, errors, the last line; everything with ``verbose``) as
``leapp: warning: ...``. It keeps quiet where a handler of the program's own writes the same record to the console.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import sys
from typing import IO, Any

from leapp import _capture
from leapp.capture.frames import user_frames

__all__ = ["install", "logger"]

logger = logging.getLogger("leapp")

_COLOURS = {logging.DEBUG: "36", logging.INFO: "32", logging.WARNING: "33;1", logging.ERROR: "31;1"}


class ConsoleHandler(logging.Handler):
    """Writes to what ``sys.stderr`` is when a record comes."""

    def emit(self, record: logging.LogRecord) -> None:
        shown = getattr(record, "leapp_shown", record.levelno >= logging.WARNING)
        if shown and not _shown_by_others(record):
            write(record)


_handler = ConsoleHandler()


def install() -> None:
    """Lines of the log come here from now on, until Python ends."""
    if _handler not in logger.handlers:
        logger.addHandler(_handler)
    _capture.install_console(show)
    atexit.register(_capture.install_console, None)


def show(level: int, text: str, coloured: str, shown: bool, bare: bool, file: str, line: int) -> None:
    """One line, or block of lines, of the log. `bare`: without its level."""
    if not file:
        file, line = _users_line()
    extra = {"leapp_shown": shown, "leapp_bare": bare, "leapp_coloured": coloured}
    record = logger.makeRecord(logger.name, level, file, line, text, (), None, extra=extra)
    if logger.isEnabledFor(level):
        _handle(record)
    elif shown and level < logging.WARNING and _is_default(level):
        _handler.handle(record)


def _is_default(level: int) -> bool:
    """Whether nobody but Python's default, which hides information, is against it."""
    silenced = logger.disabled or logger.level != logging.NOTSET or logger.manager.disable >= level
    return _handler in logger.handlers and not silenced


def _handle(record: logging.LogRecord) -> None:
    try:
        logger.handle(record)
    except Exception:  # of a handler of the program's: no reason to lose the line, or to break capture
        if getattr(record, "leapp_shown", True) and _shown_by_others(record):
            write(record)


def _users_line() -> tuple[str, int]:
    frame = next(user_frames(), None)
    return ("<leapp>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def _shown_by_others(record: logging.LogRecord) -> bool:
    """Whether a handler that the program has installed (``logging.basicConfig``) puts it on the console."""
    place: logging.Logger | None = logging.getLogger(record.name)
    while place is not None:
        for handler in place.handlers:
            if handler is not _handler and record.levelno >= handler.level and _is_console(handler):
                return logger.isEnabledFor(record.levelno)
        place = place.parent if place.propagate else None
    return False


def _is_console(handler: logging.Handler) -> bool:
    stream: Any = getattr(handler, "stream", None)
    if stream is None:
        stream = getattr(getattr(handler, "console", None), "file", None)  # rich
    return stream is not None and any(
        stream is console for console in (sys.stderr, sys.stdout, sys.__stderr__, sys.__stdout__)
    )


def write(record: logging.LogRecord) -> None:
    """To ``sys.stderr``, whatever that is; should it fail, to where Python's own would go."""
    stream = sys.stderr
    if stream is None:
        return  # a program without a console
    try:
        _put(stream, text_of(record, _has_colours(stream)))
    except Exception:  # of the user's stream
        plain = text_of(record, False)
        original = sys.__stderr__
        try:
            if original is None or original is stream:
                raise ValueError("no other stream")
            _put(original, plain)
        except Exception:
            with contextlib.suppress(OSError):
                os.write(2, plain.encode(errors="backslashreplace"))


def _put(stream: IO[str], text: str) -> None:
    try:
        stream.write(text)  # in one piece: other threads write too
    except UnicodeEncodeError:
        encoding = getattr(stream, "encoding", None) or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    flush = getattr(stream, "flush", None)
    if flush is not None:
        flush()


def text_of(record: logging.LogRecord, coloured: bool) -> str:
    text = record.getMessage()
    if coloured:
        text = getattr(record, "leapp_coloured", "") or text
    if getattr(record, "leapp_bare", False):
        return f"leapp: {text}\n"
    level = record.levelname.lower()
    if coloured:
        level = f"\x1b[{_COLOURS.get(record.levelno, '0')}m{level}\x1b[m"
    return f"leapp: {level}: {text}\n"


def _has_colours(stream: IO[str]) -> bool:
    if "NO_COLOR" in os.environ or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return bool(getattr(stream, "isatty", lambda: False)())
