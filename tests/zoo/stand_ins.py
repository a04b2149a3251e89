# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What stands in for libraries that the zoo's libraries ask for when they are imported, and that no network needs.

torchvision's wheel is linked with CUDA. Its operators for the CPU are in the same library, which loads once there are
libraries by the names of CUDA's with the symbols it looks for; scripts/setup --zoo makes these (make_stand_ins.py), and
here they are opened before torchvision is. lerobot imports readers of data sets, cameras and plots along with its
policies; modules without content stand in for those.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

LIBRARIES = Path(sys.prefix) / "cuda-stand-ins"
NOT_FOR_POLICIES = {
    "accelerate", "av", "cv2", "datasets", "deepdiff", "imageio", "jsonlines", "pandas", "pyarrow", "rerun", "serial",
    "termcolor", "torchcodec", "wandb",
}  # fmt: skip


def open_libraries() -> None:
    """Before the first `import torchvision`."""
    for library in sorted(LIBRARIES.glob("*.so*")):
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


class AnyName(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything

    def __or__(cls, _: Any) -> Any:
        return cls

    def __ror__(cls, _: Any) -> Any:
        return cls


class Anything(metaclass=AnyName):
    """What such a module has under any name: a class to be named in annotations, inherited from and made."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __class_getitem__(cls, _: Any) -> type[Anything]:
        return cls


class Empty(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Anything,), {"__module__": self.__name__})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] not in NOT_FOR_POLICIES:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return Empty(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def policies_one_by_one() -> None:
    """lerobot.policies imports all of them, one of which wants an older transformers: as a package without its file."""
    import lerobot

    package = ModuleType("lerobot.policies")
    package.__path__ = [str(Path(lerobot.__path__[0]) / "policies")]
    sys.modules[package.__name__] = package


@contextlib.contextmanager
def for_lerobot() -> Iterator[None]:
    finder = Finder()
    sys.meta_path.insert(0, finder)
    try:
        policies_one_by_one()
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name, module in sys.modules.items() if isinstance(module, Empty)]:
            del sys.modules[name]
