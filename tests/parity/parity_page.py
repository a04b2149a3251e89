# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/coming_from_leapp.md from what tests/parity holds: python tests/parity/parity_page.py"""

from __future__ import annotations

from pathlib import Path

import both as runs
import differences
import surface

HEAD = """\
<!-- Written by tests/parity/parity_page.py; tests/parity fails when this is not what it writes. -->
# Coming from `leapp` on PyPI

For people who have programs and bundles of `leapp` 0.7.2. Everything said here about that package was found by running
it: `make test` runs {programs} programs and {probes} probes on both, and fails when a difference is not in the tables
below.

## What you have to change

Nothing in most programs: the calls, their parameters and what they return are the same, but for what the tables below
name; so are the names of ports, the edges and the numbers of the exported models. {same} of the {programs} programs
give the same bundle on both, and {differ} differ; of these {there} fail there and work here. The programs of its
documentation run as they stand.

Exporters and deployments of Isaac Lab's shape run unchanged: annotations through proxies when a term reads the robot,
histories, recurrent actors, the last action, static gains, a session that ends when the next observation is already
computed, and a deployment that leaves out inputs it cannot map (`tests/python/robot/test_isaac_shapes.py`: {tasks}).

Bundles go both ways: the reader here takes bundles of 0.7.2 as they are, and what is written here follows the same
format ([bundle_format.md](bundle_format.md)).

## Programs that differ

Each is a function in `tests/parity`.

| program | what it does | here |
|---|---|---|
"""

PROBES = """
## Answers that differ

| probe in `tests/parity/probes.py` | here |
|---|---|
"""

NAMES = """
## Name by name

Every public name of 0.7.2, and of its documentation since. *same*: the same name, parameters and defaults; *more*:
these, and further ones; *differs* and *absent*: as the note says.

"""

BACKENDS = """
| `export_with` | |
|---|---|
"""

PARAMETERS = """
| `backend_params` | |
|---|---|
"""

SAME = """
## Programs that are the same

"""

TAIL = """
What it cannot follow is in [limits.md](../concepts/limits.md).
"""


def described(name: str, first_line: str) -> str:
    return first_line.rstrip(".") or name.replace("_", " ")


def tasks() -> str:
    """Names of the shapes, without importing them: they import leapp."""
    source = Path(runs.ROOT, "tests", "python", "robot", "robot_lab_tasks.py").read_text().partition("TASKS = {")[2]
    names = [
        line.strip().partition('"')[2].partition('"')[0] for line in source.split("\n") if line.startswith('    "')
    ]
    return ", ".join(name.replace("_", " ") for name in names)


def text() -> str:
    first_lines = {name: line for file in runs.FILES for name, line in runs.registered(file, "program").items()}
    programs, probes = runs.names(), runs.probe_names()
    known = differences.PROGRAMS
    counts = {"programs": len(programs), "probes": len(probes), "differ": len(known)}
    counts |= {"same": len(programs) - len(known), "there": sum("peer raises" in parts for parts in known.values())}
    result = HEAD.format(**counts, tasks=tasks())
    for name, parts in known.items():
        why = "; ".join(f"{part}: {reason}" for part, reason in parts.items()).replace("peer raises", "fails there")
        result += f"| `{name}` | {described(name, first_lines.get(name, ''))} | {why} |\n"
    if differences.PROBES:
        result += PROBES + "".join(f"| `{name}` | {why} |\n" for name, why in differences.PROBES.items())
    result += NAMES + surface.markdown()
    result += BACKENDS + "".join(f"| `{name}` | {note} |\n" for name, note in surface.BACKENDS.items())
    result += PARAMETERS + "".join(f"| `{name}` | {note} |\n" for name, note in surface.BACKEND_PARAMS.items())
    same = [described(name, first_lines.get(name, "")) for name in programs if name not in known]
    return result + SAME + "; ".join(same) + ".\n" + TAIL


if __name__ == "__main__":
    Path(runs.ROOT, "docs", "reference", "coming_from_leapp.md").write_text(text())
