# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""InferenceManager: what goes in, what comes out, what is refused, and that state is untouched then."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Literal

import hand_made
import harness
import leapp
import numpy as np
import pytest
import torch
from harness import RecurrentByHand
from leapp import InferenceManager, annotate

X = torch.tensor([[1.0, -2.0, 0.5, 3.0]])


@pytest.fixture
def manager(tmp_path: Path) -> InferenceManager:
    return InferenceManager(hand_made.recurrent(tmp_path))


def test_names_and_descriptions(tmp_path: Path) -> None:
    path = hand_made.recurrent(tmp_path)
    manager = InferenceManager(str(path))
    assert manager.inputs == ["pre/x"]
    assert manager.outputs == ["post/y"]
    assert manager.feedback_inputs == ["policy/h_in"]
    assert list(manager.nodes) == ["pre", "policy", "post"]
    policy = manager.nodes["policy"]
    described = {"dtype": "float32", "shape": [1, 4], "type": "tensor"}
    assert policy.input_descriptions == [{"name": "x", **described}, {"name": "h_in", **described}]
    assert policy.output_descriptions == [{"name": "y", **described}, {"name": "h_out", **described}]
    assert (policy.name, policy.backend, policy.model_path) == ("policy", "onnx", str(path.parent / "policy.onnx"))
    assert "pre" in repr(manager)


def test_descriptions_say_what_the_yaml_says(tmp_path: Path) -> None:
    harness.run_example("semantics", tmp_path)
    written = harness.read_yaml(tmp_path / "semantics")["models"]["policy"]
    node = InferenceManager(tmp_path / "semantics").nodes["policy"]
    assert node.input_descriptions == written["inputs"]
    assert node.output_descriptions == written["outputs"]


def test_both_ways_to_call(manager: InferenceManager) -> None:
    loop = RecurrentByHand()
    for i in range(10):
        call = manager.run_policy if i % 2 else manager
        assert torch.equal(call({"pre/x": X * i})["post/y"], loop(X * i))


def test_mock_input_is_seeded_and_leaves_generators_alone(manager: InferenceManager) -> None:
    before = torch.get_rng_state(), np.random.get_state()[1].tobytes()
    first, same = manager.get_mock_input(seed=7), manager.get_mock_input(seed=7)
    assert torch.equal(first["pre/x"], same["pre/x"])
    unseeded = [manager.get_mock_input()["pre/x"] for _ in range(2)]
    assert not torch.equal(*unseeded)
    assert not torch.equal(first["pre/x"], manager.get_mock_input(seed=8)["pre/x"])
    after = torch.get_rng_state(), np.random.get_state()[1].tobytes()
    assert torch.equal(before[0], after[0])
    assert before[1] == after[1]


