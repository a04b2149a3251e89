# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What tests/runtime_steps/step_bundle.cpp does, through InferenceManager where there is no torch.

Usage: step_bundle.py (BUNDLE INPUTS OUTPUTS)...
"""

import importlib.abc
import sys

if "torch" in sys.modules:
    raise SystemExit("torch is loaded already")


class NoTorch(importlib.abc.MetaPathFinder):
    """As if it were not installed."""

    def find_spec(self, name, path, target=None):  # type: ignore[no-untyped-def]
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named '{name}'")


sys.meta_path.insert(0, NoTorch())

import numpy as np  # noqa: E402
from leapp import InferenceManager  # noqa: E402


def run(bundle: str, inputs: str, outputs: str) -> None:
    manager = InferenceManager(bundle)
    ports = {
        f"{node}/{port['name']}": port for node in manager.nodes for port in manager.nodes[node].input_descriptions
    }
    types = [(np.dtype(ports[name]["dtype"]), ports[name]["shape"]) for name in manager.inputs]
    with open(inputs, "rb") as source, open(outputs, "wb") as target:
        while source.peek(1):
            values = {}
            for name, (dtype, shape) in zip(manager.inputs, types, strict=True):
                size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
                values[name] = np.frombuffer(source.read(size), dtype).reshape(shape)
            found = manager.run_policy(values)
            for name in manager.outputs:
                assert type(found[name]) is np.ndarray
                target.write(found[name].tobytes())


for at in range(1, len(sys.argv), 3):
    run(*sys.argv[at : at + 3])
assert "torch" not in sys.modules
