# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Names of tensors: parameters by the module that is called, state by the attribute or variable that holds it."""

from __future__ import annotations

import collections
import gc
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

import torch

from leapp import _capture
from leapp.capture.frames import members, user_frames
from leapp.capture.interpreter import references, variables

_CONTAINERS = (list, tuple, collections.deque)


def install() -> None:
    _capture.install_namers(torch.nn.Module._call_impl.__code__, holder_name, find_holders)


def forget() -> None:
    _capture.forget_modules()


def holder_name(tensor: torch.Tensor) -> str:
    """``hidden`` for ``self.hidden``, ``hidden_0`` for a part of it, or nothing."""
    frames = list(user_frames())
    scopes = [variables(frame) for frame in frames]
    for owner in _owners(scopes):
        for space in _namespaces(owner):
            if name := _name_in(space, tensor):
                return name
    for frame, names in zip(frames, scopes, strict=True):
        if name := _name_in(names, tensor) or _name_in(frame.f_globals, tensor):
            return name
    return _attribute_anywhere(tensor)


def find_holders(tensors: list[torch.Tensor]) -> list[tuple[str, bool]]:
    """For each tensor its name and whether an attribute has it; variables and nobody give False."""
    scopes = [variables(frame) for frame in user_frames()]
    spaces = [space for owner in _owners(scopes) if not _is_ours(owner) for space in _namespaces(owner)]
    found: list[tuple[str, bool]] = []
    elsewhere: list[torch.Tensor] = []
    for tensor, count in zip(tensors, references(tensors), strict=True):
        attribute = next((name for space in spaces if (name := _name_in(space, tensor))), "")
        variable = next((name for names in scopes if (name := _name_in(names, tensor))), "")
        found.append((attribute or variable, bool(attribute)))
        if not attribute and count > _known(tensor, scopes):
            elsewhere.append(tensor)
    if elsewhere:
        ours = {id(tensors), id(elsewhere), *map(id, scopes)}
        attributes = _attributes_anywhere(elsewhere, ours)
        found = [(attributes[id(t)], True) if id(t) in attributes else f for t, f in zip(tensors, found, strict=True)]
    return found


def _namespaces(owner: Any) -> Iterator[dict[str, Any]]:
    yield members(owner)
    if issubclass(type(owner), torch.nn.Module):
        yield owner._buffers


def _known(tensor: torch.Tensor, scopes: list[dict[str, Any]]) -> int:
    """References to it that variables explain."""
    known = 0
    for names in scopes:
        for value in names.values():
            # The variable's own, and that of our copy of the scope.
            known += 2 * (value is tensor) + (_is_container(value) and any(part is tensor for part in value))
    return known


def _attributes_anywhere(tensors: list[torch.Tensor], ignored: set[int]) -> dict[int, str]:
    """Names by id. Looks at everything Python keeps, twice: some 50 ms each."""
    wanted = {id(tensor): tensor for tensor in tensors}
    names: dict[int, str] = {}
    containers = []
    for referrer in gc.get_referrers(*tensors):
        if id(referrer) in ignored:
            continue
        if _is_container(referrer):
            containers.append(referrer)
        _note_attributes(referrer, wanted, names)
    if len(names) < len(wanted) and containers:
        for referrer in gc.get_referrers(*containers):
            if id(referrer) not in ignored:
                _note_attributes(referrer, wanted, names)
    return names


def _note_attributes(referrer: Any, wanted: dict[int, torch.Tensor], names: dict[int, str]) -> None:
    if issubclass(type(referrer), (FrameType, ModuleType, type, torch.Tensor)) or _is_ours(referrer):
        return
    space = members(referrer)
    if issubclass(type(referrer), dict) and _is_namespace(referrer):
        space = referrer
    for key, tensor in wanted.items():
        if key not in names and (name := _name_in(space, tensor)):
            names[key] = name


def _is_ours(owner: Any) -> bool:
    return type(owner).__module__.partition(".")[0] == "leapp"


def _is_namespace(names: dict[Any, Any]) -> bool:
    """Of an object of the program."""
    return any(
        members(owner) is names and not issubclass(type(owner), ModuleType) and not _is_ours(owner)
        for owner in gc.get_referrers(names)
    )


def _is_container(value: Any) -> bool:
    """isinstance would ask the value for its class, and so run code of the program."""
    return issubclass(type(value), _CONTAINERS)


def _owners(scopes: list[dict[str, Any]]) -> Iterator[Any]:
    """Objects whose attributes the program is likely to keep state in: those at hand first."""
    for names in scopes:
        for value in names.values():
            if members(value) and not issubclass(type(value), (ModuleType, type, torch.Tensor)):
                yield value
                if issubclass(type(value), torch.nn.Module):
                    yield from value.modules()
    for module in _capture.named_modules():
        yield from module.modules()


def _name_in(names: dict[str, Any], tensor: torch.Tensor) -> str:
    for key, item in list(names.items()):
        if item is tensor:
            return key
        if _is_container(item):
            for i, part in enumerate(item):
                if part is tensor:
                    return f"{key}_{i}"
    return ""


def _attribute_anywhere(tensor: torch.Tensor) -> str:
    """Of any object there is. Looks at everything Python keeps: some 50 ms."""
    for referrer in gc.get_referrers(tensor):
        if issubclass(type(referrer), (FrameType, ModuleType, type)):
            continue
        if name := _name_in(members(referrer), tensor):
            return name
        if issubclass(type(referrer), dict) and _is_namespace(referrer):
            return _name_in(referrer, tensor)
    return ""
