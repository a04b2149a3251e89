# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of validation share: export, spoil what was written, validate it again."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import onnx
import torch
from harness import cloned
from leapp import annotate
from onnx import numpy_helper

Tensor = torch.Tensor
SHARES = (50, 75, 90, 99, 99.5)


def run_node(
    fn: Callable[..., Any], inputs: Iterable[Tensor], node: str = "policy", export_with: str = "onnx", **params: Any
) -> list[Tensor]:
    """One call of `fn` as a node with inputs x0, x1, ... and outputs y0, y1, ..."""
    live = annotate.input_tensors(node, {f"x{i}": x for i, x in enumerate(inputs)})
    result = fn(*live) if isinstance(live, tuple) else fn(live)
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    annotate.output_tensors(
        node,
        {f"y{i}": y for i, y in enumerate(outputs)},
        export_with=export_with,
        backend_params=params or None,
    )
    return cloned(outputs)


def export(
    folder: Path, fn: Callable[..., Any], calls: Iterable[Iterable[Tensor]], **options: Any
) -> tuple[Path, list[list[Tensor]]]:
    """Exports `fn` after these calls; returns the bundle's folder and what each call gave. Must pass."""
    leapp.start("g", save_path=folder)
    with torch.no_grad():
        given = [run_node(fn, inputs, **options) for inputs in calls]
    leapp.stop()
    assert leapp.compile_graph(visualize=False).nodes["policy"].status == "passed"
    return folder / "g", given


def again(**options: Any) -> Any:
    """Validates the bundle as it lies there now: the report of the result's nodes by name, and the report itself."""
    wanted = leapp._capture.CompileOptions()
    for name, value in options.items():
        setattr(wanted, name, value)
    return leapp._capture.validate_written(wanted)


def node_again(name: str = "policy", **options: Any) -> Any:
    report = again(strict=False, **options)
    return next(result for result in report.nodes if result.node == name)


# ---- spoiling what was written ---------------------------------------------------------------------------------------


def edit_onnx(path: Path, edit: Callable[[onnx.ModelProto], None]) -> None:
    model = onnx.load(path)
    edit(model)
    onnx.save(model, path)


def node_of(model: onnx.ModelProto, op_type: str) -> onnx.NodeProto:
    return next(node for node in model.graph.node if node.op_type == op_type)


def edit_weight(model: onnx.ModelProto, name: str, edit: Callable[[np.ndarray[Any, Any]], None]) -> None:
    tensor = next(tensor for tensor in model.graph.initializer if tensor.name == name)
    array = numpy_helper.to_array(tensor).copy()
    edit(array)
    tensor.CopyFrom(numpy_helper.from_array(array, name))


def edit_torchscript(path: Path, edit: Callable[[torch.jit.ScriptModule], None]) -> None:
    module = torch.jit.load(str(path))
    with torch.no_grad():
        edit(module)
    torch.jit.save(module, str(path))


def edit_code(path: Path, old: str, new: str) -> None:
    """Changes the text of the code inside a .pt file."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    changed = {name: data.replace(old.encode(), new.encode()) for name, data in entries.items() if name.endswith(".py")}
    assert any(entries[name] != data for name, data in changed.items()), f"{old!r} is not in the code"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in {**entries, **changed}.items():
            if not name.endswith(".debug_pkl"):  # speaks of places in the old text
                archive.writestr(name, data)


def run_file(path: Path, inputs: Iterable[Tensor]) -> list[np.ndarray[Any, Any]]:
    """What the model gives, with nothing of ours in between."""
    if path.suffix == ".pt":
        result = torch.jit.load(str(path))(*inputs)
        return [y.numpy() for y in (result if isinstance(result, tuple) else (result,))]
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [port.name for port in session.get_inputs()]
    return session.run(None, {name: x.numpy() for name, x in zip(names, inputs, strict=True)})


# ---- what should be said ---------------------------------------------------------------------------------------------


def statistics(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], rtol: float, atol: float) -> str:
    """The numbers of one output, as NumPy computes them and validation prints them."""
    a, b = found.astype(np.float64), expected.astype(np.float64)
    apart = np.abs(a - b)
    wrong = int((apart > atol + rtol * np.abs(b)).sum())
    worst = int(apart.argmax())
    index = ",".join(str(int(i)) for i in np.unravel_index(worst, a.shape))
    percentiles = ", ".join(f"p{share:g} {np.percentile(apart, share):.6g}" for share in SHARES)
    return (
        f"{wrong} of {a.size} elements ({100 * wrong / a.size:.3g} %) differ by more than "
        f"rtol {rtol:g} and atol {atol:g}; "
        f"range of the source [{b.min():.6g}, {b.max():.6g}], of the exported output [{a.min():.6g}, {a.max():.6g}]; "
        f"|diff| max {apart.max():.6g}, mean {apart.mean():.6g}, {percentiles}; "
        f"worst at [{index}]: exported {a.flat[worst]:.9g}, source {b.flat[worst]:.9g}"
    )


def numbers(text: str) -> list[str]:
    return re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)
