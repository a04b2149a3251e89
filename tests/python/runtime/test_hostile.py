# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles of strangers (tests/bundles/hostile): an answer in little memory and little time, and no crash."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import leapp
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bundles/hostile"))
import attacks
import measure
import mutations
import trust

MOST_MEGABYTES = 64
MOST_SECONDS = 1

# What moves a terminal's cursor, or makes a line read as another.
HARMFUL = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]")


def run_changed(kind: str, numbers: range, folder: Path) -> None:
    """All in one process, each held to 12 s: what ends it is the one that was begun last."""
    child = subprocess.run(
        [sys.executable, mutations.__file__, kind, str(numbers.start), str(numbers.stop), folder],
        capture_output=True,
        text=True,
    )
    said = child.stdout.splitlines()
    assert child.returncode == 0, (child.returncode, said[-1:], child.stderr[-1000:])
    outcomes = [line.split(": ", 1)[1] for line in said if ": " in line]
    assert len(outcomes) == len(numbers)
    foreign = [outcome for outcome in outcomes if outcome not in ("runs", "refused")]
    assert not foreign, foreign


@pytest.mark.parametrize("name", attacks.ATTACKS)
def test_command_line(name: str, tmp_path: Path) -> None:
    attack = attacks.ATTACKS[name]
    bundle = attack.write(tmp_path / name)
    idle = measure.tool("--version")
    found = measure.tool("run", bundle, "--steps", 1, *measure.limits(attack.refused or not attack.says))
    assert found.code in (0, 1, 2), found.text  # neither a signal nor an abort
    assert attack.says in found.text, found.text
    assert found.code != 0 or not attack.says, found.text
    assert len(found.text) < 10_000, len(found.text)
    assert not HARMFUL.search(found.output), found.output
    row = next(line for line in trust.PAGE.read_text().splitlines() if line.startswith(f"| {attack.what} |"))
    assert f"| {trust.outcome(name, found, bundle)} |" in row, (
        "docs/reports/trust.md is of another version: run trust.py"
    )
    if attack.refused:
        assert found.megabytes - idle.megabytes < MOST_MEGABYTES, found.megabytes
        assert found.seconds < MOST_SECONDS, found.seconds


@pytest.mark.parametrize("name", ["loop", "loop_on_data", "large_port", "not_utf8", "escapes", "link_outside", "nodes"])
def test_python_says_the_same(name: str, tmp_path: Path) -> None:
    """The exception and the exit code agree: both refuse, or neither does."""
    attack = attacks.ATTACKS[name]
    bundle = attack.write(tmp_path / name)
    found = measure.python(bundle, timeout=0.5)
    assert found.code == 0, found.text  # an exception of ours, or none
    assert attack.says in found.text, found.text
    assert (found.text == "runs\n") == (not attack.says), found.text
    assert not HARMFUL.search(found.output), found.output


@pytest.mark.parametrize("command", ["inspect", "check", "view"])
def test_no_escape_reaches_the_terminal(command: str, tmp_path: Path) -> None:
    for name in ("escapes", "not_utf8"):
        bundle = attacks.ATTACKS[name].write(tmp_path / name)
        more = ["--output", tmp_path / "page.html", "--no-open"] if command == "view" else []
        for form in ([], ["--json"]):
            found = measure.tool(command, bundle, *more, *form)
            assert found.code in (0, 1, 2), found.text
            assert found.text.strip()
            assert not HARMFUL.search(found.output), found.output


def test_a_line_of_a_file_outside_is_not_shown(tmp_path: Path) -> None:
    bundle = attacks.link_outside(tmp_path / "link")
    for found in (measure.tool("inspect", bundle), measure.python(bundle)):
        assert "secret-hash" not in found.text
        assert "line 1" in found.text, found.text


def test_time_grows_with_the_size(tmp_path: Path) -> None:
    """Four times as many states are not sixteen times the work."""
    small = attacks.many_states(tmp_path / "small", 2_000)
    large = attacks.many_states(tmp_path / "large", 8_000)
    idle = measure.tool("--version").seconds
    seconds = [measure.tool("inspect", bundle).seconds - idle for bundle in (small, large)]
    assert seconds[1] < 8 * seconds[0] + 0.5, seconds


