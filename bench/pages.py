# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of a run, kept in build/bench until somebody puts them into the documentation.

pages.py    every table of which there are figures
"""

from __future__ import annotations

import importlib
import json
import os
import re
from datetime import date
from pathlib import Path
from typing import Any

from processes import ROOT, cpu

FIGURES = ROOT / "build" / "bench"
MODULES = ("engines", "choice", "robot", "reload", "batching", "replaying")


def machine() -> str:
    virtual = " hypervisor" in Path("/proc/cpuinfo").read_text()
    return f"{cpu()}, {'virtual machine with ' if virtual else ''}{os.cpu_count()} cores"


def keep(name: str, figures: dict[str, Any]) -> dict[str, Any]:
    """With the machine and the day."""
    kept = {"cpu": machine(), "date": str(date.today()), **figures}
    FIGURES.mkdir(parents=True, exist_ok=True)
    (FIGURES / f"{name}.json").write_text(json.dumps(kept, indent=1))
    return kept


def kept(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIGURES / f"{name}.json").read_text())
    return found


def put(page: Path, name: str, text: str) -> None:
    """Between `<!-- NAME: bench/NAME.py --write -->` and `<!-- NAME end -->`."""
    begin, end = f"<!-- {name}: bench/{name}.py --write -->", f"<!-- {name} end -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    made, count = pattern.subn(lambda _: f"{begin}\n{text}\n{end}", page.read_text())
    if count != 1:
        raise SystemExit(f"{page}: expected one place between {begin} and {end}, found {count}")
    page.write_text(made)


def table(head: str, columns: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of Markdown: a sentence, and a table below it."""

    def line(cells: list[str]) -> str:
        return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)

    return [head, "", line(columns), "|" + "---|" * len(columns), *map(line, rows)]


def taken(found: dict[str, Any], what: str) -> str:
    return f"{found['cpu']}, {found['date']}; {what}:"


if __name__ == "__main__":
    for module in MODULES:
        if (FIGURES / f"{module}.json").exists():
            importlib.import_module(module).write()
            print(f"{module}: written")
        else:
            print(f"{module}: no figures; run bench/{module}.py or make bench")
