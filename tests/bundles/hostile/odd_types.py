# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What no port has, and weights that are not what they say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from odd_graph import (
    FLOAT,
    INT64,
    STRING,
    Case,
    Write,
    body,
    built,
    bundle,
    constant,
    info,
    node,
    part,
    raw,
    summed,
)
from onnx import AttributeProto, TensorProto, helper


def types() -> Iterator[Case]:
    """What no port has: text, sequences, options, maps, sparse tensors, numbers of four bits."""
    for kind in (
        TensorProto.UINT4,
        TensorProto.INT4,
        TensorProto.FLOAT8E4M3FN,
        TensorProto.FLOAT8E5M2,
        23,
        24,
        25,
        26,
        27,
        TensorProto.BFLOAT16,
        TensorProto.FLOAT16,
        TensorProto.COMPLEX64,
        TensorProto.COMPLEX128,
    ):
        yield f"cast_to_{kind}", summed([node("Cast", ["x"], ["h"], to=kind), node("Cast", ["h"], ["r"], to=FLOAT)])
        for size in (0, 1, 2, 1000):
            yield (
                f"weight_of_{kind}_{size}",
                summed([node("Cast", ["w"], ["r"], to=FLOAT)], [raw("w", kind, [3], b"\x77" * size)]),
            )
        yield (
            f"dequantised_{kind}",
            summed(
                [node("DequantizeLinear", ["w", "s"], ["r"])],
                [raw("w", kind, [3], b"\x77\x77"), constant("s", 1, np.float32)],
            ),
        )
    text = helper.make_tensor("t", STRING, [2], [b"a", b"\xff\0b"])
    yield "strings", summed([node("Equal", ["t", "t"], ["r"])], [text])
    yield "strings_cast", summed([node("Cast", ["t"], ["r"], to=FLOAT)], [text])
    yield "strings_of_numbers", summed([node("Cast", ["x"], ["s"], to=STRING), node("Cast", ["s"], ["r"], to=FLOAT)])
    yield (
        "strings_without_data",
        summed([node("Equal", ["t", "t"], ["r"])], [TensorProto(name="t", data_type=STRING, dims=[1 << 20])]),
    )
    yield (
        "strings_raw",
        summed([node("Equal", ["t", "t"], ["r"])], [raw("t", STRING, [4], b"\0" * 4 * 32)]),
    )
    doubled = [node("StringConcat", [f"s{i}", f"s{i}"], [f"s{i + 1}"]) for i in range(40)]
    yield (
        "strings_doubled",
        summed([*doubled, node("Equal", ["s40", "s40"], ["r"])], [helper.make_tensor("s0", STRING, [1], [b"a" * 100])]),
    )
    from_data = [node("Cast", ["x"], ["s0"], to=STRING), *doubled, node("Equal", ["s40", "s40"], ["r"])]
    yield "strings_doubled_from_data", summed(from_data)
    long = helper.make_tensor("t", STRING, [1], [b"a" * 1_000_000])
    yield (
        "strings_expanded",
        summed([node("Expand", ["t", "n"], ["e"]), node("Equal", ["e", "e"], ["r"])], [long, constant("n", [100_000])]),
    )
    yield (
        "strings_tiled_by_data",
        summed(
            [
                node("Slice", ["i", "k0", "k1"], ["n"]),
                node("Mul", ["n", "m"], ["p"]),
                node("Add", ["p", "m"], ["q"]),
                node("Tile", ["t", "q"], ["e"]),
                node("Equal", ["e", "e"], ["r"]),
            ],
            [long, constant("m", [100_000]), constant("k0", [0]), constant("k1", [1])],
        ),
    )
    yield "strings_split", summed([node("StringSplit", ["t"], ["u", "r"], delimiter="a")], [long])
    yield (
        "regular_expression",
        summed([node("RegexFullMatch", ["t"], ["r"], pattern="(a*)*(a*)*(a*)*(a*)*b" * 20)], [long]),
    )
    yield (
        "large_regular_expression",
        summed([node("RegexFullMatch", ["t"], ["r"], pattern="((((a{0,100}){0,100}){0,100}){0,100})")], [text]),
    )
    yield (
        "normalised_strings",
        summed(
            [
                node("StringNormalizer", ["t"], ["u"], case_change_action="UPPER", locale="xx_YY\0"),
                node("Equal", ["u", "u"], ["r"]),
            ],
            [text],
        ),
    )
    yield (
        "sequence",
        summed(
            [node("SequenceConstruct", ["x", "x"], ["q"]), node("SequenceAt", ["q", "k"], ["r"])], [constant("k", 1)]
        ),
    )
    yield (
        "sequence_at_data",
        summed(
            [
                node("SequenceConstruct", ["x", "x"], ["q"]),
                node("Slice", ["i", "k0", "k1"], ["p"]),
                node("Squeeze", ["p"], ["k"]),
                node("SequenceAt", ["q", "k"], ["r"]),
            ],
            [constant("k0", [0]), constant("k1", [1])],
        ),
    )
    yield "sequence_empty", summed([node("SequenceEmpty", [], ["q"]), node("ConcatFromSequence", ["q"], ["r"], axis=0)])
    yield (
        "sequence_erase",
        summed(
            [
                node("SequenceEmpty", [], ["q"]),
                node("SequenceErase", ["q"], ["p"]),
                node("SequenceLength", ["p"], ["r"]),
            ]
        ),
    )
    yield (
        "split_to_sequence",
        summed(
            [node("SplitToSequence", ["x", "k"], ["q"]), node("SequenceLength", ["q"], ["r"])], [constant("k", [-1, 5])]
        ),
    )
    yield (
        "split_to_sequence_by_data",
        summed([node("SplitToSequence", ["x", "i"], ["q"]), node("SequenceLength", ["q"], ["r"])]),
    )
    yield (
        "split_to_sequence_by_zero",
        summed([node("SplitToSequence", ["x", "k"], ["q"]), node("SequenceLength", ["q"], ["r"])], [constant("k", 0)]),
    )
    yield (
        "sequence_map",
        summed(
            [
                node("SequenceConstruct", ["x", "x"], ["q"]),
                node(
                    "SequenceMap", ["q"], ["p"], body=body("b", [node("Abs", ["s"], ["t"])], [info("s")], [info("t")])
                ),
                node("ConcatFromSequence", ["p"], ["r"], axis=0),
            ]
        ),
    )
    grown = [
        node("SequenceConstruct", ["x"], ["q0"]),
        *(node("SequenceInsert", [f"q{i}", "x"], [f"q{i + 1}"]) for i in range(3_000)),
        node("SequenceLength", ["q3000"], ["r"]),
    ]
    yield "sequence_grown", summed(grown)
    yield "optional", summed([node("Optional", ["x"], ["o"]), node("OptionalGetElement", ["o"], ["r"])])
    empty = helper.make_optional_type_proto(helper.make_tensor_type_proto(FLOAT, [4]))
    yield (
        "optional_of_nothing",
        summed([node("Optional", [], ["o"], type=empty), node("OptionalGetElement", ["o"], ["r"])]),
    )
    yield "optional_has", summed([node("Optional", [], ["o"], type=empty), node("OptionalHasElement", ["o"], ["r"])])
    for depth in (40, 2_000, 20_000):
        yield f"deep_type_{depth}", bundle(with_deep_type(depth))
    for label, kind in (
        ("sequence", helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, [4]))),
        ("optional", empty),
        ("sparse", helper.make_sparse_tensor_type_proto(FLOAT, [4])),
        ("map", helper.make_map_type_proto(INT64, helper.make_tensor_type_proto(FLOAT, []))),
        ("nothing", onnx.TypeProto()),
    ):
        model = built([node("Abs", ["x"], ["y"])])
        model.graph.input[0].type.CopyFrom(kind)
        yield f"input_is_{label}", bundle(model)
        model = built([node("Abs", ["x"], ["y"])])
        model.graph.output[0].type.CopyFrom(kind)
        yield f"output_is_{label}", bundle(model)
    yield (
        "map",
        summed(
            [
                node("ZipMap", ["x"], ["m"], domain="ai.onnx.ml", classlabels_int64s=[0, 1, 2, 3]),
                node("CastMap", ["m"], ["r"], domain="ai.onnx.ml"),
            ],
            opsets=[("", 21), ("ai.onnx.ml", 3)],
        ),
    )


