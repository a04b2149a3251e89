# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Reads promises.toml, which holds the jobs and the claims that they show, and the results of the jobs.

A result belongs to the content of the files that the job depends on, not to a commit: it stays valid through a rebase
or a merge, and becomes invalid with the first change of one of these files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("promises.toml")
COMMITTED = Path(__file__).with_name("results.json")
WORK = ROOT / "build" / "promises"
# Files that the results are written to: to commit them makes no result obsolete.
WRITTEN = ("tests/promises/results.json", "docs/reports/promises.md", "docs/reports/night.md")


@dataclass(frozen=True)
class Fault:
    """A change of one file that makes the job fail, and those of `also`: `find` becomes `replace`."""

    file: str
    find: str
    replace: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    name: str
    shows: str
    command: str  # for bash, in the root of the repository
    code: tuple[str, ...]  # files and folders whose change makes a result obsolete
    minutes: float  # on two idle cores, with nothing in ccache but the default preset
    needs: tuple[str, ...] = ()
    night: bool = False
    fault: Fault | None = None


@dataclass(frozen=True)
class Claim:
    page: str
    text: str
    job: str


@dataclass(frozen=True)
class Table:
    jobs: dict[str, Job]
    claims: tuple[Claim, ...]
    may_be_missing: dict[str, str]  # what CI may lack, and why


@dataclass
class Result:
    result: str  # passed, failed, skipped or not run
    reason: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    commit: str = ""
    date: str = ""
    code: str = ""  # digest of the files that the job depends on; empty if some were not committed


@dataclass
class Results:
    jobs: dict[str, Result] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        entries = {name: asdict(result) for name, result in sorted(self.jobs.items())}
        path.write_text(json.dumps(entries, indent=1) + "\n")


def read_job(entry: dict[str, Any], groups: dict[str, list[str]]) -> Job:
    paths = [path for part in entry["code"] for path in (groups[part[1:]] if part.startswith("@") else [part])]
    fault = entry.get("fault")
    return Job(
        **{
            **entry,
            "code": tuple(paths),
            "needs": tuple(entry.get("needs", ())),
            "fault": Fault(**{**fault, "also": tuple(fault.get("also", ()))}) if fault else None,
        }
    )


def read_table(path: Path = TABLE) -> Table:
    content = tomllib.loads(path.read_text())
    jobs: dict[str, Job] = {}
    for entry in content["job"]:
        if entry["name"] in jobs:
            raise ValueError(f"{path.name}: two jobs are named {entry['name']}")
        jobs[entry["name"]] = read_job(entry, content["code"])
    claims = tuple(
        Claim(page["page"], text, job)
        for page in content["page"]
        for job, texts in page["claims"].items()
        for text in texts
    )
    return Table(jobs, claims, content["may_be_missing"])


def read_results(path: Path) -> Results:
    if not path.exists():
        return Results()
    return Results({name: Result(**entry) for name, entry in json.loads(path.read_text()).items()})


def git(*arguments: str) -> str:
    """The output of git, or nothing where there is no repository or no such commit."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def without_written(lines: str) -> list[str]:
    return [line for line in lines.splitlines() if not line.endswith(WRITTEN)]


def digest_of(job: Job) -> str:
    """Of the committed content of the files that the job depends on; empty if they have changes."""
    if without_written(git("status", "--porcelain", "--", *job.code)):
        return ""
    listed = "\n".join(without_written(git("ls-tree", "-r", "HEAD", "--", *job.code)))
    return hashlib.sha256(listed.encode()).hexdigest()[:16] if listed else ""


def is_verified(job: Job, results: Results) -> bool:
    """Whether the job passed with the code that is committed."""
    result = results.jobs.get(job.name)
    return result is not None and result.result == "passed" and result.code != "" and result.code == digest_of(job)


def find_interpreter(version: str) -> str:
    """The path of python VERSION, or nothing: in PATH, of pyenv, in /usr/local."""
    command = f'. scripts/pythons.sh; find_python "{version}"'
    return subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def is_here(need: str) -> bool:
    """An interpreter (python3.12), a target of the Makefile (make docs), a switch that is not 0 (LEAPP_ARM64), apt as
    root, or else a command."""
    if match := re.fullmatch(r"python(3\.\d+)", need):
        return find_interpreter(match[1]) != ""
    if need.startswith("make "):
        return re.search(rf"^{re.escape(need[5:])}:", (ROOT / "Makefile").read_text(), re.MULTILINE) is not None
    if need.isupper():
        return os.environ.get(need) != "0"
    if need == "apt":
        return shutil.which("apt-get") is not None and (os.geteuid() == 0 or shutil.which("sudo") is not None)
    return shutil.which(need) is not None
