# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Operators are recorded whoever calls them: threads, torch.func, autograd, ScriptModules, compiled code, modules."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import leapp
import numpy as np
import pytest
import torch
from harness import Exported, assert_same, warnings_in
from leapp import annotate
from torch import Tensor

Check = Callable[..., Exported]


def ramp(*shape: int) -> Tensor:
    size = int(np.prod(shape))
    return (torch.arange(size, dtype=torch.float32) + 1).reshape(shape) / 4


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


def test_func_vjp(check_formula: Check) -> None:
    def fn(x: Tensor) -> tuple[Tensor, Tensor]:
        result, pull = torch.func.vjp(lambda value: value**3, x)
        return result, pull(torch.full((3,), 2.0))[0]

    check_formula(fn, lambda x: (x * x * x, 6 * x * x), ramp(3))


def test_func_jvp(check_formula: Check) -> None:
    def fn(x: Tensor) -> tuple[Tensor, Tensor]:
        return torch.func.jvp(lambda value: value**3, (x,), (torch.full((3,), 2.0),))

    check_formula(fn, lambda x: (x * x * x, 6 * x * x), ramp(3))


def test_func_hessian(check_formula: Check) -> None:
    """Forward over reverse."""

    def fn(x: Tensor) -> Tensor:
        return torch.func.hessian(lambda value: (value**3).sum())(x)

    check_formula(fn, lambda x: torch.diag(6 * x), ramp(3))


def test_vmap_with_writes(check_formula: Check) -> None:
    def one(row: Tensor) -> Tensor:
        row = row.clone()
        row[0] = 1
        return row.mul_(2)

    check_formula(
        lambda x: torch.func.vmap(one)(x), lambda x: torch.stack([x[:, 0] * 0 + 2, 2 * x[:, 1]], 1), ramp(3, 2)
    )


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
