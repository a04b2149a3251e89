# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The device itself: memory that the CPU cannot read, and operators that do what the CPU's do."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import annex
import pytest
import torch
from torch import Tensor, nn

ANNEX = torch.device("annex:0")


def test_the_cpu_cannot_read_its_memory() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import annex, ctypes, torch\n"
        "annex.load()\n"
        "x = torch.ones(4, device='annex')\n"
        "assert x.tolist() == [1.0] * 4\n"
        "print('read', flush=True)\n"
        "ctypes.string_at(x.data_ptr(), 4)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "read\n", done.stderr
    assert done.returncode == -signal.SIGSEGV


def in_place(x: Tensor) -> Tensor:
    x[:, 1] += 10
    x.t()[0].mul_(2)
    x[x > 11] = -1.0
    x.data.add_(1)
    return x


def through_views(x: Tensor) -> list[Tensor]:
    first, second = x.unbind()
    second.copy_(first)
    x.unfold(1, 2, 1)[0].zero_()
    x.view(-1)[::2].sub_(1)
    return [x, first, second, x.diagonal()]


def into_out(x: Tensor) -> list[Tensor]:
    grown = torch.empty(0, device=x.device)
    torch.add(x, x, out=grown)
    torch.mul(x, 3, out=x[:, :])
    torch._foreach_add_([x, grown], 1.0)
    values, indices = torch.empty(2, device=x.device), torch.empty(2, dtype=torch.long, device=x.device)
    torch.max(x, 1, out=(values, indices))
    return [x, grown, values, indices]


def reshaped(x: Tensor) -> list[Tensor]:
    other = torch.zeros(1, device=x.device)
    other.set_(x)
    x.resize_(4, 3)[2:] = 7
    return [x, other, torch.view_as_complex(torch.ones(2, 2, device=x.device)).conj().imag]


def statistics(x: Tensor) -> list[Tensor]:
    norm = nn.BatchNorm1d(3).to(x.device)
    return [norm(x), norm.running_mean, norm.running_var]


def recurrent(x: Tensor) -> list[Tensor]:
    torch.manual_seed(0)
    lstm, gru = nn.LSTM(3, 4), nn.GRU(3, 4)
    lstm, gru = lstm.to(x.device), gru.to(x.device)
    return [*lstm(x)[1], gru(x)[0]]


@pytest.mark.parametrize("program", [in_place, through_views, into_out, reshaped, statistics, recurrent])
def test_operators_do_what_those_of_the_cpu_do(program: Callable[[Tensor], Tensor | list[Tensor]]) -> None:
    x = torch.arange(6.0).reshape(2, 3) / 2
    with torch.no_grad():
        expected, found = program(x.clone()), program(x.to(ANNEX))
    if isinstance(expected, Tensor):
        expected, found = [expected], [found]
    for a, b in zip(expected, found, strict=True):
        assert b.device == ANNEX
        torch.testing.assert_close(b.cpu(), a)
        assert b.stride() == a.stride()


def test_a_copy_that_nobody_waits_for_comes_later() -> None:
    x = torch.ones(3, device=ANNEX)
    y = x.to("cpu", non_blocking=True)
    assert y.tolist() != [1.0] * 3
    torch.annex.synchronize()
    assert y.tolist() == [1.0] * 3


def test_two_devices_have_memory_of_their_own_at_the_same_addresses() -> None:
    one, two = annex.twins()
    assert one.data_ptr() == two.data_ptr()
    two += 1
    assert (one[0].item(), two[0].item()) == (0, 1)
    with pytest.raises(RuntimeError, match="same device"):
        one + two


def test_tensors_of_the_cpu_are_refused_beside_its_own() -> None:
    with pytest.raises(RuntimeError, match="annex:0 and cpu"):
        torch.ones(2, device=ANNEX) + torch.ones(2)
