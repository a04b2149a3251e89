# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""For test_faults_export.py: exports over and over, each time with another call on files failing, or killed there.

    export_script.py FOLDER full|once|kill STEP

Tries every STEP-th call. Afterwards the folder has to hold the old bundle or the new one, whole, and the next export
has to leave nothing behind. Prints "calls N tried N", and fails with the first that goes wrong.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

import leapp
import torch
from faults import Plan, armed
from leapp import annotate

ROOT, MODE, STEP = Path(sys.argv[1]).resolve(), sys.argv[2], int(sys.argv[3])
OLD, NEW = 1.0, 2.0


def export(value: float) -> None:
    leapp.start("g", save_path=str(ROOT))
    x = annotate.input_tensors("m", {"x": torch.zeros(2)})
    annotate.output_tensors("m", {"y": x + value}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=True)


def content() -> float:
    return float(leapp.InferenceManager(ROOT / "g").run_policy({"m/x": torch.zeros(2)})["m/y"][0])


def leftovers() -> list[str]:
    names = [path.name for path in ROOT.rglob("*")]
    return [name for name in names if name.startswith(".leapp-") or name.endswith(".part")]


def attempt(at: int) -> int:
    """In a child: 0 when the export succeeded or ended in an error that the user can make sense of."""
    child = os.fork()
    if child != 0:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 0
    try:
        with armed(Plan(calls="files", under=str(ROOT), at=at, stays=MODE == "full", kill=MODE == "kill")):
            export(NEW)
    except (leapp.LeappError, OSError):
        code = 1
    except BaseException:
        traceback.print_exc()
        code = 3
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    torch.set_num_threads(1)
    export(OLD)
    with armed(Plan(calls="files", under=str(ROOT))) as fault:
        export(OLD)
    tried = 0
    for at in range(1, fault.seen + 1, STEP):
        code = attempt(at)
        assert code in ((-9,) if MODE == "kill" else (0, 1)), (at, code)
        found = content()
        assert found in (OLD, NEW), (at, found)
        assert code != 0 or found == NEW, (at, code, found)
        export(OLD)
        assert content() == OLD, at
        assert not leftovers(), (at, leftovers())
        tried += 1
    print(f"calls {fault.seen} tried {tried}")


if __name__ == "__main__":
    main()
