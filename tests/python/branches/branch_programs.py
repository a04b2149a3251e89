# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that branch on data, as robot code does. Each takes x of shape (4,) and gives tensors of a fixed shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Program = Callable[[torch.Tensor], Any]
PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(make: Any) -> Any:
    """A class is made anew for each run; a function has no state."""
    PROGRAMS[make.__name__] = make if isinstance(make, type) else lambda: make
    return make


# ---- ways to ask ----


@program
def if_any(x: torch.Tensor) -> torch.Tensor:
    if torch.any(x > 1.0):
        return x * 2
    return x - 1


@program
def if_tensor(x: torch.Tensor) -> torch.Tensor:
    return x.relu() if x.sum() > 0 else -x


@program
def if_not(x: torch.Tensor) -> torch.Tensor:
    y = x * 3
    if not (x[0] > 0):
        y = y + 1
    return y


@program
def if_bool(x: torch.Tensor) -> torch.Tensor:
    return x.cos() if bool(x[1] < 0) else x.sin()


@program
def if_all(x: torch.Tensor) -> torch.Tensor:
    ok = (x.abs() < 1.5).all()
    return x if ok else x.clamp(-1.5, 1.5) * 0.5


@program
def if_equal(x: torch.Tensor) -> torch.Tensor:
    if torch.equal(x[:2] > 0, torch.tensor([True, False])):
        return x + 10
    return x - 10


@program
def if_allclose(x: torch.Tensor) -> torch.Tensor:
    if torch.allclose(x[:1], x[1:2], rtol=0.0, atol=1.0):
        return x * 0.5
    return x * 2


