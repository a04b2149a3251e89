# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Branches of libraries that only raise are no business of the user's; those that select a computation are."""

from __future__ import annotations

import importlib.util
import sysconfig
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import leapp
import pytest
import torch
import torch.distributions as D
from harness import line_of, location_pattern, read_log, warnings_in
from leapp import annotate
from leapp.capture import checks
from torch import Tensor, nn

ONES = torch.ones(3)
EYE = torch.eye(3)


def warnings_of(fn: Callable[[Tensor], Tensor], folder: Path) -> list[str]:
    """Of a node that computes `fn` of three positive numbers that add up to one."""
    leapp.start("g", save_path=str(folder))
    x = annotate.input_tensors("n", {"x": torch.tensor([0.2, 0.3, 0.5])})
    annotate.output_tensors("n", {"y": fn(x)}, export_with="jit")
    leapp.stop()
    told = ("leaves the graph", "branches on a value", "was ")
    return [line for line in warnings_in(read_log(folder / "g")) if any(words in line for words in told)]


# ---- torch.distributions --------------------------------------------------------------------------------------------

DISTRIBUTIONS: dict[str, Callable[[Tensor], D.Distribution]] = {
    "normal": lambda x: D.Normal(x, x),
    "categorical": lambda x: D.Categorical(x),
    "categorical_logits": lambda x: D.Categorical(logits=x),
    "bernoulli": lambda x: D.Bernoulli(x),
    "beta": lambda x: D.Beta(x, x),
    "gamma": lambda x: D.Gamma(x, x),
    "dirichlet": lambda x: D.Dirichlet(x),
    "uniform": lambda x: D.Uniform(x, x + 1),
    "geometric": lambda x: D.Geometric(x),
    "binomial": lambda x: D.Binomial(ONES * 3, x),
    "multinomial": lambda x: D.Multinomial(5, x),
    "one_hot": lambda x: D.OneHotCategorical(x),
    "covariance": lambda x: D.MultivariateNormal(x, torch.diag(x)),
    "precision": lambda x: D.MultivariateNormal(x, precision_matrix=torch.diag(x)),
    "scale_tril": lambda x: D.MultivariateNormal(x, scale_tril=torch.diag(x)),
    "low_rank": lambda x: D.LowRankMultivariateNormal(x, EYE, x),
    "independent": lambda x: D.Independent(D.Normal(x, x), 1),
    "mixture": lambda x: D.MixtureSameFamily(D.Categorical(x), D.Normal(x, x)),
    "squashed": lambda x: D.TransformedDistribution(D.Normal(x, x), [D.TanhTransform(), D.AffineTransform(x, x)]),
    "relaxed": lambda x: D.RelaxedBernoulli(ONES[0], x),
}


@pytest.mark.parametrize("make", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS.keys())
def test_argument_checks_of_distributions(make: Callable[[Tensor], D.Distribution], tmp_path: Path) -> None:
    def fn(x: Tensor) -> Tensor:
        found = make(x)
        return x * 2 + found.log_prob(found.sample()).sum()

    assert warnings_of(fn, tmp_path) == []


def test_a_branch_of_torchs_that_selects_is_warned_of_with_the_users_line(tmp_path: Path) -> None:
    def fn(x: Tensor) -> Tensor:
        return D.VonMises(x, x).sample()  # draws until all are accepted

    found = warnings_of(fn, tmp_path)
    assert len(found) == 1
    assert location_pattern(__file__, line_of(fn, "# draws")).search(found[0]), found


def test_a_branch_of_the_users_beside_checks_of_torchs(tmp_path: Path) -> None:
    def fn(x: Tensor) -> Tensor:
        found = D.Normal(x, x)
        if found.mean.sum() > 0:  # here
            return x * 2
        return x * 3

    found = warnings_of(fn, tmp_path)
    assert len(found) == 1
    assert location_pattern(__file__, line_of(fn, "# here")).search(found[0])


def test_modules_that_look_at_their_arguments(tmp_path: Path) -> None:
    attention = nn.MultiheadAttention(4, 2, batch_first=True)
    embedding = nn.Embedding(5, 4)

    def fn(x: Tensor) -> Tensor:
        torch._assert((x > 0).all(), "positive")
        tokens = embedding((x * 4).long())[None]
        return attention(tokens, tokens, tokens)[0].sum() + x

    assert warnings_of(fn, tmp_path) == []


# ---- A library of ours, installed for a test -------------------------------------------------------------------------

