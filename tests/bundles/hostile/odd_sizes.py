# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes that only the data knows, and what many small things come to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from odd_graph import Case, constant, node, summed


def sizes() -> Iterator[Case]:
    """What only the data knows, and what many small things come to."""
    first = [
        node("Slice", ["i", "k0", "k1"], ["n0"]),
        node("Abs", ["n0"], ["n1"]),
        node("Add", ["n1", "k1"], ["n2"]),
        node("Mul", ["n2", "m"], ["n"]),
    ]
    places = [constant("k0", [0]), constant("k1", [1])]
    for label, count in (("large", 1 << 28), ("larger", 1 << 33), ("vast", 1 << 40)):
        of = [*places, constant("m", [count])]
        scalar = node("Squeeze", ["n"], ["ns"])
        yield f"data_constant_{label}", summed([*first, node("ConstantOfShape", ["n"], ["r"])], of)
        yield (
            f"data_expand_{label}",
            summed([*first, node("Expand", ["one", "n"], ["r"])], [*of, constant("one", 1, np.float32)]),
        )
        yield f"data_tile_{label}", summed([*first, node("Tile", ["x", "n"], ["r"])], of)
        yield (
            f"data_range_{label}",
            summed([*first, scalar, node("Range", ["z", "ns", "o"], ["r"])], [*of, constant("z", 0), constant("o", 1)]),
        )
        yield (
            f"data_pad_{label}",
            summed([*first, node("Concat", ["n", "n"], ["p"], axis=0), node("Pad", ["x", "p"], ["r"])], of),
        )
        yield (
            f"data_one_hot_{label}",
            summed([*first, scalar, node("OneHot", ["i", "ns", "v"], ["r"])], [*of, constant("v", [0, 1], np.float32)]),
        )
        yield f"data_resize_{label}", summed([*first, node("Resize", ["x", "", "", "n"], ["r"])], of)
        yield (
            f"data_reshape_empty_{label}",
            summed([*first, node("Concat", ["n", "k0"], ["p"], axis=0), node("ConstantOfShape", ["p"], ["r"])], of),
        )
        yield f"data_window_{label}", summed([*first, scalar, node("HannWindow", ["ns"], ["r"])], of)
        yield (
            f"data_mel_{label}",
            summed(
                [*first, scalar, node("MelWeightMatrix", ["e", "ns", "f", "l", "h"], ["r"])],
                [
                    *of,
                    constant("e", 8),
                    constant("f", 8192),
                    constant("l", 0, np.float32),
                    constant("h", 4000, np.float32),
                ],
            ),
        )
        yield (
            f"data_eye_{label}",
            summed(
                [
                    *first,
                    node("Concat", ["n", "k1"], ["p"], axis=0),
                    node("ConstantOfShape", ["p"], ["q"]),
                    node("EyeLike", ["q"], ["r"]),
                ],
                of,
            ),
        )
        yield (
            f"data_dft_{label}",
            summed(
                [*first, scalar, node("Reshape", ["x", "s"], ["m2"]), node("DFT", ["m2", "ns"], ["r"])],
                [*of, constant("s", [1, 4, 1])],
            ),
        )
        yield f"data_top_{label}", summed([*first, node("TopK", ["x", "n"], ["r", "q"])], of)
        yield (
            f"data_multinomial_{label}",
            summed(
                [*first, node("Reshape", ["x", "s"], ["m2"]), node("Multinomial", ["m2"], ["r"], sample_size=count)],
                [*of, constant("s", [1, 4])],
            ),
        )
        yield f"data_normal_{label}", summed([*first, node("RandomNormal", [], ["r"], shape=[count])], of)
        yield (
            f"data_affine_{label}",
            summed(
                [*first, node("Concat", ["k1", "k1", "n", "k1"], ["p"], axis=0), node("AffineGrid", ["t", "p"], ["r"])],
                [*of, constant("t", np.ones((1, 2, 3)), np.float32)],
            ),
        )
        yield (
            f"data_col_{label}",
            summed(
                [*first, node("Concat", ["n", "k1"], ["p"], axis=0), node("Col2Im", ["t", "p", "o2"], ["r"])],
                [*of, constant("t", np.ones((1, 1, 4)), np.float32), constant("o2", [1, 1])],
            ),
        )
        yield (
            f"data_unpool_{label}",
            summed(
                [
                    *first,
                    node("Concat", ["k1", "k1", "n"], ["p"], axis=0),
                    node("Reshape", ["x", "s"], ["m2"]),
                    node("Reshape", ["i", "s"], ["j2"]),
                    node("MaxUnpool", ["m2", "j2", "p"], ["r"], kernel_shape=[1]),
                ],
                [*of, constant("s", [1, 1, 4])],
            ),
        )
        yield f"data_center_{label}", summed([*first, node("CenterCropPad", ["x", "n"], ["r"], axes=[0])], of)
        yield (
            f"data_split_{label}",
            summed(
                [
                    *first,
                    node("Tile", ["x", "n"], ["b"]),
                    node("SplitToSequence", ["b", "k1"], ["q"]),
                    node("SequenceLength", ["q"], ["r"]),
                ],
                of,
            ),
        )
        yield (
            f"data_nonzero_{label}",
            summed(
                [
                    *first,
                    node("ConstantOfShape", ["n"], ["b"], value=constant("v", [1], np.float32)),
                    node("NonZero", ["b"], ["r"]),
                ],
                of,
            ),
        )
        yield (
            f"data_unique_{label}",
            summed(
                [*first, scalar, node("Range", ["z", "ns", "o"], ["b"]), node("Unique", ["b"], ["r", "q", "p", "o1"])],
                [*of, constant("z", 0), constant("o", 1)],
            ),
        )
    for count in (2_000, 30_000):
        column, line = constant("c", np.ones((count, 1)), np.float32), constant("l", np.ones((1, count)), np.float32)
        for op, more in (("MatMul", {}), ("Gemm", {}), ("Add", {}), ("Einsum", {"equation": "ij,jk->ik"})):
            yield f"outer_{op}_{count}", summed([node(op, ["c", "l"], ["r"], **more)], [column, line])
            yield (
                f"outer_{op}_{count}_data",
                summed(
                    [
                        node("Slice", ["x", "k0", "k1"], ["f"]),
                        node("Mul", ["c", "f"], ["d"]),
                        node(op, ["d", "l"], ["r"], **more),
                    ],
                    [column, line, *places],
                ),
            )
    chain = [
        node("MatMul", ["w", "w"], ["p0"]),
        *(node("MatMul", [f"p{k}", "w"], [f"p{k + 1}"]) for k in range(200)),
        node("Identity", ["p200"], ["r"]),
    ]
    yield "constant_products", summed(chain, [constant("w", np.full((1000, 1000), 1e-3), np.float32)])
    yield (
        "constant_convolutions",
        summed(
            [node("Conv", ["m", "w"], ["r"], pads=[20_000, 20_000, 20_000, 20_000])],
            [constant("m", np.ones((1, 1, 2, 2)), np.float32), constant("w", np.ones((1, 1, 1, 1)), np.float32)],
        ),
    )
    yield (
        "constant_upsample",
        summed(
            [node("Resize", ["m", "", "k"], ["r"])],
            [constant("m", np.ones((1, 1, 2, 2)), np.float32), constant("k", [1, 1, 20_000, 20_000], np.float32)],
        ),
    )
    yield "old_pad", summed([node("Pad", ["x"], ["r"], pads=[1 << 30, 1 << 30])], opsets=[("", 10)])
    yield (
        "constant_gather",
        summed(
            [node("Gather", ["w", "k"], ["r"])],
            [constant("w", np.ones((1, 100_000)), np.float32), constant("k", np.zeros(100_000), np.int64)],
        ),
    )
    yield (
        "constant_one_hot",
        summed(
            [node("OneHot", ["k", "d", "v"], ["r"])],
            [constant("k", np.zeros(100_000), np.int64), constant("d", 100_000), constant("v", [0, 1], np.float32)],
        ),
    )
    many = [node("ConstantOfShape", ["n"], [f"c{k}"]) for k in range(60)]
    yield (
        "constants_at_once",
        summed([*many, node("Sum", [f"c{k}" for k in range(60)], ["r"])], [constant("n", [50_000_000])]),
    )
    many = [node("Expand", ["f", "n"], [f"c{k}"]) for k in range(60)]
    at = [node("Slice", ["x", "k0", "k1"], ["f"]), *many, node("Sum", [f"c{k}" for k in range(60)], ["r"])]
    yield "results_at_once", summed(at, [constant("n", [50_000_000]), *places])
    weight = constant("w", np.ones((2000, 2000)), np.float32)
    spread = [node("Slice", ["x", "k0", "k1"], ["f"]), node("Expand", ["f", "n"], ["a0"])]
    spread += [node("MatMul", [f"a{k}", "w"], [f"a{k + 1}"]) for k in range(100)]
    yield (
        "packed_again_and_again",
        summed([*spread, node("Identity", ["a100"], ["r"])], [weight, constant("n", [1, 2000]), *places]),
    )
    yield (
        "wide_lstm",
        summed(
            [node("Reshape", ["x", "s"], ["m"]), node("LSTM", ["m", "w", "h"], ["", "r"], hidden_size=1 << 30)],
            [
                constant("s", [1, 1, 4]),
                constant("w", np.ones((1, 4, 4)), np.float32),
                constant("h", np.ones((1, 4, 1)), np.float32),
            ],
        ),
    )
