# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Models that are odd as files and graphs, not in what their operators are given: each runs or is refused.

    .venv/bin/python tests/bundles/hostile/odd_models.py ENGINE FOLDER [NAME...]

Names that mean two things, bodies that do not fit, types that no port has, weights that lie where they should not,
metadata that is for an engine, operators of other domains, and sizes that only the data knows.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import odd_operators
import onnx
from odd_domains import of_others
from odd_files import beside, formats
from odd_graph import BOOL, FLOAT, INT64, STRING, Case, Write, body, built, bundle, constant, info, node
from odd_sizes import sizes
from odd_types import types, weights
from onnx import AttributeProto, helper


def names() -> Iterator[Case]:
    """Names that mean two things, or nothing."""
    yield "cycle", bundle(built([node("Add", ["x", "b"], ["a"]), node("Abs", ["a"], ["b"]), node("Abs", ["b"], ["y"])]))
    yield "self_cycle", bundle(built([node("Add", ["x", "y"], ["y"])]))
    yield "backwards", bundle(built([node("Abs", ["a"], ["y"]), node("Neg", ["x"], ["a"])]))
    yield "twice", bundle(built([node("Abs", ["x"], ["y"]), node("Neg", ["x"], ["y"])]))
    yield "twice_in_one", bundle(built([node("Split", ["x"], ["y", "y"], num_outputs=2)]))
    yield "output_is_input", bundle(built([node("Abs", ["x"], ["x"]), node("Abs", ["x"], ["y"])]))
    yield "nobody_makes_it", bundle(built([node("Abs", ["nobody"], ["y"])]))
    yield "no_nodes", bundle(built([]))
    yield "no_inputs", bundle(built([node("Abs", [], ["y"])]))
    yield "no_outputs", bundle(built([node("Abs", ["x"], []), node("Abs", ["x"], ["y"])]))
    yield "empty_output", bundle(built([node("Abs", ["x"], [""]), node("Abs", ["x"], ["y"])]))
    yield "empty_operator", bundle(built([node("", ["x"], ["y"])]))
    yield "many_inputs", bundle(built([node("Abs", ["x"] * 1000, ["y"])]))
    yield "many_sums", bundle(built([node("Sum", ["x"] * 50_000, ["y"])]))
    weights = [constant("w", [1, 2, 3, 4], np.float32), constant("w", [1, 2], np.float32)]
    yield "two_weights_of_one_name", bundle(built([node("Add", ["x", "w"], ["y"])], weights))
    yield "weight_is_result", bundle(built([node("Abs", ["x"], ["w"]), node("Add", ["x", "w"], ["y"])], weights[:1]))
    yield "weight_is_input", bundle(built([node("Abs", ["x"], ["y"])], [constant("x", [1, 2, 3, 4], np.float32)]))
    yield "weight_is_other_input", bundle(built([node("Abs", ["x"], ["y"])], [constant("x", [1], np.int64)]))
    yield "weight_is_output", bundle(built([], [constant("y", [1, 2, 3, 4], np.float32)]))
    yield "weight_without_name", bundle(built([node("Add", ["x", ""], ["y"])], [constant("", [1], np.float32)]))
    long = "n" * 3_000_000
    yield "long_name", bundle(built([node("Abs", ["x"], [long]), node("Abs", [long], ["y"], name=long)]))
    for label, odd in (("nul", "a\0b"), ("bidi", "\u202ea"), ("path", "../../a"), ("percent", "%s%n%x")):
        yield f"name_{label}", bundle(built([node("Abs", ["x"], [odd]), node("Abs", [odd], ["y"], name=odd)]))
    model = built([node("Abs", ["x"], ["y"])])
    model.graph.input.append(info("z"))
    yield "input_nobody_binds", bundle(model)
    model = built([node("Abs", ["x"], ["y"])])
    model.graph.input.append(info("x"))
    yield "input_twice", bundle(model)
    model = built([node("Abs", ["x"], ["y"])])
    model.graph.output.append(info("y", INT64))
    yield "output_twice", bundle(model)
    for kind in (INT64, STRING, 0, 99, -1):
        model = built([node("Abs", ["x"], ["y"])])
        model.graph.value_info.append(info("x", FLOAT, [7]))
        model.graph.output[0].type.tensor_type.elem_type = kind
        yield f"output_of_type_{kind}", bundle(model)
    model = built([node("Abs", ["x"], ["a"]), node("Abs", ["a"], ["y"])])
    for shape in ([1 << 40], [-3], [0, 0], [4] * 5000):
        del model.graph.value_info[:]
        model.graph.value_info.append(info("a", INT64, list(shape)))
        yield f"wrong_value_info_{len(shape)}_{shape[0]}", bundle(model.SerializeToString())


