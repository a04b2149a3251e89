# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes on Ray: as many workers as one likes, workers that die, a driver that dies."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from leapp.fleet import ReplayOptions, replay


def files_of(folder: Path) -> dict[str, bytes]:
    wanted = [*folder.rglob("*.parquet"), folder / "replay.html"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(wanted)}


@pytest.fixture(scope="module")
def expected(gru_bundle: Path, episodes: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What this process makes of it."""
    folder = tmp_path_factory.mktemp("expected")
    summary = replay(ReplayOptions([gru_bundle], episodes, folder, workers=0))
    assert (summary.episodes, summary.steps, summary.skipped) == (40, 8000, 0)
    return files_of(folder)


def command(bundle: Path, data: Path, output: Path, workers: int) -> list[str]:
    told = ["--data", str(data), "--output", str(output), "--workers", str(workers)]
    return [sys.executable, "-m", "leapp", "replay", str(bundle), *told]


@pytest.mark.parametrize("workers", [1, 2])
def test_results_do_not_depend_on_who_works(
    gru_bundle: Path, episodes: Path, tmp_path: Path, expected: dict[str, bytes], workers: int
) -> None:
    done = subprocess.run(
        command(gru_bundle, episodes, tmp_path / "out", workers), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"on Ray, {workers} workers" in done.stdout
    assert files_of(tmp_path / "out") == expected


def children(of: int) -> list[int]:
    """Processes of Ray that work on our episodes, below that one."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            title = (entry / "cmdline").read_bytes()
            if b"ray::MapWorker" not in title:
                continue
            # Its own environment is gone, overwritten by the title; that of the raylet is there.
            parent = next(line for line in (entry / "status").read_text().splitlines() if line.startswith("PPid"))
            environment = Path("/proc", parent.split()[1], "environ").read_bytes()
        except (OSError, StopIteration):
            continue
        if f"LEAPP_TEST_RUN={of}".encode() in environment:
            found.append(int(entry.name))
    return found


def wait_for(condition: object, process: subprocess.Popen[bytes], seconds: float = 900) -> None:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


def test_a_worker_and_the_driver_are_killed(
    gru_bundle: Path, episodes: Path, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    data = tmp_path / "data"
    shutil.copytree(episodes, data)
    steps = tmp_path / "out" / "steps"
    environment = {**os.environ, "LEAPP_TEST_RUN": str(os.getpid())}
    run = command(gru_bundle, data, tmp_path / "out", 2)
    process = subprocess.Popen(run, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: children(os.getpid()), process)
    workers = children(os.getpid())
    assert workers, "no worker was seen"
    os.kill(workers[0], signal.SIGKILL)
    wait_for(lambda: len(list(steps.glob("*.parquet"))) >= 3, process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert len(list(steps.glob("*.parquet"))) >= 3
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert files_of(tmp_path / "out") == expected


def test_a_worker_without_the_bundle_says_so_once(gru_bundle: Path, episodes: Path, tmp_path: Path) -> None:
    """As on a node that lacks it: the driver has it when it begins, and the workers do not."""
    bundle = tmp_path / "gone"
    shutil.copytree(gru_bundle.parent, bundle)
    (bundle / gru_bundle.name).rename(bundle / "gone.yaml")
    program = (
        "import sys, shutil, leapp.fleet.on_ray as on_ray\n"
        "start = on_ray._start\n"
        f"on_ray._start = lambda *told: (shutil.rmtree({str(bundle)!r}), start(*told))[1]\n"
        "from leapp.fleet.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    told = [sys.executable, "-c", program, *command(bundle, episodes, tmp_path / "out", 1)[4:]]
    done = subprocess.run(told, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert "a worker could not begin on" in last
    assert "there is no bundle here" in last
