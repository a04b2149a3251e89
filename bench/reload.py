# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The part of `make bench` about bundles that are swapped while they run: is a step late because of it?

reload.py            measures, prints, keeps the figures; after robot.py, which exports the bundle
reload.py --write    makes the table in docs/how_to/sign_and_swap.md from them
"""

from __future__ import annotations

import sys
from typing import Any

import pages
from processes import ROOT, call
from robot import FOLDER

PROGRAM = ROOT / "build" / "default" / "bench" / "bench_reload"
PAGE = ROOT / "docs" / "how_to" / "sign_and_swap.md"
STEPS, SWAPS = 1_000_000, 1_000
QUANTILES = ("p50", "p99", "p99.9", "max")
RUNS = {"without": "without swaps", "with": "with swaps", "swapping": "steps that swap"}
CLOCKS = {"wall": "by the clock", "cpu": "on the core"}


def row(found: dict[str, Any], run: str, clock: str) -> str:
    times = " ".join(f"{found[run][clock][quantile]:9.1f}" for quantile in QUANTILES)
    return f"  {RUNS[run] + ', ' + CLOCKS[clock]:32s} {times}"


def about(found: dict[str, Any], run: str) -> str:
    steps, stolen = found[run], found["stolen_ms"][0 if run == "without" else 1]
    return (
        f"{RUNS[run]}: {steps['long']} of {steps['steps']:,} steps took over 100 µs, {steps['long_cpu']} of them by "
        f"their own time; {steps['faults']} page faults, the core lost {steps['lost']} times, {stolen:.0f} ms stolen"
    )


def report() -> None:
    """REQUIRES: robot.report() has exported the bundle."""
    found = pages.keep("reload", call(PROGRAM, FOLDER / "robot", STEPS, SWAPS))
    print(f"\n{SWAPS:,} swaps during {STEPS:,} steps, µs per step; time on the core includes reading its clock:")
    print(f"  {'':32s} " + " ".join(f"{quantile:>9s}" for quantile in QUANTILES))
    for clock in CLOCKS:
        for run in RUNS:
            print(row(found, run, clock))
    for run in ("without", "with"):
        print(f"  {about(found, run)}")


def write() -> None:
    found = pages.kept("reload")
    head = pages.taken(found, f"{SWAPS:,} swaps during {STEPS:,} steps, microseconds for each step")
    rows = [
        [f"{what}, {when}", *(f"{found[run][clock][quantile]:.1f}" for quantile in QUANTILES)]
        for clock, when in CLOCKS.items()
        for run, what in RUNS.items()
    ]
    lines = (
        pages.table(head, ["", *QUANTILES], rows) + [""] + [f"- {about(found, run)}." for run in ("without", "with")]
    )
    pages.put(PAGE, "reload", "\n".join(lines))


if __name__ == "__main__":
    write() if sys.argv[1:] == ["--write"] else report()
