# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What is written: whole or not at all, where the user said and nowhere else, whatever lies there."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import bundles
import numpy as np
import pytest
import tool
from test_cli_codegen import add_model, write

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bundles/hostile"))
import measure
from faults import LIBRARY


def page_of(text: str) -> bool:
    return text.startswith("<!DOCTYPE html>") and text.endswith("</html>\n")


# ---- what lies there already ----


@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_is_replaced_and_not_followed(leapp: tool.Tool, walk: Path, dangling: bool) -> None:
    victim = leapp.cwd / "victim"
    if not dangling:
        victim.write_text("mine")
    names = ["out.csv", "trace.npz", "page.html", "walk/walk.view.html", "walk/walk.view.html.part"]
    for name in names:
        (leapp.cwd / name).symlink_to(victim)
    leapp("run", "walk", "--output", "out.csv", "--trace", "trace.npz")
    leapp("view", "walk", "--no-open", "--output", "page.html")
    leapp("view", "walk", "--no-open")
    assert (victim.read_text() if victim.exists() else "mine") == "mine"
    assert victim.exists() == (not dangling)
    assert [(leapp.cwd / name).is_symlink() for name in names] == [False] * 5
    assert page_of((leapp.cwd / "walk/walk.view.html").read_text())


def test_a_hard_link_is_replaced_too(leapp: tool.Tool, walk: Path) -> None:
    (leapp.cwd / "victim").write_text("mine")
    for name in ("out.csv", "out.csv.part"):
        os.link(leapp.cwd / "victim", leapp.cwd / name)
    leapp("run", "walk", "--output", "out.csv")
    assert (leapp.cwd / "victim").read_text() == "mine"


def test_a_pipe_that_nobody_reads_is_an_error(leapp: tool.Tool, walk: Path) -> None:
    """It lies in the folder of a stranger, under the name of the page."""
    for name in ("walk/walk.view.html", "out.csv"):
        os.mkfifo(leapp.cwd / name)
    assert "nobody reads from this pipe; --output names another file" in leapp.error("view", "walk", "--no-open")
    assert "nobody reads from this pipe" in leapp.error("run", "walk", "--output", "out.csv")
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append((leapp.cwd / "out.csv").read_text()), daemon=True)
    reader.start()
    # As soon as there is a reader.
    codes = [leapp.run("run", "walk", "--output", "out.csv").returncode]
    while codes[-1] != 0 and len(codes) < 100:
        codes.append(leapp.run("run", "walk", "--output", "out.csv").returncode)
    reader.join(10)
    assert codes[-1] == 0
    assert found[0].startswith("post/y[0],")
    assert found[0].count("\n") == 11


def test_files_that_may_not_grow(leapp: tool.Tool, walk: Path) -> None:
    (leapp.cwd / "out.npz").write_text("the old one")
    command = f"ulimit -f 1; exec {tool.PROGRAM} run walk --steps 1000 --output out.npz"
    done = subprocess.run(["sh", "-c", command], cwd=leapp.cwd, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "File too large" in done.stderr
    assert (leapp.cwd / "out.npz").read_text() == "the old one"
    assert not (leapp.cwd / "out.npz.part").exists()


@pytest.mark.parametrize("what", ["fail", "kill"])
@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["run", "walk", "--steps", 3, "--output"], "out.csv"),
        (["fuse", "walk", "--steps", 3, "--output"], "fused"),
        (["codegen", "walk", "--output"], "source"),
        (["export-triton", "walk", "--output"], "models"),
    ],
)
def test_the_old_one_or_the_new_one(leapp: tool.Tool, walk: Path, command: list[object], name: str, what: str) -> None:
    """At every call on files in turn, of folders at every third: it fails, or the process ends there."""

    def content() -> dict[str, bytes]:
        """Of files whose names are not ours while we write."""
        there = [place for place in [place_of_it, *place_of_it.rglob("*")] if place.is_file()]
        return {str(path.relative_to(leapp.cwd)): path.read_bytes() for path in there if ".leapp-" not in str(path)}

    place_of_it = leapp.cwd / "there" / name
    place_of_it.parent.mkdir()
    target = f"there/{name}"
    leapp(*command, target)
    old = content()
    spec = bundles.read(walk)
    spec["models"]["post"]["outputs"][0]["name"] = "z"
    spec["pipeline"]["outputs"] = {"post": ["z"]}
    bundles.write(walk.parent, spec)
    (walk.parent / "post.onnx").write_bytes((walk.parent / "post.onnx").read_bytes().replace(b"\x01y", b"\x01z"))
    for entry in spec["models"].values():
        entry["parameters"].pop("sha256sum")
        entry["parameters"].pop("md5sum")
    bundles.write(walk.parent, spec)
    subprocess.run(["cp", "-r", "there", "before"], cwd=leapp.cwd, check=True)
    leapp(*command, target)
    new = content()
    assert old != new
    seen: set[bool] = set()
    for at in range(1, 200, 1 if name == "out.csv" else 3):
        subprocess.run(["sh", "-c", "rm -rf there; cp -r before there"], cwd=leapp.cwd, check=True)
        plan = f"calls=files under={place_of_it.parent} at={at} do={what} report={leapp.cwd}/report"
        (leapp.cwd / "report").unlink(missing_ok=True)
        environment = leapp.environment | {"LD_PRELOAD": str(LIBRARY), "LEAPP_FAULTS": plan}
        done = subprocess.run(
            [tool.PROGRAM, *map(str, command), target], cwd=leapp.cwd, env=environment, capture_output=True, check=False
        )
        hit = (leapp.cwd / "report").read_text().split()[1:] if (leapp.cwd / "report").exists() else ["killed"]
        found = content()
        found.pop(f"{target}.part", None)  # of one that was killed; the next removes it
        assert found in (old, new), (at, hit, done.stderr)
        assert done.returncode != 0 or found == new, (at, hit)
        seen.add(found == new)
        if not hit:
            break
    assert not hit, "there are more calls than were tried"
    assert seen == {True, False}


