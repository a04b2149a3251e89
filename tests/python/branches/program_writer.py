# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What generators of random programs have in common: a class `Program` as text, and as a class with source lines."""

from __future__ import annotations

import linecache
import random
from collections import deque
from typing import Any

import torch

__all__ = ["ProgramWriter", "compiled"]


class ProgramWriter:
    """Lines of `__call__` (`line`) and of `__init__` (`begin`). `way` of a program: the answers of its last call."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.begin: list[str] = []
        self.branches = 0

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth + 2) + text)

    def text(self) -> str:
        return "\n".join(
            [
                "class Program:",
                "    def __init__(self):",
                "        self.way = []",
                *(f"        {line}" for line in self.begin),
                "    def __call__(self, x):",
                "        self.way.clear()",
                *self.lines,
                "",
            ]
        )


def compiled(source: str, name: str, seed: int) -> tuple[Any, str]:
    """The class, and its source, which messages can quote."""
    file = f"<{name} {seed}>"
    namespace: dict[str, Any] = {"torch": torch, "deque": deque, "__name__": name}
    exec(compile(source, file, "exec"), namespace)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    return namespace["Program"], source
