# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What programs of the leapp package rely on when they run a bundle."""

from __future__ import annotations

import logging
from pathlib import Path

import leapp
import pytest
import torch
import yaml
from leapp import InferenceManager, annotate
from surface_nodes import X, session, two_nodes


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_nodes(tmp_path_factory.mktemp("two"))


# ------------------------------------------------------------------ running a bundle


def test_what_a_manager_says_of_its_bundle(two: Path) -> None:
    manager = InferenceManager(two)
    written = yaml.safe_load(two.read_text())
    assert manager.model_path == str(two)
    assert manager.leapp_description == written
    assert (manager.models, manager.pipeline) == (written["models"], written["pipeline"])
    assert manager.system_info == written["system information"]


@pytest.mark.host_only("about the module that torch.jit.load gives")
def test_what_a_node_says_of_itself(two: Path) -> None:
    node = InferenceManager(str(two)).nodes["pol"]
    assert (node.name, node.backend, node.device) == ("pol", "jit", "cpu")
    assert node.model_path == str(two.parent / "pol.pt")
    assert (node.input_names, node.output_names) == (["o", "m", "h"], ["act", "mem", "h"])
    assert node.input_shapes == node.output_shapes == [[1, 2]] * 3
    assert node.input_dtypes == node.output_dtypes == ["float32"] * 3
    for values, names in ((node.mock_input, node.input_names), (node.mock_output, node.output_names)):
        assert list(values) == names
        assert all(torch.equal(value, torch.zeros(1, 2)) for value in values.values())
    assert isinstance(node.model, torch.jit.ScriptModule)


@pytest.mark.parametrize("backend", ["jit", "onnx", "pt2"])
def test_a_node_can_be_called(backend: str, tmp_path: Path) -> None:
    session(tmp_path, export_with=backend)
    node = InferenceManager(tmp_path / "g" / "g.yaml").nodes["n"]
    assert torch.equal(node(X), X * 2)
    given = node.model.run(None, {"x": X.cpu().numpy()})[0] if backend == "onnx" else node.model(X)
    assert torch.equal(torch.as_tensor(given), X * 2)
    with pytest.raises(TypeError, match="expected 1 inputs, found 2"):
        node(X, X)


def test_calling_a_node_leaves_the_pipeline_alone(two: Path) -> None:
    manager = InferenceManager(two)
    before = manager.value_dict["pol"]["h"]
    outputs = manager.nodes["pol"](X, X, X)
    assert [torch.equal(output, value) for output, value in zip(outputs, (3 * X, 1.5 * X, 2 * X), strict=True)] == [
        True
    ] * 3
    assert torch.equal(manager.value_dict["pol"]["h"], before)


def test_values_can_be_read_and_set(two: Path) -> None:
    manager = InferenceManager(two)
    values = manager.value_dict
    assert list(values) == ["pre", "pol", "==out=="]
    assert torch.equal(values["pol"]["h"], torch.ones(1, 2))
    action = manager({"pre/a": X, "pre/b": X})["pol/act"]
    assert torch.equal(values["pre"]["a"], X)
    assert torch.equal(values["pol"]["o"], 3 * X)
    assert torch.equal(values["pol"]["h"], 1 + 3 * X)
    assert torch.equal(values["pol"]["m"], action * 0.5)
    assert torch.equal(values["==out=="]["pol/act"], action)
    assert list(dict(values["pol"])) == ["o", "m", "h"]
    values["pol"]["h"] = torch.zeros(1, 2)
    values["pol"]["m"] = torch.zeros(1, 2)
    assert torch.equal(manager({"pre/a": X, "pre/b": X})["pol/act"], 3 * X)
    for use in (
        lambda: values["plant"],
        lambda: values["pol"]["z"],
        lambda: values["pol"].__setitem__("o", X),
        lambda: values["==out=="].__setitem__("pol/act", X),
        lambda: values["pol"].__delitem__("h"),
    ):
        with pytest.raises(KeyError):
            use()


