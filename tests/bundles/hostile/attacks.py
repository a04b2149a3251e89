# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles that were made to hurt whoever opens them. Each is a function that writes a folder and returns its YAML file.

`ATTACKS` says of each what it tries and what has to come of it. Nothing here is dangerous as a file: the
harm is in what a reader makes of it.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MODEL = """\
models:
  policy:
    inputs:
    - {{name: x, dtype: float32, shape: {shape}}}
    outputs:
    - {{name: y, dtype: float32, shape: {shape}}}
    parameters: {{backend: onnx, model_path: policy.onnx, md5sum: {md5}, sha256sum: {sha256}}}
pipeline:
  inputs: {{policy: [x]}}
  outputs: {{policy: [y]}}
system information: {{leapp config version: '1.1'}}
"""


def write_yaml(folder: Path, text: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{folder.name}.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def write_model(folder: Path, nodes: list[onnx.NodeProto], *, shape: object = None, **parts: object) -> Path:
    """A bundle of one model from x to y."""
    dims = [4] if shape is None else shape
    extents = ["n"] if shape is not None else [4]
    initializers = parts.pop("initializers", [])
    functions = parts.pop("functions", [])
    sparse = parts.pop("sparse", [])
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, extents)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, extents)],
        initializers,
        sparse_initializer=sparse,
    )
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8, functions=functions)
    return write_bundle(folder, list(dims), model.SerializeToString())


def write_bundle(folder: Path, shape: list[object], model: bytes) -> Path:
    """The checksums are right: an attacker writes both."""
    sums = {"md5": hashlib.md5(model).hexdigest(), "sha256": hashlib.sha256(model).hexdigest()}
    file = write_yaml(folder, MODEL.format(shape=shape, **sums))
    (folder / "policy.onnx").write_bytes(model)
    return file


