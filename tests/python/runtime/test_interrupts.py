# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, timeouts and the end of the process, while models run."""

from __future__ import annotations

import sys
from pathlib import Path

import leapp
import numpy as np
import pytest
from ending_programs import run

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bundles/hostile"))
import attacks


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle that ends for small inputs only."""
    return attacks.loop_on_large(tmp_path_factory.mktemp("bundles") / "endless")


def test_a_step(endless: Path) -> None:
    found = run(
        """
manager = leapp.InferenceManager(bundle)
press()
try:
    manager.run_policy(large)
except KeyboardInterrupt:
    print("interrupted")
print(manager.run_policy(small)["policy/y"].tolist())
press()
try:
    manager.run_policy(large)
except KeyboardInterrupt:
    print("again")
""",
        endless,
    )
    assert found == "interrupted\n[1.0, 1.0, 1.0, 1.0]\nagain\n"


def test_a_load(tmp_path: Path) -> None:
    bundle = attacks.loop_on_data(tmp_path / "loop")
    script = """
press()
try:
    leapp.InferenceManager(bundle)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert run(script, bundle) == "interrupted\n"


def test_a_loop_of_steps(endless: Path) -> None:
    script = """
manager = leapp.InferenceManager(bundle)
press()
try:
    while True:
        manager.run_policy(small)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert run(script, endless) == "interrupted\n"


def test_a_handler_that_raises_nothing(endless: Path) -> None:
    """The step goes on until somebody means it."""
    script = """
seen = []
def handler(number, frame):
    seen.append(number)
    if len(seen) == 3:
        raise RuntimeError("enough")
signal.signal(signal.SIGINT, handler)
manager = leapp.InferenceManager(bundle)
for i in range(3):
    press(0.2 * (i + 1))
try:
    manager.run_policy(large)
except RuntimeError as problem:
    print(problem, len(seen))
"""
    assert run(script, endless) == "enough 3\n"


def test_without_ctrl_c_the_handler_is_as_before(endless: Path) -> None:
    script = """
manager = leapp.InferenceManager(bundle)
before = signal.getsignal(signal.SIGINT)
manager.run_policy(small)
assert signal.getsignal(signal.SIGINT) is before
signal.signal(signal.SIGINT, signal.SIG_IGN)
manager.run_policy(small)
signal.raise_signal(signal.SIGINT)
print("ignored")
"""
    assert run(script, endless) == "ignored\n"


def test_a_timeout(endless: Path) -> None:
    manager = leapp.InferenceManager(endless, timeout=0.3)
    small, large = ({"policy/x": np.full(4, value, np.float32)} for value in (1, 1000))
    with pytest.raises(TimeoutError, match=r"node policy: it took longer than the timeout of 0.3 s and was ended"):
        manager.run_policy(large)
    assert np.asarray(manager.run_policy(small)["policy/y"]).tolist() == [1, 1, 1, 1]
    with pytest.raises(leapp.LeappError):
        manager.run_policy(large)
    for wrong in (0, -1.0, float("nan"), "2"):
        with pytest.raises((ValueError, TypeError), match="timeout: expected a number"):
            leapp.InferenceManager(endless, timeout=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "raise SystemExit"])
def test_the_process_ends_while_a_thread_steps(endless: Path, ending: str) -> None:
    """Which was an abort: Python ends such a thread in the middle of a function that lets no exception out."""
    script = f"""
manager = leapp.InferenceManager(bundle, timeout=2)
def steps():
    while True:
        manager.run_policy(small)
def long_one():
    manager.run_policy(large)
for target in (steps, steps, long_one):
    threading.Thread(target=target, daemon=True).start()
time.sleep(0.3)
print("ends")
{ending}
"""
    assert run(script, endless) == "ends\n"
