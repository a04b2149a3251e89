# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Reading and writing live arrays by index."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch._numpy as tnp

from leapp.capture.arrays.arguments import as_index, live_arrays, map_leaves, ordinary, stacked
from leapp.capture.arrays.functions import asleep, live_result, refused
from leapp.capture.arrays.live import LiveArray, array_over, live_view, on_the_cpu, plain, store, tensor_of


def _is_basic(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or (isinstance(part, (slice, int, np.integer)) and not isinstance(part, bool))
        for part in parts
    )


def _indices(index: Any) -> Any:
    parts = index if isinstance(index, tuple) else (index,)
    if any(isinstance(part, slice) and (part.step or 1) < 0 for part in parts):
        raise refused("an index", "arrays and negative steps in one; take them one after the other")
    return tuple(as_index(part) for part in parts)


@on_the_cpu
def get_item(self: LiveArray, index: Any) -> Any:
    if asleep((self, index)):
        return plain(self)[map_leaves(ordinary, index)]
    if _is_basic(index):
        view = plain(self)[index]
        if isinstance(view, np.ndarray):
            return live_view(view, self._source)
        element = plain(self)[(*(index if isinstance(index, tuple) else (index,)), ...)]
        copy = tensor_of(live_view(element, self._source)).clone()
        return live_view(array_over(copy), copy, scalar=True)
    expected = plain(self)[map_leaves(ordinary, index)]
    found = tensor_of(self)[_indices(index)]
    return live_result("an index", expected, tnp.ndarray(found.reshape(np.shape(expected))))


@on_the_cpu
def set_item(self: LiveArray, index: Any, value: Any) -> None:
    if asleep((self, index, value)):
        plain(self)[map_leaves(ordinary, index)] = map_leaves(ordinary, value)
        return
    expected = plain(self).copy()
    expected[map_leaves(ordinary, index)] = map_leaves(ordinary, value)
    tensor = _as_tensor(value)
    if _is_basic(index):
        parts = index if isinstance(index, tuple) else (index,)
        parts = parts if Ellipsis in parts else (*parts, ...)
        store(live_view(plain(self)[parts], self._source), tensor, expected[parts])
        return
    changed = tensor_of(self).clone()
    where = _indices(index)
    shape = plain(self)[map_leaves(ordinary, index)].shape
    # One value for all: a mask need not say how many there are.
    tensor = tensor.to(changed.dtype)
    changed[where] = tensor.expand(shape).reshape(changed[where].shape) if tensor.ndim else tensor
    store(self, changed, expected)


def _as_tensor(value: Any) -> torch.Tensor:
    if live_arrays(value):
        return tensor_of(stacked(value))
    if isinstance(value, torch.Tensor):
        return value
    return torch.from_numpy(np.array(value))
