# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Values that leave the graph are warned about once per line, with that line."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import leapp
import pytest
import torch
from harness import Exported, assert_same, capture_node, line_of, location_pattern, read_log, warnings_in
from leapp import annotate
from torch import Tensor


def item(x: Tensor) -> Tensor:
    x.sum().item()  # here
    return x * 2


def to_float(x: Tensor) -> Tensor:
    float(x.sum())  # here
    return x * 2


def to_int(x: Tensor) -> Tensor:
    int(x.sum())  # here
    return x * 2


def to_bool(x: Tensor) -> Tensor:
    bool(x.sum() > 0)  # here
    return x * 2


def to_index(x: Tensor) -> Tensor:
    "abcdef"[x.argmax()]  # here
    return x * 2


def to_list(x: Tensor) -> Tensor:
    x.tolist()  # here
    return x * 2


def list_of_scalar(x: Tensor) -> Tensor:
    x.sum().tolist()  # here
    return x * 2


def branch(x: Tensor) -> Tensor:
    if x.sum() > 0:  # here
        return x * 2
    return x * 3


def loop(x: Tensor) -> Tensor:
    y = x * 1
    while y.sum() < 100:  # here
        y = y * 2
    return y


def assertion(x: Tensor) -> Tensor:
    assert (x > 0).all()  # here
    return x * 2


def math_function(x: Tensor) -> Tensor:
    math.sin(x[0])  # here
    return x * 2


def format_scalar(x: Tensor) -> Tensor:
    _ = f"{x.sum()}"  # here
    return x * 2


def format_scalar_with_digits(x: Tensor) -> Tensor:
    _ = f"{x.sum():.3f}"  # here
    return x * 2


def format_vector(x: Tensor) -> Tensor:
    _ = f"{x}"  # here
    return x * 2


def print_vector(x: Tensor) -> Tensor:
    print(x)  # here
    return x * 2


def equal(x: Tensor) -> Tensor:
    torch.equal(x, x + 1)  # here
    return x * 2


def all_close(x: Tensor) -> Tensor:
    torch.allclose(x, x + 1)  # here
    return x * 2


def length_of_nonzero(x: Tensor) -> Tensor:
    len(x.nonzero())  # here
    return x * 2


def length_of_selection(x: Tensor) -> Tensor:
    y = x[x > 0.5]  # here
    return x * len(y)


def max_of_python(x: Tensor) -> Tensor:
    max(x[0], x[1])  # here
    return x * 2


def contains(x: Tensor) -> Tensor:
    0.5 in x  # noqa: B015  # here
    return x * 2


ESCAPES = [
    item,
    to_float,
    to_int,
    to_bool,
    to_index,
    to_list,
    list_of_scalar,
    branch,
    loop,
    assertion,
    math_function,
    format_scalar,
    format_scalar_with_digits,
    format_vector,
    print_vector,
    equal,
    all_close,
    length_of_nonzero,
    length_of_selection,
    max_of_python,
    contains,
]


@pytest.mark.parametrize("fn", ESCAPES, ids=lambda fn: fn.__name__)
def test_one_warning_with_the_right_line(fn: Callable[[Tensor], Tensor], export: Callable[..., Exported]) -> None:
    exported = export(fn, torch.tensor([1.0, 2.0, 0.25]))
    found = warnings_in(exported.log)
    assert len(found) == 1, found
    assert location_pattern(__file__, line_of(fn, "# here")).search(found[0]), found
    assert "'node'" in found[0], "the warning names the node"


