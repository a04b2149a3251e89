# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operator database through export_with="onnx", ONNX Runtime and LEAPP's own engine.

    python tests/python/operators/onnx_sweep.py [--opset N] [--own] [--write] [--keep FILE] [NAME...]

Prints what is not native, and what is wrong. A name with a trailing * is a prefix; no names: all of the database.
--own runs them on LEAPP's own engine too. --write does so, makes onnx_table.py anew from what a run over everything
found, also of what PyTorch's exporter does with the operators that ours lacks, and then docs/reports/operators.md.
--write-own only makes that part of the table anew that is about LEAPP's own engine. All of it takes a
quarter of an hour and more. --keep keeps what was found in a file, from which an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import as_ports, cloned, difference, reset, seed_all
from onnx_models import OnnxExported, export, export_somehow
from op_samples import Call, calls, invoke, op_id, operators

SAMPLES = 10
FEW_SAMPLES = 3  # of operators that are native by the table, in the tests
FALLBACK_SAMPLES = 1  # PyTorch's exporter takes seconds for each
SEED = 42
TABLE = Path(__file__).parent / "onnx_table.py"

# What these return holds nothing of the input's values; a term of the input makes it an output of the node.
ONLY_SHAPE = {"zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "zero_"}

BY_ID = {op_id(op): op for op in operators()}


class Verdict(Enum):
    """Of one operator: the worst of its samples, in this order."""

    NATIVE = "native"
    INEXPRESSIBLE = "cannot be expressed"  # complex numbers, random numbers of this opset, ...
    REFUSED = "some arguments are refused"
    UNMAPPED = "not mapped"
    NOT_CAPTURED = "capture refuses it"
    WRONG = "wrong"


class Fallback(Enum):
    """Of an operator that is not native: what PyTorch's exporter makes of the first samples, the worst of them."""

    RIGHT = "right"
    NOT_TRIED = "not tried"  # ours knows the operator, and why ONNX cannot say it
    FAILS = "fails"
    WRONG = "wrong"


class Own(Enum):
    """Of an operator on LEAPP's own engine: the worst of those samples that are right in ONNX Runtime."""

    RUNS = "runs"
    FALLS_BACK = "falls back"
    WRONG = "wrong"


@dataclass
class Finding:
    verdict: Verdict
    text: str = ""
    own: Own | None = None  # none: no sample is native
    own_text: str = ""


def find(name: str, save_path: Path, samples: int = SAMPLES, opset: int = 18, own: bool = False) -> Finding:
    """Exports the first samples of the operator and compares fresh inputs with eager; `own`: on our engine too."""
    worst = Finding(Verdict.NATIVE)
    order = list(Verdict)
    for number, (call, fresh) in enumerate(itertools.islice(calls(BY_ID[name]), samples)):
        found = _find_sample(name, call, fresh, save_path / str(number), opset, own)
        if order.index(found.verdict) > order.index(worst.verdict):
            worst = replace(worst, verdict=found.verdict, text=f"sample {number}: {found.text}")
        if found.own and (worst.own is None or list(Own).index(found.own) > list(Own).index(worst.own)):
            worst = replace(worst, own=found.own, own_text=f"sample {number}: {found.own_text}")
    return worst


def find_fallback(name: str, save_path: Path) -> Fallback:
    """Of an operator with samples that are not native. Those that are do not count."""
    worst = None
    order = list(Fallback)
    for number, (call, fresh) in enumerate(itertools.islice(calls(BY_ID[name]), SAMPLES)):
        if number >= FALLBACK_SAMPLES and worst is not None:
            break
        folder = save_path / str(number)
        if _find_sample(name, call, fresh, folder, 18).verdict is Verdict.NATIVE:
            continue
        found = _try_fallback(name, call, fresh, folder / "fallback")
        worst = found if worst is None or order.index(found) > order.index(worst) else worst
    return worst or Fallback.NOT_TRIED


def _try_fallback(name: str, call: Call, fresh: list[torch.Tensor], save_path: Path) -> Fallback:
    fn = _function(name, call)
    save_path.mkdir(parents=True)
    try:
        exported = export_somehow(fn, call.tensors, save_path)
        return Fallback.WRONG if _problem(exported, fn, fresh) else Fallback.RIGHT
    except NotImplementedError as failure:
        return Fallback.FAILS if "PyTorch's exporter fails too" in str(failure) else Fallback.NOT_TRIED
    except Exception:
        reset()
        return Fallback.FAILS


def _function(name: str, call: Call) -> Callable[..., list[torch.Tensor]]:
    def fn(*inputs: torch.Tensor) -> list[torch.Tensor]:
        results = as_ports(invoke(BY_ID[name], call, list(inputs)))
        return [result + inputs[0].sum() for result in results] if name in ONLY_SHAPE else results

    return fn


def _problem(exported: OnnxExported, fn: Callable[..., list[torch.Tensor]], fresh: list[torch.Tensor]) -> str | None:
    """What is not as eager has it; of random numbers, only of their shapes and dtypes."""
    seed_all(SEED)
    expected = [t.detach() for t in as_ports(fn(*cloned(fresh)))]
    random = any(node.op_type.startswith("Random") for node in exported.model.graph.node)
    found = exported(*cloned(fresh))
    if not random:
        return difference(expected, found)
    same = [(t.shape, t.dtype) for t in found] == [(t.shape, t.dtype) for t in expected]
    return None if same else "shapes and dtypes"


def _find_sample(
    name: str, call: Call, fresh: list[torch.Tensor], save_path: Path, opset: int, own: bool = False
) -> Finding:
    fn = _function(name, call)
    save_path.mkdir(exist_ok=True, parents=True)
    try:
        exported = export(fn, call.tensors, save_path, opset_version=opset)
    except NotImplementedError as failure:
        return Finding(_kind_of(str(failure)), str(failure))
    except Exception as failure:  # whatever capture says: the sweep of jit looks at that
        reset()
        kind = Verdict.WRONG if type(failure).__module__.startswith("onnx") else Verdict.NOT_CAPTURED
        return Finding(kind, f"{type(failure).__name__}: {failure}")
    try:
        problem = _problem(exported, fn, fresh)
    except Exception as failure:
        return Finding(Verdict.WRONG, f"ONNX Runtime: {failure}")
    if problem:
        return Finding(Verdict.WRONG, problem)
    return Finding(Verdict.NATIVE, "", *_on_own_engine(exported, fn, fresh)) if own else Finding(Verdict.NATIVE)


def _on_own_engine(
    exported: OnnxExported, fn: Callable[..., list[torch.Tensor]], fresh: list[torch.Tensor]
) -> tuple[Own, str]:
    """The same inputs on LEAPP's own engine, which refuses what it does not cover."""
    try:
        found = exported.own(*cloned(fresh))
    except NotImplementedError as failure:
        return Own.FALLS_BACK, str(failure)
    seed_all(SEED)
    problem = difference([t.detach() for t in as_ports(fn(*cloned(fresh)))], found)
    return (Own.WRONG, problem) if problem else (Own.RUNS, "")


def _kind_of(message: str) -> Verdict:
    if "no ONNX mapping" in message:
        return Verdict.UNMAPPED
    return Verdict.INEXPRESSIBLE if "complex" in message else Verdict.REFUSED


def write_table(findings: dict[str, Finding], fallbacks: dict[str, Fallback]) -> None:
    """What is not native becomes the table of known gaps. Wrong ones are never known."""
    header = TABLE.read_text().partition("NOT_NATIVE")[0]
    gaps = sorted(known_gaps(findings).items())
    rows = [f'    "{name}": Verdict.{found.verdict.name},\n' for name, found in gaps]
    others = [f'    "{name}": Fallback.{found.name},\n' for name, found in sorted(fallbacks.items())]
    TABLE.write_text(
        f"{header}NOT_NATIVE: dict[str, Verdict] = {{\n{''.join(rows)}}}\n\n"
        "# Measured when this file was written: too slow for every run of the tests.\n"
        f"FALLBACK: dict[str, Fallback] = {{\n{''.join(others)}}}\n\n{own_rows(findings)}"
    )


def own_rows(findings: dict[str, Finding]) -> str:
    """What LEAPP's own engine does not cover. Wrong ones are never known."""
    gaps = sorted(name for name, found in findings.items() if found.own is Own.FALLS_BACK)
    rows = "".join(f'    "{name}": Own.FALLS_BACK,\n' for name in gaps)
    return f"# Operators of which a sample does not run on LEAPP's own engine.\nOWN: dict[str, Own] = {{\n{rows}}}\n"


def write_own(findings: dict[str, Finding]) -> None:
    TABLE.write_text(TABLE.read_text().partition("# Operators of which a sample")[0] + own_rows(findings))


def read_kept(file: Path | None) -> dict[str, Finding]:
    """One operator a line; the last line of a run that was killed may be half a line."""
    kept = {}
    for line in file.read_text().splitlines() if file and file.exists() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        own = Own[row["own"]] if row["own"] else None
        kept[row["name"]] = Finding(Verdict[row["verdict"]], row["text"], own, row["own_text"])
    return kept


def keep(file: Path | None, name: str, found: Finding) -> None:
    if file is None:
        return
    own = found.own.name if found.own else None
    row = {"name": name, "verdict": found.verdict.name, "text": found.text, "own": own, "own_text": found.own_text}
    with file.open("a") as stream:
        stream.write(json.dumps(row) + "\n")


def known_gaps(findings: dict[str, Finding]) -> dict[str, Finding]:
    return {name: found for name, found in findings.items() if found.verdict not in (Verdict.NATIVE, Verdict.WRONG)}


def find_fallbacks(names: Iterable[str]) -> dict[str, Fallback]:
    found = {}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            found[name] = find_fallback(name, Path(folder))
        print(f"{name}: PyTorch's exporter: {found[name].value}", flush=True)
    return found


def matching(patterns: list[str]) -> list[str]:
    def wanted(name: str) -> bool:
        return any(name == p or (p.endswith("*") and name.startswith(p[:-1])) for p in patterns)

    return [name for name in BY_ID if not patterns or wanted(name)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--opset", type=int, default=18)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--write-own", action="store_true")
    parser.add_argument("--own", action="store_true", help="on LEAPP's own engine too")
    parser.add_argument("--keep", type=Path, help="goes on with what is in this file; for one set of options")
    arguments: Any = parser.parse_args()
    warnings.simplefilter("ignore")
    own = arguments.own or arguments.write or arguments.write_own
    if arguments.names and (arguments.write or arguments.write_own):
        parser.error("--write and --write-own go over everything")
    findings = {}
    kept = read_kept(arguments.keep)
    for name in matching(arguments.names):
        if name in kept:
            findings[name] = kept[name]
            continue
        with tempfile.TemporaryDirectory() as folder:
            findings[name] = find(name, Path(folder), opset=arguments.opset, own=own)
        keep(arguments.keep, name, findings[name])
    for name, found in findings.items():
        if found.verdict is not Verdict.NATIVE:
            print(f"{name}: {found.verdict.value}: {' '.join(found.text.split())[:300]}")
    for name, found in findings.items():
        if found.own in (Own.FALLS_BACK, Own.WRONG):
            print(f"{name}: LEAPP's own engine: {found.own.value}: {' '.join(found.own_text.split())[:300]}")
    print(dict(collections.Counter(found.verdict.value for found in findings.values())))
    owns = collections.Counter(found.own.value for found in findings.values() if found.own)
    print("LEAPP's own engine:", dict(owns))
    if arguments.write_own:
        write_own(findings)
        subprocess.run([sys.executable, str(TABLE.with_name("operator_table.py"))], check=True)
    if arguments.write:
        gaps = known_gaps(findings)
        captured = [name for name, found in gaps.items() if found.verdict is not Verdict.NOT_CAPTURED]
        write_table(findings, find_fallbacks(captured))
        subprocess.run([sys.executable, str(TABLE.with_name("operator_table.py"))], check=True)


if __name__ == "__main__":
    main()
