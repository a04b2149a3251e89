# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""stop() ends capture whatever goes wrong, and hides nobody's exception."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from harness import read_log, read_yaml, warnings_in
from leapp import annotate


def run(node: str, value: float = 1.0) -> None:
    x = annotate.input_tensors(node, {"x": torch.full((2,), value)})
    annotate.output_tensors(node, {"y": x * 2}, export_with="jit")


def nothing_left() -> bool:
    return not leapp._capture.hook_installed() and not leapp._capture.is_active()


def mix_two_nodes() -> None:
    """What goes wrong inside an operator waits to be told."""
    annotate.input_tensors("a", {"x": torch.ones(2)}) + annotate.input_tensors("b", {"x": torch.ones(2)})


def test_a_call_that_is_not_finished_is_dropped(tmp_path: Path) -> None:
    """An exporter has the next observation already when it stops."""
    leapp.start("g", save_path=tmp_path)
    run("n", 1.0)
    run("n", 2.0)
    x = annotate.input_tensors("n", {"x": torch.full((2,), 3.0)})
    del x
    leapp.stop()
    result = leapp.compile_graph().nodes["n"]
    assert (result.status, result.samples) == ("passed", 2)
    assert "call 2 of node 'n' is not finished and is dropped" in read_log(tmp_path / "g")
    assert not warnings_in(read_log(tmp_path / "g"))


def test_state_of_a_call_that_is_dropped_is_not_the_initial_value(tmp_path: Path) -> None:
    memory = torch.zeros(2)
    leapp.start("g", save_path=tmp_path, leaks="error")
    for k in range(4):
        x = annotate.input_tensors("n", {"x": torch.full((2,), float(k + 1))})
        kept = annotate.register_buffer("n", {"kept": memory})
        kept += x
        if k < 3:
            annotate.output_tensors("n", {"y": kept * 2}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph().nodes["n"].samples == 3
    manager = leapp.InferenceManager(str(tmp_path / "g" / "g.yaml"))
    assert [manager.run_policy({"n/x": torch.ones(2)})["n/y"][0].item() for _ in range(3)] == [2.0, 4.0, 6.0]


def test_a_node_that_was_never_closed_beside_one_that_was(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    run("n")
    annotate.input_tensors("late", {"x": torch.ones(2)})
    leapp.stop()
    leapp.compile_graph()
    assert list(read_yaml(tmp_path / "g")["models"]) == ["n"]
    (warning,) = warnings_in(read_log(tmp_path / "g"))
    assert "node 'late' was opened and never closed" in warning


def test_a_session_in_which_no_node_was_closed(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    annotate.input_tensors("one", {"x": torch.ones(2)})
    annotate.input_tensors("two", {"x": torch.ones(2)})
    leapp.stop()
    with pytest.raises(RuntimeError, match=r"no node was closed; 'one', 'two' was opened and never closed"):
        leapp.compile_graph()


def test_a_session_without_any_node(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    leapp.stop()
    assert leapp.compile_graph() == {}
    assert "no node was captured" in read_log(tmp_path / "g")


def test_what_went_wrong_in_an_operator_is_raised_and_capture_ends(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    run("n")
    mix_two_nodes()
    with pytest.raises(RuntimeError, match="mixes values of two open nodes"):
        leapp.stop()
    assert nothing_left()
    assert leapp.compile_graph()["n"]


def users_own() -> None:
    raise KeyError("mine")


def users_own_after_a_mistake() -> None:
    mix_two_nodes()
    users_own()


def users_own_after_stop() -> None:
    leapp.stop()
    users_own()


@pytest.mark.parametrize("program", [users_own, users_own_after_a_mistake, users_own_after_stop])
def test_the_users_own_exception_is_not_hidden(program: Callable[[], None], tmp_path: Path) -> None:
    def with_stop() -> None:
        leapp.start("g", save_path=tmp_path)
        try:
            program()
        finally:
            leapp.stop()

    with pytest.raises(KeyError, match="mine"):
        with_stop()
    assert nothing_left()
    told = "mixes values of two open nodes" in read_log(tmp_path / "g")
    assert told == (program is users_own_after_a_mistake)


def fails(*_args: Any, **_kwargs: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "step", ["changed_attributes.report", "front_end.holders.forget", "front_end.changed_attributes.forget"]
)
def test_whatever_fails_in_stop_capture_ends(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from leapp.capture import changed_attributes, front_end

    before = (torch.Tensor.numpy, torch.Tensor.tolist, torch.from_numpy)
    leapp.start("g", save_path=tmp_path)
    run("n")
    owner: Any = {"changed_attributes": changed_attributes, "front_end": front_end}[step.split(".")[0]]
    *path, name = step.split(".")[1:]
    for part in path:
        owner = getattr(owner, part)
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, fails)
        with pytest.raises(KeyboardInterrupt):
            leapp.stop()
    assert nothing_left()
    assert (torch.Tensor.numpy, torch.Tensor.tolist, torch.from_numpy) == before


def test_a_patch_that_cannot_be_undone_keeps_no_other(tmp_path: Path) -> None:
    class Stubborn:
        frozen = False

        def __setattr__(self, name: str, value: Any) -> None:
            if Stubborn.frozen:
                raise AttributeError("frozen")
            object.__setattr__(self, name, value)

    owner = Stubborn()
    owner.compute = len
    before = torch.Tensor.numpy
    leapp.start("g", save_path=tmp_path, patching=[leapp.FunctionPatch(owner, "compute", max)])
    run("n")
    Stubborn.frozen = True
    with pytest.raises(AttributeError, match="frozen"):
        leapp.stop()
    assert nothing_left()
    assert torch.Tensor.numpy is before


def test_holders_that_cannot_be_found_do_not_keep_stop_from_ending(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program whose objects fail when they are looked at."""
    unraisable: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", unraisable.append)

    class Policy:
        kept = torch.zeros(2)

        def __getattr__(self, name: str) -> Any:
            raise ValueError(name)

    policy = Policy()
    leapp.start("g", save_path=tmp_path)
    for _ in range(2):
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        policy.kept = policy.kept * 0.5 + x
        annotate.output_tensors("n", {"y": policy.kept * 2}, export_with="jit")
    leapp.stop()
    assert nothing_left()
    assert leapp.compile_graph()["n"]
