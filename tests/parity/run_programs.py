# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs every program and every probe with whichever `leapp` this interpreter has: run_programs.py FOLDER [NAME...]

Each runs in a folder of its own, with the same random numbers. `results.json` has, by name, what a program raised and
which nodes its validation passed, and what a probe answered.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SEEDS = HERE.parent / "python" / "programs" / "seeds"
SEED_PROGRAMS = ("my_pipeline_jit", "complete_pipeline", "static_example", "buffer_mirror", "lifecycle_head")
SEED_PROGRAMS += ("stateful_policy", "stateful_gru_jit", "sample_feedback_graph")
# Files with programs. What they share (net, one_call) is in field.py.
FILES = ("programs", "edge_cases", "field_observations", "field_policies", "field_actions")
FILES += ("field_sessions", "field_arithmetic")


def end_of_session() -> None:
    import leapp

    try:
        leapp.stop()
    except Exception:
        return


def run_program(name: str, programs: Any) -> dict[str, Any]:
    try:
        if name not in programs.PROGRAMS:
            runpy.run_path(str(SEEDS / f"{name}.py"), run_name="__main__")
            return {"raised": None}
        results = programs.PROGRAMS[name]()
        passed = {node: bool(value) for node, value in results.items()} if isinstance(results, dict) else {}
        return {"raised": None, "passed": passed}
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"}


def run_probe(function: Any) -> dict[str, Any]:
    try:
        return {"answer": function()}
    except Exception as error:
        return {"answer": type(error).__name__, "raised": f"{type(error).__name__}: {error}"}


def main(folder: Path, names: list[str]) -> None:
    warnings.simplefilter("ignore")
    sys.path[:0] = [str(HERE), str(SEEDS)]
    import torch

    torch.set_num_threads(1)
    for file in FILES:
        importlib.import_module(file)
    programs, probes = importlib.import_module("programs"), importlib.import_module("probes")
    results = {}
    for name in names or [*SEED_PROGRAMS, *programs.PROGRAMS, *probes.PROBES]:
        (folder / name).mkdir(parents=True)
        os.chdir(folder / name)
        torch.manual_seed(0)
        question = probes.PROBES.get(name)
        results[name] = run_probe(question) if question else run_program(name, programs)
        end_of_session()
    (folder / "results.json").write_text(json.dumps(results, indent=1, default=str))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
