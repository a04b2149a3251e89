# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""torchvision's operators in ONNX. The operators here are plain Python, written from their definitions, under
torchvision's names; `make test-zoo` has its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import harness
import leapp
import pytest
import torch
from leapp import annotate
from torch import Tensor
from torch.nn import functional


def overlap(a: list[float], b: list[float]) -> float:
    width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return width * height / (areas - width * height) if areas else 0.0


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    boxes, kept = dets.tolist(), []
    for i in scores.argsort(descending=True, stable=True).tolist():
        if all(overlap(boxes[i], boxes[j]) <= iou_threshold for j in kept):
            kept.append(i)
    return torch.tensor(kept, dtype=torch.long)


def between(plane: list[list[float]], y: float, x: float) -> float:
    """Of the four elements around it; what is outside is zero."""
    total, top, left = 0.0, math.floor(y), math.floor(x)
    for row in (top, top + 1):
        for column in (left, left + 1):
            if 0 <= row < len(plane) and 0 <= column < len(plane[0]):
                total += plane[row][column] * (1 - abs(y - row)) * (1 - abs(x - column))
    return total


def deform_conv2d(
    input: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor, stride_h: int, stride_w: int, pad_h: int,
    pad_w: int, dilation_h: int, dilation_w: int, groups: int, offset_groups: int, use_mask: bool,
) -> Tensor:  # fmt: skip
    planes, taps = input.tolist(), weight.shape[2] * weight.shape[3]
    moves, masks, weights = offset.tolist(), mask.tolist(), weight.tolist()
    batch, channels, (height, width) = input.shape[0], input.shape[1], offset.shape[2:]
    out = [[[[0.0] * width for _ in range(height)] for _ in range(weight.shape[0])] for _ in range(batch)]
    for n in range(batch):
        for o in range(weight.shape[0]):
            for i in range(weight.shape[1]):
                c = o // (weight.shape[0] // groups) * weight.shape[1] + i
                g = c // (channels // offset_groups)
                for k in range(taps):
                    ky, kx = divmod(k, weight.shape[3])
                    for y in range(height):
                        for x in range(width):
                            at = 2 * (g * taps + k)
                            row = y * stride_h - pad_h + ky * dilation_h + moves[n][at][y][x]
                            column = x * stride_w - pad_w + kx * dilation_w + moves[n][at + 1][y][x]
                            factor = masks[n][g * taps + k][y][x] if use_mask else 1.0
                            out[n][o][y][x] += weights[o][i][ky][kx] * factor * between(planes[n][c], row, column)
    return torch.tensor(out) + bias.view(1, -1, 1, 1)


def roi_align(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int, sampling_ratio: int,
    aligned: bool,
) -> Tensor:  # fmt: skip
    planes = input.tolist()
    out = torch.zeros(rois.shape[0], input.shape[1], pooled_height, pooled_width)
    for r, (image, *corners) in enumerate(rois.tolist()):
        x1, y1, x2, y2 = (c * spatial_scale - (0.5 if aligned else 0.0) for c in corners)
        tall, wide = (y2 - y1, x2 - x1) if aligned else (max(y2 - y1, 1.0), max(x2 - x1, 1.0))
        rows = sampling_ratio if sampling_ratio > 0 else math.ceil(tall / pooled_height)
        columns = sampling_ratio if sampling_ratio > 0 else math.ceil(wide / pooled_width)
        for c in range(input.shape[1]):
            for p in range(pooled_height):
                for q in range(pooled_width):
                    total = 0.0
                    for i in range(rows):
                        for j in range(columns):
                            y = y1 + tall / pooled_height * (p + (i + 0.5) / rows)
                            x = x1 + wide / pooled_width * (q + (j + 0.5) / columns)
                            inside = -1 <= y <= input.shape[2] and -1 <= x <= input.shape[3]
                            y, x = min(max(y, 0.0), input.shape[2] - 1), min(max(x, 0.0), input.shape[3] - 1)
                            total += between(planes[int(image)][c], y, x) if inside else 0.0
                    out[r, c, p, q] = total / max(rows * columns, 1)
    return out


SCHEMAS: dict[str, Callable[..., Tensor]] = {
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": nms,
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, "
    "SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, "
    "SymInt offset_groups, bool use_mask) -> Tensor": deform_conv2d,
    "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int "
    "sampling_ratio, bool aligned) -> Tensor": roi_align,
}