def test_operators_take_time_in_proportion(tmp_path: Path) -> None:
    """LEAPP's own engine: four times as many views, or results alive at once, are not sixteen times the work."""
    idle = measure.tool("--version").seconds
    for write, count in ((attacks.chain_of_views, 10_000), (attacks.alive_at_once, 10_000)):
        bundles = [write(tmp_path / f"{write.__name__}{size}", size) for size in (count, 4 * count)]
        small, large = (measure.tool("inspect", bundle).seconds - idle for bundle in bundles)
        assert large < 8 * small + 0.5, (write, small, large)


def test_who_looks_at_a_model_does_not_wait_for_it(tmp_path: Path) -> None:
    """Hours of work on constants: seconds to look at, and no more memory than its constant has."""
    bundle = attacks.work_on_constants(tmp_path / "work", 20_000)
    for arguments in (["inspect"], ["check", "--no-load"]):
        found = measure.tool(arguments[0], bundle, *arguments[1:], seconds=20)
        assert found.code in (0, 1), found.text
        assert found.megabytes < 300, found.megabytes


@pytest.mark.parametrize("command", ["inspect", "check", "codegen", "fuse", "export-triton", "view", "diff", "run"])
def test_a_model_of_holes_is_not_read(command: str, tmp_path: Path) -> None:
    """A terabyte that took no room on disk, and would take an hour to be hashed."""
    bundle = attacks.write_model(tmp_path / "holes", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    honest = attacks.write_model(tmp_path / "honest", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    with bundle.with_name("policy.onnx").open("ab") as file:
        file.truncate(1 << 40)
    more: dict[str, list[object]] = {"view": ["--no-open", "-o", tmp_path / "page.html"], "diff": [honest]}
    output: list[object] = ["-o", tmp_path / "out"] if command in ("codegen", "fuse", "export-triton") else []
    found = measure.tool(command, bundle, *more.get(command, []), *output, seconds=10)
    assert found.code in (0, 1, 2), found.text
    if command != "view":  # which says it on its page
        assert re.search(r"1\.1 TB.*--memory-limit", " ".join(found.text.split())), found.text
        assert found.code != 0, found.text


@pytest.mark.parametrize("command", ["run", "codegen", "fuse", "export-triton", "sign"])
def test_a_file_that_may_not_grow_is_an_error(command: str, tmp_path: Path) -> None:
    """ulimit -f, without its signal."""
    bundle = attacks.write_model(tmp_path / "small", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    measure.tool("keygen", tmp_path / "key")
    options: dict[str, list[object]] = {
        "run": ["--steps", 1000, "--output", tmp_path / "out.csv"],
        "sign": ["--key", tmp_path / "key.private.pem"],
    }
    arguments = [command, bundle, *options.get(command, ["--output", tmp_path / "out"])]
    found = subprocess.run(
        [measure.TOOL, *map(str, arguments)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        capture_output=True,
        text=True,
        env=os.environ | measure.environment(),
    )
    assert found.returncode == 2, found
    assert "File too large" in found.stderr, found.stderr


@pytest.mark.parametrize("kind", mutations.KINDS)
def test_someone_who_knows_the_format(kind: str, tmp_path: Path) -> None:
    """Bundles in which values were exchanged: each is refused by us, or runs."""
    run_changed(kind, range(60), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("kind", mutations.KINDS)
def test_someone_with_time_who_knows_the_format(kind: str, tmp_path: Path) -> None:
    run_changed(kind, range(1_000, 4_000), tmp_path)


def test_a_folder_may_be_a_link(tmp_path: Path) -> None:
    """By the name of the link, or by that of the folder it leads to."""
    bundle = attacks.escapes(tmp_path / "walk").parent
    (tmp_path / "current").symlink_to(bundle)
    assert leapp.InferenceManager(tmp_path / "current").inputs == ["policy/x"]
    (tmp_path / "v12").mkdir()
    for file in bundle.iterdir():
        file.rename(tmp_path / "v12" / file.name)
    bundle.rmdir()
    bundle.symlink_to(tmp_path / "v12")
    assert leapp.InferenceManager(bundle).inputs == ["policy/x"]
    with pytest.raises(leapp.LeappError, match=r"expected v12.yaml in it, found none"):
        leapp.InferenceManager(tmp_path / "v12")


def test_a_model_that_declares_another_shape(tmp_path: Path) -> None:
    """ONNX Runtime works out the right one and goes on: which of them the bundle means is not for it to say."""
    bundle = attacks.write_model(tmp_path / "small", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    model = attacks.onnx.load(bundle.with_name("policy.onnx"))
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 5
    attacks.onnx.save(model, bundle.with_name("policy.onnx"))
    with pytest.raises(ValueError, match=r'output "y": the bundle says float32\[4\], the model declares \[5\]'):
        leapp.InferenceManager(bundle, verify_checksums=False)
    model.graph.output[0].type.tensor_type.shape.dim[0].ClearField("dim_value")
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n"
    attacks.onnx.save(model, bundle.with_name("policy.onnx"))
    leapp.InferenceManager(bundle, verify_checksums=False)


@pytest.mark.parametrize("backend", ["jit", "pt2"])
def test_torchscript_can_be_refused(backend: str, tmp_path: Path) -> None:
    """Before anybody reads the file: here it is not even there."""
    bundle = attacks.write_model(tmp_path / "small", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    leapp.InferenceManager(bundle, allow_torchscript=False)
    bundle.write_text(bundle.read_text().replace("backend: onnx", f"backend: {backend}"))
    bundle.with_name("policy.onnx").unlink()
    with pytest.raises(RuntimeError, match=rf"a {backend} model is a program and is not run unless"):
        leapp.InferenceManager(bundle, allow_torchscript=False)
    found = measure.tool("run", bundle, "--no-torchscript")
    assert found.code == 2, found.text
    assert f"a {backend} model is a program and is not run with --no-torchscript" in found.text


def test_a_swapped_in_bundle_may_be_no_program_either(tmp_path: Path) -> None:
    first = attacks.write_model(tmp_path / "first", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    second = attacks.write_model(tmp_path / "second", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    second.write_text(second.read_text().replace("backend: onnx", "backend: jit"))
    manager = leapp.InferenceManager(first, allow_torchscript=False)
    with leapp.Reloader(manager) as reloader:
        reloader.request(second)
        report = reloader.wait(60)
    assert report.state == "failed"
    assert "a jit model is a program and is not run unless" in report.error


def test_memory_limit(tmp_path: Path) -> None:
    bundle = attacks.large_port(tmp_path / "large")
    with pytest.raises(
        ValueError, match=r"needs .* of memory \(ports 12.9 GB, state 0 B, models .*memory_limit is 1.0 GB"
    ):
        leapp.InferenceManager(bundle, memory_limit=1_000_000_000)
    small = attacks.write_model(tmp_path / "small", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    leapp.InferenceManager(small, memory_limit=100_000)
    for wrong in (0, -1, "1 GB", True):
        with pytest.raises((ValueError, TypeError), match="memory_limit: expected a number"):
            leapp.InferenceManager(small, memory_limit=wrong)  # type: ignore[arg-type]


def test_a_step_that_takes_too_long_changes_nothing(tmp_path: Path) -> None:
    bundle = attacks.loop_on_data(tmp_path / "loop")
    with pytest.raises(TimeoutError, match=r"the first run: it took longer than the timeout of 0.2 s"):
        leapp.InferenceManager(bundle, timeout=0.2)


def test_a_long_step_of_our_own_engine_ends(tmp_path: Path) -> None:
    """Between two operators: a step of minutes, and a loop whose rounds come from the inputs."""
    bundle = attacks.work_on_constants(tmp_path / "work", 100_000)
    with pytest.raises(TimeoutError, match=r"longer than the timeout of 0.5 s and was ended"):
        leapp.InferenceManager(bundle, timeout=0.5, engine="native")
    manager = leapp.InferenceManager(attacks.rounds_from_inputs(tmp_path / "rounds"), timeout=0.5, engine="native")
    quick = {"policy/x": np.ones(4, np.float32)}
    before = manager.run_policy(quick)["policy/y"]
    with pytest.raises(TimeoutError, match=r"longer than the timeout of 0.5 s and was ended"):
        manager.run_policy({"policy/x": np.full(4, 1e18, np.float32)})
    assert np.array_equal(manager.run_policy(quick)["policy/y"], before)


def test_nothing_to_run_with_is_our_error(tmp_path: Path) -> None:
    bundle = attacks.write_model(tmp_path / "small", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    manager = leapp.InferenceManager(bundle)
    for wrong in (None, 3, [1]):
        with pytest.raises(leapp.LeappError, match=r"expected a dict of \"node/port\" and array, found"):
            manager.run_policy(wrong)  # type: ignore[arg-type]
