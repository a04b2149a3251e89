# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Data as others have written it: what is taken, what is left out and why, and what is never taken for something
else."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fleet_bundles import files_of, noise, renaming
from hand_made import every_type, recurrent, safetensors
from leapp.errors import LeappOSError, LeappValueError
from leapp.fleet import ReplayOptions, ReplaySummary, replay
from leapp.fleet.cli import main
from leapp.fleet.plots import dots
from test_fleet import series, stepped

LEROBOT = {"pre/x": "observation.state", "post/y": "action"}


def replayed(bundle: Path, data: Path, output: Path, **more: Any) -> ReplaySummary:
    return replay(ReplayOptions([bundle], data, output, **{"workers": 0, **more}))


def why_not(bundle: Path, data: Path, **more: Any) -> str:
    """Why none of the episodes can be used."""
    with pytest.raises(LeappValueError) as caught:
        replayed(bundle, data, data.parent / "out", **more)
    return str(caught.value)


def rows(bundle: Path, episode: int, steps: int, kind: pa.DataType | None = None) -> pa.Table:
    """An episode as LeRobot's datasets have it."""
    values = series(episode, steps)
    lists = kind or pa.list_(pa.float32(), 4)
    return pa.table(
        {
            "observation.state": pa.array(values.reshape(steps, 4).tolist(), lists),
            "action": pa.array(stepped(bundle, values).reshape(steps, 4).tolist(), lists),
            "episode_index": pa.array([episode] * steps, pa.int64()),
            "frame_index": pa.array(range(steps), pa.int64()),
            "timestamp": pa.array([i / 50 for i in range(steps)], pa.float32()),
            "task": ["walk"] * steps,
        }
    )


def test_a_dataset_of_lerobot(tmp_path: Path) -> None:
    """Folders of chunks, a file for each episode, what is in `meta` beside them; lists of fixed and of any length."""
    bundle, data = recurrent(tmp_path), tmp_path / "set"
    (data / "data" / "chunk-000").mkdir(parents=True)
    (data / "meta" / "episodes").mkdir(parents=True)
    (data / "meta" / "info.json").write_text("{}")
    pq.write_table(pa.table({"episode_index": [0, 1]}), data / "meta" / "episodes" / "file-000.parquet")
    kinds = [None, pa.list_(pa.float32()), pa.large_list(pa.float32()), pa.list_(pa.list_(pa.float32(), 2), 2)]
    for episode, kind in enumerate(kinds):
        table = rows(bundle, episode, 5)
        if episode == 3:
            state = [[one[:2], one[2:]] for one in table.column(0).to_pylist()]
            table = table.set_column(0, "observation.state", pa.array(state, kind))
        elif kind is not None:
            table = rows(bundle, episode, 5, kind)
        pq.write_table(table, data / "data" / "chunk-000" / f"episode_{episode:06d}.parquet")
    summary = replayed(bundle, data, tmp_path / "out", columns=LEROBOT, rtol=0, atol=0)
    assert (summary.episodes, summary.steps, summary.skipped, summary.notes) == (4, 20, 0, [])
    assert summary.rows["episodes"][3]["episode"] == "data/chunk-000/episode_000003.parquet#3"
    assert summary.rows["ports"][0]["largest_difference"] == 0


def test_rows_in_any_order_are_sorted_by_their_steps(tmp_path: Path) -> None:
    """Of two robots that take turns, in two files; and of lists that have one frame index each."""
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    data.mkdir()
    both = pa.concat_tables([rows(bundle, 0, 8), rows(bundle, 1, 8)])
    for file, half in (("a.parquet", range(4)), ("b.parquet", range(4, 8))):
        places = [one for step in reversed(half) for one in (step, step + 8)]
        table = both.take(places)
        frames = pa.array([[one] for one in table.column("frame_index").to_pylist()])
        pq.write_table(table.set_column(3, "frame_index", frames), data / file, row_group_size=3)
    summary = replayed(bundle, data, tmp_path / "out", columns=LEROBOT, rtol=0, atol=0)
    assert [(one["episode"], one["steps"]) for one in summary.rows["episodes"]] == [
        ("a.parquet#0", 8),
        ("a.parquet#1", 8),
    ]
    assert summary.rows["ports"][0]["largest_difference"] == 0
    untold = both.drop_columns("frame_index").take([0, 8, 1, 9])
    pq.write_table(untold, tmp_path / "untold.parquet")
    assert "the rows of episode 0 (episode_index) are not next to each other: row 2" in why_not(
        bundle, tmp_path / "untold.parquet", columns=LEROBOT
    )