def test_many_write_one_page_at_once(leapp: tool.Tool, walk: Path) -> None:
    """Each wrote into the same file beside it, and gave a half of another's its name."""
    page = leapp.cwd / "page.html"
    command = [tool.PROGRAM, "view", "walk", "--no-open", "--output", "page.html"]
    running = [subprocess.Popen(command, cwd=leapp.cwd, stdout=subprocess.DEVNULL) for _ in range(8)]
    while any(process.poll() is None for process in running):
        assert not page.exists() or page_of(page.read_text())
    assert [process.returncode for process in running] == [0] * 8
    assert page_of(page.read_text())
    assert sorted(path.name for path in leapp.cwd.iterdir()) == ["page.html", "walk"]


# ---- outputs that are closed ----


@pytest.mark.parametrize("closed", [">&-", "2>&-", "0<&-", "0<&- >&- 2>&-"])
def test_nothing_printed_ends_up_in_a_file(leapp: tool.Tool, walk: Path, closed: str) -> None:
    """Files get the number of what is closed."""
    leapp("run", "walk", "--output", "usual.csv")
    command = f"exec {tool.PROGRAM} run walk --output out.csv {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=leapp.cwd, env=leapp.environment, capture_output=True, check=False)
    assert done.returncode == (2 if ">&-" in closed.replace("2>&-", "") else 0), done
    assert (leapp.cwd / "out.csv").read_text() == (leapp.cwd / "usual.csv").read_text()
    damaged = f"exec {tool.PROGRAM} fuse walk --output fused --steps 3 {closed}"
    subprocess.run(["sh", "-c", damaged], cwd=leapp.cwd, env=leapp.environment, capture_output=True, check=False)
    leapp("run", "fused")


# ---- names of strangers ----


def renamed(folder: Path, node: str, port: str = "y") -> Path:
    """A bundle of one node, of that name, with an output of that name."""
    return write(folder, add_model(output=port), ("a", "b"), (port,), node)


NAMES = [
    ("n", "a\n1,2\n=x"), ("=HYPERLINK(1)", "y"), ("@x", "y"), ("-1+1", "y"), ('a"b', "y"), ("a,b", "y"),
    ("n", "a\r"), ("n", "\r\nb"), ("n", '"'),
]  # fmt: skip


