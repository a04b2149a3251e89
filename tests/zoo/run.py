# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the zoo: every network, each way in a process of its own, and writes the table of docs/reports/networks.md.

run.py [--only TEXT | --sample] [--ways jit,onnx,torch] [--jobs 2] [--again] [--write]

What was found is kept in build/zoo/results.json as it comes, and only what is missing is run; --again runs all. --write
writes the table. Exit 1 when a network came out wrong, or fewer were right than expected.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import catalogue
import zoo_page

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "build" / "zoo" / "results.json"
SECONDS = 300  # of patience with a network
# One of each library, for `make test-promises`: all of them have to be right.
SAMPLE = (
    "torchvision/mobilenet_v3_small",
    "timm/vit_tiny_patch16_224",
    "transformers/BertModel",
    "diffusers/DiTTransformer2DModel",
    "lerobot/SmolVLA",
)

Outcome = dict[str, Any]
Results = dict[str, dict[str, Outcome]]  # network -> way -> outcome


def run_some(names: list[str], way: str) -> Iterator[tuple[str, Outcome]]:
    """Networks of one library, in a process that imports it once."""
    command = [sys.executable, str(Path(__file__).with_name("run_one.py")), way, str(SECONDS), *names]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    missing = dict.fromkeys(names)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        for line in process.stdout or ():
            if line.startswith('{"network"'):
                found = json.loads(line)
                del missing[found["network"]]
                yield found["network"], found["outcome"]
    for name in missing:
        yield name, {"status": "failed", "reason": f"the process ended with {process.returncode}"}


def read_results() -> Results:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def keep(name: str, way: str, outcome: Outcome) -> None:
    """Beside what others keep meanwhile: several runs may be under way, for different ways."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        results = read_results()
        results.setdefault(name, {})[way] = outcome
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True))


class Progress:
    """Takes outcomes from several threads, keeps them in the file, and tells of each."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.began, self.lock = time.monotonic(), threading.Lock()

    def take(self, name: str, way: str, outcome: Outcome) -> None:
        with self.lock:
            self.done += 1
            keep(name, way, outcome)
            minutes = (time.monotonic() - self.began) / 60
            reason = (outcome["reason"].splitlines() or [""])[0][:150]
            print(
                f"[{self.done}/{self.total}, {minutes:.1f} min] {name} {way}: {outcome['status']} {reason}", flush=True
            )


def run_all(names: list[str], ways: list[str], jobs: int, again: bool) -> Results:
    known = read_results()
    groups: dict[tuple[str, str], list[str]] = {}
    for name in names:
        for way in ways:
            if again or way not in known.get(name, {}):
                groups.setdefault((catalogue.library_of(name), way), []).append(name)
    progress = Progress(sum(map(len, groups.values())))

    def work(way: str, some: list[str]) -> None:
        for name, outcome in run_some(some, way):
            progress.take(name, way, outcome)

    with ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(work, way, some) for (_, way), some in groups.items()]:
            future.result()
    return read_results()


def all_names() -> list[str]:
    """A library that cannot be imported ends the run: a table without it would say nothing of it."""
    return [f"{library}/{name}" for library in catalogue.LIBRARIES for name in catalogue.table(library)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="networks whose name has this in it")
    parser.add_argument("--sample", action="store_true", help="five networks, which all have to be right")
    parser.add_argument("--ways", default="jit,onnx,torch")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--again", action="store_true", help="also what there are results of")
    parser.add_argument("--write", action="store_true", help="the table of docs/reports/networks.md")
    options = parser.parse_args()
    names = list(SAMPLE) if options.sample else all_names()
    chosen = [name for name in names if options.only in name]
    results = run_all(chosen, options.ways.split(","), options.jobs, options.again)
    known = {name: results[name] for name in names if name in results}
    print(zoo_page.summary(known))
    if options.sample:
        return (
            0
            if all(results[name][way]["status"] == "right" for name in names for way in options.ways.split(","))
            else 1
        )
    if options.write:
        zoo_page.write(known)
    return 0 if options.only or zoo_page.as_expected(known) else 1


if __name__ == "__main__":
    sys.exit(main())