def test_steps_that_begin_anew_are_another_episode(tmp_path: Path) -> None:
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    data.mkdir()
    for robot in ("one", "two"):
        pq.write_table(rows(bundle, 0, 6), data / f"{robot}.parquet")
    summary = replayed(bundle, data, tmp_path / "out", columns=LEROBOT, rtol=0, atol=0)
    assert [one["episode"] for one in summary.rows["episodes"]] == ["one.parquet#0", "two.parquet#0"]
    assert summary.rows["ports"][0]["largest_difference"] == 0


def test_frames_that_are_missing_or_there_twice_are_told(tmp_path: Path) -> None:
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    data.mkdir()
    table = rows(bundle, 0, 9)
    pq.write_table(table.take([0, 1, 2, 5, 6, 8]), data / "gap.parquet")
    summary = replayed(bundle, data, tmp_path / "out", columns=LEROBOT)
    assert summary.notes == ["gap.parquet#0: steps are missing: frame_index goes from 2 to 5, and 1 more"]
    pq.write_table(table.take([0, 1, 2, 1]), data / "gap.parquet")
    assert "column frame_index has 1 twice, in rows 1 and 3 of the episode" in why_not(bundle, data, columns=LEROBOT)
    assert replayed(bundle, data, tmp_path / "raw", columns=LEROBOT, order_column="").steps == 4


@pytest.mark.parametrize(
    ("column", "values", "why"),
    [
        ("observation.state", [[1, 2, 3, None]] * 3, "column observation.state: 3 elements have no value"),
        ("observation.state", [[1, 2, 3, 4], None, [1, 2, 3, 4]], "column observation.state: 1 rows have no value"),
        ("observation.state", [[1, 2, 3, 4], [1, 2], [1, 2]], "the lists are not all of one length, but 2 to 4"),
        ("observation.state", [[1, 2, 3]] * 3, r"pre/x is float32[1,4], which has 4 elements in a step; column"),
        ("observation.state", ["a"] * 3, "expected numbers or lists of them, found string"),
        ("episode_index", [0, None, 0], "column episode_index: 1 rows have no value"),
        ("episode_index", [0.0, float("nan"), 0.0], "column episode_index: a row has no number"),
        ("frame_index", [0.0, float("nan"), 1.0], "column frame_index: a row has no number"),
        ("frame_index", [[0, 1], [1, 2], [2, 3]], "column frame_index: expected one value in each row"),
        ("frame_index", ["0", "1", "2"], "expected numbers or times to sort steps by, found string"),
    ],
)
def test_columns_that_cannot_be_used_say_why(tmp_path: Path, column: str, values: list[Any], why: str) -> None:
    bundle = recurrent(tmp_path)
    table = rows(bundle, 0, 3)
    kind = pa.list_(pa.float32()) if column == "observation.state" and isinstance(values[0], list) else None
    pq.write_table(
        table.set_column(table.column_names.index(column), column, pa.array(values, kind)), tmp_path / "a.parquet"
    )
    assert why in why_not(bundle, tmp_path / "a.parquet", columns=LEROBOT)


def test_what_is_stored_in_other_ways_is_the_same(tmp_path: Path) -> None:
    """Tensors of one shape, dictionaries, times to sort by."""
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    data.mkdir()
    table = rows(bundle, 0, 4)
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(series(0, 4).reshape(4, 2, 2))
    names = pa.array(["first"] * 4).dictionary_encode()
    when = pa.array([3, 1, 2, 0], pa.timestamp("ms"))
    other = table.set_column(0, "observation.state", tensors).set_column(2, "robot", names).append_column("at", when)
    pq.write_table(other.take([3, 1, 2, 0]), data / "a.parquet")
    given: dict[str, Any] = {"columns": LEROBOT, "episode_column": "robot", "order_column": "at"}
    summary = replayed(bundle, data, tmp_path / "out", **given)
    assert summary.rows["episodes"][0]["episode"] == "a.parquet#first"
    written = pq.read_table(tmp_path / "out" / "steps" / "000000.parquet")
    assert written.column("post/y:reference").to_pylist() == table.take([3, 1, 2, 0]).column("action").to_pylist()
    given |= {"order_column": "when"}
    assert "no column when (--order-column), found" in why_not(bundle, data, **given)
    given |= {"episode_column": "run"}
    assert "no column run (--episode-column), found" in why_not(bundle, data, **given)


