# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What has its name is on the disk, and many small files wait for the disk together."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from fleet_bundles import files_of
from hand_made import recurrent
from leapp.errors import LeappOSError
from leapp.fleet import replay
from leapp.fleet.files import FileGroup, write_file
from test_fleet import told, write_npz


class Disk:
    """What is asked of the disk, in its order. ``bad``: files whose bytes cannot be written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, bad: set[int]) -> None:
        self.flushed: set[int] = set()
        self.named: dict[str, bool] = {}  # whether its bytes were on the disk by then
        self._fsync, self._replace, self._bad, self._seen = os.fsync, os.replace, bad, 0
        monkeypatch.setattr(os, "fsync", self.fsync)
        monkeypatch.setattr(os, "replace", self.replace)

    def fsync(self, handle: int) -> None:
        self._seen += 1
        if self._seen - 1 in self._bad:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._fsync(handle)
        self.flushed.add(os.fstat(handle).st_ino)

    def replace(self, source: Path, target: Path) -> None:
        self.named[target.name] = os.stat(source).st_ino in self.flushed
        self._replace(source, target)


def test_no_file_gets_its_name_before_its_bytes_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch, set())
    group = FileGroup()
    done: list[str] = []
    for i in range(20):
        group.add(tmp_path / "steps" / f"{i}", b"x" * i, when=10**18, done=lambda i=i: done.append(str(i)))
    assert (disk.named, done) == ({}, [])
    group.flush()
    assert disk.named == {str(i): True for i in range(20)}
    assert done == [str(i) for i in range(20)]
    assert {os.stat(tmp_path / "steps" / name).st_mtime_ns for name in done} == {10**18}
    write_file(tmp_path / "one", b"1")
    assert disk.named["one"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "steps"]


def test_small_files_wait_together_and_slow_ones_for_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("leapp.fleet.files.time.monotonic", lambda: now)
    group = FileGroup()
    for i in range(255):
        group.add(tmp_path / f"{i}", b"")
        assert not group.due
    group.add(tmp_path / "255", b"")
    assert group.due
    group.flush()
    now = 1.5  # it took that long to make
    group.add(tmp_path / "256", b"")
    assert group.due


def test_a_disk_that_fails_leaves_what_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten units one cannot be brought to the disk: nine are kept, and the tenth is done by the next run."""
    bundle = recurrent(tmp_path)
    write_npz(tmp_path / "data", [20] * 10)
    replay(told(bundle, tmp_path / "data", tmp_path / "whole"))
    with monkeypatch.context() as patched:
        Disk(patched, {5})  # after the manifest's
        with pytest.raises(LeappOSError, match=r"Input/output error; 9 of 10 units are done and kept"):
            replay(told(bundle, tmp_path / "data", tmp_path / "out"))
    left = sorted(path.name for path in (tmp_path / "out" / "steps").iterdir())
    assert len(left) == 9
    assert all(name.endswith(".parquet") for name in left)
    assert replay(told(bundle, tmp_path / "data", tmp_path / "out")).resumed == 9
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
