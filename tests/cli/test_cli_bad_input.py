# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong is said in one line, with an exit code, and never as a trace."""

from __future__ import annotations

import os
import pty
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import bundles
import numpy as np
import pytest
import tool

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bundles/hostile"))
import measure

COMMANDS = ["inspect", "check", "run", "bench", "fuse"]


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_no_bundle(leapp: tool.Tool, command: str) -> None:
    (leapp.cwd / "empty").mkdir()
    (leapp.cwd / "text.yaml").write_text("just text")
    (leapp.cwd / "half.yaml").write_text("models:\n  policy:\n    inputs: [")
    (leapp.cwd / "binary.yaml").write_bytes(bytes(range(256)))
    assert "expected empty.yaml in it, found none" in leapp.error(command, "empty")
    assert "text.yaml" in leapp.error(command, "text.yaml")
    assert "half.yaml" in leapp.error(command, "half.yaml")
    assert "binary.yaml" in leapp.error(command, "binary.yaml")
    assert "no_such.yaml" in leapp.error(command, "no_such.yaml")
    leapp.error("diff", "text.yaml", "text.yaml")


def test_half_a_bundle(leapp: tool.Tool, walk: Path) -> None:
    (walk.parent / "policy.onnx").unlink()
    (walk.parent / "pre.onnx").write_bytes(b"something else")
    found = leapp.json("inspect", "walk", code=1)
    assert found["nodes"][0]["model"]["checksum"] == "differs"
    assert "policy.onnx" in found["nodes"][1]["model"]["problem"]
    errors = [each for each in leapp.json("check", "walk", code=1)["findings"] if each["severity"] == "error"]
    assert [each["place"] for each in errors] == [
        "models.pre.parameters.sha256sum",
        "models.policy.parameters.model_path",
    ]
    for command in ("run", "bench", "fuse"):
        leapp.error(command, "walk")
    leapp("diff", "walk", "walk")


def test_wiring_that_makes_no_sense(leapp: tool.Tool, walk: Path) -> None:
    spec = bundles.read(walk)
    spec["pipeline"]["data_flow"] = {"pre/y": ["policy/nothing"]}
    bundles.write(walk.parent, spec)
    findings = leapp.json("check", "walk", code=1)["findings"]
    assert any("policy/nothing" in each["message"] for each in findings)
    assert len([each for each in findings if each["severity"] == "error"]) > 1
    leapp("inspect", "walk", code=1)
    for command in ("run", "bench", "fuse"):
        leapp.error(command, "walk")


def test_initial_values_that_are_missing_or_wrong(leapp: tool.Tool, walk: Path) -> None:
    file = walk.parent / "walk_initial_values.safetensors"
    file.write_bytes(bundles.safetensors({"policy/h_in": np.zeros((1, 5), np.float32)}))
    (found,) = [each for each in leapp.json("check", "walk", code=1)["findings"] if each["severity"] == "error"]
    assert "expected float32[1,4], found float32[1,5]" in found["message"]
    file.write_bytes(struct.pack("<Q", 1 << 60))
    leapp("check", "walk", code=1)
    leapp("diff", "walk", "walk", code=1)
    file.unlink()
    leapp("check", "walk", code=1)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["what"],
        ["inspect"],
        ["inspect", "a", "b"],
        ["run", "walk", "--steps", "0"],
        ["run", "walk", "--steps", "x"],
        ["run", "walk", "--inputs", "a.npz", "--replay", "b.npz"],
        ["check", "walk", "--target", "toaster"],
        ["bench", "walk", "--rate", "0"],
        ["bench", "walk", "--intra-op-threads", "0"],
        ["diff", "walk"],
        ["run", "walk", "--inputs", "a.txt"],
        ["run", "walk", "--output", "a.txt"],
        ["fuse", "walk", "--node", "a/b"],
    ],
)
def test_wrong_usage(leapp: tool.Tool, walk: Path, arguments: list[str]) -> None:
    leapp.error(*arguments)


def run_csv(leapp: tool.Tool, text: str) -> str:
    (leapp.cwd / "in.csv").write_text(text)
    return leapp.error("run", "walk", "--inputs", "in.csv")


def test_csv_files(leapp: tool.Tool, walk: Path) -> None:
    header = ",".join(f"x[{i}]" for i in range(4))
    assert run_csv(leapp, f"{header}\n1,2,3,4\n1,2,3\n") == "in.csv: line 3: expected 4 columns, found 3"
    assert run_csv(leapp, f"{header}\n1,2,3,4,5\n") == "in.csv: line 2: expected 4 columns, found 5"
    assert 'found "one"' in run_csv(leapp, f"{header}\none,2,3,4\n")
    assert "there is no input" in run_csv(leapp, "y[0]\n1\n")
    assert len(run_csv(leapp, '"' + "a" * 100_000)) < 1000
    assert "x[3]" in run_csv(leapp, "x[0],x[1],x[2]\n1,2,3\n")
    run_csv(leapp, "")
    run_csv(leapp, "\n\n")
    run_csv(leapp, header)


