# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""How programs end, and what they fork, while loops, recorders and reloaders are alive."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import leapp
import numpy as np
import pytest
from ending_programs import run
from leapp.robot import Tick

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bundles/hostile"))
import attacks
import record


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle that ends for small inputs only."""
    return attacks.loop_on_large(tmp_path_factory.mktemp("bundles") / "endless")


@pytest.fixture(scope="module")
def stateful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return attacks.stateful(tmp_path_factory.mktemp("bundles") / "s")


def test_threads_that_are_in_loops(endless: Path, tmp_path: Path) -> None:
    """Which was an abort: the loop asked for Python's lock, and Python ended the thread for it."""
    script = """
manager = leapp.InferenceManager(bundle)
def steps(frequency):
    leapp.Loop(frequency).run(lambda tick: bool(manager.run_policy(small)))
def sums():
    leapp.Loop(100_000).run(lambda tick: sum(range(100)))
for frequency in (500, 1000, 10_000):
    threading.Thread(target=steps, args=(frequency,), daemon=True).start()
for _ in range(3):
    threading.Thread(target=sums, daemon=True).start()
time.sleep(0.3)
print("ends")
"""
    assert run(script, endless, tmp_path) == "ends\n"


@pytest.mark.parametrize(
    "last", ["", "threading.Thread(target=manager.run_policy, args=(large,), daemon=True).start()"]
)
def test_a_recorder_that_nobody_closed(endless: Path, tmp_path: Path, last: str) -> None:
    """All steps are in the file, unless a step goes on: then those of the chunks that were written."""
    script = f"""
manager = leapp.InferenceManager(bundle)
recorder = leapp.Recorder(manager, os.path.join(folder, "run.mcap"), flush_interval=0.05 if {bool(last)} else 100)
for _ in range(100):
    manager.run_policy(small)
    recorder.record()
time.sleep(0.3)
{last}
time.sleep(0.1)
print("ends")
"""
    assert run(script, endless, tmp_path) == "ends\n"
    written = (tmp_path / "run.mcap").read_bytes()
    assert written.endswith(b"\x89MCAP0\r\n") or last
    assert written.count(b"leapp.Step") > 0
    assert written.count(np.ones(4, np.float32).tobytes()) >= 100


def test_recorders_and_reloaders_in_cycles_and_threads(stateful: Path, tmp_path: Path) -> None:
    script = """
x = {"m/x": np.ones(4, np.float32)}
class Holder: pass
local = threading.local()
def one(number):
    holder = Holder()
    holder.manager = leapp.InferenceManager(bundle, engine="native")
    holder.recorder = leapp.Recorder(holder.manager, os.path.join(folder, f"{number}.mcap"))
    holder.reloader = leapp.Reloader(holder.manager)
    holder.self = holder
    holder.manager.run_policy(x)
    holder.recorder.record()
    local.holder = holder
    return holder
for number in range(20):
    one(number)
threads = [threading.Thread(target=one, args=(20 + number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
gc.collect()
kept = [one(100 + number) for number in range(3)]
print("ends")
"""
    assert run(script, stateful, tmp_path) == "ends\n"
    files = list(tmp_path.glob("*.mcap"))
    assert len(files) == 31
    assert all(file.read_bytes().endswith(b"\x89MCAP0\r\n") for file in files)


@pytest.mark.parametrize("engine", ["native", "onnxruntime"])
def test_threads_that_do_everything(stateful: Path, tmp_path: Path, engine: str) -> None:
    """Steps, loops, loads, requests and swaps, when Python ends in the middle of each."""
    script = f"""
x = {{"m/x": np.ones(4, np.float32)}}
manager = leapp.InferenceManager(bundle, engine="{engine}")
recorder = leapp.Recorder(manager, os.path.join(folder, "run.mcap"))
reloader = leapp.Reloader(manager, watch=bundle, poll=0.001)
threading.excepthook = lambda _: None  # the reloader is closed before they end
def steps():
    while True:
        manager.run_policy(x)
        recorder.record()
def loop():
    leapp.Loop(5000).run(lambda tick: bool(manager.run_policy(x)))
def loads():
    while True:
        leapp.InferenceManager(bundle, engine="{engine}").run_policy(x)
def swaps():
    while True:
        reloader.request(bundle)
        reloader.wait(1)
        reloader.swap_if_ready()
for target in (steps, loop, loads, swaps):
    threading.Thread(target=target, daemon=True).start()
time.sleep(0.1)
print("ends")
"""
    for _ in range(3):
        assert run(script, stateful, tmp_path) == "ends\n"
        (tmp_path / "run.mcap").unlink()


def test_children_of_fork(stateful: Path, tmp_path: Path) -> None:
    """They have no threads but their own, and waited for them to end, for ever."""
    script = """
x = {"m/x": np.ones(4, np.float32)}
manager = leapp.InferenceManager(bundle, engine="native", timeout=10)
recorder = leapp.Recorder(manager, os.path.join(folder, "run.mcap"))
reloader = leapp.Reloader(manager)
manager.run_policy(x)
recorder.record()
for _ in range(5):
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        manager.run_policy(x)
        assert not recorder.record()
        assert "forked" in recorder.error and "forked" in reloader.report.error
        sys.exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
manager.run_policy(x)
recorder.record()
recorder.close()
reloader.request(bundle)
print(reloader.wait(30).state, recorder.summary.written)
"""
    assert run(script, stateful, tmp_path) == "ready 2\n"


