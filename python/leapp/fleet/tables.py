# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What all episodes come to, as tables."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import Any

from leapp.fleet.parquet import arrow
from leapp.fleet.statistics import EDGES, quantile

__all__ = ["Rows", "Summary", "episode_rows", "port_rows", "table_of", "worst_rows"]

Summary = dict[str, Any]
Rows = list[Summary]


def episode_rows(episodes: Rows) -> Rows:
    """Each output of each episode."""
    rows = []
    for episode in episodes:
        for port in episode["ports"]:
            worst = port["worst"][0] if port["worst"] else {}
            row = {"episode": episode["episode"], "steps": episode["steps"], "note": episode["note"]}
            row |= {key: value for key, value in port.items() if key not in ("worst", "counts")}
            row |= {"worst_step": worst.get("step"), "worst_place": worst.get("place")}
            rows.append(row)
    return rows


def port_rows(episodes: Rows) -> Rows:
    """Each output over all episodes."""
    rows: dict[str, Summary] = {}
    for episode in episodes:
        for port in episode["ports"]:
            row = rows.setdefault(port["port"], _empty_port(port["port"]))
            _add_port(row, port, episode)
    for row in rows.values():
        compared, total, squares = row["compared"], row.pop("_sum"), row.pop("_squares")
        if compared:
            row["mean_difference"], row["rms_difference"] = total / compared, math.sqrt(squares / compared)
        if not any(row["counts"]):
            row |= {"steps_outside": None, "episodes_outside": None}
        else:
            for name, part in (("p50", 0.5), ("p99", 0.99)):
                row[name] = min(quantile(row["counts"], part), row["largest_difference"])
    return list(rows.values())


def _places(episodes: Rows, most: int | None) -> Iterator[Summary]:
    for episode in episodes:
        for port in episode["ports"]:
            for worst in port["worst"][:most]:
                if worst["difference"] > 0:
                    yield {"episode": episode["episode"], "port": port["port"], **worst}


def worst_rows(episodes: Rows, count: int, of_each: int | None = None) -> Rows:
    """Steps that differ, the worst first; equal ones in the order of episodes and steps. ``of_each``: so many of each
    output of an episode at most.
    """
    return heapq.nlargest(count, _places(episodes, of_each), key=lambda row: row["difference"])


def _empty_port(name: str) -> Summary:
    row: Summary = {"port": name, "episodes": 0, "steps": 0, "compared": 0, "steps_outside": 0, "episodes_outside": 0}
    row |= dict.fromkeys(("least", "most", "largest_difference", "mean_difference", "rms_difference", "p50", "p99"))
    return row | {"not_finite": 0, "counts": [0] * len(EDGES), "_sum": 0.0, "_squares": 0.0}


def _add_port(row: Summary, port: Summary, episode: Summary) -> None:
    row["episodes"] += 1
    row["steps"] += episode["steps"]
    for key, choose in (("least", min), ("most", max), ("largest_difference", max)):
        if port[key] is not None:
            row[key] = port[key] if row[key] is None else choose(row[key], port[key])
    row["not_finite"] += port["not_finite"]
    row["compared"] += port["compared"]
    row["steps_outside"] += port["steps_outside"] or 0
    row["episodes_outside"] += 1 if port["steps_outside"] else 0
    if port["compared"]:
        row["_sum"] += port["mean_difference"] * port["compared"]
        row["_squares"] += port["rms_difference"] ** 2 * port["compared"]
    for i, count in enumerate(port["counts"]):
        row["counts"][i] += count


def table_of(name: str, rows: Rows) -> Any:
    """One of them as it is written."""
    pyarrow = arrow()
    text, whole, real = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
    of_port = [("least", real), ("most", real), ("not_finite", whole), ("compared", whole), ("mean_difference", real)]
    of_port += [("rms_difference", real), ("largest_difference", real), ("steps_outside", whole)]
    schemas = {
        "episodes": [
            ("episode", text),
            ("port", text),
            ("steps", whole),
            ("mean", real),
            *of_port,
            ("first_outside", whole),
            ("worst_step", whole),
            ("worst_place", text),
            ("note", text),
        ],
        "ports": [
            ("port", text),
            ("episodes", whole),
            ("steps", whole),
            ("episodes_outside", whole),
            *of_port,
            ("p50", real),
            ("p99", real),
            ("counts", pyarrow.list_(whole)),
        ],
        "worst": [
            ("episode", text),
            ("step", whole),
            ("port", text),
            ("element", whole),
            ("place", text),
            ("difference", real),
            ("found", real),
            ("expected", real),
        ],
        "skipped": [("episode", text), ("why", text)],
    }
    schema = pyarrow.schema(schemas[name])
    return pyarrow.Table.from_pylist([{key: row.get(key) for key in schema.names} for row in rows], schema=schema)
