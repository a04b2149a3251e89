# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles of strangers (tests/bundles/hostile): an answer in little memory and little time, and no crash."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import leapp
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bundles/hostile"))
import attacks
import measure
import trust

MOST_MEGABYTES = 64
MOST_SECONDS = 1

# What moves a terminal's cursor, or makes a line read as another.
HARMFUL = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]")


@pytest.mark.parametrize("name", attacks.ATTACKS)
def test_command_line(name: str, tmp_path: Path) -> None:
    attack = attacks.ATTACKS[name]
    bundle = attack.write(tmp_path / name)
    idle = measure.tool("--version")
    found = measure.tool("run", bundle, "--steps", 1, *measure.limits(attack.refused))
    assert found.code in (0, 1, 2), found.text  # neither a signal nor an abort
    assert attack.says in found.text, found.text
    assert found.code != 0 or not attack.says, found.text
    assert len(found.text) < 10_000, len(found.text)
    assert not HARMFUL.search(found.output), found.output
    row = next(line for line in trust.PAGE.read_text().splitlines() if line.startswith(f"| {attack.what} |"))
    assert f"| {trust.outcome(name, found, bundle)} |" in row, "docs/trust.md is of another version: run trust.py"
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


def test_nothing_to_run_with_is_our_error(tmp_path: Path) -> None:
    bundle = attacks.write_model(tmp_path / "small", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    manager = leapp.InferenceManager(bundle)
    for wrong in (None, 3, [1]):
        with pytest.raises(leapp.LeappError, match=r"expected a dict of \"node/port\" and array, found"):
            manager.run_policy(wrong)  # type: ignore[arg-type]