def test_rows_are_steps_whatever_the_port_is_like(tmp_path: Path) -> None:
    """As many rows as a port has elements are not a value that holds for all steps."""
    bundle = renaming(tmp_path / "b", [("n", "x", "y")], shape=(4,))
    pq.write_table(pa.table({"x": pa.array([1, 2, 3, 4], pa.float32())}), tmp_path / "a.parquet")
    assert "n/x is float32[4], which has 4 elements in a step" in why_not(bundle, tmp_path / "a.parquet")


def test_arrays_of_other_machines_and_languages(tmp_path: Path) -> None:
    """The other order of bytes, the other order of axes, and objects of Python that nobody asks for."""
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    data.mkdir()
    values = series(0, 6)
    for name, kept in (("a", values), ("b", values.astype(">f4")), ("c", np.asfortranarray(values))):
        np.savez(data / f"{name}.npz", **{"x": kept, "meta": np.array({"robot": 7}, dtype=object)})
    summary = replayed(bundle, data, tmp_path / "out")
    assert (summary.episodes, summary.skipped) == (3, 0)
    means = {one["mean"] for one in summary.rows["episodes"]}
    assert len(means) == 1
    np.savez(data / "d.npz", x=np.array([None], dtype=object))
    assert "found objects of Python" in replayed(bundle, data, tmp_path / "out").rows["skipped"][0]["why"]


def test_values_are_converted_only_to_what_can_hold_them(tmp_path: Path) -> None:
    bundle = every_type(tmp_path)
    given = {f"{name}_in": np.zeros((2, 2, 3), "float32" if name == "bfloat16" else name) for name in ["bfloat16"]}
    for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"):
        given[f"{name}_in"] = np.zeros((2, 2, 3), np.float64)
    given["bfloat16_in"][0, 0] = [1.0, 1.00390625, 3.4028235e38 * 0.99]

    def tried(**other: Any) -> ReplaySummary:
        data = tmp_path / "data.npz"
        np.savez(data, **{**given, **other})
        return replayed(bundle, data, tmp_path / "out", cast=True, overwrite=True)

    assert tried().skipped == 0
    table = pq.read_table(tmp_path / "out" / "steps" / "000000.parquet").column("node/bfloat16_out")
    assert table.to_pylist()[0][:2] == [1.0, 1.0]  # to even
    for name, value, text in (
        (
            "int8_in",
            300.0,
            "node/int8_in is int8, which cannot hold 300.0: column int8_in, which is float64, at [1, 0, 2]",
        ),
        ("uint8_in", -1.0, "cannot hold -1.0"),
        ("int32_in", 0.5, "cannot hold 0.5"),
        ("int64_in", np.nan, "cannot hold nan"),
        ("bool_in", 2.0, "cannot hold 2.0"),
        ("float16_in", 70000.0, "cannot hold 70000.0"),
        ("float32_in", 1e300, "cannot hold 1e+300"),
    ):
        changed = given[name].copy()
        changed[1, 0, 2] = value
        with pytest.raises(LeappValueError) as caught:
            tried(**{name: changed})
        assert text in str(caught.value)


def test_one_column_is_not_input_and_output(tmp_path: Path) -> None:
    bundle = renaming(tmp_path / "b", [("a", "x", "h"), ("b", "h2", "x")], {"a/h": ["b/h2"]})
    np.savez(tmp_path / "a.npz", x=series(0, 3))
    assert "no column for the input a/x: expected a/x or inputs/a/x or inputs/x, found x" in why_not(
        bundle, tmp_path / "a.npz"
    )
    np.savez(tmp_path / "a.npz", **{"inputs/x": series(0, 3), "outputs/x": series(1, 3)})
    assert replayed(bundle, tmp_path / "a.npz", tmp_path / "out").rows["ports"][0]["compared"] == 12
    with pytest.raises(LeappValueError, match=r"--column b/z=x: there is no port b/z, but a/x, b/x"):
        replayed(bundle, tmp_path / "a.npz", tmp_path / "out2", columns={"b/z": "x"})
    assert "no column for the output b/x: expected z, found inputs/x, outputs/x" in why_not(
        bundle, tmp_path / "a.npz", columns={"b/x": "z"}
    )


def test_bundles_that_see_one_column_differently(tmp_path: Path) -> None:
    """Nodes of other names are compared by their ports'; each bundle takes what its own ports need."""

    new, old = (renaming(tmp_path / node, [(node, "x", "y")]) for node in ("actor", "policy"))
    wide = renaming(tmp_path / "wide", [("wide", "x", "y")], shape=(1, 8))
    np.savez(tmp_path / "a.npz", x=series(0, 5))
    options = ReplayOptions([new, old], tmp_path / "a.npz", tmp_path / "out", workers=0)
    assert replay(options).rows["ports"][0]["largest_difference"] == 0
    with pytest.raises(LeappValueError, match=r"actor/y is float32\[1, 4\] in .* and wide/y is float32\[1, 8\] in"):
        replay(ReplayOptions([new, wide], tmp_path / "a.npz", tmp_path / "out2", workers=0))


