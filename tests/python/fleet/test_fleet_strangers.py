# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""``leapp replay`` of data, and with bundles, of strangers: what it prints, what it reads, and where it writes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import leapp
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hand_made import HandMade, port, recurrent
from leapp.errors import LeappOSError, LeappValueError
from leapp.fleet import replay, rows
from leapp.fleet.columns import names_for
from leapp.fleet.words import printable
from test_fleet import series, told, write_npz

HARMFUL = re.compile(
    rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b\x8e\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf"
)
EVIL = "\x1b]0;title\x07\u202e\u200b\x9b2J"
COMMAND = [sys.executable, "-c", "import sys; from leapp.fleet.cli import main; sys.exit(main())"]


def run(*arguments: object, closed: str = "", **more: str) -> subprocess.CompletedProcess[bytes]:
    package = str(Path(leapp.__file__).parents[1])
    command: list[object] = [*COMMAND, *arguments]
    if closed:
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", *command]
    environment = {**os.environ, "PYTHONPATH": package, **more}
    return subprocess.run(list(map(os.fspath, command)), capture_output=True, env=environment, timeout=120, check=False)  # type: ignore[call-overload]


def evil_bundle(folder: Path) -> Path:
    """Its output has a name that speaks to the terminal."""
    from onnx import TensorProto, helper

    made = HandMade(folder)
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("x", EVIL)]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], [EVIL])], "g", info[:1], info[1:])
    made.add("n", "affine", [port("x")], [port(EVIL)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (made.folder / "n.onnx").write_bytes(model.SerializeToString())
    made.pipeline |= {"inputs": {"n": ["x"]}, "outputs": {"n": [EVIL]}}
    return made.write()


def test_no_escape_reaches_the_terminal_or_the_page(tmp_path: Path) -> None:
    bundle = evil_bundle(tmp_path)
    data = tmp_path / "data"
    data.mkdir()
    columns = {"n/x": series(0, 5), f"n/{EVIL}": series(1, 5)}
    np.savez(data / f"{EVIL}.npz", **columns)
    np.savez(data / "good.npz", **columns)
    (data / f"bad{EVIL}.npz").write_bytes(b"PK")
    (Path(os.fsdecode(os.fsencode(data) + b"/\xff\xfe.npz"))).write_bytes(b"PK")
    for form in ([], ["--json"]):
        done = run(bundle, "--data", data, "--output", tmp_path / "out", "--workers", "0", *form)
        assert done.returncode == 1, done
        assert not HARMFUL.search(done.stdout + done.stderr), done
    assert b"\\x1b]0;title\\x07" in run(bundle, "--data", data, "--output", tmp_path / "out", "--workers", "0").stdout
    assert not HARMFUL.search((tmp_path / "out/replay.html").read_bytes())
    for arguments in ([EVIL], [bundle, "--column", EVIL], [bundle, "--column", f"{EVIL}/x=y"]):
        done = run(*arguments, "--data", data / EVIL, "--output", tmp_path / "other", "--workers", "0")
        assert done.returncode == 2, done
        assert done.stderr.startswith(b"leapp: "), done
        assert not HARMFUL.search(done.stderr), done


def test_names_are_shown_as_the_program_shows_them() -> None:
    assert printable("a\x1bé日\u202e\udcff\ud800\u200c") == "a\\x1bé日\\xe2\\x80\\xae\\xff\\xed\\xa0\\x80\u200c"


def test_a_bundle_whose_path_is_no_text(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    folder.mkdir()
    bundle = recurrent(folder)
    write_npz(tmp_path / "data", [5])
    for encoding in ("utf-8", "ascii", "latin-1"):
        done = run(bundle, "--data", tmp_path / "data", "--output", folder / encoding, "--workers", "0",
                   PYTHONIOENCODING=encoding, PYTHONUTF8="0", LC_ALL="C")  # fmt: skip
        assert done.returncode == 0, done


def test_an_output_that_is_lost_is_an_error(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    write_npz(tmp_path / "data", [5])
    given = (bundle, "--data", tmp_path / "data", "--output", tmp_path / "out", "--workers", "0")
    for closed, said in ((">/dev/full", b"No space left on device"), (">&-", b"Bad file descriptor")):
        for form in ([], ["--json"]):
            done = run(*given, *form, closed=closed)
            assert (done.returncode, done.stdout) == (2, b""), done
            assert done.stderr.count(b"\n") == 1, done
            assert said in done.stderr, done
    assert run(*given, closed="2>&-").returncode == 0
    done = run(tmp_path / "none", *given[1:], "--json", closed="2>&-")
    assert (done.returncode, done.stdout) == (2, b"")  # an error is no JSON
    assert run(*given, closed="2>/dev/full").returncode == 0


@pytest.mark.parametrize("number", ["nan", "-1", "x", "", "1e999"])
@pytest.mark.parametrize("option", ["--batch", "--worst", "--rtol", "--workers", "--timeout", "--memory-limit"])
def test_numbers_that_make_no_sense(
    option: str, number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from leapp.fleet.cli import main

    bundle = recurrent(tmp_path)
    write_npz(tmp_path / "data", [5])
    given = [str(bundle), "--data", str(tmp_path / "data"), "--output", str(tmp_path / "out"), "--workers", "0"]
    try:
        code = main([*given, option, number])
    except SystemExit as end:
        code = end.code  # type: ignore[assignment]
    assert code == (0 if (option, number) == ("--rtol", "1e999") else 2)
    assert "Traceback" not in capsys.readouterr().err


# ---- what it reads ----


def test_columns_that_would_not_fit_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some kilobytes of each kind say that they are many megabytes."""
    monkeypatch.setattr("leapp.fleet.rows.memory_for_data", lambda: 20_000_000)
    monkeypatch.setattr("leapp.fleet.episodes.memory_for_data", lambda: 20_000_000)
    bundle = recurrent(tmp_path)
    data = tmp_path / "data"
    data.mkdir()
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2500000, 4), }".ljust(117) + "\n"
    with zipfile.ZipFile(data / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("pre/x.npy", "w") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        for _ in range(4):
            file.write(bytes(10_000_000))
    zeros = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(4 * 500_000, np.float32)), 4)
    with pq.ParquetWriter(data / "b.parquet", pa.schema([("pre/x", zeros.type)])) as writer:
        for _ in range(8):
            writer.write_table(pa.table({"pre/x": zeros}))
    numbers = pa.array(np.arange(2_000_000))
    table = pa.table({"episode": numbers, "pre/x": numbers})
    pq.write_table(table, data / "c.parquet", use_dictionary=False, column_encoding="DELTA_BINARY_PACKED")
    assert max(path.stat().st_size for path in data.iterdir()) < 1_100_000
    np.savez(data / "d.npz", **{"pre/x": series(0, 3)})
    found = {one["episode"]: one["why"] for one in replay(told(bundle, data, tmp_path / "out")).rows["skipped"]}
    assert found.keys() == {"a.npz", "b.parquet", "c.parquet"}
    assert "a quarter of the memory" in found["a.npz"]
    assert "a quarter of the memory" in found["b.parquet"]
    assert "expected at most 1,000,000 episodes in a file, found 2,000,000" in found["c.parquet"]
    assert rows.memory_for_data() == 20_000_000


def test_a_structure_and_its_field_are_columns(tmp_path: Path) -> None:
    """A column of the times that is a structure, and another one's field that is wanted: it went on for ever."""
    bundle = recurrent(tmp_path)
    values = pa.FixedSizeListArray.from_arrays(pa.array(series(0, 5).reshape(-1)), 4)
    columns = {
        "observation": pa.StructArray.from_arrays([values], ["state"]),
        "timestamp": pa.StructArray.from_arrays([pa.array([0, 1, 2, 3, 4])], ["s"]),
        "timestamp.s": pa.array([0, 1, 2, 3, 4]),
    }
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table(columns), tmp_path / "data/a.parquet")
    options = told(bundle, tmp_path / "data", tmp_path / "out", columns={"pre/x": "observation.state"})
    assert replay(options).steps == 5


def test_many_ports_take_time_in_proportion() -> None:
    """Twenty thousand of them; a second, where each was compared with all."""

    def made(name: str) -> Any:
        return SimpleNamespace(name=name)

    ports = {"inputs": [made(f"n/x{i}") for i in range(20_000)], "outputs": [made("n/y")]}
    names = names_for(ports, {})
    assert names["inputs", "n/x7"] == ["n/x7", "inputs/n/x7", "x7", "inputs/x7"]
    assert names["outputs", "n/y"] == ["n/y", "outputs/n/y", "y", "outputs/y"]


def test_torchscript_can_be_refused(tmp_path: Path) -> None:
    made = HandMade(tmp_path)
    made.add("n", "affine", [port("x")], [port("y")])
    made.models["n"]["parameters"] = {"backend": "jit", "model_path": "n.pt"}
    (made.folder / "n.onnx").rename(made.folder / "n.pt")
    made.pipeline |= {"inputs": {"n": ["x"]}, "outputs": {"n": ["y"]}}
    bundle = made.write()
    write_npz(tmp_path / "data", [5])
    done = run(bundle, "--data", tmp_path / "data", "--output", tmp_path / "out", "--workers", "0", "--no-torchscript")
    assert done.returncode == 2
    assert b"allow_torchscript" in done.stderr, done


# ---- where it writes ----


@pytest.mark.parametrize("name", ["steps", "replay.json"])
def test_links_in_the_folder_of_results_are_not_followed(tmp_path: Path, name: str) -> None:
    bundle = recurrent(tmp_path)
    write_npz(tmp_path / "data", [5, 5])
    replay(told(bundle, tmp_path / "data", tmp_path / "out"))
    (tmp_path / "mine").mkdir()
    place = tmp_path / "out" / name
    place.rename(tmp_path / "moved")
    place.symlink_to(tmp_path / "mine" if name == "steps" else tmp_path / "moved")
    with pytest.raises(LeappOSError, match="expected no link"):
        replay(told(bundle, tmp_path / "data", tmp_path / "out", overwrite=True))
    assert list((tmp_path / "mine").iterdir()) == []


def test_pipes_in_the_folder_of_results_are_no_hindrance(tmp_path: Path) -> None:
    bundle = recurrent(tmp_path)
    write_npz(tmp_path / "data", [5, 5])
    (tmp_path / "out/steps").mkdir(parents=True)
    for name in ("replay.json", "steps/000000.parquet", "steps/000009.parquet", "episodes.parquet"):
        os.mkfifo(tmp_path / "out" / name)
    with pytest.raises(LeappValueError, match="expected an empty folder"):
        replay(told(bundle, tmp_path / "data", tmp_path / "out"))
    assert replay(told(bundle, tmp_path / "data", tmp_path / "out", overwrite=True)).steps == 10
    assert json.loads((tmp_path / "out/replay.json").read_text())["batch"] == 1
