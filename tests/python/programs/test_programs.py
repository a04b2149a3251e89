# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Things programs do with tensors: each under capture as without, and its model right on inputs it never saw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from harness import Exported, warnings_in
from torch import Tensor

PROGRAMS: dict[str, Callable[..., Any]] = {}


def program(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Takes `x`, a 4x6 float32 tensor."""
    PROGRAMS[fn.__name__] = fn
    return fn


for name, expression in {
    "python_numbers_on_both_sides": lambda x: 2 - (3 / (x.abs() + 1)) ** 2 + 1,
    "floor_and_remainder": lambda x: (x // 0.7, x % 0.7, -x // 2, 7 % (x.abs() + 1)),
    "number_to_a_power": lambda x: 2**x + x**2 + x.abs() ** 0.5 + 2.5 ** (x * 2),
    "numpy_scalars": lambda x: x * np.float32(2.5) + np.float64(0.1) - np.int64(3),
    "zero_dimensional_double": lambda x: x + torch.tensor(0.1, dtype=torch.float64),
    "integer_promotion": lambda x: (x > 0) * 2 + x.argmax(1, keepdim=True) * x,
    "bool_arithmetic": lambda x: ((x > 0) & ~(x > 1) | (x < -1)) ^ (x == 0),
    "comparisons_with_numbers": lambda x: torch.stack([x > 0, x >= 0.5, x != 1, x < 0.2]),
    "casts": lambda x: x.double().int().float() + x.half().float() + x.bool().float() + x.long(),
    "to_other_tensor": lambda x: x.to(torch.zeros(1, dtype=torch.float64)) * 0.1,
    "sum_of_a_python_list": lambda x: sum([x[0], x[1], x[2]]),
    "iteration": lambda x: torch.stack([row * i for i, row in enumerate(x)]),
    "unpacking": lambda x: (lambda a, b, c, d: a * b - c * d)(*x),
    "named_tuple_results": lambda x: (x.max(1).values, x.min(0).indices, x.sort(1).values, torch.topk(x, 2).values),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "indexing": lambda x: (x[1], x[-1, 2:], x[..., None], x[:, [0, 2]], x[[0, 1], [2, 3]], x[::2, 1::2]),
    "indexing_with_tensors": lambda x: x[torch.tensor([2, 0]), x.argmax(1)[:2]],
    "negative_strides_by_flip": lambda x: x.flip(1)[:, :2],
    "new_tensors": lambda x: (x.new_tensor([1.0, 2.0]) * x[:, :2], x.new_zeros(4, 6) + x, torch.ones_like(x) * x),
    "arange_from_shape": lambda x: torch.arange(x.shape[0])[:, None] * x + torch.linspace(0, 1, x.size(1)),
    "eye_and_tril": lambda x: torch.eye(4) @ x + torch.tril(torch.ones(4, 6)) * x,
    "where_with_numbers": lambda x: torch.where(x > 0, x, 0.0) + torch.where(x > 0, 1.0, -1.0),
    "clamp_with_tensors": lambda x: x.clamp(min=x.mean(), max=x[0]),
    "norms": lambda x: (x.norm(), x.norm(dim=1), torch.linalg.norm(x), F.normalize(x, dim=1)),
    "cat_of_many": lambda x: torch.cat([x, x[:1] * 2, torch.zeros(1, 6)], 0),
    "pad_and_roll": lambda x: F.pad(x, (1, 2)).roll(1, 0),
    "grid": lambda x: torch.stack(torch.meshgrid(x[0], x[1, :2], indexing="ij"), -1),
    "repeat_and_expand": lambda x: x[:, None].expand(4, 3, 6) + x.repeat(1, 1)[:, None].repeat_interleave(3, 1),
    "softmax_and_entropy": lambda x: -(F.softmax(x, 1) * F.log_softmax(x, 1)).sum(1),
    "one_hot_with_classes": lambda x: F.one_hot(x.argmax(1), 6) * x,
    "embedding": lambda x: F.embedding(x.argmax(1), torch.arange(12.0).reshape(6, 2)),
    "attention": lambda x: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None]),
    "interpolate": lambda x: F.interpolate(x[None, None], scale_factor=2, mode="bilinear", align_corners=False),
    "channels_last": lambda x: F.conv2d(
        x.reshape(1, 2, 3, 4).to(memory_format=torch.channels_last), torch.ones(3, 2, 2, 2)
    ),
    "cumulative": lambda x: (x.cumsum(1), x.cummax(0).values, x.logcumsumexp(1), torch.diff(x)),
    "quaternion_rotation": lambda x: torch.cross(x[:, :3], torch.cross(x[:, :3], x[:, 3:], dim=-1), dim=-1),
    "matrix_solve": lambda x: torch.linalg.solve(x @ x.T + torch.eye(4), x),
    "cholesky": lambda x: torch.linalg.cholesky(x @ x.T + torch.eye(4)),
    "fourier": lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2, n=6),
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])),
    "scripted_distribution": lambda x: torch.distributions.Normal(x, 1.0, validate_args=False).log_prob(x * 2),
    "constants_of_other_dtypes": lambda x: (
        x * torch.ones(6, dtype=torch.bfloat16),
        x * torch.ones(6, dtype=torch.int8) + torch.ones(6, dtype=torch.uint8),
        torch.view_as_real(x * torch.full((), 1 + 2j)),
    ),
    "constants_with_a_conj_or_neg_bit": lambda x: (
        torch.view_as_real(x * torch.complex(torch.ones(6), torch.arange(6.0)).conj()),
        x * torch.complex(torch.ones(6), torch.arange(6.0)).conj().imag,
    ),
    "constants_that_are_expanded_or_empty": lambda x: torch.cat([x * torch.ones(1).expand(6), torch.zeros(0, 6)]),
    "infinities_and_nan_as_numbers": lambda x: (
        x.masked_fill(x < 0, float("inf")).clamp(max=5),
        torch.where(x > 0, x, float("nan")).nan_to_num(3.0),
        x.clamp(min=-float("inf"), max=1),
    ),
    "large_integers": lambda x: (x.long() + 2**40, x.long() * -(2**62)),
    "text_arguments": lambda x: (
        F.interpolate(x[None], size=12, mode="linear"),
        torch.div(x, 0.3, rounding_mode="floor"),
        F.gelu(x, approximate="tanh"),
        x.scatter_reduce(1, torch.zeros(4, 6, dtype=torch.long), x, reduce="amax"),
    ),
    "dtype_arguments": lambda x: (x.sum(dtype=torch.float64), torch.softmax(x, 1, dtype=torch.float64)),
    "optional_lists": lambda x: (
        F.pad(x[None], (1, 1), mode="reflect"),
        torch.fft.fftn(x, s=(4, 4)).abs(),
        torch.var(x, dim=(0, 1), correction=0),
    ),
    "lists_of_results": lambda x: (*x.unbind(), *x.tensor_split(3, dim=1), *torch.broadcast_tensors(x, x[:1])),
    "lists_of_arguments": lambda x: (torch.block_diag(x, x), torch.linalg.multi_dot([x, x.T, x]), torch.hstack([x, x])),
    "results_that_are_views_of_the_input": lambda x: (x[1:], x.t(), x.contiguous(), x),
}.items():
    PROGRAMS[name] = expression


@program
def constant_written_between_reads(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    weight = torch.ones(6)
    first = x * weight
    weight.mul_(2)
    second = x * weight
    weight[0] = 5
    return first, second, x * weight


@program
def view_of_a_constant_written_between_reads(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    table = torch.zeros(3, 6)
    row = table[1]
    first = x + row
    table.add_(1)
    second = x + row
    row.copy_(x[0])
    return first, second, x + table[1]


@program
def out_is_an_argument(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 1
    torch.mul(y, 2, out=y)
    torch.cumsum(y, 1, out=y)
    values, indices = torch.empty(4), torch.empty(4, dtype=torch.long)
    torch.max(y, 1, out=(values, indices))
    return y * values[:, None], indices * 1


@program
def out_is_resized(x: Tensor) -> Tensor:
    result = torch.empty(0)
    torch.add(x, x, out=result)
    return result * 1


@program
def reshape_that_copies_and_reshape_that_does_not(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * 1
    view = y.reshape(-1)
    view[0] = 5
    copy = y.t().reshape(-1)
    copy[1] = 6
    return y * 1, view * 1, copy * 1


@program
def conversions_that_return_the_same_tensor(x: Tensor) -> Tensor:
    y = x * 1
    y.to(torch.float32).add_(1)
    y.float().mul_(2)
    y.contiguous().sub_(3)
    return y * 1


@program
def writes_through_every_kind_of_view(x: Tensor) -> Tensor:
    y = (x * 1).reshape(2, 2, 6)
    y.movedim(2, 0)[1] = 0
    y.swapaxes(0, 1)[0, 1] = 4
    y.squeeze().unsqueeze(0)[0, 1, 1] = 8
    y.flatten()[3] = 1
    y.unflatten(2, (2, 3))[0, 0, 1] = 9
    first, second = y.tensor_split(2)
    first.narrow(2, 0, 2).fill_(1)
    second.hsplit(2)[1].zero_()
    y[0].diagonal(1).add_(10)
    torch.as_strided(y, (3,), (7,), 2).mul_(2)
    return y * 1


@program
def pieces_of_a_split_are_written(x: Tensor) -> Tensor:
    y = x * 1
    for i, piece in enumerate(y.split(2, 1)):
        piece.mul_(i + 2)
    return y + 0


@program
def rows_of_an_unbind_are_written(x: Tensor) -> Tensor:
    y = x * 1
    a, b, *_ = [y[i] for i in range(4)]
    a += b
    b -= a
    first, second = y.chunk(2)
    second.copy_(first)
    return y + 0


@program
def in_place_views(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 1
    y.t_()
    y.unsqueeze_(0)
    y[0, 1] = 7
    y.squeeze_(0).transpose_(0, 1)
    return y + 0, y.sum(0)


@program
def as_strided_in_place(x: Tensor) -> Tensor:
    y = x.clone()
    y.as_strided_((3, 2), (6, 2), 1)
    y.add_(1)
    return y * 2


@program
def resize_to_less(x: Tensor) -> Tensor:
    y = x.clone()
    y.resize_(2, 3)
    return y * 2


@program
def swap_of_two_names(x: Tensor) -> Tensor:
    a, b = x * 2, x * 3
    a, b = b, a
    a += b
    return a - b


@program
def swapped_contents(x: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x * 2, x * 3
    torch.utils.swap_tensors(a, b)
    a.add_(1)
    return a * 1, b * 1


@program
def uninitialised_then_filled(x: Tensor) -> Tensor:
    y = torch.empty(4, 6)
    y[:, :3] = x[:, 3:]
    y[:, 3:] = x[:, :3] * 2
    return y * 1


@program
def written_with_another_dtype(x: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.zeros(4, 6, dtype=torch.int64)
    y.copy_(x * 10)
    z = torch.zeros(4, 6, dtype=torch.float64)
    z[1:] = x[1:]
    return y * 1, z * 1


@program
def broadcast_in_place(x: Tensor) -> Tensor:
    y = x * 1
    y += x[0]
    y[1:] -= x[:1]
    y[:, 2] = x[:, 1]
    y[...] *= 2
    return y + 0


@program
def augmented_fancy_index(x: Tensor) -> Tensor:
    y = x * 1
    y[[0, 2]] += 10
    y[y > 5] -= 5
    y[:, torch.tensor([True, False] * 3)] *= 2
    return y + 0


@program
def index_copy_and_fill(x: Tensor) -> Tensor:
    y = x * 1
    y.index_copy_(1, torch.tensor([0, 5]), x[:, 2:4])
    y.index_fill_(0, torch.tensor([1]), -3)
    y.fill_diagonal_(9)
    return y + 0


@program
def put_and_take(x: Tensor) -> Tensor:
    y = x * 1
    y.put_(torch.tensor([0, 7]), x.reshape(-1)[:2] * 2)
    return y + torch.take(y, torch.tensor([[3]]))


@program
def overlapping_copy_within(x: Tensor) -> Tensor:
    y = x * 1
    y[1:] = y[:-1].clone()
    y[:, :3] = y[:, 3:]
    return y + 0


@program
def output_is_a_view_of_something_written_later(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 1
    view = y[:2]
    copy = view.clone()
    y.mul_(3)
    return view, copy


@program
def history_buffer(x: Tensor) -> Tensor:
    buffer = torch.zeros(3, 4, 6)
    for i in range(4):
        buffer = torch.roll(buffer, 1, 0)
        buffer[0] = x * i
    return buffer.flatten(1)


@program
def running_mean(x: Tensor) -> Tensor:
    mean, var, count = torch.zeros(6), torch.ones(6), torch.tensor(1e-4)
    for row in x:
        delta = row - mean
        count += 1
        mean += delta / count
        var.lerp_(delta * delta, 0.1)
    return (x - mean) / (var + 1e-6).sqrt()


@program
def gradient_step(x: Tensor) -> Tensor:
    guess = torch.zeros(4, 6, requires_grad=True)
    optimiser = torch.optim.SGD([guess], lr=0.1, momentum=0.9)
    for _ in range(3):
        optimiser.zero_grad()
        ((guess - x) ** 2).sum().backward()
        optimiser.step()
    return guess.detach() * 1


@program
def optimiser_of_another_kind(x: Tensor) -> Tensor:
    guess = torch.zeros(4, 6, requires_grad=True)
    optimiser = torch.optim.Adam([guess], lr=0.1, foreach=True)
    for _ in range(2):
        optimiser.zero_grad()
        ((guess - x) ** 2).sum().backward()
        optimiser.step()
    return guess.detach() * 1


@program
def weight_made_from_the_input(x: Tensor) -> Tensor:
    layer = torch.nn.Linear(6, 4, bias=False)
    layer.weight.data.copy_(x)
    with torch.no_grad():
        return layer(x)


@program
def parameter_made_from_the_input(x: Tensor) -> Tensor:
    return (torch.nn.Parameter(x * 2) * 3).detach()


@program
def complex_arithmetic(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    z = torch.complex(x, x * 2)
    z = z * z.conj() + 1j * z
    z.imag.add_(1)
    return z.real * 1, z.imag * 1, torch.view_as_real(z).clone()


@program
def conj_and_neg_views(x: Tensor) -> tuple[Tensor, Tensor]:
    z = torch.complex(x, x + 1)
    return z.conj().imag * 2, torch.view_as_real(z.conj().resolve_conj()) + 0


@program
def dropout_in_place_in_eval(x: Tensor) -> Tensor:
    y = x * 1
    torch.nn.Sequential(torch.nn.Dropout(0.5, inplace=True), torch.nn.ReLU(inplace=True)).eval()(y)
    return y + 0


@program
def nested_containers_and_closures(x: Tensor) -> Tensor:
    state = {"a": [x * 1, (x * 2,)]}

    def bump(value: Tensor) -> None:
        value.add_(1)

    bump(state["a"][0])
    bump(state["a"][1][0])
    return state["a"][0] * state["a"][1][0]


@program
def dispatch_mode_inside(x: Tensor) -> Tensor:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Doubling(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is torch.ops.aten.sin.default else result

    with Doubling():
        return torch.sin(x) + 1


@program
def function_mode_inside(x: Tensor) -> Tensor:
    with torch.device("cpu"):
        return torch.ones(6) * x


@program
def cond_of_torch(x: Tensor) -> Tensor:
    return torch.vmap(lambda row: torch.where(row.sum() > 0, row, -row))(x)


@program
def custom_operator(x: Tensor) -> Tensor:
    return torch.ops.aten.add.Tensor(x, x, alpha=3) + torch.ops.aten.mul.Scalar(x, 2)


@program
def saved_and_loaded(x: Tensor) -> Tensor:
    """Deep copies keep what they copied."""
    import copy

    y = x * 2
    z = copy.deepcopy(y)
    y.zero_()
    return z + y


DATA_DEPENDENT = {"augmented_fancy_index"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, check: Callable[..., Exported]) -> None:
    exported = check(PROGRAMS[name], lambda: [torch.randn(4, 6)], 1, 2, 3)
    assert exported.inputs == ["x0"]
    if name not in DATA_DEPENDENT:
        assert not warnings_in(exported.log), "nothing leaves the graph in these programs"


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.randn(6, 4).t(),
        lambda: torch.randn(4, 1).expand(4, 6),
        lambda: torch.randn(8, 12)[::2, ::2],
        lambda: torch.randn(30)[3:27].reshape(4, 6),
        lambda: torch.nn.Parameter(torch.randn(4, 6)),
        lambda: torch.randn(4, 6, requires_grad=True),
    ],
    ids=["transposed", "expanded", "strided", "offset", "parameter", "requires_grad"],
)
def test_inputs_of_any_layout(make: Callable[[], Tensor], tmp_path: Any) -> None:
    """Here the tensors themselves are announced, not copies of them."""
    import leapp
    from leapp import annotate

    torch.manual_seed(0)
    mine = make()
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": mine})
    y = torch.tanh(x) @ x.T
    z = x.clone()
    with torch.no_grad():
        z[1:] += 1
    annotate.output_tensors("n", {"y": y.detach(), "z": z.detach() * 2}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph()["n"]
    fresh = torch.randn(4, 6)
    first, second = torch.jit.load(str(tmp_path / "g" / "n.pt"))(fresh)
    torch.testing.assert_close(first, torch.tanh(fresh) @ fresh.T)
    torch.testing.assert_close(second, 2 * (fresh + torch.tensor([[0.0], [1.0], [1.0], [1.0]])))
