# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""packaging/leapp_build.py: which torch pip builds capture against, and what is said when there is none."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parents[3]
BACKEND = ROOT / "packaging" / "leapp_build.py"
TORCH = Path(torch.__file__).parent
DEFINE = "cmake.define."


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name in ("LEAPP_TORCH_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "CXX"):
        monkeypatch.delenv(name, raising=False)
    spec = importlib.util.spec_from_file_location("leapp_build", BACKEND)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def empty_venv(tmp_path: Path) -> Path:
    venv.create(tmp_path / "venv", symlinks=True)
    return tmp_path / "venv"


def refused(backend: ModuleType, settings: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        backend._complete(settings)
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    return said


def test_the_torch_of_the_interpreter_is_found_from_within_an_isolated_build(tmp_path: Path) -> None:
    """As pip does it: the same interpreter, with a start-up file that takes the installed packages away."""
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    kept = [Path(importlib.util.find_spec(name).origin or "").parent for name in ("scikit_build_core", "packaging")]
    for package in kept:
        (overlay / package.name).symlink_to(package)
    (tmp_path / "sitecustomize.py").write_text(
        "import site, sys\n"
        "known = {path for path in sys.path if path.endswith('site-packages')}\n"
        f"sys.path[:] = [path for path in sys.path if path not in known] + [{str(overlay)!r}]\n"
    )
    program = (
        "import importlib.util, json, sys\n"
        "assert importlib.util.find_spec('torch') is None\n"
        f"sys.path.insert(0, {str(BACKEND.parent)!r})\n"
        "import leapp_build\n"
        "print(json.dumps(leapp_build._complete({})))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONNOUSERSITE": "1"}
    for name in ("LEAPP_TORCH_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX"):
        environment.pop(name, None)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        DEFINE + "LEAPP_BUILD_CAPTURE": "ON",
        DEFINE + "LEAPP_TORCH_ROOT": str(TORCH),
    }


def test_tools_with_an_interpreter_of_their_own_take_the_active_environments_torch(
    backend: ModuleType, empty_venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(empty_venv / "bin" / "python"))
    assert backend.find_torch() is None
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    assert backend.find_torch() == TORCH


def test_a_torch_of_another_python_is_none(backend: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert backend.find_torch() is None


def test_without_torch_what_runs_bundles_is_built(
    backend: ModuleType, empty_venv: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(empty_venv / "bin" / "python"))
    settings = backend._complete({"cmake.build-type": "Debug"})
    assert settings == {
        "cmake.build-type": "Debug",
        DEFINE + "LEAPP_BUILD_CAPTURE": "OFF",
        "wheel.py-api": "cp312",
    }
    assert "without capture" in capsys.readouterr().err
    assert "LEAPP: no torch for" in refused(backend, {"capture": "on"}, capsys)


def test_capture_off_asks_for_no_torch(backend: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert backend._complete({"capture": "off"})[DEFINE + "LEAPP_BUILD_CAPTURE"] == "OFF"
    assert capsys.readouterr().err == ""
    assert "expected auto, on or off, found 'maybe'" in refused(backend, {"capture": "maybe"}, capsys)


def test_no_compiler_is_one_sentence(
    backend: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit):
        backend.build_wheel(str(tmp_path), {"capture": "off"})
    said = capsys.readouterr().err
    assert said.startswith("LEAPP: no C++ compiler (c++, g++, clang++): install one")
    assert said.count("\n") == 1
    monkeypatch.setenv("CXX", "missing-c++")
    with pytest.raises(SystemExit):
        backend.build_wheel(str(tmp_path), {"capture": "off"})
    assert "no C++ compiler (missing-c++)" in capsys.readouterr().err


def test_missing_libraries_are_named_together(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(nothing LANGUAGES CXX)\n"
        f"list(APPEND CMAKE_MODULE_PATH {ROOT / 'cmake'})\n"
        "set(CMAKE_DISABLE_FIND_PACKAGE_yaml-cpp ON)\nset(CMAKE_DISABLE_FIND_PACKAGE_nlohmann_json ON)\n"
        "include(LeappSystemPackages)\n"
    )
    done = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "build"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "apt-get install libyaml-cpp-dev nlohmann-json3-dev" in " ".join(done.stderr.split()), done.stderr
