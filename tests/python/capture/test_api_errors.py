# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501  (one row, one line)
"""Every error of the lifecycle and the annotations: the call, the exception, words of the message.

Each row starts from an active session with one node open, and the session is usable after it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from harness import assert_same, read_log, read_yaml
from leapp import GraphConfigs, TemporalAxis, TensorSemantics, annotate

X = torch.ones(2, 3)

opened: list[torch.Tensor] = []  # the input of the node "open" in the session of the test


def live() -> torch.Tensor:
    return opened[0] * 2


def inputs(tensors: Any, node: Any = "new") -> Callable[[], Any]:
    return lambda: annotate.input_tensors(node, tensors)


def outputs(make: Callable[[], Any], **options: Any) -> Callable[[], Any]:
    return lambda: annotate.output_tensors(options.pop("node", "open"), make(), **options)


def good() -> dict[str, Any]:
    return {"y": live()}


def semantics(**fields: Any) -> Callable[[], Any]:
    fields.setdefault("ref", X)
    return lambda: annotate.input_tensors("new", TensorSemantics("obs", **fields))


class Buffers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("h", torch.zeros(2))


def state(**tensors: Any) -> Callable[[], Any]:
    return lambda: annotate.state_tensors("open", tensors)


def update(before: dict[str, Any] | None = None, **tensors: Any) -> Callable[[], Any]:
    def call() -> Any:
        annotate.state_tensors("open", before or {"h": torch.zeros(2, 3)})
        return annotate.update_state("open", {name: value() for name, value in tensors.items()})

    return call


def updated_twice() -> None:
    annotate.state_tensors("open", {"h": torch.zeros(2, 3)})
    annotate.update_state("open", {"h": live()})
    annotate.update_state("open", {"h": live()})


def module_that_ran() -> None:
    model = torch.nn.BatchNorm1d(3)
    model(opened[0])
    annotate.module("open", model)


def second_open() -> torch.Tensor:
    return annotate.input_tensors("second", {"x": X})


Row = tuple[str, Callable[[], Any], type, tuple[str, ...]]

# fmt: off
START: list[Row] = [
    ("empty name", lambda: leapp.start(""), ValueError, ("name",)),
    ("name is .", lambda: leapp.start("."), ValueError, ("name", ".")),
    ("name is /", lambda: leapp.start("/"), ValueError, ("name", "/")),
    ("name is a number", lambda: leapp.start(3), TypeError, ("name", "int")),  # type: ignore[arg-type]
    ("save_path", lambda: leapp.start("g", save_path=3), TypeError, ("save_path", "int")),  # type: ignore[arg-type]
    ("non_traced is a string", lambda: leapp.start("g", non_traced="node"), TypeError, ("non_traced", "list")),
    ("non_traced of numbers", lambda: leapp.start("g", non_traced=[1]), TypeError, ("non_traced",)),  # type: ignore[list-item]
    ("max_cached_io < 0", lambda: leapp.start("g", max_cached_io=-1), ValueError, ("max_cached_io", "-1")),
    ("max_cached_io", lambda: leapp.start("g", max_cached_io=2.5), TypeError, ("max_cached_io", "float")),  # type: ignore[arg-type]
    ("leaks", lambda: leapp.start("g", leaks="ignore"), ValueError, ("leaks", "promote", "ignore")),
    ("leaks is no string", lambda: leapp.start("g", leaks=True), TypeError, ("leaks", "bool")),  # type: ignore[arg-type]
    ("patching", lambda: leapp.start("g", patching=[3]), TypeError, ("patching", "FunctionPatch", "int")),  # type: ignore[list-item]
    ("compile before stop", lambda: leapp.compile_graph(), RuntimeError, ("stop",)),
    ("frequency", lambda: GraphConfigs(frequency=0), ValueError, ("frequency", "0")),
    ("frequency is no number", lambda: GraphConfigs(frequency="50"), TypeError, ("frequency", "str")),  # type: ignore[arg-type]
    ("configs", lambda: leapp.compile_graph(graph_configs={}), TypeError, ("GraphConfigs", "dict")),  # type: ignore[arg-type]
    ("configs' extra", lambda: GraphConfigs(extra=[1]), TypeError, ("extra", "list")),  # type: ignore[arg-type]
    ("rtol", lambda: leapp.compile_graph(rtol="x"), TypeError, ("rtol", "str")),  # type: ignore[arg-type]
]

PAYLOADS: list[Row] = [
    ("bare tensor", inputs(X), TypeError, ("input_tensors", "dict", "Tensor")),
    ("bare list", inputs([X]), TypeError, ("dict", "list", "Tensor")),
    ("bare tuple", inputs((X,)), TypeError, ("dict", "tuple")),
    ("bare number", inputs(3), TypeError, ("dict", "int")),
    ("None", inputs(None), TypeError, ("dict", "None")),
    ("mixed list", inputs([TensorSemantics("a", X), X]), TypeError, ("TensorSemantics", "Tensor")),
    ("semantics in a dict", inputs({"a": TensorSemantics("a", X)}), TypeError, ("'a'", "TensorSemantics", "dict")),
    ("semantics deep in a dict", inputs({"a": [TensorSemantics("a", X)]}), TypeError, ("'a_0'", "TensorSemantics")),
    ("name is a number", inputs({1: X}), TypeError, ("names", "1")),
    ("key is a tuple", inputs({"a": {(1, 2): X}}), TypeError, ("'a'", "keys")),
    ("an object", inputs({"a": {"b": object()}}), TypeError, ("'a_b'", "object")),
    ("node is a number", inputs({"x": X}, node=3), TypeError, ("node_name", "int")),
    ("ref is no tensor", inputs(TensorSemantics("a", 3)), TypeError, ("'a'", "ref", "int")),
    ("bare output", lambda: annotate.output_tensors("open", X), TypeError, ("output_tensors", "dict", "Tensor")),
    ("bare output list", lambda: annotate.output_tensors("open", [X]), TypeError, ("dict", "list")),
    ("bare static", lambda: annotate.output_tensors("open", {"y": X}, static_outputs=X), TypeError, ("static", "dict")),
    ("bare state", lambda: annotate.state_tensors("open", X), TypeError, ("state_tensors", "dict", "Tensor")),
    ("nested state", state(h=[X]), TypeError, ("state_tensors", "'h'", "list")),
    ("number as state", state(h=3), TypeError, ("'h'", "int")),
    ("nested update", lambda: annotate.update_state("open", {"h": {"a": X}}), TypeError, ("'h'", "dict")),
    ("no module", lambda: annotate.module("open", X), TypeError, ("Module", "Tensor")),  # type: ignore[arg-type]
    ("module of node 3", lambda: annotate.module(3, Buffers()), TypeError, ("node_name", "int")),  # type: ignore[arg-type]
    ("buffer_names", lambda: annotate.module("open", Buffers(), "h"), TypeError, ("buffer_names",)),  # type: ignore[arg-type]
    ("mirror of a number", lambda: annotate.mirror_leapp_tags(3, X), TypeError, ("source", "int")),
    ("mirror onto None", lambda: annotate.mirror_leapp_tags(X, None), TypeError, ("target", "None")),
    ("kind", lambda: TensorSemantics("a", X, kind=3), TypeError, ("'a'", "kind", "int")),  # type: ignore[arg-type]
    ("semantics' name", lambda: TensorSemantics(3, X), TypeError, ("name", "int")),  # type: ignore[arg-type]
    ("element_names", lambda: TensorSemantics("a", X, element_names=3), TypeError, ("'a'", "element_names")),
    ("an axis of numbers", lambda: TensorSemantics("a", X, element_names=[[1]]), TypeError, ("'a'", "axis 0")),
    ("extra is a list", lambda: TensorSemantics("a", X, extra=[]), TypeError, ("'a'", "extra", "list")),  # type: ignore[arg-type]
    ("two temporal axes", lambda: TensorSemantics("a", X, element_names=[TemporalAxis(1)] * 2), ValueError, ("'a'",)),
    ("period 0", lambda: TemporalAxis(0), ValueError, ("period_ms", "0")),
    ("period is no number", lambda: TemporalAxis("1"), TypeError, ("period_ms", "str")),  # type: ignore[arg-type]
    ("the written form", lambda: TensorSemantics("a", X, None, ["__temporal_axis__"]), ValueError, ("TemporalAxis",)),
]

ACTIVE: list[Row] = [
    ("port name is empty", inputs({"": X}), ValueError, ("'new'", "empty")),
    ("port name with a slash", inputs({"a/b": X}), ValueError, ("a/b", "slash")),
    ("nested name with a slash", inputs({"a": {"b/c": X}}), ValueError, ("a_b/c", "slash")),
    ("two nested values of one name", inputs({"a": {"b": X}, "a_b": X}), ValueError, ("'a_b'", "'new'", "unique")),
    *[(f"node name {n!r}", inputs({"x": X}, node=n), ValueError, ("node name",)) for n in ("", ".", "..", "a/b", "a\\b", "a\n")],
    ("live in another node", lambda: annotate.input_tensors("new", {"x": live()}), RuntimeError, ("'open'", "'new'")),
    ("node never opened", outputs(good, node="never"), RuntimeError, ("'never'", "input_tensors")),
    ("value of another node", lambda: annotate.output_tensors("open", {"y": second_open()}), RuntimeError, ("'second'",)),
    ("no outputs", outputs(dict), ValueError, ("'open'", "output")),
    ("only values that are no tensors", outputs(lambda: {"y": 3}), ValueError, ("'open'", "output")),
    ("unknown backend", outputs(good, export_with="tensorflow"), ValueError, ("'open'", "tensorflow", "jit", "pt2")),
    ("backend of a type", outputs(good, export_with=3), TypeError, ("export_with", "int")),
    ("params of a type", outputs(good, export_with="jit", backend_params=[1]), TypeError, ("backend_params", "list")),
    ("unknown parameter", outputs(good, export_with="onnx", backend_params={"opset": 1}), ValueError, ("'opset'", "opset_version")),
    ("opset", outputs(good, export_with="onnx", backend_params={"opset_version": 7}), ValueError, ("opset_version", "7")),
    ("opset of a type", outputs(good, export_with="onnx", backend_params={"opset_version": "18"}), TypeError, ("int", "str")),
    ("model that is not there", outputs(good, backend_params={"model_path": "no.pt"}), ValueError, ("'open'", "no.pt")),
    ("model of a suffix", outputs(good, backend_params={"model_path": "a.txt"}), ValueError, (".pt", ".onnx", "a.txt")),
    ("live static output", lambda: annotate.output_tensors("open", good(), static_outputs={"s": live()}), ValueError, ("'s'",)),
    ("static name again", outputs(good, static_outputs={"y": X}), ValueError, ("'y'", "unique")),
    ("too few names", semantics(element_names=[None, ["a", "b"]]), ValueError, ("'obs'", "'new'", "3", "2")),
    ("too many names", semantics(element_names=[["a", "b", "c"], None]), ValueError, ("'obs'", "'new'", "2", "3")),
    ("a flat list of other length", semantics(element_names=list("abcd")), ValueError, ("'obs'", "3", "4")),
    ("too many axes", semantics(element_names=[None, None, None]), ValueError, ("'obs'", "3 axes", "2")),
    ("temporal axis outside", semantics(ref=torch.ones(()), element_names=[TemporalAxis(5)]), ValueError, ("'obs'",)),
    *[
        (f"extra {key}", semantics(extra={key: 1}), ValueError, ("'obs'", "'new'", key))
        for key in ("name", "dtype", "shape", "type", "kind", "element_names", "temporal_period_ms")
    ],
    ("extra key", semantics(extra={3: 1}), TypeError, ("'obs'", "3")),
    ("extra value", semantics(extra={"a": object()}), TypeError, ("'obs'", "'a'", "object")),
    ("extra number", semantics(extra={"a": 2**70}), ValueError, ("'obs'", "'a'", "64")),
    ("mirror of another shape", lambda: annotate.mirror_leapp_tags(live(), torch.ones(7)), ValueError, ("7",)),
    ("mirror of another dtype", lambda: annotate.mirror_leapp_tags(live(), (X * 2).double()), ValueError, ("float64",)),
    ("mirror of other bits", lambda: annotate.mirror_leapp_tags(live(), X * 3), ValueError, ("mirror",)),
    ("state of a node not open", lambda: annotate.state_tensors("new", {"h": X}), RuntimeError, ("'new'",)),
    ("update of a node not open", lambda: annotate.update_state("new", {"h": X}), RuntimeError, ("'new'",)),
    ("update of an unknown state", lambda: annotate.update_state("open", {"h": live()}), ValueError, ("'h'", "'open'")),
    ("update of another shape", update(h=lambda: live()[0]), ValueError, ("'h'", "2, 3", "3")),
    ("update of another dtype", update(h=lambda: live().double()), ValueError, ("'h'", "float32", "float64")),
    ("updated twice", updated_twice, ValueError, ("'h'", "'open'")),
    ("unknown buffer", lambda: annotate.module("open", Buffers(), ["k"]), ValueError, ("'k'", "'h'")),
    ("module of a node not open", lambda: annotate.module("new", Buffers()), RuntimeError, ("'new'",)),
    ("module that ran", module_that_ran, RuntimeError, ("open",)),
]

# fmt: on


def check(row: Row) -> None:
    _, call, kind, words = row
    with pytest.raises(kind) as raised:
        call()
    assert isinstance(raised.value, leapp.LeappError)
    for word in words:
        assert word in str(raised.value), f"{word!r} is not in {str(raised.value)!r}"


def ids(row: Row) -> str:
    return row[0]


@pytest.mark.parametrize("row", START + PAYLOADS + ACTIVE, ids=ids)
def test_error(row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    leapp.start("g", save_path=tmp_path)
    opened[:] = [annotate.input_tensors("open", {"x": X})]
    check(row)
    assert leapp._capture.is_active()
    if leapp._capture.is_open("second"):
        annotate.output_tensors("second", {"y": annotate.input_tensors("second", {"z": X}) * 2})
    annotate.output_tensors("open", {"y": live()}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph()["open"]
    assert "open" in read_yaml(tmp_path / "g")["models"]
    module = torch.jit.load(str(tmp_path / "g/open.pt"))
    arguments = [torch.full((2, 3), 3.0)] * len(read_yaml(tmp_path / "g")["models"]["open"]["inputs"])
    found = module(*arguments)
    assert_same([torch.full((2, 3), 6.0)], [found if isinstance(found, torch.Tensor) else found[0]])


@pytest.mark.parametrize("row", PAYLOADS, ids=ids)
def test_error_also_when_not_started(row: Row) -> None:
    check(row)


def test_errors_name_the_line(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    with pytest.raises(leapp.LeappTypeError, match=r"test_api_errors\.py:\d+"):
        annotate.input_tensors("n", X)
    with pytest.raises(leapp.LeappValueError, match=r"test_api_errors\.py:\d+"):
        annotate.input_tensors("", {"x": X})


def test_a_refused_start_leaves_the_session_as_it_was(tmp_path: Path) -> None:
    """With its patches: that a value leaves the graph is still noticed."""
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("n", {"x": X})
    for wrong in ({"name": ""}, {"name": "h", "patching": [3]}, {"name": "h", "max_cached_io": -1}):
        with pytest.raises(leapp.LeappError):
            leapp.start(save_path=tmp_path, **wrong)  # type: ignore[arg-type]
    x.tolist()
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    leapp.stop()
    assert "tolist" in read_log(tmp_path / "g")
    assert leapp.compile_graph()["n"]


def test_stop_when_not_started() -> None:
    with pytest.raises(leapp.LeappRuntimeError, match="start"):
        leapp.stop()
