# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Steps a policy in Python, with whichever `leapp` the interpreter has (ours or the peer's), and prints JSON.

    stepping.py export FOLDER BACKEND [NAME...] | merge BUNDLE | eager NAME | raw BUNDLE
    stepping.py policy YAML | load YAML | memory YAML

Times are microseconds: [p50, p99, p99.9]. One thread each.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

STEPS = 5000


def percentiles(step: Callable[[], object], steps: int = STEPS) -> list[float]:
    for _ in range(steps // 10):
        step()
    times = []
    for _ in range(steps):
        start = time.perf_counter_ns()
        step()
        times.append(time.perf_counter_ns() - start)
    times.sort()
    return [times[min(len(times) - 1, int(len(times) * part))] / 1e3 for part in (0.5, 0.99, 0.999)]


def resident_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


# -- with torch and leapp --------------------------------------------------------------------------------------------


def export(folder: str, backend: str, *names: str) -> dict[str, str]:
    import policies

    return {name: str(policies.export(name, backend, Path(folder))) for name in names or policies.WORKLOADS}


def eager(name: str) -> dict[str, list[float]]:
    import policies
    import torch

    pipeline = policies.Pipeline(name)
    with torch.no_grad():
        return {"eager": percentiles(pipeline.eager)}


def manager_of(yaml: str) -> Any:
    from leapp import InferenceManager

    return InferenceManager(yaml)


def policy(yaml: str, kind: str = "torch") -> dict[str, list[float]]:
    """run_policy on the same dict again and again."""
    manager = manager_of(yaml)
    inputs = manager.get_mock_input()
    if kind == "numpy":
        import numpy as np

        inputs = {name: np.asarray(value) for name, value in inputs.items()}
    else:
        import torch

        inputs = {name: torch.as_tensor(value) for name, value in inputs.items()}
    return {"run_policy": percentiles(lambda: manager.run_policy(inputs))}


def load(yaml: str) -> dict[str, float]:
    """The first in the process, and the best of the next."""
    times = []
    for _ in range(50):
        start = time.perf_counter()
        manager_of(yaml)
        times.append((time.perf_counter() - start) * 1e3)
    return {"first_ms": times[0], "then_ms": min(times[1:])}


def memory(yaml: str) -> dict[str, float]:
    manager = manager_of(yaml)
    inputs = manager.get_mock_input()
    for _ in range(100):
        manager.run_policy(inputs)
    return {"resident_mb": resident_mb()}


# -- ONNX Runtime without leapp --------------------------------------------------------------------------------------


def models_of(bundle: str) -> dict[str, Path]:
    """The models of the three nodes, in the order in which they run."""
    return {node: Path(bundle) / f"{node}.onnx" for node in ("normalise", "policy", "scale")}


def merge(bundle: str) -> dict[str, str]:
    """The three models as one, with the onnx package: what one would do by hand."""
    import onnx
    from onnx import compose

    parts = {node: compose.add_prefix(onnx.load(path), f"{node}/") for node, path in models_of(bundle).items()}
    edges = [("normalise/features", "policy/features"), ("policy/action", "scale/action")]
    first = compose.merge_models(parts["normalise"], parts["policy"], io_map=edges[:1])
    merged = compose.merge_models(first, parts["scale"], io_map=edges[1:])
    onnx.checker.check_model(merged)
    path = Path(bundle) / "merged.onnx"
    onnx.save(merged, path)
    return {"merged": str(path)}


def session_of(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def state_names(session: Any) -> list[tuple[str, str]]:
    """Inputs and outputs that are the two ends of a feedback edge: ours are called X_in and X_out."""
    outputs = [value.name for value in session.get_outputs()]
    inputs = [value.name for value in session.get_inputs()]
    return [(name, f"{name[:-3]}_out") for name in inputs if name.endswith("_in") and f"{name[:-3]}_out" in outputs]


def first_values(session: Any) -> dict[str, Any]:
    import numpy as np

    return {value.name: np.ones(value.shape, np.float32) for value in session.get_inputs()}


def raw(bundle: str) -> dict[str, list[float]]:
    merged = session_of(Path(bundle) / "merged.onnx")
    fed, fed_back = first_values(merged), state_names(merged)
    names = [value.name for value in merged.get_outputs()]

    def step() -> None:
        made = dict(zip(names, merged.run(names, fed), strict=True))
        for given, output in fed_back:
            fed[given] = made[output]

    sessions = [session_of(path) for path in models_of(bundle).values()]
    feeds = [first_values(session) for session in sessions]
    loops = [state_names(session) for session in sessions]
    outputs = [[value.name for value in session.get_outputs()] for session in sessions]

    def step_each() -> None:
        flowing: dict[str, Any] = {}
        for session, feed, loop, wanted in zip(sessions, feeds, loops, outputs, strict=True):
            feed.update({name: value for name, value in flowing.items() if name in feed})
            flowing = dict(zip(wanted, session.run(wanted, feed), strict=True))
            for given, output in loop:
                feed[given] = flowing[output]

    return {"merged": percentiles(step), "separate": percentiles(step_each)}


COMMANDS: dict[str, Callable[..., object]] = {
    "export": export,
    "merge": merge,
    "eager": eager,
    "raw": raw,
    "policy": policy,
    "load": load,
    "memory": memory,
}

if __name__ == "__main__":
    if sys.argv[1] in {"export", "eager", "policy", "load", "memory"} and "--no-torch" not in sys.argv:
        import torch

        torch.set_num_threads(1)
    result = COMMANDS[sys.argv[1]](*(argument for argument in sys.argv[2:] if argument != "--no-torch"))
    print(json.dumps(result))