@pytest.mark.parametrize(("node", "port"), NAMES)
def test_a_name_is_one_cell_and_no_formula(leapp: tool.Tool, node: str, port: str) -> None:
    renamed(leapp.cwd / "named", node, port)
    leapp("run", "named", "--steps", 2, "--output", "out.csv")
    with open(leapp.cwd / "out.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert [len(row) for row in rows] == [2, 2, 2]
    assert [cell.removeprefix(" ") for cell in rows[0]] == [f"{node}/{port}[{i}]" for i in range(2)]
    assert not any(re.match(r"[=+\-@\t\r]", cell) for cell in rows[0])
    leapp("run", "named", "--steps", 2, "--trace", "trace.csv")
    assert "agrees" in leapp("run", "named", "--replay", "trace.csv")


def test_commas_that_never_end_are_refused_at_the_first(leapp: tool.Tool, walk: Path) -> None:
    with open(leapp.cwd / "in.csv", "wb") as file:
        file.write(b"," * 50_000_000)
    usual = measure.run([tool.PROGRAM, "--version"])
    done = measure.run([tool.PROGRAM, "run", walk, "--inputs", leapp.cwd / "in.csv"])
    assert 'there is no input ""' in done.text
    assert done.megabytes < usual.megabytes + 50 + 64, done


@pytest.mark.parametrize("hidden", ["\u061c", "\u200b", "\u202e", "\u2060", "\ufeff", "\u00ad", "\U000e0041", "\x9b"])
def test_what_nobody_sees_is_shown(leapp: tool.Tool, hidden: str) -> None:
    renamed(leapp.cwd / "named", f"no{hidden}de")
    for text in (leapp("inspect", "named"), leapp.run("inspect", "named", "--json").stdout):
        assert hidden not in text
    assert leapp.json("inspect", "named")["nodes"][0]["name"] == f"no{hidden}de"
    leapp("view", "named", "--no-open", "--output", "page.html")
    assert hidden not in (leapp.cwd / "page.html").read_text()


def test_letters_that_are_joined_stay_as_they_are(leapp: tool.Tool) -> None:
    renamed(leapp.cwd / "named", "می\u200cخ")
    assert "می\u200cخ" in leapp("inspect", "named")


# ---- numbers ----

NUMBERS = ["nan", "inf", "1e999", "-1", "99999999999999999999999", "", " 1", "0x1", "1,5"]


@pytest.mark.parametrize(
    "option",
    [
        ["run", "walk", "--steps"],
        ["run", "walk", "--seed"],
        ["run", "walk", "--timeout"],
        ["run", "walk", "--memory-limit"],
        ["run", "walk", "--intra-op-threads"],
        ["bench", "walk", "--warmup"],
        ["bench", "walk", "--rate"],
        ["fuse", "walk", "--steps"],
        ["sign", "walk", "--key", "key.private.pem", "--serial"],
        ["verify", "walk", "--key", "key.public.pem", "--minimum-serial"],
        ["export-triton", "walk", "--output", "models", "--idle"],
        ["export-triton", "walk", "--output", "models", "--instances"],
    ],
)
def test_numbers_that_do_not_fit(leapp: tool.Tool, walk: Path, option: list[str]) -> None:
    """--serial -1 was 18446744073709551615, after which robots take no other."""
    leapp("keygen", "key")
    for number in NUMBERS:
        assert option[-1] in leapp.error(*option, number), number


def test_a_tolerance_is_a_number(leapp: tool.Tool, walk: Path) -> None:
    """No difference is larger than NaN."""
    for arguments in (["diff", "walk", "walk", "--atol"], ["run", "walk", "--rtol"], ["fuse", "walk", "--atol"]):
        assert 'expected a number, found "nan"' in leapp.error(*arguments, "nan")


# ---- places outside, and programs that lie about ----


def test_diff_reads_nothing_outside(leapp: tool.Tool, walk: Path) -> None:
    other = bundles.write_recurrent(leapp.cwd / "other")
    spec = bundles.read(other)
    (leapp.cwd / "secret").write_bytes(b"secret words")
    del spec["models"]["pre"]["parameters"]["sha256sum"]
    spec["models"]["pre"]["parameters"]["model_path"] = "../secret"
    spec["pipeline"]["initial_values"] = str(leapp.cwd / "secret")
    bundles.write(other.parent, spec)
    found = {one["what"]: one["b"] for one in leapp.json("diff", "walk", "other", code=1)["differences"] if one["b"]}
    assert found.keys() == {"model", "initial values"}
    assert all("--allow-outside permits" in text for text in found.values()), found
    found = {
        one["what"]: one["b"]
        for one in leapp.json("diff", "walk", "other", "--allow-outside", code=1)["differences"]
        if one["b"]
    }
    assert "ONNX" in found["model"] or "protobuf" in found["model"].lower(), found


def test_replay_runs_nothing_that_lies_where_one_stands(leapp: tool.Tool, walk: Path) -> None:
    """Python looks for modules there first."""
    leapp.environment |= {"LEAPP_PYTHON": sys.executable}
    leapp("run", "walk", "--steps", 3, "--trace", "data.npz")
    for name in ("leapp", "runpy", "json", "argparse", "numpy", "pyarrow", "sitecustomize", "html"):
        (leapp.cwd / f"{name}.py").write_text("raise SystemExit('a stranger runs')")
    leapp("replay", "walk", "--data", "data.npz", "--output", "result", "--workers", 0)


def test_a_recording_names_no_files_of_ours(leapp: tool.Tool, walk: Path) -> None:
    """/dev/zero was read until it ended."""
    from leapp import InferenceManager, Recorder

    manager = InferenceManager(walk)
    with Recorder(manager, leapp.cwd / "robot.mcap") as recorder:
        for _ in range(3):
            manager({"pre/x": np.zeros((1, 4), np.float32)})
            recorder.record()
    recorded = (leapp.cwd / "robot.mcap").read_bytes()
    assert b"policy.onnx" in recorded
    leapp("run", "walk", "--replay", "robot.mcap")
    (leapp.cwd / "robot.mcap").write_bytes(recorded.replace(b"policy.onnx", b"//dev//zero"))
    text = leapp("run", "walk", "--replay", "robot.mcap", "--timeout", 30)
    assert "not the files that were recorded: //dev//zero" in text
    assert "agrees with robot.mcap: 2 ports over 3 steps" in text


def test_pictures_that_nobody_could_read_are_not_drawn(leapp: tool.Tool) -> None:
    """Graphviz would take hours for what a small YAML can have."""
    folder = leapp.cwd / "many"
    folder.mkdir()
    names = [f"n{i}" for i in range(700)]
    models = {n: {"inputs": [bundles.port("x")], "outputs": [bundles.port("y")], "parameters": {}} for n in names}
    flow = {f"{a}/y": [f"{b}/x"] for a, b in itertools.pairwise(names)}
    pipeline = {"data_flow": flow, "feedback_flow": {}, "inputs": {"n0": ["x"]}, "outputs": {"n699": ["y"]}}
    bundles.write(folder, {"models": models, "pipeline": pipeline, "system information": {}})
    assert "a picture of 700 nodes" in leapp.error("view", "many", "--no-open", "--output", "page.html")


# ---- files that many nodes share ----


def test_a_file_that_many_nodes_have_is_looked_at_once(leapp: tool.Tool) -> None:
    """Thirty megabytes for each of forty nodes."""
    folder = leapp.cwd / "shared"
    folder.mkdir()
    names = [f"n{i}" for i in range(40)]
    entry = bundles.node(folder, "m", bundles.MODELS / "affine.onnx", [bundles.port("x")], [bundles.port("y")])
    zeros = 30_000_000
    length = bytes([zeros & 127 | 128, zeros >> 7 & 127 | 128, zeros >> 14 & 127 | 128, zeros >> 21])
    with open(folder / "m.onnx", "ab") as file:
        file.write(b"\xc2\x3e" + length + bytes(zeros))  # a field that nobody knows
    size = (folder / "m.onnx").stat().st_size
    entry["parameters"] = {"backend": "onnx", "model_path": "m.onnx"}
    models = {name: {**entry, "parameters": dict(entry["parameters"])} for name in names}
    ends = {"inputs": {name: ["x"] for name in names}, "outputs": {name: ["y"] for name in names}}
    text = json.dumps({"models": models, "pipeline": {"data_flow": {}, "feedback_flow": {}, **ends}})
    (folder / "shared.yaml").write_text(text)

    def took(*arguments: object) -> measure.Outcome:
        done = measure.run([tool.PROGRAM, *arguments], seconds=30)
        assert done.code in (0, 1, 2), done.text
        return done

    limit = ("--memory-limit", "100MB")
    usual = took("--version")
    for command in (
        ["inspect", folder, *limit],
        ["check", folder, "--no-load"],
        ["diff", folder, folder],
        ["view", folder, "--no-open", "--output", leapp.cwd / "page.html"],
        ["codegen", folder, "--output", leapp.cwd / "source", *limit],
        ["export-triton", folder, "--output", leapp.cwd / "models", "--backend", "python", *limit],
    ):
        done = took(*command)
        assert done.megabytes - usual.megabytes < 5 * size / 1e6, (command, done)
