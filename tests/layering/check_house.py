# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The house rules: folders stay small and explained, and a type name means one thing.

    check_house.py [--root REPOSITORY]

Prints one line per violation and exits with 1 if there is any. scripts/code-figures prints the same numbers as figures.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCES = (".cpp", ".h", ".py", ".pyi")
MOST_FILES = 40

# Public types of the same name: what a bundle's YAML says, and what runs.
PUBLIC_PAIRS = ("Pipeline", "Port")

TYPE = re.compile(
    r"\b(?:class|struct|union|enum(?:\s+class)?)\s+(?:\[\[[^\]]*\]\]\s*)?(?:alignas\([^)]*\)\s*)?(?:LEAPP_\w+\s+)?"
    r"(?P<name>\w+)(?:\s*final)?\s*(?::[^:].*)?$",
    re.DOTALL,
)
ALIAS = re.compile(r"\s*(?:template\s*<.*>\s*)?using\s+(?P<name>\w+)\s*=\s*(?P<of>[\w:]*)", re.DOTALL)
NAMESPACE = re.compile(r"\bnamespace\s*(?P<name>[\w:]*)\s*$")


def is_test(path: str) -> bool:
    return bool(re.search(r"(^|/)tests?/|_test(ing)?(_base)?\.(cpp|h)$|_testing\.cpp$", path))


def sources(root: Path) -> Iterator[str]:
    """Paths from the root of all sources but tests."""
    for folder in ("include", "src", "python"):
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in SOURCES and not is_test(name) and "__pycache__" not in name:
                yield name


def without_literals(text: str) -> str:
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.DOTALL)
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"'(\\.|[^'\\\n])'", "' '", text)
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", text, flags=re.MULTILINE)


def types_in(text: str) -> Iterator[str]:
    """Types that a header defines at namespace scope. An alias for a type of the same name is that type."""
    scopes: list[str | None] = []  # None: not a namespace
    statement = ""
    for char in without_literals(text):
        outside = None not in scopes
        if char == "{":
            space = NAMESPACE.search(statement)
            found = TYPE.search(statement)
            if not space and outside and found:
                yield found["name"]
            scopes.append(space["name"] if space else None)
        elif char == "}":
            scopes.pop()
        elif char == ";":
            alias = ALIAS.match(statement)
            if alias and outside and alias["of"].split("::")[-1] != alias["name"]:
                yield alias["name"]
        else:
            statement += char
            continue
        statement = ""


def repeated_types(root: Path) -> dict[str, list[str]]:
    """Name → headers, of types that two headers define."""
    defined: dict[str, list[str]] = defaultdict(list)
    for name in sources(root):
        if name.endswith(".h"):
            for found in types_in((root / name).read_text(encoding="utf-8")):
                defined[found].append(name)
    return {name: files for name, files in defined.items() if len(files) > 1}


def files_per_folder(root: Path) -> Counter[str]:
    return Counter(name.rpartition("/")[0] for name in sources(root))


def folders_without_readme(root: Path) -> list[str]:
    """Folders that hold folders with sources, and no README.md."""
    folders = {name.rpartition("/")[0] for name in sources(root)}
    parents = {folder.rpartition("/")[0] for folder in folders if "/" in folder}
    return sorted(one for one in parents if not one.startswith("include") and not (root / one / "README.md").is_file())


def violations(root: Path) -> list[str]:
    found = [
        f"{folder}: {count} files, at most {MOST_FILES}: split it into folders of one idea each"
        for folder, count in sorted(files_per_folder(root).items())
        if count > MOST_FILES
    ]
    found += [f"{folder}: no README.md that says what its folders are for" for folder in folders_without_readme(root)]
    found += [
        f"{', '.join(files)}: {len(files)} types named {name}: give the internal one a name of its own"
        for name, files in sorted(repeated_types(root).items())
        if name not in PUBLIC_PAIRS
    ]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    found = violations(parser.parse_args().root)
    for line in found:
        print(line)
    print(f"{len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
