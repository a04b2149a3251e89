# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Every public name of leapp 0.7.2, and of its documentation since, with what became of it here.

tests/parity/test_surface_names.py holds this against both packages, name by name and parameter by parameter;
tests/python/package/test_surface.py against what the names do. docs/reference/coming_from_leapp.md is made from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["NEWER", "SURFACE", "Name", "markdown", "rows"]

# same: the same name, parameters and defaults; more: these, and further ones of ours; differs: see the note;
# absent: not here, see the note.
Status = Literal["same", "more", "differs", "absent"]


@dataclass(frozen=True)
class Name:
    """One name there, and the same here."""

    name: str
    status: Status = "same"
    note: str = ""
    parameters: dict[str, str] = field(default_factory=dict)  # parameter → what is to be said of it


_INNER = "inner part of the other package; nothing here corresponds to it"
_RESET_FROM = {"reset_from": "new: the input that the state is a history of"}
_WARP = "Warp arrays are not captured"
_MANAGER = "InferenceManager"
_NODE = "InferenceManager.nodes[]"


def _all(prefix: str, names: str, status: Status = "same", note: str = "") -> list[Name]:
    return [Name(f"{prefix}.{name}", status, note) for name in names.split()]


SURFACE: list[Name] = [
    # the lifecycle
    Name("leapp.start", "more", parameters={"leaks": "new: what to do about state and edges that were not announced"}),
    Name("leapp.stop", "same", "a call that is not finished is dropped, here with a log line"),
    Name(
        "leapp.compile_graph",
        "more",
        "returns the same dict of True and False in every case (there `True` without validation); its `.nodes` has "
        "status, samples, message and findings of each node; `rtol` and `atol` are None, what rounding explains, where "
        "0.001 and 1e-05 stand there",
        {"dry_run": "new here, as the documentation of 0.5 has it"},
    ),
    Name("leapp.__version__", "differs", "of this package"),
    Name(
        "leapp.__config_version__",
        "differs",
        "1.4, the newest that is read and written; bundles say the lowest they need",
    ),
    # annotations
    Name("leapp.annotate", "same", "a module here, an object there"),
    *_all("leapp.annotate", "input_tensors mirror_leapp_tags update_state"),
    Name("leapp.annotate.module", "more", parameters=_RESET_FROM),
    Name("leapp.annotate.state_tensors", "more", parameters=_RESET_FROM),
    Name("leapp.annotate.output_tensors", "same", "`**kwargs` there are `export_with` and `backend_params` here"),
    Name("leapp.annotate.method", "same", "`**params` there are `node_name`, `export_with` and `backend_params` here"),
    Name("leapp.annotate._method", "differs", "the same as `method`, which covers what it is for"),
    Name("leapp.annotate.register_buffer", "more", "a dict, one tensor, or a list of them", _RESET_FROM),
    Name("leapp.annotate.warp_op", "absent", _WARP),
    # what tensors mean
    *_all("leapp", "InputKindEnum OutputKindEnum TemporalAxis FunctionPatch"),
    Name(
        "leapp.TensorSemantics",
        "more",
        parameters={
            "axes": "newer: an `Axis` or `None` per dimension",
            "is_setpoint": "newer: an input that is wanted, not measured",
            "reference": "newer: the frame a pose or motion is measured against",
            "expressed_in": "newer: the frame of the numbers",
        },
    ),
    *_all("leapp.TensorSemantics", "name ref kind extra temporal_period_ms to_dict update element_names"),
    Name("leapp.TemporalAxis.period_ms"),
    Name("leapp.GraphConfigs"),
    *_all("leapp.GraphConfigs", "extra frequency to_dict"),
    *_all(
        "leapp.InputKindEnum",
        "JOINT_POSITION JOINT_VELOCITY JOINT_EFFORT BODY_POSE BODY_VEL BODY_ACC BODY_LINEAR_ACCELERATION "
        "BODY_LINEAR_VELOCITY BODY_ANGULAR_ACCELERATION BODY_ANGULAR_VELOCITY BODY_ROTATION BODY_POSITION WRENCH "
        "VECTOR3D COMMAND_JOINT_POSITION COMMAND_JOINT_VELOCITY COMMAND_JOINT_TORQUES COMMAND_BODY_ROTATION "
        "COMMAND_BODY_VELOCITY COMMAND_POSE",
    ),
    *_all(
        "leapp.OutputKindEnum",
        "KP KD JOINT_POSITION JOINT_VELOCITY JOINT_TORQUES JOINT_EFFORT BODY_POSITION BODY_LINEAR_ACCELERATION "
        "BODY_ORIENTATION BODY_LINEAR_VELOCITY BODY_ANGULAR_ACCELERATION",
    ),
    # running a bundle
    Name(
        "leapp.InferenceManager",
        "more",
        parameters={
            "missing": 'new: "keep" as there, with a warning for each input; "error" refuses',
            "allow_outside": "new: models anywhere, not only where their SHA-256 matches",
            "verify_checksums": "new",
            "trusted_keys": "new: only bundles that one of these has signed",
            "minimum_serial": "new: and not with an earlier serial",
            "fuse": "new: one model of all nodes",
            "threads": "new",
            "provider": "new",
            "optimisation": "new",
            "onnxruntime_library": "new",
            "profile_prefix": "new",
            "engine": "new: LEAPP's own engine or ONNX Runtime",
            "memory_limit": "new: what a bundle may ask for",
            "timeout": "new: what a step may take",
            "allow_torchscript": "new: False refuses models that are programs",
            "batch": "new: many rows in one step",
        },
    ),
    *_all(_MANAGER, "feedback_inputs inputs outputs nodes models pipeline system_info leapp_description model_path"),
    Name(f"{_MANAGER}()"),
    Name(
        f"{_MANAGER}.run_policy",
        "differs",
        "takes NumPy arrays and DLPack too; shapes, dtypes and names are checked before anything runs, there some are "
        "ignored or fail inside of a model; what is returned is never written to again",
    ),
    Name(f"{_MANAGER}.get_mock_input", "more", parameters={"seed": "new: the same values for the same seed"}),
    Name(
        f"{_MANAGER}.set_input_value",
        "differs",
        "not for what another node gives in the same step, which would be overwritten",
    ),
    Name(f"{_MANAGER}.reset", "more", parameters={"mode": 'new: "exported" as there, "zeros" or "first_frame"'}),
    Name(
        f"{_MANAGER}.value_dict",
        "differs",
        "what is read is a copy; assigning an item sets it. Between nodes only with `fuse=False`, or when a node is no "
        "ONNX model",
    ),
    Name(f"{_MANAGER}.organized_pipeline_connections", "absent", "`pipeline` has the same"),
    *_all(_NODE, "name model_path input_descriptions input_names input_shapes input_dtypes mock_input mock_output"),
    *_all(_NODE, "output_descriptions output_names output_shapes output_dtypes"),
    Name(f"{_NODE}()"),
    Name(f"{_NODE}.device", "same", '"cpu": arrays go in and come out there, wherever a model computes'),
    Name(f"{_NODE}.model", "differs", "loaded when asked for; of ONNX an `onnxruntime.InferenceSession`"),
    # the object behind
    Name("leapp.ExportManager", "same", "one object, as there"),
    *_all("leapp.ExportManager", "config_path get_graph_name get_save_path is_dry_run is_interpret_graph_enabled"),
    *_all("leapp.ExportManager", "input_tensors output_tensors update_state"),
    Name("leapp.ExportManager.state_tensors", "more", parameters=_RESET_FROM),
    Name("leapp.ExportManager.register_buffer", "more", parameters=_RESET_FROM),
    Name("leapp.ExportManager.module", "more", parameters=_RESET_FROM),
    *_all("leapp.ExportManager", "mirror_leapp_tags method"),
    Name(
        "leapp.ExportManager.validate_all_models",
        "more",
        "`rtol` and `atol` are None, what rounding explains, where 0.001 and 1e-05 stand there",
    ),
    Name("leapp.ExportManager.warp_op", "absent", _WARP),
    *_all(
        "leapp.ExportManager",
        "compile_models configure_logger ensure_save_path_exists get_io_descriptions get_nodes reset_nodes "
        "reset_tracing_lock restore_pending_buffer_trackers save_models set_detected_graph set_dry_run_and_non_traced "
        "set_graph_name set_interpret_graph set_max_cached_io set_save_path validate_nodes_ready_for_compile",
        "absent",
        "a step of start, stop or compile_graph there; call these",
    ),
    # where programs import from
    Name("leapp.export_manager.ExportManager"),
    Name("leapp.inference_manager.InferenceManager", "more", "`leapp.InferenceManager`"),
    Name("leapp.inference_manager.NodeManager", "differs", "the class of `nodes[]`; made by InferenceManager only"),
    *_all("leapp.utils.enums", "InputKindEnum OutputKindEnum"),
    *_all("leapp.utils.dtype", "map_to_torch_dtype dtype_to_name value_to_name_and_shape"),
    *_all("leapp.utils.dtype", "DtypeCodec register_dtype_codec", "absent", _INNER),
    Name("leapp.utils.dtype.warp_dtype_to_torch_name", "absent", _WARP),
    *_all("leapp.utils.tensor_description", "TEMPORAL_AXIS_SENTINEL TRACABLE_BASE_TYPES TemporalAxis GraphConfigs"),
    Name("leapp.utils.tensor_description.TensorSemantics", "more", "`leapp.TensorSemantics`"),
    *_all(
        "leapp.utils.tensor_description",
        "CompactYamlList CompactYamlDict TensorDescription ParameterFormat validate_connection_compatibility "
        "verify_data_exact_match flatten_io_structure unwrap_tensor_semantics describe_io_helper describe_io "
        "resolve_tensor_descriptions_to_names resolve_tensor_descriptions_to_values",
        "absent",
        _INNER,
    ),
    *_all("leapp.leapp", "annotate start stop compile_graph", "differs", "`leapp.annotate` and so on"),
    Name("leapp.leapp.AnnotateAPI", "absent", "the class of `leapp.annotate`, a module here"),
    *_all("leapp.utils.logging", "FATAL SECTION SYSTEM"),
    Name("leapp.utils.tracing_lock.TracingLock", "absent", _INNER),
    *_all(
        "leapp.utils.caller_identity",
        "CallerFrame CallerIdentity caller_identity_has_same_anchor format_caller_identity get_caller_stack_identity",
        "absent",
        _INNER,
    ),
    Name("leapp.utils.utils.get_system_info", "differs", "without `warp version`"),
    *_all(
        "leapp.utils.utils",
        "find_with_block_end extract_source_from_line_range extract_return_names safe_deepcopy frame_to_namespace "
        "get_attribute_value_from_namespace mirror_all_traced_state get_relative_path",
        "absent",
        _INNER,
    ),
]

