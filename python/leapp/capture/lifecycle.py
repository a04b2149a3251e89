# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""start, stop and compile_graph, and what compile_graph returns."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from leapp.capture._native import capture
from leapp.errors import LeappError, LeappTypeError, LeappValueError
from leapp.semantics import GraphConfigs

if TYPE_CHECKING:
    from leapp._capture import CompileReport, NodeResult
    from leapp.capture.patches import FunctionPatch

__all__ = ["CompileResults", "compile_graph", "start", "stop"]

_LEAKS = ("promote", "error", "constant")


@dataclass(frozen=True)
class Session:
    """What the last ``start`` was given."""

    name: str
    save_path: str
    dry_run: bool
    non_traced: tuple[str, ...]


last: Session | None = None


def start(
    name: str,
    save_path: str | os.PathLike[str] = ".",
    verbose: bool = False,
    dry_run: bool = False,
    non_traced: Sequence[str] | None = None,
    max_cached_io: int = 5,
    global_patching: bool = True,
    patching: Sequence[FunctionPatch] | None = None,
    leaks: Literal["promote", "error", "constant"] = "promote",
) -> None:
    """Make ``{save_path}/{name}/`` and begin to watch every operator that runs.

    The console shows warnings and errors, with ``verbose`` everything; ``log.txt`` in the folder has it all. Of every
    node the first call and the first ``max_cached_io`` further ones are kept as samples to check the model with.

    ``dry_run``: write no models. ``non_traced``: nodes that keep ports, edges and samples but get no model.
    ``global_patching``: conversions between torch and NumPy keep the trace. ``patching``: functions to replace, with
    ``global_patching``, in calls that are given live values. ``leaks``: what to do about state and edges that were not
    announced: "promote" them to ports, make them an "error", or keep them as a "constant".

    >>> leapp.start("walk", save_path="/tmp")
    """
    options = capture.StartOptions()
    options.save_path = _path(save_path)
    options.verbose = bool(verbose)
    options.dry_run = bool(dry_run)
    options.non_traced = _strings("non_traced", non_traced)
    options.max_cached_io = _integer("max_cached_io", max_cached_io)
    options.leaks = _leaks(leaks)
    options.python_version = platform.python_version()
    if not isinstance(name, str):
        raise LeappTypeError(f"start: name must be a string, found {type(name).__name__}")
    name = os.path.expanduser(name)

    import torch

    from leapp.capture import changed_attributes, front_end, patches

    patches.check_patches(patching or [])
    options.torch_version = torch.__version__
    global last
    begun = capture.sessions_begun()
    try:
        capture.start(name, options)
        last = Session(name, options.save_path, options.dry_run, tuple(options.non_traced))
        front_end.remove()
        front_end.install(patch=global_patching, patching=patching)
        changed_attributes.prepare()
    except BaseException:
        # Ctrl-C may come between any two of them. A session that was active before, and still is, keeps its patches.
        if capture.sessions_begun() != begun and capture.is_active():
            _end_capture(sys.exc_info()[1])
        if not capture.is_active():
            patches.run_twice_if_interrupted(front_end.remove)
        raise


def stop() -> None:
    """End capture, in any case. A call of a node that is not finished is dropped, with a line in the log.

    What went wrong inside an operator and was not told before is raised here; while another exception is on its way
    (``finally: leapp.stop()``), it is only logged.

    >>> leapp.stop()
    """
    underway = sys.exc_info()[1]
    if not capture.is_active():
        _forget_patches()  # of a stop that Ctrl-C ended
        _end_capture(underway)
        return
    from leapp.capture import changed_attributes, front_end, patches

    try:
        changed_attributes.report()
    finally:
        try:
            _end_capture(underway)
        finally:
            patches.run_twice_if_interrupted(front_end.remove)


def _forget_patches() -> None:
    front_end = sys.modules.get("leapp.capture.front_end")
    if front_end is not None:
        front_end.remove()


def _end_capture(underway: BaseException | None) -> None:
    try:
        capture.stop()
    except LeappError as error:
        if underway is None:
            raise
        capture.log_error(str(error))


