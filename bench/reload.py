# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The part of `make bench` about bundles that are swapped while they run: is a step late because of it?"""

from __future__ import annotations

from typing import Any

from processes import ROOT, call
from robot import FOLDER

PROGRAM = ROOT / "build" / "default" / "bench" / "bench_reload"
STEPS, SWAPS = 1_000_000, 1_000
QUANTILES = ("p50", "p99", "p99.9", "max")
RUNS = {"without": "without swaps", "with": "with swaps", "swapping": "steps that swap"}
CLOCKS = {"wall": "by the clock", "cpu": "on the core"}


def row(found: dict[str, Any], run: str, clock: str) -> str:
    times = " ".join(f"{found[run][clock][quantile]:9.1f}" for quantile in QUANTILES)
    return f"  {RUNS[run] + ', ' + CLOCKS[clock]:32s} {times}"


def report() -> None:
    """REQUIRES: robot.report() has exported the bundle."""
    found = call(PROGRAM, FOLDER / "robot", STEPS, SWAPS)
    print(f"\n{SWAPS:,} swaps during {STEPS:,} steps, µs per step; time on the core includes reading its clock:")
    print(f"  {'':32s} " + " ".join(f"{quantile:>9s}" for quantile in QUANTILES))
    for clock in CLOCKS:
        for run in RUNS:
            print(row(found, run, clock))
    for place, run in enumerate(("without", "with")):
        steps = found[run]
        print(
            f"  {RUNS[run]}: {steps['long']} steps over 100 µs, {steps['long_cpu']} of them by their own time; "
            f"{steps['faults']} page faults, core lost {steps['lost']} times, {found['stolen_ms'][place]:.0f} ms stolen"
        )


if __name__ == "__main__":
    report()
