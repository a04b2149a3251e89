# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501  (one row, one line)
"""State used the wrong way: the exception, words of its message, and a session that goes on. And initial values.

Each row of ROWS starts with node "policy" open. After the error the node gets state, is closed, and the session runs to
the end: the bundle must do, in a closed loop, what the program does.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bundle_runner
import leapp
import pytest
import torch
from harness import assert_same, read_log, warnings_in
from leapp import annotate

X = torch.tensor([[1.0, -2.0, 3.0], [0.5, 0.25, -1.0]])


class Buffers(torch.nn.Module):
    def __init__(self, *more: str) -> None:
        super().__init__()
        for name in ("h", *more):
            self.register_buffer(name, torch.zeros(2, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.h = self.h + x
        return self.h * 2


models: dict[str, Buffers] = {}  # made anew for each test, before the session


def close_other() -> torch.Tensor:
    x = annotate.input_tensors("other", {"x": X})
    return annotate.output_tensors("other", {"y": x + 1}, export_with="jit")


def open_other() -> torch.Tensor:
    return annotate.input_tensors("other", {"x": X}) + 1


def with_state(call: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], Any]:
    """The row's state "s" is declared, then `call`."""

    def run(x: torch.Tensor) -> Any:
        annotate.state_tensors("policy", {"s": torch.zeros(2, 3)})
        return call(x)

    return run


def updated_twice(x: torch.Tensor) -> None:
    annotate.update_state("policy", {"s": x * 2})
    annotate.update_state("policy", {"s": x * 3})


def module_that_ran(x: torch.Tensor) -> None:
    models["plain"](x)
    annotate.module("policy", models["plain"])


def register_twice(x: torch.Tensor) -> None:
    annotate.register_buffer("policy", {"b": torch.zeros(3)})
    annotate.register_buffer("policy", {"b": torch.zeros(3)})


def state_named(name: str) -> Callable[[torch.Tensor], Any]:
    return lambda x: annotate.state_tensors("policy", {name: torch.zeros(2)})


def update(**make: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], Any]:
    return with_state(lambda x: annotate.update_state("policy", {name: value(x) for name, value in make.items()}))


def closed(call: Callable[[], Any]) -> Callable[[torch.Tensor], Any]:
    def run(x: torch.Tensor) -> Any:
        close_other()
        return call()

    return run


Row = tuple[str, Callable[[torch.Tensor], Any], type[Exception], tuple[str, ...]]

