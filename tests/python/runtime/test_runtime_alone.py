# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""InferenceManager in processes of their own: without torch, with an older one, with nodes that need it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import bundle_runner
import hand_made
import harness
import leapp
import pytest
import torch
from leapp import InferenceManager, annotate

PEER = hand_made.MODELS.parent / "peer"
NO_TORCH = """
import sys

class NoTorch:
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, NoTorch())
"""


def run(program: str, *arguments: str | Path, python: str | Path = sys.executable, **environment: str) -> str:
    everything = {**os.environ, "PYTHONPATH": str(Path(leapp.__file__).parents[1]), **environment}
    command = [str(python), "-W", "error", "-c", program, *(str(each) for each in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=everything)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_importing_brings_neither_torch_nor_numpy() -> None:
    run("""
import sys
import leapp
from leapp import InferenceManager
assert not {"torch", "numpy", "onnxruntime", "leapp._capture"} & set(sys.modules), sorted(sys.modules)
assert "InferenceManager" in dir(leapp)
""")


def test_numpy_arrays_when_torch_is_not_loaded(tmp_path: Path) -> None:
    """Nothing hides torch here: it is not imported, and so nothing is made with it until somebody imports it."""
    run(
        """
import sys
import numpy as np
from leapp import InferenceManager
manager = InferenceManager(sys.argv[1])
inputs = manager.get_mock_input(seed=3)
x = inputs["pre/x"]
assert type(x) is np.ndarray and x.dtype == np.float32 and x.shape == (1, 4)
found = manager(inputs)["post/y"]
assert type(found) is np.ndarray and found.flags.owndata and found.flags.writeable and found.flags.c_contiguous
assert np.array_equal(found, np.array([[1, 2, 3, 4]], np.float32) / 2 + (2 * x + 1))
kept = found.copy()
manager(inputs)
assert np.array_equal(found, kept)
assert "torch" not in sys.modules
import torch
assert type(manager(inputs)["post/y"]) is torch.Tensor
assert torch.equal(manager.get_mock_input(seed=3)["pre/x"], torch.from_numpy(x))
""",
        hand_made.recurrent(tmp_path),
    )


def test_bfloat16_without_torch(tmp_path: Path) -> None:
    run(
        NO_TORCH
        + """
import numpy as np
from leapp import InferenceManager
manager = InferenceManager(sys.argv[1])
ports = {port["name"]: port for port in manager.nodes["node"].input_descriptions}
types = {name: "uint16" if name == "bfloat16_in" else port["dtype"] for name, port in ports.items()}
inputs = {f"node/{name}": np.zeros((2, 3), dtype) for name, dtype in types.items()}
for call in (manager.get_mock_input, lambda: manager(inputs)):
    try:
        call()
    except ValueError as error:
        assert "bfloat16" in str(error), error
    else:
        raise AssertionError
""",
        hand_made.every_type(tmp_path),
    )


@pytest.mark.parametrize("backend", ["jit", "pt2"])
def test_nodes_that_need_torch_say_so(backend: str, tmp_path: Path) -> None:
    export_two_nodes(tmp_path, backend)
    run(
        NO_TORCH
        + """
from leapp import InferenceManager, LeappError
try:
    InferenceManager(sys.argv[1])
except ImportError as error:
    assert isinstance(error, LeappError)
    assert "torch" in str(error) and "'onnx'" in str(error) and sys.argv[2] in str(error), error
else:
    raise AssertionError
""",
        tmp_path / "g",
        f"'{backend}'",
    )


def test_torch_is_imported_for_nodes_that_need_it() -> None:
    run(
        """
import sys
import numpy as np
from leapp import InferenceManager
manager = InferenceManager(sys.argv[1])
assert "torch" in sys.modules
assert type(manager({"my_node/input": np.zeros(3, np.float32)})["my_node/computed"]) is sys.modules["torch"].Tensor
""",
        PEER / "static_example",
    )


def export_two_nodes(folder: Path, backend: str) -> None:
    """h = tanh(x + h), fed back; z = 2h by ONNX."""
    leapp.start("g", save_path=folder)
    h = torch.zeros(1, 4)
    for i in range(2):
        x, h = annotate.input_tensors("a", {"x": torch.full((1, 4), 0.5 + i), "h": h})
        h = annotate.output_tensors("a", {"h_out": torch.tanh(x + h)}, export_with=backend)
        y = annotate.input_tensors("b", {"y": h})
        annotate.output_tensors("b", {"z": y * 2}, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False)


def test_pt2_nodes(tmp_path: Path) -> None:
    export_two_nodes(tmp_path, "pt2")
    manager = InferenceManager(tmp_path / "g")
    assert manager.feedback_inputs == ["a/h"]
    h = torch.zeros(1, 4)
    for step in range(100):
        inputs = manager.get_mock_input(seed=step)
        h = torch.tanh(inputs["a/x"] + h)
        harness.assert_same([2 * h], [manager(inputs)["b/z"]])
    manager.reset("zeros")
    with torch.inference_mode():
        harness.assert_same([2 * torch.tanh(torch.ones(1, 4))], [manager({"a/x": torch.ones(1, 4)})["b/z"]])


def test_a_pt2_program_of_other_ports(tmp_path: Path) -> None:
    export_two_nodes(tmp_path, "pt2")
    yaml = tmp_path / "g" / "g.yaml"
    text = yaml.read_text()
    (tmp_path / "g" / "a.pt2").write_bytes(b"not a program")
    with pytest.raises(ValueError, match="sha256"):
        InferenceManager(yaml)
    with pytest.raises(ValueError, match=r"cannot load models.a \(a.pt2\)"):
        InferenceManager(yaml, verify_checksums=False)
    export_two_nodes(tmp_path, "pt2")
    wider = re.sub(r"(name: x\b[^}]*?shape: )\[1, 4\]", r"\1[2, 4]", text, count=1, flags=re.DOTALL)
    assert wider != text
    yaml.write_text(wider)
    with pytest.raises(RuntimeError, match=r"node a: cannot run models\.a"):
        InferenceManager(yaml)


def test_cpp_says_that_pt2_is_for_python(tmp_path: Path) -> None:
    export_two_nodes(tmp_path, "pt2")
    program = bundle_runner.BUILD / "tests" / "runtime_steps" / "step_bundle"
    done = subprocess.run([program, tmp_path / "g", "-", "-"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    for word in ("node a", "pt2", "InferenceManager", "'onnx'"):
        assert word in done.stderr


def test_a_torch_without_the_fast_exchange(tmp_path: Path) -> None:
    """As torch was before 2.10: arrays go through capsules."""
    run(
        """
import sys
import torch
del torch.Tensor.__dlpack_c_exchange_api__
from leapp import InferenceManager
manager = InferenceManager(sys.argv[1])
x = manager.get_mock_input(seed=1)["pre/x"]
expected = torch.tensor([[1.0, 2, 3, 4]]) / 2 + (2 * x + 1)
assert torch.equal(manager({"pre/x": x.clone()})["post/y"], expected)
manager.reset()
assert torch.equal(manager({"pre/x": x.t().contiguous().t()})["post/y"], expected)
manager.reset()
assert torch.equal(manager({"pre/x": x.clone().requires_grad_()})["post/y"], expected)
manager.reset()
assert torch.equal(manager({"pre/x": torch._neg_view(-x)})["post/y"], expected)
""",
        hand_made.recurrent(tmp_path),
    )


def test_a_venv_without_torch(tmp_path: Path) -> None:
    """A real one, with NumPy and ONNX Runtime: made of links, since they are installed here already."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = tmp_path / "venv" / "lib" / version / "site-packages"
    for name in ("numpy", "numpy.libs", "onnxruntime"):
        source = Path(sysconfig.get_path("purelib")) / name
        if source.exists():
            (packages / name).symlink_to(source)
    bundle = hand_made.recurrent(tmp_path)
    found = run(
        """
import importlib.util
import sys
assert importlib.util.find_spec("torch") is None
import numpy as np
import leapp
manager = leapp.InferenceManager(sys.argv[1])
print(manager({"pre/x": np.ones((1, 4), np.float32)})["post/y"].tolist())
manager = leapp.InferenceManager(sys.argv[2])
for i in range(100):
    print(manager({"policy/obs": np.full((1, 16), i / 50, np.float32)})["policy/action"].tolist())
try:
    leapp.start("x")
except ImportError as error:
    assert "torch" in str(error)
""",
        bundle,
        PEER / "stateful_gru",
        python=tmp_path / "venv" / "bin" / "python",
    ).splitlines()
    assert found[0] == "[[3.5, 4.0, 4.5, 5.0]]"
    manager = InferenceManager(PEER / "stateful_gru")
    expected = [manager({"policy/obs": torch.full((1, 16), i / 50)})["policy/action"].tolist() for i in range(100)]
    assert found[1:] == [str(each) for each in expected]


def test_no_onnxruntime_names_three_ways_out(tmp_path: Path) -> None:
    run(
        """
import sys

class NoOnnxRuntime:
    def find_spec(self, name, path, target=None):
        if name == "onnxruntime":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoOnnxRuntime())
from leapp import InferenceManager
try:
    InferenceManager(sys.argv[1], engine="onnxruntime")
except ImportError as error:
    for word in ("pip install onnxruntime", "LEAPP_ONNXRUNTIME", "onnxruntime_library"):
        assert word in str(error), error
else:
    raise AssertionError
manager = InferenceManager(sys.argv[1])  # LEAPP's own engine needs none
assert [report.native for report in manager.engines] == [True]
""",
        hand_made.recurrent(tmp_path),
        LEAPP_ONNXRUNTIME="",
    )


def test_leapps_own_engine_loads_no_onnxruntime(tmp_path: Path) -> None:
    """Although there is one: nobody needs it."""
    run(
        """
import sys
from leapp import InferenceManager
manager = InferenceManager(sys.argv[1])
manager(manager.get_mock_input(seed=1))
assert [report.native for report in manager.engines] == [True]
assert "onnxruntime" not in open("/proc/self/maps").read()
InferenceManager(sys.argv[1], engine="onnxruntime")
assert "onnxruntime" in open("/proc/self/maps").read()
""",
        hand_made.recurrent(tmp_path),
    )
