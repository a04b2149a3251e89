# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m leapp``: the command ``leapp``, a program of its own that needs no Python.

It is told where this interpreter has ONNX Runtime and the torch engine, unless the environment says so already.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import MutableMapping
from pathlib import Path

from leapp.torch_modules import find_engine

__all__ = ["find_tool", "main"]

_PACKAGE = Path(__file__).parent


def _first_file(candidates: list[Path]) -> Path | None:
    return next((path for path in candidates if path.is_file()), None)


def _builds() -> list[Path]:
    """Folders above the package, for when it is that of a build tree or a source tree."""
    return [folder / ".." / ".." for folder in (_PACKAGE, Path(os.path.abspath(__file__)).parent)]


def find_tool() -> Path | None:
    """The program: in the package, where a wheel has it, or in the build tree that the package stands in."""
    return _first_file([_PACKAGE / "bin" / "leapp", *(build / "bin" / "leapp" for build in _builds())])


def _complete(environment: MutableMapping[str, str]) -> None:
    if "LEAPP_ONNXRUNTIME" not in environment:
        spec = importlib.util.find_spec("onnxruntime")
        if spec is not None and spec.submodule_search_locations:
            environment["LEAPP_ONNXRUNTIME"] = str(Path(spec.submodule_search_locations[0]) / "capi")
    if "LEAPP_ENGINE_TORCH" not in environment:
        engine = find_engine(
            [
                *(_PACKAGE / folder for folder in (".", "lib", "bin")),
                *(build / folder for build in _builds() for folder in ("lib", "engine/torch")),
            ]
        )
        if engine is not None:
            environment["LEAPP_ENGINE_TORCH"] = str(engine)


def main() -> int:
    """Become the program. Comes back only when there is none, and from what is written in Python."""
    if sys.argv[1:2] == ["replay"]:
        from leapp.fleet.cli import main as replay

        return replay(sys.argv[2:])
    tool = find_tool()
    if tool is None:
        print("leapp: the program is not installed: build it with cmake, or install the wheel", file=sys.stderr)
        return 2
    environment = dict(os.environ)
    environment.setdefault("LEAPP_PYTHON", sys.executable)
    _complete(environment)
    os.execve(tool, ["leapp", *sys.argv[1:]], environment)


if __name__ == "__main__":
    sys.exit(main())
