# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""For test_faults_export.py: exports over an old bundle on file systems that lack something.

    lacking_script.py FOLDER

A kind of call fails each time, as it does where there is no such thing. The export succeeds all the same, keeps what
others have in the folder, and leaves nothing beside it. Fails with the first that does not.
"""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import leapp
import torch
from faults import Plan, armed
from leapp import annotate

ROOT = Path(sys.argv[1]).resolve()
LACKING = {
    "locks": Plan(calls="lock", at=1, stays=True, error=errno.ENOLCK),
    "hard links": Plan(calls="link", at=1, stays=True, error=errno.EPERM),
    "syncing": Plan(calls="sync", at=1, stays=True, error=errno.EINVAL),
    "syncing, of another kind": Plan(calls="sync", at=1, stays=True, error=errno.ENOSYS),
    "modes": Plan(calls="mode", at=1, stays=True, error=errno.EPERM),
    "an exchange of two folders": Plan(calls="rename", at=1, error=errno.EINVAL),
    "the call for it": Plan(calls="rename", at=1, error=errno.ENOSYS),
}


def export(value: float) -> None:
    leapp.start("g", save_path=str(ROOT))
    x = annotate.input_tensors("m", {"x": torch.zeros(2)})
    annotate.output_tensors("m", {"y": x + value}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)


def content() -> float:
    return float(leapp.InferenceManager(ROOT / "g").run_policy({"m/x": torch.zeros(2)})["m/y"][0])


def main() -> None:
    export(0.0)
    (ROOT / "g/mine").write_text("keep")
    for value, (what, plan) in enumerate(LACKING.items(), start=1):
        under = Plan(**(vars(plan) | {"under": str(ROOT)}))
        with armed(under) as fault:
            export(float(value))
        assert fault.hits > 0, what
        assert content() == value, what
        assert (ROOT / "g/mine").read_text() == "keep", what
        assert [path.name for path in ROOT.iterdir()] == ["g"], (what, list(ROOT.iterdir()))
    print(f"lacking {len(LACKING)}")


if __name__ == "__main__":
    main()