def test_folders_with_all_sorts_of_files(tmp_path: Path) -> None:
    """Others' files, hidden folders, results of replays, links that lead back, names that are no text."""
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    (data / ".cache").mkdir(parents=True)
    (data / "läufe").mkdir()
    np.savez(data / ".cache" / "old.npz", x=series(0, 3))
    np.savez(data / "läufe" / "日本.npz", x=series(0, 3))
    np.savez(data / "UPPER.NPZ.npz", x=series(0, 3))
    os.rename(data / "UPPER.NPZ.npz", data / "UPPER.NPZ")
    (data / "notes.txt").write_text("fine")
    (data / "back").symlink_to(data)
    os.mkfifo(data / "pipe.npz")
    np.savez(data / "words.npz", x=np.array(["a", "b"]))
    np.savez(data / "a.npz", x=series(1, 3))
    os.rename(data / "a.npz", os.fsencode(data) + b"/caf\xe9.npz")
    summary = replayed(bundle, data, data / "out")
    names = ["UPPER.NPZ", "caf\\xe9.npz", "läufe/日本.npz"]
    assert [one["episode"] for one in summary.rows["episodes"]] == names
    assert {one["episode"]: one["why"] for one in summary.rows["skipped"]} == {
        "pipe.npz": "expected a file",
        "words.npz": "pre/x is float32[1,4], column x is str32[2], which is not converted",
    }
    assert replayed(bundle, data, data / "again").episodes == 3  # the results in `out` are no data
    with pytest.raises(LeappValueError, match="which is the data"):
        replayed(bundle, data, data)
    with pytest.raises(LeappValueError, match="expected a file of episodes"):
        replayed(bundle, data / "notes.txt", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LeappValueError, match=r"expected episodes .* found none"):
        replayed(bundle, tmp_path / "empty", tmp_path / "out")


def test_data_that_was_changed_is_done_again(tmp_path: Path) -> None:
    """Also to something older, of the same size; in a batch too."""
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    data.mkdir()
    for name in "ab":
        np.savez(data / f"{name}.npz", x=series(0, 5))
    for batch in (1, 2):
        out = tmp_path / f"out{batch}"
        replayed(bundle, data, out, batch=batch)
        assert replayed(bundle, data, out, batch=batch).resumed == 2 // batch
        np.savez(data / "a.npz", x=series(batch, 5))
        os.utime(data / "a.npz", (batch, batch))
        assert replayed(bundle, data, out, batch=batch).resumed == 2 // batch - 1
        whole = replayed(bundle, data, tmp_path / f"whole{batch}", batch=batch)
        assert whole.rows == replayed(bundle, data, out, batch=batch).rows


