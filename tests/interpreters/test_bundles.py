# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Running bundles where there is no torch, with the interpreter that runs this."""

from __future__ import annotations

import importlib.machinery
import os
import subprocess
import sys
from pathlib import Path

import hand_made
import leapp
import numpy as np
import pytest
from leapp import InferenceManager, LeappError, _runtime


def test_one_module_for_every_python_from_3_12_on() -> None:
    name = Path(_runtime.__file__).name
    if sys.version_info >= (3, 12):
        assert name == "_runtime.abi3.so"
    else:
        assert name == f"_runtime{importlib.machinery.EXTENSION_SUFFIXES[0]}"


def test_a_bundle_with_state(tmp_path: Path) -> None:
    bundle = hand_made.recurrent(tmp_path)
    manager = InferenceManager(bundle)
    inputs = {name: np.asarray(value) for name, value in manager.get_mock_input(seed=3).items()}
    x = inputs["pre/x"]
    first = np.asarray(manager(inputs)["post/y"])
    assert np.array_equal(first, np.array([[1, 2, 3, 4]], np.float32) / 2 + (2 * x + 1))
    second = np.asarray(manager(inputs)["post/y"])
    assert not np.array_equal(first, second)
    manager.reset()
    assert np.array_equal(np.asarray(manager(inputs)["post/y"]), first)


def test_errors_are_pythons_own_too(tmp_path: Path) -> None:
    manager = InferenceManager(hand_made.recurrent(tmp_path))
    with pytest.raises(KeyError, match="nothing/here") as caught:
        manager({"nothing/here": np.zeros((1, 4), np.float32)})
    assert isinstance(caught.value, LeappError)
    with pytest.raises(ValueError, match=r"\[1, ?4\]"):
        manager({"pre/x": np.zeros((1, 5), np.float32)})
    with pytest.raises(FileNotFoundError):
        InferenceManager(tmp_path / "nowhere.yaml")


PROGRAM = """
import sys
from leapp import InferenceManager, Loop
import leapp
manager = InferenceManager(sys.argv[1])
manager(manager.get_mock_input(seed=1))
assert "torch" not in sys.modules
"""


def test_nothing_is_said_at_the_end(tmp_path: Path) -> None:
    """A manager that is alive when the interpreter ends; warnings are errors."""
    environment = {**os.environ, "PYTHONPATH": str(Path(leapp.__file__).parents[1])}
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", PROGRAM, str(hand_made.recurrent(tmp_path))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_capture_says_what_it_needs() -> None:
    program = """
import sys

class NoTorch:
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, NoTorch())
import leapp
try:
    leapp.start("g")
except leapp.LeappImportError as error:
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(leapp.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    (said,) = done.stdout.splitlines()
    assert said.startswith("capturing and exporting need torch, which cannot be imported (")
    assert said.endswith("install it with pip install 'leapp-cpp[capture]'")
