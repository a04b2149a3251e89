# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A module computes the same bits with a session and without one. torch chooses kernels by mode, mask and layout."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import leapp
import pytest
import torch
from leapp import annotate
from torch import Tensor, nn
from torch.nn import functional

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*nested tensor", "ignore:.*enable_nested_tensor", "ignore:LSTM with projections"
)

MODES: dict[str, Callable[[], Any]] = {
    "grad": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
}


class Called(nn.Module):
    """A module, and how it is called with x of the shape (2, 5, 8)."""

    def __init__(self, module: nn.Module, call: Callable[[Any, Tensor], Any] = lambda module, x: module(x)) -> None:
        super().__init__()
        self.module, self.call = module, call

    def forward(self, x: Tensor) -> list[Tensor]:
        return tensors_in(self.call(self.module, x))


def tensors_in(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, nn.utils.rnn.PackedSequence):
        return [value.data]
    return [tensor for inner in value if inner is not None for tensor in tensors_in(inner)]


AT_END = torch.tensor([[False, False, False, True, True], [False, False, False, False, True]])
AT_BEGIN = AT_END.flip(1)
NO_PADDING = torch.zeros(2, 5, dtype=torch.bool)
CAUSAL = torch.ones(5, 5, dtype=torch.bool).triu(1)
BIAS = torch.linspace(-1, 1, 25).view(5, 5)
AS_FLOAT = torch.zeros(2, 5).masked_fill(AT_END, float("-inf"))


def layer(**options: Any) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(8, 2, 16, **{"batch_first": True, **options})


def encoder(*, norm: bool = False, nested: bool = True, check: bool = True, **options: Any) -> nn.Module:
    return nn.TransformerEncoder(
        layer(**options), 2, nn.LayerNorm(8) if norm else None, enable_nested_tensor=nested, mask_check=check
    )


def given(**arguments: Any) -> Callable[[Any, Tensor], Any]:
    return lambda module, x: module(x, **arguments)


def attention(**options: Any) -> nn.Module:
    return nn.MultiheadAttention(8, 2, **{"batch_first": True, **options})


def attending(**arguments: Any) -> Callable[[Any, Tensor], Any]:
    return lambda module, x: module(x, x, x, **arguments)


def packed(module: nn.Module, x: Tensor) -> Any:
    lengths = torch.tensor([4, 3])
    output, state = module(nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True))
    return nn.utils.rnn.pad_packed_sequence(output, batch_first=True)[0], state


def channels(module: nn.Module, x: Tensor) -> Any:
    return module(x.transpose(1, 2))


ENCODERS: dict[str, Callable[[], Called]] = {
    "encoder": lambda: Called(encoder()),
    "encoder, causal": lambda: Called(encoder(), given(mask=CAUSAL)),
    "encoder, padding": lambda: Called(encoder(), given(src_key_padding_mask=AT_END)),
    "encoder, float padding": lambda: Called(encoder(), given(src_key_padding_mask=AS_FLOAT)),
    "encoder, no padding": lambda: Called(encoder(), given(src_key_padding_mask=NO_PADDING)),
    "encoder, padding at the beginning": lambda: Called(encoder(), given(src_key_padding_mask=AT_BEGIN)),
    "encoder, unchecked padding": lambda: Called(encoder(check=False), given(src_key_padding_mask=AT_END)),
    "encoder, unchecked, at the beginning": lambda: Called(encoder(check=False), given(src_key_padding_mask=AT_BEGIN)),
    "encoder, both masks": lambda: Called(encoder(), given(mask=CAUSAL, src_key_padding_mask=AT_END)),
    "encoder, norm": lambda: Called(encoder(norm=True), given(src_key_padding_mask=AT_END)),
    "encoder, norm first": lambda: Called(encoder(norm=True, norm_first=True), given(src_key_padding_mask=AT_END)),
    "encoder, not nested": lambda: Called(encoder(nested=False), given(src_key_padding_mask=AT_END)),
    "encoder, gelu": lambda: Called(encoder(activation="gelu"), given(src_key_padding_mask=AT_END)),
    "encoder, silu": lambda: Called(encoder(activation=functional.silu), given(src_key_padding_mask=AT_END)),
    "encoder, sequence first": lambda: Called(
        encoder(batch_first=False), given(src_key_padding_mask=torch.zeros(5, 2))
    ),
    "encoder, no bias": lambda: Called(encoder(bias=False), given(src_key_padding_mask=AT_END)),
}

