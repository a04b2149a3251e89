# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""``nn.TransformerEncoder`` with a padding mask.

In eval mode, torch computes such an encoder with nested tensors, which no model format has. The result is zero at
padded positions, before the last norm, if the padding is at the end of every sequence. From start to stop, the program
still gets that result. Recorded is the same computation on dense tensors, with the zeros.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from leapp import _capture
from leapp.capture.patches import replace

__all__ = ["install"]


def install() -> None:
    """Until patches are removed."""
    encoder = torch.nn.TransformerEncoder
    replace(encoder, "forward", _following(encoder.forward))


class _Changed:
    """An encoder of which some attributes are others."""

    def __init__(self, encoder: torch.nn.Module, **attributes: Any) -> None:
        self._encoder = encoder
        self.__dict__.update(attributes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)


class _FirstOnly:
    """Layers that forward() can look at, and of which it runs none."""

    def __init__(self, layers: Any) -> None:
        self._layers = layers

    def __getitem__(self, index: int) -> Any:
        return self._layers[index]

    def __iter__(self) -> Any:
        return iter(())


def _following(forward: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    @functools.wraps(forward)
    def followed(self: Any, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: Any = None) -> Any:
        arguments = (src, mask, src_key_padding_mask, is_causal)
        masked = src_key_padding_mask is not None and isinstance(src, torch.Tensor)
        if not masked or not _capture.in_node() or not _runs_twice_unseen(self):
            return forward(self, *arguments)
        if not _capture.unrecorded(lambda: _is_nested(forward, self, arguments)):
            return forward(self, *arguments)
        result = _capture.unrecorded(lambda: forward(self, *arguments))
        _capture.copied(_dense(forward, self, arguments), result)
        return result

    return followed


def _runs_twice_unseen(encoder: Any) -> bool:
    """Whether nothing but torch's own code runs in its layers: the program must not notice that they run again."""
    for layer in encoder.layers:
        for module in layer.modules():
            torchs_own = type(module).__module__.startswith("torch.nn.")
            if not torchs_own or module._forward_hooks or module._forward_pre_hooks:
                return False
    return True


def _is_nested(forward: Callable[..., torch.Tensor], encoder: Any, arguments: Any) -> bool:
    """Whether torch takes nested tensors for masks that have the padding at the end."""
    asked = _Changed(encoder, layers=_FirstOnly(encoder.layers), norm=None, mask_check=False)
    return forward(asked, *arguments) is not arguments[0]


def _dense(forward: Callable[..., torch.Tensor], encoder: Any, arguments: Any) -> torch.Tensor:
    src, mask, padding, is_causal = arguments
    kept = padding.logical_not()
    if getattr(encoder, "mask_check", True):
        at_end = (kept[:, 1:] <= kept[:, :-1]).all()
    else:  # torch takes as many elements from the beginning as are not padded
        kept = torch.arange(kept.shape[1], device=kept.device) < kept.sum(1, keepdim=True)
        padding, at_end = kept.logical_not(), torch.ones((), dtype=torch.bool, device=kept.device)
    output = forward(_Changed(encoder, use_nested_tensor=False, norm=None), src, mask, padding, is_causal)
    output = output.masked_fill((kept.logical_not() & at_end)[..., None], 0.0)
    return output if encoder.norm is None else encoder.norm(output)
