# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The source form: compiles without a warning, needs nothing but <math.h>, and gives what the pipeline gives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import codegen_kit as kit
import codegen_policies
import numpy as np
import onnx
import pytest
from native_cases import CASES, Case, model_of, on_onnxruntime
from onnx import TensorProto, helper, numpy_helper

# What the compiler itself may call, and the C library's mathematics.
ALLOWED = re.compile(
    r"_GLOBAL_OFFSET_TABLE_|mem(cpy|set|move)"
    r"|(fabs|exp|expm1|log|log1p|sqrt|floor|ceil|nearbyint|a?(sin|cos|tan)h?|erfc?|pow|fmod|ldexp|frexp|copysign)f?"
)
STEPS = 100

Array = kit.Array


def relative(found: Array, expected: Array) -> float:
    """The largest difference, in parts of the larger of 1 and what was expected."""
    if expected.size == 0:
        return 0.0
    found, expected = found.reshape(expected.shape).astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    np.testing.assert_array_equal(found[~np.isfinite(expected)], expected[~np.isfinite(expected)])
    finite = np.isfinite(expected)
    return float(np.max(np.abs(found - expected)[finite] / np.maximum(1, np.abs(expected[finite])), initial=0))


# ---- operator by operator ----


def loop_model() -> tuple[onnx.ModelProto, dict[str, Array]]:
    """Doubles x until it is large or ten rounds are over, then negates it or not."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["v", "v"], ["doubled"]),
            helper.make_node("ReduceMax", ["doubled"], ["top"], keepdims=0),
            helper.make_node("Less", ["top", "limit"], ["again"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("round", TensorProto.INT64, []),
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [3]),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("doubled", TensorProto.FLOAT, [3]),
        ],
    )
    sides = [
        helper.make_graph(
            [helper.make_node(op, ["last"], [name])],
            name,
            [],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3])],
        )
        for op, name in (("Neg", "negated"), ("Identity", "same"))
    ]
    graph = helper.make_graph(
        [
            helper.make_node("Loop", ["rounds", "", "x"], ["last"], body=body),
            helper.make_node("If", ["flag"], ["y"], then_branch=sides[0], else_branch=sides[1]),
        ],
        "graph",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [3]),
            helper.make_tensor_value_info("rounds", TensorProto.INT64, []),
            helper.make_tensor_value_info("flag", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])],
        [numpy_helper.from_array(np.array(100, np.float32), "limit")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return model, {"x": np.array([1, -2, 3], np.float32), "rounds": np.array(10), "flag": np.array(True)}


def while_model() -> tuple[onnx.ModelProto, dict[str, Array]]:
    """The same loop without a number of rounds, which may not begin at all."""
    model, feeds = loop_model()
    loop = model.graph.node[0]
    loop.input[0], loop.input[1] = "", "flag"
    del model.graph.input[1]
    return model, {"x": feeds["x"], "flag": np.array(False)}


def half_model(dtype: int) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """Weights of 16 bits: an MLP inside of casts."""
    random = np.random.default_rng(5)
    weights = [random.standard_normal(shape).astype(np.float32) for shape in ((6, 9), (9, 4))]
    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["x"], ["h0"], to=dtype),
            helper.make_node("MatMul", ["h0", "w0"], ["h1"]),
            helper.make_node("Relu", ["h1"], ["h2"]),
            helper.make_node("MatMul", ["h2", "w1"], ["h3"]),
            helper.make_node("Cast", ["h3"], ["y"], to=TensorProto.FLOAT),
        ],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])],
        [helper.make_tensor(f"w{i}", dtype, w.shape, w.flatten()) for i, w in enumerate(weights)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return model, {"x": random.standard_normal((2, 6)).astype(np.float32)}


def half_result(model: onnx.ModelProto, feeds: dict[str, Array]) -> Array:
    """The same with float32 in between: ONNX Runtime has no such products."""
    first, second = (numpy_helper.to_array(one).astype(np.float32) for one in model.graph.initializer)
    return np.maximum(feeds["x"] @ first, 0) @ second


@dataclass
class Operator:
    """A model, what to give it, and what it gives."""

    text: str
    tolerance: float
    model: onnx.ModelProto
    feeds: dict[str, Array]
    expected: list[Array]


def operators() -> list[Operator]:
    """All nodes that the native engine's tests run, branches and loops, and weights of 16 bits."""
    random = np.random.default_rng(9)

    def floats(*shape: int) -> Array:
        return random.standard_normal(shape).astype(np.float32)

    peepholes: list[Any] = [floats(3, 2, 5), [floats(1, 24, 5)], [floats(1, 24, 6)], [floats(1, 48)], None]
    more = [
        Case("LSTM", [*peepholes, floats(1, 2, 6), floats(1, 2, 6), [floats(1, 18)]], {"hidden_size": 6}, 3),
        Case("GRU", [floats(3, 2, 5), [floats(1, 18, 5)], [floats(1, 18, 6)]], {"hidden_size": 6}, 2),
        Case("LayerNormalization", [floats(2, 3, 8), [floats(8)], [floats(8)]], {"axis": -1}, 3),
    ]
    found = []
    for case in (*CASES, *more):
        model, feeds = model_of(case)
        found.append(Operator(str(case), case.tolerance, model, feeds, on_onnxruntime(model, feeds)))
    for model, feeds in (loop_model(), while_model()):
        found.append(Operator("Loop and If", 2e-6, model, feeds, on_onnxruntime(model, feeds)))
    for dtype, tolerance in ((TensorProto.FLOAT16, 1e-2), (TensorProto.BFLOAT16, 1e-1)):
        model, feeds = half_model(dtype)
        found.append(Operator(f"weights of type {dtype}", tolerance, model, feeds, [half_result(model, feeds)]))
    return found


