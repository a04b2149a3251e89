# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What a running pipeline holds, to be looked at and set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

from leapp._runtime import Manager
from leapp.errors import LeappKeyError

__all__ = ["OUTPUTS", "NodeValues", "Values"]

OUTPUTS = "==out=="  # where the pipeline's outputs stand among the nodes


class NodeValues(MutableMapping[str, Any]):
    """The inputs of one node by name. Reading makes a copy; setting is ``set_input_value``."""

    def __init__(
        self, names: Callable[[], list[str]], read: Callable[[str], Any], write: Callable[[str, Any], None]
    ) -> None:
        """Keep what gives the names, in order, and what is done with them."""
        self._names = names
        self._read = read
        self._write = write

    def __getitem__(self, name: str) -> Any:
        """A copy of what the port holds."""
        return self._read(name)

    def __setitem__(self, name: str, value: Any) -> None:
        """Set the port, as ``set_input_value`` does."""
        self._write(name, value)

    def __delitem__(self, name: str) -> None:
        """Refuse: ports are not removed."""
        raise LeappKeyError(f"{name!r} is a port of the pipeline and cannot be removed")

    def __iter__(self) -> Iterator[str]:
        """Go through the names that can be read."""
        return iter(self._names())

    def __len__(self) -> int:
        """Count them."""
        return len(self._names())

    def __repr__(self) -> str:
        """Show them as a dict."""
        return repr(dict(self))


class Values(Mapping[str, NodeValues]):
    """Node → its inputs, and under "==out==" the outputs of the last step by "node/port"."""

    def __init__(self, manager: Manager) -> None:
        """Look into `manager` whenever asked."""
        self._manager = manager
        self._inputs = {name: [port["name"] for port in inputs] for name, _, _, inputs, _ in manager.nodes}

    def __getitem__(self, node: str) -> NodeValues:
        """The values of a node, or the outputs."""
        manager = self._manager
        if node == OUTPUTS:
            return NodeValues(lambda: manager.outputs, manager.output_value, _refuse)
        if node not in self._inputs:
            raise LeappKeyError(f"there is no node {node!r}; there are {', '.join(self)}")
        return NodeValues(
            lambda: [name for name in self._inputs[node] if self._is_there(f"{node}/{name}")],
            lambda name: manager.input_value(f"{node}/{name}"),
            lambda name, value: manager.set_input_value(node, name, value),
        )

    def __iter__(self) -> Iterator[str]:
        """Go through the nodes, then the outputs."""
        return iter([*self._inputs, OUTPUTS])

    def __len__(self) -> int:
        """Count nodes and the outputs."""
        return len(self._inputs) + 1

    def __repr__(self) -> str:
        """Show them as a dict."""
        return repr(dict(self))

    def _is_there(self, key: str) -> bool:
        """False: the port is inside of a model that several nodes were made to."""
        try:
            self._manager.input_value(key)
        except LeappKeyError:
            return False
        return True


def _refuse(name: str, value: Any) -> None:
    raise LeappKeyError(f"{name!r} is an output of the pipeline: a step sets it")
