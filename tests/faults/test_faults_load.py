# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that runs out while a bundle is loaded is an error, at whichever request it happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import leapp
import pytest
from faults import BUILD, preloaded_environment

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bundles/hostile"))
import attacks
import record

PROGRAM = BUILD / "tests/faults/load_faults"
LOADS = {"first": "the first load of a process", "again": "a later load"}
ENGINES = {"native": "LEAPP's own engine", "onnxruntime": "ONNX Runtime"}


def run(bundle: Path, engine: str, load: str, step: int, key: Path | None = None) -> dict[str, int]:
    command = [str(PROGRAM), str(bundle), engine, load, str(step), *([str(key)] if key else [])]
    done = subprocess.run(
        command, env=preloaded_environment(), capture_output=True, text=True, timeout=3000, check=False
    )
    print(done.stdout, done.stderr)  # who died where
    assert done.returncode == 0, done.stderr
    found = {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", done.stdout)}
    if step in (1, 499):
        figures = {
            "tried": found["tried"],
            "survived": found["out_of_memory"] + found["loaded"] + found["other"],
            "elsewhere": found["died_in_onnxruntime"],
            "died": found["died"],
        }
        which = "a request for memory" if step == 1 else f"every {step}th request for memory"
        what = f"{which} in {LOADS[load]}, {ENGINES[engine]}"
        record.record("faults", what + (", a signed bundle" if key else ""), figures)
    return found


def check(bundle: Path, engine: str, load: str, step: int, key: Path | None = None) -> None:
    found = run(bundle, engine, load, step, key)
    assert found["tried"] > 20, found
    assert found["died"] == 0, found
    assert found["other"] == 0, found
    assert found["step_needed_memory"] == 0, found
    assert found["out_of_memory"] > found["loaded"], found  # some requests can be done without
    # What dies with both ends of its stack in ONNX Runtime is not ours to save (SECURITY.md).
    assert engine == "onnxruntime" or found["died_in_onnxruntime"] == 0, found


@pytest.mark.parametrize(("engine", "load", "step"), [("native", "again", 7), ("onnxruntime", "again", 97)])
def test_sampled(engine: str, load: str, step: int, tmp_path: Path) -> None:
    check(attacks.stateful(tmp_path / "gru"), engine, load, step)


@pytest.mark.long
@pytest.mark.parametrize(
    ("engine", "load", "step"),
    [("native", "again", 1), ("native", "first", 1), ("onnxruntime", "again", 1), ("onnxruntime", "first", 499)],
)
def test_all_of_them(engine: str, load: str, step: int, tmp_path: Path) -> None:
    """But for the first load with ONNX Runtime, which asks 200,000 times while it starts."""
    check(attacks.stateful(tmp_path / "gru"), engine, load, step)


@pytest.mark.parametrize("step", [37, pytest.param(1, marks=pytest.mark.long)])
def test_signed(step: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """OpenSSL does not always say that it was memory: then the error is that OpenSSL could not do what it was asked
    for, never that a signature or a key is wrong."""
    bundle = attacks.stateful(tmp_path / "gru")
    (bundle.parent / "more").mkdir()
    (bundle.parent / "more/notes.txt").write_text("signed too")
    leapp.keygen(tmp_path / "private.pem", tmp_path / "public.pem")
    leapp.sign(bundle, tmp_path / "private.pem")
    found = run(bundle, "native", "first", step, tmp_path / "public.pem")
    assert found["tried"] > 20, found
    assert found["died"] + found["died_in_onnxruntime"] + found["step_needed_memory"] == 0, found
    others = re.findall(r"request \d+: (.+)", capfd.readouterr().out)
    assert len(others) == found["other"]
    assert [message for message in others if "OpenSSL could not" not in message] == []