def operator_sources(found: list[Operator], folder: Path) -> list[kit.Source]:
    sources = []
    for i, one in enumerate(found):
        outputs = {port.name: value for port, value in zip(one.model.graph.output, one.expected, strict=True)}
        bundle = kit.write_bundle(folder / f"case_{i}", one.model, one.feeds, outputs)
        name = kit.generate(bundle, folder / f"source_{i}")
        # Twice: nothing of a step may be left for the next.
        twice = {port: np.stack([array, array]) for port, array in one.feeds.items()}
        sources.append(kit.Source(name, folder / f"source_{i}", twice, 2))
    return sources


def wrong_results(found: list[Operator], results: list[kit.Steps]) -> list[str]:
    wrong = []
    for one, result in zip(found, results, strict=True):
        pairs = list(zip(result.values(), one.expected, strict=True))
        error = max(relative(rows[step], right) for rows, right in pairs for step in (0, 1))
        if error > one.tolerance * 10:
            wrong.append(f"{one.text}: {error:.3g}")
    return wrong


def test_every_operator_of_the_engine(tmp_path: Path) -> None:
    """In one program. A kernel without a source form fails here."""
    found = operators()
    sources = operator_sources(found, tmp_path)
    wrong = wrong_results(found, kit.step_all(sources, tmp_path))
    assert not wrong, "\n".join(wrong)
    strange = {name for name in kit.undefined_symbols(tmp_path / "all.o") if not ALLOWED.fullmatch(name)}
    assert not strange


# ---- policies ----


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("policies")
    return [make(folder) for make in (*codegen_policies.POLICIES, *codegen_policies.LARGER)]


def test_policies_over_a_hundred_steps(bundles: list[Path], tmp_path: Path) -> None:
    """Within 1e-5 of what was expected, after 100 steps with state: sums are in another order, and libm is not ours."""
    sources, expected = [], []
    for bundle in bundles:
        (tmp_path / bundle.name).mkdir()
        inputs, outputs = kit.steps_of_bundle(bundle, STEPS, tmp_path / bundle.name)
        name = kit.generate(bundle, tmp_path / bundle.name / "source")
        sources.append(kit.Source(name, tmp_path / bundle.name / "source", inputs, STEPS))
        expected.append(outputs)
    errors = {}
    for bundle, found, right in zip(bundles, kit.step_all(sources, tmp_path), expected, strict=True):
        assert found.keys() == right.keys()
        errors[bundle.name] = max(relative(found[port], right[port]) for port in right)
    assert max(errors.values()) < 1e-5, errors
    strange = {name for name in kit.undefined_symbols(tmp_path / "all.o") if not ALLOWED.fullmatch(name)}
    assert not strange


def test_the_source_can_be_read(bundles: list[Path], tmp_path: Path) -> None:
    by_name = {bundle.name: bundle for bundle in bundles}
    kit.generate(by_name["gru"], tmp_path / "gru")
    text = (tmp_path / "gru/gru.cpp").read_text()
    # The node, the line of the user's program, the shapes.
    assert re.search(
        r"// Step \d+: GRU \"policy/\w+\"\n  // .*codegen_policies\.py:\d+\n  // .*float32\[1,12\]", text
    ), text
    header = (tmp_path / "gru/gru.h").read_text()
    assert "  // policy/h_in float32[2,1,12], fed back from policy/h_out\n  float h_in[24];\n" in header
    # Indices that are known and good cannot fail: outputs are written where they belong.
    assert "next_action" not in header
    kit.generate(by_name["mlp"], tmp_path / "mlp")
    assert "state/joint/position; robot; j0, j1, j2" in (tmp_path / "mlp/mlp.h").read_text()


