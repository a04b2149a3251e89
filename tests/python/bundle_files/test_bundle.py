# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What compile_graph writes: YAML, models, edges, log."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import leapp
import pytest
import torch
from bundle_nodes import finish, load, node, three_nodes
from harness import assert_same, read_log, read_yaml, warnings_in
from leapp import annotate
from torch import Tensor


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    leapp.start("g", save_path=str(tmp_path))
    return tmp_path / "g"


# ---- YAML ------------------------------------------------------------------------------------------------------------


def test_structure(folder: Path) -> None:
    three_nodes()
    found = finish(folder)
    assert list(found) == ["models", "pipeline", "system information"]
    assert list(found["models"]) == ["pre", "policy", "post"]
    assert found["models"]["pre"]["inputs"] == [{"name": "obs", "dtype": "float32", "shape": [1, 4], "type": "tensor"}]
    assert found["models"]["pre"]["outputs"] == [
        {"name": "features", "dtype": "float32", "shape": [1, 4], "type": "tensor"}
    ]
    assert found["models"]["policy"]["outputs"][0]["shape"] == [1, 2]
    for name, model in found["models"].items():
        content = (folder / f"{name}.pt").read_bytes()
        assert list(model) == ["inputs", "outputs", "parameters"]
        assert model["parameters"] == {
            "backend": "jit",
            "model_path": f"{name}.pt",
            "md5sum": hashlib.md5(content).hexdigest(),
            "sha256sum": hashlib.sha256(content).hexdigest(),
        }
    assert found["pipeline"] == {
        "data_flow": {"pre/features": ["policy/features"], "policy/raw": ["post/raw"]},
        "feedback_flow": {},
        "inputs": {"pre": ["obs"]},
        "outputs": {"post": ["action"]},
    }
    system = found["system information"]
    assert set(system) == {
        "python version",
        "torch version",
        "leapp version",
        "leapp config version",
        "cuda version",
        "os",
    }
    assert system["python version"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}")
    assert system["torch version"] == torch.__version__
    assert system["leapp config version"] == "1.1"
    assert sorted(path.name for path in folder.iterdir()) == ["g.yaml", "log.txt", "policy.pt", "post.pt", "pre.pt"]


def test_the_whole_pipeline_computes(folder: Path) -> None:
    three_nodes()
    finish(folder)
    obs = torch.tensor([[3.0, -1.0, 0.0, 5.0]])
    action = load(folder, "post")(load(folder, "policy")(load(folder, "pre")(obs)))
    assert_same([3 * torch.tanh(torch.tensor([[1.0, -1.0]]))], [action])


@pytest.mark.parametrize(
    "dtype",
    ["float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool"],
)
def test_dtypes_of_ports(dtype: str, folder: Path) -> None:
    kind = getattr(torch, dtype)
    x = torch.tensor([[1, 0], [1, 1]]).to(kind)
    node("n", lambda x: {"y": x.flip(0), "z": x.float()}, x=x)
    found = finish(folder)["models"]["n"]
    assert [port["dtype"] for port in found["inputs"] + found["outputs"]] == [dtype, dtype, "float32"]
    fresh = torch.tensor([[0, 1], [0, 0]])
    flipped = torch.tensor([[0, 0], [0, 1]])
    assert_same([flipped.to(kind), fresh.float()], load(folder, "n")(fresh.to(kind)))


def test_shapes_with_no_and_zero_sized_dimensions(folder: Path) -> None:
    node("n", lambda a, b: {"y": a * 2, "z": b * 2}, a=torch.tensor(3.0), b=torch.ones(0, 3))
    found = finish(folder)["models"]["n"]
    assert [port["shape"] for port in found["inputs"] + found["outputs"]] == [[], [0, 3], [], [0, 3]]
    assert_same([torch.tensor(8.0), torch.ones(0, 3)], load(folder, "n")(torch.tensor(4.0), torch.ones(0, 3)))


def test_one_output_is_a_tensor_several_are_a_tuple(folder: Path) -> None:
    node("one", lambda x: {"y": x * 2}, x=torch.ones(2))
    node("two", lambda x: {"y": x * 2, "z": x * 3}, x=torch.ones(2))
    finish(folder)
    assert isinstance(load(folder, "one")(torch.ones(2)), Tensor)
    assert isinstance(load(folder, "two")(torch.ones(2)), tuple)


def test_one_value_under_two_output_names(folder: Path) -> None:
    def fn(x: Tensor) -> dict[str, Tensor]:
        y = x * 2
        return {"y": y, "same": y}

    node("n", fn, x=torch.ones(2))
    finish(folder)
    assert_same([torch.tensor([6.0])] * 2, load(folder, "n")(torch.tensor([3.0])))


def test_an_input_may_be_returned_unchanged(folder: Path) -> None:
    node("n", lambda x, y: {"x": x, "y": y * 2}, x=torch.ones(2), y=torch.ones(2))
    finish(folder)
    assert_same([torch.tensor([3.0]), torch.tensor([8.0])], load(folder, "n")(torch.tensor([3.0]), torch.tensor([4.0])))


