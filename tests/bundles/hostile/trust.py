# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/trust.md: what LEAPP, and what the peer, does with each bundle of attacks.py.

    .venv/bin/python tests/bundles/hostile/trust.py [--without-peer]

Figures of faults and of fuzzing come from build/faults.txt and build/fuzz/report.txt, if the runs that write them were
made: `make test-long`, `make fuzz`.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import tempfile
from pathlib import Path

import attacks
import measure

PAGE = measure.ROOT / "docs/trust.md"
LONGEST = 110
KNOWN = measure.ROOT / "build/trust_peer.json"


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
    if found.code < 0:
        return "killed after 10 s" if found.code in (-9, -24) else f"killed by signal {-found.code}"
    if "MemoryError" in found.text or "bad_alloc" in found.text or "Failed to allocate" in found.text:
        return "memory runs out at 4 GB"
    text = answer(found, bundle)
    return (text[:60] + "…") if len(text) > 60 else text or f"exit code {found.code}"


def figures(found: measure.Outcome, idle: measure.Outcome) -> str:
    return f"{max(0.0, found.megabytes - idle.megabytes):.0f} MB, {found.seconds:.1f} s"


def peer_column(name: str, bundle: Path, with_peer: bool) -> str:
    """From an earlier run, if there was one: the peer takes its time."""
    known: dict[str, str] = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
    if name not in known and with_peer:
        found = measure.peer(bundle)
        known[name] = f"{peer_answer(found, bundle)} ({found.megabytes:.0f} MB, {found.seconds:.1f} s)"
        KNOWN.write_text(json.dumps(known, indent=1))
    return known.get(name, "not run")


def rows(folder: Path, with_peer: bool) -> list[str]:
    idle = measure.tool("--version")
    lines = []
    for name, attack in attacks.ATTACKS.items():
        bundle = attack.write(folder / name)
        ours = measure.tool("run", bundle, "--steps", 1, *measure.limits(attack.refused))
        other = peer_column(name, bundle, with_peer)
        lines.append(f"| {attack.what} | {outcome(name, ours, bundle)} | {figures(ours, idle)} | {other} |")
        print(lines[-1])
    return lines


def section(title: str, file: Path, nothing: str) -> list[str]:
    content = file.read_text().strip().splitlines() if file.exists() else [nothing]
    return [f"## {title}", "", *(f"    {line}" for line in content), ""]


def main() -> None:
    with_peer = "--without-peer" not in sys.argv and measure.PEER.exists()
    with tempfile.TemporaryDirectory() as folder:
        table = rows(Path(folder), with_peer)
    text = [
        "# Bundles of strangers: what happens",
        "",
        "Written by `tests/bundles/hostile/trust.py` from runs in processes of their own; `SECURITY.md` says what is",
        "promised. Memory is what the process had at the most beyond what it has when idle; time is that of the CPU.",
        "The peer's figures are of its whole process, which also imports torch; it was held to 4 GB and 10 s.",
        "",
        f"Machine: {platform.machine()}, {platform.system()} {platform.release().split('-')[0]}.",
        "",
        "| attack | LEAPP says (`leapp run --memory-limit 4GB --timeout 2`) | memory, time | the peer |",
        "|---|---|---|---|",
        *table,
        "",
        *section("Faults tried", measure.ROOT / "build/faults.txt", "not run"),
        *section(
            "Fuzzing: target, executions, edges covered, result", measure.ROOT / "build/fuzz/report.txt", "not run"
        ),
    ]
    PAGE.write_text("\n".join(text).rstrip() + "\n")


if __name__ == "__main__":
    main()
