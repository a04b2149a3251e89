# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Networks of one library, exported one way, each in a process of its own: what became of them, a line of JSON each.

run_one.py {jit,onnx,torch} SECONDS LIBRARY/NETWORK ...

torch is torch.onnx.export(dynamo=True), for its time and memory. The library is imported once, then there is a fork for
each network: what ends it, or takes longer than SECONDS, ends that network only.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python" / "support"))

import catalogue  # noqa: E402
import torch  # noqa: E402
from torch import Tensor  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

CAPTURED, FRESH, BEFORE = 1, 2, 3  # seeds of inputs


@dataclass
class Outcome:
    status: str = "failed"
    reason: str = ""
    seconds: float = 0.0  # of processor time, to write the model
    megabytes: float = 0.0  # at most, beyond what the program had before
    parameters: int = 0
    warnings: int = 0


class Usage:
    """Processor time, and the most memory that was had, from here on."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        self.before, self.began = self._kilobytes("VmRSS"), time.process_time()

    @staticmethod
    def _kilobytes(field: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))

    def write_to(self, outcome: Outcome) -> None:
        outcome.seconds = round(time.process_time() - self.began, 3)
        outcome.megabytes = round((self._kilobytes("VmHWM") - self.before) / 1024, 1)


def outputs(result: Any) -> dict[str, Tensor]:
    tensors = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
    return {f"y{i}": tensor for i, tensor in enumerate(tensors)}


def inputs_of(case: catalogue.Case, count: int, seed: int) -> Iterator[catalogue.Inputs]:
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        yield case.inputs(generator)


def made(name: str) -> catalogue.Case:
    """The network, as it is when capture begins."""
    case = catalogue.make(name)
    with torch.no_grad():
        for inputs in inputs_of(case, case.before, BEFORE):
            case.network(**inputs)
    return case


def export(name: str, backend: str, folder: Path, outcome: Outcome) -> None:
    import leapp
    from leapp import annotate

    case = made(name)
    outcome.parameters = sum(p.numel() for p in getattr(case.network, "parameters", list)())
    leapp.start("zoo", save_path=str(folder))
    with torch.no_grad():
        for inputs in inputs_of(case, case.passes, CAPTURED):
            announced = annotate.input_tensors("net", dict(inputs))
            given = announced if isinstance(announced, tuple) else (announced,)
            found = outputs(case.network(**dict(zip(inputs, given, strict=True))))
            annotate.output_tensors("net", found, export_with=backend)
    leapp.stop()
    usage = Usage()
    try:
        leapp.compile_graph()
    finally:
        usage.write_to(outcome)
        with contextlib.suppress(OSError):
            log = (folder / "zoo" / "log.txt").read_text()
            outcome.warnings = sum(line.startswith("[warning]") for line in log.splitlines())


def difference_on_fresh_inputs(name: str, folder: Path) -> str | None:
    """What the bundle computes beside a network made anew, from the beginning, on inputs that were not captured."""
    import harness
    import leapp

    case = made(name)
    manager = leapp.InferenceManager(folder / "zoo")
    with torch.no_grad():
        for step, inputs in enumerate(inputs_of(case, case.steps, FRESH)):
            copies = {key: tensor.clone() for key, tensor in inputs.items()}
            wanted = list(outputs(case.network(**inputs)).values())
            results = manager({f"net/{key}": t for key, t in copies.items() if f"net/{key}" in manager.inputs})
            found = [results[f"net/y{i}"] for i in range(len(wanted))]
            problem = harness.difference(wanted, found, rtol=1e-3, atol=2e-5)
            if problem is not None:
                return f"step {step}: {problem}"
    return None


def run(name: str, backend: str, folder: Path) -> Outcome:
    import leapp

    outcome = Outcome()
    try:
        export(name, backend, folder, outcome)
    except leapp.LeappError as error:
        outcome.status, outcome.reason = "refused", str(error)
        # Whether it was right all the same; what does not even run is not.
        with contextlib.suppress(leapp.LeappError):
            if isinstance(error, leapp.ValidationError) and difference_on_fresh_inputs(name, folder) is None:
                outcome.status = "right but reported"
        return outcome
    problem = difference_on_fresh_inputs(name, folder)
    outcome.status, outcome.reason = ("right", "") if problem is None else ("wrong", problem)
    return outcome


def warm_up() -> None:
    """PyTorch's exporter, with a network of one layer: what it imports and prepares is no part of what is measured."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "warm.onnx"
        torch.onnx.export(torch.nn.Linear(2, 2), (torch.zeros(1, 2),), file, dynamo=True, verbose=False)


def run_torch(name: str, folder: Path) -> Outcome:
    outcome = Outcome()
    case = catalogue.make(name)
    if not isinstance(case.network, torch.nn.Module):
        outcome.status, outcome.reason = "refused", "not a torch.nn.Module"
        return outcome
    inputs = next(inputs_of(case, 1, CAPTURED))
    usage = Usage()
    try:
        with torch.no_grad():
            torch.onnx.export(case.network, (), folder / "net.onnx", kwargs=inputs, dynamo=True, verbose=False)
        outcome.status = "right"
    except Exception as error:
        outcome.status, outcome.reason = "refused", f"{type(error).__name__}: {error}"
    usage.write_to(outcome)
    return outcome


def outcome_of(name: str, way: str) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return run_torch(name, Path(folder)) if way == "torch" else run(name, way, Path(folder))
        except Exception as error:
            return Outcome(reason=f"{type(error).__name__}: {error}\n{traceback.format_exc()}")


def in_a_fork(name: str, way: str, seconds: float) -> Outcome:
    receiver, sender = multiprocessing.get_context("fork").Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            sender.send(asdict(outcome_of(name, way)))
        finally:
            os._exit(0)
    sender.close()
    try:
        if not receiver.poll(seconds):
            os.kill(child, signal.SIGKILL)
            return Outcome(reason=f"not done after {seconds:.0f} s")
        return Outcome(**receiver.recv())
    except EOFError:
        return Outcome(reason="the process ended without a word")
    finally:
        os.waitpid(child, 0)


def main(way: str, seconds: str, *names: str) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for library in {catalogue.library_of(name) for name in names}:
        catalogue.table(library)
    if way == "torch":
        warm_up()
    for name in names:
        print(json.dumps({"network": name, "outcome": asdict(in_a_fork(name, way, float(seconds)))}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