# fmt: off
ROWS: list[Row] = [
    ("state of a node that is not open", lambda x: annotate.state_tensors("never", {"s": X}), RuntimeError, ("state_tensors", "'never'", "not open", "input_tensors")),
    ("state of a closed node", closed(lambda: annotate.state_tensors("other", {"s": X})), RuntimeError, ("state_tensors", "'other'", "not open")),
    ("update of a node that is not open", lambda x: annotate.update_state("never", {"s": X}), RuntimeError, ("update_state", "'never'", "not open")),
    ("update after closing", closed(lambda: annotate.update_state("other", {"s": X})), RuntimeError, ("update_state", "'other'", "not open")),
    ("buffer of a node that is not open", lambda x: annotate.register_buffer("never", {"b": X}), RuntimeError, ("register_buffer", "'never'", "not open")),
    ("buffer of a closed node", closed(lambda: annotate.register_buffer("other", {"b": X})), RuntimeError, ("register_buffer", "'other'", "not open")),
    ("module of a node that is not open", lambda x: annotate.module("never", models["plain"]), RuntimeError, ("module", "'never'", "not open")),
    ("module of a closed node", closed(lambda: annotate.module("other", models["plain"])), RuntimeError, ("module", "'other'", "not open")),
    ("updated twice", with_state(updated_twice), ValueError, ("update_state", "'s'", "'policy'", "before")),
    ("update of an unknown name", update(t=lambda x: x), ValueError, ("update_state", "'t'", "'policy'", "state_tensors")),
    ("update of an input", update(obs=lambda x: x), ValueError, ("update_state", "'obs'", "'policy'", "state_tensors")),
    ("update of another shape", update(s=lambda x: x[0]), ValueError, ("'s'", "'policy'", "[2, 3]", "[3]")),
    ("update of a shape that would broadcast", update(s=lambda x: x[:1]), ValueError, ("'s'", "[2, 3]", "[1, 3]")),
    ("update of another dtype", update(s=lambda x: x.double()), ValueError, ("'s'", "'policy'", "float32", "float64")),
    ("nested state", lambda x: annotate.state_tensors("policy", {"s": [X, X]}), TypeError, ("state_tensors", "'s'", "list")),
    ("nested update", update(s=lambda x: {"a": x}), TypeError, ("update_state", "'s'", "dict")),
    ("state that is no dict", lambda x: annotate.state_tensors("policy", X), TypeError, ("state_tensors", "dict", "Tensor")),  # type: ignore[arg-type]
    ("update with None", update(s=lambda x: None), TypeError, ("update_state", "'s'", "None")),
    ("state of an input's name", state_named("obs"), ValueError, ("'obs'", "'policy'", "unique")),
    ("state of no name", state_named(""), ValueError, ("'policy'", "empty")),
    ("state with a slash", state_named("a/b"), ValueError, ("a/b", "slash")),
    ("buffer of an input's name", lambda x: annotate.register_buffer("policy", {"obs": X}), ValueError, ("'obs'", "'policy'", "input")),
    ("buffer of a state's name", with_state(lambda x: annotate.register_buffer("policy", {"s": X})), ValueError, ("'s'", "'policy'")),
    ("buffer registered twice", register_twice, ValueError, ("'b'", "'policy'", "buffer")),
    ("module with a buffer of an input's name", lambda x: annotate.module("policy", models["of taken name"]), ValueError, ("'obs'", "'policy'", "input")),
    ("module with an unknown buffer", lambda x: annotate.module("policy", models["plain"], ["k"]), ValueError, ("module", "'k'", "'h'")),
    ("module after it ran", module_that_ran, RuntimeError, ("module", "'h'", "'policy'", "before")),
    ("update with a value of another node", update(s=lambda x: open_other()), RuntimeError, ("update_state", "'s'", "'policy'", "'other'")),
    ("state that is a value of another node", lambda x: annotate.state_tensors("policy", {"s": open_other()}), RuntimeError, ("'s'", "'policy'", "'other'")),
    ("buffer that is a value of another node", lambda x: annotate.register_buffer("policy", {"b": open_other()}), RuntimeError, ("'b'", "'policy'", "'other'")),
]
# fmt: on


LINE = f"{Path(__file__).name}:"


def assert_words(error: BaseException, *words: str) -> None:
    for word in words:
        assert word in str(error), f"{word!r} is not in {str(error)!r}"


def ids(row: Row) -> str:
    return row[0]


def assert_complete_export(folder: Path, inputs: dict[str, torch.Tensor]) -> None:
    """What is in `folder` runs, and node "policy" sums up its observations."""
    bundle = bundle_runner.Bundle(folder)
    total = torch.zeros(2, 3)
    for i in range(4):
        obs = X * (i + 1)
        total = total + obs
        assert_same([total * 2], [bundle.step(obs=obs, **inputs)["policy/action"]])


