# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""`leapp sign` when the file system fails, or the process dies, at each of its calls: an old manifest or a new one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from faults import BUILD, LIBRARY

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bundles/hostile"))
import record

PROGRAM = BUILD / "bin/leapp"
YAML = """\
models:
  policy:
    inputs: [{name: x, dtype: float32, shape: [1], type: tensor}]
    outputs: [{name: y, dtype: float32, shape: [1], type: tensor}]
    parameters: {backend: onnx, model_path: policy.onnx}
pipeline:
  data_flow: {}
  feedback_flow: {}
  inputs: {policy: [x]}
  outputs: {policy: [y]}
"""


def run(folder: Path, *arguments: object, plan: str = "") -> int:
    environment = os.environ | ({"LD_PRELOAD": str(LIBRARY), "LEAPP_FAULTS": plan} if plan else {})
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).returncode


def make_bundle(folder: Path) -> Path:
    """With a pair of keys beside it."""
    walk = folder / "walk"
    walk.mkdir()
    (walk / "walk.yaml").write_text(YAML)
    (walk / "policy.onnx").write_text("a model")
    assert run(folder, "keygen", "key") == 0
    return walk


@pytest.mark.parametrize("what", ["fail", "kill"])
def test_the_manifest_is_the_old_one_or_the_new_one(tmp_path: Path, what: str) -> None:
    walk = make_bundle(tmp_path)
    sign = ("sign", "walk", "--key", "key.private.pem")
    manifest = walk / "walk.manifest"
    assert run(tmp_path, *sign, "--serial", 2) == 0
    new = manifest.read_text()
    assert run(tmp_path, *sign, "--serial", 1) == 0
    old = manifest.read_text()
    report = tmp_path / "report"
    outcomes = set()
    for at in range(1, 100):
        report.unlink(missing_ok=True)
        code = run(tmp_path, *sign, "--serial", 2, plan=f"calls=files under={walk} at={at} do={what} report={report}")
        hit = report.read_text().split()[1:] if report.exists() else ["killed"]
        found = manifest.read_text()
        assert found in (old, new), (at, hit)
        assert code != 0 or found == new, (at, hit)
        outcomes.add(found == new)
        assert run(tmp_path, "verify", "walk", "--key", "key.public.pem") == 0, (at, hit)
        if what == "fail":
            assert sorted(path.name for path in walk.iterdir()) == ["policy.onnx", "walk.manifest", "walk.yaml"]
        if not hit:
            break
        manifest.write_text(old)
    assert not hit, "there are more calls than were tried"
    assert outcomes == {True, False}
    how = "one call on files" if what == "fail" else "the process, killed at a call on files"
    record.record("faults", f"{how} while signing", {"tried": at - 1, "survived": at - 1})


@pytest.mark.parametrize("step", [97, pytest.param(1, marks=pytest.mark.long)])
def test_memory_runs_out(tmp_path: Path, step: int) -> None:
    """It is an error: kOutOfMemory, or that OpenSSL could not do what it was asked for when that is all it says."""
    walk = make_bundle(tmp_path)
    assert run(tmp_path, "sign", "walk", "--key", "key.private.pem", "--serial", 1) == 0
    command = [str(BUILD / "tests/faults/sign_faults"), str(walk), str(tmp_path / "key.private.pem"), str(step)]
    environment = os.environ | {"LD_PRELOAD": str(LIBRARY)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3000, check=False)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stderr
    found = {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", done.stdout)}
    assert found["tried"] > 20, found
    assert found["died"] + found["damaged"] == 0, found
    others = re.findall(r"request \d+: (.+)", done.stderr)
    assert [message for message in others if "OpenSSL could not" not in message] == []
    if step == 1:
        record.record(
            "faults", "a request for memory while signing", {"tried": found["tried"], "survived": found["tried"]}
        )
