# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Many small functions through capture → .pt → fresh inputs, one session for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from harness import (
    Exported,
    as_ports,
    capture_node,
    cloned,
    difference,
    difference_in_bits,
    read_yaml,
    seed_all,
    snapshot,
)
from operator_table import LOUD, PINNED_TORCH, RESULTS

SEED = 42  # the database's own wrappers of random operators seed with this, so the model has to start from it too


@dataclass
class Case:
    """`fn(context, *inputs)` becomes a node; `setup()` makes the context before the session begins."""

    node: str
    fn: Callable[..., Any]
    inputs: list[torch.Tensor]
    fresh: list[torch.Tensor]
    setup: Callable[[], Any] = lambda: None
    _known: dict[bool, list[torch.Tensor]] = field(default_factory=dict)

    def expected(self, fresh: bool = False) -> list[torch.Tensor]:
        """What eager torch gives for the inputs, or for the fresh ones. Run once."""
        if fresh not in self._known:
            self._known[fresh] = self.eager(self.fresh if fresh else self.inputs)
        return self._known[fresh]

    def eager(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        context = self.setup()
        seed_all(SEED)
        return snapshot(as_ports(self.fn(context, *cloned(inputs))))


@dataclass
class Failure:
    node: str
    what: str
    silent: bool  # nothing was raised: the exported model just computes something else


def compare_with_table(
    kind: str, name: str, table: dict[str, str], failures: list[Failure], config: pytest.Config
) -> str:
    """What exports is not in the table of what does not, and the other way round. Gives what is wrong, for messages."""
    text = "; ".join(f"{failure.node}: {failure.what}" for failure in failures)
    config.stash.setdefault(RESULTS, {})[f"{kind} {name}"] = text
    if name not in table:
        assert not failures, text
        return text
    assert failures or not PINNED_TORCH, f"{name} is in the table of what does not export, but passes: remove it there"
    assert not (table[name] in LOUD and any(failure.silent for failure in failures)), f"fails without a word: {text}"
    return text


def run(cases: list[Case], save_path: Path, validate: bool = True) -> list[Failure]:
    """What is wrong with each case that is wrong. Also without `validate` each model is run here, on fresh inputs."""
    failures: list[Failure] = []
    left = list(cases)
    while left:
        eager, failure = _capture(left, save_path)
        if failure is None:
            failures += _compare(left, eager, save_path, validate)
            break
        failures.append(failure)
        left = [case for case in left if case.node != failure.node]
    return failures


def _capture(cases: list[Case], save_path: Path) -> tuple[dict[str, list[torch.Tensor]], Failure | None]:
    without = {case.node: case.expected() for case in cases}
    contexts = {case.node: case.setup() for case in cases}
    found: dict[str, list[torch.Tensor]] = {}
    # Each model runs one step: what was written into a plain tensor stays what the program began with.
    leapp.start("sweep", save_path=str(save_path), max_cached_io=0, leaks="constant")
    case = cases[0]
    try:
        for case in cases:

            def in_context(*inputs: torch.Tensor, case: Case = case) -> Any:
                seed_all(SEED)
                return case.fn(contexts[case.node], *inputs)

            found[case.node] = snapshot(capture_node(case.node, in_context, cloned(case.inputs)))
            problem = difference_in_bits(without[case.node], found[case.node])
            if problem and _reproducible(case, without[case.node]):
                return {}, Failure(case.node, f"capture changed what the program computes: {problem}", silent=True)
        leapp.stop()
    except Exception as failure:
        return {}, Failure(case.node, f"capture: {type(failure).__name__}: {failure}", silent=False)
    return found, None


def _reproducible(case: Case, result: list[torch.Tensor]) -> bool:
    """Some LAPACK routines round differently from run to run; there is nothing to compare bits with then."""
    return all(difference_in_bits(result, case.eager(case.inputs)) is None for _ in range(20))


def _compare(cases: list[Case], eager: dict[str, list[torch.Tensor]], save_path: Path, validate: bool) -> list[Failure]:
    try:
        results = leapp.compile_graph(visualize=False, strict=False, validate=validate)
    except Exception as failure:
        if len(cases) == 1:
            return [Failure(cases[0].node, f"compile: {type(failure).__name__}: {failure}", silent=False)]
        return [problem for case in cases for problem in run([case], save_path, validate)]
    failures = []
    folder = save_path / "sweep"
    bundle = read_yaml(folder)
    for case in cases:
        names = [f"x{i}" for i in range(len(case.inputs))]
        try:
            exported = Exported(folder, case.node, names, eager[case.node], bundle)
            problem = _compare_one(case, results.nodes[case.node], exported)
        except Exception as failure:
            failures.append(Failure(case.node, f"the model: {type(failure).__name__}: {failure}", silent=False))
            continue
        if problem:
            failures.append(problem)
    return failures


def _compare_one(case: Case, result: Any, exported: Exported) -> Failure | None:
    # An output that is NaN fails its node, as it should; here it is enough that the model gives NaN as well.
    if not result and not any(output.isnan().any() for output in exported.eager):
        return Failure(case.node, f"validation: {result.status}: {result.message}", silent=False)
    expected = case.expected(fresh=True)
    seed_all(SEED)
    problem = difference(expected, exported(*cloned(case.fresh)))
    return Failure(case.node, f"fresh inputs: {problem}", silent=True) if problem else None
