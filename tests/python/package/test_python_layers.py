# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Which packages of python/leapp may import which: running a bundle must not need capture, or torch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[3] / "python" / "leapp"

# Beside itself and the modules of the top level that import no package.
ALLOWED = {
    "capture": {"_capture"},
    "exporters": set(),
    "runtime": {"_runtime"},
    "fleet": {"_runtime", "runtime"},
}
SHARED = {"axes", "captured_output", "errors", "kinds", "quantities", "semantics", "torch_modules"}
WITH_TORCH = {"runtime/pt2.py"}  # imported for bundles that have such nodes


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "leapp":
            yield from (f"leapp.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def own_imports(file: Path) -> set[str]:
    """The packages and modules of leapp that a module imports, in functions too."""
    names = imports(ast.walk(ast.parse(file.read_text())))
    return {name.split(".")[1] for name in names if name.startswith("leapp.")}


def test_every_package_has_a_rule() -> None:
    folders = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert folders == {*ALLOWED, "utils"}


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_point_one_way(package: str) -> None:
    allowed = {package, *SHARED, *ALLOWED[package]}
    for file in (PACKAGE / package).rglob("*.py"):
        assert own_imports(file) <= allowed, (file, own_imports(file) - allowed)


def test_shared_modules_import_no_package() -> None:
    for name in SHARED:
        found = own_imports(PACKAGE / f"{name}.py")
        assert found <= SHARED, (name, found - SHARED)


@pytest.mark.parametrize("package", ["runtime", "fleet"])
def test_torch_is_imported_in_functions_only(package: str) -> None:
    for file in (PACKAGE / package).rglob("*.py"):
        if file.relative_to(PACKAGE).as_posix() not in WITH_TORCH:
            found = imports(ast.parse(file.read_text()).body)
            assert not any(name.split(".")[0] == "torch" for name in found), file
