# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes replayed in this process. What needs Ray or Triton is in tests/fleet."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from chromium import Chromium
from fleet_bundles import files_of
from hand_made import recurrent, safetensors
from leapp import InferenceManager, Recorder
from leapp.errors import LeappOSError, LeappValueError
from leapp.fleet import ReplayOptions, replay


def series(episode: int, steps: int) -> np.ndarray:
    return np.random.default_rng(episode).standard_normal((steps, 1, 4)).astype(np.float32)


def stepped(bundle: Path, values: np.ndarray) -> np.ndarray:
    manager = InferenceManager(bundle)
    return np.stack([np.asarray(manager({"pre/x": value})["post/y"]) for value in values])


def write_npz(folder: Path, lengths: list[int], bundle: Path | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for episode, steps in enumerate(lengths):
        columns = {"pre/x": series(episode, steps)}
        if bundle is not None:
            columns["post/y"] = stepped(bundle, columns["pre/x"])
        np.savez(folder / f"run{episode:03d}.npz", **columns)


def told(bundle: Path, data: Path, output: Path, **more: Any) -> ReplayOptions:
    return ReplayOptions([bundle], data, output, **{"workers": 0, **more})


def test_state_is_carried_within_an_episode_and_reset_between(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    write_npz(tmp_path / "data", [7, 3, 11], bundle)
    summary = replay(told(bundle, tmp_path / "data", tmp_path / "out", rtol=0, atol=0))
    assert (summary.episodes, summary.steps, summary.skipped) == (3, 21, 0)
    assert summary.rows["ports"][0]["largest_difference"] == 0
    table = pq.read_table(tmp_path / "out" / "steps" / "000001.parquet")
    assert table.column("episode").to_pylist() == ["run001.npz"] * 3
    np.testing.assert_array_equal(
        np.array(table.column("post/y").to_pylist(), np.float32), stepped(bundle, series(1, 3)).reshape(3, 4)
    )


def test_every_kind_of_file_gives_the_same(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    values = series(5, 9)
    data = tmp_path / "data"
    data.mkdir()
    np.savez(data / "a.npz", **{"pre/x": values})
    (data / "b.safetensors").write_bytes(safetensors({"pre/x": values}))
    manager = InferenceManager(bundle)
    with Recorder(manager, data / "c.mcap") as recorder:
        for value in values:
            manager({"pre/x": value})
            assert recorder.record()
    rows = pa.table({"episode": [0] * 9, "step": list(range(9))[::-1], "x": list(values[::-1].reshape(9, 4))})
    pq.write_table(rows, data / "d.parquet", row_group_size=4)
    summary = replay(told(bundle, data, tmp_path / "out"))
    assert [one["episode"] for one in summary.rows["episodes"]] == ["a.npz", "b.safetensors", "c.mcap", "d.parquet#0"]
    outputs = [pq.read_table(tmp_path / "out" / "steps" / f"{i:06d}.parquet").column("post/y") for i in range(4)]
    assert all(one.to_pylist() == outputs[0].to_pylist() for one in outputs)
    assert summary.rows["episodes"][2]["largest_difference"] == 0  # the recording has outputs to compare with


def test_episodes_of_a_parquet_file_and_columns_with_other_names(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    lengths = [4, 6, 5]
    rows: dict[str, list[Any]] = {"episode_index": [], "observation.state": []}
    for episode, steps in enumerate(lengths):
        rows["episode_index"] += [episode] * steps
        rows["observation.state"] += series(episode, steps).reshape(steps, 4).astype(np.float64).tolist()
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table(rows).slice(0, 7), tmp_path / "data" / "one.parquet")
    pq.write_table(pa.table(rows).slice(7), tmp_path / "data" / "two.parquet")
    columns = {"pre/x": "observation.state"}
    how: dict[str, Any] = {"columns": columns, "episode_column": "episode_index"}
    options = told(bundle, tmp_path / "data", tmp_path / "out", **how)
    with pytest.raises(LeappValueError, match=r"pre/x is float32\[1,4\], column observation.state is float64\[4,4\]"):
        replay(options)
    summary = replay(told(bundle, tmp_path / "data", tmp_path / "out", cast=True, **how))
    assert [(one["episode"], one["steps"]) for one in summary.rows["episodes"]] == [
        ("one.parquet#0", 4),
        ("one.parquet#1", 6),
        ("two.parquet#2", 5),
    ]
    table = pq.read_table(tmp_path / "out" / "steps" / "000001.parquet")
    found = np.array(table.column("post/y").to_pylist(), np.float32)
    np.testing.assert_array_equal(found, stepped(bundle, series(1, 6)).reshape(6, 4))


def test_two_bundles_are_compared_with_each_other(tmp_path: Path) -> None:
    new, old = recurrent(tmp_path / "new", (1, 1, 1, 1)), recurrent(tmp_path / "old", (3, 3, 3, 3))
    write_npz(tmp_path / "data", [5, 6])
    options = ReplayOptions([new, old], tmp_path / "data", tmp_path / "out", workers=0)
    summary = replay(options)
    worst = summary.rows["worst"][0]
    # The states differ by two at first, of which half is left after a step: outputs differ by one there.
    assert (worst["episode"], worst["step"], worst["difference"]) == ("run000.npz", 0, pytest.approx(1.0))
    assert summary.rows["ports"][0]["episodes_outside"] == 2


def test_what_cannot_be_used_is_reported_and_left_out(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    data = tmp_path / "data"
    write_npz(data, [4, 4, 4, 4, 4], bundle)
    whole = (data / "run001.npz").read_bytes()
    (data / "run001.npz").write_bytes(whole[: len(whole) // 2])
    np.savez(data / "run002.npz", **{"pre/x": np.zeros((4, 1, 3), np.float32)})
    uneven = {"pre/x": np.zeros((4, 1, 4), np.float32), "post/y": np.zeros((5, 1, 4), np.float32)}
    np.savez(data / "run003.npz", **uneven)
    (data / "run005.mcap").write_bytes(b"\x89MCAP0\r\n" + b"\0" * 40)
    (data / "run006.parquet").write_bytes(b"PAR1 and no more")
    summary = replay(told(bundle, data, tmp_path / "out"))
    assert (summary.episodes, summary.skipped) == (2, 5)
    why = {row["episode"]: row["why"] for row in summary.rows["skipped"]}
    assert "4 elements in a step; column pre/x is float32[4,1,3]" in why["run002.npz"]
    assert "pre/x 4, post/y 5" in why["run003.npz"]
    assert set(why) == {"run001.npz", "run002.npz", "run003.npz", "run005.mcap", "run006.parquet"}
    assert pq.read_table(tmp_path / "out" / "skipped.parquet").num_rows == 5
    with pytest.raises(LeappValueError, match=r"run001.npz: .*--strict stops here; what was done is kept"):
        replay(told(bundle, data, tmp_path / "strict", strict=True))
    assert (tmp_path / "strict" / "steps" / "000000.parquet").exists()
    # A file that was mended is done; the others are tried again.
    (data / "run001.npz").write_bytes(whole)
    assert replay(told(bundle, data, tmp_path / "out")).skipped == 4


def test_errors_name_both_sides_before_any_work(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    data = tmp_path / "data"
    data.mkdir()
    np.savez(data / "a.npz", obs=np.zeros((4, 1, 4), np.float32))
    with pytest.raises(LeappValueError, match=r"no column for the input pre/x: expected pre/x or .*, found obs"):
        replay(told(bundle, data, tmp_path / "out"))
    with pytest.raises(LeappOSError, match="expected a folder of episodes"):
        replay(told(bundle, tmp_path / "nowhere", tmp_path / "out"))
    with pytest.raises(LeappOSError, match=r"nothing.yaml.*No such file"):
        replay(told(tmp_path / "nothing.yaml", data, tmp_path / "out"))
    with pytest.raises(LeappValueError, match="expected one or two"):
        ReplayOptions([], data, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_results_of_another_replay_are_not_replaced(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    write_npz(tmp_path / "data", [4])
    replay(told(bundle, tmp_path / "data", tmp_path / "out"))
    with pytest.raises(LeappValueError, match=r"results of another replay \(atol is 1e-05 there, 1.0 here\)"):
        replay(told(bundle, tmp_path / "data", tmp_path / "out", atol=1.0))
    assert replay(told(bundle, tmp_path / "data", tmp_path / "out", atol=1.0, overwrite=True)).resumed == 0
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(LeappValueError, match=r"expected an empty folder .* found thesis.txt"):
        replay(told(bundle, tmp_path / "data", tmp_path / "full"))


def test_a_batch_gives_what_single_episodes_give(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    write_npz(tmp_path / "data", [5, 9, 2, 7, 4], bundle)
    summary = replay(told(bundle, tmp_path / "data", tmp_path / "out", batch=3))
    assert summary.steps == 27
    assert summary.rows["ports"][0]["largest_difference"] < 1e-6
    assert len(list((tmp_path / "out" / "steps").iterdir())) == 2
    replay(told(bundle, tmp_path / "data", tmp_path / "again", batch=3))
    assert files_of(tmp_path / "out") == files_of(tmp_path / "again")


def test_a_kill_in_the_middle_and_another_run_give_the_same_bytes(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    write_npz(tmp_path / "data", [200] * 60, bundle)
    replay(told(bundle, tmp_path / "data", tmp_path / "whole"))
    command = [sys.executable, "-m", "leapp", "replay", str(bundle), "--workers", "0"]
    command += ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "killed")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    steps = tmp_path / "killed" / "steps"
    while len(list(steps.glob("*.parquet"))) < 5 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = len(list(steps.glob("*.parquet")))
    assert done >= 5
    summary = replay(told(bundle, tmp_path / "data", tmp_path / "killed"))
    assert summary.resumed >= 5
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")
    assert (tmp_path / "killed" / "replay.html").read_bytes() == (tmp_path / "whole" / "replay.html").read_bytes()


def test_a_full_disk_is_one_clear_error_and_what_was_done_is_kept(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    write_npz(tmp_path / "data", [20, 20, 20000, 20])
    program = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000));"
        "from leapp.fleet.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, str(bundle), "--workers", "0", "--data", str(tmp_path / "data")]
    command += ["--output", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "File too large; 2 of 4 units are done and kept: run the same command again to go on" in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in (tmp_path / "out" / "steps").iterdir()) == ["000000.parquet", "000001.parquet"]
    assert replay(told(bundle, tmp_path / "data", tmp_path / "out")).resumed == 2


# Texts of a plot that lie on each other.
OVERLAPPING = """[...document.querySelectorAll('svg')].flatMap(svg => {
  const boxes = [...svg.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
  return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([b, q]) => a && b && p.left < q.right &&
    q.left < p.right && p.top < q.bottom && q.top < p.bottom).map(([b]) => a + ' / ' + b));
})"""


def test_the_page_stands_alone(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    write_npz(tmp_path / "data", [30, 40], bundle)
    spoilt = np.load(tmp_path / "data" / "run001.npz")
    columns = {name: spoilt[name].copy() for name in spoilt.files}
    columns["post/y"][17, 0, 2] += 0.25
    np.savez(tmp_path / "data" / "run<1>.npz", **columns)
    (tmp_path / "data" / "cut.npz").write_bytes(b"PK")
    replay(told(bundle, tmp_path / "data", tmp_path / "out"))
    with Chromium(1160, 900) as browser:
        browser.open(tmp_path / "out" / "replay.html")
        assert browser.requests == [(tmp_path / "out" / "replay.html").resolve().as_uri()]
        assert browser.complaints == []
        assert browser.evaluate("document.documentElement.scrollWidth") <= 1160
        text = browser.evaluate("document.body.innerText")
        assert browser.evaluate("document.querySelectorAll('svg').length") == 4
        assert browser.evaluate(OVERLAPPING) == []
        assert browser.evaluate(
            "[...document.querySelectorAll('.table')].every(one => one.scrollWidth <= one.clientWidth)"
        )
    with Chromium(400, 900) as browser:
        browser.open(tmp_path / "out" / "replay.html")
        assert browser.evaluate("document.documentElement.scrollWidth") <= 400
    assert "run<1>.npz, step 17: post/y[0,2]" in text
    assert "cut.npz" in text


def test_a_batched_manager_keeps_rows_apart(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    batch = InferenceManager(bundle, batch=3)
    assert (batch.batch, batch.widened) == (3, "")
    assert batch.input_ports[0].shape == (3, 4)
    values = np.stack([series(row, 5).reshape(5, 4) for row in range(3)], axis=1)
    found = np.stack([np.asarray(batch({"pre/x": value})["post/y"]) for value in values])
    for row in range(3):
        np.testing.assert_allclose(found[:, row], stepped(bundle, values[:, row, None]).reshape(5, 4), rtol=1e-5)
    batch.reset_row(1)
    state = np.asarray(batch.state["policy/h_in"])
    assert state[1].tolist() == [1, 2, 3, 4]
    assert state[0].tolist() != [1, 2, 3, 4]
    with pytest.raises(LeappValueError, match="batch: expected 1 or more"):
        InferenceManager(bundle, batch=0)
    with pytest.raises(NotImplementedError, match="guards are for a robot"):
        batch.set_guards({"post/y": {"lower": -1}})