class CompileResults(dict[str, bool]):
    """Node → True when its model passed or was skipped, else False; and in ``nodes`` how that came about.

    >>> results = leapp.compile_graph()
    >>> results["policy"] is True
    True
    >>> results.nodes["policy"].status
    'passed'
    """

    nodes: dict[str, NodeResult]
    folder: str

    def __init__(self, report: CompileReport) -> None:
        """Read the report of the compiled half."""
        super().__init__({result.node: bool(result) for result in report.nodes})
        self.nodes = {result.node: result for result in report.nodes}
        self.folder = report.folder

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are plain dicts: the details belong to this process."""
        return dict, (dict(self),)


def compile_graph(
    visualize: bool = True,
    verbose: bool | None = None,
    validate: bool = True,
    dry_run: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
    strict: bool = True,
    graph_configs: GraphConfigs | None = None,
) -> CompileResults:
    """Write the bundle, check each written model against what was captured, and return whether each node passed.

    With ``strict``, a node that fails the check raises ``leapp.ValidationError`` after everything is written. A
    ``dry_run`` writes YAML, log and pictures only. ``visualize`` draws ``{name}.png`` and ``{name}.html``.
    ``graph_configs`` are written to the pipeline's part of the YAML.

    A model passes when it differs from the program by no more than rounding explains, which depends on dtypes, sizes
    and operators. ``rtol`` and ``atol``, when given, decide alone: ``|exported - source| <= atol + rtol * |source|``.

    >>> leapp.compile_graph()
    {'policy': True}
    >>> leapp.compile_graph().nodes["policy"].status
    'passed'
    """
    if graph_configs is not None and not isinstance(graph_configs, GraphConfigs):
        raise LeappTypeError(
            f"compile_graph: graph_configs must be a GraphConfigs, found {type(graph_configs).__name__}"
        )
    options = capture.CompileOptions()
    options.visualize = bool(visualize)
    options.verbose = None if verbose is None else bool(verbose)
    options.validate = bool(validate)
    options.dry_run = bool(dry_run)
    options.rtol = None if rtol is None else _number("rtol", rtol)
    options.atol = None if atol is None else _number("atol", atol)
    options.strict = bool(strict)
    if graph_configs is not None:
        options.set_graph_configs(graph_configs.frequency, graph_configs.extra)
    report = capture.compile_graph(options)
    report.raise_for_validation()
    return CompileResults(report)


def validate_again(rtol: float | None = None, atol: float | None = None, strict: bool = True) -> CompileResults:
    """Check the models that compile_graph wrote once more, with other tolerances."""
    options = capture.CompileOptions()
    options.rtol = None if rtol is None else _number("rtol", rtol)
    options.atol = None if atol is None else _number("atol", atol)
    options.strict = bool(strict)
    report = capture.validate_written(options)
    report.raise_for_validation()
    return CompileResults(report)


def _path(value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise LeappTypeError(f"start: save_path must be a string or a path, found {type(value).__name__}")
    return os.path.expanduser(os.fspath(value))


def _strings(argument: str, values: Any) -> list[str]:
    values = [] if values is None else values
    if not isinstance(values, (list, tuple, set, frozenset)) or not all(isinstance(value, str) for value in values):
        raise LeappTypeError(f"start: {argument} must be a list of node names, found {values!r}")
    return list(values)


def _integer(argument: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise LeappTypeError(f"start: {argument} must be an integer, found {type(value).__name__}")
    return value


def _number(argument: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise LeappTypeError(f"compile_graph: {argument} must be a number, found {type(value).__name__}") from None


def _leaks(value: Any) -> Any:
    if not isinstance(value, str):
        raise LeappTypeError(f"start: leaks must be a string, found {type(value).__name__}")
    if value not in _LEAKS:
        raise LeappValueError(f"start: leaks must be one of {', '.join(_LEAKS)}, found '{value}'")
    return getattr(capture.Leaks, value)
