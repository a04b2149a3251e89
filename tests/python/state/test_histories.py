# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Histories are found however they are written, and a reset to the first frame fills them as the program would."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bundle_runner
import closed_loop
import histories
import leapp
import numpy as np
import pytest
import torch
import yaml
from histories import FOUND, FRAMES, SIZE, Flat, History, WithOtherState
from leapp import annotate

SHAPE = (1, SIZE)


def keys(folder: Path) -> dict[str, Any]:
    """What the bundle says of its states, by port."""
    spec = yaml.safe_load((folder / f"{folder.name}.yaml").read_text())
    ports = {f"{node}/{port['name']}": port for node, model in spec["models"].items() for port in model["inputs"]}
    return {name: port["leapp_history"] for name, port in ports.items() if "leapp_history" in port}


def export(make: Callable[[], Any], folder: Path, backend: str = "jit") -> Path:
    return closed_loop.export(make, folder, FRAMES + 2, backend, shape=SHAPE, max_cached_io=FRAMES + 2)


def assert_first_frame(folder: Path, make: Callable[[], History], **options: Any) -> None:
    """Twice in a row: the bundle, reset, and a program that fills its history with the first observation."""
    manager = leapp.InferenceManager(folder, **options)
    for seed in (99, 100):
        if seed == 100:  # what came before, NaN too, is gone
            manager({"policy/x": torch.full(SHAPE, torch.nan)})
        manager.reset("first_frame")
        program = make()
        for step, x in enumerate(closed_loop.inputs(20, seed=seed, shape=SHAPE)):
            if step == 0:
                program.fill(x.clone())
            expected = program(x.clone())
            found = manager({"policy/x": x})["policy/y"]
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5, msg=lambda m, s=step: f"step {s}: {m}")


@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.parametrize("make", FOUND, ids=lambda make: make.__name__)
def test_a_history_is_found_and_filled(make: type[History], backend: str, tmp_path: Path) -> None:
    folder = export(make, tmp_path, backend)
    assert keys(folder)
    assert_first_frame(folder, make)


@pytest.mark.parametrize("engine", ["native", "onnxruntime"])
@pytest.mark.parametrize("make", [histories.ScaledAndClipped, WithOtherState])
def test_on_either_engine(make: type[History], engine: str, tmp_path: Path) -> None:
    assert_first_frame(export(make, tmp_path, "onnx"), make, engine=engine)


def test_what_the_yaml_says(tmp_path: Path) -> None:
    assert keys(export(History, tmp_path / "a")) == {"policy/h": [{"axis": 1, "frames": FRAMES, "input": "policy/x"}]}
    scaled = {"axis": 1, "frames": FRAMES, "size": SIZE, "newest": "last", "of": ["policy/x"]}
    assert keys(export(histories.FlatScaled, tmp_path / "b", "onnx")) == {"policy/h_in": [scaled]}
    assert keys(export(histories.TermsSideBySide, tmp_path / "c"))["policy/h"] == [
        {"axis": 1, "frames": FRAMES, "stop": FRAMES, "newest": "last", "of": ["policy/x"]},
        {"axis": 1, "frames": FRAMES - 1, "size": 2, "start": FRAMES, "newest": "last", "of": ["policy/x"]},
    ]
    others = keys(export(WithOtherState, tmp_path / "d"))
    assert set(others) == {"policy/h"}
    assert others["policy/h"][0]["of"] == ["policy/x", "policy/action"]


