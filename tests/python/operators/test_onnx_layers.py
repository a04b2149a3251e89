# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Layers of networks in the forms op_db has no sample of: dtypes, odd geometries, both ends of the opsets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from onnx_run import export_onnx, largest_error, named
from torch import Tensor, nn

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")

IMAGE = (2, 4, 9, 11)
LAYERS: dict[str, tuple[tuple[int, ...], Callable[[Tensor], Tensor | list[Tensor]]]] = {}


def layer(name: str, shape: tuple[int, ...], fn: Callable[[Tensor], Tensor | list[Tensor]]) -> None:
    LAYERS[name] = (shape, fn)


def weight(x: Tensor, *shape: int) -> Tensor:
    """The same numbers in every dtype, so that one row serves all."""
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float64).sin().reshape(shape) / 2).to(x.dtype)


layer("layer_norm", (3, 4, 6), lambda x: F.layer_norm(x, (4, 6), weight(x, 4, 6), weight(x, 4, 6)))
layer("layer_norm_plain", (3, 6), lambda x: F.layer_norm(x, (6,)))
layer("rms_norm", (3, 6), lambda x: F.rms_norm(x, (6,), weight(x, 6)))
layer("group_norm", IMAGE, lambda x: F.group_norm(x, 2, weight(x, 4), weight(x, 4)))
layer("group_norm_2d", (3, 8), lambda x: F.group_norm(x, 4))
layer("instance_norm", IMAGE, lambda x: F.instance_norm(x, weight=weight(x, 4), bias=weight(x, 4)))
layer("batch_norm", IMAGE, lambda x: F.batch_norm(x, weight(x, 4), weight(x, 4).abs() + 1, weight(x, 4)))
layer("weight_norm", (2, 4), lambda x: x @ torch._weight_norm(weight(x, 4, 3), weight(x, 4, 1), 0))
layer("conv1d_same", (2, 4, 9), lambda x: F.conv1d(x, weight(x, 6, 2, 4), weight(x, 6), padding="same", groups=2))
layer("conv2d", IMAGE, lambda x: F.conv2d(x, weight(x, 6, 4, 3, 2), stride=2, padding=(1, 0), dilation=(1, 2)))
layer("conv2d_unbatched", (4, 9, 11), lambda x: F.conv2d(x, weight(x, 6, 4, 3, 2), weight(x, 6)))
layer("conv3d", (1, 2, 4, 5, 6), lambda x: F.conv3d(x, weight(x, 3, 2, 2, 2, 2), padding=1))
layer("conv_tbc", (7, 2, 4), lambda x: torch.conv_tbc(x, weight(x, 3, 4, 5), weight(x, 5), 1))
layer("max_pool_indices", IMAGE, lambda x: list(F.max_pool2d(x, 3, 2, 1, return_indices=True)))
layer("max_pool_dilated", IMAGE, lambda x: F.max_pool2d(x, 3, 2, 1, dilation=2, ceil_mode=True))
layer("max_pool_indices_dilated", IMAGE, lambda x: list(F.max_pool2d(x, 2, 3, 1, 4, True, return_indices=True)))
layer("avg_pool_ceil", IMAGE, lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True))
layer("avg_pool_inside", IMAGE, lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False))
layer("avg_pool_divisor", IMAGE, lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5))
layer("lp_pool", IMAGE, lambda x: F.lp_pool2d(x.abs() + 0.1, 3, 2, 2))
layer("adaptive_avg", IMAGE, lambda x: F.adaptive_avg_pool2d(x, (4, 5)))
layer("adaptive_max", IMAGE, lambda x: list(F.adaptive_max_pool2d(x, (4, 5), return_indices=True)))
layer("unpool", (1, 2, 6, 6), lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2))
layer("nearest", IMAGE, lambda x: F.interpolate(x, scale_factor=1.7))
layer("nearest_twice", IMAGE, lambda x: F.interpolate(x, scale_factor=2))
layer("nearest_exact", IMAGE, lambda x: F.interpolate(x, size=(5, 17), mode="nearest-exact"))
layer("linear", (2, 3, 7), lambda x: F.interpolate(x, size=12, mode="linear"))
layer("bilinear", IMAGE, lambda x: F.interpolate(x, size=(5, 17), mode="bilinear"))
layer("bilinear_factor", IMAGE, lambda x: F.interpolate(x, scale_factor=1.3, mode="bilinear"))
layer("bilinear_corners", IMAGE, lambda x: F.interpolate(x, size=(5, 17), mode="bilinear", align_corners=True))
layer("bicubic", IMAGE, lambda x: F.interpolate(x, size=(5, 17), mode="bicubic"))
layer("bicubic_corners", IMAGE, lambda x: F.interpolate(x, scale_factor=1.4, mode="bicubic", align_corners=True))
layer("trilinear", (1, 2, 3, 4, 5), lambda x: F.interpolate(x, size=(5, 3, 7), mode="trilinear"))
layer("antialiased", IMAGE, lambda x: F.interpolate(x, size=(4, 5), mode="bilinear", antialias=True))
layer("antialiased_cubic", IMAGE, lambda x: F.interpolate(x, size=(4, 5), mode="bicubic", antialias=True))
layer("unfold", IMAGE, lambda x: F.unfold(x, (3, 2), dilation=(1, 2), padding=1, stride=(2, 1)))
layer("attention", (2, 3, 5, 8), lambda x: F.scaled_dot_product_attention(x, x * 0.5, x + 1, is_causal=True))

