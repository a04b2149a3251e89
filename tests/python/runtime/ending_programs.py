# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of their own, for tests of how programs are interrupted and end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PRELUDE = """
import gc, os, signal, sys, threading, time
import numpy as np
import leapp
bundle, folder = [*sys.argv[1:], None][:2]
small = {"policy/x": np.ones(4, np.float32)}
large = {"policy/x": np.full(4, 1000, np.float32)}

def press(seconds=0.3):  # Ctrl-C, a moment later
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
"""


def run(script: str, *arguments: Path, code: int = 0) -> str:
    """What it prints. `arguments`: `bundle` and `folder` of the script."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done.stdout
