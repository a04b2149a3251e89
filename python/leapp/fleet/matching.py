# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Columns of an episode and ports of one or two bundles: which belongs to which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leapp.errors import LeappValueError
from leapp.fleet.columns import PortSeries, fit, names_for, plain_name, steps_of
from leapp.fleet.episodes import Contents, EpisodeError, Source, read_episode
from leapp.fleet.options import ReplayOptions
from leapp.runtime.ports import Port

__all__ = ["Matching", "Prepared"]


@dataclass
class Prepared:
    """An episode, ready to be stepped."""

    source: Source
    steps: int
    contents: Contents
    inputs: list[dict[str, PortSeries]]  # of each bundle
    recorded: dict[str, PortSeries]


class Matching:
    """What the ports of the bundles are in the data, and in each other."""

    def __init__(self, options: ReplayOptions, ports: Sequence[Mapping[str, Sequence[Port]]]) -> None:
        """``ports``: "inputs" and "outputs" of each bundle."""
        self._options = options
        self._ports = ports
        self._names_of = [names_for(one, options.columns) for one in ports]
        self._check_columns()
        # Of each output, the one of the other bundle that it is compared with.
        self.pairs = self._paired() if len(ports) == 2 else {}

    @property
    def outputs(self) -> Sequence[Port]:
        """Of the first bundle: what is compared."""
        return self._ports[0]["outputs"]

    def _check_columns(self) -> None:
        known = {port.name for ports in self._ports for of_role in ports.values() for port in of_role}
        for name, column in self._options.columns.items():
            if name not in known:
                raise LeappValueError(
                    f"--column {name}={column}: there is no port {name}, but {', '.join(sorted(known)) or 'none'}"
                )

    def _paired(self) -> dict[str, str]:
        theirs = {port.name: port for port in self._ports[1]["outputs"]}
        pairs = {}
        for port in self._ports[0]["outputs"]:
            other = theirs.get(port.name) or self._same_but_for_its_node(port)
            if other is None:
                raise LeappValueError(
                    f"the output {port.name} of {self._options.bundle_paths[0]} is not in "
                    f"{self._options.bundle_paths[1]}, which has {', '.join(theirs) or 'none'}"
                )
            if (other.dtype, list(other.shape)) != (port.dtype, list(port.shape)):
                raise LeappValueError(
                    f"{port.name} is {port.dtype}{list(port.shape)} in {self._options.bundle_paths[0]} and "
                    f"{other.name} is {other.dtype}{list(other.shape)} in {self._options.bundle_paths[1]}"
                )
            pairs[port.name] = other.name
        return pairs

    def _same_but_for_its_node(self, port: Port) -> Port | None:
        """The output of that name in the second bundle, if neither bundle has two."""
        plain = plain_name(port)
        found = [[one for one in ports["outputs"] if plain_name(one) == plain] for ports in self._ports]
        return found[1][0] if [len(ports) for ports in found] == [1, 1] else None

    @property
    def only_in_second(self) -> list[str]:
        """Outputs of the second bundle that are compared with nothing."""
        if len(self._ports) == 1:
            return []
        compared = set(self.pairs.values())
        return [port.name for port in self._ports[1]["outputs"] if port.name not in compared]

    def _names(self, bundle: int, role: str, port: Port) -> list[str]:
        return self._names_of[bundle][role, port.name]

    def wanted(self) -> list[str]:
        """Columns that are of interest."""
        names: dict[str, None] = {}
        for bundle, ports in enumerate(self._ports):
            for role, of_role in ports.items():
                for port in of_role if role == "inputs" or len(self._ports) == 1 else []:
                    names |= dict.fromkeys(self._names(bundle, role, port))
        return list(names)

    def prepare(self, source: Source) -> Prepared:
        """Read an episode and find its columns; an EpisodeError says what is wrong with it."""
        contents = read_episode(source, self.wanted(), self._options.order_column)
        if contents.steps == 0:
            raise EpisodeError("it has no steps")
        inputs = []
        for bundle, ports in enumerate(self._ports):
            found: dict[str, PortSeries] = {}
            for port in ports["inputs"]:
                series = self._find(bundle, "inputs", port, contents)
                if series is None:
                    self._complain(bundle, "inputs", port, contents)
                else:
                    found[port.name] = series
            inputs.append(found)
        recorded: dict[str, PortSeries] = {}
        for port in self._ports[0]["outputs"] if len(self._ports) == 1 else []:
            series = self._find(0, "outputs", port, contents)
            if series is not None:
                recorded[port.name] = series
            elif port.name in self._options.columns:
                self._complain(0, "outputs", port, contents)
        steps = contents.steps
        if steps is None:
            steps = steps_of({name: series for part in [*inputs, recorded] for name, series in part.items()})
        if steps == 0:
            raise EpisodeError("it has no steps")
        return Prepared(source, steps, contents, inputs, recorded)

    def _complain(self, bundle: int, role: str, port: Port, contents: Contents) -> None:
        names = self._names(bundle, role, port)
        of_which = f" of {self._options.bundle_paths[bundle]}" if len(self._ports) == 2 else ""
        raise EpisodeError(
            f"no column for the {role[:-1]} {port.name}{of_which}: expected {' or '.join(names)}, found "
            f"{', '.join(sorted(contents.names)) or 'none'}; --column {port.name}=NAME names it"
        )

    def _find(self, bundle: int, role: str, port: Port, contents: Contents) -> PortSeries | None:
        for name in self._names(bundle, role, port):
            if name in contents.columns:
                by_step = contents.steps is not None
                return fit(contents.columns[name], port, name, self._options.cast, by_step)
        return None
