# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch's database that export_with="onnx" does not express itself; made by onnx_sweep.py --write."""

from __future__ import annotations

from onnx_sweep import Fallback, Own, Verdict

NOT_NATIVE: dict[str, Verdict] = {
    "allclose": Verdict.NOT_CAPTURED,
    "argwhere": Verdict.NOT_CAPTURED,
    "empty_like": Verdict.NOT_CAPTURED,
    "equal": Verdict.NOT_CAPTURED,
    "hash_tensor": Verdict.NOT_CAPTURED,
    "item": Verdict.NOT_CAPTURED,
    "linalg.eig": Verdict.INEXPRESSIBLE,
    "linalg.eigh": Verdict.REFUSED,
    "linalg.eigvals": Verdict.INEXPRESSIBLE,
    "linalg.svd": Verdict.REFUSED,
    "masked_select": Verdict.NOT_CAPTURED,
    "new_empty": Verdict.NOT_CAPTURED,
    "new_empty_strided": Verdict.NOT_CAPTURED,
    "nonzero": Verdict.NOT_CAPTURED,
    "pca_lowrank": Verdict.REFUSED,
    "repeat_interleave": Verdict.NOT_CAPTURED,
    "svd": Verdict.REFUSED,
    "svd_lowrank": Verdict.REFUSED,
    "tensor_split": Verdict.NOT_CAPTURED,
    "to_sparse": Verdict.REFUSED,
    "unique": Verdict.NOT_CAPTURED,
    "unique_consecutive": Verdict.NOT_CAPTURED,
}

# Measured when this file was written: too slow for every run of the tests.
FALLBACK: dict[str, Fallback] = {
    "linalg.eig": Fallback.FAILS,
    "linalg.eigh": Fallback.NOT_TRIED,
    "linalg.eigvals": Fallback.FAILS,
    "linalg.svd": Fallback.NOT_TRIED,
    "pca_lowrank": Fallback.NOT_TRIED,
    "svd": Fallback.NOT_TRIED,
    "svd_lowrank": Fallback.NOT_TRIED,
    "to_sparse": Fallback.NOT_TRIED,
}

# Operators of which a sample does not run on LEAPP's own engine.
OWN: dict[str, Own] = {
    "bernoulli": Own.FALLS_BACK,
    "cauchy": Own.FALLS_BACK,
    "einsum": Own.FALLS_BACK,
    "exponential": Own.FALLS_BACK,
    "geometric": Own.FALLS_BACK,
    "log_normal": Own.FALLS_BACK,
    "max_pool2d_with_indices_backward": Own.FALLS_BACK,
    "multinomial": Own.FALLS_BACK,
    "nn.functional.adaptive_avg_pool3d": Own.FALLS_BACK,
    "nn.functional.adaptive_max_pool1d": Own.FALLS_BACK,
    "nn.functional.adaptive_max_pool2d": Own.FALLS_BACK,
    "nn.functional.adaptive_max_pool3d": Own.FALLS_BACK,
    "nn.functional.alpha_dropout": Own.FALLS_BACK,
    "nn.functional.avg_pool3d": Own.FALLS_BACK,
    "nn.functional.conv3d": Own.FALLS_BACK,
    "nn.functional.conv_transpose3d": Own.FALLS_BACK,
    "nn.functional.dropout": Own.FALLS_BACK,
    "nn.functional.dropout2d": Own.FALLS_BACK,
    "nn.functional.dropout3d": Own.FALLS_BACK,
    "nn.functional.feature_alpha_dropout.with_train": Own.FALLS_BACK,
    "nn.functional.fractional_max_pool2d": Own.FALLS_BACK,
    "nn.functional.fractional_max_pool3d": Own.FALLS_BACK,
    "nn.functional.max_pool1d": Own.FALLS_BACK,
    "nn.functional.max_pool2d": Own.FALLS_BACK,
    "nn.functional.max_pool3d": Own.FALLS_BACK,
    "nn.functional.multi_head_attention_forward": Own.FALLS_BACK,
    "nn.functional.rrelu": Own.FALLS_BACK,
    "nn.functional.scaled_dot_product_attention": Own.FALLS_BACK,
    "normal": Own.FALLS_BACK,
    "normal.in_place": Own.FALLS_BACK,
    "rand_like": Own.FALLS_BACK,
    "randint_like": Own.FALLS_BACK,
    "randn_like": Own.FALLS_BACK,
    "uniform": Own.FALLS_BACK,
}
