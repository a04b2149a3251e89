# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The same programs on the LEAPP of PyPI and on this one: the same ports, edges, numbers and answers.

Every difference is in differences.py, with the reason. A difference that is gone fails too. The other package lives in
an environment of its own, which `scripts/setup --peer` makes.
"""

from __future__ import annotations

import os
from pathlib import Path

import both as runs
import differences
import parity_page
import pytest

pytestmark = pytest.mark.skipif(
    not runs.PEER.exists(), reason=f"{runs.PEER.relative_to(runs.ROOT)} does not exist; scripts/setup --peer makes it"
)


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> runs.Both:
    base = tmp_path_factory.getbasetemp()
    return runs.Both((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "parity")


@pytest.mark.parametrize("program", runs.names())
def test_the_same_bundle(program: str, both: runs.Both) -> None:
    found = both.differences(program)
    known = differences.PROGRAMS.get(program, {})
    # Where ports differ, so do the edges and the state that go through them; a wrong model fails its own check there.
    follows = {"edges", "initial values"} if "ports" in known else set()
    follows |= {"validation"} if known.keys() & {"ports", "numbers"} else set()
    unknown = {part: values for part, values in found.items() if part not in known and part not in follows}
    assert not unknown, f"the peer's and ours differ: {unknown}"
    assert set(known) <= set(found), f"no longer different: {set(known) - set(found)}"


@pytest.mark.parametrize("probe", runs.probe_names())
def test_the_same_answer(probe: str, both: runs.Both) -> None:
    peer, ours = both.answers(probe)
    if probe in differences.PROBES:
        assert ours != peer, "no longer different"
    else:
        assert ours == peer


def test_every_difference_has_a_program() -> None:
    assert set(differences.PROGRAMS) <= set(runs.names())
    assert set(differences.PROBES) <= set(runs.probe_names())


def test_the_page_is_made_from_the_tables() -> None:
    file = Path(runs.ROOT, "docs", "reference", "coming_from_leapp.md")
    assert file.read_text() == parity_page.text(), "run tests/parity/parity_page.py"
