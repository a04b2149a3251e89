# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What `make docs` looks for in the Markdown itself: mentions of pages, code blocks and spelling. Links are Sphinx's.

checks.py            fails with a list of problems
checks.py --blocks   lists the blocks that no test runs, with their reasons
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORDS = ROOT / "docs/site/words.txt"
MENTION = re.compile(r"(?<![\w/.-])docs/(?:[\w]+/)*\w+\.md")
BLOCK = re.compile(r"^(?:<!-- ([^\n]*) -->\n)?```([\w]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Which languages tests run on a page; "output" is compared. tests/python/documentation follows whole pages.
FOLLOWED = ["tutorials/*", "how_to/drive_a_robot", "how_to/guard_values", "how_to/play_action_chunks"]
FOLLOWED += ["how_to/record_and_replay", "how_to/sign_and_swap", "how_to/start_state", "project/first_change"]
RUN = {
    "concepts/state": {"python", "text", ""},  # tests/python/state/test_state_examples.py
    "how_to/generate_source": {"python", "sh", "cpp", "text"},  # tests/python/codegen/test_codegen_page.py
    "how_to/run_a_bundle": {"python"},  # tests/python/runtime/test_runtime.py
    "how_to/run_a_fleet": {"python", "bash"},  # tests/cli/test_cli_fleet.py
    "reference/command_line": {"console"},  # tests/cli/test_cli_docs.py
    "reference/bundle_format": {"sh"},  # tests/cli/test_cli_signing.py
}


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "ls-files", "-co", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [ROOT / path for path in listed if path and (ROOT / path).is_file()]


def mentions() -> list[str]:
    """Pages that code, scripts and tests name, and that are not there."""
    found = []
    for path in tracked():
        if path.suffix in (".png", ".npz", ".pt", ".onnx", ".safetensors", ".mcap"):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for name in sorted({name for name in MENTION.findall(text) if not (ROOT / name).is_file()}):
            found.append(f"{path.relative_to(ROOT)}: names {name}, which is not there")
    return found


def pages() -> list[tuple[str, str]]:
    """Name and text of the pages for users; those of maintainers and reports show no programs to follow."""
    found = []
    for path in tracked("docs/*.md"):
        name = path.relative_to(ROOT / "docs").as_posix().removesuffix(".md")
        if not name.startswith(("design/", "reports/")):
            found.append((name, path.read_text(encoding="utf-8")))
    return found


def unmarked_blocks() -> list[str]:
    """Blocks that no test runs and that do not say so."""
    found = []
    for name, text in pages():
        if any(Path(name).match(pattern) for pattern in FOLLOWED):
            continue
        for comment, language, block in BLOCK.findall(text):
            if language not in RUN.get(name, set()) and not comment.startswith(("not run: ", "golden: ")):
                first = block.strip().split("\n")[0]
                found.append(f"docs/{name}.md: no test runs the {language or 'plain'} block {first[:50]!r}")
    return found


def blocks_not_run() -> list[str]:
    rows = []
    for name, text in pages():
        for comment, language, _ in BLOCK.findall(text):
            if comment.startswith("not run: "):
                rows.append(f"docs/{name}.md: {language or 'plain'}: {comment.removeprefix('not run: ')}")
    return rows


def spelling() -> list[str]:
    """What codespell finds, without the words of docs/site/words.txt."""
    files = [str(path.relative_to(ROOT)) for path in tracked("*.md")]
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words", str(WORDS), *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return [line for line in (done.stdout + done.stderr).splitlines() if line]


def main() -> int:
    if sys.argv[1:] == ["--blocks"]:
        print("\n".join(blocks_not_run()))
        return 0
    problems = mentions() + unmarked_blocks() + spelling()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
