# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own exporters, fed with captured graphs. Called by the compiled half."""

from __future__ import annotations

import importlib.util
import io
import re
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from leapp.captured_output import captured_output, in_fresh_thread
from leapp.exporters.graph_module import Graph, Operator, Ref, find_culprit, to_module

__all__ = ["Answer", "Graph", "Operator", "Ref", "Request", "export_model", "load_program", "program_inputs"]

_MAX_FILE = 1_900_000_000  # what a reader of ONNX takes in one piece
_MAX_SEARCHED = 1000  # operators; each step of the search exports half of them


@dataclass(frozen=True)
class Request:
    """One node for one of the exporters."""

    backend: str
    graph: Graph
    torchscript: bytes
    sample: list[torch.Tensor]
    input_names: list[str]
    output_names: list[str]
    metadata: list[tuple[str, str]]
    opset_version: int
    ir_version: int | None
    optimize: bool
    report: bool
    verify: bool


@dataclass
class Answer:
    model: bytes = b""
    problem: str = ""  # why there is no model
    bad_option: bool = False  # the problem is an option of the user's
    chatter: str = ""


class _OptionError(Exception):
    """An option that the exporter cannot follow."""


class _PackageError(Exception):
    """A package that the exporter needs."""


def export_model(request: Request) -> Answer:
    """Never raises for what an exporter does, and prints nothing."""
    return in_fresh_thread(lambda: _export(request))