LIBRARY = """
import warnings

import torch


class Error(Exception):
    pass


def raises(x):
    if (x < 0).any():
        raise Error(f"negative: {x}")


def raises_unless(x):
    if not (x > 0).all():
        message = "not positive"
        raise Error(message)
    return None


def asserts(x):
    assert (x > 0).all(), "positive"


def raises_by_number(x):
    if x.min().item() < 0:
        raise Error


def raises_by_variable(x):
    negative = bool((x < 0).any())
    large = (x > 10).any()
    if negative or large:
        raise Error


def raises_if_both(x):
    if (x < 0).any() and (x > 1).any():
        raise Error


def raises_in_a_loop(x):
    for value in x:
        if value < 0:
            raise Error


def warns(x):
    if (x > 5).any():
        warnings.warn("large")


def _valid(x):
    if not (x > 0).all():
        return torch.zeros(3, dtype=torch.bool)
    return x < 10


def raises_by_result(x):
    valid = _valid(x)
    if not valid.all():
        raise Error


def equal(x):
    if not torch.equal(x, x):
        raise Error


CHECKS = [
    raises, raises_unless, asserts, raises_by_number, raises_by_variable, raises_if_both, raises_in_a_loop, warns,
    raises_by_result, equal,
]


def selects(x):
    if (x > 0).all():
        return x * 2
    return x * 3


def selects_a_number(x):
    factor = 2.0
    if (x > 0).all():
        factor = 3.0
    return x * factor


def selects_and_raises(x):
    large = bool((x > 10).any())
    if large and x.shape[0] > 5:
        raise Error
    return x * (2 if large else 3)


def remembers(x, seen=[]):
    seen.append(bool((x > 0).all()))
    return x * 2


class Counter:
    count = 0

    def counts(self, x):
        if (x > 0).all():
            self.count = 1
        return x * 2


counts = Counter().counts


def falls_back(x):
    try:
        if (x > 10).any():
            raise Error
        return x * 2
    except Error:
        return x * 3


def returns_it(x):
    return bool((x > 0).all())


def uses_what_is_returned(x):
    return x * 2 if returns_it(x) else x * 3


def loops(x):
    while x.sum() < 10:
        x = x * 2
    return x


SELECTIONS = [
    selects, selects_a_number, selects_and_raises, remembers, counts, falls_back, uses_what_is_returned, loops,
]
"""

CHECKS = (
    "raises raises_unless asserts raises_by_number raises_by_variable raises_if_both raises_in_a_loop warns "
    "raises_by_result equal"
)
SELECTIONS = "selects selects_a_number selects_and_raises remembers counts falls_back uses_what_is_returned loops"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """As if pip had installed it."""
    folder = tmp_path_factory.mktemp("site-packages")
    (folder / "their_library.py").write_text(textwrap.dedent(LIBRARY))
    with pytest.MonkeyPatch.context() as patch:
        known = sysconfig.get_paths()
        patch.setattr(sysconfig, "get_paths", lambda: {**known, "purelib": str(folder)})
        checks._folders.cache_clear()
        checks._is_installed.cache_clear()
        spec = importlib.util.spec_from_file_location("their_library", folder / "their_library.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    checks._folders.cache_clear()
    checks._is_installed.cache_clear()


@pytest.mark.parametrize("name", CHECKS.split())
def test_a_check_of_a_library(name: str, library: ModuleType, tmp_path: Path) -> None:
    def fn(x: Tensor) -> Tensor:
        getattr(library, name)(x)
        return x * 2

    assert warnings_of(fn, tmp_path) == []


@pytest.mark.parametrize("name", SELECTIONS.split())
def test_a_selection_of_a_library(name: str, library: ModuleType, tmp_path: Path) -> None:
    def fn(x: Tensor) -> Any:
        return getattr(library, name)(x)

    assert len(warnings_of(fn, tmp_path)) == 1


def test_a_check_of_the_users_is_warned_of(tmp_path: Path) -> None:
    def fn(x: Tensor) -> Tensor:
        if (x < 0).any():
            raise ValueError
        return x * 2

    assert len(warnings_of(fn, tmp_path)) == 1


def test_a_result_of_a_library_that_the_user_branches_on(library: ModuleType, tmp_path: Path) -> None:
    def fn(x: Tensor) -> Tensor:
        return x * 2 if library.returns_it(x) else x * 3

    assert len(warnings_of(fn, tmp_path)) == 1
