# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""That what the subcommands say is true."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import bundles
import numpy as np
import onnx
import pytest
import tool
import yaml
from onnx import TensorProto, helper

SUFFIXES = [".npz", ".safetensors", ".csv"]


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(20, 1, 4)).astype(np.float32)


def read_csv(path: Path) -> tuple[list[str], np.ndarray]:
    lines = path.read_text().splitlines()
    return lines[0].split(","), np.array([line.split(",") for line in lines[1:]], np.float32)


def write_csv(path: Path, values: np.ndarray) -> None:
    rows = [",".join(f"pre/x[{i}]" for i in range(4)), *(",".join(map(repr, row)) for row in values[:, 0].tolist())]
    path.write_text("\n".join(rows) + "\n")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("name", ["pre/x", "x", "inputs/pre/x"])
def test_run_computes_what_the_models_say(leapp: tool.Tool, walk: Path, values: np.ndarray, save, name: str) -> None:
    save(leapp.cwd / "in.npz", **{name: values})
    leapp("run", "walk", "--inputs", "in.npz", "--output", "out.npz")
    found = np.load(leapp.cwd / "out.npz")
    assert list(found) == ["post/y"]
    np.testing.assert_allclose(found["post/y"], bundles.expected_steps(values), rtol=1e-6)


def test_run_reads_what_numpy_writes(leapp: tool.Tool, walk: Path, values: np.ndarray) -> None:
    expected = None
    for array in (values, values[:, 0], np.asfortranarray(values), values.astype(">f4"), values[:5].repeat(1, axis=0)):
        np.savez(leapp.cwd / "in.npz", x=array)
        leapp("run", "walk", "--inputs", "in.npz", "--output", "out.npz", "--steps", 5)
        found = np.load(leapp.cwd / "out.npz")["post/y"]
        expected = found if expected is None else expected
        np.testing.assert_array_equal(found, expected)


def test_one_value_holds_for_all_steps(leapp: tool.Tool, walk: Path, values: np.ndarray) -> None:
    np.savez(leapp.cwd / "in.npz", x=values[0])
    leapp("run", "walk", "--inputs", "in.npz", "--output", "out.npz", "--steps", 6)
    expected = bundles.expected_steps(values[:1].repeat(6, axis=0))
    np.testing.assert_allclose(np.load(leapp.cwd / "out.npz")["post/y"], expected, rtol=1e-6)


@pytest.mark.parametrize("compress", [[], ["--compress"]])
def test_numpy_reads_what_run_writes(leapp: tool.Tool, walk: Path, values: np.ndarray, compress: list[str]) -> None:
    write_csv(leapp.cwd / "in.csv", values)
    leapp("run", "walk", "--inputs", "in.csv", "--trace", "t.npz", "--output", "out.csv", *compress)
    trace = np.load(leapp.cwd / "t.npz")
    np.testing.assert_array_equal(trace["inputs/pre/x"], values)
    np.testing.assert_array_equal(trace["inputs/policy/x"], trace["outputs/pre/y"])
    np.testing.assert_array_equal(trace["inputs/policy/h_in"][1:], trace["outputs/policy/h_out"][:-1])
    np.testing.assert_array_equal(trace["inputs/policy/h_in"][0], [[1, 2, 3, 4]])
    names, rows = read_csv(leapp.cwd / "out.csv")
    assert names == [f"post/y[{i}]" for i in range(4)]
    np.testing.assert_array_equal(rows, trace["outputs/post/y"][:, 0])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_trace_replays_on_the_other_way_to_run(leapp: tool.Tool, walk: Path, suffix: str) -> None:
    fused = leapp.json("run", "walk", "--steps", 30, "--seed", 7, "--trace", f"t{suffix}")
    assert fused["fused"]
    replayed = leapp.json("run", "walk", "--replay", f"t{suffix}", "--no-fuse")
    assert not replayed["fused"]
    assert replayed["replay"]["agrees"]
    assert replayed["steps"] == 30
    assert len(replayed["replay"]["ports"]) == 8
    assert leapp.json("run", "walk", "--replay", f"t{suffix}", "--optimisation", "off", "--no-fuse")["replay"]["agrees"]


