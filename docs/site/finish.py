# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""After Sphinx: the Markdown of every page beside its HTML, the copied files, and llms.txt."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/docs"
DIRECTIVE = re.compile(r"^```\{toctree\}.*?^```\n?", re.DOTALL | re.MULTILINE)


def markdown(page: Path) -> str:
    """A page as people write it. Pages made from the code are what Sphinx made of them, as text."""
    text = page.read_text(encoding="utf-8")
    if "```{eval-rst}" in text:
        text = (BUILD / "text" / page.relative_to(BUILD / "source")).with_suffix(".txt").read_text(encoding="utf-8")
    return DIRECTIVE.sub("", text).rstrip() + "\n"


def title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE) or re.search(r"^(.+)\n[*=]{3,}$", text, re.MULTILINE)
    return found[1] if found else "?"


def summary(text: str) -> str:
    """The first sentence of the first paragraph."""
    for part in text.split("\n\n")[1:]:
        line = " ".join(part.split())
        if line and not line.startswith(("#", "|", "!", "<", "`", "-", "*Time", "*")):
            return re.split(r"(?<=[.:!?]) ", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line))[0]
    return ""


def main() -> None:
    source, html = BUILD / "source", BUILD / "html"
    sections: dict[str, list[str]] = {}
    for page in sorted(source.rglob("*.md")):
        path = page.relative_to(source)
        text = markdown(page)
        (html / path).write_text(text, encoding="utf-8")
        section = path.parts[0] if len(path.parts) > 1 else ""
        about = summary(text)
        sections.setdefault(section, []).append(f"- [{title(text)}]({path})" + (f": {about}" if about else ""))
    if (source / "_files").is_dir():
        shutil.copytree(source / "_files", html / "_files", dirs_exist_ok=True)
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    lines = [
        f"# LEAPP in C++ {version}",
        "",
        "> Export PyTorch robot policies by watching them run; run them in C++ without torch.",
        "",
    ]
    for section, entries in sections.items():
        lines += [f"## {section.replace('_', '-').capitalize() or 'Overview'}", "", *entries, ""]
    (html / "llms.txt").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