def bodies() -> Iterator[Case]:
    """Graphs in nodes that do not fit them, or see what they should not."""
    condition = node("Equal", ["zero", "zero"], ["c"])
    zero = constant("zero", 0)
    one = body("one", [node("Abs", ["x"], ["o"])], [], [info("o")])

    def choice(first: onnx.GraphProto, second: onnx.GraphProto, outputs: list[str] | None = None) -> Write:
        chosen = node("If", ["c"], outputs or ["y"], then_branch=first, else_branch=second)
        return bundle(built([condition, chosen], [zero]))

    yield "if_good", choice(one, one)
    two = body("two", [node("Abs", ["x"], ["o"]), node("Neg", ["x"], ["p"])], [], [info("o"), info("p")])
    yield "if_more_outputs", choice(one, two)
    yield "if_fewer_outputs", choice(one, one, ["y", "z"])
    yield "if_other_type", choice(one, body("b", [node("Cast", ["x"], ["o"], to=INT64)], [], [info("o", INT64)]))
    yield (
        "if_other_shape",
        choice(one, body("b", [node("Concat", ["x", "x"], ["o"], axis=0)], [], [info("o", FLOAT, [8])])),
    )
    yield (
        "if_other_rank",
        choice(one, body("b", [node("ReduceSum", ["x"], ["o"], keepdims=0)], [], [info("o", FLOAT, [])])),
    )
    yield "if_hands_on", choice(body("b", [], [], [info("x")]), one)
    yield "if_of_nothing", choice(body("b", [], [], []), body("b", [], [], []))
    yield "if_of_nobody", choice(body("b", [node("Abs", ["nobody"], ["o"])], [], [info("o")]), one)
    yield "if_with_inputs", choice(body("b", [node("Abs", ["q"], ["o"])], [info("q")], [info("o")]), one)
    yield "if_shadows", choice(body("b", [node("Abs", ["x"], ["x"])], [], [info("x")]), one)
    yield (
        "if_shadows_by_weight",
        choice(
            body(
                "b", [node("Abs", ["x"], ["o"])], [], [info("o")], initializer=[constant("x", np.zeros(9), np.float32)]
            ),
            one,
        ),
    )
    yield "if_sees_itself", choice(body("b", [node("Abs", ["y"], ["o"])], [], [info("o")]), one)
    yield (
        "if_sees_later",
        bundle(
            built(
                [
                    condition,
                    node(
                        "If",
                        ["c"],
                        ["a"],
                        then_branch=body("b", [node("Abs", ["later"], ["o"])], [], [info("o")]),
                        else_branch=one,
                    ),
                    node("Abs", ["a"], ["later"]),
                    node("Abs", ["later"], ["y"]),
                ],
                [zero],
            )
        ),
    )
    yield "if_without_branches", bundle(built([condition, node("If", ["c"], ["y"])], [zero]))
    yield "if_of_a_float", bundle(built([node("If", ["x"], ["y"], then_branch=one, else_branch=one)]))
    yield "body_of_abs", bundle(built([node("Abs", ["x"], ["y"], hidden=one)]))
    deep = one
    for _ in range(60):
        inner = node("If", ["c"], ["o"], then_branch=deep, else_branch=deep)
        deep = body("deep", [inner], [], [info("o")])
        if deep.ByteSize() > 1_000_000:
            break
    yield "if_in_if", choice(deep, one)

    def loop(inside: onnx.GraphProto, inputs: list[str], outputs: list[str], count: int = 3) -> Write:
        nodes = [node("Loop", inputs, outputs, body=inside), node("Identity", [outputs[0]], ["y"])]
        return bundle(built(nodes, [constant("count", count), constant("go", True, np.bool_)]))

    go = [info("i", INT64, []), info("c", BOOL, [])]
    on = node("Identity", ["c"], ["d"])
    end = [info("d", BOOL, [])]
    yield (
        "loop_good",
        loop(
            body("b", [on, node("Abs", ["s"], ["t"])], [*go, info("s")], [*end, info("t")]), ["count", "go", "x"], ["r"]
        ),
    )
    yield (
        "loop_fewer_states",
        loop(body("b", [on, node("Abs", ["s"], ["t"])], [*go, info("s")], [*end, info("t")]), ["count", "go"], ["r"]),
    )
    yield (
        "loop_more_states",
        loop(
            body("b", [on, node("Abs", ["s"], ["t"])], [*go, info("s")], [*end, info("t")]),
            ["count", "go", "x", "x"],
            ["r", "q"],
        ),
    )
    yield "loop_no_inputs", loop(body("b", [node("Identity", ["go"], ["d"])], [], end), ["count", "go", "x"], ["r"])
    yield "loop_no_outputs", loop(body("b", [on], [*go, info("s")], []), ["count", "go", "x"], ["r"])
    yield (
        "loop_other_type",
        loop(
            body("b", [on, node("Cast", ["s"], ["t"], to=INT64)], [*go, info("s")], [*end, info("t", INT64)]),
            ["count", "go", "x"],
            ["r"],
        ),
    )
    yield (
        "loop_grows",
        loop(
            body(
                "b",
                [on, node("Concat", ["s", "s"], ["t"], axis=0)],
                [*go, info("s", FLOAT, ["n"])],
                [*end, info("t", FLOAT, ["m"])],
            ),
            ["count", "go", "x"],
            ["r"],
            60,
        ),
    )
    yield (
        "loop_gathers",
        loop(
            body(
                "b",
                [on, node("Abs", ["s"], ["t"]), node("Expand", ["s", "k"], ["u"])],
                [*go, info("s")],
                [*end, info("t"), info("u", FLOAT, ["n", "m"])],
                initializer=[constant("k", [100_000, 4])],
            ),
            ["count", "go", "x"],
            ["r", "all"],
            1000,
        ),
    )
    yield (
        "loop_of_strings",
        loop(
            body("b", [on, node("Cast", ["s"], ["t"], to=STRING)], [*go, info("s")], [*end, info("t", STRING)]),
            ["count", "go", "x"],
            ["r"],
        ),
    )
    ragged = [
        on,
        node("Add", ["i", "i1"], ["n"]),
        node("Reshape", ["n", "i1"], ["k"]),
        node("Expand", ["one", "k"], ["u"]),
        node("Abs", ["s"], ["t"]),
    ]
    yield (
        "loop_ragged",
        loop(
            body(
                "b",
                ragged,
                [*go, info("s")],
                [*end, info("t"), info("u", FLOAT, ["n"])],
                initializer=[constant("i1", [1]), constant("one", 1, np.float32)],
            ),
            ["count", "go", "x"],
            ["r", "all"],
        ),
    )
    for axes in ([7], [-9], [0, 0, 0], [1 << 40]):
        scan = node(
            "Scan",
            ["x"],
            ["y"],
            body=body("b", [node("Abs", ["s"], ["t"])], [info("s", FLOAT, [])], [info("t", FLOAT, [])]),
            num_scan_inputs=1,
            scan_input_axes=axes,
            scan_output_axes=axes,
        )
        yield f"scan_axes_{len(axes)}_{axes[0]}", bundle(built([scan]))
    for count in (0, 2, -1, 1 << 40):
        scan = node(
            "Scan",
            ["x"],
            ["y"],
            body=body("b", [node("Abs", ["s"], ["t"])], [info("s", FLOAT, [])], [info("t", FLOAT, [])]),
            num_scan_inputs=count,
        )
        yield f"scan_of_{count}", bundle(built([scan]))


