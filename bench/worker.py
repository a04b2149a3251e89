# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one workload on whichever `leapp` the interpreter has (ours or the peer's) and prints JSON.

Usage: worker.py WORKLOAD [ARGUMENT...]
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable

import leapp
import torch
from leapp import annotate

# -- workloads -------------------------------------------------------------------------------------------------------


class Actor(torch.nn.Module):
    """The three-node pipeline's policy: MLP 48-512-256-128-12 with ELU."""

    def __init__(self) -> None:
        super().__init__()
        sizes = [48, 512, 256, 128, 12]
        layers: list[torch.nn.Module] = []
        for i, (a, b) in enumerate(itertools.pairwise(sizes)):
            layers += [torch.nn.Linear(a, b)] + ([torch.nn.ELU()] if i < 3 else [])
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


MEAN, STD, SCALE = torch.full((48,), 0.1), torch.full((48,), 1.5), torch.full((12,), 0.25)


def normalise(obs: torch.Tensor) -> torch.Tensor:
    return torch.clamp((obs - MEAN) / STD, -5.0, 5.0)


def scale(action: torch.Tensor) -> torch.Tensor:
    return torch.tanh(action) * SCALE + 0.1


def eager_pass(actor: Actor, obs: torch.Tensor) -> torch.Tensor:
    return scale(actor(normalise(obs)))


def annotated_pass(actor: Actor, obs: torch.Tensor, backend: str = "jit") -> torch.Tensor:
    obs = annotate.input_tensors("normalise", {"obs": obs})
    features = annotate.output_tensors("normalise", {"features": normalise(obs)}, export_with=backend)
    features = annotate.input_tensors("policy", {"features": features})
    action = annotate.output_tensors("policy", {"action": actor(features)}, export_with=backend)
    action = annotate.input_tensors("scale", {"action": action})
    return annotate.output_tensors("scale", {"target": scale(action)}, export_with=backend)


def chain(x: torch.Tensor, operators: int) -> torch.Tensor:
    for _ in range(operators // 2):
        x = x * 1.0001 + 0.5
    return x


# -- measuring -------------------------------------------------------------------------------------------------------


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best(run: Callable[[], float], times: int) -> float:
    return min(run() for _ in range(times))


def session(run: Callable[[], float], compile_too: bool = False) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        leapp.start("bench", save_path=folder)
        captured = run()
        leapp.stop()
        compiled = seconds(lambda: leapp.compile_graph(visualize=False, validate=False)) if compile_too else 0.0
    return captured, compiled


def per_operator(operators: int, repeats: int) -> dict[str, float]:
    """Cost that capture adds to one elementwise operator, source lines included."""
    x = torch.randn(8)

    def captured() -> float:
        live = annotate.input_tensors("chain", {"x": x})
        spent = seconds(lambda: results.append(chain(live, operators)))
        annotate.output_tensors("chain", {"y": results.pop()}, export_with="jit")
        return spent

    results: list[torch.Tensor] = []
    eager = best(lambda: seconds(lambda: chain(x, operators)), repeats)
    traced = best(lambda: session(captured)[0], repeats)
    return {"eager_us": eager / operators * 1e6, "added_us": (traced - eager) / operators * 1e6}


def first_pass(repeats: int) -> dict[str, float]:
    """A whole first pass of the three-node pipeline in a fresh session."""
    actor, obs = Actor().eval(), torch.randn(1, 48)
    with torch.no_grad():
        eager_pass(actor, obs)
        eager = best(lambda: seconds(lambda: eager_pass(actor, obs)), 50)
        traced = best(lambda: session(lambda: seconds(lambda: annotated_pass(actor, obs)))[0], repeats)
    return {"eager_ms": eager * 1e3, "added_ms": (traced - eager) * 1e3}


def reentry(passes: int) -> dict[str, float]:
    """Later passes of the three-node pipeline, each compared with the first; samples are kept of the first few."""
    actor, obs = Actor().eval(), torch.randn(1, 48)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        eager_pass(actor, obs)
        leapp.start("bench", save_path=folder)
        times = [seconds(lambda: annotated_pass(actor, obs)) for _ in range(passes)]
        leapp.stop()
    return {"first_ms": times[0] * 1e3, "later_ms": sorted(times[1:])[len(times) // 2] * 1e3}


def compiling(backend: str, repeats: int) -> dict[str, float]:
    """compile_graph of the three-node pipeline: in a process that has never done it, and after that."""
    actor, obs = Actor().eval(), torch.randn(1, 48)

    def once() -> float:
        return session(lambda: seconds(lambda: annotated_pass(actor, obs, backend)), compile_too=True)[1]

    with torch.no_grad():
        cold = once()
        return {"cold_ms": cold * 1e3, "warm_ms": best(once, repeats) * 1e3}


def not_started(calls: int) -> dict[str, float]:
    """An annotated program that is not being exported."""
    x = torch.randn(1, 48)

    def run() -> None:
        for _ in range(calls):
            annotate.input_tensors("policy", {"obs": x})

    def bare() -> None:
        for _ in range(calls):
            {"obs": x}  # noqa: B018

    return {"added_us": (best(lambda: seconds(run), 5) - best(lambda: seconds(bare), 5)) / calls * 1e6}


def scaling_operators(operators: int, repeats: int) -> dict[str, float]:
    x = torch.randn(8)

    def captured() -> float:
        def work() -> None:
            y = chain(annotate.input_tensors("chain", {"x": x}), operators)
            annotate.output_tensors("chain", {"y": y}, export_with="jit")

        return seconds(work)

    runs = [session(captured, compile_too=True) for _ in range(repeats)]
    return {"capture_ms": min(r[0] for r in runs) * 1e3, "compile_ms": min(r[1] for r in runs) * 1e3}


def scaling_nodes(nodes: int, repeats: int) -> dict[str, float]:
    x = torch.randn(8)

    def captured() -> float:
        def work() -> None:
            value = x
            for i in range(nodes):
                live = annotate.input_tensors(f"node{i}", {"x": value})
                value = annotate.output_tensors(f"node{i}", {"y": chain(live, 20)}, export_with="jit")

        return seconds(work)

    runs = [session(captured, compile_too=True) for _ in range(repeats)]
    return {"capture_ms": min(r[0] for r in runs) * 1e3, "compile_ms": min(r[1] for r in runs) * 1e3}


WORKLOADS = {
    "per_operator": per_operator,
    "first_pass": first_pass,
    "compiling": compiling,
    "reentry": reentry,
    "not_started": not_started,
    "scaling_operators": scaling_operators,
    "scaling_nodes": scaling_nodes,
}

if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(WORKLOADS[sys.argv[1]](*(int(a) if a.isdigit() else a for a in sys.argv[2:]))))