def test_module_with_an_unknown_buffer_names_the_line(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    annotate.input_tensors("policy", {"obs": X})
    with pytest.raises(leapp.LeappValueError) as raised:
        annotate.module("policy", Buffers(), ["k"])
    assert_words(raised.value, LINE)


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_state_error(row: Row, tmp_path: Path) -> None:
    _, call, kind, words = row
    models.update({"plain": Buffers(), "of taken name": Buffers("obs")})
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("policy", {"obs": X})
    with pytest.raises(kind) as raised:
        call(x)
    assert isinstance(raised.value, leapp.LeappError)
    assert_words(raised.value, *words)
    if "'k'" not in words:  # has a test of its own
        assert_words(raised.value, LINE)
    if leapp._capture.is_open("other"):
        annotate.output_tensors("other", {"y": annotate.input_tensors("other", {"z": X}) * 2}, export_with="jit")
    total = annotate.state_tensors("policy", {"total": torch.zeros(2, 3)})
    total = annotate.update_state("policy", {"total": total + x})
    annotate.output_tensors("policy", {"action": total * 2}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph(visualize=False).nodes["policy"].status == "passed"
    assert_complete_export(tmp_path / "g", {"x": X, "z": X, "s": torch.zeros(2, 3)})


class Session:
    """Node "policy" sums up its observations, call by call, and may be called in a wrong way in between."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.total = folder / "g", torch.zeros(2, 3)
        leapp.start("g", save_path=folder)

    def call(self, wrong: Callable[[torch.Tensor, torch.Tensor], Any] | None = None) -> None:
        x = annotate.input_tensors("policy", {"obs": X})
        total = annotate.state_tensors("policy", {"total": self.total})
        if wrong:
            wrong(x, total)
        self.total = annotate.update_state("policy", {"total": total + x})
        annotate.output_tensors("policy", {"action": self.total * 2, "more": x + 1}, export_with="jit")

    def finish(self, **inputs: torch.Tensor) -> None:
        self.call()
        leapp.stop()
        assert leapp.compile_graph(visualize=False).nodes["policy"].status == "passed"
        assert_complete_export(self.folder, inputs)


def fewer_outputs(x: torch.Tensor, total: torch.Tensor) -> None:
    annotate.output_tensors("policy", {"action": total * 2}, export_with="jit")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (fewer_outputs, ("'policy'", "call 1", "outputs", "first call")),
        pytest.param(
            fewer_outputs,
            ("'more'",),
            id="fewer_outputs_by_name",
        ),
    ],
)
def test_reentry_in_another_way(wrong: Callable[..., Any], words: tuple[str, ...], tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.call()

    def checked(x: torch.Tensor, total: torch.Tensor) -> None:
        with pytest.raises(leapp.LeappValueError) as raised:
            wrong(x, total)
        assert_words(raised.value, *words, LINE)

    session.call(checked)  # and the same call, done right
    session.finish()


@pytest.mark.parametrize("given", [torch.zeros(3), torch.zeros(2, 3).double()], ids=["shape", "dtype"])
def test_reentry_with_a_state_of_another_type(given: torch.Tensor, tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.call()
    right, session.total = session.total, given
    with pytest.raises(leapp.LeappValueError) as raised:
        session.call()
    found = "float32[3]" if given.ndim == 1 else "float64[2, 3]"
    assert_words(raised.value, "'policy'", "'total'", "float32[2, 3]", found, "first call", LINE)
    session.total = right
    leapp._capture.abandon("policy")
    session.finish()


def test_reentry_with_another_output(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.call()
    x = annotate.input_tensors("policy", {"obs": X})
    total = annotate.state_tensors("policy", {"total": session.total})
    annotate.update_state("policy", {"total": total + x})
    with pytest.raises(leapp.LeappValueError) as raised:
        annotate.output_tensors("policy", {"action": (total + x) * 2, "less": x + 1}, export_with="jit")
    assert_words(raised.value, "'policy'", "'less'", "first call", LINE)
    leapp._capture.abandon("policy")
    session.finish()


def test_reentry_without_an_update(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.call()
    x = annotate.input_tensors("policy", {"obs": X})
    total = annotate.state_tensors("policy", {"total": session.total})
    with pytest.raises(leapp.LeappValueError) as raised:
        annotate.output_tensors("policy", {"action": (total + x) * 2, "more": x + 1}, export_with="jit")
    assert_words(raised.value, "'policy'", "call 1", "outputs", "first call", LINE)
    leapp._capture.abandon("policy")
    session.finish()


def test_an_input_whose_source_switches(tmp_path: Path) -> None:
    session = Session(tmp_path)

    def pass_of(chosen: str) -> None:
        made = {}
        for name in ("left", "right"):
            x = annotate.input_tensors(name, {f"{name}_in": X})
            made[name] = annotate.output_tensors(name, {"y": x * 2}, export_with="jit")
        session.call()
        z = annotate.input_tensors("reader", {"z": made[chosen]})
        annotate.output_tensors("reader", {"w": z + 1}, export_with="jit")

    pass_of("left")
    with pytest.raises(leapp.LeappValueError) as raised:
        pass_of("right")
    assert_words(raised.value, "'z'", "'reader'", "left/y", "right/y", LINE)
    pass_of("left")
    session.finish(left_in=X, right_in=X)
    bundle = bundle_runner.Bundle(session.folder)
    assert bundle.yaml["pipeline"]["data_flow"] == {"left/y": ["reader/z"]}
    found = bundle.step(obs=X, left_in=X * 3, right_in=X)
    assert_same([X * 6 + 1], [found["reader/w"]])


def test_a_state_whose_value_comes_from_elsewhere(tmp_path: Path) -> None:
    """Declared state is fed by its own update; another node's output in its place is a switched source."""
    session = Session(tmp_path)
    session.call()
    session.call()
    right, session.total = session.total, close_other()
    with pytest.raises(leapp.LeappValueError) as raised:
        session.call()
    assert_words(raised.value, "'total'", "'policy'", "other/y", LINE)
    session.total = right
    leapp._capture.abandon("policy")
    session.finish(x=X)


def finish_with_freed(folder: Path, y: torch.Tensor) -> dict[str, Any]:
    gc.collect()
    reused = [torch.full((2, 3), 7.0) for _ in range(20)]  # takes the memory, if it was given back
    annotate.output_tensors("freed", {"y": y}, export_with="jit")
    del reused
    session = Session.__new__(Session)
    session.folder, session.total = folder / "g", torch.zeros(2, 3)
    session.finish(obs_of_freed=X)
    bundle = bundle_runner.Bundle(folder / "g")
    assert_same([y], [bundle.step(obs=X, obs_of_freed=X)["freed/y"]])
    return bundle.yaml["pipeline"]["feedback_flow"]


def test_a_module_freed_while_the_node_is_open(tmp_path: Path) -> None:
    model = Buffers()
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("freed", {"obs_of_freed": X})
    annotate.module("freed", model)
    model.h.add_(x)
    y = model.h * 2
    del model
    assert finish_with_freed(tmp_path, y)["freed/h"] == ["freed/h"]


def test_a_registered_buffer_freed_while_the_node_is_open(tmp_path: Path) -> None:
    buffer = torch.ones(2, 3)
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("freed", {"obs_of_freed": X})
    buffer = annotate.register_buffer("freed", {"b": buffer})
    buffer += x
    y = buffer * 2
    del buffer
    assert finish_with_freed(tmp_path, y)["freed/b"] == ["freed/b"]


def test_a_module_whose_buffer_is_deleted_while_the_node_is_open(tmp_path: Path) -> None:
    model = Buffers()
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("freed", {"obs_of_freed": X})
    annotate.module("freed", model)
    y = model(x)
    del model.h
    finish_with_freed(tmp_path, y)
    assert any("'h'" in line for line in warnings_in(read_log(tmp_path / "g")))


def test_a_plain_tensor_freed_while_the_node_is_open(tmp_path: Path) -> None:
    """Nothing can read it in the next call: no state, and its content is a constant of this node."""
    kept = torch.ones(2, 3)
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("freed", {"obs_of_freed": X})
    kept.add_(x)
    y = kept * 2
    del kept
    finish_with_freed(tmp_path, y)


def test_a_module_made_while_the_node_is_open(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("policy", {"obs": X})
    model = Buffers()
    annotate.module("policy", model)
    annotate.output_tensors("policy", {"action": model(x)}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    assert_complete_export(tmp_path / "g", {})


def export_with_idle_state(folder: Path) -> None:
    leapp.start("g", save_path=folder)
    x = annotate.input_tensors("policy", {"obs": X})
    idle = annotate.state_tensors("policy", {"idle": torch.zeros(3)})
    annotate.output_tensors("policy", {"action": x + idle}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)


def test_a_state_that_is_never_updated_is_warned_about(tmp_path: Path) -> None:
    export_with_idle_state(tmp_path)
    assert ["'idle'" in line for line in warnings_in(read_log(tmp_path / "g"))] == [True]


def test_a_state_that_is_never_updated_is_an_input(tmp_path: Path) -> None:
    export_with_idle_state(tmp_path)
    bundle = bundle_runner.Bundle(tmp_path / "g")
    assert bundle.yaml["pipeline"]["inputs"] == {"policy": ["obs", "idle"]}
    assert bundle.yaml["pipeline"]["feedback_flow"] == {}
    assert_same([X + 2], [bundle.step(obs=X, idle=torch.full((3,), 2.0))["policy/action"]])


DTYPES = [
    torch.float16, torch.float32, torch.float64, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.uint8, torch.bool,
]  # fmt: skip

LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.t(),
    "every second column": lambda t: t[:, ::2],
    "inner part": lambda t: t[1:, 1:3],
    "expanded": lambda t: t[:1].expand(3, 4),
    "one row": lambda t: t[1],
    "0-d": lambda t: t[1, 2],
    "permuted": lambda t: t.reshape(3, 2, 2).permute(2, 0, 1),
    "empty": lambda t: t[:0],
}


def initial_value(dtype: torch.dtype, layout: str) -> torch.Tensor:
    values = torch.tensor([[0, 1, 2, 3], [4, 0, 6, 7], [8, 9, 0, 11]])
    return LAYOUTS[layout](values.to(dtype))


def toggled(state: torch.Tensor) -> torch.Tensor:
    """A next value of the same dtype that depends on the old one."""
    return ~state if state.dtype == torch.bool else state + 1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_initial_values_round_trip(dtype: torch.dtype, layout: str, tmp_path: Path) -> None:
    initial = initial_value(dtype, layout)
    expected = initial.clone(memory_format=torch.contiguous_format)
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("policy", {"obs": X})
    state = annotate.state_tensors("policy", {"s": initial})
    annotate.update_state("policy", {"s": toggled(state)})
    annotate.output_tensors("policy", {"y": x * 2, "old": state * 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    values = bundle_runner.read_safetensors(tmp_path / "g" / "g_initial_values.safetensors")
    assert list(values) == ["policy/s"]
    assert (values["policy/s"].dtype, values["policy/s"].shape) == (dtype, initial.shape)
    assert torch.equal(values["policy/s"], expected)
    bundle = bundle_runner.Bundle(tmp_path / "g")
    for _ in range(3):
        assert torch.equal(bundle.step(obs=X)["policy/old"], (expected * 1))
        expected = toggled(expected)


def test_special_values_keep_their_bits(tmp_path: Path) -> None:
    initial = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 1e-45])
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("policy", {"obs": torch.ones(5)})
    state = annotate.state_tensors("policy", {"s": initial})
    annotate.update_state("policy", {"s": x * 3})
    annotate.output_tensors("policy", {"y": torch.nan_to_num(state) + x}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    found = bundle_runner.read_safetensors(tmp_path / "g" / "g_initial_values.safetensors")["policy/s"]
    assert torch.equal(found.view(torch.int32), initial.view(torch.int32))


@pytest.mark.parametrize("way", ["buffer in place", "buffer reassigned", "plain", "registered"])
def test_initial_values_are_those_before_the_first_call(way: str, tmp_path: Path) -> None:
    """Whatever the program wrote into the tensor afterwards."""
    start = torch.arange(6.0).reshape(3, 2).t()  # not contiguous
    model = Buffers()
    model.h = start.clone() if way != "buffer in place" else start
    kept = start.clone()
    leapp.start("g", save_path=tmp_path)
    for _ in range(2):
        x = annotate.input_tensors("policy", {"obs": X})
        if way == "registered":
            h = annotate.register_buffer("policy", {"h": kept})
            h += x
        elif way == "plain":
            h = kept.add_(x)
        elif way == "buffer in place":
            h = model.h.add_(x)
        else:
            h = model(x) / 2
        annotate.output_tensors("policy", {"action": h * 2}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    (found,) = bundle_runner.read_safetensors(tmp_path / "g" / "g_initial_values.safetensors").values()
    if way in ("buffer in place", "plain"):
        assert torch.equal(found.flatten(), torch.arange(6.0))  # the state is the memory below the tensor
    else:
        assert torch.equal(found, torch.arange(6.0).reshape(3, 2).t())
    bundle, total = bundle_runner.Bundle(tmp_path / "g"), torch.arange(6.0).reshape(3, 2).t()
    for _ in range(3):
        total = total + X
        assert_same([total * 2], [bundle.step(obs=X)["policy/action"]])