def functions() -> Iterator[Case]:
    def model(
        functions: list[onnx.FunctionProto], nodes: list[onnx.NodeProto], opsets: list[tuple[str, int]] | None = None
    ) -> Write:
        return bundle(built(nodes, opsets=opsets or [("", 21), ("local", 1)], functions=functions))

    imports = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]

    def function(
        name: str,
        inputs: list[str],
        outputs: list[str],
        nodes: list[onnx.NodeProto],
        domain: str = "local",
        **more: Any,
    ) -> onnx.FunctionProto:
        return helper.make_function(domain, name, inputs, outputs, nodes, imports, **more)

    call = [node("f", ["x"], ["y"], domain="local")]
    good = function("f", ["a"], ["b"], [node("Abs", ["a"], ["b"])])
    yield "function", model([good], call)
    yield "function_twice", model([good, function("f", ["a"], ["b"], [node("Neg", ["a"], ["b"])])], call)
    overload = function("f", ["a"], ["b"], [node("Neg", ["a"], ["b"])])
    overload.overload = "other"
    calling = node("f", ["x"], ["y"], domain="local")
    calling.overload = "other"
    yield "function_overloads", model([good, overload], [calling])
    calling = node("f", ["x"], ["y"], domain="local")
    calling.overload = "nobody"
    yield "function_overload_of_nobody", model([good], [calling])
    yield "function_fewer_inputs", model([function("f", ["a", "q"], ["b"], [node("Add", ["a", "q"], ["b"])])], call)
    yield "function_more_outputs", model([good], [node("f", ["x"], ["y", "z"], domain="local")])
    yield "function_sees_outside", model([function("f", ["a"], ["b"], [node("Add", ["a", "x"], ["b"])])], call)
    yield "function_makes_nothing", model([function("f", ["a"], ["b"], [])], call)
    yield (
        "function_named_abs",
        bundle(
            built(
                [node("Abs", ["x"], ["y"])],
                functions=[function("Abs", ["a"], ["b"], [node("Neg", ["a"], ["b"])], domain="")],
            )
        ),
    )
    yield (
        "function_of_microsoft",
        bundle(
            built(
                [node("Gelu", ["x"], ["y"], domain="com.microsoft")],
                functions=[function("Gelu", ["a"], ["b"], [node("Neg", ["a"], ["b"])], domain="com.microsoft")],
            )
        ),
    )
    reference = node("LeakyRelu", ["a"], ["b"])
    reference.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT))
    yield (
        "function_attribute",
        model(
            [function("f", ["a"], ["b"], [reference], attributes=["slope"])],
            [node("f", ["x"], ["y"], domain="local", slope=0.5)],
        ),
    )
    yield "function_attribute_missing", model([function("f", ["a"], ["b"], [reference], attributes=["slope"])], call)
    yield "function_attribute_of_nobody", model([function("f", ["a"], ["b"], [reference])], call)
    yield (
        "function_attribute_other_type",
        model(
            [function("f", ["a"], ["b"], [reference], attributes=["slope"])],
            [node("f", ["x"], ["y"], domain="local", slope="steep")],
        ),
    )
    yield (
        "attribute_of_nobody_at_the_top",
        bundle(built([onnx.NodeProto(op_type="LeakyRelu", input=["x"], output=["y"], attribute=reference.attribute)])),
    )
    first = function("f", ["a"], ["b"], [node("g", ["a"], ["b"], domain="local")])
    second = function("g", ["a"], ["b"], [node("f", ["a"], ["b"], domain="local")])
    yield "functions_in_a_circle", model([first, second], call)
    big = function("f", ["a"], ["b"], [node("ConstantOfShape", ["a"], ["b"])])
    yield (
        "function_makes_large",
        bundle(
            built(
                [
                    node("f", ["n"], ["l"], domain="local"),
                    node("ReduceSum", ["l"], ["s"], keepdims=0),
                    node("Mul", ["x", "s"], ["y"]),
                ],
                [constant("n", [1 << 31])],
                opsets=[("", 21), ("local", 1)],
                functions=[big],
            )
        ),
    )


