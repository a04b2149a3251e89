# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Run by scripts/wheel-test in a venv that has a wheel and what it asks for: steps a bundle without torch.

first_step.py NAME ENGINE    a bundle under tests/bundles/peer, which has to give what is recorded for it

Ends with everything alive: what an interpreter says at its end is said.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import leapp
import numpy as np

BUNDLES = Path(__file__).resolve().parents[1] / "bundles"


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Of float32 only."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    arrays = {}
    for name, entry in json.loads(data[8:start]).items():
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F32", entry
        arrays[name] = np.frombuffer(data[start + begin : start + end], np.float32).reshape(entry["shape"])
    return arrays


def check_steps(manager: leapp.InferenceManager, recorded: dict[str, np.ndarray]) -> int:
    steps = 1 + max(int(name.partition("/")[0]) for name in recorded)
    for step in range(steps):
        found = manager({name: recorded[f"{step}/in/{name}"] for name in manager.inputs})
        for name in manager.outputs:
            np.testing.assert_allclose(found[name], recorded[f"{step}/out/{name}"], rtol=1e-4, atol=1e-5)
    return steps


def check_that_capture_says_what_to_do() -> None:
    try:
        leapp.start("no_capture_here")
    except leapp.LeappImportError as error:
        said = str(error)
        assert "torch" in said, said
        assert "pip install" in said, said
        assert "\n" not in said, said
    else:
        raise AssertionError("capture without torch")


name, engine = sys.argv[1:]
package = Path(leapp.__file__).parent
assert package.is_relative_to(sys.prefix), package
assert importlib.util.find_spec("torch") is None
modules = sorted(path.name for path in package.glob("*.so*"))
assert not [module for module in modules if "capture" in module or "torch" in module], modules

manager = leapp.InferenceManager(BUNDLES / "peer" / name, engine=engine)
steps = check_steps(manager, read_safetensors(BUNDLES / "peer_expected" / f"{name}.safetensors"))
check_that_capture_says_what_to_do()
print(f"{steps} steps of {name} by {manager.engines[0].engine}; {', '.join(modules)}")
alive = [manager, manager.input_ports]
