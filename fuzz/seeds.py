# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles of one node for the target `load`, one for each case of tests/python/support/native_cases.py.

    .venv/bin/python fuzz/seeds.py build/fuzz/grown/load

Fuzzing starts from them too, and `GROW=1 scripts/fuzz` keeps those that reach what no other input does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/python/support"))
import native_cases as native

BORDER = b"\n=====\n"


def ports(arrays: dict[str, native.Array]) -> str:
    rows = [
        f"    - {{name: {name}, dtype: {native.NAMES[array.dtype]}, shape: {list(array.shape)}}}\n"
        for name, array in arrays.items()
    ]
    return "".join(rows)


def bundle(case: native.Case) -> bytes:
    model, feeds = native.model_of(case)
    results = native.on_onnxruntime(model, feeds)
    outputs = {output.name: np.asarray(array) for output, array in zip(model.graph.output, results, strict=True)}
    text = (
        f"models:\n  m:\n    inputs:\n{ports(feeds)}    outputs:\n{ports(outputs)}"
        "    parameters: {backend: onnx, model_path: m.onnx}\n"
        f"pipeline:\n  inputs: {{m: [{', '.join(feeds)}]}}\n  outputs: {{m: [{', '.join(outputs)}]}}\n"
    )
    return text.encode() + BORDER + model.SerializeToString() + BORDER


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    kinds = (native.elementwise, native.layout, native.reductions, native.layers, native.recurrent)
    cases = [case for kind in kinds for case in kind()]
    for number, case in enumerate(cases):
        (folder / f"seed_{number}_{case.op}").write_bytes(bundle(case))
    print(f"{len(cases)} seeds in {folder}")


if __name__ == "__main__":
    main()
