# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The installed package: a robot's project builds against it where there is no torch, and runs a bundle."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import bundle_runner
import numpy as np
import pytest
import torch
from leapp import InferenceManager

ROOT = Path(__file__).resolve().parents[3]
BUNDLE = ROOT / "tests" / "bundles" / "peer" / "stateful_gru" / "stateful_gru.yaml"
CONSUMER = ROOT / "tests" / "install_consumer"
SOURCES = ["CMakeLists.txt", "CMakePresets.json", "VERSION", "cmake", "include", "src", "fuzz"]
HEADERS = ROOT / "build" / "onnxruntime-headers" / "usr"
# No interpreter, and so no package, of the tests' own.
CLEAN = {
    key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV", "CMAKE_PREFIX_PATH")
}
CLEAN["PATH"] = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not re.search(r"venv|pyenv", p))


def run(*command: str | Path, cwd: Path, check: bool = True) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, cwd=cwd, check=False, env=CLEAN
    )
    assert (done.returncode == 0) == check, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `cmake --install` writes after a build with the preset runtime-only, in a tree of nothing but sources."""
    tree = tmp_path_factory.mktemp("tree")
    for name in SOURCES:
        source = ROOT / name
        shutil.copytree(source, tree / name) if source.is_dir() else shutil.copy(source, tree / name)
    run(
        "cmake",
        "--preset",
        "runtime-only",
        "-DLEAPP_BUILD_TESTS=OFF",
        "-DLEAPP_BUILD_CLI=OFF",
        f"-DONNXRUNTIME_ROOT={HEADERS}",
        cwd=tree,
    )
    build = tree / "build" / "runtime-only"
    cache = (build / "CMakeCache.txt").read_text()
    assert "LEAPP_BUILD_CAPTURE:UNINITIALIZED=OFF" in cache or "LEAPP_BUILD_CAPTURE:BOOL=OFF" in cache
    assert not [
        line for line in cache.splitlines() if "torch" in line.lower() and not line.startswith(("//", "LEAPP_"))
    ]
    run("cmake", "--build", build, "-j", "2", cwd=tree)
    installed = tmp_path_factory.mktemp("install")
    run("cmake", "--install", build, "--prefix", installed, cwd=tree)
    shutil.rmtree(tree)  # nothing of it may be needed
    return installed


def library(prefix: Path) -> Path:
    (found,) = prefix.glob("lib*/**/libleapp_runtime.so.*.*.*")
    return found


def test_what_is_installed(prefix: Path) -> None:
    found = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}
    assert "include/leapp/runtime/pipeline.h" in found
    assert "include/leapp/capture.h" not in found
    assert not [name for name in found if "torch" in name or "python" in name or name.startswith("src")]
    public = {str(path.relative_to(ROOT)) for path in (ROOT / "include").rglob("*.h")}
    assert public - found == {"include/leapp/capture.h"}
    (version,) = (ROOT / "VERSION").read_text().split()
    folder = library(prefix).parent
    assert library(prefix).name == f"libleapp_runtime.so.{version}"
    assert {path.name for path in folder.glob("libleapp_runtime.so*")} == {
        "libleapp_runtime.so",
        f"libleapp_runtime.so.{version.partition('.')[0]}",
        f"libleapp_runtime.so.{version}",
    }


def test_what_the_library_shows_and_needs(prefix: Path) -> None:
    dynamic = run("readelf", "-dW", library(prefix), cwd=prefix)
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
    assert needed
    assert not [name for name in needed if re.search(r"torch|c10|python|onnxruntime", name)]
    assert not re.search(r"R(UN)?PATH", dynamic)
    symbols = run("nm", "-DC", "--defined-only", library(prefix), cwd=prefix).splitlines()
    ours = [line.split(" ", 2)[2] for line in symbols if line.split(" ", 2)[1] in "TtWVB" and "leapp::" in line]
    assert any(name.startswith("leapp::runtime::Pipeline::step()") for name in ours)
    hidden = (
        "leapp::engine::ort",
        "leapp::onnx",
        "leapp::graph",
        "leapp::runtime::Buffers",
        "leapp::runtime::make_plan",
    )
    assert not [name for name in ours if name.startswith(hidden)]


@pytest.fixture(scope="module")
def robot_loop(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A robot's program, built against the installed package."""
    build = tmp_path_factory.mktemp("robot")
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"]
    run("cmake", "-S", CONSUMER, "-B", build, *options, cwd=build)
    run("cmake", "--build", build, cwd=build)
    return build / "robot_loop"


