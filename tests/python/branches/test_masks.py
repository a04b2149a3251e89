# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Lengths that depend on data: rows that a mask chooses are exported for every row, and other numbers of them come out
right. What cannot be written that way is refused or warned about with its line."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness
import leapp
import mask_programs
import pytest
import torch
from leapp import annotate
from mask_programs import Program
from torch import Tensor

ROWS = 6
COUNTS = (0, 1, 3, ROWS)  # of rows that are chosen


def rows_of(count: int, seed: int) -> Tensor:
    """Numbers of which `count` rows begin with a positive one."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(ROWS, 3, generator=generator)
    chosen = torch.randperm(ROWS, generator=generator)[:count]
    x[:, 0] = -x[:, 0].abs() - 0.01
    x[chosen, 0] = -x[chosen, 0]
    return x


def instance(program: Any) -> Program:
    made: Program = program() if inspect.isclass(program) else program
    return made


@dataclass
class Outcome:
    problem: str | None  # on inputs that were not captured; None: the model is right
    error: str  # what compile_graph raised
    warnings: list[str]


def export(program: Any, counts: Sequence[int], backend: str, folder: Path) -> Path:
    plain, traced = instance(program), instance(program)
    leapp.start("masks", save_path=str(folder))
    for seed, count in enumerate(counts):
        x = rows_of(count, seed)
        expected = harness.snapshot(harness.as_ports(plain(x.clone())))
        results = harness.as_ports(traced(annotate.input_tensors("node", {"x": x.clone()})))
        annotate.output_tensors("node", {"y": results[0]}, export_with=backend)
        assert harness.difference_in_bits(expected, harness.snapshot(results)) is None
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return folder / "masks"


def outcome(program: Any, counts: Sequence[int], backend: str, folder: Path) -> Outcome:
    error, problem = "", None
    try:
        bundle = export(program, counts, backend, folder)
    except leapp.LeappError as raised:
        bundle, error = folder / "masks", str(raised)
    warnings = harness.warnings_in(harness.read_log(bundle))
    if error:
        return Outcome(None, error, warnings)
    manager = leapp.InferenceManager(bundle)
    fresh = instance(program)
    for step, count in enumerate((3, 0, ROWS, 1, 2, 5, 0, 4)):
        x = rows_of(count, 100 + step)
        expected = harness.as_ports(fresh(x.clone()))[0]
        found = manager({"node/x": x})["node/y"]
        problem = problem or harness.difference([expected], [found], rtol=1e-4, atol=1e-5)
        if problem:
            return Outcome(f"step {step}, {count} rows: {problem}", "", warnings)
    return Outcome(None, "", warnings)


def name_of(program: Any) -> str:
    return str(program.__name__)


# A part of rows is written to: of no rows there is no part, and the part of one row lies in memory as no other does.
NEED_ROWS = (
    mask_programs.made_for_rows,
    mask_programs.column_written_in_rows,
    mask_programs.drawn_for_as_many_rows,
    mask_programs.drawn_in_place_for_rows,
)


def first_counts(program: Any) -> Sequence[int]:
    """Of the first call: all that there are, or one of them in turn."""
    counts = [count for count in COUNTS if count > 1 or program not in (*NEED_ROWS, mask_programs.two_masks)]
    return counts if harness.LONG else [counts[mask_programs.RIGHT.index(program) % len(counts)]]


@pytest.mark.parametrize("program", mask_programs.RIGHT, ids=name_of)
@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")  # torch's, of the spread of one row
def test_the_model_is_right_for_any_number_of_rows(program: Any, backend: str, tmp_path: Path) -> None:
    for first in first_counts(program):
        found = outcome(program, (first, 2, 4), backend, tmp_path / str(first))
        assert found.error == ""
        assert found.problem is None, f"{first} rows in the first call: {found.problem}"
        assert [text for text in found.warnings if "depends on data" in text or "differs" in text] == []


FROM_ANY = [one for one in mask_programs.RIGHT if one not in (*NEED_ROWS, mask_programs.two_masks)]


@pytest.mark.parametrize("program", FROM_ANY, ids=name_of)
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_one_row_and_none_are_no_ways_of_their_own(program: Any, tmp_path: Path) -> None:
    """torch drops the dimension of what is written to a single row: the calls look different and are not."""
    for counts in ((1, 0, 3), (0, 1, 3)):
        found = outcome(program, counts, "onnx", tmp_path / str(counts[0]))
        assert found.error == ""
        assert found.problem is None, f"{counts}: {found.problem}"


@pytest.mark.parametrize("program", NEED_ROWS[:1], ids=name_of)
def test_parts_of_no_rows_are_not_seen_and_said_to_be_missing(program: Any, tmp_path: Path) -> None:
    assert "differs" in outcome(program, (0, 3), "jit", tmp_path / "later").error
    alone = outcome(program, (0,), "jit", tmp_path / "alone")
    assert [text for text in alone.warnings if "chose nothing in the only call" in text], alone


@pytest.mark.parametrize("program", mask_programs.STAY, ids=name_of)
def test_what_has_no_dense_form_is_named_with_its_line(program: Any, tmp_path: Path) -> None:
    line = harness.line_of(program, "# here")
    warned = outcome(program, (3,), "jit", tmp_path / "jit")
    where = harness.location_pattern(mask_programs.__file__, line)
    texts = [text for text in warned.warnings if "depends on data" in text]
    assert [text for text in texts if where.search(text)], warned
    refused = outcome(program, (3,), "onnx", tmp_path / "onnx")
    assert "depends on data" in refused.error or where.search(refused.error), refused


@pytest.mark.parametrize("program", [mask_programs.put_function_of_rows, mask_programs.small_network], ids=name_of)
def test_our_own_engine_runs_them(program: Any, tmp_path: Path) -> None:
    bundle = export(program, (2, 3), "onnx", tmp_path)
    manager = leapp.InferenceManager(bundle, engine="native")
    for count in COUNTS:
        x = rows_of(count, 50 + count)
        harness.assert_same([program(x.clone())], [manager({"node/x": x})["node/y"]], rtol=1e-4)


def test_a_port_of_rows_is_refused(tmp_path: Path) -> None:
    found = outcome(lambda x: x[x[:, 0] > 0] * 2, (3,), "jit", tmp_path)
    assert "output 'y' of node 'node': its shape depends on data (through aten::index at" in found.error


def test_all_rows_written_back_are_no_rows(tmp_path: Path) -> None:
    """As many as there are places: the shape is that of the rows, and fixed all the same."""
    found = outcome(mask_programs.put_rows_of_mask, (ROWS,), "jit", tmp_path)
    assert (found.problem, found.error, found.warnings) == (None, "", [])


def divided_by_length(x: Tensor) -> Tensor:
    ids = mask_programs.ids_of(x)
    return x[ids].sum(dim=0) / len(ids) + x  # here


def test_a_length_used_as_a_number_is_warned_about(tmp_path: Path) -> None:
    where = harness.location_pattern(__file__, harness.line_of(divided_by_length, "# here"))
    once = outcome(divided_by_length, (3,), "jit", tmp_path / "once")
    assert [text for text in once.warnings if where.search(text) and "uses the number 3" in text], once
    twice = outcome(divided_by_length, (3, 4), "jit", tmp_path / "twice")
    assert "differs" in twice.error + "".join(twice.warnings), twice


def test_a_length_that_nothing_needs_is_warned_about(tmp_path: Path) -> None:
    counts = []

    def keeps(x: Tensor) -> Tensor:
        counts.append(len(x[:, 0].nonzero()))
        return x * 2

    found = outcome(keeps, (3,), "jit", tmp_path)
    assert [text for text in found.warnings if "nothing of the node needs the result" in text], found


def test_every_row_has_random_numbers_of_its_own(tmp_path: Path) -> None:
    def program(x: Tensor) -> Tensor:
        ids = mask_programs.ids_of(x)
        return mask_programs.written(x, ids, torch.randn(len(ids), 3) * 2 + 1)

    manager = leapp.InferenceManager(export_drawn(program, (3, 2), "onnx", tmp_path))
    x = rows_of(ROWS, 7)
    steps = torch.stack([torch.as_tensor(manager({"node/x": x})["node/y"]).clone() for _ in range(400)])
    assert (steps.mean((0, 1)) - 1).abs().max() < 0.2
    assert (steps.std(0) - 2).abs().max() < 0.4
    assert torch.corrcoef(steps[:, :, 0].T).fill_diagonal_(0).abs().max() < 0.25
    none = rows_of(0, 8)
    assert torch.equal(torch.as_tensor(manager({"node/x": none})["node/y"]), none)


def test_one_row_of_random_numbers_may_be_for_all_rows(tmp_path: Path) -> None:
    def program(x: Tensor) -> Tensor:
        ids = mask_programs.ids_of(x)
        return mask_programs.written(x, ids, torch.randn(len(ids), 3))

    with pytest.raises(leapp.LeappError, match="depends on data"):
        export_drawn(program, (1, 1), "onnx", tmp_path)
    assert "which may be for all rows or for each" in harness.read_log(tmp_path / "masks")


def export_drawn(program: Program, counts: Sequence[int], backend: str, folder: Path) -> Path:
    leapp.start("masks", save_path=str(folder))
    for seed, count in enumerate(counts):
        x = annotate.input_tensors("node", {"x": rows_of(count, seed)})
        annotate.output_tensors("node", {"y": program(x)}, export_with=backend)
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return folder / "masks"
