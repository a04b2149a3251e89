# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Index tensors without dimensions: recorded, not turned into numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import closed_loop
import harness
import leapp
import pytest
import torch
from leapp import annotate

N = 5


class Pointer:
    """A pointer that goes round, and a buffer of N rows."""

    def __init__(self) -> None:
        self.i = torch.tensor(0)
        self.buffer = torch.arange(4.0 * N).reshape(N, 4)

    def advance(self) -> None:
        self.i = (self.i + 1) % N


class CircularBuffer(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        oldest = self.buffer[self.i] * 1.0
        self.buffer[self.i] = x
        self.advance()
        return oldest, self.buffer.mean(0), self.buffer[self.i - 1]


class CircularBufferInPlace(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        self.buffer[self.i] = x
        self.i.add_(1).remainder_(N)
        return self.buffer[self.i] + x


class AddedTo(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        self.buffer[self.i] += x
        self.buffer[self.i].mul_(0.5)
        self.advance()
        return self.buffer * 1.0


class WrittenThroughAView(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        row = self.buffer[self.i]
        row[1:3] = x[:2]
        row.view(2, 2)[0, 0] = 9.0
        row[0].add_(x[3])
        self.advance()
        return row * 2, self.buffer.sum(0)


class ViewReadAfterAWrite(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        row = self.buffer[self.i]
        self.buffer[2] = x
        self.buffer.mul_(0.5)
        self.advance()
        return row + 1


class AmongSeveral(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        j = self.i % 4
        self.buffer[self.i, 1:] = x[1:]
        self.buffer[:, j] = x[0]
        self.buffer[self.i, j] = 2.0
        self.advance()
        return self.buffer[self.i, j], self.buffer[..., j], self.buffer[1:, j], self.buffer[None, self.i, :2]


class InColumns(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        column = self.buffer.t()[:, self.i]
        column[1:].add_(x[1:])
        column[::2] = 1.0
        self.advance()
        return column * 1.0, self.buffer * 1.0


class WithOtherIndices(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        pick = torch.tensor([2, 0])
        self.buffer[self.i, pick] = x[:2]
        self.advance()
        return self.buffer[self.i, pick], self.buffer[self.i, [1, 3]], self.buffer[pick, self.i % 4]


class Negative(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        self.buffer[-1 - self.i] = x
        self.advance()
        return self.buffer[-self.i - 1], self.buffer[self.i - N]


class Slices(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        self.buffer[self.i : self.i + 1] = x
        self.advance()
        start = self.i % 3
        return self.buffer[start : start + 2], self.buffer[start : start + 3, 1:].sum(0)


class Narrowed(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        torch.narrow(self.buffer, 0, self.i, 1).copy_(x)
        self.buffer.select(0, self.i).add_(1.0)
        self.advance()
        start = self.i % 3
        return (
            self.buffer.narrow(0, start, 2),
            torch.select(self.buffer, 0, index=self.i),
            self.buffer.index_select(0, self.i),
        )


class OfAnInput:
    """The index comes from the input, and so does what is indexed."""

    def __call__(self, x: torch.Tensor) -> Any:
        i = x.argmax()
        x[i] = 0.5
        return x * 2, x[x.argmin()], torch.arange(4.0)[i]


class OfSeveralTypes(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        found = self.buffer[self.i.to(torch.int32)] + self.buffer[self.i.to(torch.int16)] + x
        self.advance()
        return found


class TwoPointers(Pointer):
    """An index into what an index gave."""

    def __init__(self) -> None:
        super().__init__()
        self.cube = torch.arange(2.0 * N * 4).reshape(2, N, 4)

    def __call__(self, x: torch.Tensor) -> Any:
        half = self.i % 2
        self.cube[half][self.i] = x
        self.cube[half, self.i, 0] += 1.0
        self.advance()
        return self.cube[half].sum(0), self.cube[half, self.i]


KINDS = [
    CircularBuffer, CircularBufferInPlace, AddedTo, WrittenThroughAView, ViewReadAfterAWrite, AmongSeveral, InColumns,
    WithOtherIndices, Negative, Slices, Narrowed, OfAnInput, OfSeveralTypes, TwoPointers,
]  # fmt: skip


@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_index_tensor_without_dimensions(
    kind: Callable[[], closed_loop.Program], backend: str, tmp_path: Path
) -> None:
    folder = closed_loop.export(kind, tmp_path, passes=3, backend=backend)
    closed_loop.assert_equal(folder, kind)
    assert not any("leaves the graph" in line for line in harness.warnings_in(harness.read_log(folder)))


def test_a_circular_buffer_in_one_pass(tmp_path: Path) -> None:
    closed_loop.check(CircularBufferInPlace, tmp_path, passes=(1, 2))


class LengthOfData(Pointer):
    def __call__(self, x: torch.Tensor) -> Any:
        return self.buffer[: x.argmax() + 1].sum(0) + x


def test_what_cannot_be_followed_is_still_warned_about(tmp_path: Path) -> None:
    folder = closed_loop.export(LengthOfData, tmp_path, passes=1)
    warnings = harness.warnings_in(harness.read_log(folder))
    assert any("leaves the graph" in line and "test_tensor_indices.py" in line for line in warnings)


def test_wrong_indices_raise_what_torch_raises(tmp_path: Path) -> None:
    x, far = torch.arange(3.0), torch.tensor(7)
    with pytest.raises(IndexError) as plain:
        x[far]
    leapp.start("g", save_path=str(tmp_path))
    y = annotate.input_tensors("n", {"x": x})
    with pytest.raises(IndexError) as traced:
        y[far]
    assert str(traced.value) == str(plain.value)
    annotate.output_tensors("n", {"y": y * 2}, export_with="jit")
    leapp.stop()


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    before = {name: getattr(torch.Tensor, name) for name in ("__getitem__", "__setitem__", "select", "narrow")}
    own = {name: name in vars(torch.Tensor) for name in before}
    leapp.start("g", save_path=str(tmp_path))
    assert torch.Tensor.select is not before["select"]
    leapp.stop()
    for name, function in before.items():
        assert getattr(torch.Tensor, name) == function
        assert (name in vars(torch.Tensor)) == own[name]


def test_tensors_do_not_become_sequences(tmp_path: Path) -> None:
    """A list of tensors without dimensions is a list of numbers to torch.tensor."""
    leapp.start("g", save_path=str(tmp_path))
    numbers = [torch.tensor(1.0), torch.tensor(2.0)]
    assert torch.tensor(numbers).tolist() == [1.0, 2.0]
    leapp.stop()


def test_a_parameter_and_a_subclass(tmp_path: Path) -> None:
    class Table:
        def __init__(self) -> None:
            self.weight = torch.nn.Parameter(torch.arange(8.0).reshape(4, 2))

        def __call__(self, x: torch.Tensor) -> Any:
            return self.weight[x.argmax()].detach()

    closed_loop.check(Table, tmp_path, passes=(1,))


def test_gradients_flow_through(tmp_path: Path) -> None:
    def gradient(x: torch.Tensor) -> torch.Tensor:
        x = x.clone().requires_grad_()
        i = x.argmax()
        y = x * 1.0
        y[i] = y[i] * 3
        (y[i] * y.sum()).backward()
        assert x.grad is not None
        return x.grad

    x = torch.tensor([1.0, 3.0, 2.0])
    expected = gradient(x)
    leapp.start("g", save_path=str(tmp_path))
    y = annotate.input_tensors("n", {"x": x})
    harness.assert_same([expected], [gradient(y)])
    annotate.output_tensors("n", {"y": y * 2}, export_with="jit")
    leapp.stop()
