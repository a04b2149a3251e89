# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Memory seen from several sides. What is expected are formulas of the inputs, not the code under test run again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import leapp
import numpy as np
import pytest
import torch
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


def test_write_through_a_dlpack_alias(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 2
        alias = torch.from_dlpack(y)
        alias.add_(1)
        return y * alias

    check_formula(fn, lambda x: (2 * x + 1) * (2 * x + 1), ramp(3))


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
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert_same([expected], [model(torch.tensor([7.0, 8.0]))])


def test_a_counter_written_without_any_live_argument(tmp_path: Path) -> None:
    count = torch.tensor(41.0)
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": ramp(3)})
    count += 1
    annotate.output_tensors("n", {"y": x * count}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert count.item() == 42
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert_same([torch.tensor([84.0])], [model(torch.tensor([2.0]))])
    assert_same([torch.tensor([84.0])], [model(torch.tensor([2.0]))])  # the model keeps nothing


def test_a_running_statistic_written_without_any_live_argument(tmp_path: Path) -> None:
    mean, decay = torch.tensor([1.0, 3.0]), torch.tensor(0.5)
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": ramp(2)})
    mean.mul_(decay).add_(torch.tensor([10.0, 20.0]), alpha=0.1)  # [1.5, 3.5]
    annotate.output_tensors("n", {"y": x - mean}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert_same([torch.tensor([0.5, -1.5])], [model(torch.tensor([2.0, 2.0]))])


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


# ---- Whoever calls the operator --------------------------------------------------------------------------------------


def test_operator_in_a_second_thread(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        results: list[Tensor] = []
        worker = threading.Thread(target=lambda: results.append(x * 2 + 1))
        worker.start()
        worker.join()
        return results[0] * x

    check_formula(fn, lambda x: (2 * x + 1) * x, ramp(3))


def test_write_in_a_second_thread(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        y = x * 1
        worker = threading.Thread(target=lambda: y[:2].mul_(10))
        worker.start()
        worker.join()
        return y + 0

    check_formula(fn, lambda x: torch.stack([10 * x[0], 10 * x[1], x[2]]), ramp(3))


def test_two_threads_with_a_node_each(tmp_path: Path) -> None:
    def work(name: str, factor: float) -> None:
        x = annotate.input_tensors(name, {"x": torch.ones(4)})
        y = x * 1
        for i in range(300):
            y = y * 1.0
            y[i % 4] += factor
        annotate.output_tensors(name, {"y": y * 2}, export_with="jit")

    leapp.start("g", save_path=str(tmp_path))
    workers = [threading.Thread(target=work, args=(f"n{i}", float(i))) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    leapp.stop()
    assert len(leapp.compile_graph()) == 4
    for i in range(4):
        model = torch.jit.load(str(tmp_path / "g" / f"n{i}.pt"))
        assert_same([2 * (torch.arange(4.0) + 75 * i)], [model(torch.arange(4.0))])


def test_other_threads_keep_working_while_a_session_comes_and_goes(tmp_path: Path) -> None:
    done = threading.Event()
    results: list[float] = []

    def work() -> None:
        value = torch.zeros(3)
        while not done.is_set():
            value = (value + 1) * 1.0
            value[1:].sub_(1)
        results.extend(value.tolist())

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        for i in range(5):
            leapp.start("g", save_path=str(tmp_path))
            x = annotate.input_tensors("n", {"x": torch.ones(2)})
            annotate.output_tensors("n", {"y": torch.tanh(x) * i}, export_with="jit")
            leapp.stop()
            assert leapp.compile_graph()["n"]
    finally:
        done.set()
        for worker in workers:
            worker.join()
    assert len(results) == 6
    assert results[1:3] == [0.0, 0.0]


def test_vmap(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        return torch.func.vmap(lambda row: row.sum() * row)(x)

    check_formula(fn, lambda x: (x[:, :1] + x[:, 1:]) * x, ramp(3, 2))


def test_func_grad(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        return torch.func.grad(lambda value: (value**3).sum())(x)

    check_formula(fn, lambda x: 3 * x * x, ramp(3))


def test_vmap_of_grad(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        return torch.func.vmap(torch.func.grad(lambda row: row[0] * row[1] ** 2))(x)

    check_formula(fn, lambda x: torch.stack([x[:, 1] ** 2, 2 * x[:, 0] * x[:, 1]], 1), ramp(3, 2))


def test_func_jacobian(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        return torch.func.jacrev(lambda value: value**2)(x)

    check_formula(fn, lambda x: torch.diag(2 * x), ramp(3))


def test_functional_call(check_formula: Check) -> None:
    layer = torch.nn.Linear(2, 1)

    def fn(x: Tensor) -> Tensor:
        weights = {"weight": torch.tensor([[2.0, 3.0]]), "bias": x[0, :1]}
        return torch.func.functional_call(layer, weights, (x,))

    check_formula(fn, lambda x: 2 * x[:, :1] + 3 * x[:, 1:] + x[0, 0], ramp(3, 2))


def test_autocast(check: Check) -> None:
    layer = torch.nn.Linear(8, 8)

    def fn(x: Tensor) -> tuple[Tensor, Tensor]:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = layer(x)
            z = y @ x.T
        return y, z.float()

    exported = check(fn, lambda: [torch.randn(4, 8)])
    assert exported.eager[0].dtype == torch.bfloat16
    x = torch.eye(4, 8)
    half = (layer.weight.bfloat16().T[:4].float() + layer.bias.bfloat16().float()).bfloat16()
    assert_same([half], exported(x)[:1])


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad * 7 * x * x  # not the derivative, so that it shows whether it was called


def test_autograd_function(check_formula: Check) -> None:
    check_formula(lambda x: Cube.apply(x) + 1, lambda x: x * x * x + 1, ramp(3))


def test_gradient_inside_a_node(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        with torch.enable_grad():
            x = x.detach().requires_grad_(True)
            (slope,) = torch.autograd.grad(torch.sin(x).sum(), x)
        return slope.detach()

    check_formula(fn, lambda x: torch.cos(x), ramp(3))


def test_gradient_through_an_autograd_function(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        x = x.detach().requires_grad_(True)
        (slope,) = torch.autograd.grad(Cube.apply(x).sum(), x)
        return slope.detach()

    check_formula(fn, lambda x: 7 * x * x, ramp(3))


def test_backward_inside_a_node(check_formula: Check) -> None:
    def fn(x: Tensor) -> Tensor:
        x = x.detach().requires_grad_(True)
        (x**2).sum().backward()
        assert x.grad is not None
        return x.grad * 1

    check_formula(fn, lambda x: 2 * x, ramp(3))


@torch.jit.script
def scripted_function(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = x * 2 + 1
    return x


def test_script_function(check_formula: Check) -> None:
    check_formula(lambda x: scripted_function(x, 3) + 0, lambda x: 8 * x + 7, ramp(3))


class WithBuffer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x * self.scale)


def scaled_and_clamped(x: Tensor) -> Tensor:
    return (x * torch.tensor([1.0, 2.0, 3.0])).clamp(min=0) + 1


def test_script_module(check_formula: Check) -> None:
    module = torch.jit.script(WithBuffer())
    check_formula(lambda x: module(x) + 1, scaled_and_clamped, ramp(3) - 0.5)


def test_traced_module(check_formula: Check) -> None:
    module = torch.jit.trace(WithBuffer(), torch.zeros(3))
    check_formula(lambda x: module(x) + 1, scaled_and_clamped, ramp(3) - 0.5)


def test_frozen_script_module_runs_often(check_formula: Check) -> None:
    """The interpreter specialises after a few runs; what it does then must be seen too."""
    module = torch.jit.freeze(torch.jit.script(WithBuffer()).eval())
    for _ in range(4):
        module(torch.ones(3))
    check_formula(lambda x: module(x) + 1, scaled_and_clamped, ramp(3) - 0.5)


@pytest.mark.filterwarnings("ignore")  # the compiler's own
def test_compiled_module_runs_eagerly(check_formula: Check) -> None:
    module = torch.compile(WithBuffer(), backend="eager")
    module(torch.ones(3))  # compiled before the session
    check_formula(lambda x: module(x) + 1, scaled_and_clamped, ramp(3) - 0.5)


def test_checkpoint(check_formula: Check) -> None:
    from torch.utils.checkpoint import checkpoint

    def fn(x: Tensor) -> Tensor:
        x = x.detach().requires_grad_(True)
        y = checkpoint(lambda value: torch.exp(value) * value, x, use_reentrant=False)
        (slope,) = torch.autograd.grad(y.sum(), x)
        return slope.detach() + y.detach()

    check_formula(fn, lambda x: torch.exp(x) * (2 * x + 1), ramp(3))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_grad_modes(mode: Callable[..., object], check_formula: Check) -> None:
    weight = torch.nn.Parameter(torch.tensor([2.0, 3.0, 4.0]))

    def fn(x: Tensor) -> Tensor:
        with mode():
            y = x * weight
            y = y + 1
            z = y.clone()
            z[0] = 0
            return z.detach() * 1

    check_formula(fn, lambda x: torch.stack([x[0] * 0, 3 * x[1] + 1, 4 * x[2] + 1]), ramp(3))


def test_inputs_made_in_inference_mode(check_formula: Check) -> None:
    with torch.inference_mode():
        x = ramp(3)

    def fn(x: Tensor) -> Tensor:
        with torch.inference_mode():
            y = x.add(1)
            y.mul_(2)
            return y

    check_formula(fn, lambda x: 2 * x + 2, x)


def test_parametrised_and_hooked_module(check_formula: Check) -> None:
    layer = torch.nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    layer.register_forward_hook(lambda _module, _inputs, result: result * 2)
    layer.register_forward_pre_hook(lambda _module, inputs: (inputs[0] + 1,))

    def formula(x: Tensor) -> Tensor:
        a, b = x[:, 0] + 1, x[:, 1] + 1
        return 2 * torch.stack([a + 2 * b, 3 * a + 4 * b], 1)

    with torch.no_grad():
        check_formula(lambda x: layer(x), formula, ramp(3, 2))


# ---- Whole modules: fresh inputs against eager -----------------------------------------------------------------------


class Policy(torch.nn.Module):
    """A small actor: normalise with running statistics, LSTM, MLP, squash."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.randn(6))
        self.register_buffer("var", torch.rand(6) + 0.5)
        self.memory = torch.nn.LSTMCell(6, 8)
        self.actor = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ELU(), torch.nn.Linear(16, 3))
        self.log_std = torch.nn.Parameter(torch.zeros(3))

    def forward(self, obs: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        obs = ((obs - self.mean) / torch.sqrt(self.var + 1e-6)).clamp(-5, 5)
        h, c = self.memory(obs, (h, c))
        action = torch.tanh(self.actor(h)) * torch.exp(self.log_std)
        return action, h, c


class Vision(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3, stride=2, padding=1),
            torch.nn.BatchNorm2d(4),
            torch.nn.ReLU(inplace=True),
            torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(4, 4, 1),
            torch.nn.GELU(),
            torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Flatten(),
        )
        self.head = torch.nn.Sequential(torch.nn.LayerNorm(4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 2))

    def forward(self, image: Tensor) -> Tensor:
        return self.head(self.body(image))


def encoder_layer() -> torch.nn.Module:
    return torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)


MODULES: dict[str, tuple[Callable[[], torch.nn.Module], list[tuple[int, ...]]]] = {
    "linear": (lambda: torch.nn.Linear(4, 3), [(2, 4)]),
    "lstm": (lambda: torch.nn.LSTM(4, 5, num_layers=2, batch_first=True), [(2, 3, 4)]),
    "bidirectional_lstm": (lambda: torch.nn.LSTM(4, 5, bidirectional=True), [(3, 2, 4)]),
    "gru": (lambda: torch.nn.GRU(4, 5), [(3, 2, 4), (1, 2, 5)]),
    "gru_cell": (lambda: torch.nn.GRUCell(4, 5), [(2, 4), (2, 5)]),
    "attention": (lambda: torch.nn.MultiheadAttention(8, 2, batch_first=True), [(2, 3, 8)] * 3),
    "encoder_layer": (encoder_layer, [(2, 3, 8)]),
    "encoder": (lambda: torch.nn.TransformerEncoder(encoder_layer(), 2, enable_nested_tensor=False), [(2, 3, 8)]),
    "decoder_layer": (lambda: torch.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), [(2, 3, 8), (2, 4, 8)]),
    "policy": (Policy, [(1, 6), (1, 8), (1, 8)]),
    "vision": (Vision, [(1, 3, 16, 16)]),
}


@pytest.mark.parametrize("grad", [False, True], ids=["no_grad", "grad"])
@pytest.mark.parametrize("name", MODULES)
def test_module(name: str, grad: bool, check: Check) -> None:
    torch.manual_seed(3)
    make, shapes = MODULES[name]
    module = make().eval()
    with torch.set_grad_enabled(grad):
        exported = check(lambda *inputs: module(*inputs), lambda: [torch.randn(shape) for shape in shapes])
    assert len(exported.inputs) == len(shapes), "an input was lost"
    assert not warnings_in(exported.log), "nothing leaves the graph in these modules"


def test_module_in_training_mode_with_in_place_activation(check: Check) -> None:
    torch.manual_seed(3)
    make = [torch.nn.Conv2d(2, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.ReLU(inplace=True), torch.nn.Conv2d(3, 1, 3)]
    module = torch.nn.Sequential(*make).train()
    saved = {name: tensor.clone() for name, tensor in module.state_dict().items()}

    def fn(x: Tensor) -> Tensor:
        with torch.no_grad():
            return module(x)

    def inputs() -> list[Tensor]:
        module.load_state_dict(saved)
        return [torch.randn(2, 2, 8, 8)]

    check(fn, inputs)


def test_hidden_state_of_an_earlier_call_is_reported(tmp_path: Path) -> None:
    memory = torch.zeros(2)
    leapp.start("g", save_path=str(tmp_path))
    for _ in range(2):
        x = annotate.input_tensors("n", {"x": torch.tensor([1.0, 2.0])})
        memory.mul_(0.5).add_(x)
        annotate.output_tensors("n", {"y": memory * 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(strict=False)
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert_same([torch.tensor([4.0, 5.0])], [model(torch.tensor([4.0, 5.0]))])  # the first call: memory was zero
    found = [line for line in warnings_in(read_log(tmp_path / "g")) if Path(__file__).name in line]
    assert found, "a node that keeps something from call to call is warned about"
