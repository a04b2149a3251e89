# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The part of `make bench` about bundles that are swapped while they run: is a step late because of it?"""

from __future__ import annotations

from processes import ROOT, call
from robot import FOLDER

PROGRAM = ROOT / "build" / "default" / "bench" / "bench_reload"
STEPS, SWAPS = 1_000_000, 1_000


def report() -> None:
    """REQUIRES: robot.report() has exported the bundle."""
    found = call(PROGRAM, FOLDER / "robot", STEPS, SWAPS)
    print(f"\n{SWAPS:,} swaps during {STEPS:,} steps, µs per step:")
    print(f"  {'':20s} {'p50':>8s} {'p99':>8s} {'p99.9':>8s} {'max':>8s}")
    for key, title in {"without": "without swaps", "with": "with swaps", "swapping": "steps that swap"}.items():
        row = found[key]
        print(f"  {title:20s} {row['p50']:8.1f} {row['p99']:8.1f} {row['p99.9']:8.1f} {row['max']:8.1f}")