MODULES: dict[str, Callable[[], Called]] = {
    **ENCODERS,
    "layer": lambda: Called(layer()),
    "layer, float mask": lambda: Called(layer(), given(src_mask=BIAS)),
    "layer, padding": lambda: Called(layer(), given(src_key_padding_mask=AT_END)),
    "layer, norm first": lambda: Called(layer(norm_first=True), given(src_mask=CAUSAL, is_causal=True)),
    "decoder": lambda: Called(
        nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 2),
        lambda module, x: module(x, x * 2, tgt_mask=CAUSAL, memory_key_padding_mask=AT_END),
    ),
    "transformer": lambda: Called(
        nn.Transformer(8, 2, 1, 1, 16, batch_first=True),
        lambda module, x: module(x, x * 2, src_key_padding_mask=AT_END),
    ),
    "attention": lambda: Called(attention(), attending()),
    "attention, no weights": lambda: Called(attention(), attending(need_weights=False)),
    "attention, padding": lambda: Called(attention(), attending(key_padding_mask=AT_END, need_weights=False)),
    "attention, bool mask": lambda: Called(attention(), attending(attn_mask=CAUSAL)),
    "attention, causal": lambda: Called(attention(), attending(attn_mask=CAUSAL, is_causal=True, need_weights=False)),
    "attention, weights of each head": lambda: Called(attention(), attending(average_attn_weights=False)),
    "attention, sequence first": lambda: Called(attention(batch_first=False), attending()),
    "attention, other widths": lambda: Called(
        attention(kdim=4, vdim=4), lambda module, x: module(x, x[..., :4], x[..., 4:])
    ),
    "attention, added": lambda: Called(attention(add_bias_kv=True, add_zero_attn=True), attending()),
    "attention, one sequence": lambda: Called(attention(), lambda module, x: module(x[0], x[0], x[0])),
    "lstm": lambda: Called(nn.LSTM(8, 6, 2, batch_first=True)),
    "lstm, both directions": lambda: Called(nn.LSTM(8, 6, bidirectional=True)),
    "lstm, projected": lambda: Called(nn.LSTM(8, 6, proj_size=3)),
    "lstm, packed": lambda: Called(nn.LSTM(8, 6, batch_first=True), packed),
    "gru": lambda: Called(nn.GRU(8, 6, 2, dropout=0.3)),
    "gru, packed": lambda: Called(nn.GRU(8, 6, batch_first=True, bidirectional=True), packed),
    "rnn": lambda: Called(nn.RNN(8, 6, nonlinearity="relu")),
    "rnn, packed": lambda: Called(nn.RNN(8, 6, batch_first=True), packed),
    "cells": lambda: Called(nn.LSTMCell(8, 6), lambda module, x: module(x[:, 0])),
    "conv1d": lambda: Called(nn.Conv1d(8, 4, 3), channels),
    "conv2d": lambda: Called(nn.Conv2d(2, 4, 3, padding="same"), lambda module, x: module(x[None])),
    "conv2d, channels last": lambda: Called(
        nn.Conv2d(2, 4, 3).to(memory_format=torch.channels_last),
        lambda module, x: module(x[None].to(memory_format=torch.channels_last)),
    ),
    "conv3d": lambda: Called(nn.Conv3d(1, 2, 2), lambda module, x: module(x[None, None])),
    "transposed conv": lambda: Called(nn.ConvTranspose1d(8, 4, 3, stride=2), channels),
    "batch norm": lambda: Called(nn.BatchNorm1d(8), channels),
    "conv and batch norm": lambda: Called(nn.Sequential(nn.Conv1d(8, 8, 1), nn.BatchNorm1d(8), nn.ReLU()), channels),
    "instance norm": lambda: Called(nn.InstanceNorm1d(8, affine=True, track_running_stats=True), channels),
    "group norm": lambda: Called(nn.GroupNorm(2, 8), channels),
    "layer norm": lambda: Called(nn.LayerNorm(8)),
    "rms norm": lambda: Called(nn.RMSNorm(8)),
    "weight norm": lambda: Called(nn.utils.parametrizations.weight_norm(nn.Linear(8, 3))),
    "spectral norm": lambda: Called(nn.utils.parametrizations.spectral_norm(nn.Linear(8, 3))),
    "bag": lambda: Called(nn.EmbeddingBag(9, 4), lambda module, x: module((x[..., 0].abs() * 3).long().clamp(max=8))),
    "bag, max": lambda: Called(
        nn.EmbeddingBag(9, 4, mode="max"), lambda module, x: module((x[..., 0].abs() * 3).long().clamp(max=8))
    ),
    "bag, offsets": lambda: Called(
        nn.EmbeddingBag(9, 4, mode="sum"),
        lambda module, x: module((x[0, :, 0].abs() * 3).long().clamp(max=8), torch.tensor([0, 2])),
    ),
    "embedding": lambda: Called(
        nn.Embedding(9, 4, padding_idx=0), lambda module, x: module((x[..., 0].abs() * 3).long().clamp(max=8))
    ),
    "dropout": lambda: Called(nn.Sequential(nn.Dropout(0.4), nn.Linear(8, 4), nn.AlphaDropout(0.2))),
    "bilinear": lambda: Called(nn.Bilinear(8, 8, 3), lambda module, x: module(x, x * 2)),
    "pooling": lambda: Called(nn.AdaptiveMaxPool1d(2, return_indices=True), channels),
    "upsampling": lambda: Called(nn.Upsample(scale_factor=1.5, mode="linear"), channels),
    "dot product": lambda: Called(
        nn.Linear(8, 8),
        lambda module, x: functional.scaled_dot_product_attention(module(x), x, x, is_causal=True),
    ),
    "dot product, masked": lambda: Called(
        nn.Linear(8, 8), lambda module, x: functional.scaled_dot_product_attention(module(x), x, x, attn_mask=~CAUSAL)
    ),
    "dot product, heads": lambda: Called(
        nn.Linear(8, 8),
        lambda module, x: functional.scaled_dot_product_attention(
            *(module(x).view(2, 5, 2, 4).transpose(1, 2),) * 3, attn_mask=BIAS
        ),
    ),
    "double": lambda: Called(nn.LSTM(8, 6).double(), lambda module, x: module(x.double())),
    "bfloat16": lambda: Called(nn.Linear(8, 6).bfloat16(), lambda module, x: module(x.bfloat16())),
    "scripted": lambda: Called(torch.jit.script(nn.Sequential(nn.Linear(8, 8), nn.GELU()))),
}


