# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Memory seen from several sides. What is expected are formulas of the inputs, not the code under test run again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import leapp
import numpy as np
import pytest
import torch
from bundle_runner import Bundle
from harness import Exported, assert_same, read_log, warnings_in
from leapp import annotate
from torch import Tensor

Check = Callable[..., Exported]


def ramp(*shape: int) -> Tensor:
    size = int(np.prod(shape))
    return (torch.arange(size, dtype=torch.float32) + 1).reshape(shape) / 4


# ---- Views and their bases -------------------------------------------------------------------------------------------


def test_two_inputs_slice_one_buffer_and_a_third_view_writes(tmp_path: Path) -> None:
    buffer = ramp(6)
    leapp.start("g", save_path=str(tmp_path))
    a, b = annotate.input_tensors("n", {"a": buffer[:4], "b": buffer[2:]})
    third = buffer[1:5]
    third.mul_(10)
    found = annotate.output_tensors("n", {"sum": a + b, "a": a * 1, "b": b * 1, "all": buffer * 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    r = ramp(6)
    written = torch.stack([r[0], 10 * r[1], 10 * r[2], 10 * r[3], 10 * r[4], r[5]])
    assert_same([written[:4] + written[2:], written[:4], written[2:], written], found)

    # As functions of a and b: where both hold an element, b was announced later and counts.
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    a, b = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([5.0, 6.0, 7.0, 8.0])
    content = torch.tensor([1.0, 20.0, 50.0, 60.0, 70.0, 8.0])
    assert_same([content[:4] + content[2:], content[:4], content[2:], content], model(a, b))


def test_one_tensor_under_two_names_gives_two_inputs(tmp_path: Path) -> None:
    x = ramp(3)
    leapp.start("g", save_path=str(tmp_path))
    a, b = annotate.input_tensors("n", {"a": x, "b": x})
    annotate.output_tensors("n", {"y": a * 2 + b * 3}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert_same([torch.tensor([32.0, 62.0])], [model(torch.tensor([1.0, 1.0]), torch.tensor([10.0, 20.0]))])


def test_write_through_a_slice_reaches_the_base(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x.clone()
        y[1:3] = 7.0
        return y * 1

    check_formula(fn, lambda x: torch.stack([x[0], x[0] * 0 + 7, x[0] * 0 + 7, x[3]]), ramp(4))


def test_write_to_the_base_reaches_an_older_view(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 1
        view = y[1:]
        y.add_(5)
        return view * 2

    check_formula(fn, lambda x: 2 * x[1:] + 10, ramp(4))


def test_a_view_written_after_its_base_was(check_formula: Check) -> None:
    def fn(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x * 1
        view = y[:2]
        y.mul_(2)
        view.add_(1)
        return y * 1, view * 1

    def formula(x: Tensor) -> tuple[Tensor, Tensor]:
        return torch.stack([2 * x[0] + 1, 2 * x[1] + 1, 2 * x[2]]), torch.stack([2 * x[0] + 1, 2 * x[1] + 1])

    check_formula(fn, formula, ramp(3))


def test_views_of_views(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 1  # 4x6
        inner = y[2:].t()[1:5][::2]  # columns 1 and 3 of rows 2 and 3
        inner.zero_()
        y.diagonal()[0].fill_(100)
        return y + 0

    def formula(x: Tensor) -> Tensor:
        keep = torch.ones(4, 6)
        for row, column in ((2, 1), (2, 3), (3, 1), (3, 3), (0, 0)):
            keep[row, column] = 0
        add = torch.zeros(4, 6)
        add[0, 0] = 100
        return x * keep + add

    check_formula(fn, formula, ramp(4, 6))


def test_the_input_itself_is_written(tmp_path: Path) -> None:
    """What comes back aliases the caller's tensor, so in-place code behaves as without LEAPP."""
    mine = ramp(3)
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": mine})
    x.mul_(2)
    mine.add_(1)
    annotate.output_tensors("n", {"y": x + mine}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert_same([2 * ramp(3) + 1], [mine])
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    fresh = torch.tensor([1.0, -2.0, 3.0])
    assert_same([2 * (2 * torch.tensor([1.0, -2.0, 3.0]) + 1)], [model(fresh)])


def test_expanded_and_overlapping_reads(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 1
        wide = y.unfold(0, 3, 1)  # overlapping windows
        y[2] = 0
        return wide.sum(1)

    def formula(x: Tensor) -> Tensor:
        return torch.stack([x[0] + x[1], x[1] + x[3], x[3] + x[4]])

    check_formula(fn, formula, ramp(5))


def test_complex_views(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        pairs = x * 1  # n x 2
        number = torch.view_as_complex(pairs)
        number.mul_(1j)
        return pairs + 0

    check_formula(fn, lambda x: torch.stack([-x[:, 1], x[:, 0]], 1), ramp(3, 2))


def test_dtype_view(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 1
        y.view(torch.int32).bitwise_and_(0x7FFFFFFF)  # clears the sign
        return y + 0

    check_formula(fn, lambda x: x.abs(), ramp(4) - 0.6)


# ---- Writes that torch does not count --------------------------------------------------------------------------------


def test_writes_through_data(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 1
        y.data.add_(3)
        y.data[0] = 9
        return y * 2

    check_formula(fn, lambda x: torch.stack([x[0] * 0 + 18, 2 * x[1] + 6, 2 * x[2] + 6]), ramp(3))


def test_data_is_replaced(check_formula: Check) -> None:
    def fn(x: Tensor) -> tuple[Tensor, Tensor]:
        y, z = x * 2, x * 3
        y.data = z
        z.add_(1)
        return y * 1, z * 1

    check_formula(fn, lambda x: (3 * x + 1, 3 * x + 1), ramp(3))


def test_data_is_replaced_by_a_plain_tensor(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 2
        y.data = torch.full((3,), 4.0)
        return y + x

    check_formula(fn, lambda x: 4 + x, ramp(3))


def test_set_shares_the_source(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y, z = x * 2, x * 5
        y.set_(z)
        z[0] = 1
        return y + 0

    check_formula(fn, lambda x: torch.stack([x[0] * 0 + 1, 5 * x[1], 5 * x[2]]), ramp(3))


def test_set_with_a_storage(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y, z = x * 2, x * 5
        y.set_(z.untyped_storage(), 1, (2,), (1,))
        return y + 0

    check_formula(fn, lambda x: 5 * x[1:], ramp(3))


@pytest.mark.host_only("torch gives no DLPack of such a device")
def test_write_through_a_dlpack_alias(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 2
        alias = torch.from_dlpack(y)
        alias.add_(1)
        return y * alias

    check_formula(fn, lambda x: (2 * x + 1) * (2 * x + 1), ramp(3))


@pytest.mark.host_only("torch gives no DLPack of such a device")
def test_write_to_the_base_read_through_dlpack(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 2
        alias = torch.from_dlpack(y)
        y.mul_(3)
        return alias + 1

    check_formula(fn, lambda x: 6 * x + 1, ramp(3))


def test_from_numpy_alias_of_a_plain_array(check_formula: Check) -> None:
    array = np.zeros(3, dtype=np.float32)

    def fn(x: Tensor) -> Tensor:
        first = torch.from_numpy(array)
        first.copy_(x)
        second = torch.from_numpy(array)  # another storage over the same memory
        second.mul_(2)
        return first + torch.from_numpy(array)

    check_formula(fn, lambda x: 4 * x, ramp(3))


def test_inputs_that_are_from_numpy_aliases(tmp_path: Path) -> None:
    array = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.from_numpy(array)})
    torch.from_numpy(array).add_(1)
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert_same([torch.tensor([4.0, 22.0])], [model(torch.tensor([1.0, 10.0]))])


def test_foreach_and_multi_tensor_writes(check_formula: Check) -> None:
    def fn(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x * 1
        parts = [y[:2], y[2:]]
        torch._foreach_add_(parts, [y[2:] * 1, y[:2] * 1])
        torch._foreach_mul_(parts, 2.0)
        return y * 1, parts[1] + 0

    def formula(x: Tensor) -> tuple[Tensor, Tensor]:
        both = 2 * (x[:2] + x[2:])
        return torch.cat([both, both]), both

    check_formula(fn, formula, ramp(4))


def test_foreach_copy(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        first, second = torch.zeros(2), torch.zeros(2)
        torch._foreach_copy_([first, second], [x[:2], x[2:]])
        return first * second

    check_formula(fn, lambda x: x[:2] * x[2:], ramp(4))


# ---- Indexed writes --------------------------------------------------------------------------------------------------


def test_index_put(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 1
        y[torch.tensor([0, 2])] = x[1:3]
        y.index_put_((torch.tensor([3, 3]),), torch.tensor([1.0, 2.0]), accumulate=True)
        return y + 0

    check_formula(fn, lambda x: torch.stack([x[1], x[1], x[2], x[3] + 3]), ramp(4))


def test_masked_fill(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 1
        y.masked_fill_(x > 0.5, -1.0)
        y[y < 0] = y[y < 0] * 0 - 1  # an index that depends on data, used as a mask
        return y + 0

    check_formula(fn, lambda x: torch.where((x > 0.5) | (x < 0), torch.tensor(-1.0), x), ramp(4))


def test_boolean_mask_assignment(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 1
        y[x > 0.5] = 0.0
        return y + 0

    check_formula(fn, lambda x: x * (x <= 0.5), ramp(4))


def test_scatter(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = torch.zeros(4)
        y.scatter_(0, torch.tensor([3, 1]), x[:2])
        y.scatter_add_(0, torch.tensor([0, 0]), x[2:])
        y.index_add_(0, torch.tensor([1]), x[:1])
        return y + 0

    check_formula(fn, lambda x: torch.stack([x[2] + x[3], x[1] + x[0], x[0] * 0, x[0]]), ramp(4))


# ---- Plain tensors that a node writes to -----------------------------------------------------------------------------


def test_write_into_a_persistent_buffer(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        buffer = torch.full((2, 3), 5.0)
        row = buffer[0]
        row.copy_(x)
        return buffer * 2

    check_formula(fn, lambda x: torch.stack([2 * x, x * 0 + 10]), ramp(3))


def test_a_ring_buffer_made_before_the_session(tmp_path: Path) -> None:
    history = ramp(3, 2)
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.tensor([10.0, 20.0])})
    history.copy_(torch.roll(history, -1, 0))
    history[-1] = x
    annotate.output_tensors("n", {"y": history.reshape(-1) + 0}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    r = ramp(3, 2)
    expected = torch.stack([r[1, 0], r[1, 1], r[2, 0], r[2, 1], torch.tensor(7.0), torch.tensor(8.0)])
    assert_same([expected], [Bundle(tmp_path / "g").step(x=torch.tensor([7.0, 8.0]))["n/y"]])


def test_a_counter_written_without_any_live_argument(tmp_path: Path) -> None:
    count = torch.tensor(41.0)
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": ramp(3)})
    count += 1
    annotate.output_tensors("n", {"y": x * count}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert count.item() == 42
    bundle = Bundle(tmp_path / "g")
    for expected in (84.0, 86.0, 88.0):
        assert_same([torch.full((3,), expected)], [bundle.step(x=torch.full((3,), 2.0))["n/y"]])


def test_a_running_statistic_written_without_any_live_argument(tmp_path: Path) -> None:
    mean, decay = torch.tensor([1.0, 3.0]), torch.tensor(0.5)
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": ramp(2)})
    mean.mul_(decay).add_(torch.tensor([10.0, 20.0]), alpha=0.1)  # [1.5, 3.5]
    annotate.output_tensors("n", {"y": x - mean}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert_same([torch.tensor([0.5, -1.5])], [Bundle(tmp_path / "g").step(x=torch.tensor([2.0, 2.0]))["n/y"]])


def test_a_constant_changed_after_the_node_closed_keeps_what_it_held(tmp_path: Path) -> None:
    weight = ramp(3)
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": ramp(3)})
    annotate.output_tensors("n", {"y": x * weight}, export_with="jit")
    weight.zero_()
    leapp.stop()
    leapp.compile_graph()
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert_same([ramp(3)], [model(torch.ones(3))])


# ---- Operators whose schema hides a write ----------------------------------------------------------------------------


def test_batch_norm_in_training(check_formula: Check) -> None:
    def fn(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        norm = torch.nn.BatchNorm1d(2, momentum=0.25)
        norm.train()
        with torch.no_grad():
            y = norm(x)
        zero = x[0, 0].isnan()
        return y, norm.running_mean + 0, norm.running_var + 0, norm.num_batches_tracked + zero

    def formula(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        mean = x.sum(0) / 4
        squares = ((x - mean) ** 2).sum(0)
        y = (x - mean) / (squares / 4 + 1e-5).sqrt()
        return y, 0.25 * mean, 0.75 + 0.25 * squares / 3, torch.tensor(1)

    check_formula(fn, formula, torch.tensor([[1.0, 5.0], [2.0, -1.0], [4.0, 0.0], [8.0, 2.0]]), rtol=1e-4, atol=1e-5)


def test_instance_norm_in_training(check_formula: Check) -> None:
    def fn(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        norm = torch.nn.InstanceNorm1d(2, momentum=0.5, track_running_stats=True)
        norm.train()
        y = norm(x)
        return y, norm.running_mean + 0, norm.running_var + 0

    def formula(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mean = x.sum(2) / 4
        squares = ((x - mean[:, :, None]) ** 2).sum(2)
        y = (x - mean[:, :, None]) / (squares[:, :, None] / 4 + 1e-5).sqrt()
        return y, 0.5 * mean.sum(0) / 2, 0.5 + 0.5 * (squares / 3).sum(0) / 2

    check_formula(fn, formula, ramp(2, 2, 4) ** 2, rtol=1e-4, atol=1e-4)


def test_hidden_state_of_an_earlier_call_is_reported(tmp_path: Path) -> None:
    memory = torch.zeros(2)
    leapp.start("g", save_path=str(tmp_path))
    for _ in range(2):
        x = annotate.input_tensors("n", {"x": torch.tensor([1.0, 2.0])})
        memory.mul_(0.5).add_(x)
        annotate.output_tensors("n", {"y": memory * 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    bundle = Bundle(tmp_path / "g")
    assert_same([torch.tensor([4.0, 5.0])], [bundle.step(x=torch.tensor([4.0, 5.0]))["n/y"]])
    assert_same([torch.tensor([6.0, 7.5])], [bundle.step(x=torch.tensor([4.0, 5.0]))["n/y"]])
    found = [line for line in warnings_in(read_log(tmp_path / "g")) if Path(__file__).name in line]
    assert found, "a node that keeps something from call to call is warned about"