def test_the_same_line_warns_once_however_often_it_runs(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    for value in (1.0, 2.0, 3.0):
        x = annotate.input_tensors("n", {"x": torch.tensor([value, value])})
        for _ in range(3):
            float(x.sum())
        annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert len(warnings_in(read_log(tmp_path / "g"))) == 1


def test_two_lines_warn_twice(export: Callable[..., Exported]) -> None:
    def fn(x: Tensor) -> Tensor:
        x.sum().item()
        x.max().item()
        return x * 2

    assert len(warnings_in(export(fn, torch.ones(2)).log)) == 2


def test_values_of_no_node_leave_without_a_word(export: Callable[..., Exported]) -> None:
    plain = torch.tensor([1.5, 2.5])

    def fn(x: Tensor) -> Tensor:
        factor = float(plain.sum()) + plain.tolist()[0] + len(plain.nonzero()) + float(plain.numpy()[0])
        return x * factor if plain[0] > 0 else x

    assert not warnings_in(export(fn, torch.ones(2)).log)


def returns_as_scalar(x: Tensor) -> Tensor:
    number = float(x.sum())  # read
    return x * number  # used


def returns_in_a_new_tensor(x: Tensor) -> Tensor:
    number = float(x.sum())  # read
    return torch.clamp(x, max=number)  # used


def returns_as_size(x: Tensor) -> Tensor:
    number = int((x.sum() * 8).item())  # read
    return x.sum().expand(number) * 2  # used


@pytest.mark.parametrize(
    "fn", [returns_as_scalar, returns_in_a_new_tensor, returns_as_size], ids=lambda fn: fn.__name__
)
def test_a_number_that_comes_back_is_reported_with_both_lines(
    fn: Callable[[Tensor], Tensor], export: Callable[..., Exported]
) -> None:
    found = warnings_in(export(fn, torch.tensor([1.25, 2.5])).log)
    assert len(found) == 2, found
    read, used = location_pattern(__file__, line_of(fn, "# read")), location_pattern(__file__, line_of(fn, "# used"))
    assert read.search(found[0])
    assert not used.search(found[0])
    assert read.search(found[1]), found[1]
    assert used.search(found[1]), found[1]


def test_small_integers_are_not_taken_for_numbers_that_come_back(export: Callable[..., Exported]) -> None:
    def fn(x: Tensor) -> Tensor:
        x.argmax().item()
        return x * 1

    assert len(warnings_in(export(fn, torch.tensor([0.0, 5.0])).log)) == 1


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x.nonzero(),
        lambda x: x[x > 0.5],
        lambda x: torch.unique(x),
        lambda x: torch.masked_select(x, x > 0.5) * 2 + 1,
        lambda x: x.nonzero(as_tuple=True)[0],
        lambda x: torch.where(x > 0.5)[0] + 1,
        lambda x: torch.repeat_interleave(x, x.long()),
    ],
    ids=["nonzero", "mask", "unique", "computed_on", "nonzero_as_tuple", "where", "repeat"],
)
def test_a_data_dependent_output_is_refused_at_compile(fn: Callable[[Tensor], Tensor], tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    capture_node("node", fn, [torch.tensor([1.0, 0.0, 2.0])])
    leapp.stop()
    with pytest.raises(ValueError, match=r"(?s)y0.*node|node.*y0") as raised:
        leapp.compile_graph()
    assert isinstance(raised.value, leapp.LeappError)
    assert "depends on data" in str(raised.value)


def test_a_data_dependent_intermediate_is_recorded(check: Callable[..., Exported]) -> None:
    exported = check(lambda x: x[x > 0].sum() + x.nonzero().sum(), lambda: [torch.randn(20)], 1, 2, 3)
    assert not warnings_in(exported.log)
    x = torch.tensor([-1.0] * 18 + [2.0, 3.0])
    assert_same([torch.tensor(5.0 + sum(range(20)))], exported(x))


def test_random_numbers_are_drawn_again_and_reported(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.zeros(1000)})
    y = torch.nn.functional.dropout(x + 1, 0.5, training=True)
    annotate.output_tensors("n", {"y": y}, export_with="jit")
    leapp.stop()
    results = leapp.compile_graph()
    assert results["n"] is True, "an output that is random is not compared"
    assert "random" in results.nodes["n"].message
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    torch.manual_seed(1)
    first, second = model(torch.zeros(1000)), model(torch.zeros(1000))
    assert not torch.equal(first, second), "drawn again on each call"
    assert set(first.tolist()) == {0.0, 2.0}


def test_a_random_tensor_made_from_nothing_live_is_a_constant_with_a_warning(tmp_path: Path) -> None:
    def fn(x: Tensor) -> Tensor:
        noise = torch.randn(3)  # drawn
        return x + noise

    torch.manual_seed(5)
    leapp.start("g", save_path=str(tmp_path))
    (found,) = capture_node("node", fn, [torch.zeros(3)])
    leapp.stop()
    leapp.compile_graph()
    warnings = warnings_in(read_log(tmp_path / "g"))
    assert len(warnings) == 1, warnings
    assert location_pattern(__file__, line_of(fn, "# drawn")).search(warnings[0])
    assert "random" in warnings[0]
    model = torch.jit.load(str(tmp_path / "g" / "node.pt"))
    assert_same([found + 1], [model(torch.ones(3))])
