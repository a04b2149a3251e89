# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes on Ray: as many workers as one likes, workers that die, a driver that dies."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from fleet_bundles import files_of
from leapp.fleet import ReplayOptions, replay

SECONDS = 300  # for what takes 20 on an idle machine


@pytest.fixture(scope="module")
def expected(gru_bundle: Path, episodes: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What this process makes of it."""
    folder = tmp_path_factory.mktemp("expected")
    summary = replay(ReplayOptions([gru_bundle], episodes, folder, workers=0))
    assert (summary.episodes, summary.steps, summary.skipped) == (200, 200_000, 0)
    return files_of(folder)


def command(bundle: Path, data: Path, output: Path, workers: int) -> list[str]:
    told = ["--data", str(data), "--output", str(output), "--workers", str(workers)]
    return [sys.executable, "-m", "leapp", "replay", str(bundle), *told]


@pytest.mark.parametrize("workers", [1, 2])
def test_results_do_not_depend_on_who_works(
    gru_bundle: Path, episodes: Path, tmp_path: Path, expected: dict[str, bytes], workers: int
) -> None:
    done = subprocess.run(
        command(gru_bundle, episodes, tmp_path / "out", workers),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert f"on Ray, {workers} workers" in done.stdout
    assert files_of(tmp_path / "out") == expected


def workers_of(run: str) -> list[int]:
    """Processes of Ray that work on our episodes, below the driver of that run."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if b"ray::MapWorker" not in (entry / "cmdline").read_bytes():
                continue
            # Its own environment is gone, overwritten by the title; that of the raylet is there.
            parent = next(line for line in (entry / "status").read_text().splitlines() if line.startswith("PPid"))
            environment = Path("/proc", parent.split()[1], "environ").read_bytes()
        except (OSError, StopIteration):
            continue
        if f"LEAPP_TEST_RUN={run}\0".encode() in environment:
            found.append(int(entry.name))
    return found


@contextmanager
def driver(run: list[str], log: Path, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command, in a run of that name."""
    environment = {**os.environ, "LEAPP_TEST_RUN": name}
    with log.open("wb") as to:
        process = subprocess.Popen(run, env=environment, stdout=to, stderr=to)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def wait_for_files(folder: Path, count: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until so many units are done: fewer than all, so that what follows happens in the middle."""
    deadline = time.monotonic() + SECONDS
    while len(list(folder.glob("*.parquet"))) < count:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, f"{count} units were not done in {SECONDS} s: {log.read_text()}"
        time.sleep(0.005)


def test_a_worker_is_killed(gru_bundle: Path, episodes: Path, tmp_path: Path, expected: dict[str, bytes]) -> None:
    """The only one: what is done after it is done by the one that Ray starts instead."""
    output, log, name = tmp_path / "out", tmp_path / "log", f"worker-{os.getpid()}"
    with driver(command(gru_bundle, episodes, output, 1), log, name) as process:
        wait_for_files(output / "steps", 5, process, log)
        (worker,) = workers_of(name)
        # Ray's own niceness of 15 leaves it next to nothing where anything else runs.
        assert os.getpriority(os.PRIO_PROCESS, worker) == os.getpriority(os.PRIO_PROCESS, process.pid)
        os.kill(worker, signal.SIGKILL)
        done = len(list((output / "steps").glob("*.parquet")))
        assert process.wait(SECONDS) == 0, log.read_text()
    assert done < 200
    assert files_of(output) == expected


def test_the_driver_is_killed(gru_bundle: Path, episodes: Path, tmp_path: Path, expected: dict[str, bytes]) -> None:
    output, log, name = tmp_path / "out", tmp_path / "log", f"driver-{os.getpid()}"
    run = command(gru_bundle, episodes, output, 2)
    with driver(run, log, name) as process:
        wait_for_files(output / "steps", 20, process, log)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    done = len(list((output / "steps").glob("*.parquet")))
    assert 20 <= done < 200
    again = subprocess.run(run, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert again.returncode == 0, again.stderr
    assert f"{done} units were done before" in again.stdout
    assert files_of(output) == expected
    # Ray goes away with its driver.
    deadline = time.monotonic() + SECONDS
    while workers_of(name) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not workers_of(name)


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
    assert "gone" in last
    assert "No such file or directory" in last


def test_an_address_where_nobody_is(recurrent_bundle: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros((3, 1, 4), np.float32))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for prefix in ("", "ray://"):
            options = ReplayOptions([recurrent_bundle], tmp_path / "a.npz", tmp_path / "out", address=prefix + address)
            with pytest.raises(OSError, match=f"expected a Ray cluster at {prefix}{address}, found none"):
                replay(options)


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The address of a Ray that was there before; on the loopback only, so that it may do without tokens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--node-ip-address=127.0.0.1"]
    started += [f"--port={port}", "--num-cpus=2", "--include-dashboard=false", "--disable-usage-stats", "--block"]
    with driver(started, folder / "log", "cluster") as head:
        deadline = time.monotonic() + SECONDS
        while b"Ray runtime started" not in (folder / "log").read_bytes():
            assert head.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.2)
        yield f"127.0.0.1:{port}"
        head.terminate()
        head.wait(SECONDS)


def test_a_cluster_on_this_machine_is_used_if_it_is_named(
    gru_bundle: Path, episodes: Path, tmp_path: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with cluster(tmp_path) as address:
        for name, told in (("named", ["--address", address]), ("not", ["--workers", "1"])):
            run = [*command(gru_bundle, episodes, tmp_path / name, 0)[:-2], *told]
            done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=SECONDS)
            assert done.returncode == 0, done.stderr
            assert ("on Ray, 1 workers" in done.stdout) == (name == "not")
            assert files_of(tmp_path / name) == expected
