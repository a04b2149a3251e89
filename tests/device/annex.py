# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A device for torch that is none, for tests: ordinary memory behind other addresses, `torch.device("annex:0")`.

Whoever reads such memory as the CPU's dies with a segmentation fault. Copies that nobody waits for (`non_blocking`,
pinned memory) are made when somebody does. There are two of these devices, which use the same addresses.
"""

from __future__ import annotations

import os
import types
from pathlib import Path
from typing import Any

import torch

NAME = "annex"
ROOT = Path(__file__).resolve().parents[2]


def library() -> Path:
    """Where it was built."""
    folder = Path(os.environ.get("LEAPP_BUILD", ROOT / "build" / "default"))
    return folder / "tests" / "device" / "libleapp_annex.so"


class _Module(types.ModuleType):
    """What torch asks the module of a device for."""

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def is_initialized() -> bool:
        return True

    @staticmethod
    def _is_in_bad_fork() -> bool:
        return False

    @staticmethod
    def device_count() -> int:
        return 2

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def manual_seed_all(seed: int) -> None:
        torch.default_generator.manual_seed(seed)

    @staticmethod
    def get_rng_state(_device: Any = NAME) -> torch.Tensor:
        return torch.default_generator.get_state()

    @staticmethod
    def set_rng_state(state: torch.Tensor, _device: Any = NAME) -> None:
        torch.default_generator.set_state(state)

    @staticmethod
    def get_amp_supported_dtype() -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]

    @staticmethod
    def synchronize(_device: Any = None) -> None:
        torch.ops.annex.synchronize()

    @staticmethod
    def copies_left() -> int:
        return int(torch.ops.annex.copies_left())


def load() -> None:
    """Makes torch know the device. Once is enough."""
    if hasattr(torch, NAME):
        return
    torch.ops.load_library(library())
    torch.utils.rename_privateuse1_backend(NAME)
    torch._register_device_module(NAME, _Module(NAME))
    torch.utils.generate_methods_for_privateuse1_backend()


def twins(size: int = 64) -> tuple[torch.Tensor, torch.Tensor]:
    """A tensor on each device, at the same address. At most 64 numbers: blocks are taken until two are alike."""
    taken: list[dict[int, torch.Tensor]] = [{}, {}]
    while not taken[0].keys() & taken[1].keys():
        for device, known in enumerate(taken):
            made = [torch.zeros(size, device=f"{NAME}:{device}") for _ in range(64)]
            known.update({tensor.data_ptr(): tensor for tensor in made})
    common = min(taken[0].keys() & taken[1].keys())
    return taken[0][common], taken[1][common]
