# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Which compiled modules belong to which torch, and what is said where none fits."""

from __future__ import annotations

import importlib.machinery
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import leapp
import pytest
import torch
from leapp import torch_modules
from leapp.torch_modules import load_capture

ROOT = Path(__file__).resolve().parents[3]
SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]
HERE = torch_modules.tag(torch.__version__)
NEWER = "99.0.1+cpu"


def message() -> str:
    with pytest.raises(leapp.LeappImportError) as caught:
        load_capture()
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty one where modules are looked for."""
    monkeypatch.setattr(torch_modules, "_PACKAGE", tmp_path)
    return tmp_path


@pytest.fixture
def newer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that was built for a torch nobody has, and is loaded; that torch is here."""
    monkeypatch.setattr(torch, "__version__", NEWER)
    (folder / f"_capture_torch99_0{SUFFIX}").touch()
    module = ModuleType("leapp._capture_torch99_0")
    module.__file__ = "the file"
    monkeypatch.setattr(module, "built_for_torch", "99.0.0", raising=False)
    monkeypatch.setattr(module, "running_torch", lambda: "99.0.1", raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


# ---- The one that fits -----------------------------------------------------------------------------------------------


def test_names() -> None:
    assert torch_modules.tag("2.13.0+cpu") == "torch2_13"
    assert torch_modules.tag("2.6.0") == "torch2_6"
    assert torch_modules.engine_name("2.15.0a0+git1") == "libleapp_engine_torch2_15.so"
    with pytest.raises(ValueError, match="found 'main'"):
        torch_modules.tag("main")


def test_capture_is_the_module_of_this_torch() -> None:
    from leapp import _capture

    assert _capture is sys.modules["leapp._capture"] is leapp._capture is sys.modules[f"leapp._capture_{HERE}"]
    assert _capture.__name__ == "leapp._capture"
    assert leapp.NodeResult.__module__ == "leapp._capture"
    assert torch_modules.tag(_capture.built_for_torch) == torch_modules.tag(_capture.running_torch()) == HERE
    assert load_capture() is _capture


def test_a_torch_that_is_newer_than_tried_is_used_where_a_module_was_built(newer: ModuleType) -> None:
    assert load_capture() is newer


def test_the_engine_of_the_torch_that_is_installed(tmp_path: Path) -> None:
    empty, full = tmp_path / "empty", tmp_path / "full"
    empty.mkdir()
    full.mkdir()
    (full / "libleapp_engine_torch1_0.so").touch()
    assert torch_modules.find_engine([empty, full]) is None
    (full / torch_modules.engine_name(torch.__version__)).touch()
    assert torch_modules.find_engine([empty, full]) == full / f"libleapp_engine_{HERE}.so"


def test_what_was_tried_is_the_same_everywhere() -> None:
    header = (ROOT / "src/capture/hook/torch_version.h").read_text()
    lowest, highest = (f"{major}.{minor}" for major, minor in (torch_modules.LOWEST, torch_modules.HIGHEST))
    assert f'kLowestTorch = "{lowest}"' in header
    assert f'kHighestTorch = "{highest}"' in header
    page = (ROOT / "docs/reference/versions.md").read_text()
    tried = {match[1] for match in re.finditer(r"^\| (2\.\d+)\.\d+ \|", page, re.MULTILINE)}
    assert {lowest, highest} <= tried
    assert all(torch_modules.LOWEST <= torch_modules._minor(each) <= torch_modules.HIGHEST for each in tried)


# ---- None fits -------------------------------------------------------------------------------------------------------


def test_torch_is_too_old(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.5.1")
    assert message() == "capturing and exporting need torch 2.6 or newer, found 2.5.1: pip install --upgrade torch"


def test_nobody_built_for_this_torch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", NEWER)
    (folder / f"_capture_torch2_8{SUFFIX}").touch()
    (folder / f"_capture_torch2_10{SUFFIX}").touch()
    (folder / "_capture_torch99_0.cpython-39-x86_64-linux-gnu.so").touch()
    said = message()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"not built for torch {NEWER} with Python {python}" in said
    assert "built for torch: 2.8, 2.10; for torch 99.0 with cpython-39" in said
    assert said.endswith(f"build it with {torch_modules.build_command()}")


def test_nobody_built_at_all(folder: Path) -> None:
    assert "(built for torch: none)" in message()


def test_the_command_that_builds_in_a_checkout() -> None:
    command = torch_modules.build_command().strip("`")
    assert shlex.split(command) == ["make", "-C", str(ROOT), "torch-modules", f"PYTHON={sys.executable}"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(
        [*shlex.split(command), "--dry-run"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert f"scripts/torch-modules {sys.executable}" in done.stdout


def test_the_command_that_builds_where_it_was_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_modules, "__file__", str(tmp_path / "site-packages" / "leapp" / "torch_modules.py"))
    words = shlex.split(torch_modules.build_command().strip("`"))
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    assert words[-3:] == ["--no-binary", "leapp-cpp", "leapp-cpp"]


def test_a_module_that_does_not_load(tmp_path: Path) -> None:
    """Not a library; a library for something else. In a copy of the package: Python remembers what it has loaded."""
    package = tmp_path / "leapp"
    shutil.copytree(ROOT / "python" / "leapp", package, ignore=shutil.ignore_patterns("__pycache__"))
    program = """
import torch
torch.__version__ = "99.0.0"
from leapp import LeappImportError
try:
    from leapp import _capture
except LeappImportError as error:
    print(error)
"""
    target = package / f"_capture_torch99_0{SUFFIX}"
    real = Path(leapp._capture.__file__)
    for write in (lambda: target.write_bytes(b"no library"), lambda: shutil.copy(real, target)):
        write()
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        )
        (said,) = done.stdout.splitlines()
        assert said.startswith("leapp._capture_torch99_0 does not load with torch 99.0.0 ("), said
        assert "another C++ ABI; build it again with `" in said


def test_nothing_is_built_for_this_interpreter(tmp_path: Path) -> None:
    package = tmp_path / "leapp"
    shutil.copytree(ROOT / "python" / "leapp", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "_runtime.cpython-39-x86_64-linux-gnu.so").touch()
    program = (
        "import leapp\ntry:\n    leapp.InferenceManager\nexcept leapp.LeappImportError as error:\n    print(error)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    (said,) = done.stdout.splitlines()
    assert re.match(r"LEAPP is not built for Python 3\.\d+ \(built for: cpython-39\): build it with `", said), said


@pytest.mark.parametrize("wrong", ["built_for_torch", "running_torch"])
def test_a_module_that_was_built_for_another_torch(
    wrong: str, newer: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "98.1.0"
    monkeypatch.setattr(newer, wrong, other if wrong == "built_for_torch" else lambda: other)
    said = message()
    assert said.startswith("the file was built for torch "), said
    assert f"found {NEWER}: build it again with `" in said


def test_every_use_says_it(tmp_path: Path) -> None:
    """``import leapp`` works, and so does what needs no capture."""
    program = """
import torch
torch.__version__ = "98.7.6"
import leapp
from leapp import InferenceManager, annotate
assert not leapp.__version__ == ""
for use in (lambda: leapp.start("g"), lambda: leapp.stop(), lambda: annotate.module("n", torch.nn.ReLU())):
    try:
        use()
    except leapp.LeappImportError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(leapp.__file__).parents[1])},
    )
    said = done.stdout.splitlines()
    assert len(said) == 3
    assert all("not built for torch 98.7.6" in line for line in said)


# ---- Building --------------------------------------------------------------------------------------------------------


def configure(tmp_path: Path, *settings: str, path: str | None = None) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("CXX", "CC")}
    cmake, ninja = shutil.which("cmake"), shutil.which("ninja")
    assert cmake
    assert ninja
    if path is not None:
        environment["PATH"] = path
    command = [cmake, "-S", str(ROOT), "-B", str(tmp_path / "build"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    done = subprocess.run([*command, *settings], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode != 0
    return " ".join(done.stderr.split())


def test_no_compiler(tmp_path: Path) -> None:
    said = configure(tmp_path, path=str(tmp_path))
    assert "No C++ compiler: install g++ 12 or newer (Debian: apt install g++), or name one in CXX" in said


def fake_torch(tmp_path: Path, version: str) -> Path:
    root = tmp_path / "torch"
    (root / "lib").mkdir(parents=True)
    (root / "lib" / "libtorch_cpu.so").touch()
    (root / "version.py").write_text(f"__version__ = '{version}'\n")
    return root


def test_building_with_a_torch_that_is_too_old(tmp_path: Path) -> None:
    said = configure(tmp_path, f"-DLEAPP_TORCH_ROOT={fake_torch(tmp_path, '2.5.1+cu124')}")
    assert "Capture needs torch 2.6 or newer, found 2.5.1+cu124: pip install --upgrade torch" in said


def test_building_without_torch(tmp_path: Path) -> None:
    said = configure(tmp_path, f"-DLEAPP_TORCH_ROOT={tmp_path}")
    assert "No libtorch for" in said
    assert "run scripts/setup, set LEAPP_TORCH_ROOT, or turn LEAPP_BUILD_CAPTURE off" in said


def test_no_apt(tmp_path: Path) -> None:
    """Somewhere else than on Debian: said once, with what is needed, and the rest goes on."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT / "scripts", tree / "scripts")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in (
        "bash",
        "dirname",
        "mkdir",
        "touch",
        "cat",
        "env",
        "sed",
        "grep",
        "sort",
        "comm",
        "sha256sum",
        "basename",
    ):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    done = subprocess.run(
        ["scripts/setup", "--torch", "2.8.0"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tree,
        env={"PATH": str(tools), "PYTHON": "/nowhere/python"},
    )
    assert re.search(r"no apt here: install what these Debian packages hold: .*\bg\+\+", done.stderr), done.stderr


def test_a_version_of_torch_that_is_none() -> None:
    done = subprocess.run(["scripts/setup", "--torch", "new"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert '--torch: expected a version such as 2.8.0, found "new"' in done.stderr
