# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Prints every public name of the leapp package that Python finds, and the parameters of what can be called.

Run with the Python of either package: ``python list_surface.py FOLDER``. A bundle for the names that only objects have
is made in the folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import json
import sys
from pathlib import Path
from typing import Any

MODULES = ["leapp.export_manager", "leapp.inference_manager", "leapp.utils.dtype", "leapp.utils.enums"]
MODULES += ["leapp.utils.tensor_description", "leapp.utils.utils", "leapp.utils.logging", "leapp.utils.tracing_lock"]
MODULES += ["leapp.utils.caller_identity", "leapp.leapp"]


def parameters(thing: Any) -> dict[str, str] | None:
    """Name → default, or "" for none; None for what cannot be called."""
    if not callable(thing):
        return None
    try:
        found = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return None
    return {
        each.name: "" if each.default is each.empty else repr(each.default) for each in found if each.name != "self"
    }


def members(place: str, thing: Any) -> dict[str, Any]:
    """What is public of a class or an object."""
    names = {name for name in dir(thing) if not name.startswith("_")}
    if dataclasses.is_dataclass(thing):
        names |= {each.name for each in dataclasses.fields(thing) if not each.name.startswith("_")}
    result = {f"{place}.{name}": parameters(inspect.getattr_static(thing, name, None)) for name in sorted(names)}
    if not inspect.isclass(thing) and callable(thing):
        result[f"{place}()"] = parameters(thing)
    return result


def make_bundle(leapp: Any, folder: str) -> Any:
    import torch

    leapp.start("surface", save_path=folder)
    x = leapp.annotate.input_tensors("node", {"x": torch.ones(2)})
    leapp.annotate.output_tensors("node", {"y": x * 2}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return leapp.InferenceManager(str(Path(folder, "surface", "surface.yaml")))


def list_surface(folder: str) -> dict[str, Any]:
    leapp = importlib.import_module("leapp")
    names = [*leapp.__all__, "__config_version__"]
    found = {f"leapp.{name}": parameters(getattr(leapp, name)) for name in names}
    annotations = ["_method", "input_tensors", "method", "mirror_leapp_tags", "module", "output_tensors"]
    annotations += ["register_buffer", "state_tensors", "update_state", "warp_op"]
    for name in annotations:
        if hasattr(leapp.annotate, name):
            found[f"leapp.annotate.{name}"] = parameters(getattr(leapp.annotate, name))
    for name in ("ExportManager", "GraphConfigs", "TemporalAxis", "TensorSemantics"):
        found |= members(f"leapp.{name}", getattr(leapp, name))
    for name in ("InputKindEnum", "OutputKindEnum"):
        found |= {f"leapp.{name}.{each.name}": None for each in getattr(leapp, name)}
    manager = make_bundle(leapp, folder)
    found |= members("InferenceManager", manager)
    found |= members("InferenceManager.nodes[]", manager.nodes["node"])
    for name in MODULES:
        with contextlib.suppress(ImportError):
            module = importlib.import_module(name)
            names = getattr(module, "__all__", None) or [
                key
                for key, value in vars(module).items()
                if getattr(value, "__module__", None) == name or (key.isupper() and key != "TYPE_CHECKING")
            ]
            found |= {f"{name}.{key}": parameters(getattr(module, key)) for key in names if not key.startswith("_")}
    return found


if __name__ == "__main__":
    surface = list_surface(sys.argv[1])
    Path(sys.argv[1], "surface.json").write_text(json.dumps(surface, indent=1))
