# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operator database through export_with="onnx" and ONNX Runtime.

    python tests/python/onnx_sweep.py [--opset N] [--write] [NAME...]

Prints what is not native, and what is wrong. A name with a trailing * is a prefix; no names: all of the database.
--write makes onnx_table.py anew from what a run over everything found.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import tempfile
import warnings
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import torch
from harness import as_ports, cloned, difference, reset, seed_all
from onnx_models import export
from op_samples import Call, calls, invoke, op_id, operators

SAMPLES = 10
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


@dataclass
class Finding:
    verdict: Verdict
    text: str = ""


def find(name: str, save_path: Path, opset: int = 18) -> Finding:
    """Exports the first samples of the operator and compares fresh inputs with eager."""
    worst = Finding(Verdict.NATIVE)
    order = list(Verdict)
    for number, (call, fresh) in enumerate(itertools.islice(calls(BY_ID[name]), SAMPLES)):
        found = _find_sample(name, call, fresh, save_path / str(number), opset)
        if order.index(found.verdict) > order.index(worst.verdict):
            worst = Finding(found.verdict, f"sample {number}: {found.text}")
    return worst


def _find_sample(name: str, call: Call, fresh: list[torch.Tensor], save_path: Path, opset: int) -> Finding:
    def fn(*inputs: torch.Tensor) -> list[torch.Tensor]:
        results = as_ports(invoke(BY_ID[name], call, list(inputs)))
        return [result + inputs[0].sum() for result in results] if name in ONLY_SHAPE else results

    save_path.mkdir(exist_ok=True, parents=True)
    try:
        exported = export(fn, call.tensors, save_path, opset_version=opset)
    except NotImplementedError as failure:
        return Finding(_kind_of(str(failure)), str(failure))
    except Exception as failure:  # whatever capture says: the sweep of jit looks at that
        reset()
        kind = Verdict.WRONG if type(failure).__module__.startswith("onnx") else Verdict.NOT_CAPTURED
        return Finding(kind, f"{type(failure).__name__}: {failure}")
    seed_all(SEED)
    expected = [t.detach() for t in as_ports(fn(*cloned(fresh)))]
    random = any(node.op_type.startswith("Random") for node in exported.model.graph.node)
    try:
        found = exported(*cloned(fresh))
    except Exception as failure:
        return Finding(Verdict.WRONG, f"ONNX Runtime: {failure}")
    if random:
        same = [(t.shape, t.dtype) for t in found] == [(t.shape, t.dtype) for t in expected]
        return Finding(Verdict.NATIVE if same else Verdict.WRONG, "shapes and dtypes")
    problem = difference(expected, found)
    return Finding(Verdict.WRONG, problem) if problem else Finding(Verdict.NATIVE)


def _kind_of(message: str) -> Verdict:
    if "no ONNX mapping" in message:
        return Verdict.UNMAPPED
    return Verdict.INEXPRESSIBLE if "complex" in message else Verdict.REFUSED


def write_table(findings: dict[str, Finding]) -> None:
    """What is not native becomes the table of known gaps. Wrong ones are never known."""
    header = TABLE.read_text().partition("NOT_NATIVE")[0]
    rows = [
        f'    "{name}": Verdict.{found.verdict.name},\n'
        for name, found in sorted(findings.items())
        if found.verdict not in (Verdict.NATIVE, Verdict.WRONG)
    ]
    TABLE.write_text(header + "NOT_NATIVE: dict[str, Verdict] = {\n" + "".join(rows) + "}\n")


def matching(patterns: list[str]) -> list[str]:
    def wanted(name: str) -> bool:
        return any(name == p or (p.endswith("*") and name.startswith(p[:-1])) for p in patterns)

    return [name for name in BY_ID if not patterns or wanted(name)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--opset", type=int, default=18)
    parser.add_argument("--write", action="store_true")
    arguments: Any = parser.parse_args()
    warnings.simplefilter("ignore")
    findings = {}
    for name in matching(arguments.names):
        with tempfile.TemporaryDirectory() as folder:
            findings[name] = find(name, Path(folder), arguments.opset)
    for name, found in findings.items():
        if found.verdict is not Verdict.NATIVE:
            print(f"{name}: {found.verdict.value}: {' '.join(found.text.split())[:300]}")
    print(dict(collections.Counter(found.verdict.value for found in findings.values())))
    if arguments.write:
        write_table(findings)


if __name__ == "__main__":
    main()
