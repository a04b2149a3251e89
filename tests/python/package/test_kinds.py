# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""`leapp check` knows every kind that the package names, so that it asks about typing mistakes alone."""

from __future__ import annotations

import re
from pathlib import Path

from leapp.kinds import InputKindEnum, Kind, OutputKindEnum

LINT = Path(__file__).resolve().parents[3] / "src/inspect/lint.cpp"


def test_check_knows_every_kind_of_the_package() -> None:
    table = LINT.read_text().split("kKnownKinds", 1)[1].split("});", 1)[0]
    known = set(re.findall(r'"([^"]+)"', table))
    for kinds in (InputKindEnum, OutputKindEnum, Kind):
        assert {kind.value for kind in kinds} <= known
