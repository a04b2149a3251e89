# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Networks and samplers of diffusers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import diffusers
import torch
from catalogue import Case, Chosen, Inputs, Maker, images, numbers
from torch import Tensor, nn

SMALL: dict[str, Any] = {"block_out_channels": (16, 32), "norm_num_groups": 8, "layers_per_block": 1}


class Sampler(nn.Module):
    """A few steps of a sampler from noise that is an input."""

    def __init__(self, scheduler: Any, steps: int = 4) -> None:
        super().__init__()
        blocks = {
            "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
            "up_block_types": ("AttnUpBlock2D", "UpBlock2D"),
        }
        self.unet = diffusers.UNet2DModel(sample_size=8, in_channels=2, out_channels=2, **blocks, **SMALL)
        self.scheduler, self.steps = scheduler, steps

    def forward(self, sample: Tensor) -> Tensor:
        self.scheduler.set_timesteps(self.steps)
        for t in self.scheduler.timesteps:
            sample = self.scheduler.step(self.unet(sample, t).sample, t, sample).prev_sample
        return sample


def unet_with_text() -> nn.Module:
    blocks = {
        "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
        "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
    }
    sizes = {"sample_size": 8, "cross_attention_dim": 16, "attention_head_dim": 4}
    return Chosen(diffusers.UNet2DConditionModel(**sizes, **blocks, **SMALL), "sample")


def text_inputs(generator: torch.Generator) -> Inputs:
    sample, states = torch.randn(1, 4, 8, 8, generator=generator), torch.randn(1, 6, 16, generator=generator)
    return {
        "sample": sample,
        "timestep": torch.randint(0, 1000, (1,), generator=generator),
        "encoder_hidden_states": states,
    }


def dit() -> nn.Module:
    sizes = {"num_attention_heads": 2, "attention_head_dim": 8, "in_channels": 4, "num_layers": 2, "sample_size": 8}
    return Chosen(
        diffusers.DiTTransformer2DModel(**sizes, patch_size=2, norm_num_groups=4, num_embeds_ada_norm=10), "sample"
    )


def dit_inputs(generator: torch.Generator) -> Inputs:
    timestep, label = (torch.randint(0, 10, (1,), generator=generator) for _ in range(2))
    return {"hidden_states": torch.randn(1, 4, 8, 8, generator=generator), "timestep": timestep, "class_labels": label}


def autoencoder() -> nn.Module:
    blocks = {"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}
    return Chosen(diffusers.AutoencoderKL(latent_channels=2, sample_size=16, **blocks, **SMALL), "sample")


def vector_quantised() -> nn.Module:
    blocks = {"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}
    return Chosen(diffusers.VQModel(latent_channels=3, num_vq_embeddings=16, **blocks, **SMALL), "sample")


def sd3() -> nn.Module:
    sizes = {"sample_size": 8, "patch_size": 2, "in_channels": 4, "num_layers": 2, "attention_head_dim": 8}
    more = {
        "num_attention_heads": 2,
        "joint_attention_dim": 16,
        "caption_projection_dim": 16,
        "pooled_projection_dim": 16,
    }
    return Chosen(diffusers.SD3Transformer2DModel(**sizes, **more, out_channels=4, pos_embed_max_size=8), "sample")


def sd3_inputs(generator: torch.Generator) -> Inputs:
    hidden, text = torch.randn(1, 4, 8, 8, generator=generator), torch.randn(1, 5, 16, generator=generator)
    pooled, time = torch.randn(1, 16, generator=generator), torch.rand(1, generator=generator) * 1000
    return {"hidden_states": hidden, "encoder_hidden_states": text, "pooled_projections": pooled, "timestep": time}


def flux() -> nn.Module:
    sizes = {"patch_size": 1, "in_channels": 4, "num_layers": 1, "num_single_layers": 1, "attention_head_dim": 16}
    more = {"num_attention_heads": 2, "joint_attention_dim": 16, "pooled_projection_dim": 16}
    return Chosen(diffusers.FluxTransformer2DModel(**sizes, **more, axes_dims_rope=(4, 4, 8)), "sample")


def flux_inputs(generator: torch.Generator) -> Inputs:
    grid = torch.cartesian_prod(torch.zeros(1), torch.arange(4.0), torch.arange(4.0))
    normal = {"hidden_states": (1, 16, 4), "encoder_hidden_states": (1, 5, 16), "pooled_projections": (1, 16)}
    drawn = {name: torch.randn(shape, generator=generator) for name, shape in normal.items()}
    return {**drawn, "timestep": torch.rand(1, generator=generator), "img_ids": grid, "txt_ids": torch.zeros(5, 3)}


NETWORKS: Mapping[str, Maker] = {
    "UNet2DConditionModel": lambda: Case(unet_with_text(), text_inputs),
    "DiTTransformer2DModel": lambda: Case(dit(), dit_inputs),
    "SD3Transformer2DModel": lambda: Case(sd3(), sd3_inputs),
    "FluxTransformer2DModel": lambda: Case(flux(), flux_inputs),
    "AutoencoderKL": lambda: Case(autoencoder(), images(1, 3, 16, 16, name="sample")),
    "VQModel": lambda: Case(vector_quantised(), images(1, 3, 16, 16, name="sample")),
    "DDIM sampler": lambda: Case(Sampler(diffusers.DDIMScheduler()), numbers(sample=(1, 2, 8, 8))),
    "DPM++ sampler": lambda: Case(Sampler(diffusers.DPMSolverMultistepScheduler()), numbers(sample=(1, 2, 8, 8))),
    "flow matching sampler": lambda: Case(
        Sampler(diffusers.FlowMatchEulerDiscreteScheduler()), numbers(sample=(1, 2, 8, 8))
    ),
}