def test_a_robots_project(robot_loop: Path) -> None:
    steps = 20
    environment = {**CLEAN, **bundle_runner.ONNXRUNTIME}
    command = [str(robot_loop), str(BUNDLE), str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    assert printed[:3] == ["1 nodes", "policy/obs float32 2", "policy/h_state_in float32 3"]
    manager = InferenceManager(BUNDLE)
    for step, line in enumerate(printed[3:]):
        obs = np.float32(0.125 * step) - np.float32(0.25) * np.arange(16, dtype=np.float32)
        action = manager({"policy/obs": obs.reshape(1, 16)})["policy/action"]
        assert [float(word) for word in line.split()] == pytest.approx(action.flatten().tolist(), rel=1e-6, abs=1e-7)
    assert len(printed) == 3 + steps
    assert not re.search(r"torch|python", run("ldd", robot_loop, cwd=robot_loop.parent))


def test_runs_where_there_is_no_onnxruntime(robot_loop: Path) -> None:
    """The bundle is one that LEAPP's own engine runs: nothing else is linked, and nothing else is looked for."""
    assert not re.search(r"onnxruntime", run("ldd", robot_loop, cwd=robot_loop.parent))
    alone = {**CLEAN, "LEAPP_ONNXRUNTIME": "/nowhere"}
    command = [str(robot_loop), str(BUNDLE), "20"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=alone)
    assert found.returncode == 0, found.stderr
    beside = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**CLEAN, **bundle_runner.ONNXRUNTIME}
    )
    assert found.stdout == beside.stdout
    assert len(found.stdout.splitlines()) == 3 + 20


def test_without_onnxruntime_it_says_how_to_get_it(robot_loop: Path) -> None:
    command = [str(robot_loop), str(BUNDLE), "1"]
    environment = {**CLEAN, "LEAPP_ENGINE": "onnxruntime"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    for word in ("LEAPP_ONNXRUNTIME", "onnxruntime_library", "pip install onnxruntime"):
        assert word in said


def test_capture_is_not_in_it(prefix: Path, tmp_path: Path) -> None:
    said = run(
        "cmake", "-S", CONSUMER, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", "-DLEAPP_COMPONENTS=capture",
        cwd=tmp_path, check=False,
    )  # fmt: skip
    assert "built without torch" in " ".join(said.split())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build that these tests run on, installed."""
    installed = tmp_path_factory.mktemp("whole")
    run("cmake", "--install", bundle_runner.BUILD, "--prefix", installed, cwd=installed)
    return installed


def test_the_engine_on_torch_is_found_beside_the_library(robot_loop: Path, whole: Path) -> None:
    (plugin,) = whole.glob("lib*/**/libleapp_engine_torch*.so")
    bundle = ROOT / "tests" / "bundles" / "peer" / "stateful_policy" / "stateful_policy.yaml"
    environment = {key: value for key, value in CLEAN.items() if key != "LEAPP_ENGINE_TORCH"}
    environment["LD_LIBRARY_PATH"] = str(plugin.parent)
    command = [str(robot_loop), str(bundle), "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    manager = InferenceManager(bundle)
    obs = np.float32(-0.25) * np.arange(16, dtype=np.float32).reshape(1, 16)
    action = manager({"policy/obs": obs})["policy/action"].flatten().tolist()
    assert [float(word) for word in done.stdout.splitlines()[3].split()] == pytest.approx(action, rel=1e-6)


def test_capture_is_a_component(whole: Path, tmp_path: Path) -> None:
    assert list(whole.rglob("include/leapp/capture.h"))
    assert not list(whole.glob("leapp"))  # the Python package is no part of it
    torch_root = Path(torch.__file__).parent
    prefixes = f"-DCMAKE_PREFIX_PATH={whole};{torch_root}"
    said = run("cmake", "-S", CONSUMER, "-B", tmp_path, prefixes, "-DLEAPP_COMPONENTS=capture", cwd=tmp_path)
    assert "Found Torch" in said