def test_a_node_without_a_model(folder: Path) -> None:
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    annotate.output_tensors("n", {"y": x * 2})
    leapp.stop()
    result = leapp.compile_graph().nodes["n"]
    assert (result.status, bool(result)) == ("skipped", True)
    parameters = read_yaml(folder)["models"]["n"]["parameters"]
    assert parameters == dict.fromkeys(("backend", "model_path", "md5sum", "sha256sum"))
    assert not (folder / "n.pt").exists()


@pytest.mark.parametrize("backend", ["jit", "jit-script", "jit-trace"])
def test_backend_names(backend: str, folder: Path) -> None:
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    annotate.output_tensors("n", {"y": x * 2}, export_with=backend)
    assert finish(folder)["models"]["n"]["parameters"]["backend"] == "jit"
    assert_same([torch.tensor([4.0])], [load(folder, "n")(torch.tensor([2.0]))])


def test_results(folder: Path) -> None:
    node("n", lambda x: {"y": x * 2, "z": x + 1}, x=torch.ones(2))
    leapp.stop()
    result = leapp.compile_graph(validate=True).nodes["n"]
    assert (result.status, result.samples, result.outputs) == ("passed", 1, 2)
    assert result


def test_a_failing_node_raises_after_everything_is_written(folder: Path) -> None:
    """NaN fails a node."""
    node("bad", lambda x: {"y": torch.log(x)}, x=-torch.ones(2))
    node("good", lambda x: {"y": x * 2}, x=torch.ones(2))
    leapp.stop()
    with pytest.raises(leapp.ValidationError, match="bad") as raised:
        leapp.compile_graph()
    assert "good" not in str(raised.value)
    assert (folder / "bad.pt").exists()
    assert (folder / "g.yaml").exists()
    results = leapp.compile_graph(strict=False)
    assert (results.nodes["bad"].status, bool(results["bad"])) == ("failed", False)
    assert "NaN" in results.nodes["bad"].message
    assert results.nodes["good"].status == "passed"
    assert "NaN" in read_log(folder)
    results = leapp.compile_graph(validate=False)
    assert all(results.values())


# ---- Pruning, names, log ---------------------------------------------------------------------------------------------


def test_unused_inputs_are_dropped_with_a_log_line(folder: Path) -> None:
    source = node("source", lambda x: {"v": x * 2}, x=torch.ones(2))
    node("n", lambda a, unused, b: {"y": a - b}, a=torch.ones(2), unused=source, b=torch.ones(2))
    found = finish(folder)
    assert [port["name"] for port in found["models"]["n"]["inputs"]] == ["a", "b"]
    assert found["pipeline"]["data_flow"] == {}
    assert found["pipeline"]["inputs"] == {"source": ["x"], "n": ["a", "b"]}
    assert found["pipeline"]["outputs"]["source"] == ["v"]
    lines = [line for line in read_log(folder).splitlines() if "'unused'" in line]
    assert len(lines) == 1
    assert re.search(r"\bn\b", lines[0])
    assert_same([torch.tensor([-2.0])], [load(folder, "n")(torch.tensor([3.0]), torch.tensor([5.0]))])


def test_a_computation_that_reaches_no_output_is_dropped(folder: Path) -> None:
    def fn(x: Tensor) -> dict[str, Tensor]:
        torch.linalg.inv(torch.eye(2) * x.sum())
        return {"y": x + 1}

    node("n", fn, x=torch.ones(2))
    finish(folder)
    assert "linalg" not in str(load(folder, "n").inlined_graph)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.randn(4))
        self.actor = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ELU(), torch.nn.Linear(8, 2))
        self.unused = torch.nn.Linear(100, 100)

    def forward(self, obs: Tensor) -> Tensor:
        return self.actor(obs - self.mean)


def test_parameters_keep_their_names(folder: Path) -> None:
    torch.manual_seed(0)
    net = Net()
    node("policy", lambda obs: {"action": net(obs)}, obs=torch.randn(1, 4))
    finish(folder)
    state = load(folder, "policy").state_dict()
    wanted = ["mean", "actor.0.weight", "actor.0.bias", "actor.2.weight", "actor.2.bias"]
    assert sorted(state) == sorted(wanted)
    for name in wanted:
        assert_same([net.state_dict()[name]], [state[name]])
    assert {name for name, _ in load(folder, "policy").named_parameters()} == set(wanted) - {"mean"}


