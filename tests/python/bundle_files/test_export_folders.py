# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Where a bundle is written to: folders that others use, that change under an export, or that it works in itself."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import stat
import threading
import time
from pathlib import Path

import leapp
import pytest
import torch
from leapp import annotate


def capture(folder: str | Path, value: float = 1.0) -> None:
    leapp.start("g", save_path=folder)
    x = annotate.input_tensors("m", {"x": torch.zeros(2)})
    annotate.output_tensors("m", {"y": x + value}, export_with="onnx")
    leapp.stop()


def export(folder: str | Path, value: float = 1.0) -> None:
    capture(folder, value)
    leapp.compile_graph(visualize=False)


def content(folder: Path) -> float:
    return float(leapp.InferenceManager(folder / "g").run_policy({"m/x": torch.zeros(2)})["m/y"][0])


def test_a_relative_save_path_is_the_one_of_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    capture(".")
    monkeypatch.chdir(tmp_path / "elsewhere")
    leapp.compile_graph(visualize=False)
    assert content(tmp_path) == 1.0
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_folder_one_works_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is replaced, and the process would be left in one that is gone."""
    export(tmp_path)
    (tmp_path / "g/mine").mkdir()
    monkeypatch.chdir(tmp_path / "g/mine")
    export(tmp_path, 2.0)
    assert Path.cwd() == tmp_path / "g/mine"
    monkeypatch.chdir(tmp_path / "g")
    export("..", 3.0)
    assert Path.cwd() == tmp_path / "g"
    assert sorted(os.listdir(".")) == ["g.yaml", "log.txt", "m.onnx", "mine"]


def test_what_others_keep_in_the_folder_stays(tmp_path: Path) -> None:
    export(tmp_path)
    folder = tmp_path / "g"
    os.mkfifo(folder / "fifo")
    bound = socket.socket(socket.AF_UNIX)
    here = os.open(folder, os.O_RDONLY)
    bound.bind(f"/proc/self/fd/{here}/socket")  # a path of a socket is short
    outside = tmp_path / "outside"
    outside.write_text("keep")
    (folder / "hard").hardlink_to(outside)
    (folder / "dangling").symlink_to("/nowhere")
    name = os.fsencode(folder) + b"/\xff\xfe\n"
    Path(os.fsdecode(name)).write_text("odd")
    for kind, mode in (("sticky", 0o1777), ("read-only", 0o555)):
        (folder / kind / "deep").mkdir(parents=True)
        (folder / kind / "deep" / "file").write_text(kind)
        (folder / kind).chmod(mode)
    export(tmp_path, 2.0)
    bound.close()
    os.close(here)
    assert content(tmp_path) == 2.0
    assert stat.S_ISFIFO((folder / "fifo").stat().st_mode)
    assert stat.S_ISSOCK((folder / "socket").stat().st_mode)
    assert (folder / "hard").samefile(outside)
    assert outside.read_text() == "keep"
    assert os.readlink(folder / "dangling") == "/nowhere"
    assert Path(os.fsdecode(name)).read_text() == "odd"
    for kind, mode in (("sticky", 0o1777), ("read-only", 0o555)):
        assert stat.S_IMODE((folder / kind).stat().st_mode) == mode
        assert (folder / kind / "deep" / "file").read_text() == kind
        (folder / kind).chmod(0o755)
    assert {path.name for path in tmp_path.iterdir()} == {"g", "outside"}


def test_second_names_of_files_outside_are_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "g").mkdir()
    precious = tmp_path / "precious"
    precious.write_text("keep")
    for name in ("log.txt", "g.yaml", "m.onnx", "g.png", "g.html", "g.yaml.part"):
        (tmp_path / "g" / name).hardlink_to(precious)
    capture(tmp_path)
    leapp.compile_graph(visualize=True)
    assert precious.read_text() == "keep"
    assert content(tmp_path) == 1.0


def test_the_folder_changes_between_start_and_compile(tmp_path: Path) -> None:
    capture(tmp_path)
    shutil.rmtree(tmp_path / "g")
    leapp.compile_graph(visualize=False)
    assert content(tmp_path) == 1.0
    capture(tmp_path, 2.0)
    shutil.rmtree(tmp_path / "g")
    (tmp_path / "g").write_text("somebody's")
    with pytest.raises(OSError, match="expected a folder, found something else"):
        leapp.compile_graph(visualize=False)
    assert (tmp_path / "g").read_text() == "somebody's"
    assert [path.name for path in tmp_path.iterdir()] == ["g"]


def test_ctrl_c_ends_the_wait_for_another_export(tmp_path: Path) -> None:
    """Which would go on for two minutes."""
    found: list[str] = []

    def watch() -> None:
        while not found:
            found.extend(path.name for path in tmp_path.iterdir() if path.name.startswith(".leapp-lock."))

    watcher = threading.Thread(target=watch)
    watcher.start()
    while not found:
        export(tmp_path)
    watcher.join()
    capture(tmp_path, 2.0)
    with (tmp_path / found[0]).open("w") as held:
        held.write("process 4711 on \x1b[2Jmars")
        held.flush()
        fcntl.flock(held, fcntl.LOCK_EX)
        threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            leapp.compile_graph(visualize=False)
        assert time.monotonic() - begin < 60
    assert content(tmp_path) == 1.0
    leapp.compile_graph(visualize=False)
    assert content(tmp_path) == 2.0
    assert [path.name for path in tmp_path.iterdir()] == ["g"]
