# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Models that are odd as files and graphs (tests/bundles/hostile/odd_models.py), on both engines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import leapp
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bundles/hostile"))
import measure
import odd_graph
import odd_models

# What took more memory than it may, did not end, or was read as something else, before it was mended.
MENDED = ["two_formats", "external_memory_MEM_4096", "if_in_if", "loop_grows", "loop_gathers", "function_makes_large"]
MENDED += ["strings_doubled", "strings_doubled_from_data", "strings_expanded", "strings_tiled_by_data"]
MENDED += ["sparse_many", "sparse_constants_many", "sparse_constant_large", "external_again_and_again"]
MENDED += ["data_constant_large", "data_tile_large", "data_one_hot_larger", "data_resize_vast", "data_mel_large"]
MENDED += ["outer_Gemm_30000", "outer_Einsum_30000_data", "constants_at_once", "results_at_once", "old_pad"]
MENDED += ["packed_again_and_again", "constant_upsample"]


def check_each(engine: str, names: list[str], folder: Path) -> None:
    """Neither a signal, nor twelve seconds, nor more memory than it may have, nor an exception of somebody else."""
    command = [sys.executable, odd_models.__file__, engine, folder, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = dict(line.rsplit(": ", 1) for line in done.stdout.splitlines())
    assert len(found) == len(names)
    foreign = {name: said for name, said in found.items() if not said.startswith(("runs, ", "refused"))}
    assert not foreign, foreign
    assert sum(said.startswith("runs") for said in found.values()) > len(names) // 10


@pytest.mark.parametrize("engine", ["native", "onnxruntime"])
def test_some_run_or_are_refused(engine: str, tmp_path: Path) -> None:
    names = list(odd_models.cases())
    assert set(MENDED) <= set(names)
    check_each(engine, [name for i, name in enumerate(names) if i % 17 == 0 or name in MENDED], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("engine", ["native", "onnxruntime", "auto"])
def test_each_runs_or_is_refused(engine: str, tmp_path: Path) -> None:
    names = list(odd_models.cases())
    assert len(names) > 500
    check_each(engine, names, tmp_path)


@pytest.mark.parametrize("name", ["data_constant_large", "loop_grows", "results_at_once", "outer_Gemm_30000_data"])
def test_memory_that_only_the_data_asks_for_is_counted(name: str, tmp_path: Path) -> None:
    """With ONNX Runtime, by the command line: an error that says so, within what it may have."""
    bundle = odd_models.cases()[name](tmp_path / name)
    limits = ["--engine", "onnxruntime", "--memory-limit", "256MB", "--timeout", 60]
    found = measure.tool("run", bundle, "--steps", 1, *limits)
    assert found.code in (0, 1, 2), found.text
    assert found.megabytes < 350, found.megabytes
    if found.code != 0:
        assert "memory_limit" in found.text or "--memory-limit" in found.text, found.text


@pytest.mark.parametrize("threads", [1, 3])
def test_a_step_that_asks_for_too_much_fails_alone(threads: int, tmp_path: Path) -> None:
    """The next one runs, and so does another pipeline meanwhile."""
    node, constant = odd_graph.node, odd_graph.constant
    wanted = [node("Slice", ["i", "k0", "k1"], ["n"]), node("ConstantOfShape", ["n"], ["r"])]
    bundle = odd_graph.summed(wanted, [constant("k0", [0]), constant("k1", [1])])(tmp_path / "sized")
    options = {"engine": "onnxruntime", "memory_limit": 50_000_000, "threads": threads}
    manager, other = (leapp.InferenceManager(bundle, **options) for _ in range(2))
    small = {"policy/x": np.array([1000, 1, 1, 1], np.float32)}
    large = {"policy/x": np.array([100e6, 1, 1, 1], np.float32)}
    for _ in range(3):
        assert np.array_equal(manager.run_policy(small)["policy/y"], np.zeros(4, np.float32))
        with pytest.raises(ValueError, match=r"more memory than the option memory_limit allows"):
            manager.run_policy(large)
        assert np.array_equal(other.run_policy(small)["policy/y"], np.zeros(4, np.float32))


def test_a_file_of_two_formats_is_read_as_what_was_checked(tmp_path: Path) -> None:
    """ONNX Runtime would take it for a model of its own format, which nobody has looked at."""
    bundle = odd_models.cases()["two_formats"](tmp_path / "both")
    manager = leapp.InferenceManager(bundle, engine="onnxruntime")
    result = manager.run_policy({"policy/x": -np.ones(4, np.float32)})
    assert np.array_equal(result["policy/y"], np.ones(4, np.float32))