# What torch itself rounds to, with a little for another order of summation.
TOLERANCES = {torch.float32: 2e-5, torch.float64: 1e-12, torch.float16: 2e-2}
# torch has no such kernel.
NO_HALF = {"unpool", "antialiased", "antialiased_cubic"}


def compare(name: str, dtype: torch.dtype, opset: int, save_path: Path) -> None:
    shape, fn = LAYERS[name]
    torch.manual_seed(1)
    draw = lambda: {"x": torch.randn(shape, dtype=torch.float64).to(dtype)}  # noqa: E731
    model = export_onnx(fn, draw(), save_path, {"opset_version": opset}, rtol=TOLERANCES[dtype])
    fresh = draw()
    assert largest_error(model(fresh), named(fn(*fresh.values()))) < TOLERANCES[dtype]


@pytest.mark.parametrize("opset", [13, 18, 23])
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str, opset: int, tmp_path: Path) -> None:
    compare(name, torch.float32, opset, tmp_path)


@pytest.mark.parametrize("name", LAYERS)
def test_layer_in_float64(name: str, tmp_path: Path) -> None:
    compare(name, torch.float64, 18, tmp_path)


@pytest.mark.parametrize("name", [name for name in LAYERS if name not in NO_HALF])
def test_layer_in_half(name: str, tmp_path: Path) -> None:
    compare(name, torch.float16, 18, tmp_path)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("opset", [13, 23])
def test_transposed_convolutions_and_fold(dtype: torch.dtype, opset: int, tmp_path: Path) -> None:
    def call(x: Tensor) -> list[Tensor]:
        options = {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}
        return [
            F.conv_transpose2d(x, weight(x, 4, 3, 3, 2), weight(x, 6), **options),
            # more output padding than the stride
            F.conv_transpose2d(x, weight(x, 4, 3, 3, 2), weight(x, 3), output_padding=2, dilation=3),
            F.fold(x.flatten(2)[:, :, :16].repeat(1, 3, 1), (5, 6), (2, 3)),
        ]

    model = export_onnx(call, {"x": torch.randn(IMAGE).to(dtype)}, tmp_path, {"opset_version": opset}, rtol=1e-2)
    fresh = torch.randn(IMAGE).to(dtype)
    assert largest_error(model({"x": fresh}), named(call(fresh))) < TOLERANCES[dtype]


@pytest.mark.parametrize("opset", [13, 18, 20])
@pytest.mark.parametrize("align", [False, True])
def test_sampling_a_volume(align: bool, opset: int, tmp_path: Path) -> None:
    def call(x: Tensor, theta: Tensor) -> list[Tensor]:
        grid = F.affine_grid(theta, [2, 3, 4, 5, 6], align_corners=align)
        return [
            F.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=align)
            for mode in ("bilinear", "nearest")
            for padding in ("zeros", "border", "reflection")
        ]

    def inputs() -> dict[str, Tensor]:
        return {"x": torch.randn(2, 3, 5, 4, 6), "theta": torch.randn(2, 3, 4) * 0.7}

    torch.manual_seed(0)
    model = export_onnx(call, inputs(), tmp_path, {"opset_version": opset})
    fresh = inputs()
    assert largest_error(model(fresh), named(call(*fresh.values()))) < 5e-5


def test_batch_norm_that_learns(tmp_path: Path) -> None:
    """Training mode: the running statistics are results."""
    norm = nn.BatchNorm1d(5).train()

    def call(x: Tensor) -> list[Tensor]:
        mean, variance = torch.zeros(5), torch.ones(5)
        y = F.batch_norm(x, mean, variance, norm.weight, norm.bias, training=True, momentum=0.2)
        return [y, mean, variance]

    model = export_onnx(call, {"x": torch.randn(8, 5)}, tmp_path)
    fresh = torch.randn(8, 5) * 3 + 1
    assert largest_error(model({"x": fresh}), named(call(fresh))) < 1e-5


def test_infinite_pixels_stay_local(tmp_path: Path) -> None:
    """A depth camera says inf where it sees nothing; no other window may notice."""

    def call(x: Tensor) -> list[Tensor]:
        return [F.adaptive_avg_pool2d(x, (4, 5)), F.avg_pool2d(x, 2), F.interpolate(x, scale_factor=1.5)]

    model = export_onnx(call, {"x": torch.rand(1, 1, 9, 11)}, tmp_path)
    fresh = torch.rand(1, 1, 9, 11)
    fresh[0, 0, 2, 3] = float("inf")
    found = model({"x": fresh})
    for name, expected in named(call(fresh)).items():
        torch.testing.assert_close(found[name], expected)