def test_another_replay_is_one_with_anything_else_that_counts(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    for folder in ("data", "other"):
        (tmp_path / folder).mkdir()
        np.savez(tmp_path / folder / "a.npz", x=series(0, 3))
    replayed(bundle, tmp_path / "data", tmp_path / "out")
    for more in ({"order_column": "x"}, {"worst": 5}, {"episode_column": ""}):
        with pytest.raises(LeappValueError, match=f"{next(iter(more))} is .* there, .* here"):
            replayed(bundle, tmp_path / "data", tmp_path / "out", **more)
    with pytest.raises(LeappValueError, match=r"data is .*data. there, .*other. here"):
        replayed(bundle, tmp_path / "other", tmp_path / "out")


def test_what_is_not_ours_is_not_removed(tmp_path: Path) -> None:
    bundle, out = recurrent(tmp_path), tmp_path / "out"
    (out / "steps").mkdir(parents=True)
    for name in ("mine.parquet", "000007.parquet"):
        pq.write_table(pa.table({"x": [1]}), out / "steps" / name)
    (out / "steps" / ".leapp-killed.tmp").write_text("half")
    np.savez(tmp_path / "a.npz", x=series(0, 3))
    replayed(bundle, tmp_path / "a.npz", out, overwrite=True)
    assert sorted(one.name for one in (out / "steps").iterdir()) == ["000000.parquet", "000007.parquet", "mine.parquet"]


def test_two_replays_do_not_share_a_folder(tmp_path: Path) -> None:
    import fcntl

    bundle = recurrent(tmp_path)
    np.savez(tmp_path / "a.npz", x=series(0, 3))
    (tmp_path / "out").mkdir()
    other = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with pytest.raises(LeappOSError, match="another replay is at work in this folder"):
        replayed(bundle, tmp_path / "a.npz", tmp_path / "out")
    os.close(other)
    assert replayed(bundle, tmp_path / "a.npz", tmp_path / "out").episodes == 1


def test_a_good_episode_behind_many_bad_ones(tmp_path: Path) -> None:
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    data.mkdir()
    for i in range(40):
        (data / f"bad{i:02d}.npz").write_bytes(b"PK")
    np.savez(data / "good.npz", x=series(0, 3))
    summary = replayed(bundle, data, tmp_path / "out")
    assert (summary.episodes, summary.skipped) == (1, 40)


def test_json_is_json_whatever_the_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = recurrent(tmp_path)
    values = series(0, 3)
    values[1, 0, 2] = np.nan
    np.savez(tmp_path / "a.npz", x=values, y=stepped(bundle, series(0, 3)))
    told = [str(bundle), "--data", str(tmp_path / "a.npz"), "--output", str(tmp_path / "out"), "--workers", "0"]
    assert main([*told, "--json"]) == 0

    def refuse(name: str) -> None:
        raise AssertionError(name)

    found = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert found["ports"][0]["largest_difference"] == "inf"
    assert found["worst"][0]["found"] == "nan"


@pytest.mark.parametrize("seed", [7.0, None])
def test_random_numbers_begin_anew_with_every_unit(tmp_path: Path, seed: float | None) -> None:
    """Whoever does an episode, and whatever was done before; without a seed nobody can promise that, and it is said."""
    bundle, data, out = noise(tmp_path / "noise", seed), tmp_path / "data", tmp_path / "out"
    data.mkdir()
    for episode in range(3):
        np.savez(data / f"{episode}.npz", x=np.zeros((4, 1, 4), np.float32))
    summary = replayed(bundle, data, out)
    before = files_of(out)
    assert summary.rows["ports"][0]["most"] > 0
    if seed is None:
        assert summary.notes == ["noise.yaml draws random numbers without a seed: another run gives other results"]
        return
    assert summary.notes == []
    os.remove(out / "steps" / "000002.parquet")
    assert replayed(bundle, data, out).resumed == 2
    assert files_of(out) == before


def test_a_bundle_is_what_its_yaml_names(tmp_path: Path) -> None:
    """Episodes and others' models in its folder are not part of it."""
    bundle = recurrent(tmp_path)
    np.savez(bundle.parent / "a.npz", x=series(0, 3))
    replayed(bundle, bundle.parent / "a.npz", tmp_path / "out")
    (bundle.parent / "episode.safetensors").write_bytes(b"anything")
    assert replayed(bundle, bundle.parent / "a.npz", tmp_path / "out").resumed == 1
    (bundle.parent / "initial.safetensors").write_bytes(safetensors({"policy/h_in": np.ones((1, 4), np.float32)}))
    with pytest.raises(LeappValueError, match="bundles is"):
        replayed(bundle, bundle.parent / "a.npz", tmp_path / "out")


def test_who_reads_it_may_leave(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    np.savez(tmp_path / "a.npz", x=series(0, 3))
    command = [sys.executable, "-m", "leapp", "replay", str(bundle), "--workers", "0"]
    command += ["--data", str(tmp_path / "a.npz"), "--output", str(tmp_path / "out")]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_page_shows_many_episodes_and_what_is_no_number(tmp_path: Path) -> None:
    plot = dots([*[0.0] * 500, *[math.inf] * 500, *[1e-3] * 9000], "episode", "difference")
    assert plot.count("<circle") == 400
    assert all(text in plot for text in (">0<", ">inf<", ">1e-3<", "the largest of 25 each"))
    new, old = (recurrent(tmp_path / name) for name in ("new", "old"))
    values = series(0, 4)
    values[2] = np.nan
    np.savez(tmp_path / "a.npz", x=values, y=values * 0 + 1)
    replayed(new, tmp_path / "a.npz", tmp_path / "out")
    bars = re.findall(r"<title>(.*?): (\d)</title>", (tmp_path / "out" / "replay.html").read_text())
    assert bars == [("same", "1"), ("1.8", "1"), ("3.2", "1"), ("not a number", "1")]
    replay(ReplayOptions([new, old], tmp_path / "a.npz", tmp_path / "both", workers=0))
    assert "new/bundle/bundle.yaml and old/bundle/bundle.yaml" in (tmp_path / "both" / "replay.html").read_text()
