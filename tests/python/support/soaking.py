# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What soaks have in common: rounds, after the first tenth of which nothing is added to the process."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bundles/hostile"))
import record

STEPS = int(os.environ.get("LEAPP_SOAK_STEPS", 10_000_000))
ROUNDS = int(os.environ.get("LEAPP_SOAK_ROUNDS", 1_000))
MOST_GROWTH_KB = 4_000  # what an allocator keeps for itself


def resident() -> int:
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def open_things() -> dict[str, int]:
    """Files and threads of this process, and pieces of its memory, in tens: an allocator has some more or less."""
    counts = {what: len(os.listdir(f"/proc/self/{what}")) for what in ("fd", "task")}
    return counts | {"maps": len(Path("/proc/self/maps").read_text().splitlines()) // 10}


def stays_flat(what: str, action: Callable[[int], bool], rounds: int, each: int = 1) -> None:
    """The first tenth fills caches; after it nothing is added, but for a few pieces that an allocator keeps, which come
    once: what a leak loses, it loses in the second half too.

    `action` is a round, or `each` of them, and says whether it compared a result.
    """
    before, half, compared = 0, 0, 0
    start = time.process_time()
    for i in range(rounds):
        if i == rounds // 10:
            before = resident()
        if i == rounds // 2:
            half = resident()
        compared += action(i)
    growth, later = resident() - before, resident() - half
    assert compared > 0
    assert growth < 4 * MOST_GROWTH_KB, f"{growth} kB in {rounds - rounds // 10} rounds"
    assert later < MOST_GROWTH_KB // 2, f"{later} kB in the last {rounds - rounds // 2} of {rounds} rounds"
    figures = {"rounds": rounds * each, "growth in kB": growth, "compared": compared}
    record.record("soak", what, figures | {"CPU seconds": round(time.process_time() - start)})