def numbers(name: str, *values: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def repeated(piece: str, size: int) -> Callable[[Path], Path]:
    return lambda folder: write_yaml(folder, piece * (size // len(piece)))


def many_nodes(folder: Path) -> Path:
    lines = ["models:"]
    for i in range(80_000):
        lines.append(f"  n{i}: {{inputs: [], outputs: []}}")
    lines.append("pipeline:\n  data_flow:")
    lines += [f"    nobody{i}/x: [nobody/y]" for i in range(80_000)]
    return write_yaml(folder, "\n".join(lines) + "\n")


def port_list(prefix: str, count: int) -> str:
    return "".join(f"    - {{name: {prefix}{i}, dtype: float32, shape: [1]}}\n" for i in range(count))


def many_states(folder: Path, count: int = 40_000) -> Path:
    text = "models:\n  m:\n    inputs:\n" + port_list("s", count) + "    outputs:\n" + port_list("s", count)
    text += "    parameters: {backend: onnx, model_path: m.onnx}\npipeline:\n  feedback_flow:\n"
    text += "".join(f"    m/s{i}: [m/s{i}]\n" for i in range(count))
    return write_yaml(folder, text)


def dangling_edges(folder: Path, count: int = 8_000) -> Path:
    """As many edges to ports that are not there as the limits let through."""
    text = "models:\n" + "".join(f"  n{i}: {{inputs: [], outputs: []}}\n" for i in range(4096))
    text += "pipeline:\n  data_flow:\n" + "".join(f"    nobody{i}/x: [n{i}/y]\n" for i in range(count))
    return write_yaml(folder, text)


def long_names(folder: Path) -> Path:
    """A name that stands in every message."""
    text = "models: {m: {inputs: [], outputs: []}}\npipeline:\n  data_flow:\n"
    text += "".join(f"    ? {'n' * 100_000}{i}/x\n    : [m/a, m/b, m/c]\n" for i in range(20))
    return write_yaml(folder, text)


def safetensors(folder: Path, header: bytes, data: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "state.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + data)  # holes, which take no room on disk
    node = [helper.make_node("Identity", ["x"], ["y"])]
    file = write_model(folder, node)
    file.write_text(file.read_text().replace("pipeline:\n", "pipeline:\n  initial_values: state.safetensors\n"))
    return file


def million_tensors(folder: Path) -> Path:
    entry = '"dtype": "F32", "shape": [0], "data_offsets": [0, 0]'
    header = ", ".join(f'"nobody/t{i}": {{{entry}}}' for i in range(1_000_000))
    return safetensors(folder, f"{{{header}}}".encode(), 0)


def tensors_for_nobody(folder: Path) -> Path:
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    return safetensors(folder, json.dumps({f"nobody/t{i}": entry for i in range(65_000)}).encode(), 0)


def sparse_state(folder: Path) -> Path:
    size = 2 << 30
    entry = {"nobody/t": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}
    return safetensors(folder, json.dumps(entry).encode(), size)


def stateful(folder: Path) -> Path:
    """No attack: an honest bundle with state, to compare with."""
    values = np.arange(4, dtype=np.float32).tobytes()
    header = json.dumps({"m/s": {"dtype": "F32", "shape": [4], "data_offsets": [0, len(values)]}}).encode()
    file = safetensors(folder, header, 0)
    (folder / "state.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + values)
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in names] for names in ("xs", "yt")]
    nodes = [helper.make_node("Add", ["x", "s"], ["t"]), helper.make_node("Tanh", ["t"], ["y"])]
    imports = [helper.make_opsetid("", 18)]
    model = helper.make_model(helper.make_graph(nodes, "g", *ports), opset_imports=imports, ir_version=8)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    lists = [
        "".join(f"    - {{name: {name}, dtype: float32, shape: [4]}}\n" for name in names) for names in ("xs", "yt")
    ]
    return write_yaml(
        file.parent,
        f"models:\n  m:\n    inputs:\n{lists[0]}    outputs:\n{lists[1]}"
        "    parameters: {backend: onnx, model_path: m.onnx}\n"
        "pipeline:\n  feedback_flow: {m/t: [m/s]}\n  initial_values: state.safetensors\n"
        "  inputs: {m: [x]}\n  outputs: {m: [y]}\n",
    )


def large_port(folder: Path) -> Path:
    return write_model(folder, [helper.make_node("Identity", ["x"], ["y"])], shape=[1 << 30])


def loop_body(nodes: list[onnx.NodeProto]) -> onnx.GraphProto:
    """Makes `next` of `on`, and `w` of `v`."""
    return helper.make_graph(
        nodes,
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [4]),
        ],
        [
            helper.make_tensor_value_info("next", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, [4]),
        ],
    )


def endless_loop(folder: Path) -> Path:
    body = loop_body([helper.make_node("Identity", ["on"], ["next"]), helper.make_node("Abs", ["v"], ["w"])])
    loop = helper.make_node("Loop", ["rounds", "", "x"], ["y"], body=body)
    return write_model(folder, [loop], initializers=[numpy_helper.from_array(np.array(1 << 62, np.int64), "rounds")])


def rounds_from_inputs(folder: Path) -> Path:
    """As many rounds as the sum of the inputs says."""
    body = loop_body([helper.make_node("Identity", ["on"], ["next"]), helper.make_node("Cos", ["v"], ["w"])])
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Cast", ["sum"], ["rounds"], to=TensorProto.INT64),
        helper.make_node("Loop", ["rounds", "", "x"], ["y"], body=body),
    ]
    return write_model(folder, nodes)


def loop_while(folder: Path, comparison: str, limit: float) -> Path:
    """Goes on for as long as the sum of the inputs compares so with the limit."""
    body = loop_body(
        [
            helper.make_node("ReduceSum", ["v"], ["sum"], keepdims=0),
            helper.make_node(comparison, ["sum", "limit"], ["next"]),
            helper.make_node("Identity", ["v"], ["w"]),
        ]
    )
    loop = helper.make_node("Loop", ["", "", "x"], ["y"], body=body)
    return write_model(folder, [loop], initializers=[numpy_helper.from_array(np.array(limit, np.float32), "limit")])


def loop_on_data(folder: Path) -> Path:
    """Nobody sees without running it that it does not end."""
    return loop_while(folder, "Less", 1e30)


