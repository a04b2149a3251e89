# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What validation costs: the three-node MLP pipeline with six samples, as a share of compile_graph.

validating.py BACKEND REPEATS     runs on whichever `leapp` the interpreter has (ours or the peer's), prints JSON
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile

from processes import OURS, PEER, call

PASSES = 6


def measure(backend: str, repeats: int) -> dict[str, float]:
    import leapp
    import torch
    from worker import Actor, annotated_pass, best, seconds

    torch.set_num_threads(1)
    actor = Actor().eval()

    def once(validate: bool) -> float:
        with torch.no_grad(), tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            leapp.start("bench", save_path=folder)
            for _ in range(PASSES):
                annotated_pass(actor, torch.randn(1, 48), backend)
            leapp.stop()
            return seconds(lambda: leapp.compile_graph(visualize=False, validate=validate))

    once(True)
    return {
        "with_ms": best(lambda: once(True), repeats) * 1e3,
        "without_ms": best(lambda: once(False), repeats) * 1e3,
    }


def print_rows() -> None:
    print(f"\nvalidation of these 3 nodes, {PASSES} samples each and the whole pipeline: cost, share of compile_graph")
    for backend in ("jit", "onnx"):
        found = {"ours": call(OURS, __file__, backend, 10), "peer": call(PEER, __file__, backend, 3)}
        cost = {who: times["with_ms"] - times["without_ms"] for who, times in found.items()}
        for who, times in found.items():
            share = 100 * cost[who] / times["with_ms"]
            ratio = f"   ratio {cost['peer'] / cost['ours']:.1f} x" if who == "peer" else ""
            print(f"  {who}  {backend:5s} {cost[who]:9.1f} ms of {times['with_ms']:9.1f} ms ({share:4.1f} %){ratio}")


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
