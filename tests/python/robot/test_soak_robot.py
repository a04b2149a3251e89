# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What a robot has around a step, for days: names, guards, loops, recorders, reloaders, threads and errors."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from leapp import Loop, NameMap, Recorder, Reloader, TensorSemantics, annotate
from leapp.robot import Tick
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bundles/hostile"))
import attacks
import record
from soaking import MOST_GROWTH_KB, ROUNDS, STEPS, open_things, stays_flat

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]
ROBOT = ["ankle", "hip", "knee"]
GUARDS = {"policy/q": {"non_finite": "hold"}, "policy/target": {"lower": -0.4, "upper": 0.4, "per_second": 10}}


def export(folder: Path, gain: float = 1.0) -> Path:
    """A policy with a GRU and three joints that have names, at 50 Hz."""
    torch.manual_seed(0)
    cell, head = nn.GRUCell(3, 8), nn.Linear(8, 3)
    names = [None, ["hip", "knee", "ankle"]]
    hidden = torch.zeros(1, 8)
    leapp.start("walk", save_path=str(folder))
    for _ in range(3):
        q = annotate.input_tensors("policy", TensorSemantics("q", torch.randn(1, 3), element_names=names))
        h = annotate.state_tensors("policy", {"h": hidden})
        with torch.no_grad():
            hidden = cell(q, h)
            target = torch.tanh(head(hidden)) * gain
        annotate.update_state("policy", {"h": hidden})
        semantics = TensorSemantics("target", target, element_names=names)
        annotate.output_tensors("policy", semantics, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False, graph_configs=leapp.GraphConfigs(frequency=50.0))
    return folder / "walk"


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("walk"))