def loop_on_large(folder: Path) -> Path:
    """Ends for inputs of about one, which is what it is tried with, and never for hundreds."""
    return loop_while(folder, "Greater", 100)


def functions(folder: Path) -> Path:
    """Thirty functions, each of which calls the one before twice."""
    made = []
    for i in range(30):
        call = "Abs" if i == 0 else f"f{i - 1}"
        domain = "" if i == 0 else "local"
        nodes = [
            helper.make_node(call, ["a"], ["m"], domain=domain),
            helper.make_node(call, ["m"], ["b"], domain=domain),
        ]
        imports = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
        made.append(helper.make_function("local", f"f{i}", ["a"], ["b"], nodes, imports))
    return write_model(folder, [helper.make_node("f29", ["x"], ["y"], domain="local")], functions=made)


def nested_functions(folder: Path) -> Path:
    """A thousand functions, each of which calls the one before: ONNX Runtime's time grows with the square of it."""
    made = []
    for i in range(1000):
        call = helper.make_node("Abs" if i == 0 else f"f{i - 1}", ["a"], ["b"], domain="local" if i else "")
        imports = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
        made.append(helper.make_function("local", f"f{i}", ["a"], ["b"], [call], imports))
    return write_model(folder, [helper.make_node("f999", ["x"], ["y"], domain="local")], functions=made)


def function_of_itself(folder: Path) -> Path:
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    nodes = [helper.make_node("f", ["a"], ["b"], domain="local")]
    made = helper.make_function("local", "f", ["a"], ["b"], nodes, imports)
    return write_model(folder, [helper.make_node("f", ["x"], ["y"], domain="local")], functions=[made])


def sized(op: str, inputs: list[str], *sizes: int) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        nodes = [
            helper.make_node(op, inputs, ["large"]),
            helper.make_node("Cast", ["large"], ["floats"], to=TensorProto.FLOAT),
            helper.make_node("ReduceMax", ["floats"], ["top"], keepdims=0),
            helper.make_node("Add", ["x", "top"], ["y"]),
        ]
        scalars = [
            numpy_helper.from_array(np.array(value, np.int64), name) for name, value in (("zero", 0), ("one", 1))
        ]
        bound = numpy_helper.from_array(np.array(sizes[0], np.int64), "bound")
        return write_model(folder, nodes, initializers=[numbers("size", *sizes), bound, *scalars])

    return write


def computed_size(folder: Path) -> Path:
    nodes = [
        helper.make_node("Mul", ["size", "size"], ["squared"]),
        helper.make_node("Concat", ["squared", "size"], ["shape"], axis=0),
        helper.make_node("ConstantOfShape", ["shape"], ["large"]),
        helper.make_node("ReduceMax", ["large"], ["top"], keepdims=0),
        helper.make_node("Add", ["x", "top"], ["y"]),
    ]
    return write_model(folder, nodes, initializers=[numbers("size", 1 << 16)])


def grown(folder: Path) -> Path:
    """Forty times twice as long, by nothing but the sizes of the inputs."""
    nodes = [helper.make_node("Concat", ["x" if i == 0 else f"d{i - 1}"] * 2, [f"d{i}"], axis=0) for i in range(40)]
    nodes += [helper.make_node("ReduceMax", ["d39"], ["top"], keepdims=0), helper.make_node("Add", ["x", "top"], ["y"])]
    return write_model(folder, nodes)


def endless_scan(folder: Path) -> Path:
    """A body for each of a hundred million elements."""
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "e"], ["t"])],
        "body",
        [
            helper.make_tensor_value_info("s", TensorProto.FLOAT, [4]),
            helper.make_tensor_value_info("e", TensorProto.FLOAT, []),
        ],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, [4])],
    )
    nodes = [
        helper.make_node("ConstantOfShape", ["count"], ["elements"]),
        helper.make_node("Scan", ["x", "elements"], ["y"], body=body, num_scan_inputs=1),
    ]
    return write_model(folder, nodes, initializers=[numbers("count", 100_000_000)])