def test_a_trace_that_began_with_zeros_replays(leapp: tool.Tool, walk: Path) -> None:
    leapp("run", "walk", "--zeros", "--trace", "t.npz")
    np.testing.assert_array_equal(np.load(leapp.cwd / "t.npz")["inputs/policy/h_in"][0], np.zeros((1, 4)))
    leapp("run", "walk", "--replay", "t.npz", "--rtol", 0, "--atol", 0)


def test_every_dtype_goes_through_every_format(leapp: tool.Tool) -> None:
    names = ["float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool"]
    folder = leapp.cwd / "types"
    folder.mkdir()
    ports = {
        d: [{"name": f"{n}_{d}", "dtype": n, "shape": [2, 3], "type": "tensor"} for n in names] for d in ("in", "out")
    }
    node = bundles.node(folder, "node", bundles.MODELS / "every_type.onnx", ports["in"], ports["out"])
    pipeline = {
        "data_flow": {}, "feedback_flow": {},
        "inputs": {"node": [f"{n}_in" for n in names]}, "outputs": {"node": [f"{n}_out" for n in names]},
    }  # fmt: skip
    bundles.write(folder, {"models": {"node": node}, "pipeline": pipeline, "system information": {}})
    for suffix in (".safetensors", ".csv"):
        leapp("run", "types", "--steps", 4, "--trace", f"t{suffix}")
        assert leapp.json("run", "types", "--replay", f"t{suffix}", "--rtol", 0, "--atol", 0)["replay"]["agrees"]
    assert "bfloat16" in leapp.error("run", "types", "--trace", "t.npz")


def test_fuse_of_a_stateful_policy_is_ready_for_isaac_ros(leapp: tool.Tool, walk: Path, values: np.ndarray) -> None:
    assert leapp.json("check", "walk", "--target", "isaac-ros", code=1)["errors"] > 0
    result = leapp.json("fuse", "walk", "--output", "fused", "--steps", 100, "--rtol", 0, "--atol", 0)
    assert result["agrees"]
    assert [port["max_abs_diff"] for port in result["ports"]] == [0, 0]
    found = leapp.json("check", "fused", "--target", "isaac-ros")
    assert (found["errors"], found["warnings"], found["loaded"]) == (0, 0, True)
    spec = bundles.read(leapp.cwd / "fused/fused.yaml")
    assert list(spec["models"]) == ["walk"]
    assert spec["pipeline"]["feedback_flow"] == {"walk/h_out": ["walk/h_in"]}
    np.savez(leapp.cwd / "in.npz", x=values)
    leapp("run", "fused", "--inputs", "in.npz", "--output", "out.npz")
    (name,) = np.load(leapp.cwd / "out.npz")
    found = np.load(leapp.cwd / "out.npz")[name]
    np.testing.assert_allclose(found, bundles.expected_steps(values), rtol=1e-6)


