# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""ACT, a diffusion policy and SmolVLA of lerobot as bundles of several nodes, stepped from C++ beside the program.

run_policies.py [act|diffusion|smolvla ...]    exit 1 when a step differs

Each bundle is exported, then stepped by tests/runtime_steps (C++, no torch, no Python) with inputs that were not
captured, from the beginning of an episode; the program made anew runs beside it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "python" / "support"))

import stand_ins  # noqa: E402

stand_ins.open_libraries()

import harness  # noqa: E402
import leapp  # noqa: E402
import policy_bundles  # noqa: E402
import torch  # noqa: E402
from torch import Tensor  # noqa: E402

PASSES, STEPS = 13, 20


def export(name: str, folder: Path) -> Path:
    policy = policy_bundles.POLICIES[name]
    torch.manual_seed(0)
    step = policy.make()
    generator = torch.Generator().manual_seed(1)
    leapp.start(name, save_path=str(folder))
    with torch.no_grad():
        for _ in range(PASSES):
            step(**policy.inputs(generator), backend="onnx")
    leapp.stop()
    leapp.compile_graph()
    return folder / name


def eager(name: str) -> tuple[list[dict[str, Tensor]], list[Tensor]]:
    policy = policy_bundles.POLICIES[name]
    torch.manual_seed(0)
    step = policy.make()
    generator = torch.Generator().manual_seed(2)
    inputs = [policy.inputs(generator) for _ in range(STEPS)]
    with torch.no_grad():
        return inputs, [step(**{key: t.clone() for key, t in each.items()}, backend="onnx").clone() for each in inputs]


def stepped_in_cpp(name: str, bundle: Path, inputs: list[dict[str, Tensor]], folder: Path) -> list[Tensor]:
    """Inputs and outputs go through files, in the order in which the pipeline has them."""
    nodes = policy_bundles.POLICIES[name].nodes
    manager = leapp.InferenceManager(bundle)
    by_port = {f"{node}/{port}": port for port, node in nodes.items()}
    given = folder / "inputs.bin"
    with given.open("wb") as file:
        for step in inputs:
            for port in manager.inputs:
                file.write(harness.bits(step[by_port[port]]))
    program = ROOT / "build" / "default" / "tests" / "runtime_steps" / "step_bundle"
    written = folder / "outputs.bin"
    subprocess.run([str(program), str(bundle), str(given), str(written)], check=True)
    actions = torch.frombuffer(bytearray(written.read_bytes()), dtype=torch.float32)
    return list(actions.view(len(inputs), -1))


def run(name: str) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        bundle = export(name, Path(folder))
        inputs, wanted = eager(name)
        found = stepped_in_cpp(name, bundle, inputs, Path(folder))
        for step, (a, b) in enumerate(zip(wanted, found, strict=True)):
            problem = harness.difference([a], [b], rtol=1e-3, atol=2e-5)
            if problem is not None:
                return f"step {step}: {problem}"
        largest = max((a - b).abs().max().item() for a, b in zip(wanted, found, strict=True))
        description = harness.read_yaml(bundle)
        state = sum(map(len, description["pipeline"]["feedback_flow"].values()))
        nodes = len(description["models"])
        told = f"{nodes} nodes, {state} feedback edges, {STEPS} steps in C++ as in Python"
        print(f"{name}: {told}, |diff| max {largest:.2g}")
    return None


def main(names: list[str]) -> int:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    failed = False
    for name in names or list(policy_bundles.POLICIES):
        problem = run(name)
        if problem is not None:
            print(f"{name}: {problem}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
