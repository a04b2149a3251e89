# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Policies of lerobot: their own classes, small. Noise that a policy would draw is an input."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import stand_ins
import torch
import transformers
from catalogue import Case, Inputs, Maker
from torch import Tensor, nn

with stand_ins.for_lerobot():
    from lerobot.configs.types import FeatureType, PolicyFeature
    from lerobot.policies.act.configuration_act import ACTConfig
    from lerobot.policies.act.modeling_act import ACTPolicy
    from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
    from lerobot.policies.diffusion.modeling_diffusion import DiffusionPolicy
    from lerobot.policies.smolvla import smolvlm_with_expert
    from lerobot.policies.smolvla.configuration_smolvla import SmolVLAConfig
    from lerobot.policies.smolvla.modeling_smolvla import SmolVLAPolicy

STATE, ACTION, CAMERA = "observation.state", "action", "observation.images.top"
SIZE, STATES, ACTIONS = 64, 6, 4


def features() -> dict[str, Any]:
    seen = {
        STATE: PolicyFeature(FeatureType.STATE, (STATES,)),
        CAMERA: PolicyFeature(FeatureType.VISUAL, (3, SIZE, SIZE)),
    }
    return {"input_features": seen, "output_features": {ACTION: PolicyFeature(FeatureType.ACTION, (ACTIONS,))}}


def observation(generator: torch.Generator) -> Inputs:
    image = torch.rand(1, 3, SIZE, SIZE, generator=generator)
    return {"state": torch.randn(1, STATES, generator=generator), "image": image}


def act(**keywords: Any) -> Any:
    sizes = {"dim_model": 32, "n_heads": 2, "dim_feedforward": 64, "n_encoder_layers": 1, "n_vae_encoder_layers": 1}
    chunk = {"chunk_size": 8, "n_action_steps": 8, **keywords}
    config = ACTConfig(**features(), **sizes, **chunk, pretrained_backbone_weights=None, latent_dim=8, device="cpu")
    return ACTPolicy(config)


def diffusion() -> Any:
    sizes = {
        "down_dims": (16, 32),
        "kernel_size": 3,
        "n_groups": 4,
        "diffusion_step_embed_dim": 16,
        "spatial_softmax_num_keypoints": 4,
    }
    steps = {
        "n_obs_steps": 2,
        "horizon": 8,
        "n_action_steps": 4,
        "num_inference_steps": 5,
        "noise_scheduler_type": "DDIM",
    }
    config = DiffusionConfig(
        **features(),
        **sizes,
        **steps,
        pretrained_backbone_weights=None,
        use_group_norm=True,
        crop_shape=None,
        device="cpu",
    )
    return DiffusionPolicy(config)


LANGUAGE = {
    "model_type": "llama",
    "vocab_size": 40,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
SIGHT = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 32,
    "patch_size": 8,
}
SMALL_VLA: dict[str, Any] = {
    "num_vlm_layers": 2,
    "chunk_size": 6,
    "n_action_steps": 6,
    "num_steps": 3,
    "max_state_dim": 8,
    "max_action_dim": 8,
    "resize_imgs_with_padding": (32, 32),
    "tokenizer_max_length": 8,
}


def smolvla() -> Any:
    """What would come with the tokenizer, which would be downloaded, are two numbers."""
    config = transformers.SmolVLMConfig(
        text_config=LANGUAGE, vision_config=SIGHT, scale_factor=2, image_token_id=39, pad_token_id=0
    )
    tokenizer = SimpleNamespace(fake_image_token_id=1, global_image_token_id=2)
    processor = SimpleNamespace(from_pretrained=lambda *_: SimpleNamespace(tokenizer=tokenizer))
    before, smolvlm_with_expert.AutoProcessor = smolvlm_with_expert.AutoProcessor, processor
    try:
        with tempfile.TemporaryDirectory() as folder:
            config.save_pretrained(Path(folder))
            config = SmolVLAConfig(**features(), **SMALL_VLA, vlm_model_name=folder, device="cpu")
            return SmolVLAPolicy(config).float()
    finally:
        smolvlm_with_expert.AutoProcessor = before


class Chunk(nn.Module):
    """A chunk of actions from what is observed now."""

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, state: Tensor, image: Tensor) -> Tensor:
        chunk: Tensor = self.policy.predict_action_chunk({STATE: state, CAMERA: image})
        return chunk


class Ensembled(nn.Module):
    """ACT's temporal ensemble: a chunk every step, and all chunks that speak of now are weighed."""

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, state: Tensor, image: Tensor) -> Tensor:
        action: Tensor = self.policy.select_action({STATE: state, CAMERA: image})
        return action


class Denoised(nn.Module):
    """What was observed in two steps, and noise, to a chunk of actions."""

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, states: Tensor, pictures: Tensor, noise: Tensor) -> Tensor:
        chunk: Tensor = self.policy.diffusion.generate_actions(
            {STATE: states, "observation.images": pictures}, noise=noise
        )
        return chunk


class Queued(nn.Module):
    """The policy's own select_action with its queue of observations, a chunk in every step."""

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.policy = policy
        policy.config.n_action_steps = 1
        policy.reset()

    def forward(self, state: Tensor, image: Tensor, noise: Tensor) -> Tensor:
        action: Tensor = self.policy.select_action({STATE: state, CAMERA: image}, noise=noise)
        return action


class Told(nn.Module):
    """SmolVLA: a picture, a sentence, a state, noise, to a chunk of actions."""

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, state: Tensor, image: Tensor, tokens: Tensor, mask: Tensor, noise: Tensor) -> Tensor:
        batch = {STATE: state, CAMERA: image, "observation.language.tokens": tokens}
        batch["observation.language.attention_mask"] = mask
        chunk: Tensor = self.policy.predict_action_chunk(batch, noise=noise)
        return chunk


def two_observations(generator: torch.Generator) -> Inputs:
    pictures = torch.rand(1, 2, 1, 3, SIZE, SIZE, generator=generator)
    return {"states": torch.randn(1, 2, STATES, generator=generator), "pictures": pictures}


def noisy(generator: torch.Generator) -> Inputs:
    return {**two_observations(generator), "noise": torch.randn(1, 8, ACTIONS, generator=generator)}


def noisy_now(generator: torch.Generator) -> Inputs:
    return {**observation(generator), "noise": torch.randn(1, 8, ACTIONS, generator=generator)}


def told(generator: torch.Generator) -> Inputs:
    length = torch.randint(3, 9, (1, 1), generator=generator)
    sentence = {"tokens": torch.randint(1, 39, (1, 8), generator=generator), "mask": torch.arange(8)[None] < length}
    return {**observation(generator), **sentence, "noise": torch.randn(1, 6, 8, generator=generator)}


NETWORKS: Mapping[str, Maker] = {
    "ACT": lambda: Case(Chunk(act()), observation),
    "ACT, temporal ensemble": lambda: Case(
        Ensembled(act(temporal_ensemble_coeff=0.01, n_action_steps=1)), observation, before=1, passes=10, steps=10
    ),
    "diffusion policy": lambda: Case(Denoised(diffusion()), noisy),
    "diffusion policy, queue": lambda: Case(Queued(diffusion()), noisy_now, before=1, passes=5),
    "SmolVLA": lambda: Case(Told(smolvla()), told),
}
