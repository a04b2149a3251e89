# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that runs out while a bundle is loaded is an error, at whichever request it happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from faults import BUILD, LIBRARY, record

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bundles/hostile"))
import attacks

PROGRAM = BUILD / "tests/faults/load_faults"


def run(bundle: Path, engine: str, step: int) -> dict[str, int]:
    environment = os.environ | {"LD_PRELOAD": str(LIBRARY)}
    command = [str(PROGRAM), str(bundle), engine, str(step)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stdout, done.stderr)
    record(f"memory refused while loading, {engine}, every {step}th request", done.stdout.partition(":")[0])
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", done.stdout.partition(":")[0])}


def check(bundle: Path, engine: str, step: int) -> None:
    found = run(bundle, engine, step)
    assert found["tried"] > 20, found
    assert found["died"] == 0, found
    assert found["other"] == 0, found
    assert found["step_needed_memory"] == 0, found
    assert found["out_of_memory"] > found["loaded"], found  # some requests can be done without


def test_sampled(tmp_path: Path) -> None:
    check(attacks.stateful(tmp_path / "gru"), "native", 7)


@pytest.mark.long
def test_every_request(tmp_path: Path) -> None:
    check(attacks.stateful(tmp_path / "gru"), "native", 1)


@pytest.mark.long
def test_with_onnxruntime(tmp_path: Path) -> None:
    """What dies inside ONNX Runtime is not ours to save (SECURITY.md): most of it comes out as an error."""
    found = run(attacks.stateful(tmp_path / "gru"), "onnxruntime", 11)
    assert found["tried"] > 20, found
    assert found["died"] < found["tried"] / 4, found