class Leaky(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = 0.9 * self.h + 0.1 * x.unsqueeze(1)


class ByTwo(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = torch.cat([self.h[:, 2:], self.h[:, 1:2], x.unsqueeze(1)], dim=1)


class OfItself(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = torch.cat([self.h[:, 1:], (x + 0.5 * self.h[:, -1]).unsqueeze(1)], dim=1)


class Fading(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = torch.cat([0.9 * self.h[:, 1:], x.unsqueeze(1)], dim=1)


class Round(History):
    def push(self, x: torch.Tensor) -> None:
        self.h = torch.roll(self.h, 1, 1) + 0 * x.unsqueeze(1)


class Actions(History):
    """What is remembered is what a network did."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = torch.nn.Linear(SIZE, SIZE)

    def frame(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return torch.tanh(self.net(x))


class GivenOut(Flat):
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        action = -2.0 * x
        self.action = action
        self.h = torch.cat([self.h[:, SIZE:], action], dim=1)
        return action, self.h.mean(1)


@pytest.mark.parametrize("make", [Leaky, ByTwo, OfItself, Fading, Round, Actions, GivenOut])
def test_near_misses_are_left_as_they_were_exported(make: type[History], tmp_path: Path) -> None:
    folder = export(make, tmp_path)
    assert keys(folder) == {}
    manager = leapp.InferenceManager(folder)
    assert manager.histories == []
    with pytest.raises(RuntimeError, match=r"policy/h.*reset_from"):
        manager.reset("first_frame")
    said = (folder / "log.txt").read_text().count("shifted like a history")
    assert said == (1 if make in (Actions, GivenOut) else 0)


def declared(folder: Path, update: Callable[..., torch.Tensor], reset_from: Any, **also: torch.Tensor) -> Path:
    """A program that declares its state [1, 4, 3] and its input x [1, 3]."""
    h = torch.zeros(1, FRAMES, SIZE)
    leapp.start("loop", save_path=str(folder))
    for x in closed_loop.inputs(3, shape=SHAPE):
        given = annotate.input_tensors("policy", {"x": x, **also})
        given = given if isinstance(given, tuple) else (given,)
        h = annotate.state_tensors("policy", {"h": h}, reset_from=reset_from)
        h = annotate.update_state("policy", {"h": update(h, *given)})
        annotate.output_tensors("policy", {"y": (h * histories.weights(h.shape)).sum((1, 2))}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    return folder / "loop"


def masked(h: torch.Tensor, x: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:
    return torch.where(skip, h, torch.cat([h[:, 1:], x.unsqueeze(1)], dim=1))


SKIP = {"skip": torch.tensor(False)}


def test_declared_where_it_cannot_be_found(tmp_path: Path) -> None:
    assert keys(declared(tmp_path / "a", masked, None, **SKIP)) == {}
    folder = declared(tmp_path / "b", masked, "x", **SKIP)
    assert keys(folder) == {"policy/h": [{"axis": 1, "frames": FRAMES, "input": "policy/x"}]}
    manager = leapp.InferenceManager(folder)
    manager.reset("first_frame")
    x = torch.tensor([[1.0, 2.0, 3.0]])
    found = manager({"policy/x": x, "policy/skip": torch.tensor(True)})["policy/y"]
    full = x.unsqueeze(1).repeat(1, FRAMES, 1)
    torch.testing.assert_close(found, (full * histories.weights((1, FRAMES, SIZE))).sum((1, 2)))


def test_declared_to_be_none(tmp_path: Path) -> None:
    shift = lambda h, x: torch.cat([h[:, 1:], x.unsqueeze(1)], dim=1)  # noqa: E731
    assert keys(declared(tmp_path / "a", shift, None)) != {}
    assert keys(declared(tmp_path / "b", shift, False)) == {}
    assert keys(declared(tmp_path / "c", shift, {"h": "x"})) != {}


def test_what_a_network_makes_can_be_declared(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = torch.nn.Linear(SIZE, SIZE)

    @torch.no_grad()
    def update(h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([h[:, 1:], net(x).unsqueeze(1)], dim=1)

    folder = declared(tmp_path, update, "x")
    assert keys(folder) == {"policy/h": [{"axis": 1, "frames": FRAMES, "newest": "last", "of": ["policy/x"]}]}
    manager = leapp.InferenceManager(folder)
    manager.reset("first_frame")
    x = torch.tensor([[1.0, 2.0, 3.0]])
    with torch.no_grad():
        full = net(x).unsqueeze(1).repeat(1, FRAMES, 1)
    expected = (full * histories.weights((1, FRAMES, SIZE))).sum((1, 2))
    torch.testing.assert_close(manager({"policy/x": x})["policy/y"], expected)


@pytest.mark.parametrize(
    ("reset_from", "message"),
    [
        ("obs", r"'h', float32\[1,4,3\].*'obs'.*no such input.*x float32\[1,3\]"),
        ("skip", r"'h'.*'skip'.*no axis.*skip bool\[\]"),
        ("h", r"'h'.*that is state itself"),
    ],
)
def test_a_declaration_that_cannot_be(reset_from: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        declared(tmp_path, masked, reset_from, **SKIP)
    leapp.start("next", save_path=str(tmp_path))
    leapp.stop()


def test_declarations_of_the_wrong_kind(tmp_path: Path) -> None:
    for wrong in (7, "", True, ["x"]):
        with pytest.raises(TypeError, match="reset_from must name an input"):
            annotate.state_tensors("policy", {"h": torch.zeros(1)}, reset_from=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="names the state 'k'; there are: 'h'"):
        annotate.state_tensors("policy", {"h": torch.zeros(1)}, reset_from={"k": "x"})
    leapp.start("loop", save_path=str(tmp_path))
    annotate.input_tensors("policy", {"x": torch.zeros(1, 3)})
    annotate.state_tensors("policy", {"h": torch.zeros(1, 4, 3)}, reset_from="x")
    with pytest.raises(ValueError, match="expected 'x' as before, found 'y'"):
        annotate.state_tensors("policy", {"h": torch.zeros(1, 4, 3)}, reset_from="y")
    leapp.stop()


def test_a_declared_state_that_is_none(tmp_path: Path) -> None:
    scratch = torch.zeros(2)
    leapp.start("loop", save_path=str(tmp_path))
    for _ in range(2):
        x = annotate.input_tensors("policy", {"x": torch.ones(2)})
        buffer = annotate.register_buffer("policy", {"scratch": scratch}, reset_from="x")
        buffer[:] = 2 * x
        annotate.output_tensors("policy", {"y": buffer + 1}, export_with="jit")
    leapp.stop()
    with pytest.raises(ValueError, match=r"'scratch', which the node does not have; its states: none"):
        leapp.compile_graph()


def test_a_module_says_which_of_its_buffers(tmp_path: Path) -> None:
    class Net(torch.nn.Module):
        history: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("history", torch.zeros(1, FRAMES, SIZE))

        def forward(self, x: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:
            self.history = masked(self.history, x, skip)
            return self.history.sum((1, 2))

    net = Net()
    leapp.start("loop", save_path=str(tmp_path))
    for x in closed_loop.inputs(2, shape=SHAPE):
        x, skip = annotate.input_tensors("policy", {"x": x, **SKIP})
        annotate.module("policy", net, reset_from={"history": "x"})
        annotate.output_tensors("policy", {"y": net(x, skip)}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph()
    assert keys(tmp_path / "loop")["policy/history_in"][0]["input"] == "policy/x"


def test_a_history_behind_another_node(tmp_path: Path) -> None:
    """Separate models, and one made of them."""

    def step(x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = annotate.input_tensors("pre", {"x": x})
        f = annotate.output_tensors("pre", {"f": (0.5 * x).clamp(-1, 1)}, export_with="onnx")
        f = annotate.input_tensors("policy", {"f": f})
        h = annotate.state_tensors("policy", {"h": h})
        h = annotate.update_state("policy", {"h": torch.cat([h[:, 1:], f.unsqueeze(1)], dim=1)})
        y = (h * histories.weights((1, FRAMES, SIZE))).sum((1, 2))
        return annotate.output_tensors("policy", {"y": y}, export_with="onnx"), h

    h = torch.zeros(1, FRAMES, SIZE)
    leapp.start("loop", save_path=str(tmp_path))
    for x in closed_loop.inputs(3, shape=SHAPE):
        _, h = step(x, h)
    leapp.stop()
    leapp.compile_graph()
    assert keys(tmp_path / "loop")["policy/h_in"][0]["of"] == ["pre/x"]
    for fuse in (False, True):
        manager = leapp.InferenceManager(tmp_path / "loop", fuse=fuse)
        manager.reset("first_frame")
        h = torch.zeros(1, FRAMES, SIZE)
        for i, x in enumerate(closed_loop.inputs(20, seed=7, shape=SHAPE)):
            if i == 0:
                h = (0.5 * x).clamp(-1, 1).unsqueeze(1).repeat(1, FRAMES, 1)
            expected, h = step(x, h)
            torch.testing.assert_close(manager({"pre/x": x})["policy/y"], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.host_only("NumPy")
def test_an_array_program(tmp_path: Path) -> None:
    h = np.zeros((1, FRAMES, SIZE), np.float32)
    leapp.start("loop", save_path=str(tmp_path))
    for x in closed_loop.inputs(3, shape=SHAPE):
        x = annotate.input_tensors("policy", {"x": x.numpy()})
        h = annotate.state_tensors("policy", {"h": h})
        h = np.roll(h, -1, axis=1)
        h[:, -1] = x
        h = annotate.update_state("policy", {"h": h})
        annotate.output_tensors("policy", {"y": np.sum(h, axis=1) * 2}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert keys(tmp_path / "loop") == {"policy/h": [{"axis": 1, "frames": FRAMES, "input": "policy/x"}]}


def test_a_program_that_fills_its_own_history(tmp_path: Path) -> None:
    """As Isaac Lab's buffers do, in the first call; what it filled is declared."""

    class Buffer:
        h: torch.Tensor | None = None

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            if self.h is None:
                self.h = x.unsqueeze(1).repeat(1, FRAMES, 1)
            h = annotate.state_tensors("policy", {"h": self.h})
            self.h = annotate.update_state("policy", {"h": torch.cat([h[:, 1:], x.unsqueeze(1)], dim=1)})
            return (self.h * histories.weights((1, FRAMES, SIZE))).sum((1, 2))

    folder = export(Buffer, tmp_path)
    assert keys(folder) == {"policy/h": [{"axis": 1, "frames": FRAMES, "input": "policy/x"}]}
    manager = leapp.InferenceManager(folder)
    for seed in (3, 4):
        manager.reset("first_frame")
        program = Buffer()
        for x in closed_loop.inputs(20, seed=seed, shape=SHAPE):
            torch.testing.assert_close(manager({"policy/x": x})["policy/y"], program(x), rtol=1e-4, atol=1e-5)


def test_a_state_that_is_given_is_not_filled(tmp_path: Path) -> None:
    folder = export(History, tmp_path)
    manager = leapp.InferenceManager(folder)
    assert manager.histories == ["policy/h"]
    x, h = torch.ones(SHAPE), torch.full((1, FRAMES, SIZE), 5.0)
    program = History()
    program.h = h.clone()
    expected = program(x)
    manager.reset("first_frame")
    manager.set_input_value("policy", "h", h)
    torch.testing.assert_close(manager({"policy/x": x})["policy/y"], expected)
    manager.reset("first_frame")
    torch.testing.assert_close(manager({"policy/x": x, "policy/h": h})["policy/y"], expected)
    manager.reset("first_frame")
    assert manager.state["policy/h"].abs().max() == 0, "to look at it changes nothing"
    with pytest.raises(ValueError, match="expected float32"):
        manager({"policy/x": torch.ones(7), "policy/h": h})
    program.fill(x)
    torch.testing.assert_close(manager({"policy/x": x})["policy/y"], program(x))


def test_unknown_modes(tmp_path: Path) -> None:
    manager = leapp.InferenceManager(export(History, tmp_path))
    with pytest.raises(ValueError, match=r"exported.*zeros.*first_frame.*first-frame"):
        manager.reset("first-frame")  # type: ignore[arg-type]


def tool(*arguments: str | Path) -> str:
    environment = {**os.environ, **bundle_runner.ONNXRUNTIME}
    program = bundle_runner.BUILD / "bin" / "leapp"
    done = subprocess.run([program, *map(str, arguments)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.host_only("files of NumPy")
def test_the_command_line(tmp_path: Path) -> None:
    """Inspect shows histories, run fills them, and fuse gives them the new names of their ports."""
    weights = histories.weights((1, FRAMES, SIZE))
    h = torch.zeros(1, FRAMES, SIZE)
    leapp.start("loop", save_path=str(tmp_path))
    for x in closed_loop.inputs(3, shape=SHAPE):
        f = annotate.output_tensors("pre", {"f": 0.5 * annotate.input_tensors("pre", {"x": x})}, export_with="onnx")
        f = annotate.input_tensors("policy", {"f": f})
        h = annotate.state_tensors("policy", {"h": h})
        h = annotate.update_state("policy", {"h": torch.cat([h[:, 1:], f.unsqueeze(1)], dim=1)})
        annotate.output_tensors("policy", {"y": (h * weights).sum((1, 2))}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph()
    assert f"policy/h_in  {FRAMES} frames along axis 1 computed from pre/x" in tool("inspect", tmp_path / "loop")
    tool("fuse", tmp_path / "loop", "--output", tmp_path / "one")
    (fused,) = keys(tmp_path / "one").values()
    assert fused == [{"axis": 1, "frames": FRAMES, "newest": "last", "of": ["loop/x"]}]
    x = np.array([[1.0, 2.0, 3.0]], np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    expected = (torch.from_numpy(0.5 * x).unsqueeze(1).repeat(1, FRAMES, 1) * weights).sum((1, 2))
    for bundle in ("loop", "one"):
        run = ("run", tmp_path / bundle, "-n", "1", "--inputs", tmp_path / "in.npz", "--output", tmp_path / "out.npz")
        tool(*run, "--reset", "first-frame", "--trace", tmp_path / "trace.npz")
        (found,) = np.load(tmp_path / "out.npz").values()
        torch.testing.assert_close(torch.from_numpy(found[0]), expected)
        again = tool("run", tmp_path / bundle, "--replay", tmp_path / "trace.npz", "--reset", "first-frame")
        assert "agrees with" in again
