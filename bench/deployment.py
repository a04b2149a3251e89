# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The part of `make bench` that is about running bundles: steps, loading, memory, importing."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from processes import OURS, PEER, ROOT, call, environment_of

WORKER = ROOT / "bench" / "stepping.py"
BUNDLES = ROOT / "build" / "bench-bundles"
BUILD = ROOT / "build" / "default"
CPP = BUILD / "bench" / "bench_runtime"
WORKLOADS = {
    "mlp": "MLP 48-512-256-128-12 (781 KB) in 3 nodes",
    "small": "MLP 12-32-32-8 (7 KB) in 3 nodes",
    "gru": "GRU-256 policy (924 KB) in 3 nodes, with state",
}
ROUNDS = 3
STEPS = 10000


def python(interpreter: Path, *arguments: object) -> Any:
    return call(interpreter, WORKER, *arguments)


def bundle(whose: str, backend: str, name: str) -> Path:
    return BUNDLES / f"{whose}_{backend}" / name


def yaml(whose: str, backend: str, name: str) -> Path:
    return bundle(whose, backend, name) / f"{name}.yaml"


def prepare() -> None:
    shutil.rmtree(BUNDLES, ignore_errors=True)
    for backend in ("onnx", "jit"):
        python(OURS, "export", BUNDLES / f"ours_{backend}", backend)
        python(PEER, "export", BUNDLES / f"peer_{backend}", backend)
    for name in WORKLOADS:
        python(OURS, "merge", bundle("ours", "onnx", name))


Row = tuple[str, Callable[[], list[float]]]


def python_rows(name: str) -> list[Row]:
    ours, peer = "Python  ours, run_policy", "Python  peer, run_policy"
    file = yaml("ours", "onnx", name)
    return [
        (f"{ours} (NumPy)", lambda: python(OURS, "policy", file, "numpy", "--no-torch")["run_policy"]),
        (f"{ours} (torch tensors)", lambda: python(OURS, "policy", file)["run_policy"]),
        (f"{ours} (jit)", lambda: python(OURS, "policy", yaml("ours", "jit", name))["run_policy"]),
        (f"{peer} (onnx)", lambda: python(PEER, "policy", yaml("peer", "onnx", name))["run_policy"]),
        (f"{peer} (jit)", lambda: python(PEER, "policy", yaml("peer", "jit", name))["run_policy"]),
        ("Python  torch, eager", lambda: python(OURS, "eager", name)["eager"]),
    ]


def leapp_bench(folder: Path) -> list[float]:
    """The same by the command line."""
    command = [str(BUILD / "bin" / "leapp"), "bench", str(folder), "--steps", str(STEPS), "--json"]
    done = subprocess.run(command, env=environment_of(command[0]), capture_output=True, text=True, check=True)
    whole = json.loads(done.stdout)["whole"]
    return [whole["p50_us"], whole["p99_us"], whole["p99.9_us"]]


CPP_ROWS = {
    "native": "C++     LEAPP's own engine",
    "fused": "C++     ours on ONNX Runtime, fused",
    "bare_merged": "C++     ONNX Runtime, models merged by hand",
    "separate": "C++     ours on ONNX Runtime, a model for each node",
    "bare_separate": "C++     ONNX Runtime, a model for each node",
    "floor": "        reading the weights once",
}
RAW_ROWS = {
    "merged": "Python  ONNX Runtime, models merged by hand",
    "separate": "Python  ONNX Runtime, a model for each node",
}


def steps(name: str) -> dict[str, list[float]]:
    """Rounds in turns; of each row the one with the lowest median."""
    found: dict[str, list[float]] = {}

    def keep(label: str, times: list[float]) -> None:
        found[label] = min(found.get(label, times), times)

    folder = bundle("ours", "onnx", name)
    for _ in range(ROUNDS):
        for key, times in call(CPP, "step", folder, STEPS).items():
            keep(CPP_ROWS[key], times)
        keep("C++     `leapp bench`", leapp_bench(folder))
        for key, times in python(OURS, "raw", folder).items():
            keep(RAW_ROWS[key], times)
        for label, measure in python_rows(name):
            keep(label, measure())
    return found