# In its documentation, not in 0.7.2. Signatures are as documented; there is no release to hold them against.
NEWER: list[Name] = [
    *_all("leapp", "Axis AxisKind Kind ExpressionFrame"),
    *_all("leapp", "joint_position joint_velocity joint_effort vector3d kp kd image"),
    *_all("leapp", "frame_pose frame_position frame_orientation"),
    Name("leapp.frame_twist", "same", "its components are vx, vy, vz, wx, wy and wz, in any order"),
    *_all(
        "leapp",
        "frame_linear_velocity frame_angular_velocity frame_acceleration",
        note="component names are not checked",
    ),
    *_all("leapp", "frame_linear_acceleration frame_angular_acceleration frame_wrench"),
    *_all("leapp.AxisKind", "ROBOT ELEMENT COMPONENT TIME"),
    *_all("leapp.ExpressionFrame", "SELF REFERENCE"),
    *_all(
        "leapp.Kind",
        "JOINT_POSITION JOINT_VELOCITY JOINT_EFFORT FRAME_POSE FRAME_POSITION FRAME_ORIENTATION FRAME_TWIST "
        "FRAME_LINEAR_VELOCITY FRAME_ANGULAR_VELOCITY FRAME_ACCELERATION FRAME_LINEAR_ACCELERATION "
        "FRAME_ANGULAR_ACCELERATION FRAME_WRENCH VECTOR3D KP KD IMAGE",
    ),
]

