# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Language, vision, speech and control networks of transformers, with small configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import transformers
from catalogue import Case, Chosen, Inputs, Maker, images, numbers, together, tokens
from torch import Tensor, nn

VOCABULARY, LENGTH = 40, 9
TEXT: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 32,
    "pad_token_id": 0,
}
SHARED_KEYS: dict[str, Any] = {**TEXT, "num_key_value_heads": 1}
VISION: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 32,
    "patch_size": 8,
}


def network(kind: str, config: Any, *fields: str, **constants: Any) -> nn.Module:
    return Chosen(getattr(transformers, kind)(config), *fields, **constants)


def text(kind: str, config: str, field: str = "last_hidden_state", **keywords: Any) -> Maker:
    def make() -> Case:
        made = getattr(transformers, config)(**{**TEXT, **keywords})
        constants = {} if "Bert" in kind or "T5" in kind else {"use_cache": False}
        return Case(network(kind, made, field, **constants), tokens(VOCABULARY, 2, LENGTH))

    return make


def vision(kind: str, config: str, *fields: str, **keywords: Any) -> Maker:
    def make() -> Case:
        made = getattr(transformers, config)(**{**VISION, **keywords})
        size = keywords.get("image_size", 32)
        shown = fields or ("last_hidden_state",)
        return Case(network(kind, made, *shown), images(1, 3, size, size, name="pixel_values"), steps=3)

    return make


def masked_bert() -> Case:
    config = transformers.BertConfig(**TEXT)
    padding = lambda generator: {"attention_mask": (torch.rand(2, LENGTH, generator=generator) > 0.2).long()}  # noqa: E731
    ids = tokens(VOCABULARY, 2, LENGTH)
    return Case(network("BertModel", config, "last_hidden_state", "pooler_output"), together(ids, padding))


def t5() -> Case:
    config = transformers.T5Config(
        vocab_size=VOCABULARY, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0
    )
    inputs = together(tokens(VOCABULARY, 1, LENGTH), tokens(VOCABULARY, 1, 5, name="decoder_input_ids"))
    return Case(network("T5ForConditionalGeneration", config, "logits", use_cache=False), inputs)


def whisper() -> Case:
    layers = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    sizes = {"vocab_size": VOCABULARY, "d_model": 16, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "num_mel_bins": 8}
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    config = transformers.WhisperConfig(**layers, **sizes, **ids, max_source_positions=20, max_target_positions=16)
    inputs = together(numbers(input_features=(1, 8, 40)), tokens(VOCABULARY, 1, 4, name="decoder_input_ids"))
    return Case(network("WhisperForConditionalGeneration", config, "logits", use_cache=False), inputs)


def clip() -> Case:
    config = transformers.CLIPConfig(text_config={**TEXT, "eos_token_id": 39}, vision_config=VISION, projection_dim=8)
    inputs = together(tokens(VOCABULARY, 2, LENGTH), images(1, 3, 32, 32, name="pixel_values"))
    return Case(network("CLIPModel", config, "logits_per_image", "text_embeds"), inputs)


def wav2vec() -> Case:
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    convolutions = {"conv_dim": (8, 8), "conv_stride": (5, 2), "conv_kernel": (10, 3)}
    config = transformers.Wav2Vec2Config(
        **sizes, **convolutions, num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2
    )
    return Case(network("Wav2Vec2Model", config, "last_hidden_state"), numbers(input_values=(1, 400)))


def decision_transformer() -> Case:
    config = transformers.DecisionTransformerConfig(
        state_dim=5, act_dim=2, hidden_size=16, n_layer=1, n_head=2, n_positions=32, max_ep_len=20
    )

    def inputs(generator: torch.Generator) -> Inputs:
        shapes = {"states": (1, 4, 5), "actions": (1, 4, 2), "rewards": (1, 4, 1), "returns_to_go": (1, 4, 1)}
        drawn = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
        times = torch.randint(0, 20, (1, 4), generator=generator)
        return {**drawn, "timesteps": times, "attention_mask": torch.ones(1, 4, dtype=torch.long)}

    return Case(network("DecisionTransformerModel", config, "action_preds", "state_preds"), inputs)


def patch_tst() -> Case:
    config = transformers.PatchTSTConfig(
        num_input_channels=3, context_length=32, patch_length=8, patch_stride=8, d_model=16, ffn_dim=32,
        num_hidden_layers=2, num_attention_heads=2, prediction_length=4,
    )  # fmt: skip
    return Case(network("PatchTSTForPrediction", config, "prediction_outputs"), numbers(past_values=(1, 32, 3)))


def detr() -> Case:
    backbone = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", out_features=["stage2"]
    )
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "num_queries": 6, "num_labels": 3}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
    config = transformers.DetrConfig(
        use_timm_backbone=False,
        backbone_config=backbone,
        backbone=None,
        use_pretrained_backbone=False,
        **sizes,
        **heads,
    )
    picture = images(1, 3, 64, 64, name="pixel_values")
    return Case(network("DetrForObjectDetection", config, "logits", "pred_boxes"), picture)


def segformer() -> Case:
    config = transformers.SegformerConfig(
        hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16
    )
    return Case(
        network("SegformerForSemanticSegmentation", config, "logits"), images(1, 3, 64, 64, name="pixel_values")
    )


