# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Models of the user's, nodes without a model, dry runs."""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from harness import assert_same, read_log, read_yaml, warnings_in
from leapp import annotate

NULLS = {"backend": None, "model_path": None, "md5sum": None, "sha256sum": None}


class Doubler(torch.nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor, unused: torch.Tensor) -> torch.Tensor:
        return x * self.factor


def write_model(path: Path, factor: float = 2.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.jit.save(torch.jit.script(Doubler(factor)), str(path))
    return path


def run_node(node: str, params: dict[str, Any] | None = None, factor: float = 2.0, **options: Any) -> torch.Tensor:
    x, _ = annotate.input_tensors(node, {"x": torch.ones(3), "unused": torch.ones(1)})
    return annotate.output_tensors(node, {"y": x * factor}, backend_params=params, **options)


def parameters(folder: Path, node: str) -> dict[str, Any]:
    return read_yaml(folder)["models"][node]["parameters"]


def session(tmp_path: Path, *nodes: tuple[str, dict[str, Any]], **options: Any) -> tuple[Path, Any]:
    leapp.start("g", save_path=tmp_path)
    for node, arguments in nodes:
        run_node(node, **arguments)
    leapp.stop()
    return tmp_path / "g", leapp.compile_graph(**options)


def test_a_model_is_copied_checksummed_and_checked(tmp_path: Path) -> None:
    model = write_model(tmp_path / "mine" / "net.pt")
    folder, results = session(tmp_path, ("n", {"params": {"model_path": str(model)}}))
    assert (folder / "net.pt").read_bytes() == model.read_bytes()
    data = model.read_bytes()
    assert parameters(folder, "n") == {
        "backend": "jit",
        "model_path": "net.pt",
        "md5sum": hashlib.md5(data).hexdigest(),
        "sha256sum": hashlib.sha256(data).hexdigest(),
    }
    assert (results.nodes["n"].status, results.nodes["n"].samples) == ("passed", 1)
    inputs = [port["name"] for port in read_yaml(folder)["models"]["n"]["inputs"]]
    assert inputs == ["x", "unused"]  # the model takes both, whatever the program used


class Named(torch.nn.Module):
    def forward(self, b: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
        return b - 2 * a


class Unnamed(torch.nn.Module):
    def forward(self, some: torch.Tensor, thing: torch.Tensor) -> torch.Tensor:
        return thing - 2 * some


def write_any(model: torch.nn.Module, path: Path) -> Path:
    inputs = (torch.ones(3), torch.ones(3))
    if path.suffix == ".pt":
        torch.jit.save(torch.jit.script(model), str(path))
    elif path.suffix == ".pt2":
        torch.export.save(torch.export.export(model, inputs), str(path))
    else:
        written = onnx_of(model)
        path.write_bytes(written)
    return path


def onnx_of(model: torch.nn.Module) -> bytes:
    """y = second - 2 * first, with the model's own names for them."""
    import onnx
    from onnx import TensorProto, helper

    names = list(inspect.signature(model.forward).parameters)[:2]
    first, second = ("a", "b") if names == ["b", "a"] else names
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in names]
    nodes = [
        helper.make_node("Mul", [first, "two"], ["double"]),
        helper.make_node("Sub", [second, "double"], ["y"]),
    ]
    two = helper.make_tensor("two", TensorProto.FLOAT, [], [2.0])
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])
    graph = helper.make_graph(nodes, "g", ports, [output], [two])
    opset = [helper.make_opsetid("", 18)]
    written: bytes = onnx.helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()
    return written


@pytest.mark.parametrize(
    ("model", "suffix", "expected"),
    [
        (Named(), "pt", ["b", "a"]),
        (Named(), "onnx", ["b", "a"]),
        (Named(), "pt2", ["b", "a"]),
        (Unnamed(), "pt", ["a", "b"]),
        (Unnamed(), "pt2", ["a", "b"]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, torch.nn.Module) else str(value),
)
def test_a_model_gets_the_inputs_it_has(model: Any, suffix: str, expected: list[str], tmp_path: Path) -> None:
    """By its own names; else those that reach an output, if they are as many."""
    path = write_any(model, tmp_path / f"net.{suffix}")
    leapp.start("g", save_path=tmp_path)
    for k in range(2):
        values = {name: torch.full((3,), float(k + i)) for i, name in enumerate(("unused", "a", "b"))}
        _, a, b = annotate.input_tensors("n", values)
        annotate.output_tensors("n", {"y": b - 2 * a}, backend_params={"model_path": str(path)})
    leapp.stop()
    results = leapp.compile_graph()
    assert (results.nodes["n"].status, results.nodes["n"].samples) == ("passed", 2)
    data = read_yaml(tmp_path / "g")
    assert [port["name"] for port in data["models"]["n"]["inputs"]] == expected
    assert data["pipeline"]["inputs"] == {"n": expected}
    assert "input 'unused' is not an input of the model and is dropped" in read_log(tmp_path / "g")


def test_a_model_that_takes_neither_the_names_nor_the_number(tmp_path: Path) -> None:
    path = write_any(Unnamed(), tmp_path / "net.pt")
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("n", {"x": torch.ones(3)})
    annotate.output_tensors("n", {"y": x * 2}, backend_params={"model_path": str(path)})
    leapp.stop()
    assert leapp.compile_graph(strict=False).nodes["n"].status == "errored"
    (warning,) = warnings_in(read_log(tmp_path / "g"))
    assert "takes 'some', 'thing', and the node announces 'x'" in warning


def test_a_model_that_computes_something_else(tmp_path: Path) -> None:
    model = write_model(tmp_path / "net.pt", factor=3.0)
    with pytest.raises(leapp.ValidationError, match="n failed"):
        session(tmp_path, ("n", {"params": {"model_path": str(model)}}))
    assert (tmp_path / "g" / "net.pt").is_file()


def test_a_model_that_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "net.pt").write_bytes(b"not a model")
    _, results = session(tmp_path, ("n", {"params": {"model_path": str(tmp_path / "net.pt")}}), strict=False)
    assert results.nodes["n"].status == "errored"