def chain_of_views(folder: Path, count: int = 50_000) -> Path:
    """Whoever walks from a view to the tensor it is of, for each of them, walks a billion steps."""
    nodes = [
        helper.make_node("Reshape", [f"v{i - 1}" if i else "x", "size"], [f"v{i}" if i < count - 1 else "y"])
        for i in range(count)
    ]
    return write_model(folder, nodes, initializers=[numbers("size", 4)])


def alive_at_once(folder: Path, count: int = 25_000) -> Path:
    """Places in memory for results that are all needed until the end."""
    parts = [f"p{i}" for i in range(count)]
    nodes = [helper.make_node("Neg" if i % 2 else "Abs", ["x"], [part]) for i, part in enumerate(parts)]
    nodes += [
        helper.make_node("Concat", parts, ["all"], axis=0),
        helper.make_node("ReduceMax", ["all"], ["top"], keepdims=0),
        helper.make_node("Add", ["x", "top"], ["y"]),
    ]
    return write_model(folder, nodes)


def work_on_constants(folder: Path, sums: int = 2_000) -> Path:
    """Hours of sums of zeros, which whoever works out constants would do before the model runs."""
    nodes = [helper.make_node("ConstantOfShape", ["size"], ["zeros"])]
    nodes += [helper.make_node("ReduceSum", ["zeros"], [f"s{i}"], keepdims=0) for i in range(sums)]
    nodes.append(helper.make_node("Sum", ["x", *(f"s{i}" for i in range(sums))], ["y"]))
    return write_model(folder, nodes, initializers=[numbers("size", 1 << 24)])


def large_results(folder: Path) -> Path:
    """None of them is too large, all of them are."""
    parts = [f"c{i}" for i in range(60)]
    nodes = [helper.make_node("Expand", ["x", "size"], [f"e{i}"]) for i in range(60)]
    nodes += [helper.make_node("CumSum", [f"e{i}", "axis"], [part]) for i, part in enumerate(parts)]
    nodes += [helper.make_node("ReduceMax", [part], [f"m{i}"], keepdims=0) for i, part in reversed([*enumerate(parts)])]
    nodes.append(helper.make_node("Sum", ["x", *(f"m{i}" for i in range(60))], ["y"]))
    axis = numpy_helper.from_array(np.array(0, np.int64), "axis")
    return write_model(folder, nodes, initializers=[numbers("size", 1 << 23, 4), axis])


def many_ranges(folder: Path, count: int = 60) -> Path:
    """None of the constants is too large, all of them are."""
    nodes = [helper.make_node("Range", ["zero", "bound", "one"], [f"r{i}"]) for i in range(count)]
    nodes += [helper.make_node("Gather", [f"r{i}", "zero"], [f"g{i}"]) for i in range(count)]
    nodes += [helper.make_node("Cast", [f"g{i}"], [f"f{i}"], to=TensorProto.FLOAT) for i in range(count)]
    nodes.append(helper.make_node("Sum", ["x", *(f"f{i}" for i in range(count))], ["y"]))
    scalars = {"zero": 0, "bound": 90_000_000, "one": 1}
    return write_model(
        folder, nodes, initializers=[numpy_helper.from_array(np.array(v, np.int64), k) for k, v in scalars.items()]
    )


def many_products(folder: Path, count: int = 400) -> Path:
    """One weight of 67 MB, which each product wants in an order of its own."""
    nodes = [helper.make_node("ConstantOfShape", ["size"], ["w"], value=helper.make_tensor("v", 1, [1], [0.5]))]
    nodes.append(helper.make_node("Reshape", ["x", "row"], ["x1"]))
    nodes += [helper.make_node("MatMul", ["x1", "w"], [f"p{i}"]) for i in range(count)]
    nodes += [helper.make_node("ReduceMax", [f"p{i}"], [f"m{i}"], keepdims=0) for i in range(count)]
    nodes.append(helper.make_node("Sum", ["x", *(f"m{i}" for i in range(count))], ["y"]))
    return write_model(folder, nodes, initializers=[numbers("size", 4, 1 << 22), numbers("row", 1, 4)])


