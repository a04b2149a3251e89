# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""LEAPP_TEST_DEVICE=annex: the same tests with tensors that are not on the CPU (tests/device/annex.py).

Whatever a test makes without naming a device is made there. Models run on the CPU: what they give is compared with what
programs computed elsewhere.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import Any

import torch

DEVICE = os.environ.get("LEAPP_TEST_DEVICE", "")


def begin() -> None:
    """Before any test is imported: they make tensors."""
    if not DEVICE:
        return
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "device"))
    import annex

    annex.load()
    torch.set_default_device(DEVICE)
    torch.testing.assert_close = _meeting_on_cpu(torch.testing.assert_close)
    torch.equal = _meeting_on_cpu(torch.equal)
    torch.allclose = _meeting_on_cpu(torch.allclose)
    torch.jit.load = _loading_for_cpu(torch.jit.load)


class _OnCpu:
    """A model that was loaded, given what it is called with where it is."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __call__(self, *inputs: Any) -> Any:
        return self._module(*(value.cpu() if isinstance(value, torch.Tensor) else value for value in inputs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _loading_for_cpu(load: Any) -> Any:
    @functools.wraps(load)
    def loaded(*args: Any, **kwargs: Any) -> Any:
        module = load(*args, **kwargs)
        return module if kwargs.get("map_location") else _OnCpu(module)

    return loaded


def _meeting_on_cpu(compare: Any) -> Any:
    """Two tensors on two devices are compared on the CPU; others as ever."""

    @functools.wraps(compare)
    def met(first: Any, second: Any, *args: Any, **kwargs: Any) -> Any:
        pair = [value for value in (first, second) if isinstance(value, torch.Tensor)]
        if len(pair) == 2 and pair[0].device != pair[1].device:
            first, second = first.cpu(), second.cpu()
        return compare(first, second, *args, **kwargs)

    return met
