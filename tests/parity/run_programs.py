# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs every program with whichever `leapp` this interpreter has: run_programs.py FOLDER [NAME...]

Each runs in a folder of its own, with the same random numbers. `results.json` says which raised what.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
HERE = Path(__file__).parent
SEEDS = HERE.parent / "python" / "seeds"
SEED_PROGRAMS = ("my_pipeline_jit", "complete_pipeline", "static_example", "buffer_mirror", "lifecycle_head")
SEED_PROGRAMS += ("stateful_policy", "stateful_gru_jit", "sample_feedback_graph")


def main(folder: Path, names: list[str]) -> None:
    sys.path[:0] = [str(HERE), str(SEEDS)]
    import programs
    import torch

    results = {}
    for name in names or [*SEED_PROGRAMS, *programs.PROGRAMS]:
        (folder / name).mkdir(parents=True)
        os.chdir(folder / name)
        torch.manual_seed(0)
        error = None
        try:
            if name in programs.PROGRAMS:
                programs.PROGRAMS[name]()
            else:
                runpy.run_path(str(SEEDS / f"{name}.py"), run_name="__main__")
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
        results[name] = error
    (folder / "results.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
