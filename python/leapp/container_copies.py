# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Copies of the caller's lists and dicts, with live tensors in them, for an annotated function to work on."""

from __future__ import annotations

from typing import Any

__all__ = ["ContainerCopies"]


class ContainerCopies:
    """Repeats on the caller's containers what a function did to its copies of them."""

    def __init__(self) -> None:
        self._containers: list[tuple[Any, Any, list[Any]]] = []  # the caller's, its copy, what was in the copy
        self._owned: dict[int, Any] = {}  # by the id of a copy: what the caller has in its place
        self._kept: list[Any] = []  # keeps the ids from being reused

    def add(self, owned: Any, copy: Any) -> None:
        """`copy` has the structure of `owned`."""
        if copy is owned:
            return
        self._owned[id(copy)] = owned
        self._kept.append(copy)
        if isinstance(owned, dict):
            for key, value in owned.items():
                self.add(value, copy[key])
        elif isinstance(owned, (list, tuple)):
            for value, copied in zip(owned, copy, strict=True):
                self.add(value, copied)
        if isinstance(owned, (list, dict)):
            self._containers.append((owned, copy, _content(copy)))

    def write_back(self) -> None:
        """Repeats on the caller's containers what was changed in the copies."""
        for owned, copy, before in self._containers:
            after = _content(copy)
            if len(after) == len(before) and all(a is b for a, b in zip(after, before, strict=True)):
                continue
            if isinstance(owned, list):
                owned[:] = [self._of_caller(value) for value in copy]
            else:
                content = {key: self._of_caller(value) for key, value in copy.items()}
                owned.clear()
                owned.update(content)

    def _of_caller(self, value: Any) -> Any:
        return self._owned.get(id(value), value)


def _content(container: Any) -> list[Any]:
    return [*container.keys(), *container.values()] if isinstance(container, dict) else list(container)
