# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""FunctionPatch: in force from start to stop, for calls that are given live values."""

from __future__ import annotations

import math
from pathlib import Path
from types import ModuleType
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from leapp import FunctionPatch, annotate


class Simulator:
    def noise(self, x: Any = None) -> str:
        return "noise"

    @staticmethod
    def gravity(x: Any = None) -> str:
        return "gravity"

    @classmethod
    def make(cls, x: Any = None) -> str:
        return f"made by {cls.__name__}"


class Faster(Simulator):
    pass


@pytest.fixture
def module() -> ModuleType:
    made = ModuleType("their_module")
    made.f = lambda x=None, scale=1: "function"  # type: ignore[attr-defined]
    made.g = lambda x=None: "other function"  # type: ignore[attr-defined]
    return made


def replacement(*args: Any, **kwargs: Any) -> str:
    return "replacement"


def live_values(x: torch.Tensor, array: Any) -> list[Any]:
    return [x, x * 2, [1, x], {"a": (x,)}, array, [array]]


def test_a_patch_acts_only_on_live_values(module: ModuleType, tmp_path: Path) -> None:
    plain = torch.ones(2)
    leapp.start("g", save_path=str(tmp_path), patching=[FunctionPatch(module, "f", replacement)])
    assert module.f(plain) == "function", "no node is open"
    x, array = annotate.input_tensors("n", {"x": plain, "array": np.ones(2)})
    assert [module.f(value) for value in live_values(x, array)] == ["replacement"] * 6
    assert module.f(plain, scale=x) == "replacement"
    for value in (plain, torch.zeros(3), np.zeros(3), 3, None, [plain]):
        assert module.f(value) == "function"
    assert module.f() == "function"
    annotate.output_tensors("n", {"y": x * 2 + torch.as_tensor(array)}, export_with="jit")
    assert module.f(x) == "function", "the node is closed"
    leapp.stop()
    assert module.f(x) == "function"


def test_every_kind_of_function(tmp_path: Path) -> None:
    simulator = Simulator()
    patches = [
        FunctionPatch(Simulator, "gravity", lambda x: "no gravity"),
        FunctionPatch(Simulator, "make", lambda cls, x: f"{cls.__name__} again"),
        FunctionPatch(Faster, "noise", lambda self, x: f"no noise of {type(self).__name__}"),
        FunctionPatch(simulator, "noise", lambda x: "no noise"),
        FunctionPatch("math", "sin", lambda x: x.sin()),
    ]
    leapp.start("g", save_path=str(tmp_path), patching=patches)
    x = annotate.input_tensors("n", {"x": torch.ones(1)})
    assert (Simulator.gravity(x), simulator.gravity(x), Simulator.gravity()) == ("no gravity", "no gravity", "gravity")
    assert (Simulator.make(x), Faster.make(x), Faster.make()) == ("Simulator again", "Faster again", "made by Faster")
    assert (Faster().noise(x), Faster().noise(), Simulator().noise(x)) == ("no noise of Faster", "noise", "noise")
    assert (simulator.noise(x), simulator.noise()) == ("no noise", "noise")
    assert math.sin(0.5) == pytest.approx(0.479, abs=1e-3)
    annotate.output_tensors("n", {"y": math.sin(x)}, export_with="jit")  # type: ignore[arg-type]
    leapp.stop()
    assert leapp.compile_graph()["n"]
    assert isinstance(vars(Simulator)["gravity"], staticmethod)
    assert isinstance(vars(Simulator)["make"], classmethod)
    assert "noise" not in vars(Faster)
    assert "noise" not in vars(simulator)


def test_patches_are_not_in_force_without_global_patching(module: ModuleType, tmp_path: Path) -> None:
    before = module.f
    patches = [FunctionPatch(module, "f", replacement)]
    leapp.start("g", save_path=str(tmp_path), patching=patches, global_patching=False)
    assert module.f is before
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    assert module.f(x) == "function"


def test_the_same_function_twice_is_refused(module: ModuleType, tmp_path: Path) -> None:
    before = module.f
    patches = [FunctionPatch(module, "f", replacement), FunctionPatch(module, "f", abs)]
    with pytest.raises(ValueError, match=r"'their_module\.f' is replaced twice"):
        leapp.start("g", save_path=str(tmp_path), patching=patches)
    assert module.f is before
    assert not leapp._capture.is_active()


def test_an_install_that_fails_undoes_the_others(module: ModuleType, tmp_path: Path) -> None:
    before, asarray = module.f, np.asarray
    patches = [FunctionPatch(module, "f", replacement), FunctionPatch(int, "bit_length", abs)]
    with pytest.raises(TypeError, match=r"'int\.bit_length' cannot be replaced"):
        leapp.start("g", save_path=str(tmp_path), patching=patches)
    assert module.f is before
    assert np.asarray is asarray
    assert not leapp._capture.is_active()
    assert not leapp._capture.hook_installed()


def test_stop_puts_back_only_what_it_set(module: ModuleType, tmp_path: Path) -> None:
    before = module.g
    patches = [FunctionPatch(module, "f", replacement), FunctionPatch(module, "g", replacement)]
    leapp.start("g", save_path=str(tmp_path), patching=patches)
    inner = module.f

    def theirs(x: Any = None) -> str:
        return f"theirs, then {inner(x)}"

    module.f = theirs  # type: ignore[attr-defined]
    leapp.stop()
    assert module.f is theirs
    assert module.f(torch.ones(2)) == "theirs, then function"
    assert module.g is before


@pytest.mark.host_only("about the meta device")
def test_a_default_device_that_is_first_used_in_a_session_holds_after_it(tmp_path: Path) -> None:
    """torch looks up once which functions a default device is for: while ours stand in their places, or before."""
    from torch.utils import _device

    _device._device_constructors.cache_clear()
    leapp.start("g", save_path=str(tmp_path))
    with torch.device("meta"):
        during = [torch.tensor([1.0]), torch.as_tensor([1.0])]
    leapp.stop()
    with torch.device("meta"):
        after = [torch.tensor([1.0]), torch.as_tensor([1.0])]
    assert all(tensor.is_meta for tensor in during + after)