def many_pads(folder: Path, count: int = 60) -> Path:
    """Of each, where sixteen million elements come from."""
    nodes = [helper.make_node("Pad", ["x", "pads"], [f"p{i}"], mode="edge") for i in range(count)]
    nodes += [helper.make_node("ReduceMax", [f"p{i}"], [f"m{i}"], keepdims=0) for i in range(count)]
    nodes.append(helper.make_node("Sum", ["x", *(f"m{i}" for i in range(count))], ["y"]))
    return write_model(folder, nodes, initializers=[numbers("pads", 1 << 23, 1 << 23)])


def many_steps(folder: Path, count: int = 5_000) -> Path:
    """Recurrent layers with thousands of steps each."""
    shapes = {"w": (1, 3, 1), "h": (1, 3, 1)}
    weights = [numpy_helper.from_array(np.ones(shape, np.float32), name) for name, shape in shapes.items()]
    nodes = [
        helper.make_node("Expand", ["x", "long"], ["e"]),
        helper.make_node("Reshape", ["e", "three"], ["sequence"]),
    ]
    nodes += [helper.make_node("GRU", ["sequence", "w", "h"], ["", f"h{i}"], hidden_size=1) for i in range(count)]
    nodes += [helper.make_node("ReduceMax", [f"h{i}"], [f"m{i}"], keepdims=0) for i in range(count)]
    nodes.append(helper.make_node("Sum", ["x", *(f"m{i}" for i in range(count))], ["y"]))
    return write_model(folder, nodes, initializers=[numbers("long", 1024, 4), numbers("three", 4096, 1, 1), *weights])


def many_terms(folder: Path, count: int = 150_000) -> Path:
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["top"], keepdims=0),
        helper.make_node("Einsum", ["top"] * count, ["product"], equation="," * (count - 1) + "->"),
        helper.make_node("Add", ["x", "product"], ["y"]),
    ]
    return write_model(folder, nodes)


def outputs_for_nobody(folder: Path, count: int = 60) -> Path:
    """Results of 134 MB each that the bundle does not name."""
    file = write_model(folder, [helper.make_node("Identity", ["x"], ["y"])])
    model = onnx.load(folder / "policy.onnx")
    for i in range(count):
        model.graph.node.append(helper.make_node("Expand", ["x", "size"], [f"e{i}"]))
        model.graph.output.append(helper.make_tensor_value_info(f"e{i}", TensorProto.FLOAT, [1 << 23, 4]))
    model.graph.initializer.append(numbers("size", 1 << 23, 4))
    return write_bundle(file.parent, [4], model.SerializeToString())


def long_and_empty(folder: Path) -> Path:
    """Eight billion rows without an element, which a kernel walks through all the same."""
    nodes = [
        helper.make_node("ConstantOfShape", ["size"], ["none"]),
        helper.make_node("Gather", ["none", "zero"], ["rows"], axis=1),
        helper.make_node("ReduceSum", ["rows"], ["sum"], keepdims=0),
        helper.make_node("Add", ["x", "sum"], ["y"]),
    ]
    return write_model(folder, nodes, initializers=[numbers("size", 1 << 33, 1, 0), numbers("zero", 0)])


def lowest_by_data(folder: Path) -> Path:
    """The lowest number by -1, which the machine answers with a signal; nobody knows before that it is -1."""
    nodes = [
        helper.make_node("Sub", ["x", "x"], ["nothing"]),
        helper.make_node("Cast", ["nothing"], ["zeros"], to=TensorProto.INT64),
        helper.make_node("Sub", ["zeros", "one"], ["divisors"]),
        helper.make_node("Div", ["lowest", "divisors"], ["quotients"]),
        helper.make_node("Cast", ["quotients"], ["y"], to=TensorProto.FLOAT),
    ]
    return write_model(folder, nodes, initializers=[numbers("lowest", -(1 << 63)), numbers("one", 1)])


