# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Makes build/docs/source, which Sphinx reads: the pages of docs/, those of the root, and pages made from the code.

    assemble.py LEAPP     LEAPP is the built command, whose --help becomes a page

A link to a page becomes a link on the site. A link to any other file of the repository becomes a copy of that file on
the site. A link to nothing is an error. README.md of a folder becomes its index, in the order of its links.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import reference

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "build/docs/source"
FILES = "_files"
# Pages that are not below docs/, and where the site has them.
ELSEWHERE = {
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/code_of_conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "examples/README.md": "project/examples.md",
    "examples/mujoco/README.md": "project/mujoco.md",
}
SECTIONS = ["tutorials", "how_to", "concepts", "reference", "reports", "project", "design"]
LINK = re.compile(r"(\]\()([^)#\s]*)(#[^)\s]*)?(\))")
FENCE = re.compile(r"^(```+).*?^\1\s*$", re.DOTALL | re.MULTILINE)


def site_path(path: str) -> str:
    """Where the site has a file of the repository: a page, or a copy."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/") and path.endswith(".md"):
        page = path.removeprefix("docs/")
        return re.sub(r"(^|/)README\.md$", r"\1index.md", page)
    if path.startswith("docs/pictures/"):
        return path.removeprefix("docs/")
    return f"{FILES}/{path}"


def pages() -> dict[str, str]:
    """Path in the repository of each page, and on the site."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "docs", *ELSEWHERE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = [path for path in listed.stdout.split() if path.endswith(".md") and (ROOT / path).is_file()]
    return {path: site_path(path) for path in found}


class Assembly:
    """One run: what was copied, and links that lead nowhere."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.pages = pages()

    def link(self, page: str, target: str, anchor: str) -> str:
        """The target of a link on the site; "" when the text should stand alone."""
        path = os.path.normpath(os.path.join(os.path.dirname(page), target))
        found = ROOT / path
        if not found.exists() or path.startswith(".."):
            self.problems.append(f"{page}: links to {target}, which is not there")
            return ""
        if found.is_dir():
            if not (found / "README.md").is_file():
                return ""
            path += "/README.md"
        place = site_path(path)
        if place.startswith(FILES):
            copy = SOURCE / f"{place}.txt"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, copy)
            place += ".txt"
        elif not place.endswith(".md"):
            (SOURCE / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, SOURCE / place)
        return os.path.relpath(place, os.path.dirname(self.pages[page]) or ".") + anchor

    def text(self, page: str) -> str:
        """A page with its links as the site has them. Code blocks stay as they are."""

        def replace(match: re.Match[str]) -> str:
            target, anchor = match[2], match[3] or ""
            if "://" in target or target.startswith("mailto:") or not target:
                return match[0]
            made = self.link(page, target, anchor)
            return f"](){made}" if not made else f"]({made})"

        def prose(part: str) -> str:
            done = LINK.sub(replace, part)
            return re.sub(r"\[([^\]]+)\]\(\)", r"\1", done)

        text = (ROOT / page).read_text(encoding="utf-8")
        parts, end = [], 0
        for fence in FENCE.finditer(text):
            parts += [prose(text[end : fence.start()]), fence[0]]
            end = fence.end()
        return "".join([*parts, prose(text[end:])])

    def write(self) -> None:
        for page, place in self.pages.items():
            target = SOURCE / place
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self.text(page), encoding="utf-8")


def toctree(entries: list[str], caption: str = "", depth: int = 1) -> str:
    """A hidden table of contents, for the bar at the side."""
    options = [":hidden:", f":maxdepth: {depth}"] + ([f":caption: {caption}"] if caption else [])
    return "\n".join(["", "```{toctree}", *options, "", *entries, "```", ""])


def add_contents(section: str) -> None:
    """The pages of a section, in the order in which its index names them, then the others."""
    folder = SOURCE / section
    index = folder / "index.md"
    inner = list(folder.glob("*/index.md"))  # these list their own folders
    there = sorted(path.relative_to(folder).as_posix() for path in [*folder.glob("*.md"), *inner] if path != index)
    named = [match[2] for match in LINK.finditer(index.read_text(encoding="utf-8"))]
    order = [name for name in dict.fromkeys(named) if name in there] + [name for name in there if name not in named]
    with index.open("a", encoding="utf-8") as file:
        file.write(toctree([name.removesuffix(".md") for name in order]))


def main() -> int:
    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    assembly = Assembly()
    assembly.write()
    problems = assembly.problems + reference.write(SOURCE / "reference", Path(sys.argv[1]))
    for section in SECTIONS:
        add_contents(section)
    alone = sorted(path.stem for path in SOURCE.glob("*.md") if path.name != "index.md")
    order = ["is_this_for_me", "gallery", "benchmarks", "support", "troubleshooting"]
    order = [name for name in order if name in alone] + [name for name in alone if name not in order]
    with (SOURCE / "index.md").open("a", encoding="utf-8") as file:
        file.write(toctree(order) + toctree([f"{section}/index" for section in SECTIONS]))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
