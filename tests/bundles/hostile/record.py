# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Figures that runs leave behind for docs/reports/trust.md, one file each, so that a later run replaces only its own.

from record import record
record("soak", "10,000,000 steps", {"growth in kB": 12})
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LEAPP_BUILD", ROOT / "build/default"))
FOLDER = BUILD.parent / "trust"


@dataclass(frozen=True)
class Entry:
    what: str
    figures: dict[str, Any]
    date: str


def machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release().split('-')[0]}"


def today() -> str:
    return datetime.date.today().isoformat()


def record(section: str, what: str, figures: dict[str, Any]) -> None:
    file = FOLDER / section / (re.sub(r"\W+", "_", what) + ".json")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"what": what, "figures": figures, "date": today()}) + "\n")


def entries(section: str) -> list[Entry]:
    return [Entry(**json.loads(file.read_text())) for file in sorted((FOLDER / section).glob("*.json"))]
