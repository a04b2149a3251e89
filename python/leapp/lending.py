# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Lists and dicts that a function gets in the place of the caller's, with live tensors in them."""

from __future__ import annotations

from typing import Any

__all__ = ["Lending"]


class Lending:
    """Carries what a function does to the containers it was lent over to the caller's own."""

    def __init__(self) -> None:
        self._lent: list[tuple[Any, Any, list[Any]]] = []  # the caller's, the one lent, what was in it
        self._owned: dict[int, Any] = {}  # by the id of what was lent: what the caller has in its place
        self._kept: list[Any] = []  # keeps the ids from being reused

    def lend(self, owned: Any, lent: Any) -> None:
        """`lent` has the structure of `owned`."""
        if lent is owned:
            return
        self._owned[id(lent)] = owned
        self._kept.append(lent)
        if isinstance(owned, dict):
            for key, value in owned.items():
                self.lend(value, lent[key])
        elif isinstance(owned, (list, tuple)):
            for value, copy in zip(owned, lent, strict=True):
                self.lend(value, copy)
        if isinstance(owned, (list, dict)):
            self._lent.append((owned, lent, _content(lent)))

    def give_back(self) -> None:
        """Repeats on the caller's containers what was changed in those that were lent."""
        for owned, lent, before in self._lent:
            after = _content(lent)
            if len(after) == len(before) and all(a is b for a, b in zip(after, before, strict=True)):
                continue
            if isinstance(owned, list):
                owned[:] = [self._of_caller(value) for value in lent]
            else:
                content = {key: self._of_caller(value) for key, value in lent.items()}
                owned.clear()
                owned.update(content)

    def _of_caller(self, value: Any) -> Any:
        return self._owned.get(id(value), value)


def _content(container: Any) -> list[Any]:
    return [*container.keys(), *container.values()] if isinstance(container, dict) else list(container)