# What `export_with` and `backend_params` take: name → what it means here.
BACKENDS: dict[str, str] = {
    "jit": "our TorchScript emitter",
    "jit-script": "the same",
    "jit-trace": "the same",
    "onnx": "our ONNX emitter; there the same as onnx-dynamo",
    "onnx-dynamo": "PyTorch's exporter, of the captured graph",
    "onnx-torchscript": "PyTorch's exporter, of the captured graph",
    "pt2": "torch.export.save of the captured graph",
    "exported-program": "the same as pt2",
}
BACKEND_PARAMS: dict[str, str] = {
    "opset_version": "onnx backends: 13 to 23, 18 if not given",
    "optimize": "onnx-dynamo, onnx-torchscript; elsewhere a note: the graph is always simplified",
    "verify": "onnx-dynamo; elsewhere a note: compile_graph(validate=True) checks every model",
    "report": "onnx-dynamo, to the log; elsewhere a note",
    "skip_validation": "a note: the ONNX checker is never run",
    "prescript": "a note: what is exported is the recorded graph",
    "check_trace": "a note: compile_graph(validate=True) checks every model",
    "strict": "a note: what is exported is the recorded graph",
    "device": "a note: the device is chosen when the model is loaded",
    "dynamic_shapes": "a note: ports have the shapes they were captured with",
    "model_path": "as there",
    "copy_original_model": "as there, but True if not given",
}


def rows() -> Iterator[tuple[str, str, str]]:
    """Name, status and note of everything, parameters after what they belong to."""
    for each in (*SURFACE, *NEWER):
        yield each.name, each.status, each.note
        for parameter, note in each.parameters.items():
            yield f"{each.name}({parameter})", "more", note


def markdown() -> str:
    """The table as a page shows it. Names that are the same, without more to say, stand together."""
    lines = ["| name | here | |", "|---|---|---|"]
    lines += [f"| `{name}` | {status} | {note} |" for name, status, note in rows() if note or status != "same"]
    plain = [name for name, status, note in rows() if status == "same" and not note]
    return "\n".join(lines) + f"\n\nThe same in every respect: {', '.join(f'`{name}`' for name in plain)}.\n"
