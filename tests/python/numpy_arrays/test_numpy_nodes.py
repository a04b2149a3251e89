# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy between torch, nodes and patches: which values keep their trace, and what is undone."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from harness import read_log, read_yaml, warnings_in
from leapp import annotate
from numpy_nodes import Array, Captured, Function, assert_close, make

# ---- Between torch and NumPy -----------------------------------------------------------------------------------------

CONVERSIONS: dict[str, Function] = {
    "numpy": lambda x: torch.from_numpy(np.sin(x.numpy()) + 1),
    "detached": lambda x: torch.from_numpy(x.detach().cpu().numpy() * 2),
    "as_tensor": lambda x: torch.as_tensor(x.numpy()[1:], dtype=torch.float64) * 2,
    "tensor": lambda x: torch.tensor(x.numpy() + 1),
    "tensor_of_list": lambda x: torch.tensor([x.numpy()[0] * 2, x.numpy()[1]]),
    "asarray": lambda x: torch.from_numpy(np.asarray(x) * 2),
    "array": lambda x: torch.from_numpy(np.array(x.numpy())).add_(1) + x,
    "array_of_scalars": lambda x: torch.from_numpy(np.array([x.numpy()[2] * 2, x.numpy()[0], np.float32(1.0)])),
    "ascontiguousarray": lambda x: torch.from_numpy(np.ascontiguousarray(x.numpy()[::-1])),
    "asarray_with_dtype": lambda x: torch.from_numpy(np.asarray(x.numpy(), dtype=np.float64)),
    "write_through_array": lambda x: (lambda y: (y.numpy().__setitem__(1, 5.0), y * 2)[1])(x * 3),
    "write_through_tensor": lambda x: (lambda a: (torch.from_numpy(a).mul_(2), torch.from_numpy(a + 1))[1])(
        x.numpy() + 1
    ),
    "from_dlpack": lambda x: torch.from_dlpack(np.sin(x.numpy())),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_keep_the_trace(name: str, tmp_path: Path) -> None:
    fn = CONVERSIONS[name]
    inputs = [torch.from_numpy(make(seed, (3,), np.float32)) for seed in range(3)]
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": inputs[0].clone()})
    y = fn(x)
    annotate.output_tensors("n", {"y": y}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert not warnings_in(read_log(tmp_path / "g"))
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    for fresh in inputs:
        torch.testing.assert_close(model(fresh.clone()), fn(fresh.clone()))


def test_without_patching_numpy_is_a_way_out(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path), global_patching=False)
    x = annotate.input_tensors("n", {"x": torch.ones(3)})
    assert type(x.numpy()) is np.ndarray
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    leapp.stop()
    assert "Tensor.numpy" in "".join(warnings_in(read_log(tmp_path / "g")))


def test_arrays_are_recorded_without_patching(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path), global_patching=False)
    x = annotate.input_tensors("n", {"x": np.ones(3)})
    annotate.output_tensors("n", {"y": np.sin(x) + 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert_close(np.sin(np.full(3, 2.0)) + 1, model(torch.full((3,), 2.0, dtype=torch.float64)).numpy())


def test_an_edge_between_nodes_that_speak_numpy(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("a", {"x": np.ones(3)})
    y = np.exp(x)
    annotate.output_tensors("a", {"y": y}, export_with="jit")
    z = annotate.input_tensors("b", {"z": y})
    annotate.output_tensors("b", {"w": z * 2}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert "a/y: [b/z]" in (tmp_path / "g" / "g.yaml").read_text()


# ---- Patches ---------------------------------------------------------------------------------------------------------


def patched_functions() -> list[Any]:
    return [
        torch.from_numpy,
        torch.as_tensor,
        torch.tensor,
        np.asarray,
        np.asanyarray,
        np.ascontiguousarray,
        np.array,
        torch.Tensor.numpy,
        torch.Tensor.tolist,
        torch.nn.Module.__call__,
        math.sin,
        operator.add,
        sorted(vars(torch.Tensor)),
    ]


def test_all_patches_are_undone_at_stop(tmp_path: Path) -> None:
    before = patched_functions()
    leapp.start("g", save_path=str(tmp_path))
    assert torch.from_numpy is not before[0]
    leapp.start("again", save_path=str(tmp_path))
    leapp.stop()
    assert patched_functions() == before


def test_start_puts_function_patches_in_force_and_stop_undoes_them(tmp_path: Path) -> None:
    before, sine = patched_functions(), math.sin
    patches = [leapp.FunctionPatch("math", "sin", lambda x: 10.0)]
    leapp.start("g", save_path=str(tmp_path), patching=patches)
    assert math.sin is not sine
    leapp.start("again", save_path=str(tmp_path), patching=patches)
    leapp.stop()
    assert patched_functions() == before


@pytest.mark.parametrize(
    "start",
    [
        lambda folder: leapp.start("", save_path=folder),
        lambda folder: leapp.start("g", save_path=folder, patching=[leapp.FunctionPatch("math", "no_such", abs)]),
        lambda folder: leapp.start("g", save_path=folder, patching=3),
    ],
    ids=["name", "patch", "list"],
)
def test_a_start_that_fails_leaves_nothing_behind(start: Function, tmp_path: Path) -> None:
    before = patched_functions()
    with pytest.raises((ValueError, TypeError)):
        start(str(tmp_path))
    assert patched_functions() == before
    assert not leapp._capture.is_active()


def test_patches_are_undone_when_compiling_fails(tmp_path: Path) -> None:
    before = patched_functions()
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.tensor([1.0, 0.0])})
    annotate.output_tensors("n", {"y": x.nonzero()}, export_with="jit")
    leapp.stop()
    with pytest.raises(ValueError, match="depends on data"):
        leapp.compile_graph()
    assert patched_functions() == before


@pytest.mark.parametrize(
    ("patching", "error", "words"),
    [
        (lambda patch: [patch("math", "no_such", abs)], ValueError, "'math' has no function 'no_such'"),
        (lambda patch: [patch("no.such.module", "f", abs)], ValueError, "no module 'no.such.module'"),
        (lambda patch: [patch(math, "pi", abs)], ValueError, "'math' has no function 'pi'"),
        (lambda patch: [patch(math, "sin", 3)], TypeError, "must be callable"),
        (lambda patch: [patch(math, 3, abs)], TypeError, "function_name must be a string"),
        (lambda patch: [abs], TypeError, "expected a FunctionPatch"),
        (lambda patch: "sin", TypeError, "a list of FunctionPatch"),
    ],
    ids=["function", "module", "no_function", "replacement", "name", "type", "list"],
)
def test_patches_that_cannot_be(patching: Function, error: type[Exception], words: str) -> None:
    from leapp.capture.patches import install_patches

    before = patched_functions()
    with pytest.raises(error, match=words) as raised:
        install_patches(patching(leapp.FunctionPatch))
    assert isinstance(raised.value, leapp.LeappError)
    assert patched_functions() == before


# ---- Between nodes ---------------------------------------------------------------------------------------------------


def edges_after(between: Function, folder: Path) -> dict[str, list[str]]:
    """Of a node `second` that reads `between` of what a node `first` published."""
    leapp.start("g", save_path=str(folder))
    for start in (0.0, 1.0):
        x = annotate.input_tensors("first", {"x": np.arange(3.0) + start})
        out = annotate.output_tensors("first", {"out": x * 2}, export_with="jit")
        y = annotate.input_tensors("second", {"y": between(out)})
        annotate.output_tensors("second", {"z": y + 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    found: dict[str, list[str]] = read_yaml(folder / "g")["pipeline"]["data_flow"]
    return found


def mirrored(out: Array) -> Array:
    other = np.zeros(3)
    memoryview(other)[:] = memoryview(out.tobytes()).cast("d")  # type: ignore[assignment]
    annotate.mirror_leapp_tags(out, other)
    return other


@pytest.mark.parametrize(
    "between",
    [
        lambda out: out.copy(),
        lambda out: np.copy(out),
        lambda out: np.array(out),
        lambda out: out.astype(out.dtype),
        copy.copy,
        copy.deepcopy,
        lambda out: out.copy().copy()[:],
        lambda out: np.asarray(out.copy()),
        lambda out: torch.from_numpy(out.copy()),
        mirrored,
        lambda out: annotate.mirror_leapp_tags(out, np.array(out.tolist())).copy(),
    ],
    ids=[
        "copy",
        "np.copy",
        "np.array",
        "astype",
        "copy.copy",
        "deepcopy",
        "twice",
        "asarray",
        "torch",
        "mirror",
        "mirror_copy",
    ],
)
def test_a_copy_of_an_array_between_nodes_keeps_the_edge(between: Function, tmp_path: Path) -> None:
    assert edges_after(between, tmp_path) == {"first/out": ["second/y"]}


@pytest.mark.parametrize(
    "between",
    [lambda out: out * 2, lambda out: out[::-1].copy(), lambda out: out[:2].copy(), lambda out: out.astype(np.float32)],
    ids=["computed", "reversed", "part", "cast"],
)
def test_what_is_no_copy_of_an_array_draws_no_edge(between: Function, tmp_path: Path) -> None:
    assert edges_after(between, tmp_path) == {}


def test_what_a_node_hands_out_is_an_ordinary_array(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": np.arange(3.0)})
    out = annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    assert isinstance(out, np.ndarray)
    for result in (
        out + 1,
        np.sin(out),
        np.stack([out, out]),
        np.linalg.norm(out, keepdims=True),
        out.astype(np.int32),
    ):
        assert type(result) is np.ndarray
    assert (float(out[1]), out.tolist(), str(out)) == (2.0, [0.0, 2.0, 4.0], "[0. 2. 4.]")
    out += 1
    np.multiply(out, 2, out=out)
    assert out.tolist() == [2.0, 6.0, 10.0]
    leapp.stop()
    assert pickle.loads(pickle.dumps(out)).tolist() == out.tolist()
    assert type(out.copy()) is np.ndarray, "after stop"


def test_mirror_leapp_tags_inside_a_node(tmp_path: Path) -> None:
    def fn(x: Array) -> Array:
        y = x * 2
        other = np.array(y.tolist())
        return annotate.mirror_leapp_tags(y, other) + 1

    captured = Captured(fn, [np.arange(3.0)], tmp_path)
    assert np.array_equal(captured(np.array([5.0, 6.0, 7.0]))[0], [11.0, 13.0, 15.0])


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: (x.sum() == 6).all() * x,
        lambda x: (x.sum() == 6).any() + x,
        lambda x: np.isfinite(x.sum()).all() * x,
        lambda x: x.max().mean() * x,
        lambda x: x.sum().reshape(1) * x,
        lambda x: x.sum().clip(0, 2) * x,
        lambda x: x.sum().astype(np.float32) * x,
        lambda x: x.sum().copy() * x,
        lambda x: x.sum().ravel() * x,
        lambda x: x.sum().round(1) * x,
        lambda x: x[0].squeeze() * x,
    ],
    ids=["all", "any", "isfinite", "mean", "reshape", "clip", "astype", "copy", "ravel", "round", "element"],
)
def test_methods_of_arrays_without_dimensions(fn: Function, tmp_path: Path) -> None:
    captured = Captured(fn, [np.array([1.0, 2.0, 3.0])], tmp_path)
    for other in (np.array([3.0, 2.0, 1.0]), np.array([0.5, 7.0, -1.0])):
        assert np.allclose(captured(other)[0], fn(other))


@pytest.mark.parametrize(
    "fn",
    [lambda x: np.nonzero(x)[0], lambda x: np.where(x > 1)[0], lambda x: np.flatnonzero(x), lambda x: x[x > 1]],
    ids=["nonzero", "where", "flatnonzero", "mask"],
)
def test_a_data_dependent_array_is_refused_at_the_port(fn: Function, tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": np.array([1.0, 0.0, 2.0])})
    annotate.output_tensors("n", {"y": fn(x)}, export_with="jit")
    leapp.stop()
    with pytest.raises(ValueError, match="output 'y' of node 'n': its shape depends on data"):
        leapp.compile_graph()
