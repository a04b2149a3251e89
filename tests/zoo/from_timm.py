# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Image networks of timm, by its own names, with random weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import timm
from catalogue import Case, Maker, images

# Name and size of the picture; keywords make what only comes large smaller.
SIZES: dict[str, tuple[int, dict[str, Any]]] = {
    "resnet18": (64, {}),
    "mobilenetv3_small_050": (64, {}),
    "efficientnet_b0": (64, {}),
    "convnext_atto": (64, {}),
    "vit_tiny_patch16_224": (64, {"img_size": 64, "depth": 4}),
    "deit_tiny_distilled_patch16_224": (64, {"img_size": 64, "depth": 4}),
    "swin_tiny_patch4_window7_224": (56, {"img_size": 56, "embed_dim": 24, "depths": (1, 1, 2, 1)}),
    "convit_tiny": (64, {"img_size": 64}),
    "levit_128s": (224, {}),
    "gmlp_ti16_224": (224, {}),
    "poolformer_s12": (64, {}),
    "edgenext_xx_small": (64, {}),
    "mobilevit_xxs": (64, {}),
    "coatnet_pico_rw_224": (224, {}),
    "xcit_nano_12_p16_224": (64, {"img_size": 64, "depth": 3}),
    "cait_xxs24_224": (64, {"img_size": 64, "depth": 4}),
    "pvt_v2_b0": (64, {}),
    "eva02_tiny_patch14_224": (56, {"img_size": 56, "depth": 3}),
    "fastvit_t8": (64, {}),
    "efficientformerv2_s0": (224, {}),
    "repvgg_a0": (64, {}),
    "regnetx_002": (64, {}),
    "densenet121": (64, {}),
    "ghostnet_050": (64, {}),
    "hiera_tiny_224": (224, {}),
    "tiny_vit_5m_224": (224, {}),
    "starnet_s1": (64, {}),
    "mambaout_femto": (64, {}),
}


def maker(name: str) -> Maker:
    size, keywords = SIZES[name]
    return lambda: Case(
        timm.create_model(name, num_classes=10, **keywords), images(1, 3, size, size, name="x"), steps=3
    )


NETWORKS: Mapping[str, Maker] = {name: maker(name) for name in SIZES}