def test_mock_input_is_normal(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("n", {"x": torch.zeros(100_000), "half": torch.zeros(100_000, dtype=torch.float16)})
    annotate.output_tensors("n", {"y": x[0] + x[1]}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    for value in InferenceManager(tmp_path / "g").get_mock_input(seed=1).values():
        value = value.double()
        assert abs(value.mean().item()) < 0.02
        assert abs(value.std().item() - 1) < 0.02
        assert abs((value.abs() < 1).double().mean().item() - 0.6827) < 0.01


BAD: dict[str, tuple[Any, type[Exception], list[str]]] = {
    "unknown": ({"pre/x": X, "pre/z": X}, KeyError, ['"pre/z"', "pre/x"]),
    "inner": ({"pre/x": X, "post/x": X}, KeyError, ['"post/x"']),
    "feedback": ({"pre/x": X, "policy/h": X[0]}, ValueError, ["policy/h_in", "expected float32[1,4]"]),
    "feedback_twice": ({"pre/x": X, "policy/h": X, "policy/h_in": X}, ValueError, ["policy/h_in", "twice"]),
    "no_str": ({"pre/x": X, 3: X}, KeyError, ['"3"']),
    "dtype": ({"pre/x": X.double()}, ValueError, ["pre/x", "expected float32[1,4]", "found float64[1,4]"]),
    "integer": ({"pre/x": np.zeros((1, 4), np.uint32)}, ValueError, ["found uint32[1,4]"]),
    "complex": ({"pre/x": np.zeros((1, 4), np.complex64)}, ValueError, ["pre/x", "expected float32[1,4]"]),
    "complex_tensor": ({"pre/x": X * 1j}, ValueError, ["pre/x", "expected float32[1,4]"]),
    "byte_order": ({"pre/x": np.zeros((1, 4), ">f4")}, ValueError, ["'>f'"]),
    "shape": ({"pre/x": torch.zeros(1, 5)}, ValueError, ["expected float32[1,4]", "found float32[1,5]"]),
    "transposed": ({"pre/x": X.t()}, ValueError, ["found float32[4,1]"]),
    "rank": ({"pre/x": X[0]}, ValueError, ["expected float32[1,4]", "found float32[4]"]),
    "scalar": ({"pre/x": torch.tensor(1.0)}, ValueError, ["found float32[]"]),
    "list": ({"pre/x": [1.0, 2.0, 3.0, 4.0]}, TypeError, ["pre/x", "found list"]),
    "none": ({"pre/x": None}, TypeError, ["pre/x", "found None"]),
    "objects": ({"pre/x": np.array([[None] * 4])}, ValueError, ["pre/x", "expected float32[1,4]"]),
    "meta": ({"pre/x": torch.empty(1, 4, device="meta")}, ValueError, ["pre/x", "meta"]),
    "sparse": ({"pre/x": X.to_sparse()}, ValueError, ["pre/x"]),
    "no_dict": ([("pre/x", X)], TypeError, ["dict", "list"]),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_inputs_are_named_and_change_nothing(kind: str, manager: InferenceManager) -> None:
    inputs, exception, words = BAD[kind]
    loop = RecurrentByHand()
    assert torch.equal(manager({"pre/x": X})["post/y"], loop(X))
    for _ in range(2):
        with pytest.raises(exception) as failure:
            manager.run_policy(inputs)
        assert isinstance(failure.value, leapp.LeappError)
        for word in words:
            assert word in str(failure.value)
        assert "\n" not in str(failure.value)
    assert torch.equal(manager({"pre/x": X})["post/y"], loop(X))


def test_an_array_that_raises(manager: InferenceManager) -> None:
    class Broken:
        def __dlpack__(self, **_: Any) -> Any:
            raise BufferError("not today")

    with pytest.raises(ValueError, match="pre/x: this Broken cannot be read: BufferError: not today"):
        manager({"pre/x": Broken()})
    with pytest.raises(ValueError, match="Broken cannot be read"):
        manager({"pre/x": type("Broken", (), {"__dlpack__": lambda self, **_: 3})()})


def test_a_mapping_will_do(manager: InferenceManager) -> None:
    import collections
    import types

    assert torch.equal(manager(types.MappingProxyType({"pre/x": X}))["post/y"], RecurrentByHand()(X))
    manager.reset()
    assert torch.equal(manager(collections.OrderedDict({"pre/x": X}))["post/y"], RecurrentByHand()(X))


def test_a_state_under_its_short_name(tmp_path: Path) -> None:
    bundle = hand_made.HandMade(tmp_path)
    bundle.add(
        "n", "filter", [hand_made.port("x"), hand_made.port("h_in")], [hand_made.port("y"), hand_made.port("h_out")]
    )
    bundle.pipeline.update(inputs={"n": ["x", "h_in"]}, outputs={"n": ["y", "h_out"]})
    manager = InferenceManager(bundle.write())
    assert torch.equal(manager({"n/x": X, "n/h": X})["n/h_out"], X / 2 + X)
    with pytest.raises(ValueError, match="n/h_in is given twice"):
        manager({"n/x": X, "n/h": X, "n/h_in": X})


@pytest.mark.parametrize("engine", ["native", "onnxruntime"])
def test_a_failing_step_leaves_the_state(engine: Literal["native", "onnxruntime"], tmp_path: Path) -> None:
    manager = InferenceManager(hand_made.failing(tmp_path), engine=engine)
    good, bad = torch.tensor([0, 4]), torch.tensor([0, 5])
    first = manager({"policy/x": X, "pick/index": good})
    assert torch.equal(first["policy/y"], 2 * X)
    assert first["pick/y"].tolist() == [0, 40]
    for _ in range(3):
        with pytest.raises(RuntimeError, match=r"pick.*[Ii]ndic|pick.*out of") as failure:
            manager({"policy/x": X * 9, "pick/index": bad})
        assert isinstance(failure.value, leapp.LeappError)
    assert torch.equal(manager({"policy/x": X, "pick/index": good})["policy/y"], 2 * (X / 2 + X))


def test_set_a_feedback_input(manager: InferenceManager) -> None:
    loop = RecurrentByHand()
    for name in ("h_in", "h"):
        loop.h = torch.full((1, 4), 8.0)
        manager.set_input_value("policy", name, loop.h)
        for _ in range(3):  # for the next step; then the loop goes on by itself
            assert torch.equal(manager({"pre/x": X})["post/y"], loop(X))


def test_set_an_external_input(tmp_path: Path) -> None:
    manager = InferenceManager(hand_made.failing(tmp_path), missing="error")
    with pytest.raises(KeyError, match="missing: pick/index"):
        manager({"policy/x": X})
    manager.set_input_value("pick", "index", np.array([1, 2]))
    assert [manager({"policy/x": X})["pick/y"].tolist() for _ in range(2)] == [[10, 20]] * 2
    assert manager({"policy/x": X, "pick/index": torch.tensor([3, 3])})["pick/y"].tolist() == [30, 30]
    assert manager({"policy/x": X})["pick/y"].tolist() == [30, 30]  # it was replaced
    manager.set_input_value("policy", "x", X)
    assert manager({})["pick/y"].tolist() == [30, 30]


def test_what_cannot_be_set(manager: InferenceManager) -> None:
    loop = RecurrentByHand()
    assert torch.equal(manager({"pre/x": X})["post/y"], loop(X))
    for node, name in (("post", "x"), ("nobody", "x"), ("policy", "nothing"), ("post", "y")):
        with pytest.raises(KeyError, match=f'"{node}/{name}".*pre/x.*policy/h_in'):
            manager.set_input_value(node, name, X)
    with pytest.raises(ValueError, match=r"policy/h_in: expected float32\[1,4\], found float32\[4\]"):
        manager.set_input_value("policy", "h_in", X[0])
    with pytest.raises(ValueError, match=r"pre/x: expected float32\[1,4\], found int64\[1,4\]"):
        manager.set_input_value("pre", "x", X.long())
    with pytest.raises(TypeError, match="policy/h_in"):
        manager.set_input_value("policy", "h_in", None)
    assert torch.equal(manager({"pre/x": X})["post/y"], loop(X))


def test_reset(manager: InferenceManager) -> None:
    for mode, start in (("exported", [[1.0, 2.0, 3.0, 4.0]]), ("zeros", [[0.0] * 4]), (None, [[1.0, 2.0, 3.0, 4.0]])):
        manager({"pre/x": X})
        manager.reset(mode) if mode else manager.reset()
        loop = RecurrentByHand()
        loop.h = torch.tensor(start)
        assert torch.equal(manager({"pre/x": X})["post/y"], loop(X))
    with pytest.raises(ValueError, match='mode: expected one of "exported", "zeros", "first_frame"; found "ones"'):
        manager.reset("ones")  # type: ignore[arg-type]


def test_threads_take_turns(tmp_path: Path) -> None:
    """h = h/2 + x for x = 0 halves once a step, whoever asks: no step is lost and none is seen twice."""
    manager = InferenceManager(hand_made.failing(tmp_path))
    manager.set_input_value("policy", "h", torch.full((1, 4), 2.0**100))
    found: list[float] = []
    inputs = {"policy/x": np.zeros((1, 4), np.float32), "pick/index": np.array([1, 2])}

    def work() -> None:
        for _ in range(50):
            found.append(manager(inputs)["policy/y"][0, 0].item())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, reverse=True) == [2.0 ** (100 - i) for i in range(200)]


def test_other_threads_run_during_a_step(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("n", {"x": torch.ones(700, 700) / 700})
    y = x
    for _ in range(30):
        y = y @ x
    annotate.output_tensors("n", {"y": y}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False, validate=False)
    manager = InferenceManager(tmp_path / "g")
    turns, done = 0, threading.Event()

    def work() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=work)
    thread.start()
    before = turns
    manager({"n/x": torch.ones(700, 700) / 700})
    during = turns - before
    done.set()
    thread.join()
    assert during > 10  # with Python's lock held there would be one or two


def test_nothing_is_left_behind(manager: InferenceManager) -> None:
    inputs = {"pre/x": X}

    def run(times: int) -> None:
        for _ in range(times):
            manager(inputs)
            with pytest.raises(KeyError):
                manager({"pre/z": X})
            manager({"pre/x": X, "policy/h": manager.value_dict["policy"]["h"]})
        gc.collect()

    run(500)  # whatever Python and pytest keep from then on
    before = sys.getallocatedblocks()
    rounds = 2000
    run(rounds)
    assert sys.getallocatedblocks() - before < rounds / 2  # what is left behind is a block in each round, or more


def test_a_bundle_that_is_not_right(tmp_path: Path) -> None:
    path = hand_made.recurrent(tmp_path)
    with pytest.raises(OSError, match="nowhere"):
        InferenceManager(tmp_path / "nowhere.yaml")
    text = path.read_text()
    path.write_text(text.replace("policy.onnx", "policy.onnx\n      sha256sum: '00'"))
    with pytest.raises(ValueError, match="sha256"):
        InferenceManager(path)
    InferenceManager(path, verify_checksums=False)
    path.write_text(text.replace("policy/y:\n    - post/x", "policy/y:\n    - post/z"))
    with pytest.raises(ValueError, match="post/z"):
        InferenceManager(path)
    (tmp_path / "outside.onnx").write_bytes((path.parent / "policy.onnx").read_bytes())
    path.write_text(text.replace("policy.onnx", "../outside.onnx"))
    with pytest.raises(ValueError, match="outside"):
        InferenceManager(path)
    assert torch.equal(InferenceManager(path, allow_outside=True)({"pre/x": X})["post/y"], RecurrentByHand()(X))


def test_options(tmp_path: Path) -> None:
    path = hand_made.recurrent(tmp_path)
    manager = InferenceManager(path, threads=2, provider="cpu", optimisation="off", profile_prefix=tmp_path / "profile")
    assert torch.equal(manager({"pre/x": X})["post/y"], RecurrentByHand()(X))
    del manager
    gc.collect()
    assert list(tmp_path.glob("profile*.json"))
    assert torch.equal(InferenceManager(path, fuse=False)({"pre/x": X})["post/y"], RecurrentByHand()(X))
    with pytest.raises(ValueError, match='provider: expected one of "auto", "cpu", "cuda"; found "tpu"'):
        InferenceManager(path, provider="tpu")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="optimisation"):
        InferenceManager(path, optimisation="some")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads: expected 1 or more, found 0"):
        InferenceManager(path, threads=0)
    with pytest.raises(ImportError, match="option onnxruntime_library"):
        InferenceManager(path, engine="onnxruntime", onnxruntime_library=tmp_path)
    with pytest.raises(TypeError):
        InferenceManager(3)  # type: ignore[arg-type]


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python programs of docs/how_to/run_a_bundle.md, one after the other, on a bundle as the page assumes it."""
    leapp.start("walk", save_path=tmp_path)
    obs = annotate.input_tensors("policy", {"obs": torch.zeros(1, 48)})
    hidden = annotate.state_tensors("policy", {"hidden": torch.full((1, 32), 0.5)})
    frames = annotate.state_tensors("policy", {"frames": torch.zeros(1, 2, 48)})
    frames = torch.cat([frames[:, 1:], obs[:, None]], dim=1)
    annotate.update_state("policy", {"hidden": hidden + obs[:, :32], "frames": frames})
    annotate.output_tensors("policy", {"action": hidden[:, :12] * 2 + frames[:, 0, :12]}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).resolve().parents[3] / "docs" / "how_to" / "run_a_bundle.md"
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(block, names)
    assert names["action"].tolist() == [[1.0] * 12]
    assert names["manager"]({"policy/obs": torch.zeros(1, 48)})["policy/action"].tolist() == [[2.0] * 12]


KEPT = """
import sys, threading
import leapp
folder, own = sys.argv[1:]
def keep():
    sys.kept = leapp.InferenceManager(f"{folder}/g/g.yaml")
    sys.recorder = leapp.Recorder(sys.kept, f"{own}/run.mcap")
    sys.reloader = leapp.Reloader(sys.kept)
    sys.cycle = [sys.kept]; sys.cycle.append(sys.cycle)
"""
CAPTURED = """
import torch
leapp.start("h", save_path=own, verbose=False)
x = leapp.annotate.input_tensors("n", {"x": torch.ones(3)})
leapp.annotate.output_tensors("n", {"y": x * 2}, export_with="onnx")
leapp.stop()
sys.results = leapp.compile_graph(visualize=False)
leapp.start("unfinished", save_path=own, verbose=False)
sys.open = leapp.annotate.input_tensors("n", {"x": torch.ones(3)})
"""
ENDINGS = {
    "a manager alone": "keep()",
    "a daemon's objects": "t = threading.Thread(target=keep, daemon=True); t.start(); t.join()",
    "after capture, in the middle of a session": f"keep(){CAPTURED}",
    "before capture, in the middle of a session": f"{CAPTURED}keep()",
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    leapp.start("g", save_path=str(folder), verbose=False)
    x = annotate.input_tensors("n", {"x": torch.ones(3)})
    annotate.output_tensors("n", {"y": x * 2}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph()
    return folder


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_what_is_alive_when_python_ends_leaves_no_message(ending: str, exported: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KEPT + ending, str(exported), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line for line in done.stderr.splitlines() if not line.startswith("leapp: Bundle: ")] == []
