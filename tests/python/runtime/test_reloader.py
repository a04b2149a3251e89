# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Another bundle for a manager that is running."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from leapp import GraphConfigs, InferenceManager, NameMap, Reloader, TensorSemantics, annotate

JOINTS = ["hip", "knee", "ankle"]


def export(folder: Path, name: str, gain: float, *, backend: str = "onnx", size: int = 3, state: str = "n") -> Path:
    """action = gain * q, count = how many steps there were; 50 Hz."""
    leapp.start(name, save_path=folder)
    names = [None, JOINTS[:size]]
    for _ in range(2):
        q = annotate.input_tensors("policy", TensorSemantics("q", torch.ones(1, size), element_names=names))
        n = annotate.state_tensors("policy", {state: torch.zeros(1, 1)})
        annotate.update_state("policy", {state: n + 1})
        annotate.output_tensors(
            "policy",
            [TensorSemantics("action", q * gain, element_names=names), TensorSemantics("count", n + 1)],
            export_with=backend,
        )
    leapp.stop()
    leapp.compile_graph(visualize=False, graph_configs=GraphConfigs(frequency=50.0))
    return folder / name


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bundles")
    return {
        "one": export(folder, "one", 1.0),
        "two": export(folder, "two", 2.0),
        "jit": export(folder, "jit", 3.0, backend="jit"),
        "pt2": export(folder, "pt2", 4.0, backend="pt2"),
        "small": export(folder, "small", 2.0, size=2),
        "other": export(folder, "other", 5.0, state="m"),
    }


def reload(reloader: Reloader, bundle: Path) -> Any:
    reloader.request(bundle)
    report = reloader.wait(120)
    if report.state == "ready":
        reloader.swap_if_ready()
        report = reloader.wait(120, swapped=True)
    return report


def action(manager: InferenceManager) -> float:
    return float(manager({"policy/q": np.ones((1, 3), np.float32)})["policy/action"][0, 0])


def test_bundles_of_every_backend_take_each_others_place(bundles: dict[str, Path]) -> None:
    manager = InferenceManager(bundles["one"])
    names = NameMap(manager.input_ports[0], -1, ["ankle", "hip", "knee"])
    with Reloader(manager, state="keep") as reloader:
        assert reloader.report.state == "idle"
        assert not reloader.swap_if_ready()
        for step, (name, gain) in enumerate([("two", 2), ("jit", 3), ("pt2", 4), ("one", 1), ("two", 2)]):
            assert float(manager.run_policy(manager.zeros_input())["policy/count"]) == 2 * step + 1
            report = reload(reloader, bundles[name])
            assert (report.state, report.error, report.state_kept) == ("swapped", "", True)
            assert manager.model_path == str(bundles[name] / f"{name}.yaml")
            assert action(manager) == gain
            assert manager.nodes["policy"].backend == ("onnx" if name in ("one", "two") else name)
        assert reloader.swaps == 5
    outputs = manager({"policy/q": names.to_port(np.array([3.0, 1.0, 2.0]))})
    assert np.asarray(outputs["policy/action"]).tolist() == [[2.0, 4.0, 6.0]]
    with pytest.raises(RuntimeError, match="closed"):
        reloader.request(bundles["one"])


def test_state_that_is_another(bundles: dict[str, Path]) -> None:
    manager = InferenceManager(bundles["one"])
    manager(manager.zeros_input())
    with Reloader(manager, state="keep") as keeping:
        assert "the state is to be kept" in reload(keeping, bundles["other"]).error
    assert list(manager.state) == ["policy/n_in"]
    with Reloader(manager, state="keep_if_same", reset="zeros") as reloader:
        report = reload(reloader, bundles["other"])
        assert (report.state, report.state_kept) == ("swapped", False)
    assert manager.feedback_inputs == ["policy/m_in"]
    assert [port.name for port in manager.feedback_ports] == ["policy/m_in"]
    manager.set_input_value("policy", "m", np.full((1, 1), 10, np.float32))
    assert float(manager(manager.zeros_input())["policy/count"]) == 11
    with pytest.raises(KeyError, match="policy/n"):
        manager.set_input_value("policy", "n", np.zeros((1, 1), np.float32))


def test_what_does_not_fit_leaves_it_running(bundles: dict[str, Path], tmp_path: Path) -> None:
    manager = InferenceManager(bundles["one"])
    with Reloader(manager) as reloader:
        report = reload(reloader, bundles["small"])
        assert report.state == "failed"
        assert "policy/q: float32[1,3] in the running bundle, float32[1,2] in the new one" in report.error
        assert "nowhere" in reload(reloader, tmp_path / "nowhere").error
        assert action(manager) == 1
    with pytest.raises(ValueError, match="state: expected one of"):
        Reloader(manager, state="both")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="poll"):
        Reloader(manager, poll=float("nan"))
    with pytest.raises(ValueError, match="reset: expected one of"):
        Reloader(manager, reset="maybe")  # type: ignore[arg-type]


def test_trusted_keys(tmp_path: Path) -> None:
    one, two = export(tmp_path, "one", 1.0), export(tmp_path, "two", 2.0)
    leapp.keygen(tmp_path / "private.pem", tmp_path / "public.pem")
    leapp.sign(one, tmp_path / "private.pem", serial=2)
    manager = InferenceManager(one, trusted_keys=[tmp_path / "public.pem"])
    with Reloader(manager, trusted_keys=[tmp_path / "public.pem"]) as reloader:
        assert "found no manifest" in reload(reloader, two).error
        leapp.sign(two, tmp_path / "private.pem", serial=1)
        assert "serial 2 or later, found 1" in reload(reloader, two).error
        leapp.sign(two, tmp_path / "private.pem", serial=3)
        report = reload(reloader, two)
        assert (report.state, report.signature) == ("swapped", manager.signature)
        assert manager.signature is not None
        assert manager.signature.serial == 3


def test_a_watched_bundle(tmp_path: Path) -> None:
    bundle = export(tmp_path, "walk", 1.0)
    manager = InferenceManager(bundle)
    with Reloader(manager, watch=bundle, poll=0.01) as reloader:
        for gain in (2.0, 3.0):
            export(tmp_path, "walk", gain)
            end = time.monotonic() + 60
            while not reloader.swap_if_ready() and time.monotonic() < end:
                time.sleep(0.005)
            assert action(manager) == gain


def test_threads_that_share_a_manager(bundles: dict[str, Path]) -> None:
    manager = InferenceManager(bundles["one"])
    found: list[float] = []
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            try:
                found.append(action(manager))
            except RuntimeError as error:
                assert "swapped the bundle during this call" in str(error)  # noqa: PT017

    with Reloader(manager) as reloader:
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for name in ["two", "one"] * 5:
            assert reload(reloader, bundles[name]).state == "swapped"
        stop.set()
        for thread in threads:
            thread.join()
    assert set(found) <= {1.0, 2.0}


def test_python_ends_with_a_reloader_at_work(bundles: dict[str, Path]) -> None:
    code = f"""
import leapp
manager = leapp.InferenceManager({str(bundles["one"])!r})
reloader = leapp.Reloader(manager)
reloader.request({str(bundles["pt2"])!r})
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