def depth_anything() -> Case:
    backbone = transformers.Dinov2Config(
        **{**VISION, "patch_size": 14, "image_size": 56}, out_features=["stage1", "stage2"], reshape_hidden_states=False
    )
    config = transformers.DepthAnythingConfig(
        backbone_config=backbone, backbone=None, reassemble_hidden_size=16, neck_hidden_sizes=[8, 8],
        reassemble_factors=[2, 1], fusion_hidden_size=8, head_hidden_size=4, patch_size=14, head_in_index=-1,
    )  # fmt: skip
    picture = images(1, 3, 56, 56, name="pixel_values")
    return Case(network("DepthAnythingForDepthEstimation", config, "predicted_depth"), picture)


def smolvlm() -> Case:
    """Tokens of the sentence that stand for the picture are replaced by its features."""
    config = transformers.SmolVLMConfig(
        text_config={"model_type": "llama", **SHARED_KEYS},
        vision_config=VISION,
        scale_factor=2,
        image_token_id=VOCABULARY - 1,
        pad_token_id=0,
    )

    def inputs(generator: torch.Generator) -> Inputs:
        ids = torch.randint(1, VOCABULARY - 1, (1, 12), generator=generator)
        ids[0, 3:7] = VOCABULARY - 1
        return {"input_ids": ids, "pixel_values": torch.randn(1, 1, 3, 32, 32, generator=generator)}

    return Case(network("SmolVLMForConditionalGeneration", config, "logits", use_cache=False), inputs)


def mixtral(implementation: str) -> Maker:
    def make() -> Case:
        config = transformers.MixtralConfig(**SHARED_KEYS, num_local_experts=4, num_experts_per_tok=2)
        config._experts_implementation = implementation
        return Case(network("MixtralModel", config, "last_hidden_state", use_cache=False), tokens(VOCABULARY, 1, 6))

    return make


class Decode(nn.Module):
    """One token a step with transformers' own cache of fixed length; the position is an input."""

    def __init__(self) -> None:
        super().__init__()
        config = transformers.LlamaConfig(**SHARED_KEYS)
        self.network = transformers.LlamaForCausalLM(config).eval()
        self.cache = transformers.StaticCache(config=config, max_cache_len=16)
        self.cache.early_initialization(1, config.num_key_value_heads, 8, torch.float32, torch.device("cpu"))

    def forward(self, input_ids: Tensor, position: Tensor) -> Tensor:
        logits: Tensor = self.network(
            input_ids=input_ids, past_key_values=self.cache, position_ids=position[None], cache_position=position
        ).logits
        return logits


def decode() -> Case:
    places = iter(range(10**6))

    def inputs(generator: torch.Generator) -> Inputs:
        position = torch.tensor([next(places) % 16])
        return {"input_ids": torch.randint(0, VOCABULARY, (1, 1), generator=generator), "position": position}

    return Case(Decode(), inputs)


def recurrent(kind: str, config: str, **keywords: Any) -> Callable[[], Case]:
    def make() -> Case:
        made = getattr(transformers, config)(**keywords)
        return Case(network(kind, made, "last_hidden_state", use_cache=False), tokens(VOCABULARY, 1, 5))

    return make


MAMBA = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "state_size": 4,
    "num_hidden_layers": 2,
    "expand": 2,
    "time_step_rank": 4,
}
RWKV = {"vocab_size": VOCABULARY, "context_length": 16, "hidden_size": 16, "num_hidden_layers": 2, "rescale_every": 1}

NETWORKS: Mapping[str, Maker] = {
    "BertModel": masked_bert,
    "DistilBertModel": text("DistilBertModel", "DistilBertConfig", dim=16, hidden_dim=32, n_layers=2, n_heads=2),
    "GPT2LMHeadModel": text("GPT2LMHeadModel", "GPT2Config", "logits", n_embd=16, n_layer=2, n_head=2, n_positions=32),
    "LlamaForCausalLM": text("LlamaForCausalLM", "LlamaConfig", "logits", num_key_value_heads=1),
    "Qwen3ForCausalLM": text("Qwen3ForCausalLM", "Qwen3Config", "logits", num_key_value_heads=1, head_dim=8),
    "Gemma2ForCausalLM": text("Gemma2ForCausalLM", "Gemma2Config", "logits", num_key_value_heads=1, head_dim=8),
    "MistralModel": text("MistralModel", "MistralConfig", num_key_value_heads=1, sliding_window=4),
    "LlamaForCausalLM, static cache": decode,
    "Mixtral, looped": mixtral("eager"),
    "Mixtral, grouped_mm": mixtral("grouped_mm"),
    "MambaModel": recurrent("MambaModel", "MambaConfig", **MAMBA),
    "RwkvModel": recurrent("RwkvModel", "RwkvConfig", **RWKV),
    "T5ForConditionalGeneration": t5,
    "WhisperForConditionalGeneration": whisper,
    "CLIPModel": clip,
    "SiglipVisionModel": vision("SiglipVisionModel", "SiglipVisionConfig"),
    "Dinov2Model": vision("Dinov2Model", "Dinov2Config", image_size=28, patch_size=14),
    "VideoMAEModel": lambda: Case(
        network("VideoMAEModel", transformers.VideoMAEConfig(**VISION, num_frames=4), "last_hidden_state"),
        images(1, 4, 3, 32, 32, name="pixel_values"),
    ),
    "DetrForObjectDetection": detr,
    "SegformerForSemanticSegmentation": segformer,
    "DepthAnythingForDepthEstimation": depth_anything,
    "SmolVLMForConditionalGeneration": smolvlm,
    "Wav2Vec2Model": wav2vec,
    "DecisionTransformerModel": decision_transformer,
    "PatchTSTForPrediction": patch_tst,
}
