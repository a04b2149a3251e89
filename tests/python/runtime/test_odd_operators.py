# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that are given what they were not made for (tests/bundles/hostile/odd_operators.py), on both engines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import leapp
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bundles/hostile"))
import attacks
import measure
import odd_operators


def outcomes(engine: str, folder: Path, *names: str) -> dict[str, str]:
    """Each in a process of its own, which is a copy of one that has imported everything."""
    command = [sys.executable, odd_operators.__file__, engine, folder, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(line.rsplit(": ", 1) for line in done.stdout.splitlines())


def check_each(engine: str, names: list[str], folder: Path) -> None:
    """Neither a signal, nor twelve seconds, nor more memory than it may have, nor an exception of somebody else."""
    found = outcomes(engine, folder, *names)
    assert list(found) == names
    foreign = {name: said for name, said in found.items() if not said.startswith(("runs, ", "refused"))}
    assert not foreign, foreign
    assert sum(said.startswith("runs") for said in found.values()) > len(names) // 5


# What ended a process, or did not end, before it was mended.
MENDED = ["one_hot_no_depth", "mod_int32", "div_int64", "mod_int64", "convtranspose_group_0", "dropout_without_mode"]
MENDED += ["depth_to_space_8589934592", "long_and_empty_gather", "long_and_empty_trilu", "long_and_empty_lrn"]


@pytest.mark.parametrize("engine", ["native", "onnxruntime"])
def test_some_run_or_are_refused(engine: str, tmp_path: Path) -> None:
    names = list(odd_operators.cases())
    check_each(engine, [name for i, name in enumerate(names) if i % 7 == 0 or name in MENDED], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("engine", ["native", "onnxruntime"])
def test_each_runs_or_is_refused(engine: str, tmp_path: Path) -> None:
    names = list(odd_operators.cases())
    assert len(names) > 700
    check_each(engine, names, tmp_path)


@pytest.mark.parametrize("name", ["products", "pads", "ranges", "steps", "terms", "nobodys_outputs"])
def test_few_bytes_ask_for_little_of_our_own_engine(name: str, tmp_path: Path) -> None:
    """Whoever works out constants, packs weights or writes out steps of layers does it in proportion to the file."""
    bundle = attacks.ATTACKS[name].write(tmp_path / name)
    limits = ["--engine", "native", "--memory-limit", "4GB", "--timeout", 60]
    found = measure.tool("run", bundle, "--steps", 1, *limits)
    assert found.code == 2, found.text
    assert found.megabytes < 1500, found.megabytes
    assert found.seconds < 5, found.seconds


def test_the_lowest_by_minus_one_is_an_error_of_onnx_runtime_too(tmp_path: Path) -> None:
    """The machine answers it with a signal that ended the process; afterwards it runs as before."""
    bundle = attacks.lowest_by_data(tmp_path / "lowest")
    assert leapp.InferenceManager(bundle, engine="native").run_policy({"policy/x": np.zeros(4, np.float32)})
    with pytest.raises(leapp.LeappError, match=r"an integer was divided by 0, or the lowest one by -1"):
        leapp.InferenceManager(bundle, engine="onnxruntime")
    honest = attacks.write_model(tmp_path / "honest", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    manager = leapp.InferenceManager(honest, engine="onnxruntime")
    assert np.array_equal(manager.run_policy({"policy/x": np.ones(4, np.float32)})["policy/y"], np.ones(4, np.float32))


def test_other_signals_of_arithmetic_are_not_ours(tmp_path: Path) -> None:
    """One that is sent ends the process, as it did before anything was loaded."""
    bundle = attacks.write_model(tmp_path / "honest", [attacks.helper.make_node("Identity", ["x"], ["y"])])
    program = (
        "import leapp, os, signal, sys\n"
        "manager = leapp.InferenceManager(sys.argv[1], engine='onnxruntime')\n"
        "os.kill(os.getpid(), signal.SIGFPE)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, bundle], capture_output=True)
    assert done.returncode == -8, done