class Shared(torch.nn.Module):
    """A layer that has two names, and one of scripted code, whose parts are in no dict."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.again = self.layer
        self.absent = None
        self.register_parameter("missing", None)
        self.scripted = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 2)))

    def forward(self, x: Tensor) -> Tensor:
        return self.scripted(self.again(self.layer(x)))


def test_shared_and_scripted_layers_keep_their_names(folder: Path) -> None:
    shared = Shared()
    node("n", lambda x: {"y": shared(x)}, x=torch.randn(1, 2))
    finish(folder)
    names = ["layer.weight", "layer.bias", "scripted.0.weight", "scripted.0.bias"]
    assert sorted(load(folder, "n").state_dict()) == sorted(names)


def test_two_modules_with_the_same_names(folder: Path) -> None:
    torch.manual_seed(0)
    first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    with torch.no_grad():
        node("n", lambda x: {"y": second(first(x))}, x=torch.randn(1, 2))
        finish(folder)
        assert len(load(folder, "n").state_dict()) == 4
        x = torch.tensor([[1.0, 2.0]])
        expected = (x @ first.weight.T + first.bias) @ second.weight.T + second.bias
        assert_same([expected], [load(folder, "n")(x)])


def test_a_weight_used_often_is_stored_once(folder: Path) -> None:
    weight = torch.randn(128, 128)

    def fn(x: Tensor) -> dict[str, Tensor]:
        for _ in range(8):
            x = torch.tanh(x @ weight) + weight[0]
        return {"y": x}

    node("n", fn, x=torch.randn(1, 128))
    finish(folder)
    assert (folder / "n.pt").stat().st_size < 1.5 * weight.nbytes


def test_a_view_of_a_big_tensor_does_not_bring_all_of_it(folder: Path) -> None:
    table = torch.randn(1000, 256)
    node("n", lambda x: {"y": x * table[3]}, x=torch.randn(256))
    finish(folder)
    assert (folder / "n.pt").stat().st_size < table.nbytes / 4
    assert_same([table[3]], [load(folder, "n")(torch.ones(256))])


def test_statistics(folder: Path) -> None:
    three_nodes()
    finish(folder)
    log = read_log(folder).lower()
    expected = {
        "computation nodes": 3,
        "dangling inputs": 1,
        "dangling outputs": 1,
        "internal connections": 2,
        "total edges": 4,
    }
    for what, count in expected.items():
        found = re.search(rf"{what}\D*(\d+)", log)
        assert found, f"{what!r} is not in the log"
        if what != "total edges":  # whether edges to the outside count is the log's business
            assert int(found[1]) == count, found[0]


def test_log_of_an_ordinary_run_has_no_warning(folder: Path) -> None:
    three_nodes()
    finish(folder)
    log = read_log(folder)
    assert log
    assert not warnings_in(log)
    assert "[error]" not in log


# ---- Files -----------------------------------------------------------------------------------------------------------


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != "log.txt"}


def test_a_second_compile_writes_the_same_bytes(folder: Path) -> None:
    three_nodes()
    finish(folder)
    first = files(folder)
    leapp.compile_graph()
    assert files(folder) == first


SCRIPT = """
import sys
import torch, leapp
from leapp import annotate
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ELU(), torch.nn.LSTM(8, 3))
leapp.start("g", save_path=sys.argv[1])
h = torch.zeros(1, 4)
for _ in range(2):
    x, h = annotate.input_tensors("n", {"x": torch.ones(1, 4), "h": h})
    y = net(x + h)[0]
    buffer = torch.zeros(3, 3)
    buffer[1] = y[0]
    h = annotate.output_tensors("n", {"y": buffer, "h_out": torch.tanh(h + x)}, export_with="jit")[1]
leapp.stop()
leapp.compile_graph()
"""


def test_another_process_writes_the_same_bytes(tmp_path: Path) -> None:
    found = []
    for i, seed in enumerate(("1", "2")):
        target = tmp_path / str(i)
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT, str(target)], check=True, env=environment)
        found.append(files(target / "g"))
    assert set(found[0]) == {"g.yaml", "n.pt", "g_initial_values.safetensors", "g.png", "g.html"}
    assert found[0] == found[1]


def test_foreign_files_stay_and_old_models_go(tmp_path: Path) -> None:
    folder = tmp_path / "g"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    (folder / "data").mkdir()
    (folder / "data" / "log.csv").write_text("1,2")
    (folder / "mine.pt").write_bytes(b"not of leapp")
    for name in ("old", "new"):
        leapp.start("g", save_path=str(tmp_path))
        node(name, lambda x: {"y": x * 2}, x=torch.ones(2))
        finish(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "data",
        "g.yaml",
        "log.txt",
        "mine.pt",
        "new.pt",
        "notes.txt",
    ]
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "data" / "log.csv").read_text() == "1,2"
    assert (folder / "mine.pt").read_bytes() == b"not of leapp"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g"], "nothing is left beside the folder"


def test_the_log_is_truncated_by_start(tmp_path: Path) -> None:
    for name in ("first_node", "second_node"):
        leapp.start("g", save_path=str(tmp_path))
        node(name, lambda x, _unused: {"y": x * 2}, x=torch.ones(2), left_out=torch.ones(2))
        finish(tmp_path / "g")
    log = read_log(tmp_path / "g")
    assert "second_node" in log
    assert "first_node" not in log


def test_models_load_without_leapp(folder: Path) -> None:
    node("n", lambda x: {"y": torch.relu(x) + torch.arange(3.0)}, x=torch.ones(3))
    finish(folder)
    program = (
        "import sys, torch; m = torch.jit.load(sys.argv[1]); y = m(torch.tensor([-1.0, 5.0, 1.0]));"
        "assert 'leapp' not in sys.modules; assert y.tolist() == [0.0, 6.0, 3.0], y"
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", program, str(folder / "n.pt")], check=True, env=environment)
