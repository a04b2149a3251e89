# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of other domains, which may know files, libraries and threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from odd_graph import FLOAT, STRING, Case, body, built, bundle, constant, info, node, summed
from onnx import TensorProto


def of_others() -> Iterator[Case]:
    """Operators of other domains, which may know files, libraries and threads."""
    both = [("", 21), ("com.microsoft", 1)]
    for embed in (0, 1):
        for content in ("../../../etc/passwd", "w.bin", "/etc/passwd", ""):
            context = node(
                "EPContext",
                ["x"],
                ["y"],
                domain="com.microsoft",
                embed_mode=embed,
                ep_cache_context=content,
                main_context=1,
                source="QNN",
                ep_sdk_version="1",
                partition_name="p",
            )
            yield f"context_{embed}_{content}", bundle(built([context], opsets=both), {"w.bin": b"\0" * 64})
    for op in ("Aten", "ATen", "ExternalOp", "PythonOp", "TorchEmbedding", "DynamicLibrary", "CustomOp"):
        yield (
            f"foreign_{op}",
            bundle(
                built([node(op, ["x"], ["y"], domain="com.microsoft", operator="aten::system", name_="x")], opsets=both)
            ),
        )
    ms: dict[str, Any] = {"domain": "com.microsoft"}
    n = [constant("n", [1 << 30])]
    yield "ms_unique", summed([node("Unique", ["x"], ["r", "b", "c"], **ms)])
    yield (
        "ms_tokenizer",
        summed(
            [
                node("Cast", ["x"], ["s"], to=STRING),
                node("Tokenizer", ["s"], ["t"], mark=1, mincharnum=1, pad_value="p" * 100_000, tokenexp="(.*)*", **ms),
                node("Equal", ["t", "t"], ["r"]),
            ]
        ),
    )
    yield (
        "ms_tokenizer_separators",
        summed(
            [
                node("Cast", ["x"], ["s"], to=STRING),
                node("Tokenizer", ["s"], ["t"], mark=1, mincharnum=1, pad_value="", separators=["(a*)*"] * 1000, **ms),
                node("Equal", ["t", "t"], ["r"]),
            ]
        ),
    )
    yield "ms_expand_dims", summed([node("ExpandDims", ["x", "k"], ["r"], **ms)], [constant("k", 1 << 20, np.int32)])
    yield "ms_pad", summed([node("Pad", ["x", "k"], ["r"], **ms)], [constant("k", [1 << 31, 1 << 31])])
    yield (
        "ms_range",
        summed(
            [node("Range", ["k", "n", "k1"], ["r"], **ms)],
            [constant("k", 0), constant("n", 1 << 40), constant("k1", 1)],
        ),
    )
    yield (
        "ms_gather_nd",
        summed(
            [node("Reshape", ["i", "s"], ["k"]), node("GatherND", ["x", "k"], ["r"], **ms)], [constant("s", [4, 1])]
        ),
    )
    yield "ms_trilu", summed([node("Trilu", ["x"], ["r"], **ms)])
    yield (
        "ms_crop_resize",
        summed(
            [node("CropAndResize", ["m", "b", "k", "n"], ["r"], **ms)],
            [
                constant("m", np.ones((1, 1, 2, 2)), np.float32),
                constant("b", [[0, 0, 1, 1]], np.float32),
                constant("k", [7], np.int32),
                constant("n", [1 << 20, 1 << 20]),
            ],
        ),
    )
    yield (
        "ms_crop_resize_index",
        summed(
            [node("CropAndResize", ["m", "b", "k", "n"], ["r"], **ms)],
            [
                constant("m", np.ones((1, 1, 2, 2)), np.float32),
                constant("b", [[0, 0, 1, 1]], np.float32),
                constant("k", [1_000_000], np.int32),
                constant("n", [2, 2]),
            ],
        ),
    )
    yield (
        "ms_max_pool_mask",
        summed(
            [node("MaxpoolWithMask", ["m", "k"], ["r"], kernel_shape=[1, 1], **ms)],
            [constant("m", np.ones((1, 1, 2, 2)), np.float32), constant("k", np.ones((1, 1, 1, 1)), np.int32)],
        ),
    )
    yield (
        "ms_embed",
        summed(
            [node("EmbedLayerNormalization", ["k", "", "t", "t", "", "g", "g"], ["r", "q"], **ms)],
            [
                constant("k", [[1_000_000, -5]], np.int32),
                constant("t", np.ones((3, 4)), np.float32),
                constant("g", np.ones(4), np.float32),
            ],
        ),
    )
    yield (
        "ms_embed_data",
        summed(
            [
                node("Cast", ["x"], ["k1"], to=TensorProto.INT32),
                node("Reshape", ["k1", "s"], ["k"]),
                node("EmbedLayerNormalization", ["k", "", "t", "t", "", "g", "g"], ["r", "q"], **ms),
            ],
            [constant("s", [1, 4]), constant("t", np.ones((5, 4)), np.float32), constant("g", np.ones(4), np.float32)],
        ),
    )
    yield (
        "ms_nbits",
        summed(
            [node("MatMulNBits", ["m", "b", "s"], ["r"], K=1 << 20, N=1 << 20, bits=4, block_size=16, **ms)],
            [
                constant("m", np.ones((1, 32)), np.float32),
                constant("b", np.ones((2, 2, 8)), np.uint8),
                constant("s", np.ones(4), np.float32),
            ],
        ),
    )
    for bits, block in ((4, 0), (4, 3), (0, 32), (8, 32), (64, 32), (4, -16), (2, 16)):
        yield (
            f"ms_nbits_{bits}_{block}",
            summed(
                [node("MatMulNBits", ["m", "b", "s"], ["r"], K=32, N=2, bits=bits, block_size=block, **ms)],
                [
                    constant("m", np.ones((1, 32)), np.float32),
                    constant("b", np.ones((2, 2, 8)), np.uint8),
                    constant("s", np.ones(4), np.float32),
                ],
            ),
        )
    for heads in (0, 1, 3, -1, 1 << 40):
        yield (
            f"ms_attention_{heads}",
            summed(
                [node("Attention", ["m", "w", "b"], ["r"], num_heads=heads, **ms)],
                [
                    constant("m", np.ones((1, 2, 4)), np.float32),
                    constant("w", np.ones((4, 12)), np.float32),
                    constant("b", np.ones(12), np.float32),
                ],
            ),
        )
        yield (
            f"ms_mha_{heads}",
            summed(
                [node("MultiHeadAttention", ["m", "m", "m"], ["r"], num_heads=heads, **ms)],
                [constant("m", np.ones((1, 2, 4)), np.float32)],
            ),
        )
        yield (
            f"ms_gqa_{heads}",
            summed(
                [
                    node(
                        "GroupQueryAttention",
                        ["m", "m", "m", "", "", "l", "t"],
                        ["r", "p", "q"],
                        num_heads=heads,
                        kv_num_heads=heads,
                        **ms,
                    )
                ],
                [
                    constant("m", np.ones((1, 2, 4)), np.float32),
                    constant("l", [1_000_000], np.int32),
                    constant("t", 1 << 30, np.int32),
                ],
            ),
        )
    yield (
        "ms_rotary",
        summed(
            [node("RotaryEmbedding", ["m", "k", "c", "c"], ["r"], **ms)],
            [
                constant("m", np.ones((1, 2, 4)), np.float32),
                constant("k", [[1_000_000, -7]]),
                constant("c", np.ones((3, 2)), np.float32),
            ],
        ),
    )
    yield "ms_quick_gelu", summed([node("QuickGelu", ["x"], ["r"], alpha=float("nan"), **ms)])
    yield (
        "ms_ngram",
        summed(
            [node("NGramRepeatBlock", ["k", "s"], ["r"], ngram_size=1 << 40, **ms)],
            [constant("k", [[1, 2, 3]]), constant("s", np.ones((1, 5)), np.float32)],
        ),
    )
    yield (
        "ms_ngram_data",
        summed(
            [node("Reshape", ["i", "n1"], ["k"]), node("NGramRepeatBlock", ["k", "s"], ["r"], ngram_size=1, **ms)],
            [constant("n1", [1, 4]), constant("s", np.ones((1, 5)), np.float32)],
        ),
    )
    yield (
        "ms_bifurcation",
        summed([node("BifurcationDetector", ["i", "i", "k"], ["r", "q"], **ms)], [constant("k", 1_000_000)]),
    )
    yield (
        "ms_sampling_grid",
        summed(
            [node("GridSample", ["m", "g"], ["r"], **ms)],
            [
                constant("m", np.ones((1, 1, 2, 2)), np.float32),
                constant("g", np.full((1, 2, 2, 2), np.nan), np.float32),
            ],
        ),
    )
    yield (
        "ms_qlinear",
        summed(
            [node("QLinearAdd", ["a", "s", "z", "a", "s", "z", "s", "z"], ["r"], **ms)],
            [constant("a", [1, 2], np.uint8), constant("s", 0, np.float32), constant("z", 3, np.uint8)],
        ),
    )
    yield (
        "ms_qlinear_concat",
        summed(
            [node("QLinearConcat", ["s", "z", "a", "s", "z", "a"], ["r"], axis=5, **ms)],
            [constant("a", [1, 2], np.uint8), constant("s", 0, np.float32), constant("z", 3, np.uint8)],
        ),
    )
    yield (
        "ms_dynamic_lstm",
        summed(
            [
                node(
                    "DynamicQuantizeLSTM",
                    ["m", "w", "w", "", "", "", "", "s", "z", "s", "z"],
                    ["r"],
                    hidden_size=1 << 30,
                    **ms,
                )
            ],
            [
                constant("m", np.ones((1, 1, 4)), np.float32),
                constant("w", np.ones((1, 4, 4)), np.int8),
                constant("s", [1], np.float32),
                constant("z", [0], np.int8),
            ],
        ),
    )
    yield (
        "ms_word_conv",
        summed(
            [
                node(
                    "WordConvEmbedding",
                    ["k", "w", "b", "e"],
                    ["r"],
                    embedding_size=1 << 20,
                    conv_window_size=1 << 20,
                    **ms,
                )
            ],
            [
                constant("k", np.ones((2, 2)), np.int32),
                constant("w", np.ones((2, 1, 2, 2)), np.float32),
                constant("b", np.ones(2), np.float32),
                constant("e", np.ones((3, 2)), np.float32),
            ],
        ),
    )
    yield (
        "ms_sparse_matmul",
        summed([node("SparseToDenseMatMul", ["m", "m"], ["r"], **ms)], [constant("m", np.ones((2, 2)), np.float32)]),
    )
    yield "ms_inverse", summed([node("Inverse", ["m"], ["r"], **ms)], [constant("m", np.zeros((2, 2)), np.float32)])
    yield (
        "ms_cdist",
        summed(
            [node("CDist", ["m", "m"], ["r"], metric="euclidean", **ms)], [constant("m", np.ones((0, 2)), np.float32)]
        ),
    )
    decoder = body(
        "d",
        [node("Cast", ["ids"], ["logits"], to=FLOAT)],
        [info("ids", TensorProto.INT32, [1, "n"])],
        [info("logits", FLOAT, [1, "n"])],
    )
    for op in ("BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"):
        search = node(
            op,
            ["k", "l", "l", "l", "l", "p"],
            ["q"],
            decoder=decoder,
            eos_token_id=1,
            pad_token_id=0,
            model_type=0,
            vocab_size=1 << 20,
            **ms,
        )
        yield (
            f"ms_{op}",
            summed(
                [search, node("Cast", ["q"], ["r"], to=FLOAT)],
                [
                    constant("k", [[1, 2]], np.int32),
                    constant("l", [1 << 30], np.int32),
                    constant("p", [1], np.float32),
                    *n,
                ],
            ),
        )
    ml = [("", 21), ("ai.onnx.ml", 3)]
    tree: dict[str, Any] = {
        "domain": "ai.onnx.ml",
        "n_targets": 1,
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_values": [0.5, 0.0, 0.0],
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights": [1.0, 2.0],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
    }
    row = node("Reshape", ["x", "s"], ["m"])
    for label, change in (
        ("good", {}),
        ("itself", {"nodes_truenodeids": [0, 0, 0]}),
        (
            "circle",
            {
                "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"],
                "nodes_truenodeids": [1, 0, 0],
                "nodes_falsenodeids": [2, 0, 0],
            },
        ),
        ("nobody", {"nodes_falsenodeids": [77, 0, 0]}),
        ("feature", {"nodes_featureids": [1_000_000, 0, 0]}),
        ("feature_negative", {"nodes_featureids": [-5, 0, 0]}),
        ("target", {"target_ids": [1_000_000, 0]}),
        ("target_negative", {"target_ids": [-1, 0]}),
        ("targets", {"n_targets": 1 << 40}),
        ("short", {"nodes_values": [0.5]}),
        ("mode", {"nodes_modes": ["NOTHING", "LEAF", "LEAF"]}),
        ("leaf", {"target_nodeids": [0, 2]}),
    ):
        yield (
            f"tree_{label}",
            summed(
                [row, node("TreeEnsembleRegressor", ["m"], ["r"], **{**tree, **change})],
                [constant("s", [1, 4])],
                opsets=ml,
            ),
        )
    for label, change in (("deep", 20_000),):
        ids = list(range(change))
        chain = {
            "nodes_treeids": [0] * change,
            "nodes_nodeids": ids,
            "nodes_featureids": [0] * change,
            "nodes_modes": ["BRANCH_LEQ"] * (change - 1) + ["LEAF"],
            "nodes_values": [0.5] * change,
            "nodes_truenodeids": [*ids[1:], 0],
            "nodes_falsenodeids": [change - 1] * change,
            "target_treeids": [0],
            "target_nodeids": [change - 1],
            "target_ids": [0],
            "target_weights": [1.0],
        }
        yield (
            f"tree_{label}",
            summed(
                [row, node("TreeEnsembleRegressor", ["m"], ["r"], **{**tree, **chain})],
                [constant("s", [1, 4])],
                opsets=ml,
            ),
        )
    svm: dict[str, Any] = {
        "domain": "ai.onnx.ml",
        "coefficients": [1.0],
        "kernel_params": [1.0, 0.0, 3.0],
        "kernel_type": "RBF",
        "n_supports": 1 << 20,
        "support_vectors": [1.0] * 4,
        "rho": [0.0],
    }
    yield "svm", summed([row, node("SVMRegressor", ["m"], ["r"], **svm)], [constant("s", [1, 4])], opsets=ml)
    yield (
        "svm_negative",
        summed(
            [row, node("SVMRegressor", ["m"], ["r"], **{**svm, "n_supports": -3})], [constant("s", [1, 4])], opsets=ml
        ),
    )
    yield (
        "svm_classes",
        summed(
            [
                row,
                node(
                    "SVMClassifier",
                    ["m"],
                    ["l", "r"],
                    domain="ai.onnx.ml",
                    classlabels_ints=[0, 1, 2],
                    vectors_per_class=[1 << 30, -5, 7],
                    coefficients=[1.0],
                    kernel_params=[1.0, 0.0, 3.0],
                    kernel_type="RBF",
                    support_vectors=[1.0] * 4,
                    rho=[0.0],
                ),
            ],
            [constant("s", [1, 4])],
            opsets=ml,
        ),
    )
    yield (
        "linear",
        summed(
            [row, node("LinearRegressor", ["m"], ["r"], domain="ai.onnx.ml", coefficients=[1.0] * 3, targets=7)],
            [constant("s", [1, 4])],
            opsets=ml,
        ),
    )
    yield (
        "linear_classes",
        summed(
            [
                row,
                node(
                    "LinearClassifier",
                    ["m"],
                    ["l", "r"],
                    domain="ai.onnx.ml",
                    coefficients=[1.0] * 3,
                    classlabels_ints=[1, 2, 3, 4, 5],
                ),
            ],
            [constant("s", [1, 4])],
            opsets=ml,
        ),
    )
    yield (
        "scaler",
        summed(
            [row, node("Scaler", ["m"], ["r"], domain="ai.onnx.ml", offset=[1.0, 2.0], scale=[0.0])],
            [constant("s", [1, 4])],
            opsets=ml,
        ),
    )
    yield (
        "imputer",
        summed(
            [row, node("Imputer", ["m"], ["r"], domain="ai.onnx.ml", imputed_value_floats=[1.0, 2.0])],
            [constant("s", [1, 4])],
            opsets=ml,
        ),
    )
    yield (
        "feature_vectorizer",
        summed(
            [row, node("FeatureVectorizer", ["m"], ["r"], domain="ai.onnx.ml", inputdimensions=[1 << 40])],
            [constant("s", [1, 4])],
            opsets=ml,
        ),
    )
    yield (
        "array_feature",
        summed(
            [row, node("ArrayFeatureExtractor", ["m", "i"], ["r"], domain="ai.onnx.ml")],
            [constant("s", [1, 4])],
            opsets=ml,
        ),
    )
    yield (
        "encoder",
        summed(
            [node("LabelEncoder", ["i"], ["r"], domain="ai.onnx.ml", keys_int64s=[1, 2], values_floats=[1.0])],
            opsets=ml,
        ),
    )
    yield (
        "one_hot_encoder",
        summed([node("OneHotEncoder", ["i"], ["r"], domain="ai.onnx.ml", cats_int64s=list(range(100_000)))], opsets=ml),
    )