def groups_of_none(folder: Path) -> Path:
    """A division by 0 while shapes are worked out."""
    nodes = [
        helper.make_node("Reshape", ["x", "size"], ["image"]),
        helper.make_node("ConvTranspose", ["image", "w"], ["made"], group=0),
        helper.make_node("ReduceMax", ["made"], ["top"], keepdims=0),
        helper.make_node("Add", ["x", "top"], ["y"]),
    ]
    weights = numpy_helper.from_array(np.ones((1, 1, 1, 1), np.float32), "w")
    return write_model(folder, nodes, initializers=[numbers("size", 1, 1, 2, 2), weights])


def one_hot_of_none(folder: Path) -> Path:
    """A depth without a number."""
    nodes = [
        helper.make_node("Cast", ["x"], ["places"], to=TensorProto.INT64),
        helper.make_node("OneHot", ["places", "depth", "values"], ["hot"]),
        helper.make_node("ReduceMax", ["hot"], ["top"], keepdims=0),
        helper.make_node("Add", ["x", "top"], ["y"]),
    ]
    values = numpy_helper.from_array(np.array([0, 1], np.float32), "values")
    return write_model(folder, nodes, initializers=[numbers("depth"), values])


def sparse_weights(folder: Path) -> Path:
    values = numpy_helper.from_array(np.ones(1, np.float32), "w")
    sparse = helper.make_sparse_tensor(values, numbers("", 0), [1 << 40])
    nodes = [helper.make_node("ReduceMax", ["w"], ["top"], keepdims=0), helper.make_node("Add", ["x", "top"], ["y"])]
    return write_model(folder, nodes, sparse=[sparse])


def escapes(folder: Path) -> Path:
    """ESC, C1, CR and backspace wherever a name or a value can be."""
    evil = '"\\x1b[2J\\x9b2J\\r\\b\\u202Eok"'
    file = write_model(folder, [helper.make_node("Identity", ["x"], ["y"])])
    text = file.read_text()
    text = text.replace("pipeline:\n", f"pipeline:\n  configs: {{{evil}: {evil}}}\n")
    text = text.replace("name: y,", f"name: y, kind: {evil}, {evil}: {evil},")
    text = text.replace("{leapp config version: '1.1'}", f"{{leapp config version: '1.1', {evil}: {evil}, os: {evil}}}")
    file.write_text(text)
    return file


def operator_without_utf8(folder: Path) -> Path:
    write_model(folder, [helper.make_node("Identity", ["x"], ["y"], name="n")])
    model = (folder / "policy.onnx").read_bytes()
    return write_bundle(folder, [4], model.replace(b"Identity", b"\xff\x1b[2J\xfe\xfd\xfc"))


def link_outside(folder: Path) -> Path:
    secret = folder.parent / "secret.txt"
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.write_text("root:x:top-secret-hash:0\n")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{folder.name}.yaml"
    file.symlink_to(secret)
    return file


@dataclass(frozen=True)
class Attack:
    """`says`: what the answer has to contain. `refused`: before anything large is read, within 64 MB and a second."""

    write: Callable[[Path], Path]
    what: str
    says: str
    refused: bool = True


