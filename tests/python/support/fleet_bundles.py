# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of replay share, here and in tests/fleet: bundles without torch, and what a replay has written."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import onnx
import yaml
from hand_made import HandMade, port, safetensors
from onnx import TensorProto, helper, numpy_helper

OBSERVATION, HIDDEN, ACTION = 48, 64, 12


def gru(folder: Path) -> Path:
    """One node: obs [1,48] -> GRU-64 -> action [1,12], the hidden state [1,1,64] fed back."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(0)

    def weights(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array((random.standard_normal(shape) * 0.2).astype(np.float32), name)

    nodes = [
        helper.make_node("Unsqueeze", ["obs", "first"], ["x"]),
        helper.make_node("GRU", ["x", "w", "r", "b", "", "h_in"], ["y", "h_out"], hidden_size=HIDDEN),
        helper.make_node("Reshape", ["y", "flat"], ["features"]),
        helper.make_node("Gemm", ["features", "head", "bias"], ["logits"]),
        helper.make_node("Tanh", ["logits"], ["action"]),
    ]
    first = numpy_helper.from_array(np.array([0], np.int64), "first")
    flat = numpy_helper.from_array(np.array([1, HIDDEN], np.int64), "flat")
    initial = [first, flat, weights("w", 1, 3 * HIDDEN, OBSERVATION), weights("r", 1, 3 * HIDDEN, HIDDEN)]
    initial += [weights("b", 1, 6 * HIDDEN), weights("head", HIDDEN, ACTION), weights("bias", ACTION)]
    ports = {"obs": [1, OBSERVATION], "h_in": [1, 1, HIDDEN], "action": [1, ACTION], "h_out": [1, 1, HIDDEN]}
    infos = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ports.items()}
    graph = helper.make_graph(nodes, "gru", [infos["obs"], infos["h_in"]], [infos["action"], infos["h_out"]], initial)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model)
    content = model.SerializeToString()
    (folder / "policy.onnx").write_bytes(content)
    state = np.full((1, 1, HIDDEN), 0.25, np.float32)
    (folder / "initial.safetensors").write_bytes(safetensors({"policy/h_in": state}))

    def described(*names: str) -> list[dict[str, object]]:
        return [{"name": name, "dtype": "float32", "shape": ports[name], "type": "tensor"} for name in names]

    sha = hashlib.sha256(content).hexdigest()
    parameters = {"backend": "onnx", "model_path": "policy.onnx", "sha256sum": sha}
    text = {
        "models": {
            "policy": {
                "inputs": described("obs", "h_in"),
                "outputs": described("action", "h_out"),
                "parameters": parameters,
            }
        },
        "pipeline": {
            "data_flow": {},
            "feedback_flow": {"policy/h_out": ["policy/h_in"]},
            "initial_values": "initial.safetensors",
            "inputs": {"policy": ["obs"]},
            "outputs": {"policy": ["action"]},
        },
        "system information": {"leapp config version": "1.1"},
    }
    yaml_file = folder / f"{folder.name}.yaml"
    yaml_file.write_text(yaml.safe_dump(text, sort_keys=False))
    return yaml_file


def written(folder: Path, models: dict[str, onnx.ModelProto], pipeline: dict[str, object]) -> Path:
    """A bundle of these nodes, with their models' own ports."""
    folder.mkdir(parents=True)
    nodes = {}
    for node, model in models.items():
        (folder / f"{node}.onnx").write_bytes(model.SerializeToString())
        sides = {"inputs": model.graph.input, "outputs": model.graph.output}
        ports = {
            side: [
                {
                    "name": info.name,
                    "dtype": helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type).name,
                    "shape": [one.dim_value for one in info.type.tensor_type.shape.dim],
                    "type": "tensor",
                }
                for info in infos
            ]
            for side, infos in sides.items()
        }
        nodes[node] = {**ports, "parameters": {"backend": "onnx", "model_path": f"{node}.onnx"}}
    text = {"models": nodes, "pipeline": {"data_flow": {}, "feedback_flow": {}, **pipeline}}
    text |= {"system information": {"leapp config version": "1.1"}}
    bundle = folder / f"{folder.name}.yaml"
    bundle.write_text(yaml.safe_dump(text, sort_keys=False))
    return bundle


def _model(nodes: list[onnx.NodeProto], entry: str, result: str, shape: tuple[int, ...]) -> onnx.ModelProto:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in (entry, result)]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def renaming(
    folder: Path,
    nodes: list[tuple[str, str, str]],
    edges: dict[str, list[str]] | None = None,
    shape: tuple[int, ...] = (1, 4),
) -> Path:
    """Nodes as (name, input, output) that give what they get. Ends that no edge joins are the pipeline's."""
    edges = edges or {}
    models = {
        node: _model([helper.make_node("Identity", [entry], [result])], entry, result, shape)
        for node, entry, result in nodes
    }
    fed = {end for ends in edges.values() for end in ends}
    inputs = {node: [entry] for node, entry, _ in nodes if f"{node}/{entry}" not in fed}
    outputs = {node: [result] for node, _, result in nodes if f"{node}/{result}" not in edges}
    return written(folder, models, {"data_flow": edges, "inputs": inputs, "outputs": outputs})


def noise(folder: Path, seed: float | None) -> Path:
    """y = x + random numbers."""
    seeded = {} if seed is None else {"seed": seed}
    nodes = [helper.make_node("RandomNormalLike", ["x"], ["r"], **seeded), helper.make_node("Add", ["x", "r"], ["y"])]
    pipeline = {"inputs": {"policy": ["x"]}, "outputs": {"policy": ["y"]}}
    return written(folder, {"policy": _model(nodes, "x", "y", (1, 4))}, pipeline)


def adding(folder: Path, dtype: str, with_input: bool) -> Path:
    """State h of that type [1, 3]: h = h + x, or h + 1, is the output y too; of bools, exclusive or."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    infos = {name: helper.make_tensor_value_info(name, kind, (1, 3)) for name in ("x", "h_in", "h_out", "y")}
    one = helper.make_node("Constant", [], ["x"], value=numpy_helper.from_array(np.ones((1, 3), dtype)))
    nodes = [] if with_input else [one]
    nodes.append(helper.make_node("Xor" if dtype == "bool" else "Add", ["h_in", "x"], ["h_out"]))
    nodes.append(helper.make_node("Identity", ["h_out"], ["y"]))
    entries = [infos["x"], infos["h_in"]] if with_input else [infos["h_in"]]
    graph = helper.make_graph(nodes, "g", entries, [infos["h_out"], infos["y"]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    pipeline = {"feedback_flow": {"node/h_out": ["node/h_in"]}, "outputs": {"node": ["y"]}}
    return written(folder, {"node": model}, {**pipeline, "inputs": {"node": ["x"]} if with_input else {}})


def two_delays(folder: Path) -> Path:
    """One output that feeds two feedback inputs."""
    bundle = HandMade(folder)
    bundle.add("a", "filter", [port("x"), port("h_in")], [port("y"), port("h_out")])
    bundle.add("b", "filter", [port("x"), port("h_in")], [port("y"), port("h_out")])
    bundle.pipeline["data_flow"] = {"a/y": ["b/x"]}
    bundle.pipeline["feedback_flow"] = {"a/h_out": ["a/h_in", "b/h_in"]}
    bundle.pipeline["inputs"] = {"a": ["x"]}
    bundle.pipeline["outputs"] = {"b": ["y", "h_out"]}
    return bundle.write()


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything that a replay has written, by name."""
    written = [*folder.rglob("*.parquet"), *folder.glob("replay.html")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(written)}
