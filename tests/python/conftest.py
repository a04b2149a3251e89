# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures; the helpers behind them are in support/harness.py."""

from __future__ import annotations

import gc
import importlib.metadata
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import device_mode
import harness
import pytest
import torch


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-operators",
        action="store_true",
        help="write docs/reports/operators.md from the operator sweeps of this run (run both sweeps, and whole)",
    )


def pytest_configure(config: pytest.Config) -> None:
    torch.set_num_threads(1)  # the tensors are tiny, and the machine is shared
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a script, for programs under test too
        signal.signal(signal.SIGINT, signal.default_int_handler)
    device_mode.begin()
    import leapp

    # A picture costs ten times what such a small graph does; test_pictures.py asks for them.
    defaults = leapp.compile_graph.__defaults__
    assert defaults is not None
    assert defaults[0] is True
    leapp.compile_graph.__defaults__ = (False, *defaults[1:])


_FEW_MODULES = 20
_frozen_modules = 0


def pytest_runtest_setup() -> None:
    """Capture asks the garbage collector who holds a tensor: 40 ms each time with a million objects in it.

    So those of libraries, of test modules and of thousands of tests are put aside, also where a test was the first to
    load a library. What tests make is looked at as ever.
    """
    global _frozen_modules
    if len(sys.modules) >= _frozen_modules + _FEW_MODULES:
        _frozen_modules = len(sys.modules)
        gc.collect()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest first, so that no worker is left alone with it at the end."""
    if device_mode.DEVICE:
        left_out = [item for item in items if item.get_closest_marker("host_only")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("host_only")]
    items.sort(key=lambda item: item.path.name != "test_properties.py")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not session.config.getoption("--write-operators"):
        return
    import operator_table

    results = session.config.stash.get(operator_table.RESULTS, {})
    found: dict[str, dict[str, str]] = {"operator": {}, "write": {}}
    for key, problem in results.items():
        kind, name = key.split(" ", 1)
        found[kind][name] = problem
    if len(found["operator"]) < 490 or len(found["write"]) < 400:
        raise pytest.UsageError("--write-operators: run both sweeps, and whole")
    rows = operator_table.onnx_rows(found["operator"])
    operator_table.write_page(operator_table.Page(found["operator"], found["write"], rows))


# What ONNX Runtime says when it has no kernel; of an older one, as Python 3.10 gets, that is no news of ours.
_NO_KERNEL = re.compile(
    r"NOT_IMPLEMENTED : (Could not find an implementation|Failed to find kernel)|X\.shape\[axis:\] must"
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    try:
        return (yield)
    except Exception as failure:
        pinned = (item.config.rootpath / "requirements" / "dev.txt").read_text().split()
        version = importlib.metadata.version("onnxruntime")
        if _NO_KERNEL.search(str(failure)) and f"onnxruntime=={version}" not in pinned:
            pytest.skip(f"ONNX Runtime {version} lacks a kernel")
        raise


@pytest.fixture(autouse=True)
def _no_session_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test inherits another's session."""
    yield
    import leapp

    if leapp._capture.hook_installed():
        harness.reset()


@pytest.fixture
def export(tmp_path: Path) -> Callable[..., harness.Exported]:
    def run(fn: harness.Function, *inputs: torch.Tensor) -> harness.Exported:
        return harness.export(fn, *inputs, save_path=tmp_path)

    return run


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., harness.Exported]:
    def run(fn: harness.Function, make_inputs: harness.Function, *seeds: int) -> harness.Exported:
        return harness.check(fn, make_inputs, seeds or (1, 2), save_path=tmp_path)

    return run


@pytest.fixture
def check_formula(tmp_path: Path) -> Callable[..., harness.Exported]:
    def run(fn: harness.Function, formula: harness.Function, *inputs: torch.Tensor, **kw: Any) -> harness.Exported:
        return harness.check_formula(fn, formula, *inputs, save_path=tmp_path, **kw)

    return run
