# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of results: docs/reports/promises.md for the claims, docs/reports/night.md for the long jobs."""

from __future__ import annotations

import re

from promise_table import COMMITTED, ROOT, Job, Result, Results, Table, git, is_verified

SUPPORT = ROOT / "docs" / "reports" / "promises.md"
NIGHT = ROOT / "docs" / "reports" / "night.md"
COMMITS = 100  # between two nights

SUPPORT_HEAD = """# What is promised, and what shows it

Each row is a sentence of a page that promises a version, a platform, a limit or a guarantee, with the job that shows it
and the last result of this job. A claim is *not verified* if its job did not pass, or if the code that it depends on
changed since. `make support` writes this page from the results of `make test-promises` and `make test-night`
([tests/promises](../../tests/promises/README.md)).

"""
NIGHT_HEAD = """# Long jobs

`make test-night` runs these jobs; to resume an interrupted run, repeat the command. `make support` writes this page.
Hours are those of a shared machine with two cores.

"""


def merged(committed: Results, new: Results) -> Results:
    """New results replace committed ones; a job that was removed or not run keeps nothing new."""
    ran = {name: result for name, result in new.jobs.items() if result.result in ("passed", "failed")}
    return Results({**committed.jobs, **ran})


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def heading_of(page: str) -> str:
    return page if page.isupper() else page.removeprefix("docs/")


def link_to(page: str) -> str:
    target = f"../{page.removeprefix('docs/')}" if page.startswith("docs/") else f"../../{page}"
    return f"[{heading_of(page)}]({target})"


def without_links(text: str) -> str:
    """A quoted link would lead elsewhere from another folder."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def status(job: Job, results: Results) -> str:
    if is_verified(job, results):
        return "verified"
    result = results.jobs.get(job.name)
    if result is not None and result.result == "failed":
        return "**failed**"
    return "*not verified*"


def run_of(result: Result | None) -> str:
    """Result, seconds, date and commit, as cells of a table."""
    if result is None:
        return "never run | | |"
    return f"{result.result}, {result.seconds:.0f} s | {result.date} | {result.commit} |"


def support_page(table: Table, results: Results) -> str:
    lines = ["## Claims", "", "| claim | page | job | status |", "|---|---|---|---|"]
    for claim in table.claims:
        job = table.jobs[claim.job]
        text = cell(without_links(claim.text))
        lines.append(f"| {text} | {link_to(claim.page)} | `{job.name}` | {status(job, results)} |")
    lines += ["", "## Jobs", "", "`make test-promises JOBS=NAME` runs one of them.", ""]
    lines += ["| job | shows | command | result | date | commit |", "|---|---|---|---|---|---|"]
    for job in table.jobs.values():
        command = cell(" ".join(job.command.split()))
        lines.append(f"| `{job.name}` | {cell(job.shows)} | `{command}` | {run_of(results.jobs.get(job.name))}")
    lines += [
        "",
        "## Faults",
        "",
        "A deliberate fault for each job, that fails this job (`make test-promises FAULTS=1`):",
        "",
    ]
    lines += ["| job | file | instead of | write |", "|---|---|---|---|"]
    for job in table.jobs.values():
        if fault := job.fault:
            old, new = (cell(" ".join(text.split())) for text in (fault.find, fault.replace))
            lines.append(f"| `{job.name}` | {fault.file} | `{old}` | {f'`{new}`' if new else 'nothing'} |")
    return SUPPORT_HEAD + "\n".join(lines) + "\n"


def night_page(table: Table, results: Results) -> str:
    lines = ["| job | shows | command | result | date | commit |", "|---|---|---|---|---|---|"]
    for job in table.jobs.values():
        if job.night:
            command = cell(" ".join(job.command.split()))
            lines.append(f"| `{job.name}` | {cell(job.shows)} | `{command}` | {run_of(results.jobs.get(job.name))}")
    return NIGHT_HEAD + "\n".join(lines) + "\n"


def write(table: Table, results: Results) -> None:
    results = Results({name: result for name, result in results.jobs.items() if name in table.jobs})
    results.write(COMMITTED)
    SUPPORT.write_text(support_page(table, results))
    NIGHT.write_text(night_page(table, results))


def night_reminder(table: Table, results: Results) -> str:
    """One sentence when the oldest result of a long job is older than COMMITS commits; empty otherwise."""
    ages = []
    for job in table.jobs.values():
        if job.night:
            result = results.jobs.get(job.name)
            count = git("rev-list", "--count", f"{result.commit}..HEAD") if result else ""
            ages.append((int(count) if count else None, job.name))
    never = [name for age, name in ages if age is None]
    old = [name for age, name in ages if age is not None and age > COMMITS]
    if not never and not old:
        return ""
    parts = [f"older than {COMMITS} commits: {', '.join(old)}"] * bool(old)
    parts += [f"no result in this history: {', '.join(never)}"] * bool(never)
    return f"Reminder: run `make test-night` ({'; '.join(parts)})."