@program
def if_number_itself(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if x[0].round() else x * 3


@program
def and_or(x: torch.Tensor) -> torch.Tensor:
    if x[0] > 0 and x[1] > 0:
        return x + 1
    if x[2] > 0 or x[3] > 0:
        return x + 2
    return x + 3


@program
def ternary_chain(x: torch.Tensor) -> torch.Tensor:
    return x * 1 if x[0] > 0.5 else x * 2 if x[0] > -0.5 else x * 3


@program
def while_not_close(x: torch.Tensor) -> torch.Tensor:
    y = x
    while y.abs().max() > 1.0:
        y = y * 0.5
    return y


@program
def while_with_a_bound(x: torch.Tensor) -> torch.Tensor:
    y = x.abs()
    for _ in range(3):
        if y.sum() < 2.0:
            break
        y = y * 0.6
    return y


@program
def loop_with_continue(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(4)
    for i in range(3):
        if x[i] < 0:
            continue
        total = total + x * (i + 1)
    return total


@program
def count_of_positive(x: torch.Tensor) -> torch.Tensor:
    n = 0
    for i in range(3):
        if x[i] > 0:
            n += 1
    return x * n


# ---- early return, nesting, several outputs ----


@program
def early_return(x: torch.Tensor) -> torch.Tensor:
    if x.max() > 1.5:
        return torch.zeros(4)
    y = x * 2
    if y.min() < -2:
        return y + 1
    return y


@program
def nested(x: torch.Tensor) -> torch.Tensor:
    if x[0] > 0:
        if x[1] > 0:  # noqa: SIM108
            y = x + 1
        else:
            y = x + 2
    else:
        y = x + 3 if x[2] > 0 else x + 4
    return y * 2


@program
def two_outputs(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if x[0] > 0:
        return x * 2, x.sum()
    return x, x.sum()


@program
def one_side_constant(x: torch.Tensor) -> torch.Tensor:
    return torch.ones(4) if x[0] > 0 else x * 2


@program
def both_sides_constant(x: torch.Tensor) -> torch.Tensor:
    return torch.ones(4) if x[0] > 0 else torch.full((4,), -1.0)


@program
def one_side_is_the_input(x: torch.Tensor) -> torch.Tensor:
    return x if x[0] > 0 else -x


@program
def both_sides_alike(x: torch.Tensor) -> torch.Tensor:
    if x[0] > 0:
        return x * 2 + 1
    return x * 2 + 1


@program
def inside_a_function(x: torch.Tensor) -> torch.Tensor:
    def limited(v: torch.Tensor) -> torch.Tensor:
        return v / v.norm() if v.norm() > 1 else v

    return limited(x[:2]).repeat(2) + limited(x[2:]).repeat(2)


@program
def integer_side(x: torch.Tensor) -> torch.Tensor:
    k = (x > 0).sum()
    return x * k if k > 2 else x - k


@program
def in_place_side(x: torch.Tensor) -> torch.Tensor:
    y = x * 1.0
    if x[0] > 0:
        y[1] = 5.0
        y += 1
    else:
        y[2:] *= 3
    return y


@program
def in_place_on_a_view(x: torch.Tensor) -> torch.Tensor:
    y = x.reshape(2, 2) * 1.0
    row = y[0]
    if x.sum() > 0:
        row.zero_()
    return y.reshape(4) + 1


@program
def out_argument(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(4)
    if x[3] > 0:
        torch.add(x, 1, out=y)
    else:
        torch.mul(x, 2, out=y)
    return y


@program
def quat_slerp(x: torch.Tensor) -> torch.Tensor:
    a, b = nn.functional.normalize(x, dim=0), torch.tensor([0.5, 0.5, 0.5, 0.5])
    dot = (a * b).sum()
    if dot.abs() > 0.6:
        return a
    if dot < 0:
        b, dot = -b, -dot
    angle = torch.acos(dot)
    return (torch.sin(0.7 * angle) * a + torch.sin(0.3 * angle) * b) / torch.sin(angle)


@program
def division_guarded(x: torch.Tensor) -> torch.Tensor:
    k = (x > 0.5).sum()
    if k > 0:
        return x // k
    return x


@program
def index_guarded(x: torch.Tensor) -> torch.Tensor:
    table = torch.arange(12.0).reshape(3, 4)
    k = (x > 0).sum()
    if k < 3:
        return table[k] + x
    return x


@program
class NetworkSide:
    def __init__(self) -> None:
        torch.manual_seed(3)
        self.walk = nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 4))
        self.stand = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return self.walk(x) if x.norm() > 1.5 else self.stand(x)


@program
class SharedEncoder:
    def __init__(self) -> None:
        torch.manual_seed(4)
        self.encoder = nn.Linear(4, 8)
        self.heads = nn.ModuleList([nn.Linear(8, 4) for _ in range(3)])

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            z = self.encoder(x).tanh()
            if z[0] > 0.3:
                return self.heads[0](z)
            return self.heads[1](z) if z[0] > -0.3 else self.heads[2](z)


# ---- masks and index lists under a branch ----


@program
def masked_write(x: torch.Tensor) -> torch.Tensor:
    y = x * 1.0
    y[x > 0] = 7.0
    return y


@program
def masked_write_if_any(x: torch.Tensor) -> torch.Tensor:
    y = x * 1.0
    mask = x > 1.0
    if mask.any():
        y[mask] = 0.0
    return y


@program
def rows_found(x: torch.Tensor) -> torch.Tensor:
    y = x * 1.0
    ids = (x > 1.0).nonzero().flatten()
    if len(ids):
        y[ids] = y[ids] * 2 + 1
    return y


@program
def rows_none(x: torch.Tensor) -> torch.Tensor:
    ids = (x > 0.8).nonzero().flatten()
    if ids.numel() == 0:
        return x - 5
    y = torch.zeros(4)
    y[ids] = 1.0
    return y + x


@program
def mean_of_those(x: torch.Tensor) -> torch.Tensor:
    mask = x > 0.5
    if mask.any():
        return x - x[mask].mean()
    return x


# ---- scripted ----


@torch.jit.script
def _scripted(x: torch.Tensor) -> torch.Tensor:
    if bool(x.sum() > 0):
        return x * 2
    else:
        return x - 3


@program
def scripted_if(x: torch.Tensor) -> torch.Tensor:
    return _scripted(x) + 1


@torch.jit.script
def _scripted_loop(x: torch.Tensor) -> torch.Tensor:
    y = x
    while bool(y.abs().max() > 1.0):
        y = y * 0.5
    return y


@program
def scripted_while(x: torch.Tensor) -> torch.Tensor:
    return _scripted_loop(x) * 2