def test_the_same_bundle_gives_the_same_bytes(bundles: list[Path], tmp_path: Path) -> None:
    for bundle in bundles:
        texts = []
        for run in ("first", "second"):
            name = kit.generate(bundle, tmp_path / run)
            texts.append([(tmp_path / run / f"{name}{end}").read_bytes() for end in (".h", ".cpp")])
        assert texts[0] == texts[1]


def test_reset_goes_back_to_the_initial_values(bundles: list[Path], tmp_path: Path) -> None:
    bundle = next(one for one in bundles if one.name == "lstm")
    inputs, outputs = kit.steps_of_bundle(bundle, 3, tmp_path)
    name = kit.generate(bundle, tmp_path / "source")
    source = kit.Source(
        name, tmp_path / "source", {port: np.concatenate([rows, rows]) for port, rows in inputs.items()}, 6
    )
    kit.compile_all([source], tmp_path, ["g++", "-O1"])
    driver = kit.driver_text([source]).replace(
        "    if (lstm::step", "    if (i == 3) lstm::reset(state);\n    if (lstm::step"
    )
    assert "lstm::reset" in driver
    (tmp_path / "main.cpp").write_text(driver)
    kit.run(["g++", "-std=c++17", "main.cpp", "all.o", "-o", "program", "-lm"], tmp_path)
    found, _ = source.split(memoryview(kit.run([tmp_path / "program"], tmp_path, source.input_bytes())))
    for port, right in outputs.items():
        assert relative(found[port][:3], right) < 1e-5
        np.testing.assert_array_equal(found[port][:3], found[port][3:])


# ---- data that has no result ----


def test_a_step_without_a_result_changes_nothing(tmp_path: Path) -> None:
    """An index out of range: the number of the step, and outputs and state as they were."""
    table = helper.make_tensor("table", TensorProto.FLOAT, [3], [10, 20, 30])
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["h", "one"], ["h_next"], name="adds"),
            helper.make_node("Identity", ["h_next"], ["count"]),
            helper.make_node("Gather", ["table", "i"], ["y"], name="looks_up"),
        ],
        "graph",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, [2]),
            helper.make_tensor_value_info("h", TensorProto.FLOAT, [1]),
        ],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [n])
            for name, n in (("y", 2), ("count", 1), ("h_next", 1))
        ],
        [table, helper.make_tensor("one", TensorProto.FLOAT, [1], [1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    one = np.zeros(1, np.float32)
    bundle = kit.write_bundle(
        tmp_path / "looks",
        model,
        {"i": np.zeros(2, np.int64), "h": one},
        {"y": np.zeros(2, np.float32), "count": one, "h_next": one},
    )
    yaml_file = bundle / "looks.yaml"
    text = yaml_file.read_text().replace("feedback_flow: {}", "feedback_flow: {node/h_next: [node/h]}")
    text = text.replace("    - i\n    - h\n", "    - i\n").replace(
        "    - y\n    - count\n    - h_next\n", "    - y\n    - count\n"
    )
    yaml_file.write_text(text)
    kit.generate(bundle, tmp_path / "source")
    (tmp_path / "main.cpp").write_text("""
#include "source/looks.h"
int main() {
  looks::State state;
  looks::init(state);
  looks::Inputs inputs = {{2, -3}};
  looks::Outputs outputs;
  if (looks::step(state, inputs, outputs) != 0) return 1;
  if (outputs.y[0] != 30 || outputs.y[1] != 10 || outputs.count[0] != 1) return 1;
  inputs.i[1] = 3;
  const int32_t failed = looks::step(state, inputs, outputs);
  if (failed == 0 || outputs.y[0] != 30 || outputs.y[1] != 10 || outputs.count[0] != 1 || state.h[0] != 1) return 2;
  inputs.i[1] = INT64_MIN;
  if (looks::step(state, inputs, outputs) != failed) return 3;
  inputs.i[1] = 0;
  return looks::step(state, inputs, outputs) == 0 && outputs.count[0] == 2 ? 0 : 4;
}
""")
    kit.run(
        ["g++", *kit.FLAGS, "-fsanitize=address,undefined", "main.cpp", "source/looks.cpp", "-o", "program"], tmp_path
    )
    kit.run([tmp_path / "program"], tmp_path)
    source = (tmp_path / "source/looks.cpp").read_text()
    assert re.search(r"// Step (\d+): Gather \\?\"node/looks_up\\?\"", source)


def test_cases_are_of_every_family() -> None:
    assert isinstance(CASES[0], Case)
    families: dict[str, Any] = {case.op: case for case in CASES}
    assert {"Conv", "GRU", "LSTM", "TopK", "GridSample", "ScatterND", "Einsum", "Where", "Cast"} <= set(families)
