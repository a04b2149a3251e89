# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operator database as cases for the sweeps: which entries, which samples, which fresh inputs."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from harness import seed_all
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

LOOKED_AT = 128  # samples of an entry among which the sweeps choose


def op_id(op: OpInfo) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


@dataclass
class Call:
    """One way to call an operator: the tensors apart from everything else."""

    spec: TreeSpec
    leaves: list[Any]  # None in the place of a tensor
    tensors: list[torch.Tensor]
    positions: list[int]

    @classmethod
    def of(cls, sample: SampleInput) -> Call:
        leaves, spec = tree_flatten((sample.input, sample.args, sample.kwargs))
        positions = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        tensors = [_normal(leaves[i].detach().clone()) for i in positions]
        rest = [None if i in positions else leaf for i, leaf in enumerate(leaves)]
        return cls(spec, rest, tensors, positions)

    def arguments(self, tensors: list[torch.Tensor]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        leaves = list(self.leaves)
        for position, tensor in zip(self.positions, tensors, strict=True):
            leaves[position] = tensor
        return tree_unflatten(leaves, self.spec)

    def same_but_for_values(self, other: Call) -> bool:
        return (
            self.spec == other.spec
            and self.positions == other.positions
            and all(a.shape == b.shape and a.dtype == b.dtype for a, b in zip(self.tensors, other.tensors, strict=True))
            and all(_same(a, b) for a, b in zip(self.leaves, other.leaves, strict=True))
        )


def _normal(tensor: torch.Tensor) -> torch.Tensor:
    """Without denormals, which count as zero in what deploys: `frexp` of one is another number there."""
    if tensor.layout != torch.strided or tensor.dtype not in (torch.float32, torch.float64):
        return tensor
    return tensor.masked_fill_((tensor != 0) & (tensor.abs() < torch.finfo(tensor.dtype).tiny), 0)


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and (repr(a) == repr(b) or hasattr(a, "__dict__")))


def _samples(op: OpInfo, seed: int) -> Iterator[SampleInput]:
    # Not op.sample_inputs, which seeds with the same number before each sample.
    seed_all(seed)
    np.random.seed(seed)
    yield from itertools.islice(op.sample_inputs_func(op, torch.device("cpu"), torch.float32, False), LOOKED_AT)


def _usable(call: Call) -> bool:
    return bool(call.tensors) and all(t.layout == torch.strided for t in call.tensors)


@lru_cache
def operators() -> list[OpInfo]:
    """Every entry that takes dense float32 tensors on the CPU. What it returns is for the sweep to find out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [op for op in op_db if _takes_dense_tensors(op)]


def _takes_dense_tensors(op: OpInfo) -> bool:
    if not op.supports_dtype(torch.float32, "cpu") or op.name.startswith("jiterator"):
        return False
    return any(_usable(Call.of(sample)) for sample in itertools.islice(_samples(op, 0), 1))


def calls(op: OpInfo) -> Iterator[tuple[Call, list[torch.Tensor]]]:
    """The samples that run, each with other tensors of the same shapes; empty tensors, which show little, last."""
    pairs = list(itertools.zip_longest(list(_samples(op, 0)), list(_samples(op, 1))))
    pairs = [(Call.of(sample), Call.of(other) if other else None) for sample, other in pairs if sample]
    for call, other in sorted(pairs, key=lambda pair: any(t.numel() == 0 for t in pair[0].tensors)):
        if _usable(call) and runs(op, call, call.tensors):
            yield call, _fresh(op, call, other)


def runs(op: OpInfo, call: Call, tensors: list[torch.Tensor]) -> bool:
    try:
        invoke(op, call, [t.clone() for t in tensors])
    except Exception:  # the database has samples that a CPU refuses
        return False
    return True


def invoke(op: OpInfo, call: Call, tensors: list[torch.Tensor]) -> Any:
    first, args, kwargs = call.arguments(tensors)
    return op(first, *args, **kwargs)


def _fresh(op: OpInfo, call: Call, other: Call | None) -> list[torch.Tensor]:
    """Values drawn again by the database if they are others, else moved a little: either way within the domain."""
    candidates = []
    if other is not None and call.same_but_for_values(other):
        candidates.append(other.tensors)
    candidates.append([t * 0.9 + 0.01 if t.is_floating_point() else t for t in call.tensors])
    candidates.append([t * 0.9 if t.is_floating_point() else t for t in call.tensors])
    for tensors in candidates:
        changed = any(not torch.equal(a, b) for a, b in zip(call.tensors, tensors, strict=True))
        if changed and runs(op, call, tensors):
            return [like(a, b) for a, b in zip(call.tensors, tensors, strict=True)]
    return [t.clone() for t in call.tensors]


def like(template: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """`values` with the strides of `template`."""
    return torch.empty_like(template).copy_(values)