def stepping() -> None:
    print(f"\none step, one thread, microseconds; best of {ROUNDS} rounds    {'p50':>10s} {'p99':>10s} {'p99.9':>10s}")
    for name, text in WORKLOADS.items():
        rows = steps(name)
        print(f" {text}")
        for label, (p50, p99, p999) in rows.items():
            print(f"  {label:52s} {p50:10.1f} {p99:10.1f} {p999:10.1f}")
        fused, bare = rows[CPP_ROWS["fused"]][0], rows[CPP_ROWS["bare_merged"]][0]
        print(f"  C++ fused / bare ONNX Runtime: {fused / bare:.2f} x (expected at most 1.05)")
        if CPP_ROWS["native"] in rows:
            native, floor = rows[CPP_ROWS["native"]][0], rows[CPP_ROWS["floor"]][0]
            print(f"  LEAPP's own engine / bare ONNX Runtime: {native / bare:.2f} x")
            print(f"  LEAPP's own engine / reading the weights once: {native / floor:.2f} x")
        peer = {key: rows[f"Python  peer, run_policy ({key})"][0] for key in ("onnx", "jit")}
        for label, times in rows.items():
            if "ours, run_policy" in label:
                key = "jit" if "jit" in label else "onnx"
                print(f"  {label[8:]} / peer's ({key}): {times[0] / peer[key]:.2f} x (expected at most 0.50)")


def loading() -> None:
    print(f"\nloading the 3-node MLP, ms: first in the process, then best; best of {ROUNDS} rounds")
    rows: dict[str, dict[str, float]] = {}

    def keep(label: str, times: dict[str, float]) -> None:
        best = rows.setdefault(label, times)
        rows[label] = {key: min(best[key], value) for key, value in times.items()}

    for _ in range(ROUNDS):
        for key, times in call(CPP, "load", bundle("ours", "onnx", "mlp"), 50).items():
            keep(f"C++     ours, {key}", times)
        keep("Python  ours", python(OURS, "load", yaml("ours", "onnx", "mlp"), "--no-torch"))
        for backend in ("onnx", "jit"):
            keep(f"Python  peer ({backend})", python(PEER, "load", yaml("peer", backend, "mlp")))
    for label, times in rows.items():
        print(f"  {label:30s} {times['first_ms']:10.1f} {times['then_ms']:10.1f}")
    peer = min(times["then_ms"] for label, times in rows.items() if "peer" in label)
    for label, times in rows.items():
        if "fused" in label or "Python  ours" in label:
            print(f"  {label[8:]} / peer's best: {times['then_ms'] / peer:.2f} x (expected at most 0.50)")


def sizes() -> None:
    stripped = BUNDLES / "stripped.so"
    library = next(BUILD.glob("**/libleapp_runtime.so"))
    subprocess.run(["strip", "-o", stripped, library.resolve()], check=True)
    print(f"\nlibleapp_runtime.so without debug information: {stripped.stat().st_size / 1e6:.2f} MB")
    print("resident memory after 100 steps of the 3-node MLP, MB")
    print(f"  C++     ours   {call(CPP, 'memory', bundle('ours', 'onnx', 'mlp'))['resident_mb']:8.1f}")
    found = python(OURS, "memory", yaml("ours", "onnx", "mlp"), "--no-torch")
    print(f"  Python  ours   {found['resident_mb']:8.1f}")
    found = python(PEER, "memory", yaml("peer", "onnx", "mlp"))
    print(f"  Python  peer   {found['resident_mb']:8.1f}")


def import_ms(interpreter: Path, code: str) -> float | None:
    times = []
    for _ in range(15):
        start = time.perf_counter()
        done = subprocess.run(
            [str(interpreter), "-c", code], capture_output=True, env=environment_of(interpreter), check=False
        )
        times.append((time.perf_counter() - start) * 1e3)
        if done.returncode != 0:
            return None
    return min(times)


def importing() -> None:
    print("\na process that imports, ms")
    numpy = import_ms(OURS, "import numpy") or 0.0
    print(f"  numpy                  {numpy:8.1f}")
    ours = import_ms(OURS, "import sys; sys.modules['torch'] = None; import leapp")
    if ours is None:
        print("  leapp without torch    this build of leapp needs torch")
    else:
        print(f"  leapp without torch    {ours:8.1f}   {ours - numpy:+.1f} ms (expected at most +50)")
    for label, interpreter in (("leapp with torch", OURS), ("the peer", PEER)):
        found = import_ms(interpreter, "import torch, leapp")
        print(f"  {label:22s} {found or 0.0:8.1f}")


def report() -> None:
    prepare()
    stepping()
    loading()
    sizes()
    importing()


if __name__ == "__main__":
    report()