@pytest.mark.parametrize(
    ("option", "name"),
    [("--inputs", "pipe.csv"), ("--replay", "pipe.csv"), ("--replay", "pipe.npz"), ("--replay", "pipe.mcap")],
)
def test_a_pipe_that_nobody_writes_to(leapp: tool.Tool, walk: Path, option: str, name: str) -> None:
    os.mkfifo(leapp.cwd / name)
    assert "it is not a regular file" in leapp.error("run", "walk", option, name)


def test_npz_files(leapp: tool.Tool, walk: Path) -> None:
    path = leapp.cwd / "in.npz"

    def error() -> str:
        return leapp.error("run", "walk", "--inputs", "in.npz")

    np.savez(path, x=np.zeros((3, 5), np.float32))
    assert error() == "in.npz: x: expected float32[N,1,4], found float32[3,5]"
    np.savez(path, x=np.zeros((3, 4)))
    assert error().endswith("found float64[3,4]; --cast converts it")
    leapp("run", "walk", "--inputs", "in.npz", "--cast")
    np.savez(path, x=np.array(["text"]))
    assert "expected numbers" in error()
    np.savez(path, x=np.array([{}]), allow_pickle=True)
    assert "expected" in error()
    np.savez(path, other=np.zeros(3))
    assert "there is no input" in error()
    np.savez(path)
    assert "expected values for pre/x, found none" in error()
    path.write_bytes(b"PK\x03\x04 and nothing more")
    assert "not a zip file" in error()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("x.npy", b"0" * 100)
    assert "stored or deflated" in error()
    path.write_bytes(b"")
    error()
    path.unlink()
    assert "No such file" in error()


def test_a_zip_that_would_unpack_to_anything(leapp: tool.Tool, walk: Path) -> None:
    path = leapp.cwd / "in.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(100))
    data = bytearray(path.read_bytes())
    for header, field in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.rindex(header) + field
        data[at : at + 4] = struct.pack("<I", 0xF0000000)  # the size it says it has
    path.write_bytes(data)
    assert "cannot hold" in leapp.error("run", "walk", "--inputs", "in.npz")


def test_a_small_file_that_unpacks_to_a_large_one(leapp: tool.Tool, walk: Path) -> None:
    """It was read whole before anybody looked at its shape."""

    def write(shape: str) -> None:
        with zipfile.ZipFile(leapp.cwd / "in.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
            with archive.open("x.npy", "w") as member:
                member.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
                for _ in range(250):
                    member.write(bytes(1_000_000))

    def run(*options: object) -> measure.Outcome:
        return measure.run([tool.PROGRAM, "run", walk, "--inputs", leapp.cwd / "in.npz", *options])

    def refused(*options: object) -> str:
        done = run(*options)
        assert done.code == 2, done.text
        assert done.megabytes < usual.megabytes + 64, done
        assert done.seconds < usual.seconds + 1, done
        return done.text

    np.savez(leapp.cwd / "in.npz", x=np.zeros((3, 4), np.float32))
    usual = run()
    assert usual.code == 0, usual.text
    write("(5, 12500000)")
    assert "expected float32[N,1,4], found float32[5,12500000]" in refused()
    write("(15625000, 4)")
    assert "need 250.0 MB of memory, --memory-limit is 100.0 MB" in refused("--memory-limit", "100MB")
    write("(15625000, 5)")
    assert "250000000 bytes do not make a float32[15625000,5]" in refused()


def test_every_byte_of_an_npz_may_be_wrong(leapp: tool.Tool, walk: Path) -> None:
    path = leapp.cwd / "in.npz"
    np.savez_compressed(path, x=np.arange(8, dtype=np.float32).reshape(2, 4))
    good = path.read_bytes()
    for at in range(0, len(good), 23):  # all of them are gone through in C++
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x81]) + good[at + 1 :])
        assert leapp.run("run", "walk", "--inputs", "in.npz").returncode in (0, 2)


def test_traces_of_other_bundles(leapp: tool.Tool, walk: Path) -> None:
    np.savez(leapp.cwd / "t.npz", **{"inputs/other/x": np.zeros((3, 1, 4), np.float32)})
    assert "is not a port of this bundle" in leapp.error("run", "walk", "--replay", "t.npz")
    np.savez(leapp.cwd / "t.npz", **{"inputs/pre/x": np.zeros((3, 1, 4), np.float32)})
    assert "expected values for inputs/policy/h_in" in leapp.error("run", "walk", "--replay", "t.npz")


def test_more_steps_than_there_is_data_for(leapp: tool.Tool, walk: Path) -> None:
    np.savez(leapp.cwd / "in.npz", x=np.zeros((3, 4), np.float32))
    assert "expected at most 3" in leapp.error("run", "walk", "--inputs", "in.npz", "--steps", 4)