def test_a_robot_in_c(walk: Path, tmp_path: Path) -> None:
    library = record.BUILD / "lib"
    command = ["cc", "-O2", "-std=c11", f"-I{ROOT / 'include'}", str(ROOT / "tests/bundles/soak/robot_soak.c")]
    command += ["-o", str(tmp_path / "soak"), f"-L{library}", "-lleapp_runtime", f"-Wl,-rpath,{library}"]
    subprocess.run(command, check=True)
    (tmp_path / "guards.yaml").write_text(json.dumps({"guards": GUARDS}))
    done = subprocess.run(
        [tmp_path / "soak", walk, str(STEPS), "/dev/null"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["calls"] == -(-STEPS // 200)
    assert found["written"] + found["dropped"] == found["steps"] >= STEPS
    assert found["written"] > 0
    assert found["guarded"] > 0
    assert found["compared"] >= 100
    assert found["growth"] < MOST_GROWTH_KB
    figures = {"rounds": STEPS, "growth in kB": found["growth"], "compared": found["compared"]}
    what = "steps from C, with names, guards, a recorder and a loop"
    record.record("soak", what, figures | {"CPU seconds": round(found["cpu"])})


def test_a_robot_in_python(walk: Path) -> None:
    manager = leapp.InferenceManager(walk, engine="native", timeout=60)
    fresh = leapp.InferenceManager(walk, engine="native")
    for each in (manager, fresh):
        each.set_guards(GUARDS)
    positions = NameMap(manager.input_ports[0], -1, ROBOT)
    targets = NameMap(manager.output_ports[0], -1, ROBOT)
    generator = np.random.default_rng(0)
    places = [generator.standard_normal(3) for _ in range(64)]
    each_round = STEPS // 500  # in a hundred rounds: Python takes its time
    with Recorder(manager, "/dev/null", overwrite=True) as recorder:

        def some(tick: Tick) -> bool:
            tick.set_input_time(tick.woken)
            for place in places:
                outputs = manager.run_policy({"policy/q": positions.to_port(place)})
                recorder.record(tick)
                targets.from_port(outputs["policy/target"])
            return (tick.number + 1) * len(places) < each_round

        def steps(_: int) -> bool:
            Loop(1e6).run(some)
            state = manager.state
            inputs = {"policy/q": positions.to_port(places[0])}
            found = manager.run_policy(inputs)["policy/target"]
            recorder.record()
            fresh.forget_last_good()
            fresh.run_policy({**inputs, **state})
            assert torch.equal(manager.state["policy/h_in"], fresh.state["policy/h_in"])
            return bool(np.isfinite(np.asarray(found)).all())

        stays_flat("steps from Python, with names, guards, a recorder and a loop", steps, 100, each_round)
    assert recorder.error is None
    assert recorder.summary.written + recorder.summary.dropped == recorder.summary.steps


def test_swaps(walk: Path, tmp_path: Path) -> None:
    """Good bundles, and between them half of one, a hostile one, one that is not there and the same again."""
    others = [walk, export(tmp_path, 0.5)]
    half = tmp_path / "half/walk"
    shutil.copytree(walk, half)
    model = half / "policy.onnx"
    model.write_bytes(model.read_bytes()[:100])
    bad = [
        half,
        attacks.ATTACKS["loop"].write(tmp_path / "loop"),
        tmp_path / "nothing",
        attacks.stateful(tmp_path / "s"),
    ]
    manager = leapp.InferenceManager(walk, engine="native")
    inputs = {"policy/q": np.full((1, 3), 0.2, np.float32)}
    expected = []
    for bundle in others:
        expected.append(np.asarray(leapp.InferenceManager(bundle, engine="native").run_policy(inputs)["policy/target"]))
    said: dict[int, str] = {}
    opened: list[dict[str, int]] = []
    with Reloader(manager) as reloader:

        def swap(i: int) -> bool:
            reloader.request(bad[i % len(bad)])
            report = reloader.wait(60)
            assert report.state == "failed"
            assert said.setdefault(i % len(bad), report.error) == report.error
            assert not reloader.swap_if_ready()
            reloader.request(others[i % 2])
            assert reloader.wait(60).state == "ready"
            assert reloader.swap_if_ready()
            assert reloader.wait(60, swapped=True).state == "swapped"
            assert np.array_equal(np.asarray(manager.run_policy(inputs)["policy/target"]), expected[i % 2])
            if i in (ROUNDS // 10, ROUNDS - 1):
                opened.append(open_things())
            return True

        stays_flat("bundles swapped in, and as many refused", swap, ROUNDS)
    assert opened[0] == opened[1]


def test_recordings(walk: Path, tmp_path: Path) -> None:
    manager = leapp.InferenceManager(walk, engine="native")
    manager.set_guards(GUARDS)
    inputs = {"policy/q": np.full((1, 3), 0.2, np.float32)}
    opened: list[dict[str, int]] = []

    def one(i: int) -> bool:
        file = tmp_path / "run.mcap"
        recorder = Recorder(manager, file, overwrite=i % 2 == 0, ring_bytes=1 << 16)
        for _ in range(10):
            manager.run_policy(inputs)
            recorder.record()
        if i % 3 == 0:
            del recorder  # nobody closes it
        else:
            recorder.close()
        assert file.read_bytes().endswith(b"\x89MCAP0\r\n")
        if i % 2 == 0:
            file.unlink()
        if i % 2 == 1:
            file.unlink()
        if i in (ROUNDS // 10, ROUNDS - 1):
            opened.append(open_things())
        return True

    stays_flat("recordings, begun and ended", one, ROUNDS)
    assert opened[0] == opened[1]


def errors(manager: leapp.InferenceManager) -> list[Callable[[], Any]]:
    good = np.ones((1, 3), np.float32)

    class Raises:
        def __dlpack__(self, **_: Any) -> Any:
            raise ValueError("mine")

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    class Used:
        capsule = np.ones((1, 3), np.float32).__dlpack__()

        def __dlpack__(self, **_: Any) -> Any:
            return Used.capsule

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    leapp.InferenceManager(manager.model_path).run_policy({"policy/q": Used()})  # the first may have it
    wrong = [
        *(
            np.ones((1, 3)),
            np.ones((1, 4), np.float32),
            np.float32(1),
            np.array(1, np.float32),
            None,
            [[1.0, 2.0, 3.0]],
        ),
        *(
            np.array([[1, 2, 3]], object),
            np.broadcast_to(np.float32(1), (1 << 20, 1 << 20)),
            b"x",
            np.ones((1, 3), ">f4"),
        ),
        *(torch.ones(1, 3, dtype=torch.float64), torch.ones(1, 3, device="meta"), Raises(), Used(), "text"),
    ]
    calls: list[Callable[[], Any]] = [lambda value=value: manager.run_policy({"policy/q": value}) for value in wrong]  # type: ignore[misc]
    keys: list[Any] = ["policy/none", "\ud800", 5, None, b"policy/q"]
    calls += [lambda key=key: manager.run_policy({key: good}) for key in keys]  # type: ignore[misc]
    calls += [
        lambda: manager.run_policy(None),  # type: ignore[arg-type]
        lambda: manager.run_policy({"policy/q": good, "policy/h": np.ones(5)}),
        lambda: manager.run_policy({"policy/q": np.full((1, 3), np.nan, np.float32)}),
        lambda: manager.set_input_value("policy", "q", np.ones(7)),
        lambda: manager.set_input_value("nobody", "q", good),
        lambda: manager.reset("sideways"),  # type: ignore[arg-type]
        lambda: manager.set_guards({"policy/q": {"lower": "low"}}),
        lambda: manager.set_last_good("policy/q", [float("nan")]),
        lambda: Loop(float("nan")),
        lambda: Loop(1e6).run(lambda _: 1 / 0),
    ]
    return calls


def test_errors(walk: Path) -> None:
    manager = leapp.InferenceManager(walk, engine="native")
    manager.set_guards({"policy/q": {"non_finite": "fail"}})
    calls = errors(manager)
    said: dict[int, str] = {}
    each = STEPS // 10_000

    def call(i: int) -> bool:
        for k in range(each):
            at = (i * each + k) % len(calls)
            with pytest.raises((leapp.LeappError, ZeroDivisionError)) as problem:
                calls[at]()
            assert said.setdefault(at, str(problem.value)) == str(problem.value)
        return True

    stays_flat("calls that raise, of every kind", call, 100, each)
    assert len(said) == len(calls)


def test_threads_that_come_and_go(walk: Path) -> None:
    shared = leapp.InferenceManager(walk, engine="native")
    inputs = {"policy/q": np.full((1, 3), 0.2, np.float32)}
    expected = np.asarray(leapp.InferenceManager(walk, engine="native").run_policy(inputs)["policy/target"])
    failures: list[BaseException] = []
    opened: list[dict[str, int]] = []

    def work(number: int) -> None:
        try:
            own = leapp.InferenceManager(walk, engine="native", timeout=60)
            for _ in itertools.repeat(None, 10):
                shared.run_policy(inputs)
                own.reset()
                assert np.array_equal(np.asarray(own.run_policy(inputs)["policy/target"]), expected)
            if number % 2 == 0:
                Loop(1e5).run(lambda tick: tick.number < 10)
        except BaseException as problem:
            failures.append(problem)

    def some(i: int) -> bool:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        if i in (ROUNDS // 20, ROUNDS // 2 - 1):
            opened.append(open_things())
        return True

    stays_flat("threads that load, step and end", some, ROUNDS // 2, 4)
    assert opened[0]["fd"] == opened[1]["fd"]
    assert opened[1]["task"] <= opened[0]["task"] + 1, "one that is gone may be listed for a moment"


def test_a_long_recording_is_replayed(walk: Path, tmp_path: Path) -> None:
    """With a fraction of its size in memory."""
    manager = leapp.InferenceManager(walk, engine="native")
    inputs = {"policy/q": np.full((1, 3), 0.2, np.float32)}
    steps = STEPS // 25
    file = tmp_path / "run.mcap"
    with Recorder(manager, file, ring_bytes=1 << 28) as recorder:
        for _ in range(steps):
            manager.run_policy(inputs)
            recorder.record()
    size = file.stat().st_size
    command = [str(record.BUILD / "bin/leapp"), "run", str(walk), "--engine", "native", "--replay", str(file), "--json"]
    # A child has the memory of its parent until it becomes another program: this one's is small.
    script = "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
    script += "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
    script += "print(used.ru_maxrss, used.ru_utime + used.ru_stime, file=sys.stderr); sys.exit(code)"
    done = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    memory, seconds = (float(word) for word in done.stderr.split())
    found = json.loads(done.stdout)
    assert found["steps"] == recorder.summary.written
    assert size > 100 * (1 << 20) or steps < 400_000
    assert memory < 64_000, f"{memory} kB for {size} bytes"
    figures = {"rounds": steps, "growth in kB": round(memory), "compared": found["steps"]}
    what = "steps replayed from one recording (the memory is all that the process has)"
    record.record("soak", what, figures | {"CPU seconds": round(seconds)})
