# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reports/trust.md, part by part: a run of one part leaves the others as they are.

    .venv/bin/python tests/bundles/hostile/trust.py [attacks] [peer] [faults] [fuzz] [soak]

`attacks` gives LEAPP each bundle of attacks.py; `peer` gives those to the peer that it has not had yet (it takes its
time; `peer --again` all of them). `faults`, `fuzz` and `soak` take over what `make test-long` and `make fuzz` have
measured (build/trust), row by row. Without arguments: everything.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import attacks
import measure
import record

PAGE = measure.ROOT / "docs/reports/trust.md"
LONGEST = 110
NOT_RUN = "not run"


def answer(found: measure.Outcome, bundle: Path) -> str:
    """What it said, without what differs from run to run."""
    if found.code < 0:
        return f"**killed by signal {-found.code}**"
    lines = [line for line in found.text.replace(str(bundle), bundle.name).splitlines() if line.strip()]
    line = lines[-1] if lines else ""
    line = re.sub(r"^leapp: |^\w+Error: ", "", line).replace(str(bundle.parent), bundle.parent.name)
    line = re.sub(r"memory_limit is [0-9.]+ .B|--memory-limit is [0-9.]+ .B", "memory_limit is …", line)
    line = line.replace("|", "\\|")
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"


def outcome(name: str, found: measure.Outcome, bundle: Path) -> str:
    return "runs" if found.code == 0 else answer(found, bundle)


def peer_answer(found: measure.Outcome, bundle: Path) -> str:
    """What the peer made of it, in words that a page can have: it prints what the file says, escapes too."""
    if found.code < 0:
        return "killed after 10 s of CPU" if found.code in (-9, -24) else f"**killed by signal {-found.code}**"
    if re.search(r"MemoryError|bad_alloc|[Ff]ailed to allocate|can't allocate|Cannot allocate", found.text):
        return "memory runs out at 8 GB"
    said = re.findall(r"^(?:\w+: .+|runs)$", found.text, re.MULTILINE)
    text = said[-1] if said else f"exit code {found.code}"
    text = text.replace(str(bundle), bundle.name).replace(str(bundle.parent), bundle.parent.name)
    text = "".join(c if c.isprintable() else "�" for c in text).replace("|", "\\|")
    raw = " (escapes reach the terminal)" if re.search(rb"\x1b\[|\xc2\x9b", found.output) else ""
    return (text if len(text) <= 80 else text[:80] + "…") + raw


# ---- the page ----


def part(name: str) -> str:
    """What stands between the marks of a part."""
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end of {name} -->", PAGE.read_text(), re.DOTALL)
    assert found is not None, f"{PAGE}: no part {name}"
    return found[1]


def replace(name: str, lines: list[str]) -> None:
    old = part(name)
    new = "\n".join(lines).rstrip() + "\n"
    marks = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    PAGE.write_text(PAGE.read_text().replace(marks[0] + old + marks[1], marks[0] + new + marks[1]))


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def rows_of(name: str) -> list[list[str]]:
    """The cells of a part's table, without its head."""
    lines = [line for line in part(name).splitlines() if line.startswith("| ")]
    return [re.split(r"(?<!\\) \| ", line[2:-2]) for line in lines[2:]]


# ---- attacks ----

HEAD = ["attack", "LEAPP says (`leapp run --memory-limit 4GB --timeout 2`)", "memory, time", "the peer", "memory, time"]
Answers = dict[str, list[str]]  # by attack: what it said, its figures


def known(column: int) -> Answers:
    return {cells[0]: cells[column : column + 2] for cells in rows_of("attacks") if len(cells) == len(HEAD)}


def write_attacks(ours: Answers, peers: Answers) -> None:
    nothing = [NOT_RUN, ""]
    rows = [[a.what, *ours.get(a.what, nothing), *peers.get(a.what, nothing)] for a in attacks.ATTACKS.values()]
    replace("attacks", table(HEAD, rows))


