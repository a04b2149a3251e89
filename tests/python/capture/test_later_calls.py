# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of a node are matched by the names of their ports, and an input may be announced more than once in a call.

Each program below is a function `step(k, obs)` that announces a node; bundle and program are run in a closed loop.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from harness import assert_same, read_log, read_yaml, warnings_in
from leapp import TensorSemantics, annotate

Step = Callable[[int, torch.Tensor], dict[str, torch.Tensor]]
PASSES = 4
BACKENDS = ("jit", "onnx")


def observations(count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    return [torch.randn(3, generator=generator) for _ in range(count)]


def close(outputs: dict[str, torch.Tensor], backend: str, **options: Any) -> dict[str, torch.Tensor]:
    annotate.output_tensors("n", outputs, export_with=backend, **options)
    return outputs


def export(make: Callable[[str], Step], backend: str, folder: Path, passes: int = PASSES) -> Path:
    step = make(backend)
    leapp.start("g", save_path=folder)
    for k, obs in enumerate(observations(passes)):
        step(k, obs)
    leapp.stop()
    assert all(leapp.compile_graph(visualize=False).values())
    return folder / "g"


def closed_loop(make: Callable[[str], Step], backend: str, folder: Path, **inputs: torch.Tensor) -> Path:
    """The bundle's outputs are those of the program, from the same first state on."""
    written = export(make, backend, folder)
    manager = leapp.InferenceManager(str(written / "g.yaml"))
    step = make(backend)
    for k, obs in enumerate(observations(8)):
        expected = step(k, obs.clone())
        found = manager.run_policy({"n/x": obs, **{f"n/{name}": value for name, value in inputs.items()}})
        assert_same([expected[key.split("/")[1]] for key in found], list(found.values()))
    return written


def ports(folder: Path, direction: str) -> list[str]:
    return [
        port["name"].removesuffix("_in").removesuffix("_out") for port in read_yaml(folder)["models"]["n"][direction]
    ]


# ---- Matched by name ----------------------------------------------------------------------------------------------


def states_in_another_order(backend: str) -> Step:
    state = {"a": torch.zeros(3), "b": torch.ones(3)}

    def step(k: int, obs: torch.Tensor) -> dict[str, torch.Tensor]:
        x = annotate.input_tensors("n", {"x": obs})
        order = ["a", "b"] if k % 2 == 0 else ["b", "a"]
        held = dict(zip(order, annotate.state_tensors("n", {name: state[name] for name in order}), strict=True))
        state["a"], state["b"] = 0.5 * held["a"] + x, held["b"] * 0.9 - held["a"]
        for name in reversed(order):
            annotate.update_state("n", {name: state[name]})
        return close({"y": state["a"] - state["b"]}, backend)

    return step


def outputs_in_another_order(backend: str) -> Step:
    def step(k: int, obs: torch.Tensor) -> dict[str, torch.Tensor]:
        x = annotate.input_tensors("n", {"x": obs})
        outputs = {"y": x * 2, "z": x.cos()}
        gains = {"kp": torch.full((3,), 4.0), "kd": torch.full((3,), 0.5)}
        if k % 2:
            outputs, gains = dict(reversed(outputs.items())), dict(reversed(gains.items()))
        return close(outputs, backend, static_outputs=gains) | gains

    return step


def inputs_in_other_groups(backend: str) -> Step:
    """As they come when something reads them lazily."""

    def step(k: int, obs: torch.Tensor) -> dict[str, torch.Tensor]:
        gain = torch.full((3,), 2.0)
        if k % 3 == 0:
            x, g = annotate.input_tensors("n", {"x": obs, "g": gain})
        elif k % 3 == 1:
            g = annotate.input_tensors("n", {"g": gain})
            x = annotate.input_tensors("n", {"x": obs})
        else:
            g, x = annotate.input_tensors("n", {"g": gain, "x": obs})
        return close({"y": x * g - x}, backend)

    return step


@pytest.mark.parametrize("backend", BACKENDS)
def test_states_in_another_order(backend: str, tmp_path: Path) -> None:
    folder = closed_loop(states_in_another_order, backend, tmp_path)
    assert ports(folder, "inputs") == ["x", "a", "b"]
    assert ports(folder, "outputs") == ["y", "a", "b"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_outputs_in_another_order(backend: str, tmp_path: Path) -> None:
    folder = closed_loop(outputs_in_another_order, backend, tmp_path)
    assert ports(folder, "outputs") == ["y", "z", "kp", "kd"]
    assert not warnings_in(read_log(folder))


@pytest.mark.parametrize("backend", BACKENDS)
def test_inputs_in_another_order_and_in_other_groups(backend: str, tmp_path: Path) -> None:
    folder = closed_loop(inputs_in_other_groups, backend, tmp_path, g=torch.full((3,), 2.0))
    assert ports(folder, "inputs") == ["x", "g"]


def test_an_edge_from_outputs_that_change_their_order(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    for k in range(3):
        x = annotate.input_tensors("n", {"x": torch.full((2,), float(k))})
        outputs = {"y": x + 1, "z": x - 1}
        annotate.output_tensors("n", dict(reversed(outputs.items())) if k else outputs, export_with="jit")
        z, y = annotate.input_tensors("m", {"b": outputs["z"], "a": outputs["y"]})
        annotate.output_tensors("m", {"w": y * z}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph()["m"]
    assert read_yaml(tmp_path / "g")["pipeline"]["data_flow"] == {"n/y": ["m/a"], "n/z": ["m/b"]}


# ---- Fewer and more ----------------------------------------------------------------------------------------------


def test_an_input_that_later_calls_do_not_need(tmp_path: Path) -> None:
    """Read in the first call only, and by nothing that reaches an output."""
    leapp.start("g", save_path=tmp_path)
    for k in range(3):
        x = annotate.input_tensors("n", {"x": torch.full((2,), float(k))})
        if k == 0:
            annotate.input_tensors("n", {"once": torch.ones(4)}).sum()
        if k == 2:
            annotate.input_tensors("n", {"late": torch.ones(4)}).sum()
        annotate.output_tensors("n", {"y": x + 1}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph().nodes["n"].samples == 3
    assert ports(tmp_path / "g", "inputs") == ["x"]


def test_an_input_that_a_later_call_lacks_and_the_model_needs(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    x, z = annotate.input_tensors("n", {"x": torch.ones(2), "z": torch.ones(2)})
    annotate.output_tensors("n", {"y": x + z}, export_with="jit")
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    with pytest.raises(ValueError, match=r"'n': call 1 announces 'x', and the outputs of the first call depend on 'z'"):
        annotate.output_tensors("n", {"y": x * 3}, export_with="jit")


def test_an_input_that_the_first_call_had_not_and_that_matters(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    annotate.output_tensors("n", {"y": x + 1}, export_with="jit")
    x, late = annotate.input_tensors("n", {"x": torch.ones(2), "late": torch.ones(2)})
    with pytest.raises(ValueError, match=r"input 'late' of node 'n': call 1 .*it had 'x'"):
        annotate.output_tensors("n", {"y": x + late}, export_with="jit")


def test_outputs_of_a_later_call_are_named_on_both_sides(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    annotate.output_tensors("n", {"y": x + 1, "a": x}, export_with="jit")
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    with pytest.raises(ValueError, match=r"'n': call 1 .*missing: 'a'; new: 'b'"):
        annotate.output_tensors("n", {"y": x + 1, "b": x}, export_with="jit")


# ---- State that is computed in the call --------------------------------------------------------------------------


def history_of_the_first_frame(backend: str) -> Step:
    kept: list[torch.Tensor] = []

    def step(_k: int, obs: torch.Tensor) -> dict[str, torch.Tensor]:
        x = annotate.input_tensors("n", {"x": obs})
        scaled = x * 0.5
        if not kept:
            kept.append(scaled.expand(4, 3).clone())
        history = annotate.state_tensors("n", {"history": kept[0]})
        kept[0] = annotate.update_state("n", {"history": torch.cat([history[1:], scaled[None]])})
        return close({"y": kept[0].mean(0)}, backend)

    return step


def history_computed_twice_a_call(backend: str) -> Step:
    """The observation is asked for twice before the policy runs: the second time the state is this call's own value."""
    kept = [torch.zeros(4, 3)]

    def observe(x: torch.Tensor) -> torch.Tensor:
        history = annotate.state_tensors("n", {"history": kept[0]})
        kept[0] = annotate.update_state("n", {"history": torch.cat([history[1:], x[None]])})
        return kept[0].sum(0)

    def step(_k: int, obs: torch.Tensor) -> dict[str, torch.Tensor]:
        x = annotate.input_tensors("n", {"x": obs})
        observe(x)
        return close({"y": observe(x)}, backend)

    return step


def history_written_in_place(backend: str) -> Step:
    kept: list[torch.Tensor] = []

    def step(_k: int, obs: torch.Tensor) -> dict[str, torch.Tensor]:
        x = annotate.input_tensors("n", {"x": obs})
        if not kept:
            kept.append(torch.stack([x, x, x]))
        history = annotate.state_tensors("n", {"history": kept[0]})
        history[:-1] = history[1:].clone()
        history[-1] = x
        kept[0] = annotate.update_state("n", {"history": history})
        return close({"y": kept[0].sum(0)}, backend)

    return step


@pytest.mark.parametrize("make", [history_of_the_first_frame, history_written_in_place])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_history_whose_first_content_is_made_of_this_calls_observation(
    make: Callable[[str], Step], backend: str, tmp_path: Path
) -> None:
    """The bundle starts with what the exported run started with, and goes on like the program."""
    folder = closed_loop(make, backend, tmp_path)
    flow = read_yaml(folder)["pipeline"]["feedback_flow"]
    assert list(flow) == ["n/history" if backend == "jit" else "n/history_out"]
    assert not warnings_in(read_log(folder))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_state_that_is_declared_again_with_the_calls_own_value(backend: str, tmp_path: Path) -> None:
    """A call is what came after the second declaration. The robot asks once a step: one shift, of what it was given."""
    folder = export(history_computed_twice_a_call, backend, tmp_path)
    initial = torch.zeros(4, 3)
    initial[-1] = observations(1)[0]  # shifted in once when it was declared again
    manager = leapp.InferenceManager(str(folder / "g.yaml"))
    for obs in observations(6):
        initial = torch.cat([initial[1:], obs[None]])
        assert_same([initial.sum(0)], [manager.run_policy({"n/x": obs})["n/y"]])


def test_a_value_of_another_open_node_is_no_state(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    other = annotate.input_tensors("other", {"x": torch.ones(2)}) * 2
    annotate.input_tensors("n", {"x": torch.ones(2)})
    with pytest.raises(RuntimeError, match=r"'h' of node 'n': the tensor is a value of the open node 'other'"):
        annotate.state_tensors("n", {"h": other})


# ---- Announced again ---------------------------------------------------------------------------------------------


def read_twice(backend: str) -> Step:
    def step(_k: int, obs: torch.Tensor) -> dict[str, torch.Tensor]:
        first = annotate.input_tensors("n", {"x": obs})
        again = annotate.input_tensors("n", {"x": obs})
        clone = annotate.input_tensors("n", {"x": obs.clone()})
        own = annotate.input_tensors("n", {"x": first})
        return close({"y": first + 2 * again + 3 * clone + 4 * own}, backend)

    return step


def replaced(backend: str) -> Step:
    def step(k: int, obs: torch.Tensor) -> dict[str, torch.Tensor]:
        annotate.input_tensors("n", {"x": torch.full((5,), 9.0) if k == 0 else obs + 1}).sum()
        x = annotate.input_tensors("n", {"x": obs})
        return close({"y": x * 2}, backend)

    return step


class Simulator:
    """Reads go through `read`, which announces lazily; some come while no call is under way."""

    def __init__(self, write: Callable[[torch.Tensor, torch.Tensor], None]) -> None:
        self.position = torch.zeros(3)
        self.velocity = torch.zeros(3)
        self.write = write

    def read(self) -> torch.Tensor:
        return annotate.input_tensors("n", {"x": self.position})

    def substep(self, target: torch.Tensor) -> None:
        self.write(self.velocity, (target - self.read()) * 0.5)
        self.write(self.position, self.position + 0.1 * self.velocity)


def with_torch(target: torch.Tensor, value: torch.Tensor) -> None:
    target.copy_(value)


def with_numpy(target: torch.Tensor, value: torch.Tensor) -> None:
    np.copyto(memory_of(target), np.array(value.tolist(), dtype=np.float32))


def memory_of(tensor: torch.Tensor) -> Any:
    return np.frombuffer((np.ctypeslib.ctypes.c_float * tensor.numel()).from_address(tensor.data_ptr()), np.float32)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_input_read_again_is_that_input(backend: str, tmp_path: Path) -> None:
    folder = closed_loop(read_twice, backend, tmp_path)
    assert ports(folder, "inputs") == ["x"]
    assert not warnings_in(read_log(folder))


@pytest.mark.parametrize("backend", BACKENDS)
def test_another_tensor_replaces_an_input(backend: str, tmp_path: Path) -> None:
    folder = closed_loop(replaced, backend, tmp_path)
    assert not warnings_in(read_log(folder))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("write", [with_torch, pytest.param(with_numpy, marks=pytest.mark.host_only("NumPy"))])
@pytest.mark.parametrize("backend", BACKENDS)
def test_inputs_that_the_environment_reads_between_calls(
    write: Callable[[torch.Tensor, torch.Tensor], None], backend: str, tmp_path: Path
) -> None:
    """A simulator that reads its own state through an annotating proxy opens the next call early."""
    simulator = Simulator(write)
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []
    leapp.start("g", save_path=tmp_path)
    for _ in range(PASSES):
        x = simulator.read()
        velocity = annotate.input_tensors("n", {"v": simulator.velocity})
        target = annotate.output_tensors("n", {"y": x * 0.5 - velocity + 1}, export_with=backend)
        seen.append((simulator.position.clone(), target.detach().clone()))
        for _ in range(2):
            simulator.substep(target)
    leapp.stop()
    result = leapp.compile_graph().nodes["n"]
    assert (result.status, result.samples) == ("passed", PASSES)
    folder = tmp_path / "g"
    assert ports(folder, "inputs") == ["x", "v"]
    assert "call 4 of node 'n' is not finished and is dropped" in read_log(folder)
    assert len({tuple(position.tolist()) for position, _ in seen}) == PASSES


def test_outputs_that_depend_on_both_values_of_an_input(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    first = annotate.input_tensors("n", {"x": torch.ones(2)})
    second = annotate.input_tensors("n", {"x": torch.full((2,), 3.0)})
    annotate.output_tensors("n", {"y": first + second}, export_with="jit")
    leapp.stop()
    with pytest.raises(leapp.ValidationError, match="n failed"):
        leapp.compile_graph()
    (warning,) = warnings_in(read_log(tmp_path / "g"))
    assert "test_later_calls.py" in warning
    assert "input 'x' of node 'n' was announced again with other values" in warning


def test_outputs_that_depend_on_both_shapes_of_an_input(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    first = annotate.input_tensors("n", {"x": torch.ones(2)})
    second = annotate.input_tensors("n", {"x": torch.ones(1)})
    with pytest.raises(ValueError, match=r"announced as float32\[2\] and again as float32\[1\]"):
        annotate.output_tensors("n", {"y": first + second}, export_with="jit")


def test_an_input_that_changed_in_place_and_is_announced_again(tmp_path: Path) -> None:
    """What it holds then is the input."""
    memory = torch.tensor([1.0, 2.0])
    leapp.start("g", save_path=tmp_path)
    annotate.input_tensors("n", {"x": memory}).mul_(10)
    x = annotate.input_tensors("n", {"x": memory})
    annotate.output_tensors("n", {"y": x + 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert_same([torch.tensor([6.0, 7.0])], [model(torch.tensor([5.0, 6.0]))])


def test_a_call_that_was_given_up_leaves_nothing(tmp_path: Path) -> None:
    """The program caught its own exception; the next call announces everything again."""
    hidden = torch.zeros(2)
    kept = torch.zeros(2)
    leapp.start("g", save_path=tmp_path)
    for k in range(4):
        x = annotate.input_tensors("n", {"x": torch.full((2,), float(k))})
        old = annotate.state_tensors("n", {"h": hidden})
        buffer = annotate.register_buffer("n", {"kept": kept})
        new = annotate.update_state("n", {"h": old * 0.5 + x})
        if k == 1:
            continue
        buffer += x
        hidden = new
        annotate.output_tensors("n", {"y": new - buffer}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph().nodes["n"].samples == 3


def test_an_input_is_no_state(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    annotate.input_tensors("n", {"x": torch.ones(2)})
    with pytest.raises(ValueError, match=r"'n': 'x' is announced with input_tensors and with state_tensors"):
        annotate.state_tensors("n", {"x": torch.ones(2)})


def test_two_names_for_the_same_memory_keep_both_semantics(tmp_path: Path) -> None:
    memory = torch.arange(4.0)
    leapp.start("g", save_path=tmp_path)
    whole, part, same = annotate.input_tensors(
        "n",
        [
            TensorSemantics("whole", memory, kind="state/joint/position", extra={"unit": "rad"}),
            TensorSemantics("part", memory[:2], kind="state/joint/velocity", element_names=["a", "b"]),
            TensorSemantics("same", memory, kind="mine"),
        ],
    )
    both = whole * 2
    annotate.output_tensors(
        "n",
        [
            TensorSemantics("y", both, kind="first"),
            TensorSemantics("head", both[:2], kind="second"),
            TensorSemantics("rest", part.sum() + same, kind="third"),
        ],
        export_with="jit",
    )
    leapp.stop()
    leapp.compile_graph()
    node = read_yaml(tmp_path / "g")["models"]["n"]
    assert {port["name"]: port["kind"] for port in node["inputs"] + node["outputs"]} == {
        "whole": "state/joint/position",
        "part": "state/joint/velocity",
        "same": "mine",
        "y": "first",
        "head": "second",
        "rest": "third",
    }
    assert node["inputs"][0]["unit"] == "rad"
    assert node["inputs"][1]["element_names"] == [["a", "b"]]
    y, head, rest = torch.jit.load(str(tmp_path / "g" / "n.pt"))(torch.ones(4), torch.full((2,), 5.0), torch.zeros(4))
    assert_same([torch.full((4,), 2.0), torch.full((2,), 2.0), torch.full((4,), 10.0)], [y, head, rest])