def test_fuse_leaves_other_files_alone_and_can_be_repeated(leapp: tool.Tool, walk: Path) -> None:
    leapp("fuse", "walk", "--output", "fused")
    (leapp.cwd / "fused/mine.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in (leapp.cwd / "fused").iterdir()}
    leapp("fuse", "walk", "--output", "fused")
    assert {path.name: path.read_bytes() for path in (leapp.cwd / "fused").iterdir()} == before
    assert "another folder" in leapp.error("fuse", "walk", "--output", "walk")


def test_fuse_refuses_what_is_not_onnx(leapp: tool.Tool) -> None:
    leapp.cwd = bundles.PEER
    assert "node preprocess: expected an ONNX model" in leapp.error("fuse", "my_pipeline", "--output", "/tmp/never")


def test_bench_counts_and_keeps_a_rate(leapp: tool.Tool, walk: Path) -> None:
    # Slow enough for any machine.
    for engine in ("native", "onnxruntime"):
        found = leapp.json("bench", "walk", "--steps", 10, "--warmup", 2, "--rate", 20, "--engine", engine)
        assert found["engines"] == [engine]
        assert found["rate"]["overruns"] == 0
        assert found["allocations"]["ours_per_step"] == 0
        assert (found["allocations"]["engine_per_step"] > 0) == (engine == "onnxruntime")
    paced = leapp("bench", "walk", "--steps", 10, "--warmup", 2, "--rate", 20)
    assert "20 Hz: 0 of 10 steps overran\nsteps begun late by " in paced
    # And faster than any: ONNX Runtime does nothing in a microsecond.
    late = leapp.json("bench", "walk", "--steps", 50, "--rate", 1000000, "--engine", "onnxruntime", code=1)
    assert late["rate"]["overruns"] > 0
    assert late["rate"]["first_overrun"] is not None


def uncovered(folder: Path) -> None:
    """One node with an operator that ONNX Runtime has and LEAPP's own engine has not."""
    folder.mkdir()
    node = helper.make_node("Bernoulli", ["x"], ["y"], name="draw")
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.save(model, folder / "draw.onnx")
    spec = bundles.recurrent(folder)
    spec["models"] = {
        "node": bundles.node(folder, "node", folder / "draw.onnx", [bundles.port("x")], [bundles.port("y")])
    }
    spec["pipeline"] = {
        **{"data_flow": {}, "feedback_flow": {}, "inputs": {"node": ["x"]}, "outputs": {"node": ["y"]}},
    }
    bundles.write(folder, spec)


def test_which_engine_runs_what_and_why(leapp: tool.Tool, walk: Path) -> None:
    uncovered(leapp.cwd / "draw")
    (engine,) = leapp.json("inspect", "draw")["engines"]
    assert engine["engine"] == "onnxruntime"
    assert "does not cover 1 of its nodes" in engine["why"]
    assert [(row["operator"], row["native"]) for row in engine["operators"]] == [("Bernoulli", False)]
    assert 'Bernoulli      1  no: "draw" (makes "y")' in leapp("inspect", "draw")
    assert leapp.json("run", "draw")["engines"] == ["onnxruntime"]
    assert leapp.json("run", "walk", "--engine", "onnxruntime")["engines"] == ["onnxruntime"]
    refused = leapp.error("run", "draw", "--engine", "native")
    assert 'Bernoulli "draw" (makes "y")' in refused
    assert 'Bernoulli "draw"' in leapp.json("inspect", "draw", "--engine", "native")["no_engine"]
    assert "nothing runs it" in leapp("inspect", "draw", "--engine", "native")
    assert leapp.json("check", "draw")["engines"] == {"compared": False, "agree": None, "steps": 0}


def test_what_leapps_own_engine_runs_needs_no_other(leapp: tool.Tool, walk: Path) -> None:
    leapp.environment = {"LEAPP_ONNXRUNTIME": "/nowhere"}
    assert leapp.json("run", "walk")["engines"] == ["native"]
    found = leapp.json("check", "walk")
    assert found["loaded"]
    assert not found["engines"]["compared"]
    leapp.environment = {"LEAPP_ONNXRUNTIME": "/nowhere", "LEAPP_ENGINE": "onnxruntime"}
    assert "/nowhere" in leapp.error("run", "walk")
    leapp.environment = {"LEAPP_ENGINE": "tensorrt"}
    assert 'expected auto, native or onnxruntime, found "tensorrt"' in leapp.error("run", "walk")


def test_lint_finds_what_looks_wrong(leapp: tool.Tool) -> None:
    spec = bundles.recurrent(leapp.cwd / "odd")
    pre, policy, post = (spec["models"][name] for name in ("pre", "policy", "post"))
    pre["outputs"][0]["element_names"] = [["batch"], ["a", "b", "c", "d"]]
    policy["inputs"][0]["element_names"] = [["batch"], ["a", "c", "b", "d"]]
    post["outputs"][0].update(kind="kp", kd=[0.0, 0, 0, 0])
    spec["pipeline"]["configs"] = {"frequency": -1}
    bundles.write(leapp.cwd / "odd", spec)
    found = leapp.json("check", "odd", code=1)["findings"]
    places = {(finding["severity"], finding["place"]): finding["message"] for finding in found}
    assert 'axis 1, element 1: "b" becomes "c"' in places["warning", "pre/y -> policy/x"]
    assert "all of kd is zero" in places["warning", "post/y"]
    assert "-1" in places["warning", "pipeline.configs.frequency"]
    assert all(finding["remedy"] for finding in found)


def test_gains_that_are_computed_as_zero_are_found(leapp: tool.Tool) -> None:
    folder = leapp.cwd / "gains"
    folder.mkdir()
    # y = x/2, of which x is an input that the test's made-up values would not make zero; kp = 0 x 0.5 is.
    import onnx

    model = onnx.load(bundles.MODELS / "halve.onnx")
    next(each for each in model.graph.initializer if each.name == "scale").raw_data = np.float32(0).tobytes()
    onnx.save(model, leapp.cwd / "zero.onnx")
    ports = [bundles.port("x", kind="state/joint/position")], [bundles.port("y", kind="kp")]
    node = bundles.node(folder, "gains", leapp.cwd / "zero.onnx", *ports)
    pipeline = {"data_flow": {}, "feedback_flow": {}, "inputs": {"gains": ["x"]}, "outputs": {"gains": ["y"]}}
    bundles.write(folder, {"models": {"gains": node}, "pipeline": pipeline, "system information": {}})
    found = leapp.json("check", "gains", code=1)["findings"]
    assert [(each["severity"], each["place"]) for each in found if "gains are zero" in each["message"]] == [
        ("warning", "gains/y")
    ]


def test_a_kind_that_is_used_twice_is_found(leapp: tool.Tool) -> None:
    folder = leapp.cwd / "twice"
    folder.mkdir()
    ports = [bundles.port("a", kind="k"), bundles.port("b", kind="k")]
    index = {"name": "index", "dtype": "int64", "shape": [1], "type": "tensor"}
    outputs = [bundles.port("total"), {"name": "picked", "dtype": "float32", "shape": [1, 1], "type": "tensor"}]
    node = bundles.node(folder, "mix", bundles.MODELS / "mix.onnx", [*ports, index], outputs)
    pipeline = {
        "data_flow": {}, "feedback_flow": {},
        "inputs": {"mix": ["a", "b", "index"]}, "outputs": {"mix": ["total", "picked"]},
    }  # fmt: skip
    bundles.write(folder, {"models": {"mix": node}, "pipeline": pipeline, "system information": {}})
    messages = [(each["severity"], each["message"]) for each in leapp.json("check", "twice", code=1)["findings"]]
    assert any(severity == "warning" and "used 2 times" in text for severity, text in messages)
    assert any(severity == "note" and "found int64" in text for severity, text in messages)
    assert any(severity == "note" and "no frequency" in text for severity, text in messages)
    assert any(severity == "note" and "has no kind" in text for severity, text in messages)


def test_jit_bundles_are_looked_at_without_torch(leapp: tool.Tool) -> None:
    leapp.cwd = bundles.PEER
    assert leapp.json("inspect", "stateful_policy")["nodes"][0]["model"]["checksum"] == "ok"
    found = leapp.json("check", "stateful_policy")
    assert not found["loaded"]
    assert any("need torch and LEAPP's engine" in each["message"] for each in found["findings"])
    for command in ("run", "bench"):
        assert "libleapp_engine_torch<version>.so" in leapp.error(command, "stateful_policy")


def test_python_m_leapp_is_the_same_program(leapp: tool.Tool, walk: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(tool.ROOT / "build/default/python")}
    environment.pop("LEAPP_ONNXRUNTIME", None)
    done = subprocess.run(
        [sys.executable, "-m", "leapp", "run", "walk", "--steps", "3"],
        cwd=leapp.cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == leapp("run", "walk", "--steps", 3)


def test_the_program_needs_no_python_no_torch_and_no_graphviz() -> None:
    done = subprocess.run(["ldd", tool.PROGRAM], capture_output=True, text=True, check=True)
    assert "not found" not in done.stdout
    libraries = [line.split()[0] for line in done.stdout.splitlines()]  # beside them are addresses, with any letters
    assert any("libc." in library for library in libraries)
    for unwanted in ("python", "torch", "c10", "gvc", "cgraph"):
        assert not any(unwanted in library for library in libraries)


def test_spec_of_the_fused_bundle_is_plain_yaml(leapp: tool.Tool, walk: Path) -> None:
    leapp("fuse", "walk", "--node", "one")
    spec = yaml.safe_load((leapp.cwd / "walk_fused/walk_fused.yaml").read_text())
    assert spec["models"]["one"]["parameters"]["model_path"] == "one.onnx"
    assert spec["pipeline"]["configs"] == {"frequency": 50.0}
