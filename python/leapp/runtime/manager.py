# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Run a bundle from Python: the C++ runtime with arrays around it.

>>> from leapp import InferenceManager
>>> manager = InferenceManager("walk/walk.yaml")
>>> manager.inputs, manager.outputs
(['policy/obs'], ['policy/action'])
>>> outputs = manager.run_policy(manager.get_mock_input(seed=0))
>>> outputs["policy/action"].shape
torch.Size([1, 12])

Neither imports torch nor needs it, unless the bundle has ``jit`` or ``pt2`` nodes.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from os import PathLike
from typing import Any, Literal, NoReturn

from leapp._runtime import Manager
from leapp.errors import LeappTypeError, LeappValueError
from leapp.runtime.node import Node
from leapp.runtime.ports import Port
from leapp.runtime.robot import GuardEvent
from leapp.runtime.signing import Key, Signature, key_texts
from leapp.runtime.values import Values

__all__ = ["EngineReport", "InferenceManager", "Node"]


@dataclass(frozen=True)
class EngineReport:
    """What runs a model. Of each operator: its name, how often it occurs, and why LEAPP's own engine lacks it."""

    model: str
    engine: str
    native: bool
    why: str
    operators: list[tuple[str, int, str]]


class InferenceManager:
    """A bundle that is ready to run.

    >>> manager = InferenceManager("walk/walk.yaml")
    >>> while robot.is_on():
    ...     action = manager({"policy/obs": robot.observe()})["policy/action"]
    ...     robot.apply(action)

    Arrays that go in may be torch tensors, NumPy arrays or anything with DLPack; they are read during the call and
    neither kept nor written to. What comes out are torch tensors if torch is loaded, else NumPy arrays, always new
    ones. Threads may share a manager: calls take turns, and Python's lock is free while the models run. For models to
    run at the same time, give each thread a manager of its own.
    """

    def __init__(
        self,
        model_path: str | PathLike[str],
        *,
        missing: Literal["keep", "error"] = "keep",
        allow_outside: bool = False,
        verify_checksums: bool = True,
        trusted_keys: Sequence[Key] = (),
        minimum_serial: int = 0,
        fuse: bool = True,
        engine: Literal["auto", "native", "onnxruntime"] = "auto",
        threads: int = 1,
        provider: Literal["auto", "cpu", "cuda"] = "auto",
        optimisation: Literal["off", "basic", "extended", "all"] = "all",
        onnxruntime_library: str | PathLike[str] | None = None,
        profile_prefix: str | PathLike[str] | None = None,
        memory_limit: int | None = None,
        timeout: float | None = None,
        allow_torchscript: bool = True,
        batch: int = 1,
    ) -> None:
        """Read the bundle, check its wiring and files, load its models and warm them up.

        Parameters
        ----------
        model_path:
            The bundle's ``{name}.yaml``, or the folder ``{name}`` that has it.
        missing:
            What becomes of an input that ``run_policy`` is not given: it keeps its last value, zeros at first, with one
            warning for each; or that is a KeyError.
        allow_outside:
            Models may lie outside of the bundle's folder. Those whose SHA-256 the YAML has may in any case.
        verify_checksums:
            Refuse a model that is not the one that was exported.
        trusted_keys, minimum_serial:
            Public keys, as PEM text or as paths of files: only a bundle is loaded that one of them has signed
            (``leapp.sign``), with that serial or a later one, and of it only what was signed.
        fuse:
            Make one model of a pipeline that is all ONNX, which is faster. The last digits may differ.
        engine:
            What runs ONNX models: "native" is LEAPP's own engine, which raises a NotImplementedError with all that it
            lacks when it does not cover a model; "auto" takes it where it covers the model and is the faster one.
        threads:
            How many threads ONNX Runtime uses within an operator. One, the caller's, suits a control loop.
        provider:
            Where ONNX Runtime computes; "auto" takes CUDA when it is there.
        optimisation:
            How far ONNX Runtime may rewrite a model.
        onnxruntime_library:
            ``libonnxruntime.so`` or a folder that has one. Else what ``LEAPP_ONNXRUNTIME`` names, one that is loaded
            already, that of the package ``onnxruntime``, or the system's.
        profile_prefix:
            ONNX Runtime writes a profile to ``{profile_prefix}_{time}.json``.
        memory_limit:
            Bytes that the bundle may ask for; a quarter of the machine's memory if not given.
        timeout:
            Seconds that a step, or the first run while loading, may take. ONNX models are then ended, between two
            operators.
        allow_torchscript:
            Run ``jit`` and ``pt2`` models, which are programs. Say False for bundles of strangers.

        batch:
            Rows that each step does at once, each with its own state: every port has them as its first axis. Fast
            where the models can be widened, which ``widened`` says.

        Raises
        ------
        ValueError
            The bundle is not what it should be: the message names the file, the place, what was expected and found.
        OSError
            A file cannot be read; a FileNotFoundError when there is none.
        TimeoutError
            The first run of a model took longer than ``timeout``.
        MemoryError
            The system has no more memory.
        ImportError
            ONNX Runtime, or torch for a ``jit`` or ``pt2`` node, is not there.
        """
        options: dict[str, Any] = {
            "allow_outside": allow_outside,
            "verify_checksums": verify_checksums,
            "trusted_keys": key_texts(trusted_keys),
            "minimum_serial": minimum_serial,
            "fuse": fuse,
            "engine": engine,
            "threads": threads,
            "provider": provider,
            "optimisation": optimisation,
            "allow_torchscript": allow_torchscript,
            "batch": _rows(batch),
        }
        if memory_limit is not None:
            options["memory_limit"] = _positive("memory_limit", memory_limit)
        if timeout is not None:
            options["timeout"] = _positive("timeout", timeout)
        if onnxruntime_library is not None:
            options["onnxruntime_library"] = str(onnxruntime_library)
        if profile_prefix is not None:
            options["profile_prefix"] = str(profile_prefix)
        if missing not in ("keep", "error"):
            raise LeappValueError(f'missing: expected "keep" or "error", found {missing!r}')
        self._path = os.fspath(model_path)
        self._manager = Manager(model_path, "", _warn_of_missing if missing == "keep" else None, **options)
        self._values = Values(self._manager)
        self._options = options
        for note in self._manager.notes:
            logging.getLogger("leapp").info(note)
        self._look_at_nodes()

    def _look_at_nodes(self) -> None:
        path, options = self._path, self._options

        def alone(node: str) -> Manager:
            return Manager(path, node, None, **options)

        folder = os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path))
        self._nodes = {
            name: Node(name, backend, os.path.join(folder, file), inputs, outputs, self._manager, alone)
            for name, backend, file, inputs, outputs in self._manager.nodes
        }

    def _swapped(self) -> None:
        """Another bundle runs now."""
        self._path = self._manager.file
        self._look_at_nodes()

    @property
    def signature(self) -> Signature | None:
        """Who has signed the bundle; None when it was loaded without ``trusted_keys``."""
        found = self._manager.signature
        return Signature(*found) if found else None

    @property
    def model_path(self) -> str:
        """The path that the manager was given; after a swap, the YAML file of the bundle that runs."""
        return self._path

    @property
    def leapp_description(self) -> dict[str, Any]:
        """What the YAML says: "models", "pipeline" and "system information"."""
        return self._manager.description

    @property
    def models(self) -> dict[str, Any]:
        """What the YAML says of each node: its ports and its model."""
        models: dict[str, Any] = self._manager.description["models"]
        return models

    @property
    def pipeline(self) -> dict[str, Any]:
        """What the YAML says of the wiring."""
        pipeline: dict[str, Any] = self._manager.description["pipeline"]
        return pipeline

    @property
    def system_info(self) -> dict[str, str | None]:
        """What the bundle was made with."""
        system: dict[str, str | None] = self._manager.description["system information"]
        return system

    @property
    def value_dict(self) -> Values:
        """What each node's inputs hold, state included, and under "==out==" the outputs of the last step.

        >>> manager.value_dict["policy"]["h"]  # a copy
        >>> manager.value_dict["policy"]["h"] = torch.zeros(1, 32)  # as set_input_value
        """
        return self._values

    @property
    def inputs(self) -> list[str]:
        """What ``run_policy`` takes: "node/port", in the bundle's order."""
        return self._manager.inputs

    @property
    def outputs(self) -> list[str]:
        """What ``run_policy`` returns: "node/port", in the bundle's order."""
        return self._manager.outputs

    @property
    def feedback_inputs(self) -> list[str]:
        """Inputs that come from the step before: "node/port"."""
        return self._manager.feedback_inputs

    @property
    def input_ports(self) -> list[Port]:
        """The inputs with all that the bundle says of them."""
        return [Port(*each) for each in self._manager.ports("input")]

    @property
    def output_ports(self) -> list[Port]:
        """The outputs likewise."""
        return [Port(*each) for each in self._manager.ports("output")]

    @property
    def feedback_ports(self) -> list[Port]:
        """The feedback inputs likewise."""
        return [Port(*each) for each in self._manager.ports("feedback")]

    @property
    def frequency(self) -> float | None:
        """How often the bundle is meant to step, in Hz, if it says so."""
        frequency = self.pipeline.get("configs", {}).get("frequency")
        return float(frequency) if isinstance(frequency, (int, float)) and frequency > 0 else None

    def input_by_kind(self, kind: str | Enum) -> Port:
        """Give the one input of that kind.

        >>> manager.input_by_kind(leapp.InputKindEnum.JOINT_POSITION).name
        'policy/q'

        None raises a KeyError, several a ValueError; both list what there is.
        """
        name = self._manager.name_of_kind(_kind_text(kind), False)
        return next(port for port in self.input_ports if port.name == name)

    def output_by_kind(self, kind: str | Enum) -> Port:
        """Give the one output of that kind, as ``input_by_kind`` does."""
        name = self._manager.name_of_kind(_kind_text(kind), True)
        return next(port for port in self.output_ports if port.name == name)

    @property
    def engines(self) -> list[EngineReport]:
        """What runs each model, and why: one entry for all nodes when they run as one model."""
        return [EngineReport(*each) for each in self._manager.engines]

    @property
    def batch(self) -> int:
        """How many rows a step does."""
        return self._manager.batch

    @property
    def widened(self) -> str:
        """Say why some model runs once for each row; empty when every model takes all rows in one run."""
        return self._manager.widened

    def reset_row(self, row: int, mode: Literal["exported", "zeros"] = "exported") -> None:
        """Begin anew in one row of a batch; the others go on."""
        self._manager.reset_row(_rows(row, "row", 0), _mode(mode))

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name."""
        return self._nodes

    def run_policy(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Run every node once.

        >>> manager.run_policy({"policy/obs": np.zeros((1, 48), np.float32)})["policy/action"]

        Feedback inputs may be given too: they replace what the step before left. An unknown key raises a KeyError,
        another shape or dtype a ValueError; nothing has run then, and the state is what it was. So it is after a model
        failed, which raises a RuntimeError, after a TimeoutError (``timeout``), and after Ctrl-C, which ends a long
        step.
        """
        return self._manager.run(inputs)

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Do what ``run_policy`` does."""
        return self._manager.run(inputs)

    def get_mock_input(self, seed: int | None = None) -> dict[str, Any]:
        """Random values for every input; the same for the same seed.

        Floating-point values are normally distributed, the others 0 or 1. No global generator is used or changed.
        """
        return self._manager.mock_input(seed)

    def zeros_input(self) -> dict[str, Any]:
        """Zeros for every input, to begin with or to fill in."""
        return self._manager.zeros_input()

    @property
    def state(self) -> dict[str, Any]:
        """What the next step will read of the last one: a copy of every feedback input, by "node/port".

        >>> before = manager.state
        >>> manager({**inputs, **before})  # goes on from there
        """
        return {name: self._manager.input_value(name) for name in self.feedback_inputs}

    def set_guards(
        self,
        rules: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        file: str | PathLike[str] | None = None,
        bundle: bool = False,
    ) -> None:
        """Look at these ports in every step from now on, and say what becomes of elements that are not as they should.

        >>> manager.set_guards({"policy/action": {"lower": -1, "upper": 1, "per_second": 8, "non_finite": "hold"}})
        >>> manager.set_guards(file="limits.yaml")  # the same under the key "guards"
        >>> manager.set_guards(bundle=True)  # what ports have under "leapp_guard"
        >>> manager.set_guards({})  # none

        Keys are ``lower``, ``upper``, ``per_step``, ``per_second``, ``elements`` (a map of element names and the same
        four), and what to do: ``bounds`` and ``rate`` ("pass", "clamp", "hold", "fail"; "clamp" unless said
        otherwise), ``non_finite`` ("pass", "hold", "fail"; "fail"). A step that a guard refuses raises a RuntimeError
        and changes nothing. Ports, elements and limits that cannot be right raise here, with both sides.
        """
        if (rules is not None) + (file is not None) + bundle != 1:
            raise LeappValueError("set_guards: expected one of rules, file and bundle=True")
        if rules:
            text = json.dumps({"guards": rules}, ensure_ascii=False, default=float)
            self._manager.set_guards(text, None, False)
        else:
            self._manager.set_guards(None, file, bundle)

    @property
    def guard_events(self) -> list[GuardEvent]:
        """What the guards found in the last step, the first 64 of it."""
        return [GuardEvent(*each) for each in self._manager.guard_events()]

    def set_last_good(self, port: str, values: Any) -> None:
        """Tell the guards what an input or output held last: where the robot stands, for the first step's rates.

        Until then, or until a step has succeeded, rates are not limited. ``reset`` changes nothing of it.
        """
        self._manager.set_last_good(port, values)

    def forget_last_good(self) -> None:
        """Begin anew: rates of the next step are not limited."""
        self._manager.forget_last_good()

    def set_input_value(self, node_name: str, input_name: str, value: Any) -> None:
        """Set a feedback input for the next step, or an external one until it is replaced.

        >>> manager.set_input_value("policy", "h", torch.zeros(1, 32))

        An external input that was set once may be left out of ``run_policy`` without a word: it keeps the value it had.
        """
        self._manager.set_input_value(node_name, input_name, value)

    def reset(self, mode: Literal["exported", "zeros", "first_frame"] = "exported") -> None:
        """Give every feedback input the value it had when the pipeline was captured, or zeros.

        "first_frame": the next call fills ``histories`` with the observations it is given, before it runs; other state
        is as exported. A history that is set with ``set_input_value`` is left alone. A RuntimeError when there is state
        and none of it is known to be a history.

        >>> manager.reset("first_frame")
        """
        self._manager.reset(_mode(mode))

    @property
    def histories(self) -> list[str]:
        """The feedback inputs that are histories of what the caller gives, "node/port"."""
        return self._manager.histories

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied: models and their memory are of this process."""
        raise LeappTypeError(
            f"an InferenceManager cannot be pickled or copied; load {self._path!r} again where it is needed"
        )

    def __repr__(self) -> str:
        """Name the nodes."""
        return f"<InferenceManager {' '.join(self._nodes)}: {len(self.inputs)} inputs, {len(self.outputs)} outputs>"


def _positive(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LeappTypeError(f"{name}: expected a number, found {type(value).__name__}")
    if not 0 < value < 2**63:
        raise LeappValueError(f"{name}: expected a number above 0, found {value!r}")
    return int(value) if name == "memory_limit" else float(value)


def _rows(value: Any, name: str = "batch", least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise LeappTypeError(f"{name}: expected a whole number, found {type(value).__name__}")
    if value < least:
        raise LeappValueError(f"{name}: expected {least} or more, found {value}")
    return value


def _mode(value: Any) -> str:
    if not isinstance(value, str):
        raise LeappTypeError(f"mode: expected a text, found {type(value).__name__}")
    return value.encode("ascii", "backslashreplace").decode()


def _kind_text(kind: str | Enum) -> str:
    return str(kind.value) if isinstance(kind, Enum) else kind


def _warn_of_missing(name: str) -> None:
    text = "%s is not given to run_policy: it keeps its last value, zeros at first"
    logging.getLogger("leapp").warning(text, name, stacklevel=3)
