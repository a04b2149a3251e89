# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Holds the table of names (surface.py) against both packages.

Nothing of the other one is forgotten, and what is called the same there and here has the same parameters with the same
defaults.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import surface

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEER = ROOT / "build" / "peer-venv" / "bin" / "python"
needs_peer = pytest.mark.skipif(not PEER.exists(), reason="scripts/setup --peer makes the other package's environment")

Found = dict[str, dict[str, str] | None]
ANY = {"args", "kwargs", "params"}  # stand for parameters that have names here
TOLERANCES = {"rtol", "atol"}  # None here: what rounding explains (docs/concepts/validation.md)


def list_of(python: Path | str, folder: Path) -> Found:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if str(python) == sys.executable:
        environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    command = [str(python), str(HERE / "list_surface.py"), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (folder / "surface.json").exists(), done.stdout[-2000:] + done.stderr[-2000:]
    found: Found = json.loads((folder / "surface.json").read_text())
    return found


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Found:
    return list_of(sys.executable, tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Found:
    return list_of(PEER, tmp_path_factory.mktemp("theirs"))


@needs_peer
def test_the_table_has_every_name_of_the_other_package(theirs: Found) -> None:
    names = [each.name for each in surface.SURFACE]
    assert len(set(names)) == len(names)
    assert sorted(theirs) == sorted(names)


def test_every_name_is_here_unless_the_table_says_otherwise(ours: Found) -> None:
    for each in surface.SURFACE:
        assert (each.name in ours) == (each.status != "absent"), each.name
        assert each.note or each.status in ("same", "more"), f"{each.name}: say what differs"


@needs_peer
@pytest.mark.parametrize(
    "each", [each for each in surface.SURFACE if each.status != "absent"], ids=lambda each: each.name
)
def test_parameters(each: Any, ours: Found, theirs: Found) -> None:
    there, here = theirs[each.name], ours[each.name]
    if there is None or here is None or "Enum" in each.name or "NodeManager" in each.name:
        return
    there = {name: default for name, default in there.items() if name not in ANY}
    there |= dict.fromkeys(TOLERANCES & there.keys(), "None")
    assert there.items() <= here.items(), "a parameter, or its default, is another one here"
    more = {name for name in here if name not in there} - {"node_name", "export_with", "backend_params"}
    assert more == set(each.parameters) or each.note.startswith("`leapp."), "the table names every parameter of ours"