def test_a_fork_in_the_middle_of_another_threads_step(endless: Path, tmp_path: Path) -> None:
    """The child has the step's lock, and nobody who gives it back."""
    script = """
manager = leapp.InferenceManager(bundle)
threading.Thread(target=manager.run_policy, args=(large,), daemon=True).start()
time.sleep(0.2)
child = os.fork()
if child == 0:
    try:
        manager.run_policy(small)
    except RuntimeError as problem:
        os.write(1, str(problem).encode() + b"\\n")
    leapp.InferenceManager(bundle, engine="onnxruntime").run_policy(small)
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    found = run(script, endless, tmp_path)
    assert found == (
        "another thread was in the middle of a step when this process was forked: load the bundle again\n3\n"
    )


def test_ctrl_c_in_a_slow_loop(endless: Path, tmp_path: Path) -> None:
    script = """
press()
start = time.monotonic()
loop = leapp.Loop(0.01)
for _ in range(2):
    try:
        loop.run(lambda tick: True)
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start < 30)
    press()
"""
    assert run(script, endless, tmp_path) == "interrupted True\n" * 2


def test_a_slow_loop_is_stopped(endless: Path, tmp_path: Path) -> None:
    script = """
loop = leapp.Loop(0.01)
threading.Timer(0.2, loop.stop).start()
start = time.monotonic()
loop.run(lambda tick: True)
print("stopped", time.monotonic() - start < 30)
"""
    assert run(script, endless, tmp_path) == "stopped True\n"


def test_ctrl_c_while_a_bundle_is_loaded_that_never_is(endless: Path, tmp_path: Path) -> None:
    other = attacks.loop_on_data(tmp_path / "loop")
    script = f"""
manager = leapp.InferenceManager(bundle)
reloader = leapp.Reloader(manager)
reloader.request({str(other)!r})
press()
try:
    reloader.wait(50)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert run(script, endless, tmp_path) == "interrupted\n"


def test_ctrl_c_while_another_thread_has_its_turn(endless: Path, tmp_path: Path) -> None:
    script = """
manager = leapp.InferenceManager(bundle)
threading.Thread(target=manager.run_policy, args=(large,), daemon=True).start()
time.sleep(0.2)
press()
try:
    manager.run_policy(small)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert run(script, endless, tmp_path) == "interrupted\n"


def test_numpys_false_ends_a_loop() -> None:
    calls = []

    def call(_: Tick) -> np.bool_:
        calls.append(1)
        return np.bool_(len(calls) < 3)

    leapp.Loop(1000).run(call)
    assert len(calls) == 3


def test_a_loop_runs_once_at_a_time() -> None:
    loop = leapp.Loop(1000)

    def call(_: Tick) -> bool:
        with pytest.raises(RuntimeError, match="running already"):
            loop.run(lambda _: False)
        return False

    loop.run(call)
    loop.run(lambda _: False)
    assert loop.statistics.calls == 2


def test_keys_and_errors_that_are_no_utf8(stateful: Path) -> None:
    """Which was a null pointer."""
    manager = leapp.InferenceManager(stateful, engine="native")

    class Unspeakable:
        def __str__(self) -> str:
            raise ValueError

        def __dlpack__(self, **_: object) -> None:
            raise ValueError("\ud800")

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    for key, said in (("\ud800", r"\\ud800"), (5, '"5"'), (Unspeakable(), "Unspeakable")):
        with pytest.raises(KeyError, match=said):
            manager.run_policy({key: np.ones(4, np.float32)})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match=r"this Unspeakable cannot be read: ValueError: \\ud800"):
        manager.run_policy({"m/x": Unspeakable()})
    for mode, error in (("\ud800", ValueError), (None, TypeError), (5, TypeError)):
        with pytest.raises(error, match="mode: expected"):
            manager.reset(mode)  # type: ignore[arg-type]


def test_a_manager_is_not_copied(stateful: Path) -> None:
    manager = leapp.InferenceManager(stateful, engine="native")
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"cannot be pickled or copied; load .* again"):
            attempt(manager)


def test_the_longest_timeout_is_one(stateful: Path) -> None:
    manager = leapp.InferenceManager(stateful, engine="native", timeout=9e18)
    manager.run_policy({"m/x": np.ones(4, np.float32)})


def test_a_program_in_c_that_ends(stateful: Path, tmp_path: Path) -> None:
    """Which ended in OpenSSL: it had cleaned up while a thread computed a checksum."""
    library = record.BUILD / "lib"
    root = Path(__file__).resolve().parents[3]
    command = ["cc", "-std=gnu11", f"-I{root / 'include'}", str(root / "tests/bundles/soak/ends.c"), "-pthread"]
    command += ["-o", str(tmp_path / "ends"), f"-L{library}", "-lleapp_runtime", f"-Wl,-rpath,{library}"]
    subprocess.run(command, check=True)
    for _ in range(20):
        done = subprocess.run(
            [tmp_path / "ends", stateful, tmp_path / "run.mcap"], capture_output=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
