# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that ``item()`` gives: what is computed and decided with them is in the model."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path

import closed_loop
import harness
import leapp
import pytest
import torch
from leapp import annotate

Tensor = torch.Tensor


def product(x: Tensor) -> Tensor:
    return x * x.sum().item()


def arithmetic(x: Tensor) -> Tensor:
    gain = abs(x[0].item()) * 0.5 + 1
    return x / gain - (2 - gain) / 3


def clamp(x: Tensor) -> Tensor:
    return torch.clamp(x, max=x[1].item())


def written(x: Tensor) -> Tensor:
    y = x * 1.0
    y[2] = x[0].item() * 2
    y.mul_(x[3].item())
    return y


def compared(x: Tensor) -> Tensor:
    return x * 2 if x[0].item() > 0.2 else x - 1


def limits(x: Tensor) -> Tensor:
    return x * min(max(x.norm().item(), 1.5), 2.2)


def count(x: Tensor) -> Tensor:
    n = (x > 0).sum().item()
    return x * (n * 0.5) if n >= 2 else x / (n + 1.0)


def of_no_dimension(x: Tensor) -> Tensor:
    return (x[0] * x[1].item()).expand(4) + x


def written_to_after_it_was_read(x: Tensor) -> Tensor:
    y = x * 1.0
    first = y[0].item()
    y[0] = 100.0
    return y * first


def integer_tensor(x: Tensor) -> Tensor:
    k = (x > 0).to(torch.int64)
    return k * x[0].item()


def powers(x: Tensor) -> Tensor:
    a = x[0].item()
    return x * abs(a) ** 0.5 + 2**a - a**2


def whole_numbers(x: Tensor) -> Tensor:
    a = x[0].item() * 3
    return x * (round(a) * 0.5) + (math.floor(a) - math.ceil(a / 2)) / 4.0


def functions_of_math(x: Tensor) -> Tensor:
    a, b = x[0].item(), x[1].item()
    return x * math.hypot(a, b) + math.atan2(b, a) - math.exp(-abs(a)) * math.degrees(math.tanh(b)) / 90


def made_of_numbers(x: Tensor) -> Tensor:
    a = x[0].item()
    pair = torch.tensor([[a, 1.0], [2.0, -a]])
    return (
        (pair @ x[:2]).repeat(2) + torch.full_like(x, a) + torch.as_tensor(a) + torch.full((4,), a, dtype=torch.float32)
    )


def item_of_an_array(x: Tensor) -> Tensor:
    return x * x.numpy().max().item()


class Kept:
    """What the next call adds is a number in the first call, and one that was read in later ones."""

    def __init__(self) -> None:
        self.peak = 0.0

    def __call__(self, x: Tensor) -> Tensor:
        y = x + self.peak
        self.peak = x.abs().max().item()
        return y


class TimerItem:
    def __init__(self) -> None:
        self.left = torch.tensor(0.3)
        self.goal = torch.zeros(4)

    def __call__(self, x: Tensor) -> Tensor:
        self.left -= 0.1
        if self.left.item() <= 0:
            self.goal[:] = x
            self.left.fill_(0.4)
        return x - self.goal


PLAIN = [
    product,
    arithmetic,
    clamp,
    written,
    compared,
    limits,
    count,
    of_no_dimension,
    written_to_after_it_was_read,
    integer_tensor,
    powers,
    whole_numbers,
    functions_of_math,
    made_of_numbers,
    item_of_an_array,
]


@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.parametrize(
    "make", [*(lambda fn=fn: fn for fn in PLAIN), TimerItem], ids=[*(fn.__name__ for fn in PLAIN), "TimerItem"]
)
def test_numbers_are_computed_in_the_model(
    make: Callable[[], closed_loop.Program], backend: str, tmp_path: Path
) -> None:
    folder = closed_loop.export(make, tmp_path, passes=16, backend=backend)
    closed_loop.assert_equal(folder, make, steps=40)
    assert [line for line in harness.warnings_in(harness.read_log(folder)) if "announcing" not in line] == []


def test_a_number_that_is_kept_is_reported(tmp_path: Path) -> None:
    """It was a plain number in the first call: a way of its own, as soon as enough calls have gone the other."""
    with pytest.raises(leapp.ValidationError, match=r"'other' is 0\. in call 0(?s:.*)make the number a tensor"):
        closed_loop.export(Kept, tmp_path / "few", passes=3)
    closed_loop.assert_equal(closed_loop.export(Kept, tmp_path / "more", passes=6), Kept)


def test_a_number_that_never_changes_is_told(tmp_path: Path) -> None:
    def repeats(x: Tensor) -> Tensor:
        n = (x < 1000).sum().item()  # here
        for _ in range(n):
            x = x * 0.5
        return x

    folder = closed_loop.export(lambda: repeats, tmp_path, passes=3)
    found = harness.warnings_in(harness.read_log(folder))
    assert len(found) == 1
    assert "was 4 in every call" in found[0]
    assert harness.location_pattern(__file__, harness.line_of(repeats, "# here")).search(found[0])


def test_scripted_code_finds_functions_of_math_while_they_are_followed(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))

    @torch.jit.script
    def scripted(x: Tensor) -> Tensor:
        return x * math.sqrt(2.0) + math.pow(2.0, 0.5)

    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    annotate.output_tensors("n", {"y": scripted(x)}, export_with="jit")
    leapp.stop()
    assert math.sqrt(4.0) == 2.0
    assert math.sqrt.__module__ == "math"
    torch.testing.assert_close(scripted(torch.ones(2)), torch.full((2,), 2 * math.sqrt(2)))


def test_scripted_code_finds_torchs_functions_while_they_are_replaced(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    try:

        @torch.jit.script
        def scripted(x: torch.Tensor) -> torch.Tensor:
            return x * torch.full([2], 2.0) + torch.full_like(x, 3.0) + torch.tensor(1.5) + torch.as_tensor(0.5)

        replaced = [id(torch.full), id(torch.tensor)]
    finally:
        leapp.stop()
    torch.testing.assert_close(scripted(torch.ones(2)), torch.full((2,), 7.0))
    assert not set(replaced) & set(torch.jit._builtins._get_builtin_table())


def test_functions_of_math_that_torch_was_told_of_stay(tmp_path: Path) -> None:
    """torch knows them by their addresses: another function must not come to lie there."""

    def followed() -> list[int]:
        leapp.start("g", save_path=str(tmp_path))
        found = [id(math.sqrt), id(math.pow), id(math.log10)]
        leapp.stop()
        return found

    first = followed()
    made = [lambda x=x: x for x in range(1000)]
    assert not {id(function) for function in made} & set(first)
    assert followed() == first


def test_they_are_numbers(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.tensor([1.5, 2.0])})
    number, whole = x[0].item(), (x > 0).sum().item()
    assert isinstance(number, float)
    assert isinstance(whole, int)
    assert (number, whole) == (1.5, 2)
    assert hash(number) == hash(1.5)
    assert json.dumps([number, whole]) == "[1.5, 2]"
    assert f"{number:.2f} {whole}" == "1.50 2"
    assert [10, 20, 30][whole] == 30
    assert torch.zeros(whole, 3).shape == (2, 3)
    assert x.new_ones(whole, whole).sum() == 4
    assert list(range(whole)) == [0, 1]
    for copied in (copy.deepcopy(number), pickle.loads(pickle.dumps(number)), float(number)):
        assert type(copied) is float
    assert number**2 == 2.25
    assert "a" * whole == "aa"
    assert number != "1.5"
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    leapp.stop()
    assert type(torch.tensor(1.5).item()) is float
    assert type(number + 1) is float  # no node is open any more
