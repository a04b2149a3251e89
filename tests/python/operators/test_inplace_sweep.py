# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Every in-place and out= variant of PyTorch's database, into live and plain tensors and views of both.

The function under test returns what the *base* of the destination holds afterwards, read whole and through views made
before and after the write, so that a write that was lost shows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sweep
import torch
from harness import LONG, as_ports
from op_samples import Call, calls, op_id, operators
from operator_table import (
    RANDOM_ORDER,
    TORCH_STRIDES,
    WRITES,
    of_the_pinned_torch,
    rows_on_the_page,
)
from torch.testing._internal.opinfo.core import OpInfo

pytestmark = pytest.mark.filterwarnings("ignore")  # the database calls what torch has deprecated


@dataclass(frozen=True)
class Destination:
    """A tensor of `content`'s shape and values inside a base: how to make the base, and the view of it."""

    name: str
    fewest_dims: int
    base: Callable[[torch.Tensor], torch.Tensor]
    view: Callable[[torch.Tensor, torch.Size], torch.Tensor]


DESTINATIONS = (
    Destination("whole", 0, lambda c: c.clone(), lambda base, _: base),
    Destination("slice", 1, lambda c: torch.cat([c, c, c], -1), lambda base, s: base[..., s[-1] : 2 * s[-1]]),
    Destination("select", 0, lambda c: torch.stack([c, c, c]), lambda base, _: base[1]),
    Destination("transpose", 2, lambda c: contiguous(c.transpose(0, -1)), lambda base, _: base.transpose(0, -1)),
    Destination("reshape", 0, lambda c: contiguous(c).reshape(-1, 1), lambda base, s: base.view(s)),
    Destination("diagonal", 1, lambda c: torch.diag_embed(c), lambda base, _: base.diagonal(0, -2, -1)),
    Destination("strided", 1, lambda c: c.repeat_interleave(2, 0), lambda base, _: base[::2]),
)


CONTIGUOUS = ("whole", "select", "reshape")


