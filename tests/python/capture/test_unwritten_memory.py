# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Fresh memory that nobody has written to holds anything: it is of no call, and of no model."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import harness
import leapp
import pytest
import torch
from leapp import annotate

Tensor = torch.Tensor
Step = Callable[[Tensor], Tensor]
EVEN, ODD = torch.tensor([0, 2, 4, 6]), torch.tensor([1, 3, 5, 7])
BACKENDS = pytest.mark.parametrize("backend", ["jit", "onnx"])


def columns(x: Tensor) -> Tensor:
    out = torch.empty(6, 8)
    out[:, EVEN], out[:, ODD] = x[:, :4] * 2, x[:, 4:] + 1
    return out


def rows_in_order(x: Tensor) -> Tensor:
    out = torch.empty(6, 8)
    out[x[:, 0].argsort()] = x * 2
    return out


def inverse_order(x: Tensor) -> Tensor:
    order = x[:, 0].argsort()
    inverse = torch.empty_like(order)
    inverse[order] = torch.arange(6)
    return x[inverse]


def by_mask(x: Tensor) -> Tensor:
    out = torch.empty(6, 8)
    positive = x > 0
    out[positive], out[~positive] = x[positive] * 2, 0.5
    return out


def masked_scatter(x: Tensor) -> Tensor:
    out = torch.empty(6, 8)
    out.masked_scatter_(x > 0, x[x > 0])
    return out.masked_fill_(x <= 0, 0.0)


def index_copy(x: Tensor) -> Tensor:
    return torch.empty(6, 8).index_copy_(0, x[:, 0].argsort(), x)


def scatter(x: Tensor) -> Tensor:
    return x.new_empty(6, 8).scatter_(1, x.argsort(1), x)


def slices(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    out[:, ::2], out[:, 1::2] = x[:, :4], x[:, 4:]
    return out


def beside_a_slice(x: Tensor) -> Tensor:
    out = torch.empty(6, 8)
    out[0] = x[0]
    out[1:][torch.tensor([4, 3, 2, 1, 0])] = x[1:]
    return out


def through_a_view(x: Tensor) -> Tensor:
    flat = torch.empty(48)
    view = flat.view(6, 8)
    view[:, EVEN], view[:, ODD] = x[:, :4], x[:, 4:]
    return flat.reshape(6, 8)


def transposed(x: Tensor) -> Tensor:
    out = torch.empty(8, 6).t()
    out[:, EVEN], out[:, ODD] = x[:, :4], x[:, 4:]
    return out


def resized(x: Tensor) -> Tensor:
    out = torch.empty(0)
    out.resize_(6, 8)
    out[:, EVEN], out[:, ODD] = x[:, :4], x[:, 4:]
    return out


def on_the_same_device(x: Tensor) -> Tensor:
    out = torch.empty(6, 8).to(x.device, x.dtype).contiguous().detach()
    out[:, EVEN], out[:, ODD] = x[:, :4], x[:, 4:]
    return out


def counted(x: Tensor) -> Tensor:
    out, i = torch.empty(6, 8), torch.tensor(0)
    for row in x:
        out[i] = row
        i = i + 1
    return out


def never_read(x: Tensor) -> Tensor:
    out = torch.empty(6, 16)
    out[:, EVEN], out[:, ODD] = x[:, :4], x[:, 4:]
    return out[:, :8]


STEPS: list[Step] = [
    columns,
    rows_in_order,
    inverse_order,
    by_mask,
    masked_scatter,
    index_copy,
    scatter,
    slices,
    beside_a_slice,
    through_a_view,
    transposed,
    resized,
    on_the_same_device,
    counted,
    never_read,
]


def soil(i: int) -> None:
    """Freed right away: the next of its size finds it."""
    for dtype in (torch.float32, torch.int64):
        for count in (6, 48, 96):
            torch.full((count,), 1000 + i, dtype=dtype)


def export(step: Step, folder: Path, backend: str) -> list[str]:
    """Warnings."""
    generator = torch.Generator().manual_seed(1)
    leapp.start("g", save_path=str(folder))
    for i in range(4):
        x = annotate.input_tensors("n", {"x": torch.randn(6, 8, generator=generator)})
        soil(i)
        annotate.output_tensors("n", {"y": step(x)}, export_with=backend)
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return harness.warnings_in(harness.read_log(folder / "g"))


@BACKENDS
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_what_nobody_wrote_makes_no_call_differ(step: Step, backend: str, tmp_path: Path) -> None:
    assert not export(step, tmp_path, backend)
    manager = leapp.InferenceManager(str(tmp_path / "g" / "g.yaml"))
    generator = torch.Generator().manual_seed(2)
    for _ in range(4):
        x = torch.randn(6, 8, generator=generator)
        found = torch.as_tensor(manager.run_policy({"n/x": x})["n/y"])
        assert harness.difference([step(x)], [found]) is None


def test_what_nobody_wrote_and_someone_reads_is_not_right(tmp_path: Path) -> None:
    def unfinished(x: Tensor) -> Tensor:
        out = torch.empty(6, 8)
        ctypes.memset(out.data_ptr(), 0x41, 4 * 48)  # what happens to lie there
        out[:, EVEN] = x[:, :4]
        return out

    with pytest.raises(leapp.ValidationError, match="24 of 48 elements"):
        export(unfinished, tmp_path, "jit")


@BACKENDS
def test_what_numpy_wrote_is_content(backend: str, tmp_path: Path) -> None:
    def step(x: Tensor) -> Tensor:
        out = torch.empty(8)
        out.numpy()[:] = 3.0
        out[EVEN] = x[0, :4]
        return out + x

    assert not export(step, tmp_path, backend)
    manager = leapp.InferenceManager(str(tmp_path / "g" / "g.yaml"))
    found = torch.as_tensor(manager.run_policy({"n/x": torch.zeros(6, 8)})["n/y"])
    assert found[0].tolist() == [0.0, 3.0] * 4