def with_deep_type(depth: int) -> bytes:
    """A value that is a sequence of sequences of sequences."""
    kind = b""
    for _ in range(depth // 2):
        kind = part(4, part(1, kind))
        if len(kind) > 1 << 20:
            break
    model = built([node("Abs", ["x"], ["y"])])
    graph = model.graph.SerializeToString() + part(13, part(1, b"deep") + part(2, kind))
    model.ClearField("graph")
    return model.SerializeToString() + part(7, graph)


def sparse(dims: list[int], values: onnx.TensorProto, indices: onnx.TensorProto) -> onnx.SparseTensorProto:
    return helper.make_sparse_tensor(values, indices, dims)


def weights() -> Iterator[Case]:
    """Weights that are not what they say."""
    add = [node("Add", ["x", "w"], ["y"])]
    for size in (0, 1, 15, 17, 1000):
        yield f"raw_of_{size}", bundle(built(add, [raw("w", FLOAT, [4], b"\0" * size)]))
    both = raw("w", FLOAT, [4], b"\0" * 16)
    both.float_data.extend([1, 2, 3, 4])
    yield "raw_and_floats", bundle(built(add, [both]))
    wrong = TensorProto(name="w", data_type=FLOAT, dims=[4], int64_data=[1, 2, 3, 4])
    yield "floats_as_integers", bundle(built(add, [wrong]))
    for dims in ([-4], [2, -2], [1 << 62, 4], [(1 << 63) - 1, 2], [0, 1 << 62], [4] * 100, [1] * 5000, [-(1 << 63)]):
        yield f"dims_{len(dims)}_{dims[0]}", bundle(built(add, [raw("w", FLOAT, list(dims), b"\0" * 16)]))
    segment = raw("w", FLOAT, [4], b"\0" * 16)
    segment.segment.begin, segment.segment.end = -1, 1 << 60
    yield "segment", bundle(built(add, [segment]))
    dense = [node("Identity", ["w"], ["r"])]

    def of_sparse(tensor: onnx.SparseTensorProto, count: int = 1) -> Write:
        inward = [node("Cast", ["x"], ["i"], to=INT64)]
        nodes = [node("ReduceSum", [f"w{k}" if k else "w"], [f"s{k}"], keepdims=0) for k in range(count)]
        nodes.append(node("Sum", [f"s{k}" for k in range(count)], ["s"]))
        model = built([*inward, *nodes, node("Mul", ["x", "s"], ["y"])])
        for k in range(count):
            other = onnx.SparseTensorProto()
            other.CopyFrom(tensor)
            other.values.name = f"w{k}" if k else "w"
            model.graph.sparse_initializer.append(other)
        return bundle(model)

    ones = constant("w", [1], np.float32)
    yield "sparse", of_sparse(sparse([8], ones, constant("k", [3])))
    for place in (8, -1, 1 << 40, -(1 << 63)):
        yield f"sparse_at_{place}", of_sparse(sparse([8], ones, constant("k", [place])))
    yield "sparse_two_axes", of_sparse(sparse([2, 4], ones, constant("k", [[1, 3]])))
    yield "sparse_two_axes_beyond", of_sparse(sparse([2, 4], ones, constant("k", [[5, 9]])))
    yield "sparse_more_places", of_sparse(sparse([8], ones, constant("k", [1, 2, 3])))
    yield "sparse_unsorted", of_sparse(sparse([8], constant("w", [1, 2], np.float32), constant("k", [5, 5])))
    yield "sparse_negative", of_sparse(sparse([-8], ones, constant("k", [1])))
    yield "sparse_overflow", of_sparse(sparse([1 << 33, 1 << 33], ones, constant("k", [1])))
    yield "sparse_many", of_sparse(sparse([50_000_000], ones, constant("k", [1])), 60)
    large = node("Constant", [], ["w"])
    large.attribute.append(
        AttributeProto(
            name="sparse_value",
            type=AttributeProto.SPARSE_TENSOR,
            sparse_tensor=sparse([1 << 40], ones, constant("k", [1])),
        )
    )
    yield "sparse_constant_large", summed([large, *dense])
    several = []
    for k in range(60):
        each = node("Constant", [], [f"w{k}"])
        each.attribute.append(
            AttributeProto(
                name="sparse_value",
                type=AttributeProto.SPARSE_TENSOR,
                sparse_tensor=sparse([50_000_000], ones, constant("k", [1])),
            )
        )
        several += [each, node("ReduceSum", [f"w{k}"], [f"s{k}"], keepdims=0)]
    yield "sparse_constants_many", summed([*several, node("Sum", [f"s{k}" for k in range(60)], ["r"])])
    for attribute in ("value", "value_string", "value_strings", "value_float", "nothing"):
        odd = node("Constant", [], ["w"])
        odd.attribute.append(AttributeProto(name=attribute, type=AttributeProto.INT, i=3))
        yield f"constant_of_{attribute}", summed([odd, *dense])
    yield "constant_twice", summed([node("Constant", [], ["w"], value_int=3, value_float=2.0), *dense])
    for kind in (
        AttributeProto.TENSOR,
        AttributeProto.GRAPH,
        AttributeProto.SPARSE_TENSOR,
        AttributeProto.TYPE_PROTO,
        AttributeProto.STRINGS,
    ):
        odd = node("LeakyRelu", ["x"], ["r"])
        odd.attribute.append(AttributeProto(name="alpha", type=kind))
        yield f"attribute_of_type_{kind}", summed([odd])
    yield "long_attribute", summed([node("LeakyRelu", ["x"], ["r"], alpha=0.1, unknown="a" * 5_000_000)])
    yield (
        "attribute_twice",
        summed(
            [
                onnx.NodeProto(
                    op_type="LeakyRelu", input=["x"], output=["r"], attribute=[helper.make_attribute("alpha", 0.1)] * 2
                )
            ]
        ),
    )
    yield (
        "doc_strings",
        bundle(built(add, [raw("w", FLOAT, [4], b"\0" * 16)], doc_string="\x1b[2J" * 100_000)),
    )
