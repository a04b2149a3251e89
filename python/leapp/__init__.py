# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""LEAPP: watch a PyTorch pipeline run, export each stage, and get a folder a robot can run.

>>> import leapp, torch
>>> from leapp import annotate
>>> leapp.start("walk")
>>> obs = annotate.input_tensors("policy", {"obs": torch.zeros(1, 48)})
>>> action = torch.tanh(obs[:, :12])
>>> action = annotate.output_tensors("policy", {"action": action}, export_with="jit")
>>> leapp.stop()
>>> leapp.compile_graph()
{'policy': True}
>>> manager = leapp.InferenceManager("walk/walk.yaml")
>>> manager({"policy/obs": torch.ones(1, 48)})["policy/action"].shape
torch.Size([1, 12])

Capturing needs torch; the rest of the package does without it, and nothing is imported before it is used.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from leapp.axes import Axis, AxisKind, ExpressionFrame
from leapp.errors import (
    LeappError,
    LeappFileNotFoundError,
    LeappImportError,
    LeappKeyError,
    LeappNotImplementedError,
    LeappOSError,
    LeappRuntimeError,
    LeappTypeError,
    LeappValueError,
    ValidationError,
)
from leapp.kinds import InputKindEnum, Kind, OutputKindEnum
from leapp.quantities import (
    frame_acceleration,
    frame_angular_acceleration,
    frame_angular_velocity,
    frame_linear_acceleration,
    frame_linear_velocity,
    frame_orientation,
    frame_pose,
    frame_position,
    frame_twist,
    frame_wrench,
    image,
    joint_effort,
    joint_position,
    joint_velocity,
    kd,
    kp,
    vector3d,
)
from leapp.semantics import GraphConfigs, TemporalAxis, TensorSemantics

if TYPE_CHECKING:
    from leapp import annotate
    from leapp._capture import NodeResult
    from leapp.capture.lifecycle import CompileResults, compile_graph, start, stop
    from leapp.capture.patches import FunctionPatch
    from leapp.capture.traced import TracedTensor
    from leapp.export_manager import ExportManager
    from leapp.runtime.manager import InferenceManager
    from leapp.runtime.ports import NameMap, Port
    from leapp.runtime.recorder import Recorder
    from leapp.runtime.reloader import Reloader
    from leapp.runtime.robot import ChunkPlayer, Loop
    from leapp.runtime.signing import Signature, keygen, sign, verify
    from leapp.version import __config_version__, __version__

__all__ = [
    "Axis",
    "AxisKind",
    "ChunkPlayer",
    "CompileResults",
    "ExportManager",
    "ExpressionFrame",
    "FunctionPatch",
    "GraphConfigs",
    "InferenceManager",
    "InputKindEnum",
    "Kind",
    "LeappError",
    "LeappFileNotFoundError",
    "LeappImportError",
    "LeappKeyError",
    "LeappNotImplementedError",
    "LeappOSError",
    "LeappRuntimeError",
    "LeappTypeError",
    "LeappValueError",
    "Loop",
    "NameMap",
    "NodeResult",
    "OutputKindEnum",
    "Port",
    "Recorder",
    "Reloader",
    "Signature",
    "TemporalAxis",
    "TensorSemantics",
    "TracedTensor",
    "ValidationError",
    "__config_version__",
    "__version__",
    "annotate",
    "compile_graph",
    "frame_acceleration",
    "frame_angular_acceleration",
    "frame_angular_velocity",
    "frame_linear_acceleration",
    "frame_linear_velocity",
    "frame_orientation",
    "frame_pose",
    "frame_position",
    "frame_twist",
    "frame_wrench",
    "image",
    "joint_effort",
    "joint_position",
    "joint_velocity",
    "kd",
    "keygen",
    "kp",
    "sign",
    "start",
    "stop",
    "vector3d",
    "verify",
]

# Where the names are that need torch to be of use.
_LATER = {
    "CompileResults": "leapp.capture.lifecycle",
    "ExportManager": "leapp.export_manager",
    "FunctionPatch": "leapp.capture.patches",
    "NodeResult": "leapp._capture",
    "TracedTensor": "leapp.capture.traced",
    "compile_graph": "leapp.capture.lifecycle",
    "start": "leapp.capture.lifecycle",
    "stop": "leapp.capture.lifecycle",
}
_MODULES = ("_capture", "annotate", "export_manager")
# And those that are of use without it.
_ALONE = {
    "ChunkPlayer": "leapp.runtime.robot",
    "InferenceManager": "leapp.runtime.manager",
    "Loop": "leapp.runtime.robot",
    "Recorder": "leapp.runtime.recorder",
    "NameMap": "leapp.runtime.ports",
    "Port": "leapp.runtime.ports",
    "Reloader": "leapp.runtime.reloader",
    "Signature": "leapp.runtime.signing",
    "__config_version__": "leapp.version",
    "__version__": "leapp.version",
    "keygen": "leapp.runtime.signing",
    "sign": "leapp.runtime.signing",
    "verify": "leapp.runtime.signing",
}
_MODULES_ALONE = ("inference_manager", "robot", "utils")


def __getattr__(name: str) -> Any:
    if name in _ALONE:
        value = getattr(_module_alone(_ALONE[name]), name)
        globals()[name] = value
        return value
    if name in _MODULES_ALONE:
        return _module_alone(f"leapp.{name}")
    if name not in _LATER and name not in _MODULES:
        raise AttributeError(f"module 'leapp' has no attribute '{name}'")
    try:
        import torch  # noqa: F401  (first: the extension is linked to its libraries)
    except ImportError as error:
        if _LATER.get(name, name) in ("_capture", "leapp._capture", "leapp.capture.patches"):
            raise AttributeError(f"leapp.{name} needs torch, which cannot be imported ({error})") from error
    if name in _MODULES:
        return importlib.import_module(f"leapp.{name}")
    value = getattr(importlib.import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def _module_alone(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != "leapp._runtime":
            raise
        from leapp.torch_modules import runtime_not_built

        raise LeappImportError(runtime_not_built()) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