def test_a_step_that_fails_is_a_finding(leapp: tool.Tool) -> None:
    folder = leapp.cwd / "pick"
    folder.mkdir()
    index = {"name": "index", "dtype": "int64", "shape": [2], "type": "tensor"}
    value = {"name": "y", "dtype": "float32", "shape": [2], "type": "tensor"}
    node = bundles.node(folder, "pick", bundles.MODELS / "pick.onnx", [index], [value])
    pipeline = {"data_flow": {}, "feedback_flow": {}, "inputs": {"pick": ["index"]}, "outputs": {"pick": ["y"]}}
    bundles.write(folder, {"models": {"pick": node}, "pipeline": pipeline, "system information": {}})
    (leapp.cwd / "in.csv").write_text("index[0],index[1]\n0,1\n2,99\n")
    assert leapp.error("run", "pick", "--inputs", "in.csv", code=1).startswith("step 1: node pick: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_write_permission(leapp: tool.Tool, walk: Path) -> None:
    (leapp.cwd / "closed").mkdir(mode=0o500)
    for arguments in (["run", "walk", "--output", "closed/o.csv"], ["fuse", "walk", "--output", "closed/fused"]):
        assert "Permission denied" in leapp.error(*arguments)


def test_what_cannot_be_written(leapp: tool.Tool, walk: Path) -> None:
    assert "No such file or directory" in leapp.error("run", "walk", "--output", "none/o.csv")
    assert "its parent folder does not exist" in leapp.error("fuse", "walk", "--output", "none/fused")
    (leapp.cwd / "folder.csv").mkdir()
    assert "Is a directory" in leapp.error("run", "walk", "--trace", "folder.csv")
    (leapp.cwd / "full.csv").symlink_to("/dev/full")
    assert "No space left on device" in leapp.error("run", "walk", "--output", "full.csv")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [tool.PROGRAM, "inspect", walk], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "leapp: cannot write the output: No space left on device\n"


def test_a_closed_pipe_is_nobodys_error(walk: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([tool.PROGRAM, "inspect", walk], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_names_cannot_speak_to_the_terminal(leapp: tool.Tool, walk: Path) -> None:
    spec = bundles.read(walk)
    spec["models"]["pre"]["inputs"][0]["kind"] = "\x1b]0;title\x07\x1b[31m"
    bundles.write(walk.parent, spec)
    assert "\x1b" not in leapp("inspect", "walk")
    assert "\\x1b]0;" in leapp("inspect", "walk")


def on_a_terminal(leapp: tool.Tool, *arguments: str, **more: str) -> str:
    main, secondary = pty.openpty()
    process = subprocess.Popen(
        [tool.PROGRAM, *arguments],
        cwd=leapp.cwd,
        env={**leapp.environment, **more},
        stdout=secondary,
        stderr=secondary,
    )
    os.close(secondary)
    text = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(main)
    assert process.wait() == 0
    return text.decode()


def test_colour_and_progress_are_for_terminals(leapp: tool.Tool, walk: Path) -> None:
    assert "\x1b[1m" in on_a_terminal(leapp, "inspect", "walk", TERM="xterm")
    assert "\x1b" not in on_a_terminal(leapp, "inspect", "walk", TERM="xterm", NO_COLOR="1")
    paced = ("bench", "walk", "--steps", "30", "--warmup", "1", "--rate", "20")
    assert "\rsteps" not in leapp(*paced)
    assert " of 60 (" in on_a_terminal(leapp, *paced, TERM="xterm")


def test_no_onnx_runtime(leapp: tool.Tool, walk: Path) -> None:
    leapp.environment = {"LEAPP_ONNXRUNTIME": "/nowhere"}
    engine = ("--engine", "onnxruntime")
    assert "/nowhere" in leapp.error("run", "walk", *engine)
    leapp.environment = {}
    assert "--onnxruntime" in leapp.error("run", "walk", *engine)
    assert not leapp.json("check", "walk", "--no-load")["loaded"]
    found = leapp.json("check", "walk", *engine)["findings"]
    assert any("not loaded" in each["message"] for each in found)


def test_models_outside_the_folder(leapp: tool.Tool, walk: Path) -> None:
    shutil.move(walk.parent / "pre.onnx", leapp.cwd / "pre.onnx")
    spec = bundles.read(walk)
    spec["models"]["pre"]["parameters"]["model_path"] = "../pre.onnx"
    bundles.write(walk.parent, spec)
    leapp("run", "walk")  # its bytes are those that the YAML names
    del spec["models"]["pre"]["parameters"]["sha256sum"]
    bundles.write(walk.parent, spec)
    assert "; --allow-outside permits that" in leapp.error("run", "walk")
    leapp("run", "walk", "--allow-outside")