def test_a_model_that_is_referenced(tmp_path: Path) -> None:
    model = write_model(tmp_path / "mine" / "net.pt")
    folder, results = session(tmp_path, ("n", {"params": {"model_path": str(model), "copy_original_model": False}}))
    assert parameters(folder, "n")["model_path"] == "../mine/net.pt"
    assert not (folder / "net.pt").exists()
    assert results.nodes["n"].status == "passed"


def test_a_referenced_model_inside_the_bundle_stays(tmp_path: Path) -> None:
    model = write_model(tmp_path / "g" / "net.pt")
    for _ in range(2):
        folder, results = session(tmp_path, ("n", {"params": {"model_path": str(model), "copy_original_model": False}}))
        assert parameters(folder, "n")["model_path"] == "net.pt"
        assert results.nodes["n"].status == "passed"
    assert model.is_file()


def test_models_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    """Nor one that we write; and two nodes that bring the same file share it."""
    first = write_model(tmp_path / "a" / "net.pt", 2.0)
    second = write_model(tmp_path / "b" / "net.pt", 3.0)
    third = write_model(tmp_path / "c" / "own.pt", 4.0)
    folder, _ = session(
        tmp_path,
        ("n1", {"params": {"model_path": str(first)}}),
        ("n2", {"params": {"model_path": str(second)}, "factor": 3.0}),
        ("n3", {"params": {"model_path": str(third)}, "factor": 4.0}),
        ("n4", {"params": {"model_path": str(first)}}),
        ("own", {"export_with": "jit", "factor": 5.0}),
    )
    paths = {node: parameters(folder, node)["model_path"] for node in ("n1", "n2", "n3", "n4", "own")}
    assert paths["own"] == "own.pt"
    assert paths["n1"] == paths["n4"] == "net.pt"
    assert len({paths[node] for node in ("n1", "n2", "n3", "own")}) == 4
    for node, original in (("n1", first), ("n2", second), ("n3", third)):
        assert (folder / paths[node]).read_bytes() == original.read_bytes()
    assert_same([torch.tensor([5.0])], [torch.jit.load(str(folder / "own.pt"))(torch.ones(1))])


def test_the_path_is_meant_from_where_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(tmp_path / "net.pt")
    (tmp_path / "elsewhere").mkdir()
    leapp.start("g", save_path=tmp_path)
    monkeypatch.chdir(tmp_path)
    run_node("n", {"model_path": "net.pt"})
    monkeypatch.chdir(tmp_path / "elsewhere")
    leapp.stop()
    assert leapp.compile_graph().nodes["n"].status == "passed"


def test_a_model_that_is_gone_at_compile(tmp_path: Path) -> None:
    model = write_model(tmp_path / "net.pt")
    leapp.start("g", save_path=tmp_path)
    run_node("n", {"model_path": str(model)})
    leapp.stop()
    model.unlink()
    with pytest.raises((leapp.LeappOSError, leapp.LeappValueError), match=r"net\.pt"):
        leapp.compile_graph()


@pytest.mark.parametrize("suffix", ["onnx", "pt2"])
def test_formats_are_known_by_their_suffix(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"net.{suffix}").write_bytes(b"bytes of mine")
    folder, _ = session(tmp_path, ("n", {"params": {"model_path": str(tmp_path / f"net.{suffix}")}}), validate=False)
    assert parameters(folder, "n")["backend"] == suffix
    assert read_yaml(folder)["system information"]["leapp config version"] == ("1.3" if suffix == "pt2" else "1.1")


