# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What programs of the leapp package rely on, name by name (tests/parity/surface.py has the names)."""

from __future__ import annotations

import copy
import importlib
import json
import logging
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import pytest
import torch
import yaml
from leapp import Axis, AxisKind, ExpressionFrame, InferenceManager, Kind, TemporalAxis, TensorSemantics, annotate
from surface_nodes import X, session, two_nodes


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_nodes(tmp_path_factory.mktemp("two"))


# ------------------------------------------------------------------ the package


def test_versions() -> None:
    assert leapp.__version__ == Path(__file__).parents[3].joinpath("VERSION").read_text().strip()
    assert leapp.__config_version__ == "1.4"


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("leapp.inference_manager", ["InferenceManager", "NodeManager"]),
        ("leapp.export_manager", ["ExportManager"]),
        ("leapp.utils.enums", ["InputKindEnum", "OutputKindEnum", "Kind", "AxisKind"]),
        ("leapp.utils.tensor_description", ["TensorSemantics", "TemporalAxis", "GraphConfigs", "Axis"]),
        ("leapp.utils.dtype", ["map_to_torch_dtype", "dtype_to_name", "value_to_name_and_shape"]),
        ("leapp.utils.utils", ["get_system_info"]),
        ("leapp.utils.logging", ["_get_logger", "SECTION"]),
        ("leapp.leapp", ["start", "stop", "compile_graph", "annotate"]),
        ("leapp.annotate", ["input_tensors", "method", "output_tensors", "_method"]),
        ("leapp.robot", ["ChunkPlayer", "GuardEvent", "Loop", "Tick"]),
        ("leapp.runtime", ["EngineReport", "InferenceManager", "Node"]),
    ],
)
def test_import_paths(module: str, names: list[str]) -> None:
    found = importlib.import_module(module)
    for name in names:
        value = getattr(found, name)
        assert getattr(leapp, name, value) is value


def test_annotate_is_one_module_by_both_names() -> None:
    import leapp.annotate
    import leapp.capture.annotate

    assert leapp.annotate is leapp.capture.annotate is sys.modules["leapp.annotate"]


def test_paths_that_need_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = None; import leapp, leapp.inference_manager, leapp.utils.enums; "
    code += "import leapp.annotate, leapp.export_manager, leapp.leapp, leapp.robot, leapp.runtime; "
    code += "print(leapp.__version__, leapp.Kind.KP.value, leapp.joint_position('q', None).kind.value)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [leapp.__version__, "kp", "joint/position"]


def test_helpers_for_dtypes() -> None:
    from leapp.utils.dtype import dtype_to_name, map_to_torch_dtype, value_to_name_and_shape
    from leapp.utils.tensor_description import TEMPORAL_AXIS_SENTINEL, TRACABLE_BASE_TYPES

    assert [map_to_torch_dtype(name) for name in ("float32", "bool", "int8")] == [torch.float32, torch.bool, torch.int8]
    assert [dtype_to_name(torch.bfloat16), dtype_to_name(np.dtype("int8"))] == ["bfloat16", "int8"]
    assert value_to_name_and_shape(X) == ("float32", (1, 2))
    with pytest.raises(ValueError, match="float33"):
        map_to_torch_dtype("float33")
    assert ("__temporal_axis__", (torch.Tensor, np.ndarray)) == (TEMPORAL_AXIS_SENTINEL, TRACABLE_BASE_TYPES)


def test_the_logger_by_its_other_name(caplog: pytest.LogCaptureFixture) -> None:
    from leapp.utils.logging import FATAL, SECTION, SYSTEM, _get_logger

    log = _get_logger()
    with caplog.at_level(logging.DEBUG, "leapp"):
        log.info("a")
        log.section("b")
        log.system("c")
        with pytest.raises(KeyError, match="d"):
            log.fatal("d", KeyError)
    assert [record.levelno for record in caplog.records] == [logging.INFO, SECTION, SYSTEM, FATAL]


def test_system_info_is_what_bundles_say(tmp_path: Path) -> None:
    from leapp.utils.utils import get_system_info

    found = get_system_info()["system information"]
    written = session(tmp_path)["system information"]
    for key in ("leapp version", "torch version", "python version", "os"):
        assert found[key] == written[key]


# ------------------------------------------------------------------ start, stop, compile_graph