def run_attacks(folder: Path) -> None:
    idle = measure.tool("--version")
    peers, ours = known(3), {}
    for name, attack in attacks.ATTACKS.items():
        bundle = attack.write(folder / name)
        found = measure.tool("run", bundle, "--steps", 1, *measure.limits(attack.refused or not attack.says))
        figures = f"{max(0.0, found.megabytes - idle.megabytes):.0f} MB, {found.seconds:.1f} s"
        ours[attack.what] = [outcome(name, found, bundle), figures]
        print(attack.what, ours[attack.what])
    write_attacks(ours, peers)
    replace("attacks run", [f"LEAPP: {record.today()}, {record.machine()}."])


def run_peer(folder: Path) -> None:
    peers = {} if "--again" in sys.argv else {k: v for k, v in known(3).items() if v[0] != NOT_RUN}
    left = {name: attack for name, attack in attacks.ATTACKS.items() if attack.what not in peers}
    bundles = [attack.write(folder / "peer" / name) for name, attack in left.items()]
    outcomes = measure.peer(bundles)
    idle = next(outcomes)
    for bundle, attack, found in zip(bundles, left.values(), outcomes, strict=True):
        figures = f"{max(0.0, found.megabytes - idle.megabytes):.0f} MB, {found.seconds:.1f} s"
        peers[attack.what] = [peer_answer(found, bundle), figures]
        print(attack.what, peers[attack.what], flush=True)
        write_attacks(known(1), peers)
    replace("peer run", [f"The peer ({idle.text.splitlines()[-1]}): {record.today()}, {record.machine()}."])


# ---- what other runs have measured ----


def dates(days: list[str]) -> str:
    days = sorted(days)
    return f"{' to '.join(sorted({days[0], days[-1]}))}, {record.machine()}."


def taken_over(section: str, head: list[str], cells: Callable[[record.Entry], list[str]]) -> None:
    found = record.entries(section)
    if not found:
        print(f"{section}: nothing measured in {record.FOLDER / section}: the page stays as it is")
        return
    # Rows of runs that were not done again stay.
    rows = {row[0]: row for row in (*rows_of(section), *(cells(entry) for entry in found))}
    days = [entry.date for entry in found]
    if rows.keys() != {cells(entry)[0] for entry in found}:
        days += re.findall(r"^\d{4}-\d\d-\d\d", part(section), re.MULTILINE)
    replace(section, [*table(head, [rows[what] for what in sorted(rows)]), "", dates(days)])


def number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def fault_cells(entry: record.Entry) -> list[str]:
    names = ("tried", "survived", "elsewhere", "died")
    return [entry.what, *(number(entry.figures.get(name, 0)) for name in names)]


def fuzz_cells(entry: record.Entry) -> list[str]:
    names = ("seconds", "executions", "edges", "of", "corpus", "result")
    return [entry.what, *(number(entry.figures[name]) for name in names)]


def soak_cells(entry: record.Entry) -> list[str]:
    names = ("rounds", "growth in kB", "compared", "CPU seconds")
    return [entry.what, *(number(entry.figures[name]) for name in names)]


FAULT_HEAD = ["what fails", "points tried", "survived", "ended in a library of others", "ended in LEAPP"]
FUZZ_HEAD = ["target", "seconds", "executions", "edges covered", "of all", "inputs kept", "result"]
SOAK_HEAD = ["what", "rounds", "memory grown after the first tenth, kB", "results compared", "CPU seconds"]


def main() -> None:
    parts = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    parts = parts or ["attacks", "peer", "faults", "fuzz", "soak"]
    with tempfile.TemporaryDirectory() as folder:
        actions: dict[str, Callable[[], None]] = {
            "attacks": lambda: run_attacks(Path(folder)),
            "peer": lambda: run_peer(Path(folder)),
            "faults": lambda: taken_over("faults", FAULT_HEAD, fault_cells),
            "fuzz": lambda: taken_over("fuzz", FUZZ_HEAD, fuzz_cells),
            "soak": lambda: taken_over("soak", SOAK_HEAD, soak_cells),
        }
        for name in parts:
            actions[name]()


if __name__ == "__main__":
    main()
