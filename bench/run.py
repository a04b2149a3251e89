# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""`make bench`: figures of this run, ours beside the peer's in its own environment. Machines are noisy: read ratios."""

from __future__ import annotations

import os
import platform
from datetime import date
from pathlib import Path

import batching
import choice
import deployment
import engines
import reload
import replaying
import robot
import validating
from processes import OURS, PEER, ROOT, call, cpu

WORKER = ROOT / "bench" / "worker.py"


def run(interpreter: Path, *arguments: object) -> dict[str, float]:
    return call(interpreter, WORKER, *arguments)


def against_peer() -> None:
    ours, peer = run(OURS, "per_operator", 2000, 20), run(PEER, "per_operator", 200, 10)
    print(f"\nadded cost per operator        eager {ours['eager_us']:6.2f} us")
    print(f"  ours                     {ours['added_us']:9.2f} us")
    print(f"  peer                     {peer['added_us']:9.2f} us   ratio {peer['added_us'] / ours['added_us']:7.1f} x")
    ours, peer = run(OURS, "first_pass", 100), run(PEER, "first_pass", 30)
    print(f"\nfirst pass, 3 nodes (MLP 48-512-256-128-12)    eager {ours['eager_ms']:.3f} ms")
    print(f"  ours  added {ours['added_ms']:9.2f} ms")
    print(f"  peer  added {peer['added_ms']:9.2f} ms   ratio {peer['added_ms'] / ours['added_ms']:.1f} x")
    again = run(OURS, "reentry", 200)
    print(f"  ours, a later pass of the same session, eager work included: {again['later_ms']:.2f} ms")
    ours, peer = run(OURS, "not_started", 20000), run(PEER, "not_started", 20000)
    print("\ninput_tensors with one tensor while nothing is exported")
    print(f"  ours  {ours['added_us']:9.2f} us")
    print(f"  peer  {peer['added_us']:9.2f} us")


def compiling() -> None:
    print("\ncompile_graph(visualize=False, validate=False) of these 3 nodes: first in the process, then best")
    ours = {backend: run(OURS, "compiling", backend, 10) for backend in ("jit", "onnx")}
    peer = {backend: run(PEER, "compiling", backend, 3) for backend in ("jit", "onnx", "onnx-torchscript")}
    for who, found in (("ours", ours), ("peer", peer)):
        for backend, times in found.items():
            print(f"  {who}  {backend:17s} {times['cold_ms']:9.1f} ms {times['warm_ms']:9.1f} ms")
    for theirs, mine in (("jit", "jit"), ("onnx", "onnx"), ("onnx-torchscript", "onnx")):
        cold = peer[theirs]["cold_ms"] / ours[mine]["cold_ms"]
        warm = peer[theirs]["warm_ms"] / ours[mine]["warm_ms"]
        print(f"  peer's {theirs} / our {mine}: {cold:.1f} x, {warm:.1f} x")


def scaling(workload: str, unit: str, sizes: list[int], repeats: int) -> None:
    print(f"\ngrowth with {unit}: capture and compile, per {unit[:-1]}")
    for size in sizes:
        found = run(OURS, workload, size, repeats)
        print(
            f"  {size:6d}   capture {found['capture_ms']:9.1f} ms ({found['capture_ms'] / size * 1e3:7.2f} us each)"
            f"   compile {found['compile_ms']:9.1f} ms ({found['compile_ms'] / size * 1e3:7.1f} us each)"
        )


def main() -> None:
    print(f"{cpu()}, {os.cpu_count()} cores, Python {platform.python_version()}, {date.today()}")
    against_peer()
    compiling()
    validating.print_rows()
    scaling("scaling_operators", "operators", [1000, 2000, 5000, 10000], 3)
    scaling("scaling_nodes", "nodes", [5, 10, 25, 50], 3)
    deployment.report()
    engines.report()
    choice.report()
    robot.report()
    reload.report()
    batching.report()
    replaying.report()


if __name__ == "__main__":
    main()