@pytest.mark.parametrize("where", ["name", "save_path"])
def test_start_in_the_home_folder(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    leapp.start(**({"name": "~/g"} if where == "name" else {"name": "g", "save_path": "~"}))
    leapp.stop()
    assert (tmp_path / "g" / "log.txt").exists()


def test_results_are_booleans_with_details(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    for node in ("good", "none"):
        x = annotate.input_tensors(node, {"x": X.clone()})
        annotate.output_tensors(node, {"y": x * 2}, export_with="jit" if node == "good" else None)
    leapp.stop()
    results = leapp.compile_graph(visualize=False)
    assert isinstance(results, dict)
    assert results["good"] is True
    assert results["none"] is True
    assert results == {"good": True, "none": True}
    assert json.loads(json.dumps(results)) == results
    assert [each.status for each in results.nodes.values()] == ["passed", "skipped"]
    assert (results.nodes["good"].samples, results.nodes["good"].outputs) == (1, 1)
    assert Path(results.folder) == tmp_path / "g"
    for copied in (copy.copy(results), copy.deepcopy(results), pickle.loads(pickle.dumps(results)), results.copy()):
        assert copied == results


def test_results_of_failed_nodes_are_false(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("n", {"x": X})
    annotate.output_tensors("n", {"y": x / 0 - x / 0}, export_with="jit")
    leapp.stop()
    results = leapp.compile_graph(visualize=False, strict=False)
    assert results["n"] is False
    assert results.nodes["n"].findings


def test_export_manager(tmp_path: Path) -> None:
    manager = leapp.ExportManager()
    assert manager is leapp.ExportManager()
    leapp.start("sub/g", save_path=tmp_path, non_traced=["raw"])
    assert manager.is_interpret_graph_enabled()
    assert (manager.get_graph_name(), manager.get_save_path()) == ("g", str(tmp_path / "sub" / "g"))
    assert manager.config_path == str(tmp_path / "sub" / "g" / "g.yaml")
    assert (manager.is_dry_run(), manager.is_dry_run("raw")) == (False, True)
    x = manager.input_tensors("n", {"x": X})
    manager.output_tensors("n", {"y": x * 2}, export_with="jit")
    leapp.stop()
    assert not manager.is_interpret_graph_enabled()
    assert leapp.compile_graph(visualize=False) == {"n": True}
    assert Path(manager.config_path).exists()
    assert manager.validate_all_models(rtol=0.1) == {"n": True}


def test_the_older_decorator(tmp_path: Path) -> None:
    @annotate._method(node_name="doubled", export_with="jit")
    def double(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        return y

    leapp.start("g", save_path=tmp_path)
    double(X)
    leapp.stop()
    assert leapp.compile_graph(visualize=False) == {"doubled": True}


@pytest.mark.parametrize("form", [lambda t: t, lambda t: [t], lambda t: {"kept": t}], ids=["tensor", "list", "dict"])
def test_register_buffer_takes(form: Callable[[Any], Any], tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    kept = torch.zeros(1, 2)
    for i in range(3):
        x = annotate.input_tensors("n", {"x": X + i})
        buffer = annotate.register_buffer("n", form(kept))
        buffer += x
        kept = buffer
        annotate.output_tensors("n", {"y": buffer * 2}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph(visualize=False) == {"n": True}
    manager = InferenceManager(tmp_path / "g" / "g.yaml")
    name = "kept" if isinstance(form(0), dict) else "buffer_0"
    assert manager.feedback_inputs == [f"n/{name}"]
    assert torch.equal(manager({"n/x": X})["n/y"], X * 2)
    assert torch.equal(manager({"n/x": X})["n/y"], X * 4)


@pytest.mark.parametrize("name", ["exported-program", "pt2"])
def test_exported_programs(name: str, tmp_path: Path) -> None:
    parameters = session(tmp_path, export_with=name)["models"]["n"]["parameters"]
    assert (parameters["backend"], parameters["model_path"]) == ("pt2", "n.pt2")
    assert torch.equal(InferenceManager(tmp_path / "g" / "g.yaml")({"n/x": X})["n/y"], X * 2)


PARAMS = {"optimize": True, "verify": False, "report": False, "skip_validation": True, "prescript": True}
PARAMS |= {"check_trace": False, "strict": False, "device": "cpu", "dynamic_shapes": None}


@pytest.mark.parametrize("backend", ["jit", "jit-trace", "onnx", "onnx-dynamo", None])
def test_backend_params_of_the_other_package(backend: str | None, tmp_path: Path) -> None:
    session(tmp_path, export_with=backend, backend_params=dict(PARAMS))
    log = (tmp_path / "g" / "log.txt").read_text()
    honoured = {"optimize", "verify", "report"} if backend == "onnx-dynamo" else set()
    for key in PARAMS:
        lines = [line for line in log.splitlines() if f"backend_params['{key}'] changes nothing" in line]
        assert len(lines) == (key not in honoured), key
        assert not any("warning" in line.lower() for line in lines)
    with pytest.raises(ValueError, match="'optimise'"):
        session(tmp_path, export_with="jit", backend_params={"optimise": True})


# ------------------------------------------------------------------ what tensors mean


def test_semantics_defaults_and_update() -> None:
    assert TensorSemantics(ref=X).name is None
    q = TensorSemantics("q", X, kind=leapp.InputKindEnum.JOINT_POSITION, element_names=["a", "b"], extra={"u": 1})
    q.update({"kind": "k", "foo": 3, "element_names": "z"})
    assert q.to_dict() == {"kind": "k", "element_names": [["z"]], "u": 1, "foo": 3}
    q.update({"extra": {"q": 2}})
    assert q.to_dict() == {"kind": "k", "element_names": [["z"]], "q": 2}


def test_semantics_of_a_temporal_axis() -> None:
    q = TensorSemantics("q", X, element_names=[TemporalAxis(20), ["a", "b"]])
    assert q.element_names == ["__temporal_axis__", ["a", "b"]]
    assert q.temporal_period_ms == 20
    q.update({"temporal_period_ms": 5.0})
    assert q.to_dict() == {"element_names": ["__temporal_axis__", ["a", "b"]], "temporal_period_ms": 5.0}
    assert TensorSemantics("q", X, element_names=[TemporalAxis(2)]).element_names == ["__temporal_axis__"]
    q.element_names = ["a", "b"]
    assert q.to_dict() == {"element_names": [["a", "b"]]}


def test_graph_configs_as_a_dict(two: Path) -> None:
    assert leapp.GraphConfigs().to_dict() == {}
    assert leapp.GraphConfigs(50, {"a": 1}).to_dict() == {"frequency": 50, "a": 1}
    assert InferenceManager(two).pipeline["configs"] == {"frequency": 50.0, "robot": "go2"}


def test_the_controller_of_the_documentation(tmp_path: Path) -> None:
    joints = [Axis(AxisKind.ROBOT, names=["robot0"]), Axis(AxisKind.ELEMENT, names=["shoulder", "elbow"])]
    leapp.start("g", save_path=tmp_path)
    q, dq, target = annotate.input_tensors(
        "controller",
        [
            leapp.joint_position("q", X.clone(), axes=joints),
            leapp.joint_velocity("dq", torch.zeros(1, 2), axes=joints),
            leapp.joint_position("q_target", X + 1, axes=joints, is_setpoint=True),
        ],
    )
    effort = 20.0 * (target - q) - 2.0 * dq
    annotate.output_tensors("controller", leapp.joint_effort("effort", effort, axes=joints), export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    written = yaml.safe_load((tmp_path / "g" / "g.yaml").read_text())
    axes = [{"kind": "robot", "names": ["robot0"]}, {"kind": "element", "names": ["shoulder", "elbow"]}]
    ports = written["models"]["controller"]["inputs"] + written["models"]["controller"]["outputs"]
    assert [port["kind"] for port in ports] == ["joint/position", "joint/velocity", "joint/position", "joint/effort"]
    assert [port.get("is_setpoint") for port in ports] == [None, None, True, None]
    assert all(port["axes"] == axes for port in ports)
    assert written["system information"]["leapp config version"] == "1.4"
    manager = InferenceManager(tmp_path / "g" / "g.yaml")
    assert manager.nodes["controller"].input_descriptions == written["models"]["controller"]["inputs"]


V = torch.zeros(1, 6)
SEMANTICS = [
    (leapp.frame_twist("v", V, reference="base"), {"reference": "base", "expressed_in": {"selector": "self"}}),
    (leapp.frame_twist("v", V, reference="base", expressed_in="self"), {"expressed_in": {"frame": "self"}}),
    (
        leapp.frame_linear_velocity("v", V, reference="base", expressed_in=ExpressionFrame.REFERENCE),
        {"expressed_in": {"selector": "reference"}},
    ),
    (leapp.frame_wrench("w", V), {"kind": "frame/wrench", "expressed_in": {"selector": "self"}}),
    (leapp.frame_pose("p", V, reference="world"), {"kind": "frame/pose", "reference": "world"}),
    (TensorSemantics("v", V, kind="frame/twist"), {"expressed_in": {"selector": "self"}}),
    (leapp.image("i", V, axes=[None, Axis("token")]), {"kind": "image", "axes": [None, {"kind": "token"}]}),
    (leapp.kp("k", V, axes=[Axis("time", period_ms=100), None]), {"axes": [{"kind": "time", "period_ms": 100}, None]}),
    (leapp.vector3d("g", V, axes=[Axis(names=["a"]), None]), {"axes": [{"names": ["a"]}, None]}),
]


@pytest.mark.parametrize(("semantics", "expected"), SEMANTICS, ids=range(len(SEMANTICS)))
def test_newer_semantics(semantics: TensorSemantics, expected: dict[str, Any]) -> None:
    assert expected.items() <= semantics.to_dict().items()


@pytest.mark.parametrize("kind", list(Kind), ids=lambda kind: kind.name)
def test_every_kind_has_a_function(kind: Kind) -> None:
    function = getattr(leapp, kind.name.lower())
    needs_frame = kind.name.startswith("FRAME_") and kind is not Kind.FRAME_WRENCH
    made = function("x", X, **({"reference": "world"} if needs_frame else {}), is_setpoint=True)
    assert isinstance(made, TensorSemantics)
    assert made.to_dict()["kind"] == kind.value
    assert made.to_dict()["is_setpoint"] is True
    assert function.__name__ == kind.name.lower()


BAD = [
    (lambda: Axis("time"), ValueError, "requires period_ms"),
    (lambda: Axis("token", period_ms=100), ValueError, "only valid for a time axis"),
    (lambda: Axis(AxisKind.TIME, period_ms=0), ValueError, "> 0"),
    (lambda: Axis(AxisKind.TIME, period_ms=True), ValueError, "number"),
    (lambda: Axis(names="ab"), TypeError, "list of strings"),
    (lambda: Axis(3), TypeError, "AxisKind"),  # type: ignore[arg-type]
    (lambda: leapp.kp("k", X, axes=[None]), ValueError, "expected 2, found 1"),
    (lambda: leapp.kp("k", X, axes=[None, Axis(names=["a"])]), ValueError, "axis 1 has 2 places and 1 names"),
    (lambda: leapp.kp("k", X, axes=[Axis("time", period_ms=1)] * 2), ValueError, "more than one time axis"),
    (lambda: leapp.kp("k", X, axes=["a", None]), TypeError, "must be an Axis or None"),
    (lambda: TensorSemantics("k", X, element_names=["a"], axes=[None, None]), ValueError, "give one of the two"),
    (lambda: TensorSemantics("k", X, axes=[None, None], extra={"axes": 1}).to_dict(), ValueError, "'axes'"),
    (lambda: leapp.frame_pose("p", X), TypeError, "reference"),
    (lambda: leapp.frame_pose("p", X, reference=None), TypeError, "name of a frame"),
    (lambda: TensorSemantics("p", X, expressed_in=ExpressionFrame.REFERENCE), ValueError, "no reference"),
    (
        lambda: leapp.frame_twist("v", V, reference="b", axes=[None, Axis("component", names=list("abcdef"))]),
        ValueError,
        "vx, vy, vz, wx, wy, wz",
    ),
]


@pytest.mark.parametrize(("make", "error", "words"), BAD, ids=range(len(BAD)))
def test_bad_semantics(make: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("static", [False, True])
def test_setpoints_are_inputs(static: bool, tmp_path: Path) -> None:
    gains = torch.ones(2)
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("n", {"x": X})
    target = leapp.joint_position("target", gains if static else x + 1, is_setpoint=True)
    tensors, constants = ({"y": x + 1}, target) if static else (target, None)
    with pytest.raises(ValueError, match="only to inputs"):
        annotate.output_tensors("n", tensors, static_outputs=constants)
