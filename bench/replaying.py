# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The part of `make bench` about `leapp replay`: in one process, on Ray with one and two workers; the same files?

replaying.py            measures, prints, keeps the figures; needs build/fleet-venv (scripts/setup --fleet)
replaying.py --write    makes the table in docs/how_to/run_a_fleet.md from them
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pages
from processes import ROOT, call

FLEET = ROOT / "build" / "fleet-venv" / "bin" / "python"
PAGE = ROOT / "docs" / "how_to" / "run_a_fleet.md"
EPISODES, STEPS = 200, 1_000
WORKERS = {0: "in one process", 1: "Ray, 1 worker", 2: "Ray, 2 workers"}


def make(folder: Path) -> dict[str, Any]:
    """A GRU policy and episodes for it."""
    import numpy as np

    sys.path.insert(0, str(ROOT / "tests" / "python" / "support"))
    from fleet_bundles import gru

    gru(folder / "gru")
    (folder / "data").mkdir()
    for episode in range(EPISODES):
        values = np.random.default_rng(episode).standard_normal((STEPS, 1, 48)).astype(np.float32)
        np.savez(folder / "data" / f"run{episode:03d}.npz", **{"policy/obs": values})
    return {}


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def births(folder: Path) -> list[float]:
    """When its files came to be, in order. Not when they were modified, which is what the data say, nor when they got
    their names, which many do at once."""
    told = subprocess.run(["stat", "-c", "%.W", *folder.iterdir()], check=True, capture_output=True, text=True).stdout
    return sorted(map(float, told.split()))


def measure(folder: Path, workers: int) -> dict[str, Any]:
    """Seconds of the command, and from its first file to its last: without what it takes to start."""
    output = folder / f"out{workers}"
    told = ["--data", folder / "data", "--output", output, "--workers", workers, "--json"]
    start = time.monotonic()
    done = call(FLEET, "-m", "leapp", "replay", folder / "gru", *told)
    seconds = time.monotonic() - start
    assert (done["episodes"], done["steps"]) == (EPISODES, EPISODES * STEPS)
    written = births(output / "steps")
    return {"seconds": seconds, "steps_per_second": (EPISODES - 1) * STEPS / (written[-1] - written[0])}


def report() -> None:
    if not FLEET.exists():
        print("\nreplay: no build/fleet-venv (scripts/setup --fleet), not measured")
        return
    load = os.getloadavg()[0]  # wall time: others on the machine count
    with TemporaryDirectory() as name:
        folder = Path(name)
        call(FLEET, ROOT / "bench" / "replaying.py", "make", folder)
        found = {str(workers): measure(folder, workers) for workers in WORKERS}
        files = [files_of(folder / f"out{workers}") for workers in WORKERS]
    kept = pages.keep("replaying", {"runs": found, "same": all(one == files[0] for one in files), "load": load})
    print(f"\nreplay of {EPISODES} episodes of {STEPS:,} steps, GRU-64: steps per second, seconds of the whole command")
    for workers, title in WORKERS.items():
        run = kept["runs"][str(workers)]
        print(f"  {title:16s} {run['steps_per_second']:10,.0f} {run['seconds']:8.1f} s")
    print(f"  {'the same files, byte for byte' if kept['same'] else 'THE FILES DIFFER'}")


def write() -> None:
    found = pages.kept("replaying")
    lines = [
        f"{found['cpu']}, {found['date']}; {EPISODES} episodes of {STEPS:,} steps, a GRU-64 policy, by the clock; "
        f"load of the machine before that: {found['load']:.1f}:",
        "",
        "| | steps per second, once it runs | seconds of the whole command |",
        "|---|---|---|",
    ]
    for workers, title in WORKERS.items():
        run = found["runs"][str(workers)]
        lines.append(f"| {title} | {run['steps_per_second']:,.0f} | {run['seconds']:.1f} |")
    same = "are the same" if found["same"] else "DIFFER"
    lines += ["", f"The Parquet files of the three {same}, byte for byte."]
    pages.put(PAGE, "replaying", "\n".join(lines))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    elif sys.argv[1:2] == ["make"]:
        make(Path(sys.argv[2]))
        print("{}")
    else:
        report()