@pytest.fixture(scope="module", autouse=True)
def operators() -> Iterator[None]:
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema, function in SCHEMAS.items():
        library.define(schema)
        library.impl(schema.partition("(")[0], function, "CPU")
    yield
    library._destroy()


def check(step: Callable[..., Tensor], sizes: dict[str, tuple[int, ...]], folder: Path, opset: int = 18) -> None:
    def drawn(generator: torch.Generator) -> dict[str, Tensor]:
        return {name: torch.rand(size, generator=generator) for name, size in sizes.items()}

    generator = torch.Generator().manual_seed(1)
    leapp.start("vision", save_path=str(folder))
    for _ in range(4):
        inputs = annotate.input_tensors("net", drawn(generator))
        result = step(*(inputs if isinstance(inputs, tuple) else (inputs,)))
        annotate.output_tensors("net", {"y": result}, export_with="onnx", backend_params={"opset_version": opset})
    leapp.stop()
    leapp.compile_graph()
    manager = leapp.InferenceManager(folder / "vision")
    for _ in range(6):
        fresh = drawn(generator)
        found = manager({f"net/{name}": tensor for name, tensor in fresh.items()})["net/y"]
        harness.assert_same([step(*fresh.values())], [found], rtol=1e-3, atol=1e-5)


def boxes_of(x: Tensor) -> Tensor:
    return torch.cat([x[:, :2] * 8, x[:, :2] * 8 + 1 + x[:, 2:4] * 6], -1)


def padded(rows: Tensor, count: int) -> Tensor:
    return functional.pad(rows, (0, 0, 0, count - rows.shape[0]))


def test_boxes_that_stay(tmp_path: Path) -> None:
    def step(x: Tensor) -> Tensor:
        boxes = boxes_of(x)
        kept = torch.ops.torchvision.nms(boxes, x[:, 4], 0.3)
        return padded(torch.cat([boxes[kept], x[kept, 4:]], -1), 12)

    check(step, {"x": (12, 5)}, tmp_path)


def test_boxes_that_stay_of_those_that_are_sure(tmp_path: Path) -> None:
    def step(x: Tensor) -> Tensor:
        boxes = boxes_of(x)
        sure = x[:, 4] > 0.4
        boxes, scores = boxes[sure], x[sure, 4]
        kept = torch.ops.torchvision.nms(boxes, scores, 0.3)[:4]
        return padded(torch.cat([boxes[kept], scores[kept, None]], -1), 4)

    check(step, {"x": (14, 5)}, tmp_path)


@pytest.mark.parametrize("opset", [13, 18, 22])
def test_deformable_convolution(opset: int, tmp_path: Path) -> None:
    weight, bias = torch.randn(4, 2, 2, 3), torch.randn(4)

    def step(x: Tensor, moved: Tensor, mask: Tensor) -> Tensor:
        return torch.ops.torchvision.deform_conv2d(
            x, weight, moved * 6 - 3, mask, bias, 2, 1, 1, 1, 1, 2, 2, 2, True
        )  # fmt: skip

    sizes = {"x": (2, 4, 5, 6), "moved": (2, 24, 3, 4), "mask": (2, 12, 3, 4)}
    check(step, sizes, tmp_path, opset)


@pytest.mark.parametrize(
    ("aligned", "samples", "opset"), [(True, 2, 18), (False, -1, 18), (True, 0, 16), (False, 2, 13)]
)
def test_regions(aligned: bool, samples: int, opset: int, tmp_path: Path) -> None:
    def step(x: Tensor, places: Tensor) -> Tensor:
        regions = torch.cat([torch.tensor([[0.0], [1.0], [1.0]]), boxes_of(places)], -1)
        return torch.ops.torchvision.roi_align(x, regions, 0.5, 2, 3, samples, aligned)

    check(step, {"x": (2, 3, 7, 8), "places": (3, 4)}, tmp_path, opset)


def test_aligned_regions_need_opset_16(tmp_path: Path) -> None:
    def step(x: Tensor) -> Tensor:
        return torch.ops.torchvision.roi_align(x, torch.tensor([[0.0, 1, 1, 4, 4]]), 1.0, 2, 2, 2, True)

    with pytest.raises(leapp.LeappError, match="opset 16"):
        check(step, {"x": (1, 1, 5, 5)}, tmp_path, opset=13)