def contiguous(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.clone(memory_format=torch.contiguous_format)


def read(bases: list[torch.Tensor], early: list[torch.Tensor], inputs: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """What the bases hold. The term of the inputs is zero; it makes each result a value of the node."""
    zero = inputs[0].reshape(-1)[:1].isnan().sum()
    found = [base * 1 for base in bases] + [view.clone() for view in early] + [b.view(-1)[::2].clone() for b in bases]
    return [tensor + zero for tensor in as_ports(found)]


def write_case(variant: Variant, where: Destination, live: bool) -> sweep.Case:
    """The destination computed from the node's inputs (live), or made before the session (plain)."""
    shapes = [template.shape for template in variant.templates]

    def make(contents: list[torch.Tensor]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        bases = [where.base(content) for content in contents]
        return bases, [where.view(base, shape) for base, shape in zip(bases, shapes, strict=True)]

    def fn(plain: Any, *inputs: torch.Tensor) -> list[torch.Tensor]:
        bases, views = make(variant.live_contents(list(inputs))) if live else plain
        early = [base.view(-1)[1:] for base in bases]
        result = variant.write(views, list(inputs))
        zero = inputs[0].reshape(-1)[:1].isnan().sum()
        return [*read(bases, early, inputs), *(tensor + zero for tensor in as_ports(result))]

    setup = (lambda: None) if live else (lambda: make([t.clone() for t in variant.templates]))
    node = f"{'live' if live else 'plain'}_{where.name}"
    return sweep.Case(node, fn, variant.call.tensors, variant.fresh, setup)


@dataclass
class Variant:
    """An operator that writes into tensors shaped like `templates`."""

    op: OpInfo
    call: Call
    fresh: list[torch.Tensor]
    templates: list[torch.Tensor]

    def write(self, destinations: list[torch.Tensor], inputs: list[torch.Tensor]) -> Any:
        raise NotImplementedError

    def live_contents(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        raise NotImplementedError


class InPlace(Variant):
    def write(self, destinations: list[torch.Tensor], inputs: list[torch.Tensor]) -> Any:
        _, args, kwargs = self.call.arguments(inputs)
        return self.op.inplace_variant(destinations[0], *args, **kwargs)

    def live_contents(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        return [inputs[0] * 1]


class Out(Variant):
    def write(self, destinations: list[torch.Tensor], inputs: list[torch.Tensor]) -> Any:
        first, args, kwargs = self.call.arguments(inputs)
        out = destinations[0] if len(destinations) == 1 else tuple(destinations)
        return self.op(first, *args, **kwargs, out=out)

    def live_contents(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        value = inputs[0].reshape(-1)[0]
        return [value.to(template.dtype).expand(template.shape).clone() for template in self.templates]


def in_place(op: OpInfo) -> Variant | None:
    for call, fresh in _interesting(op):
        if not isinstance(call.arguments(call.tensors)[0], torch.Tensor) or call.tensors[0].dtype != torch.float32:
            continue
        variant = InPlace(op, call, fresh, [call.tensors[0]])
        if _runs(variant):
            return variant
    return None


def out(op: OpInfo) -> Variant | None:
    for call, fresh in _interesting(op):
        first, args, kwargs = call.arguments([t.clone() for t in call.tensors])
        if "out" in kwargs:
            continue
        results = op(first, *args, **kwargs)
        templates = list(results) if isinstance(results, tuple | list) else [results]
        if not all(isinstance(t, torch.Tensor) and t.layout == torch.strided for t in templates):
            continue
        plain = [torch.arange(t.numel()).reshape(t.shape).to(t.dtype) for t in templates]
        variant = Out(op, call, fresh, plain)
        if _runs(variant):
            return variant
    return None


def _interesting(op: OpInfo) -> list[tuple[Call, list[torch.Tensor]]]:
    """Some samples, those of two and more dimensions first."""
    found = [item for item in itertools.islice(calls(op), 12) if item[0].tensors[0].numel()]
    return sorted(found, key=lambda item: item[0].tensors[0].dim() < 2)


def _runs(variant: Variant) -> bool:
    return case_runs(write_case(variant, DESTINATIONS[0], live=False))


def case_runs(case: sweep.Case) -> bool:
    try:
        case.expected()
        case.expected(fresh=True)
    except Exception:  # torch itself refuses to write there
        return False
    return True


def failures_of(variant: Variant, save_path: Path, validate: bool) -> list[sweep.Failure]:
    fewest = min(template.dim() for template in variant.templates)
    places = [where for where in DESTINATIONS if where.fewest_dims <= fewest]
    cases = [write_case(variant, where, live) for live in (True, False) for where in places]
    return sweep.run([case for case in cases if case_runs(case)], save_path, validate)


def _variants() -> dict[str, tuple[Callable[[OpInfo], Variant | None], OpInfo]]:
    found: dict[str, tuple[Callable[[OpInfo], Variant | None], OpInfo]] = {}
    for op in operators():
        if op.inplace_variant is not None:
            found[f"{op_id(op)}_"] = (in_place, op)
        if op.supports_out:
            found[f"{op_id(op)}.out"] = (out, op)
    return found


VARIANTS = _variants()
NUMBERS = {name: number for number, name in enumerate(VARIANTS)}

# Variants of which the database has no sample that torch runs with a dense destination.
NO_SAMPLE = {
    "_batch_norm_with_update.out",
    "as_strided.partial_views_",
    "equal.out",
    "float_power_",
    "hash_tensor.out",
    "histogramdd.out",
}


@pytest.mark.parametrize("name", VARIANTS)
def test_write(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    find, op = VARIANTS[name]
    variant = find(op)
    if name in NO_SAMPLE:
        assert variant is None, f"{name} is in NO_SAMPLE but has one: remove it there"
        return
    assert variant is not None, f"no sample of {name} runs: list it in NO_SAMPLE if that is torch's doing"
    # Of validation, some in turn are enough: whether the models are right is found out here as well.
    validate = LONG or name in WRITES or request.config.getoption("--write-operators") or NUMBERS[name] % 3 == 0
    failures = failures_of(variant, tmp_path, validate)
    text = sweep.compare_with_table("write", name, WRITES, failures, request.config)
    if WRITES.get(name) in (RANDOM_ORDER, TORCH_STRIDES):
        assert not [failure for failure in failures if failure.node.endswith(CONTIGUOUS)], text


@of_the_pinned_torch
def test_the_tables_name_variants_of_the_database() -> None:
    assert set(WRITES) | NO_SAMPLE <= set(VARIANTS), "a table has entries that no test looks at"
    assert len(VARIANTS) >= 400


@of_the_pinned_torch
def test_the_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--write-operators"):
        return  # written at the end of the run
    assert rows_on_the_page("writes") == WRITES, "docs/reports/operators.md says how to write it anew"
