# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the jobs of promises.toml, one after the other, and prints a table of their results.

run_promises.py [JOB...]              these jobs; by default all that are not for the night
run_promises.py --budget 25           start no job that is not expected to end within 25 minutes
run_promises.py --night               the long jobs; repeat the command to resume an interrupted run
run_promises.py --faults [JOB...]     break each job deliberately, and expect it to fail
run_promises.py --write               write docs/reports/promises.md and docs/reports/night.md from the results

A failed job does not stop the others. The output of each goes to build/promises/JOB.log. Exit code 1 if one failed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import promise_pages
from promise_table import (
    COMMITTED,
    ROOT,
    WORK,
    Fault,
    Job,
    Result,
    Table,
    digest_of,
    git,
    is_here,
    is_verified,
    read_results,
    read_table,
)

RESULTS = WORK / "results.json"
PATIENCE = 4  # times the minutes that a job is expected to take: machines are shared
SHORTEST = 5.0  # minutes that every job has at least


def environment() -> dict[str, str]:
    """What commands of jobs use: the package of the default preset, and what brings it up to date."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "build" / "default" / "python"),
        "BUILD": "cmake --build --preset default --target",
        "PACKAGE": "_capture _runtime leapp_engine_torch leapp_draw leapp_cli step_bundle",
    }


def run_command(job: Job, log: Path) -> tuple[int | None, float, float]:
    """Exit code, or None if time ran out; seconds; seconds of the processor."""
    limit = 60 * max(SHORTEST, PATIENCE * job.minutes)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", job.command],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code: int | None
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return code, time.monotonic() - began, cpu


def run_job(job: Job) -> Result:
    WORK.mkdir(parents=True, exist_ok=True)
    log = WORK / f"{job.name}.log"
    digest = digest_of(job)
    code, seconds, cpu = run_command(job, log)
    result = Result(
        "passed" if code == 0 else "failed",
        seconds=round(seconds, 1),
        cpu_seconds=round(cpu, 1),
        commit=git("rev-parse", "--short=10", "HEAD"),
        date=datetime.date.today().isoformat(),
        code=digest,
    )
    if code != 0:
        result.reason = "took too long" if code is None else f"exit code {code}"
        result.reason += f", see {os.path.relpath(log, ROOT)}"
    return result


def what_is_missing(job: Job, table: Table) -> Result | None:
    """None if everything is here. In CI a missing tool is a failure, unless the table says why it may be missing."""
    for need in job.needs:
        if is_here(need):
            continue
        reason = table.may_be_missing.get(need)
        if "LEAPP_CI" in os.environ and reason is None:
            return Result("failed", f"no {need}")
        return Result("skipped", f"no {need}: {reason}" if reason else f"no {need}")
    return None


def run_jobs(jobs: list[Job], table: Table, budget: float) -> dict[str, Result]:
    began, found = time.monotonic(), {}
    for job in jobs:
        elapsed = (time.monotonic() - began) / 60
        result = what_is_missing(job, table)
        if result is None and elapsed + job.minutes > budget:
            result = Result("not run", "no time left")
        if result is None:
            print(f"== {job.name}: {job.shows}", flush=True)
            result = run_job(job)
            keep(job, result)
            if result.result == "failed":
                print_end_of(WORK / f"{job.name}.log")
        print(f"== {job.name}: {result.result}, {result.seconds:.1f} s {result.reason}".rstrip(), flush=True)
        found[job.name] = result
    return found


def keep(job: Job, result: Result) -> None:
    """At once, so that an interrupted run loses one job at most."""
    results = read_results(RESULTS)
    results.jobs[job.name] = result
    results.write(RESULTS)


def print_end_of(log: Path) -> None:
    for line in log.read_text(errors="replace").splitlines()[-30:]:
        print(f"   {line}")


def print_table(found: dict[str, Result]) -> int:
    """The exit code too."""
    width = max(map(len, found), default=3)
    print(f"\n{'job':{width}}  {'result':8}  {'seconds':>7}  {'CPU':>7}")
    for name, result in found.items():
        line = f"{name:{width}}  {result.result:8}  {result.seconds:7.1f}  {result.cpu_seconds:7.1f}  {result.reason}"
        print(line.rstrip())
    count = {kind: sum(r.result == kind for r in found.values()) for kind in ("passed", "failed", "skipped", "not run")}
    total = sum(result.seconds for result in found.values())
    print(f"{total / 60:.1f} minutes in all; {count['skipped']} skipped, {count['not run']} not run")
    print(f"{count['passed']} passed, {count['failed']} failed", flush=True)
    return 1 if count["failed"] else 0


# ---- night ----


def night_jobs(table: Table) -> list[Job]:
    """Without those that already passed with this code: that is how an interrupted run is resumed."""
    results = read_results(RESULTS)
    waiting = []
    for job in table.jobs.values():
        if not job.night:
            continue
        if is_verified(job, results):
            print(f"== {job.name}: passed with this code on {results.jobs[job.name].date}")
        else:
            waiting.append(job)
    return waiting


# ---- faults ----


@contextmanager
def applied(fault: Fault) -> Iterator[None]:
    path = ROOT / fault.file
    if git("status", "--porcelain", "--", fault.file):
        raise SystemExit(f"{fault.file} has changes that are not committed: commit them before its fault is tried")
    before = path.read_bytes()
    if before.count(fault.find.encode()) != 1:
        raise SystemExit(f"{fault.file}: expected one {fault.find!r}, found {before.count(fault.find.encode())}")
    try:
        path.write_bytes(before.replace(fault.find.encode(), fault.replace.encode()))
        yield
    finally:
        path.write_bytes(before)


def try_faults(jobs: list[Job], others: list[Job]) -> int:
    """Each fault has to fail its own job, and of `others` those only that its entry names."""
    wrong = 0
    for job in jobs:
        if job.fault is None:
            continue
        tried = [job, *(other for other in others if other is not job)]
        with applied(job.fault):
            red = {one.name for one in tried if run_job(one).result == "failed"}
        as_expected = red == {one.name for one in tried} & {job.name, *job.fault.also}
        wrong += not as_expected
        names = ", ".join(sorted(red)) or "none"
        print(f"{job.name}: fault in {job.fault.file}: {len(tried)} jobs ran, failed: {names}", flush=True)
    print(f"{wrong} faults with another outcome than expected")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", metavar="JOB")
    parser.add_argument("--budget", type=float, default=float("inf"), metavar="MINUTES")
    parser.add_argument("--night", action="store_true", help="run the long jobs, or resume them")
    parser.add_argument("--faults", action="store_true", help="break each job deliberately")
    parser.add_argument("--others", nargs="*", default=[], metavar="JOB", help="with --faults: must still pass")
    parser.add_argument("--write", action="store_true", help="write the pages of results")
    parser.add_argument("--list", action="store_true", help="print the jobs")
    options = parser.parse_args()
    table = read_table()
    if unknown := [name for name in [*options.jobs, *options.others] if name not in table.jobs]:
        parser.error(f"no job {', '.join(unknown)}; --list prints them")
    if options.list:
        for job in table.jobs.values():
            print(f"{job.name:16} {'night' if job.night else f'{job.minutes:g} min':>8}  {job.shows}")
        return 0
    if options.write:
        promise_pages.write(table, promise_pages.merged(read_results(COMMITTED), read_results(RESULTS)))
        return 0
    chosen = [job for job in table.jobs.values() if job.name in options.jobs or (not options.jobs and not job.night)]
    if options.faults:
        return try_faults(chosen, [table.jobs[name] for name in options.others])
    if options.night and not options.jobs:
        chosen = night_jobs(table)
    found = run_jobs(chosen, table, options.budget)
    if reminder := promise_pages.night_reminder(table, read_results(COMMITTED)):
        print(reminder)
    return print_table(found)


if __name__ == "__main__":
    sys.exit(main())
