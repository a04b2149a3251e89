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
OWN: dict[str, Own] = {}