def inputs(count: int, seed: int = 3) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(2, 5, 8, generator=generator) for _ in range(count)]


def results(module: nn.Module, mode: str, wrap: Callable[[Tensor], Tensor]) -> list[list[Tensor]]:
    torch.manual_seed(7)
    found = []
    with MODES[mode]():
        for x in inputs(2):
            found.append([tensor.detach().clone() for tensor in module(wrap(x.clone()))])
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("name", MODULES)
def test_a_session_changes_no_bit(name: str, training: bool, mode: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = MODULES[name]().train(training)
    twin = MODULES[name]().train(training)
    twin.load_state_dict(module.state_dict())
    refused: type[BaseException] | None = None
    try:
        expected = results(twin, mode, lambda x: x)
    except RuntimeError as error:  # torch does not take this combination at all
        refused = type(error)
    leapp.start("same", save_path=tmp_path)
    expects = contextlib.nullcontext() if refused is None else pytest.raises(refused)
    with expects:
        found = results(module, mode, lambda x: annotate.input_tensors("node", {"x": x}))
    leapp.stop()
    if refused is not None:
        return
    for before, after in zip(expected, found, strict=True):
        assert harness.difference_in_bits(before, after) is None
    for (key, before), after in zip(twin.state_dict().items(), module.state_dict().values(), strict=True):
        assert torch.equal(before, after), key


@pytest.mark.parametrize("backend", ["jit", "onnx"])
@pytest.mark.parametrize("name", [name for name in ENCODERS if "padding" in name or "norm" in name])
def test_the_model_of_an_encoder_is_zero_where_the_program_is(name: str, backend: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = ENCODERS[name]().eval()
    twin = copy.deepcopy(module)
    leapp.start("encoder", save_path=tmp_path)
    with torch.no_grad():
        for x in inputs(3):
            results = module(annotate.input_tensors("node", {"x": x}))
            annotate.output_tensors("node", {"y": results[0]}, export_with=backend)
    leapp.stop()
    leapp.compile_graph()
    manager = leapp.InferenceManager(tmp_path / "encoder")
    with torch.no_grad():
        for x in inputs(3, seed=8):
            harness.assert_same(twin(x), [manager({"node/x": x})["node/y"]], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backend", ["jit", "onnx"])
def test_a_padding_mask_that_is_an_input_decides_in_the_model(backend: str, tmp_path: Path) -> None:
    """Zeros only where the padding is at the end of all sequences, as torch has it."""
    torch.manual_seed(0)
    module = encoder(norm=True).eval()
    masks = [AT_END, NO_PADDING, AT_BEGIN]
    leapp.start("encoder", save_path=tmp_path)
    with torch.no_grad():
        for x in inputs(3):
            x, padding = annotate.input_tensors("node", {"x": x, "padding": AT_END})
            y = module(x, src_key_padding_mask=padding)
            annotate.output_tensors("node", {"y": y}, export_with=backend)
    leapp.stop()
    leapp.compile_graph()
    assert harness.warnings_in(harness.read_log(tmp_path / "encoder")) == []
    manager = leapp.InferenceManager(tmp_path / "encoder")
    with torch.no_grad():
        for x, padding in zip(inputs(3, seed=8), masks, strict=True):
            found = manager({"node/x": x, "node/padding": padding})["node/y"]
            harness.assert_same([module(x, src_key_padding_mask=padding)], [found], rtol=1e-4, atol=1e-5)


def test_an_encoder_with_layers_of_its_own_is_refused(tmp_path: Path) -> None:
    """Its layers are not run twice: what they do besides is unknown."""

    class Counting(nn.TransformerEncoderLayer):
        calls = 0

        def forward(self, *args: Any, **kwargs: Any) -> Tensor:
            type(self).calls += 1
            return super().forward(*args, **kwargs)

    module = nn.TransformerEncoder(Counting(8, 2, 16, batch_first=True), 2).eval()
    leapp.start("encoder", save_path=tmp_path)
    x = annotate.input_tensors("node", {"x": inputs(1)[0]})
    with torch.no_grad(), pytest.raises(NotImplementedError, match="makes a nested tensor in node 'node'"):
        annotate.output_tensors("node", {"y": module(x, src_key_padding_mask=AT_END)})
    assert Counting.calls == 2