def test_values_inside_of_a_fused_model(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("a", {"x": X})
    y = annotate.output_tensors("a", {"y": x * 2}, export_with="onnx")
    y = annotate.input_tensors("b", {"y": y})
    annotate.output_tensors("b", {"z": y + 1}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    fused = InferenceManager(tmp_path / "g" / "g.yaml")
    fused({"a/x": X})
    with pytest.raises(KeyError, match="fuse=False"):
        fused.value_dict["b"]["y"]
    assert list(fused.value_dict["b"]) == []
    apart = InferenceManager(tmp_path / "g" / "g.yaml", fuse=False)
    apart({"a/x": X})
    assert torch.equal(apart.value_dict["b"]["y"], X * 2)


def test_an_input_that_is_left_out_keeps_its_value(two: Path, caplog: pytest.LogCaptureFixture) -> None:
    manager = InferenceManager(two)
    zero = torch.zeros(1, 2)
    first = manager({"pre/a": X})
    (record,) = caplog.records
    assert "pre/b is not given" in record.getMessage()
    assert record.pathname == __file__
    other = InferenceManager(two, missing="error")
    assert torch.equal(first["pol/act"], other({"pre/a": X, "pre/b": zero})["pol/act"])
    manager({"pre/a": X})  # once for each port
    manager({"pre/a": X, "pre/b": X})
    manager({"pre/a": X})
    assert len(caplog.records) == 1
    assert torch.equal(manager.value_dict["pre"]["b"], X)
    manager({})
    assert "pre/a is not given" in caplog.records[-1].getMessage()


def test_an_input_that_is_left_out_can_be_refused(two: Path) -> None:
    manager = InferenceManager(two, missing="error")
    with pytest.raises(KeyError, match="missing: pre/b"):
        manager({"pre/a": X})
    assert torch.equal(manager.value_dict["pre"]["a"], torch.zeros(1, 2)), "nothing was taken"
    with pytest.raises(ValueError, match="missing"):
        InferenceManager(two, missing="zeros")  # type: ignore[arg-type]


def test_feedback_inputs_may_be_given_to_a_step(two: Path) -> None:
    manager, other = InferenceManager(two), InferenceManager(two)
    given = {"pre/a": X, "pre/b": X}
    manager(given)
    found = manager({**given, "pol/h": X * 7, "pol/m": X})
    other(given)
    other.set_input_value("pol", "h", X * 7)
    other.set_input_value("pol", "m", X)
    assert torch.equal(found["pol/act"], other(given)["pol/act"])
    assert torch.equal(found["pol/act"], 3 * X + X + 7 * X)
    with pytest.raises(ValueError, match="pol/h"):
        manager({**given, "pol/h": torch.zeros(3)})
    with pytest.raises(KeyError, match="pol/o"):
        manager({**given, "pol/o": X})


def test_a_failing_step_gives_feedback_inputs_back(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    for _ in range(2):
        i = annotate.input_tensors("n", {"i": torch.tensor([1])})
        h = annotate.state_tensors("n", {"h": torch.arange(3.0)})
        y = h[i]
        annotate.update_state("n", {"h": h + y})
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    manager = InferenceManager(tmp_path / "g" / "g.yaml")
    with pytest.raises(RuntimeError):
        manager({"n/i": torch.tensor([7]), "n/h": torch.full((3,), 9.0)})
    assert torch.equal(manager.value_dict["n"]["h"], torch.arange(3.0))


def test_a_missing_file(two: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "nope.yaml", tmp_path / "nope" / "nope.yaml"):
        with pytest.raises(FileNotFoundError, match=r"nope\.yaml") as caught:
            InferenceManager(path)
        assert isinstance(caught.value, leapp.LeappError)
        assert isinstance(caught.value, leapp.LeappOSError)
    alone = tmp_path / "two.yaml"
    alone.write_text(two.read_text())
    with pytest.raises(FileNotFoundError, match="initial_values"):
        InferenceManager(alone)
    alone.with_name("two_initial_values.safetensors").write_bytes(
        two.with_name("two_initial_values.safetensors").read_bytes()
    )
    with pytest.raises(FileNotFoundError, match=r"pre\.pt"):
        InferenceManager(alone)


def test_a_bundle_without_initial_values(two: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("pre.pt", "pol.pt"):
        (tmp_path / name).write_bytes(two.with_name(name).read_bytes())
    text = "".join(line for line in two.read_text().splitlines(True) if "initial_values" not in line)
    (tmp_path / "two.yaml").write_text(text)
    with caplog.at_level(logging.INFO, "leapp"):
        manager = InferenceManager(tmp_path / "two.yaml")
    [record] = caplog.records
    assert record.levelno == logging.INFO
    assert "pol/h" in record.message
    assert "zeros" in record.message
    assert torch.equal(manager({"pre/a": X, "pre/b": X})["pol/act"], 3 * X)


@pytest.mark.parametrize("suffix", ["pt", "onnx", "pt2"])
def test_a_model_that_stays_where_it_was(suffix: str, tmp_path: Path) -> None:
    backend = {"pt": "jit", "onnx": "onnx", "pt2": "pt2"}[suffix]
    session(tmp_path, export_with=backend)
    mine = tmp_path / f"mine.{suffix}"
    (tmp_path / "g" / f"n.{suffix}").rename(mine)
    params = {"model_path": str(mine), "copy_original_model": False}
    written = session(tmp_path, export_with=None, backend_params=params)
    assert written["models"]["n"]["parameters"]["model_path"] == f"../mine.{suffix}"
    assert torch.equal(InferenceManager(tmp_path / "g" / "g.yaml")({"n/x": X})["n/y"], X * 2)
    mine.write_bytes(mine.read_bytes() + b" ")
    with pytest.raises(ValueError, match="sha256sum"):
        InferenceManager(tmp_path / "g" / "g.yaml")
