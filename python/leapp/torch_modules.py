# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What is compiled against torch, and which of it fits the torch that is here.

torch promises nothing about its C++ from one minor version to the next, so each has files of its own in this folder:
``_capture_torch2_13.<Python's suffix>``, the compiled half of capture, and ``libleapp_engine_torch2_13.so``, which runs
TorchScript models. They are chosen when something first asks for them; ``import leapp`` asks for neither.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.metadata
import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from leapp.errors import LeappImportError

__all__ = [
    "HIGHEST",
    "LOWEST",
    "build_command",
    "engine_name",
    "find_engine",
    "load_capture",
    "runtime_not_built",
    "tag",
]

Minor: TypeAlias = tuple[int, int]

# The lowest and the highest minor version of torch that the tests were run with (docs/reference/versions.md), as in
# src/capture/hook/torch_version.h.
LOWEST: Minor = (2, 6)
HIGHEST: Minor = (2, 15)

_PACKAGE = Path(__file__).parent
_MODULE = re.compile(r"_capture_torch(\d+)_(\d+)\.(.+)")


def tag(version: str) -> str:
    """``torch2_13`` for ``2.13.0+cpu``: what stands in the names of files."""
    major, minor = _minor(version)
    return f"torch{major}_{minor}"


def engine_name(version: str) -> str:
    """Of the library that runs TorchScript models with this torch."""
    return f"libleapp_engine_{tag(version)}.so"


def find_engine(folders: Iterable[Path]) -> Path | None:
    """That library for the torch that is installed, which is not imported for this."""
    try:
        name = engine_name(importlib.metadata.version("torch"))
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return None
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def load_capture() -> Any:
    """The compiled half of capture for the torch that is here. LeappImportError: one sentence that says what to do."""
    version = _torch_version()
    if _minor(version) < LOWEST:
        raise LeappImportError(
            f"capturing and exporting need torch {_text(LOWEST)} or newer, found {version}: pip install --upgrade torch"
        )
    if _minor(version) not in _built():
        raise LeappImportError(_not_built(version))
    module = _loaded(version)
    if tag(module.built_for_torch) != tag(version) or tag(module.running_torch()) != tag(version):
        raise LeappImportError(
            f"{module.__file__} was built for torch {module.built_for_torch}, found {version}: build it again with "
            f"{build_command()}"
        )
    return module


def build_command() -> str:
    """What builds LEAPP for this interpreter and the torch that it finds."""
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "Makefile").is_file() and (checkout / "python" / "leapp").is_dir():
        return f"`make -C {shlex.quote(str(checkout))} torch-modules PYTHON={shlex.quote(sys.executable)}`"
    options = "--force-reinstall --no-deps --no-cache-dir --no-binary leapp-cpp"
    return f"`{shlex.quote(sys.executable)} -m pip install {options} leapp-cpp`"


def runtime_not_built() -> str:
    """What to say where there is no module that runs bundles for this interpreter."""
    suffixes = (path.name.partition(".")[2] for path in _PACKAGE.glob("_runtime.*.so"))
    others = ", ".join(sorted(_interpreter(suffix) for suffix in suffixes)) or "nothing"
    return f"LEAPP is not built for {_python()} (built for: {others}): build it with {build_command()}"


def _torch_version() -> str:
    try:
        import torch
    except ImportError as error:
        raise LeappImportError(
            f"capturing and exporting need torch, which cannot be imported ({error}); "
            "install it with pip install 'leapp-cpp[capture]'"
        ) from error
    return str(torch.__version__)


def _loaded(version: str) -> Any:
    name = f"leapp._capture_{tag(version)}"
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise LeappImportError(
            f"{name} does not load with torch {version} ({_first_line(error)}): it was built for another build of "
            f"torch, or with another C++ ABI; build it again with {build_command()}"
        ) from error


def _not_built(version: str) -> str:
    others = ", ".join(_text(minor) for minor in sorted(_built())) or "none"
    elsewhere = [_interpreter(suffix) for minor, suffix in _files() if minor == _minor(version)]
    for_pythons = f"; for torch {_text(_minor(version))} with {', '.join(sorted(elsewhere))}" if elsewhere else ""
    return (
        f"LEAPP's capture is not built for torch {version} with {_python()} (built for torch: {others}{for_pythons}): "
        f"build it with {build_command()}"
    )


def _python() -> str:
    return f"Python {sys.version_info.major}.{sys.version_info.minor}"


def _interpreter(suffix: str) -> str:
    """``cpython-311`` of ``cpython-311-x86_64-linux-gnu.so``."""
    return "-".join(suffix.removesuffix(".so").split("-")[:2])


def _files() -> list[tuple[Minor, str]]:
    """Minor version of torch and suffix of each module in this folder, whichever interpreter it is for."""
    found = (_MODULE.fullmatch(path.name) for path in _PACKAGE.glob("_capture_torch*"))
    return [((int(match[1]), int(match[2])), match[3]) for match in found if match]


def _built() -> set[Minor]:
    """Those that this interpreter can load."""
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    return {minor for minor, suffix in _files() if f".{suffix}" in suffixes}


def _minor(version: str) -> Minor:
    match = re.match(r"(\d+)\.(\d+)", version)
    if match is None:
        raise ValueError(f"expected a version of torch, found {version!r}")
    return int(match[1]), int(match[2])


def _text(minor: Minor) -> str:
    return f"{minor[0]}.{minor[1]}"


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
