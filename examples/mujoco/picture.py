# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Draw a run as a moving picture (SVG) for pages that run no scripts. Usage: picture.py OUT.svg RUN.csv"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

LINKS = {"shoulder": 0.4, "elbow": 0.35, "wrist": 0.2}
EVERY = 5  # frames of the run to one of the picture: ten a second
WIDTH, HEIGHT, SCALE = 560, 300, 300


def place(x: float, z: float) -> str:
    return f"{140 + SCALE * x:.0f},{170 - SCALE * z:.0f}"


def joints(row: dict[str, float]) -> list[str]:
    """The arm's four points, from its foot to its tip."""
    points, x, z, angle = [place(0, 0)], 0.0, 0.0, 0.0
    for joint, length in LINKS.items():
        angle += row[joint]
        x, z = x + length * math.cos(angle), z + length * math.sin(angle)
        points.append(place(x, z))
    return points


def moving(attribute: str, values: list[str], seconds: float) -> str:
    every = ";".join(values)
    return f'<animate attributeName="{attribute}" dur="{seconds:g}s" repeatCount="indefinite" values="{every}"/>'


def main(out: str, run: str) -> None:
    with open(run, encoding="utf-8") as lines:
        every_row = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]
    rows = every_row[::EVERY]
    seconds = round(every_row[-1]["time"] - every_row[0]["time"])
    arms = [joints(row) for row in rows]
    targets = [place(row["target_x"], row["target_z"]).split(",") for row in rows]
    path = " ".join(place(row["target_x"], row["target_z"]) for row in every_row[::EVERY])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        "<title>A trained arm follows its target, driven by a LEAPP bundle</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#f6f8fa"/>',
        f'<polyline points="{path}" fill="none" stroke="#9fb0c0" stroke-dasharray="4 5"/>',
    ]
    for link, width in enumerate((22, 17, 12)):
        lines_of = [f"{arm[link]} {arm[link + 1]}" for arm in arms]
        parts.append(
            f'<polyline points="{lines_of[0]}" fill="none" stroke="#1565c0" stroke-width="{width}" '
            f'stroke-linecap="round">{moving("points", lines_of, seconds)}</polyline>'
        )
    parts += [
        f'<circle cx="{targets[0][0]}" cy="{targets[0][1]}" r="7" fill="#2e7d32">'
        f"{moving('cx', [x for x, _ in targets], seconds)}{moving('cy', [y for _, y in targets], seconds)}</circle>",
        "</svg>",
    ]
    Path(out).write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
