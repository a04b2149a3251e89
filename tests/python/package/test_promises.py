# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Claims of README and docs, and the jobs that show them (tests/promises)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "promises"))

import promise_pages
import promise_table
import run_promises
from promise_table import ROOT, Fault, Job, Result, Results, Table

TABLE = promise_table.read_table()


def job(name: str = "one", command: str = "true", **fields: object) -> Job:
    return Job(**{"name": name, "shows": "it", "command": command, "code": ("VERSION",), "minutes": 0.1, **fields})


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the jobs of a test leave their results."""
    monkeypatch.setattr(run_promises, "WORK", tmp_path / "build")
    monkeypatch.setattr(run_promises, "RESULTS", tmp_path / "results.json")
    monkeypatch.delenv("LEAPP_CI", raising=False)
    return tmp_path


def results_of(*jobs: Job, budget: float = 100.0, missing: dict[str, str] | None = None) -> dict[str, Result]:
    table = Table({one.name: one for one in jobs}, (), missing or {})
    return run_promises.run_jobs(list(jobs), table, budget)


@pytest.mark.parametrize("claim", TABLE.claims, ids=lambda claim: f"{claim.page}: {claim.text[:40]}")
def test_the_claim_is_in_its_page_and_has_a_job(claim: promise_table.Claim) -> None:
    page = " ".join((ROOT / claim.page).read_text().split())
    assert " ".join(claim.text.split()) in page
    assert claim.job in TABLE.jobs


def test_files_that_the_table_names_exist() -> None:
    assert len(TABLE.jobs) > 20
    for one in TABLE.jobs.values():
        assert [path for path in one.code if not (ROOT / path).exists()] == [], one.name
        if one.fault:
            assert (ROOT / one.fault.file).read_text().count(one.fault.find) == 1, one.name
            assert set(one.fault.also) <= set(TABLE.jobs), one.name


def test_jobs_of_each_change_fit_into_the_time_they_have() -> None:
    assert all(0 < one.minutes <= 4 for one in TABLE.jobs.values() if not one.night)


def test_every_job_is_named_by_a_claim_or_waits_for_its_tool() -> None:
    silent = set(TABLE.jobs) - {claim.job for claim in TABLE.claims}
    assert silent <= {"docs", "mujoco", "tidy"}


def test_a_failed_job_does_not_stop_the_others(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = results_of(job("bad", "echo why; exit 3"), job("good"), job("pipe", "false | true"))
    assert [one.result for one in found.values()] == ["failed", "passed", "failed"]
    assert run_promises.print_table(found) == 1
    printed = capsys.readouterr().out
    assert "   why\n" in printed
    assert "exit code 3" in printed
    assert printed.endswith("1 passed, 2 failed\n")
    assert run_promises.print_table({"good": found["good"]}) == 0


def test_a_job_that_takes_too_long_is_ended(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_promises, "SHORTEST", 0.01)
    found = results_of(job(command="sleep 100 & sleep 100", minutes=0))
    assert found["one"].result == "failed"
    assert found["one"].reason.startswith("took too long")


def test_a_missing_tool_is_skipped_and_fails_in_ci(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = job(needs=("no-such-tool",))
    assert results_of(lacking)["one"].result == "skipped"
    monkeypatch.setenv("LEAPP_CI", "1")
    assert results_of(lacking)["one"].result == "failed"
    allowed = results_of(lacking, missing={"no-such-tool": "a reason"})["one"]
    assert (allowed.result, allowed.reason) == ("skipped", "no no-such-tool: a reason")


def test_what_is_no_longer_in_the_budget_is_not_run_and_does_not_fail(work: Path) -> None:
    found = results_of(job("cheap"), job("dear", minutes=5), budget=1)
    assert [one.result for one in found.values()] == ["passed", "not run"]
    assert run_promises.print_table(found) == 0


def test_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert promise_table.is_here("bash")
    assert promise_table.is_here("make test")
    assert not promise_table.is_here("make nothing")
    assert not promise_table.is_here("python3.99")
    assert promise_table.is_here("LEAPP_ARM64")
    monkeypatch.setenv("LEAPP_ARM64", "0")
    assert not promise_table.is_here("LEAPP_ARM64")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(promise_table, "ROOT", tmp_path)
    monkeypatch.setattr(run_promises, "ROOT", tmp_path)
    for command in (["init", "-q"], ["config", "user.name", "n"], ["config", "user.email", "e"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "other").write_text("1")
    (tmp_path / "VERSION").write_text("1")
    commit(tmp_path)
    return tmp_path


def commit(folder: Path) -> None:
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "m"], cwd=folder, check=True)


def test_a_claim_is_verified_until_the_code_of_its_job_changes(repository: Path) -> None:
    one = job()
    results = Results({"one": Result("passed", code=promise_table.digest_of(one), date="2026-01-02", commit="c0")})
    table = Table({"one": one}, (promise_table.Claim("README.md", "It [works](docs/a.md).", "one"),), {})
    row = "| It works. | [README.md](../../README.md) | `one` | verified |"
    assert row in promise_pages.support_page(table, results)
    (repository / "other").write_text("2")
    (repository / "docs" / "reports").mkdir(parents=True)
    (repository / "docs" / "reports" / "promises.md").write_text("the page")
    commit(repository)
    assert promise_table.is_verified(one, results)
    assert promise_table.digest_of(job(code=("VERSION", "docs"))) == promise_table.digest_of(one)
    (repository / "VERSION").write_text("2")
    assert promise_table.digest_of(one) == ""  # not committed
    commit(repository)
    assert "| *not verified* |" in promise_pages.support_page(table, results)
    assert "passed, 0 s | 2026-01-02 | c0 |" in promise_pages.support_page(table, results)


def test_a_night_is_resumed_and_remembered(
    repository: Path, work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Table({name: job(name, night=True) for name in ("first", "second")}, (), {})
    assert "no result in this history: first, second" in promise_pages.night_reminder(table, Results())
    assert run_promises.run_jobs([table.jobs["first"]], table, 100.0)["first"].result == "passed"
    assert [one.name for one in run_promises.night_jobs(table)] == ["second"]
    run_promises.run_jobs([table.jobs["second"]], table, 100.0)
    results = promise_table.read_results(run_promises.RESULTS)
    assert promise_pages.night_reminder(table, results) == ""
    monkeypatch.setattr(promise_pages, "COMMITS", 0)
    commit_something = repository / "more"
    commit_something.write_text("1")
    commit(repository)
    assert "older than 0 commits: first, second" in promise_pages.night_reminder(table, results)
    assert "| `first` | it | `true` | passed, " in promise_pages.night_page(table, results)


def test_a_fault_fails_its_own_job_and_is_undone(repository: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = job("ours", "grep -q 1 VERSION", fault=Fault("VERSION", "1", "2"))
    theirs = job("theirs", "grep -q 1 other")
    both = job("both", "grep -q 1 VERSION other")
    assert run_promises.try_faults([ours], [theirs]) == 0
    assert (repository / "VERSION").read_text() == "1"
    assert run_promises.try_faults([ours], [job("same", "grep -q 1 VERSION")]) == 1
    assert run_promises.try_faults([job("blind", fault=Fault("VERSION", "1", "2"))], []) == 1
    assert run_promises.try_faults([ours], [both]) == 0  # one of two files still has it


def test_the_page_of_results_has_every_claim_and_job() -> None:
    page = promise_pages.SUPPORT.read_text()
    for claim in TABLE.claims:
        assert promise_pages.cell(promise_pages.without_links(claim.text)) in page, claim.text
    for one in TABLE.jobs.values():
        assert f"| `{one.name}` |" in page
    assert promise_table.read_results(promise_table.COMMITTED).jobs
