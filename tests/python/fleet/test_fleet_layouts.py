# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Datasets in layouts of other tools: what belongs together is one episode, and what is not read is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hand_made import recurrent
from leapp.errors import LeappValueError
from leapp.fleet import ReplayOptions, ReplaySummary, replay
from test_fleet import series, stepped

STEPS = 6
FLOATS = pa.list_(pa.float32())


def replayed(bundle: Path, data: Path, **more: Any) -> ReplaySummary:
    return replay(ReplayOptions([bundle], data, data.parent / "out", **{"workers": 0, **more}))


def why_not(bundle: Path, data: Path, **more: Any) -> str:
    with pytest.raises(LeappValueError) as caught:
        replayed(bundle, data, **more)
    return str(caught.value)


def write(path: Path, **columns: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def lists(episode: int, begin: int = 0, end: int = STEPS) -> pa.Array:
    return pa.array(series(episode, STEPS).reshape(STEPS, 4)[begin:end].tolist(), FLOATS)


def assert_as_stepped(bundle: Path, summary: ReplaySummary, episodes: list[int]) -> None:
    """Whole episodes of STEPS steps, in that order."""
    files = sorted((summary.folder / "steps").iterdir())
    assert len(files) == len(episodes)
    for file, episode in zip(files, episodes, strict=True):
        found = np.array(pq.read_table(file).column("post/y").to_pylist(), np.float32)
        np.testing.assert_array_equal(found, stepped(bundle, series(episode, STEPS)).reshape(STEPS, 4))


@pytest.mark.parametrize("with_steps", [True, False])
def test_an_episode_in_folders_of_hive_is_one(tmp_path: Path, with_steps: bool) -> None:
    """``episode=0/part-1.parquet`` began with the state as exported: only its folder's name says what it is."""
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    for robot in range(2):
        for episode in range(2):
            for part in range(2):
                begin = 3 * part
                steps = {"step": list(range(begin, begin + 3))} if with_steps else {}
                folder = data / f"robot=r%20{robot}" / f"episode={episode}"
                values = lists(2 * robot + episode, begin, begin + 3)
                write(folder / f"part-{part}.parquet", x=values, **steps)
    summary = replayed(bundle, data)
    names = [one["episode"] for one in summary.rows["episodes"]]
    assert names[:2] == [f"robot=r%200/episode={i}/part-0.parquet#{i}" for i in range(2)]
    assert_as_stepped(bundle, summary, [0, 1, 2, 3])


def test_folders_of_hive_keep_episodes_of_one_number_apart(tmp_path: Path) -> None:
    """The last of one day and the first of the next are both called 0, and there is no column of steps."""
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    for day in range(2):
        write(data / f"date=2026-01-0{day}" / "a.parquet", episode=[0] * STEPS, x=lists(day))
    assert_as_stepped(bundle, replayed(bundle, data), [0, 1])


def test_a_column_of_the_file_comes_before_its_folder(tmp_path: Path) -> None:
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    both = pa.concat_arrays([lists(0), lists(1)])
    write(data / "episode=7" / "a.parquet", episode_index=[0] * STEPS + [1] * STEPS, x=both)
    assert_as_stepped(bundle, replayed(bundle, data), [0, 1])
    options: dict[str, Any] = {"episode_column": "robot", "overwrite": True}
    assert "no column robot (--episode-column), found episode_index, x, episode" in why_not(bundle, data, **options)


def test_fields_of_structures_are_columns(tmp_path: Path) -> None:
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    field = pa.StructArray.from_arrays([lists(0)], ["state"])
    write(data / "a.parquet", observation=pa.StructArray.from_arrays([field, pa.array(range(STEPS))], ["robot", "t"]))
    summary = replayed(bundle, data, columns={"pre/x": "observation.robot.state"})
    assert_as_stepped(bundle, summary, [0])
    again = {"columns": {"pre/x": "observation.robot"}, "overwrite": True}
    assert "expected numbers or lists of them, found struct<state" in why_not(bundle, data, **again)


def test_an_episode_that_goes_on_in_another_type(tmp_path: Path) -> None:
    """Lists of any kind go together; numbers of two types are an error of one line."""
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    write(data / "a.parquet", episode=[0] * 3, step=[0, 1, 2], x=lists(0, 0, 3))
    write(data / "b.parquet", episode=[0] * 3, step=[3, 4, 5], x=lists(0, 3, 6).cast(pa.large_list(pa.float32())))
    assert_as_stepped(bundle, replayed(bundle, data), [0])
    write(data / "b.parquet", episode=[0] * 3, step=[3, 4, 5], x=lists(0, 3, 6).cast(pa.list_(pa.float64())))
    why = why_not(bundle, data)
    assert "column x is float64[4] in" in why
    assert "\n" not in why


def test_files_without_rows_have_no_steps(tmp_path: Path) -> None:
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    write(data / "a.parquet", x=lists(0))
    write(data / "b.parquet", x=pa.array([], FLOATS))
    write(data / "c.parquet", episode=pa.array([], pa.int64()), step=pa.array([], pa.int64()), x=pa.array([], FLOATS))
    np.savez(data / "d.npz", x=series(0, 0))
    summary = replayed(bundle, data)
    assert {one["why"] for one in summary.rows["skipped"]} == {"it has no steps"}
    assert (summary.episodes, summary.skipped) == (1, 3)


def test_times_that_go_back_are_told(tmp_path: Path) -> None:
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    order = [0, 1, 2, 4, 3, 5]
    write(data / "a.parquet", timestamp=[i / 50 for i in order], x=lists(0).take(pa.array(order)))
    summary = replayed(bundle, data)
    assert summary.notes == [
        "a.parquet: timestamp goes back in row 4, and rows were taken as they stand: "
        "--order-column timestamp sorts them"
    ]
    summary = replayed(bundle, data, order_column="timestamp", overwrite=True)
    assert summary.notes == []
    assert_as_stepped(bundle, summary, [0])
    assert replayed(bundle, data, order_column="", overwrite=True).notes == []


def test_data_that_is_not_read_is_told(tmp_path: Path) -> None:
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    (data / "c.zarr").mkdir(parents=True)
    for name in ("a.h5", "b.H5", "notes.txt", "c.zarr/.zgroup", "_SUCCESS"):
        (data / name).write_bytes(b"")
    why = why_not(bundle, data)
    assert "expected episodes (.npz, .safetensors, .mcap, .parquet), found none, but 2 .h5, which are not read" in why
    assert "found none, but 1 .zarr" in why_not(bundle, data / "c.zarr")
    np.savez(data / "a.npz", x=series(0, 3))
    assert replayed(bundle, data).notes == ["2 .h5, 1 .zarr: files of these kinds are not read"]


def test_arrays_of_objects_are_named(tmp_path: Path) -> None:
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    data.mkdir()
    uneven = np.empty(2, object)
    uneven[:] = [[1.0, 2.0], [3.0]]
    np.savez(data / "a.npz", x=uneven)
    assert "column x: expected an array of numbers, found objects of Python" in why_not(bundle, data)


def test_episodes_without_recorded_outputs_are_not_shown_as_the_same(tmp_path: Path) -> None:
    """They were dots at zero, and their steps counted as inside the tolerance."""
    bundle, data = recurrent(tmp_path), tmp_path / "data"
    data.mkdir()
    np.savez(data / "a.npz", **{"pre/x": series(0, 4), "post/y": series(1, 4)})
    for name in "bcd":
        np.savez(data / f"{name}.npz", **{"pre/x": series(0, 4)})
    summary = replayed(bundle, data)
    assert summary.notes == ["post/y is not recorded in 3 of 4 episodes"]
    page = (summary.folder / "replay.html").read_text()
    assert page.count("<circle") == 1
    assert "steps outside the tolerance, 100 %" in page