def load_program(path: str) -> Callable[[list[torch.Tensor]], list[torch.Tensor]]:
    """A ``.pt2`` file as a function of its inputs in order."""

    def load() -> Any:
        with captured_output():
            return torch.export.load(path).module()

    module = in_fresh_thread(load)

    def call(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        def run() -> Any:
            with captured_output(), torch.no_grad():
                return module(*inputs)

        return [each for each in pytree.tree_leaves(in_fresh_thread(run)) if isinstance(each, torch.Tensor)]

    return call


def program_inputs(path: str) -> list[str]:
    """The names of the inputs of a ``.pt2`` file, in order."""

    def load() -> Any:
        with captured_output():
            return torch.export.load(path)

    return [str(name) for name in in_fresh_thread(load).graph_signature.user_inputs]


def _export(request: Request) -> Answer:
    answer = Answer()
    with captured_output() as said, torch.no_grad():
        try:
            answer.model = _EXPORTERS[request.backend](request)
        except (_OptionError, _PackageError) as failure:
            answer.problem = str(failure)
            answer.bad_option = isinstance(failure, _OptionError)
        except Exception as failure:  # whatever they raise
            said.append(traceback.format_exc())
            culprit = _culprit(request, failure)
            answer.problem = (f"{culprit}: " if culprit else "") + _reason(failure)
    answer.chatter = re.sub(r"0x[0-9a-f]{6,}", "0x...", "\n".join(said))  # two equal runs leave equal logs
    return answer


def _program(graph: Graph, request: Request) -> torch.export.ExportedProgram:
    sample = tuple(tensor.detach().clone() for tensor in request.sample)
    program = torch.export.export(to_module(graph), sample, strict=False)
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # lines of ours, and a counter of the process
    return program


def _pt2(request: Request) -> bytes:
    file = io.BytesIO()
    torch.export.save(_program(request.graph, request), file)
    return file.getvalue()


def _onnx_dynamo(request: Request) -> bytes:
    _require("onnx", "onnxscript")
    with tempfile.TemporaryDirectory() as folder:
        program = torch.onnx.export(
            _program(request.graph, request),
            dynamo=True,
            verbose=False,
            opset_version=request.opset_version,
            optimize=request.optimize,
            report=request.report,
            verify=request.verify,
            artifacts_dir=folder,
        )
        for report in sorted(Path(folder).glob("*.md")):
            print(report.read_text())  # to the log, with all else that is printed
    assert program is not None
    model = program.model_proto
    _forget_lines(model.graph)
    return _finished(model, request)


def _onnx_torchscript(request: Request) -> bytes:
    _require("onnx")
    import onnx

    module = torch.jit.load(io.BytesIO(request.torchscript)).eval()
    from leapp.exporters.torchscript_symbolics import registered

    with tempfile.TemporaryDirectory() as folder, registered(request.opset_version):
        path = Path(folder, "model.onnx")
        torch.onnx.export(
            module,
            tuple(tensor.detach().clone() for tensor in request.sample),
            str(path),
            dynamo=False,
            opset_version=request.opset_version,
            do_constant_folding=request.optimize,
        )
        return _finished(onnx.load(str(path)), request)


_EXPORTERS: dict[str, Callable[[Request], bytes]] = {
    "pt2": _pt2,
    "onnx-dynamo": _onnx_dynamo,
    "onnx-torchscript": _onnx_torchscript,
}


def _require(*packages: str) -> None:
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise _PackageError(f"PyTorch's exporter needs the package '{package}': pip install {package}")


def _reason(failure: BaseException) -> str:
    """The innermost cause: the outer ones say that there is one."""
    while failure.__cause__ is not None:
        failure = failure.__cause__
    lines = [line.strip() for line in str(failure).splitlines() if line.strip()]
    return f"{type(failure).__name__}: {lines[0]}" if lines else type(failure).__name__


def _culprit(request: Request, failure: Exception) -> Operator | None:
    if request.backend == "onnx-torchscript":
        named = set(re.findall(r"\w+::\w+", str(failure)))
        return next((each for each in request.graph.operators if each.name in named), None)
    if len(request.graph.operators) > _MAX_SEARCHED:
        return None

    def works(graph: Graph) -> bool:
        try:
            program = _program(graph, request)
            if request.backend == "onnx-dynamo":
                torch.onnx.export(program, dynamo=True, verbose=False, optimize=False)
        except Exception:
            return False
        return True

    return find_culprit(request.graph, works)


def _forget_lines(graph: Any) -> None:
    """Stack traces of this file, in each node of the exporter's."""
    del graph.metadata_props[:]
    for each in (*graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
        del each.metadata_props[:]
    for node in graph.node:
        node.doc_string = ""


def _finished(model: Any, request: Request) -> bytes:
    """The ports' names, the versions that were asked for, and what the model says of itself."""
    import onnx

    _rename(model.graph, request.input_names, request.output_names)
    found = next(each.version for each in model.opset_import if each.domain in ("", "ai.onnx"))
    if found != request.opset_version:
        raise _OptionError(f"opset_version: {request.opset_version} was asked for, PyTorch's exporter gives {found}")
    lowest = onnx.helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True)
    if model.functions:
        lowest = max(lowest, 8)
    if request.ir_version is not None and request.ir_version < lowest:
        raise _OptionError(f"ir_version: expected at least {lowest} with this model, found {request.ir_version}")
    model.ir_version = request.ir_version or lowest
    onnx.helper.set_model_props(model, dict(request.metadata))
    if model.ByteSize() > _MAX_FILE:
        raise _OptionError(f"the model has {model.ByteSize()} bytes, more than one file holds; use 'onnx'")
    return bytes(model.SerializeToString(deterministic=True))


def _rename(graph: Any, inputs: list[str], outputs: list[str]) -> None:
    """The exporters' own renaming may take a name that a value inside has."""
    if len(graph.input) != len(inputs) or len(graph.output) != len(outputs):
        found = f"found {len(graph.input)} and {len(graph.output)}"
        raise RuntimeError(f"expected {len(inputs)} inputs and {len(outputs)} outputs, {found}")
    names = {value.name: wanted for value, wanted in zip(graph.input, inputs, strict=True)}
    fixed = names.keys() | {tensor.name for tensor in graph.initializer}
    copies = []
    for value, wanted in zip(graph.output, outputs, strict=True):
        if value.name in fixed or value.name in names:
            copies.append((value, value.name, wanted))
        else:
            names[value.name] = wanted
    _apply(graph, _Names(names, {*inputs, *outputs}))
    for value, source, wanted in copies:
        graph.node.add(op_type="Identity", input=[names.get(source, source)], output=[wanted])
        value.name = wanted


class _Names:
    """New names by old ones; a name that is wanted elsewhere gets a tail."""

    def __init__(self, names: dict[str, str], wanted: set[str]) -> None:
        self.names = names
        self.wanted = wanted

    def __call__(self, name: str) -> str:
        if name and name not in self.names:
            spelling = name
            while spelling in self.wanted:
                spelling += "_"
            self.wanted.add(spelling)
            self.names[name] = spelling
        return self.names.get(name, name)


def _apply(graph: Any, names: _Names) -> None:
    for each in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        each.name = names(each.name)
    for node in graph.node:
        node.input[:] = [names(name) for name in node.input]
        node.output[:] = [names(name) for name in node.output]
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                _apply(inner, names)
