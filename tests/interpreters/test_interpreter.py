# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What leapp/interpreter.py relies on, asked of the interpreter that runs this."""

from __future__ import annotations

import dis
import gc
import sys
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import looks
import pytest
from leapp.capture.fates import Fate, fate
from leapp.capture.interpreter import Bytecode, references, variables


class Thing:
    """Something that can be watched going away."""


# ---- frames ----


def test_variables_of_a_frame_are_those_of_now() -> None:
    first = Thing()
    found = variables(sys._getframe())
    assert found["first"] is first
    second = Thing()
    assert variables(sys._getframe())["second"] is second
    assert "second" not in found


def test_asking_a_frame_keeps_nothing_alive() -> None:
    def function() -> weakref.ref[Thing]:
        thing = Thing()
        watched = weakref.ref(thing)
        variables(sys._getframe())
        del thing
        return watched

    gc.disable()
    try:
        assert function()() is None
    finally:
        gc.enable()


def test_asking_again_and_again_keeps_nothing_alive() -> None:
    thing: Thing | None = Thing()
    watched = weakref.ref(thing)
    frame = sys._getframe()
    for _ in range(3):
        variables(frame)
    thing = None
    assert watched() is None


def test_locals_that_the_program_keeps_stay_as_they_are() -> None:
    value = 3
    kept = locals()
    assert kept["value"] == 3
    variables(sys._getframe())
    assert kept["value"] == 3


def test_variables_of_a_module_are_copied_too() -> None:
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    assert frame is not None
    before = dict(frame.f_globals)
    copied = variables(frame)
    copied["something new"] = 1
    assert dict(frame.f_globals).keys() == before.keys()


# ---- counts of references ----


def test_what_is_only_in_the_list_has_no_other_reference() -> None:
    assert references([Thing(), Thing()]) == [0, 0]


def test_each_holder_counts_once() -> None:
    held = Thing()
    box = [held]
    owner = Thing()
    owner.__dict__["part"] = box[0]
    (count,) = references([held])
    assert count == 3  # the variable, the list, the attribute
    del owner
    gc.collect()
    assert references([held]) == [2]


# ---- bytecode ----


def code_of(function: Callable[..., Any]) -> CodeType:
    return function.__code__


def calls(function: Callable[..., Any], name: str) -> list[int]:
    """Offsets of the calls that follow a load of `name`."""
    bytecode = Bytecode(code_of(function))
    found, waiting = [], False
    for step in bytecode.steps:
        loaded = step.argval if not isinstance(step.argval, tuple) else step.argval[-1]
        waiting = waiting or (step.opname.startswith("LOAD_") and loaded == name)
        if waiting and "CALL" in step.opname and step.opname != "PRECALL":
            found.append(step.offset)
            waiting = False
    return found


def fates(function: Callable[..., Any]) -> list[Fate]:
    return [fate(code_of(function), offset) for offset in calls(function, "look")]


@pytest.mark.parametrize(
    "function",
    [
        looks.raises,
        looks.raises_unless,
        looks.asserts,
        looks.raises_by_variable,
        looks.raises_if_either,
        looks.raises_in_a_loop,
        looks.raises_through_finally,
    ],
)
def test_what_only_raises_is_checked(function: Callable[..., Any]) -> None:
    assert fates(function) == [Fate.CHECKED]


@pytest.mark.parametrize("function", [looks.returns, looks.returns_a_choice])
def test_what_is_given_back_is_returned(function: Callable[..., Any]) -> None:
    assert fates(function) == [Fate.RETURNED]


@pytest.mark.parametrize("function", [looks.stores, looks.chooses_and_stores, looks.catches, looks.catches_everything])
def test_what_selects_or_is_caught_matters(function: Callable[..., Any]) -> None:
    assert fates(function) == [Fate.MATTERS]


def test_bytecode_that_is_not_understood_matters() -> None:
    assert fate(code_of(looks.raises), 1 << 20) in (Fate.MATTERS, Fate.RETURNED)
    assert fate(compile("x = 1", "f", "exec"), 0) is Fate.MATTERS


def test_the_offset_of_a_frame_that_calls_is_of_its_call() -> None:
    seen: list[tuple[CodeType, int]] = []

    def note() -> bool:
        frame = sys._getframe(1)
        seen.append((frame.f_code, frame.f_lasti))
        return False

    def caller() -> None:
        if note():
            raise ValueError

    caller()
    ((code, offset),) = seen
    bytecode = Bytecode(code)
    assert "CALL" in bytecode.name(bytecode.position(offset))
    assert fate(code, offset) is Fate.CHECKED


def test_targets_of_jumps_are_instructions() -> None:
    for function in (looks.raises_in_a_loop, looks.raises_if_either, looks.catches, looks.asserts):
        bytecode = Bytecode(code_of(function))
        for position, step in enumerate(bytecode.steps):
            if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
                assert 0 <= bytecode.target(position) < len(bytecode)


def test_who_handles_exceptions() -> None:
    bytecode = Bytecode(code_of(looks.catches))
    (call,) = (bytecode.position(offset) for offset in calls(looks.catches, "look"))
    assert any(call in handler.covered for handler in bytecode.handlers)
    last = max(i for i in range(len(bytecode)) if bytecode.name(i).startswith("RETURN_"))
    assert not any(last in handler.covered and handler.target < last for handler in bytecode.handlers)
    assert Bytecode(code_of(looks.raises)).handlers == []
