# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs all programs and probes once with each package, however many tests and workers ask, and says how they differ.

What the other package does depends on the programs and on it alone: its run is kept in build/parity until one of them
changes. Ours is made once per test session.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from parity_bundles import Bundle, differing_parts
from run_programs import FILES, SEED_PROGRAMS, SEEDS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEER = ROOT / "build" / "peer-venv" / "bin" / "python"


@contextmanager
def locked(file: Path) -> Iterator[None]:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def run(python: str, folder: Path) -> None:
    """Fills the folder, or leaves none."""
    with locked(folder.with_name(f"{folder.name}.lock")):
        if (folder / "results.json").exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        if python == sys.executable:
            environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
        command = [python, str(HERE / "run_programs.py"), str(folder)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (folder / "results.json").exists(), done.stdout[-2000:] + done.stderr[-2000:]


def digest() -> str:
    """Of everything that the other package's run depends on."""
    found = hashlib.sha256()
    sources = [HERE / f"{name}.py" for name in (*FILES, "field", "probes", "run_programs")]
    versions = sorted((PEER.parent.parent / "lib").glob("python3.*/site-packages/*.dist-info"))
    found.update("".join(version.name for version in versions).encode())
    for file in [*sources, *sorted(SEEDS.glob("*.py"))]:
        found.update(file.read_bytes())
    return found.hexdigest()[:16]


def names() -> list[str]:
    """Of all programs, without importing them: they import leapp."""
    return [*SEED_PROGRAMS, *(name for file in FILES for name in registered(file, "program"))]


def probe_names() -> list[str]:
    return list(registered("probes", "probe"))


def registered(file: str, decorator: str) -> dict[str, str]:
    """The functions of a file that are decorated so, with what their first line says."""
    tree = ast.parse((HERE / f"{file}.py").read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(
            isinstance(each, ast.Name) and each.id == decorator for each in node.decorator_list
        ):
            found[node.name] = (ast.get_docstring(node) or "").partition("\n")[0]
    return found


class Both:
    """Where the two left their bundles, and what they said."""

    def __init__(self, shared: Path) -> None:
        self.folders = {"peer": ROOT / "build" / "parity" / digest(), "ours": shared / "ours"}
        run(str(PEER), self.folders["peer"])
        run(sys.executable, self.folders["ours"])
        self.results: dict[str, dict[str, Any]] = {
            who: json.loads((folder / "results.json").read_text()) for who, folder in self.folders.items()
        }

    def differences(self, program: str) -> dict[str, Any]:
        """Part -> what is different."""
        peer, ours = self.results["peer"][program], self.results["ours"][program]
        if peer["raised"] or ours["raised"]:
            raised = {"peer raises": peer["raised"], "ours raises": ours["raised"]}
            return {} if all(raised.values()) else {part: why for part, why in raised.items() if why}
        found = differing_parts(*(Bundle(self.folders[who] / program) for who in ("peer", "ours")))
        if peer.get("passed") != ours.get("passed"):
            found["validation"] = (peer.get("passed"), ours.get("passed"))
        return found

    def answers(self, probe: str) -> tuple[Any, Any]:
        peer, ours = self.results["peer"][probe], self.results["ours"][probe]
        return peer.get("raised", peer["answer"]), ours.get("raised", ours["answer"])
