# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Draw runs as a page that needs nothing else. Usage: animate.py OUT.html FIRST_FRAME.csv EXPORTED.csv"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

from policy import FREQUENCY

PAGE = Path(__file__).resolve().parent / "page.html"


def read(file: str) -> dict[str, list[float]]:
    with open(file, encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {name: [round(float(row[name]), 5) for row in rows] for name in rows[0]}


def main(out: str, first_frame: str, exported: str) -> None:
    data = {"frequency": FREQUENCY, "runs": [read(first_frame), read(exported)]}
    page = PAGE.read_text(encoding="utf-8").replace("/* DATA */ null", json.dumps(data, separators=(",", ":")))
    Path(out).write_text(page, encoding="utf-8")
    print(f"{out}: {len(page) // 1024} kB")


if __name__ == "__main__":
    main(*sys.argv[1:4])