def test_no_backend_is_a_placeholder(tmp_path: Path) -> None:
    """An input that reaches no output is dropped, as in a node with a model."""
    folder, results = session(tmp_path, ("n", {}))
    assert parameters(folder, "n") == NULLS
    assert [port["name"] for port in read_yaml(folder)["models"]["n"]["inputs"]] == ["x"]
    assert "input 'unused' reaches no output and is dropped" in read_log(folder)
    assert results.nodes["n"].status == "skipped"
    assert bool(results["n"])


def test_non_traced_nodes_keep_ports_and_edges(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path, non_traced=["plant", "misspelt"])
    x = annotate.input_tensors("plant", {"x": torch.ones(3), "unused": torch.ones(1)})[0]
    y = annotate.output_tensors("plant", {"y": x[x > 0]}, export_with="jit")  # its shape depends on data
    z = annotate.input_tensors("policy", {"obs": y})
    annotate.output_tensors("policy", {"action": z * 2}, export_with="jit")
    leapp.stop()
    results = leapp.compile_graph()
    assert {node: result.status for node, result in results.nodes.items()} == {"plant": "skipped", "policy": "passed"}
    data = read_yaml(tmp_path / "g")
    assert data["models"]["plant"]["parameters"] == NULLS
    assert [port["name"] for port in data["models"]["plant"]["inputs"]] == ["x"]
    assert data["pipeline"]["data_flow"] == {"plant/y": ["policy/obs"]}
    assert not (tmp_path / "g" / "plant.pt").exists()
    found = [line for line in warnings_in(read_log(tmp_path / "g")) if "non_traced" in line]
    assert len(found) == 1
    assert "'misspelt'" in found[0]


@pytest.mark.parametrize("where", ["start", "compile"])
def test_a_dry_run_writes_the_yaml_and_removes_nothing(where: str, tmp_path: Path) -> None:
    folder, _ = session(tmp_path, ("old", {"export_with": "jit"}))
    before = {path.name for path in folder.iterdir()}
    assert "old.pt" in before
    leapp.start("g", save_path=tmp_path, dry_run=where == "start")
    hidden = torch.zeros(3)
    for _ in range(2):
        x, h = annotate.input_tensors("new", {"x": torch.ones(3), "h": hidden})
        hidden = annotate.output_tensors("new", {"h_out": h + x}, export_with="jit")
    leapp.stop()
    results = leapp.compile_graph(dry_run=where == "compile")
    assert results.nodes["new"].status == "skipped"
    assert {path.name for path in folder.iterdir()} == before
    data = read_yaml(folder)
    assert list(data["models"]) == ["new"]
    assert data["models"]["new"]["parameters"] == NULLS
    assert data["pipeline"]["feedback_flow"] == {"new/h_out": ["new/h"]}


@pytest.mark.parametrize(
    ("start", "close"),
    [({"non_traced": ["plant"]}, {"export_with": "jit"}), ({"dry_run": True}, {"export_with": "jit"}), ({}, {})],
    ids=["non_traced", "dry run", "no backend"],
)
@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_outputs_that_left_torch(start: dict[str, Any], close: dict[str, Any], kind: str, tmp_path: Path) -> None:
    """Of a node without a model nobody asks how they were computed. All its inputs stay, as any may matter."""
    leapp.start("g", save_path=tmp_path, **start)
    for k in range(2):
        x, gain = annotate.input_tensors("plant", {"x": torch.full((3,), float(k)), "gain": torch.ones(1)})
        numbers = np.array([value * gain.tolist()[0] for value in x.tolist()], dtype=np.float32)
        y = annotate.output_tensors("plant", {"y": numbers if kind == "array" else torch.from_numpy(numbers)}, **close)
        obs = annotate.input_tensors("policy", {"obs": torch.as_tensor(y)})
        annotate.output_tensors("policy", {"action": obs * 2}, export_with="jit")
    leapp.stop()
    assert all(leapp.compile_graph().values())
    data = read_yaml(tmp_path / "g")
    assert [port["name"] for port in data["models"]["plant"]["inputs"]] == ["x", "gain"]
    assert data["pipeline"]["data_flow"] == {"plant/y": ["policy/obs"]}


def test_outputs_that_left_torch_and_a_model_of_the_users(tmp_path: Path) -> None:
    """What an engine outside torch computed is compared with what the model gives."""
    model = write_model(tmp_path / "net.pt")
    leapp.start("g", save_path=tmp_path)
    x, _ = annotate.input_tensors("n", {"x": torch.ones(3), "unused": torch.ones(1)})
    computed = np.array(x.tolist(), dtype=np.float32) * 2
    annotate.output_tensors("n", {"y": computed}, backend_params={"model_path": str(model)})
    leapp.stop()
    assert leapp.compile_graph().nodes["n"].status == "passed"


def test_compile_after_a_dry_compile(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    run_node("n", export_with="jit")
    leapp.stop()
    leapp.compile_graph(dry_run=True)
    assert not (tmp_path / "g" / "n.pt").exists()
    assert leapp.compile_graph().nodes["n"].status == "passed"
    assert (tmp_path / "g" / "n.pt").is_file()