def versions() -> Iterator[Case]:
    simple = [node("Abs", ["x"], ["y"])]
    for version in (0, -1, 1, 5, 7, 22, 23, 25, 99, 1 << 31, (1 << 63) - 1, -(1 << 63)):
        yield f"opset_{version}", bundle(built(simple, opsets=[("", version)]))
        yield (
            f"microsoft_{version}",
            bundle(
                built(
                    [node("Gelu", ["x"], ["y"], domain="com.microsoft")], opsets=[("", 21), ("com.microsoft", version)]
                )
            ),
        )
    for version in (-1, 0, 1, 2, 3, 99, 1 << 40):
        yield f"ir_{version}", bundle(built(simple, ir=version))
    model = built(simple)
    del model.opset_import[:]
    yield "no_opset", bundle(model)
    yield "opset_twice", bundle(built(simple, opsets=[("", 21), ("", 1), ("ai.onnx", 13)]))
    yield "many_opsets", bundle(built(simple, opsets=[("", 21), *((f"d{i}", i) for i in range(20_000))]))
    for domain in (
        "com.nobody",
        "ai.onnx.ml",
        "ai.onnx.training",
        "com.microsoft.nchwc",
        "com.ms.internal.nhwc",
        "org.pytorch.aten",
        "com.microsoft.experimental",
        "\0",
        "a" * 100_000,
    ):
        yield (
            f"domain_{domain[:20]!r}",
            bundle(built([node("Abs", ["x"], ["y"], domain=domain)], opsets=[("", 21), (domain, 1)])),
        )


def cases() -> dict[str, Write]:
    """By name."""
    found: dict[str, Write] = {}
    for family in (names, bodies, functions, versions, types, weights, beside, formats, of_others, sizes):
        for name, write in family():
            assert name not in found, name
            found[name] = write
    return found


def main() -> None:
    engine, folder, chosen = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    for number, (name, write) in enumerate(cases().items()):
        if chosen and name not in chosen:
            continue
        place = folder / f"case{number}"
        print(f"{name!r}: {odd_operators.in_a_process(write(place), engine)}", flush=True)
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
