# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Networks and operators of torchvision, detectors among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torchvision
from catalogue import Case, Inputs, Maker, images
from torch import Tensor, nn
from torch.nn import functional
from torchvision import ops
from torchvision.models import detection, segmentation

PICTURE = 96  # of detectors


class Field(nn.Module):
    def __init__(self, network: nn.Module, field: str) -> None:
        super().__init__()
        self.network, self.field = network, field

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.network(x)[self.field]
        return result


class Detector(nn.Module):
    """A detector of torchvision for one picture; its findings stand in the first rows, and the rest are zeros."""

    def __init__(self, network: nn.Module, rows: int = 10) -> None:
        super().__init__()
        self.network, self.rows = network, rows

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        found = self.network([x])[0]
        missing = self.rows - found["scores"].shape[0]
        return functional.pad(found["boxes"], (0, 0, 0, missing)), functional.pad(found["scores"], (0, missing))


def detector(make: Callable[..., nn.Module], **keywords: Any) -> Maker:
    sizes = {"weights": None, "weights_backbone": None, "num_classes": 4, **keywords}
    return lambda: Case(Detector(make(**sizes)), images(3, PICTURE, PICTURE, name="x"), steps=3)


class Suppression(nn.Module):
    """The head of a small detector: boxes, scores, non-maximum suppression, the ten best."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Conv2d(3, 8, 4, stride=4)
        self.box, self.score = nn.Conv2d(8, 4, 1), nn.Conv2d(8, 1, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = self.trunk(x).relu()
        rows = torch.arange(0, x.shape[-1], 4.0)
        centre = torch.stack(torch.meshgrid(rows, rows, indexing="xy"), -1).flatten(0, 1)
        size = self.box(features)[0].flatten(1).T.sigmoid() * 28 + 1  # large ones, so that fewer than ten stay at times
        boxes = torch.cat([centre - size[:, :2], centre + size[:, 2:]], -1)
        scores = self.score(features).flatten().sigmoid()
        kept = ops.nms(boxes, scores, 0.4)[:10]
        return functional.pad(boxes[kept], (0, 0, 0, 10 - len(kept))), functional.pad(scores[kept], (0, 10 - len(kept)))


class Deformable(nn.Module):
    """A deformable convolution with a mask, offsets of its own, two groups."""

    def __init__(self) -> None:
        super().__init__()
        self.offset, self.mask = nn.Conv2d(4, 2 * 2 * 9, 3, padding=1), nn.Conv2d(4, 2 * 9, 3, padding=1)
        self.deform = ops.DeformConv2d(4, 6, 3, padding=1, groups=2)
        nn.init.normal_(self.offset.weight, std=0.5)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.deform(x, self.offset(x), self.mask(x).sigmoid())
        return result


class RegionFeatures(nn.Module):
    """Features of regions that are an input, aligned to pixels or not."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.head = nn.Conv2d(3, 6, 3, stride=2, padding=1), nn.Linear(6 * 9, 5)

    def forward(self, x: Tensor, boxes: Tensor) -> tuple[Tensor, Tensor]:
        features = self.trunk(x)
        regions = torch.cat([torch.zeros(boxes.shape[0], 1), boxes], -1)
        aligned = ops.roi_align(features, regions, (3, 3), spatial_scale=0.5, sampling_ratio=2, aligned=True)
        coarse = ops.roi_align(features, regions, 2, spatial_scale=0.5, sampling_ratio=-1)
        return self.head(aligned.flatten(1)), coarse


def picture_and_boxes(generator: torch.Generator) -> Inputs:
    corner, size = torch.rand(5, 2, generator=generator) * 16, torch.rand(5, 2, generator=generator) * 14 + 1
    return {"x": torch.rand(1, 3, 32, 32, generator=generator), "boxes": torch.cat([corner, corner + size], -1)}


def vision_transformer() -> nn.Module:
    return torchvision.models.VisionTransformer(32, 8, 2, 2, 32, 64, num_classes=10)


def swin() -> nn.Module:
    sizes: dict[str, Any] = {"patch_size": [4, 4], "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4]}
    block = torchvision.models.swin_transformer.SwinTransformerBlockV2
    merge = torchvision.models.swin_transformer.PatchMergingV2
    return torchvision.models.SwinTransformer(
        **sizes, window_size=[4, 4], num_classes=10, block=block, downsample_layer=merge
    )


def plain(make: Callable[[], nn.Module], *shape: int) -> Maker:
    return lambda: Case(make(), images(*shape, name="x"), steps=3)


def video() -> nn.Module:
    parts = torchvision.models.video.resnet
    makers = [parts.Conv2Plus1D] * 4
    return parts.VideoResNet(parts.BasicBlock, makers, [1, 1, 1, 1], parts.R2Plus1dStem, num_classes=5)


models = torchvision.models
NETWORKS: Mapping[str, Maker] = {
    "mobilenet_v3_small": plain(lambda: models.mobilenet_v3_small(num_classes=10), 1, 3, 64, 64),
    "shufflenet_v2_x0_5": plain(lambda: models.shufflenet_v2_x0_5(num_classes=10), 1, 3, 64, 64),
    "googlenet": plain(lambda: models.googlenet(num_classes=10, init_weights=False, aux_logits=False), 1, 3, 64, 64),
    "vision_transformer": plain(vision_transformer, 1, 3, 32, 32),
    "swin_v2": plain(swin, 1, 3, 32, 32),
    "r2plus1d": plain(video, 1, 3, 4, 32, 32),
    "lraspp_mobilenet_v3": plain(
        lambda: Field(segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, num_classes=4), "out"), 1, 3, 64, 64
    ),
    "nms": lambda: Case(Suppression(), images(1, 3, 32, 32, name="x")),
    "deform_conv2d": lambda: Case(Deformable(), images(2, 4, 9, 11, name="x")),
    "roi_align": lambda: Case(RegionFeatures(), picture_and_boxes),
    "ssdlite320_mobilenet_v3": detector(detection.ssdlite320_mobilenet_v3_large, detections_per_img=10),
    "fasterrcnn_mobilenet_v3": detector(
        detection.fasterrcnn_mobilenet_v3_large_320_fpn, min_size=PICTURE, max_size=PICTURE, box_detections_per_img=10
    ),
}