MB = 1_000_000
ATTACKS: dict[str, Attack] = {
    "brackets": Attack(repeated("[", 15 * MB), "15 MB of `[`", "expected at most 4194304 bytes"),
    "brackets_4mb": Attack(repeated("[", 4 * MB), "4 MB of `[`", "expected values of at most 131072 bytes"),
    "braces_4mb": Attack(repeated("{", 4 * MB), "4 MB of `{`", "line 1"),
    "lists_4mb": Attack(repeated("[],", 4 * MB), "4 MB of `[],`", "line 1"),
    "lists_in_lines": Attack(repeated("- []\n", 4 * MB), "800,000 lines of `- []`", "expected at most 200000 values"),
    "maps_in_lines": Attack(repeated("- {}\n", 4 * MB), "800,000 lines of `- {}`", "expected at most 200000 values"),
    "pairs_4mb": Attack(repeated("[a: ", 4 * MB), "4 MB of `[a: `", "line 1"),
    "text_4mb": Attack(repeated("models: x", 4 * MB), "4 MB of text", "line 1"),
    "nodes": Attack(many_nodes, "80,000 nodes, 80,000 edges to nowhere", "expected at most"),
    "states": Attack(many_states, "a node of 40,000 states", "expected at most"),
    "dangling": Attack(dangling_edges, "4,096 nodes, 8,000 edges to nowhere", "there is no node"),
    "long_names": Attack(long_names, "names of 100,000 characters", "there is no node"),
    "million_tensors": Attack(million_tensors, "a million tensors nobody asked for", "expected a header of at most"),
    "tensors": Attack(tensors_for_nobody, "65,000 tensors nobody asked for", "is not an input of any node"),
    "sparse_state": Attack(sparse_state, "2 GB of holes as initial values", "is not an input of any node"),
    "large_port": Attack(large_port, "ports of 4 GB on a dynamic model", "of memory (ports 12.9 GB"),
    "loop": Attack(endless_loop, "`Loop` of 2^62 rounds", "it does not end"),
    "functions": Attack(functions, "functions that expand to 2^30 operators", "operators, with functions written out"),
    "nested_functions": Attack(
        nested_functions, "a thousand functions inside each other", "at most 64 functions inside each other"
    ),
    "recursion": Attack(function_of_itself, "a function that calls itself", "a function that calls itself"),
    "constant_of_shape": Attack(
        sized("ConstantOfShape", ["size"], 1 << 20, 1 << 20), "`ConstantOfShape` of 4 TB", "makes a tensor of 4.4 TB"
    ),
    "range": Attack(sized("Range", ["zero", "bound", "one"], 1 << 40), "`Range` of 8 TB", "makes a tensor of 8.8 TB"),
    "expand": Attack(sized("Expand", ["one", "size"], 1 << 31), "`Expand` to 16 GB", "makes a tensor of 17.2 GB"),
    "computed_size": Attack(computed_size, "a size computed from constants", "makes a tensor of"),
    "grown": Attack(grown, "a tensor that grows to twice its size 40 times", "makes a tensor of"),
    "scan": Attack(endless_scan, "`Scan` of 100,000,000 rounds", "it does not end"),
    "sparse_weights": Attack(sparse_weights, "a sparse weight of 4 TB", "makes a tensor of 4.4 TB"),
    "views": Attack(chain_of_views, "50,000 views of views", "", refused=False),
    "alive": Attack(alive_at_once, "25,000 results that are alive at once", "", refused=False),
    "large_results": Attack(large_results, "sixty results of 134 MB at once", "of memory to run"),
    "work_on_constants": Attack(work_on_constants, "2,000 sums of a constant of 67 MB", "", refused=False),
    "ranges": Attack(many_ranges, "sixty constants of 720 MB", "", refused=False),
    "products": Attack(many_products, "400 products with one weight of 67 MB", "", refused=False),
    "pads": Attack(many_pads, "sixty `Pad`s by sixteen million elements", "", refused=False),
    "steps": Attack(many_steps, "5,000 `GRU`s of 4,096 steps", "", refused=False),
    "terms": Attack(many_terms, "`Einsum` of 150,000 terms", "", refused=False),
    "nobodys_outputs": Attack(
        outputs_for_nobody, "sixty outputs of 134 MB that nobody asked for", "that the bundle does not name"
    ),
    "long_and_empty": Attack(long_and_empty, "eight billion rows without an element", "a tensor without elements"),
    "lowest": Attack(lowest_by_data, "the lowest integer divided by -1", "", refused=False),
    "no_groups": Attack(groups_of_none, "`ConvTranspose` in 0 groups", "an integer was divided by 0", refused=False),
    "no_depth": Attack(one_hot_of_none, "`OneHot` without a depth", "expected one number as depth"),
    "loop_on_data": Attack(loop_on_data, "a loop that data never ends", "longer than", refused=False),
    "escapes": Attack(escapes, "escapes for the terminal in every name", "", refused=False),
    "not_utf8": Attack(operator_without_utf8, "an operator's name that is not UTF-8", "\\xff", refused=False),
    "link_outside": Attack(link_outside, "a YAML that links to a file outside", "leads out of its folder"),
}
