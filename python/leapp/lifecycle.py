# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""start, stop and compile_graph."""

from __future__ import annotations

import platform

import torch

from leapp import _capture, front_end
from leapp._capture import NodeResult
from leapp.errors import LeappTypeError

__all__ = ["NodeResult", "compile_graph", "start", "stop"]


def start(
    name: str,
    save_path: str = ".",
    verbose: bool = False,
    max_cached_io: int = 5,
    global_patching: bool = True,
) -> None:
    """Make ``{save_path}/{name}/`` and begin to watch every operator that runs.

    The console shows warnings and errors, with ``verbose`` everything; ``log.txt`` in the folder has it all. Of every
    node the first call and the first ``max_cached_io`` further ones are kept as samples to check the model with.

    >>> leapp.start("walk", save_path="/tmp")
    """
    if not isinstance(name, str):
        raise LeappTypeError(f"start: name must be a string, found {type(name).__name__}")
    options = _capture.StartOptions()
    options.save_path = str(save_path)
    options.verbose = bool(verbose)
    options.max_cached_io = int(max_cached_io)
    options.python_version = platform.python_version()
    options.torch_version = torch.__version__
    front_end.remove()
    _capture.start(name, options)
    front_end.install(patch=global_patching)


def stop() -> None:
    """End capture. A node that is still open is an error, and capture goes on.

    >>> leapp.stop()
    """
    _capture.stop()
    front_end.remove()


def compile_graph(
    visualize: bool = True,
    verbose: bool | None = None,
    validate: bool = True,
    rtol: float = 1e-3,
    atol: float = 1e-5,
    strict: bool = True,
) -> dict[str, NodeResult]:
    """Write the bundle, check each written model against what was captured, and return a result per node.

    With ``strict``, a node that fails the check raises ``leapp.ValidationError`` after everything is written.

    >>> leapp.compile_graph()["policy"].status
    'passed'
    """
    options = _capture.CompileOptions()
    options.visualize = visualize
    options.verbose = verbose
    options.validate = validate
    options.rtol = float(rtol)
    options.atol = float(atol)
    options.strict = strict
    report = _capture.compile_graph(options)
    report.raise_for_validation()
    return {result.node: result for result in report.nodes}
