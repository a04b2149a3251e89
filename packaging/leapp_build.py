# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What `pip install` builds LEAPP with: scikit-build-core, told which torch capture is built against.

pip builds in an environment of its own, in which there is no torch, and one that pip would fetch for it is rarely the
one that capture will run with. So the interpreter is asked, outside of that environment. There is one setting,
`-C capture=...`:

    auto   capture is built if this environment has torch, else only what runs bundles (the default)
    on     no torch is an error
    off    only what runs bundles, in a wheel for Python 3.12 and everything after it
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

from scikit_build_core import build as _build

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = dict[str, Any]

_ASK = (
    "import importlib.util as u, json, sys; s = u.find_spec('torch'); "
    "print(json.dumps([list(sys.version_info[:2]), list(s.submodule_search_locations or []) if s else []]))"
)
# What keeps an interpreter from seeing the environment that it belongs to.
_ISOLATION = ("PYTHONPATH", "PYTHONNOUSERSITE", "PYTHONHOME")


def _refuse(sentence: str) -> NoReturn:
    """Ends the build with one sentence: an exception would bury it under where it was raised."""
    print(f"LEAPP: {sentence}", file=sys.stderr)
    raise SystemExit(1)


def _torch_of(python: Path) -> Path | None:
    environment = {name: value for name, value in os.environ.items() if name not in _ISOLATION}
    asked = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, env=environment, check=False)
    if asked.returncode != 0:
        return None
    version, folders = json.loads(asked.stdout)
    if version != list(sys.version_info[:2]):
        return None
    return next((Path(folder) for folder in folders if (Path(folder) / "lib" / "libtorch_cpu.so").is_file()), None)


def find_torch() -> Path | None:
    """The torch that the package is installed for.

    That of the interpreter which pip belongs to, or, for tools that build with another one (`python -m build`, uv), of
    the environment that is active.
    """
    if named := os.environ.get("LEAPP_TORCH_ROOT"):
        return Path(named)
    active = [os.environ[name] for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if os.environ.get(name)]
    pythons = [Path(sys.executable), *(Path(folder) / "bin" / "python" for folder in active)]
    return next((torch for python in pythons if python.is_file() and (torch := _torch_of(python))), None)


def _check_compiler() -> None:
    wanted = os.environ.get("CXX", "").split()[:1] or ["c++", "g++", "clang++"]
    if not any(shutil.which(name) for name in wanted):
        _refuse(f"no C++ compiler ({', '.join(wanted)}): install one (Debian: apt-get install g++), or name it in CXX")


def _complete(given: Settings | None) -> Settings:
    """The settings for scikit-build-core; what the caller has set stays."""
    settings = dict(given or {})
    mode = settings.pop("capture", "auto")
    if mode not in ("auto", "on", "off"):
        _refuse(f"-C capture: expected auto, on or off, found {mode!r}")
    torch = None if mode == "off" else find_torch()
    if torch is not None:
        settings.setdefault("cmake.define.LEAPP_BUILD_CAPTURE", "ON")
        settings.setdefault("cmake.define.LEAPP_TORCH_ROOT", str(torch))
        return settings
    if mode == "on":
        _refuse(f"no torch for {sys.executable}: pip install torch, or name the folder of one in LEAPP_TORCH_ROOT")
    if mode == "auto":
        print(f"LEAPP: no torch for {sys.executable}: building what runs bundles, without capture", file=sys.stderr)
    settings.setdefault("cmake.define.LEAPP_BUILD_CAPTURE", "OFF")
    settings.setdefault("wheel.py-api", "cp312")
    return settings


def _without_ours(given: Settings | None) -> Settings:
    return {name: value for name, value in (given or {}).items() if name != "capture"}


def get_requires_for_build_wheel(config_settings: Settings | None = None) -> list[str]:
    return _build.get_requires_for_build_wheel(_without_ours(config_settings))


def get_requires_for_build_editable(config_settings: Settings | None = None) -> list[str]:
    return _build.get_requires_for_build_editable(_without_ours(config_settings))


def get_requires_for_build_sdist(config_settings: Settings | None = None) -> list[str]:
    return _build.get_requires_for_build_sdist(_without_ours(config_settings))


def build_sdist(folder: str, config_settings: Settings | None = None) -> str:
    return _build.build_sdist(folder, _without_ours(config_settings))


def build_wheel(folder: str, config_settings: Settings | None = None, metadata: str | None = None) -> str:
    settings = _complete(config_settings)
    _check_compiler()
    return _build.build_wheel(folder, settings, metadata)


def build_editable(folder: str, config_settings: Settings | None = None, metadata: str | None = None) -> str:
    settings = _complete(config_settings)
    _check_compiler()
    return _build.build_editable(folder, settings, metadata)


def prepare_metadata_for_build_wheel(folder: str, config_settings: Settings | None = None) -> str:
    return _build.prepare_metadata_for_build_wheel(folder, _complete(config_settings))


def prepare_metadata_for_build_editable(folder: str, config_settings: Settings | None = None) -> str:
    return _build.prepare_metadata_for_build_editable(folder, _complete(config_settings))
