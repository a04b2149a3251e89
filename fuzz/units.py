# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Puts many source files into a few units to compile, so that what they include is read a few times only.

    units.py FOLDER COUNT FILE...

Writes FOLDER/unit_0.cpp and so on. Two files that define the same name in unnamed namespaces do not fit into one unit:
constants (kName) get a name of their own there, files with other names in common go to different units.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^namespace ([\w:]+) \{$", re.MULTILINE)
TYPE = re.compile(r"^(?:(?:class|struct|enum class|enum) (\w+)|using (\w+) =)", re.MULTILINE)
CONSTANT = re.compile(
    r"^(?:inline |static )*(?:constexpr|const) [^=;({]*\b(k[A-Z]\w*)(?:\[[^\]]*\])?\s*[={]", re.MULTILINE
)
FUNCTION = re.compile(r"^(?!using|namespace|return)\w[\w:<>*&,\[\] ]*?[ *&>](\w+)\(", re.MULTILINE)


@dataclass
class Unit:
    names: set[str] = field(default_factory=set)
    files: list[tuple[Path, set[str]]] = field(default_factory=list)  # with their constants
    lines: int = 0


def names_of(text: str) -> tuple[set[str], set[str]]:
    """Of unnamed namespaces: constants, everything else with the namespace around."""
    inside = "".join(UNNAMED.findall(text))
    around = NAMED.search(text)
    others = {name for names in TYPE.findall(inside) for name in names if name} | set(FUNCTION.findall(inside))
    return set(CONSTANT.findall(inside)), {f"{around[1] if around else ''}::{name}" for name in others}


def distribute(files: list[Path], count: int) -> list[Unit]:
    texts = {file: file.read_text() for file in files}
    most = sum(text.count("\n") for text in texts.values()) / count
    units = [Unit() for _ in range(count)]
    for file, text in texts.items():
        constants, others = names_of(text)
        fitting = [unit for unit in units if not unit.names & others]
        if not fitting:
            sys.exit(f"units.py: {file}: every unit has one of {sorted(others)}: more units are needed")
        unit = next((unit for unit in fitting if unit.lines < most), min(fitting, key=lambda unit: unit.lines))
        unit.names |= others
        unit.files.append((file, constants))
        unit.lines += text.count("\n")
    return units


def content(unit: Unit) -> str:
    lines, seen = [], set[str]()
    for number, (file, constants) in enumerate(unit.files):
        again = sorted(constants & seen)
        seen |= constants
        lines += [f"#define {name} {name}_{number}" for name in again]
        lines += [f'#include "{file}"', *(f"#undef {name}" for name in again)]
    return "\n".join(lines) + "\n"


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    files = [Path(name) for name in sys.argv[3:]]
    for number, unit in enumerate(distribute(files, count)):
        path, text = folder / f"unit_{number}.cpp", content(unit)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
