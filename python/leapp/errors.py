# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions. Each derives from LeappError and from the built-in one would expect."""


class LeappError(Exception):
    """Anything LEAPP raises."""


class LeappValueError(LeappError, ValueError):
    """A name, shape or option that cannot be right."""


class LeappTypeError(LeappError, TypeError):
    """A value of a type that is not accepted there."""


class LeappRuntimeError(LeappError, RuntimeError):
    """A call that came at the wrong time."""


class LeappKeyError(LeappError, KeyError):
    """A name that nothing answers to."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class LeappOSError(LeappError, OSError):
    """The file system said no."""


class LeappFileNotFoundError(LeappOSError, FileNotFoundError):
    """There is no such file."""


class LeappNotImplementedError(LeappError, NotImplementedError, ValueError):
    """Legal, but not supported here."""


class LeappMemoryError(LeappError, MemoryError):
    """There is not enough memory."""


class LeappTimeoutError(LeappError, TimeoutError):
    """It took longer than it may."""


class ValidationError(LeappRuntimeError):
    """An exported model does not do what the captured program did."""


class LeappImportError(LeappError, ImportError):
    """A part of LEAPP that needs a package which is not there."""
