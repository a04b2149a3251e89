# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that have tensors on a device, on several, and on the CPU beside these."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import annex
import bundle_runner
import harness
import leapp
import pytest
import torch
from leapp import annotate
from torch import Tensor, nn

ANNEX = torch.device("annex:0")
OTHER = torch.device("annex:1")


def obs(*shape: int, seed: int = 0, device: Any = ANNEX) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(device)


def code_of(folder: Path, node: str = "node") -> str:
    with zipfile.ZipFile(folder / f"{node}.pt") as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist() if name.endswith(".py"))


def made_here(x: Tensor) -> Tensor:
    return (
        x + torch.zeros(3, device=x.device) + torch.arange(3, device=x.device) + torch.full((3,), 2.0, device=x.device)
    )


def large(x: Tensor) -> Tensor:
    grid = torch.zeros(600, 600, device=x.device)  # too large to be kept as it is
    grid[:2, :3] += x
    return grid[:4, :4] + torch.linspace(0, 1, 4, device=x.device)


def moved(x: Tensor) -> Tensor:
    y = (x * 2).cpu()
    table = torch.tensor([1.0, 10.0, 100.0])
    return (y * table).to(ANNEX) + x.to("cpu").to(x.device) + x.to(OTHER).to(ANNEX)


def noise(x: Tensor) -> Tensor:
    return x + torch.rand_like(x, device="cpu").to(x.device) * 0


def bits(x: Tensor) -> Tensor:
    return x.view(torch.int32) & 0x7FFFFFFF


def pinned(x: Tensor) -> Tensor:
    scale = torch.tensor([1.0, 2.0, 3.0], pin_memory=True)
    return x * scale.to(x.device, non_blocking=True) + torch.zeros(3, pin_memory=True).to(x.device)


def conditional(x: Tensor) -> Tensor:
    return torch.where(x > 0, torch.ones((), device=x.device), x.new_full((1,), -1.0))


@pytest.mark.parametrize("program", [made_here, large, moved, noise, bits, pinned, conditional])
def test_models_run_wherever_they_are_loaded(program: Callable[[Tensor], Tensor], tmp_path: Path) -> None:
    exported = harness.export(program, obs(2, 3), save_path=tmp_path)
    assert "annex" not in code_of(exported.folder)
    fresh = obs(2, 3, seed=1)
    harness.assert_same([program(fresh)], exported(fresh))
    module = torch.jit.load(str(exported.folder / "node.pt"), map_location=OTHER)
    for _ in range(3):  # the executor runs other code from the second call on
        with torch.no_grad():
            found = module(fresh.to(OTHER))
        assert found.device == OTHER
        harness.assert_same([program(fresh)], [found])


def test_a_model_of_the_cpu_can_be_loaded_elsewhere(tmp_path: Path) -> None:
    exported = harness.export(large, obs(2, 3, device="cpu"), save_path=tmp_path)
    module = torch.jit.load(str(exported.folder / "node.pt"), map_location=ANNEX)
    fresh = obs(2, 3, seed=1)
    harness.assert_same([large(fresh)], [module(fresh)])


@pytest.mark.parametrize("backend", ["jit", "onnx", "onnx-dynamo", "pt2"])
def test_every_backend_is_written_for_the_cpu(backend: str, tmp_path: Path) -> None:
    policy = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).to(ANNEX)
    leapp.start("graph", save_path=tmp_path)
    with torch.no_grad():
        x = annotate.input_tensors("policy", {"x": obs(1, 3)})
        y = policy(x) + torch.arange(2, device=x.device)
        annotate.output_tensors("policy", {"y": y}, export_with=backend)
    leapp.stop()
    leapp.compile_graph()
    log = harness.read_log(tmp_path / "graph")
    assert "node 'policy' was captured on annex:0; its model is written for the CPU" in log
    assert harness.warnings_in(log) == []
    manager = leapp.InferenceManager(tmp_path / "graph" / "graph.yaml")
    fresh = obs(1, 3, seed=2)
    found = manager({"policy/x": fresh})["policy/y"]
    assert found.device == torch.device("cpu")
    with torch.no_grad():
        harness.assert_same([policy(fresh) + torch.arange(2, device=ANNEX)], [found], rtol=1e-4, atol=1e-5)


class Filter(nn.Module):
    """State on the device, written in place; a counter, made in the first call; a table on the CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.full((1, 3), 0.5))
        self.table = torch.tensor([[1.0, 2.0, 3.0]])
        self.count: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.count is None:
            self.count = torch.zeros(1, device=x.device)
        self.mean.mul_(0.5).add_(x, alpha=0.5)
        self.count += 1
        return self.mean * self.table.to(x.device) + self.count


def test_state_begins_as_it_lay_on_the_device(tmp_path: Path) -> None:
    policy, twin = Filter().to(ANNEX), Filter().to(ANNEX)
    leapp.start("graph", save_path=tmp_path)
    for i in range(4):
        x = annotate.input_tensors("policy", {"x": obs(1, 3, seed=i)})
        annotate.output_tensors("policy", {"y": policy(x)}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    bundle = bundle_runner.Bundle(tmp_path / "graph")
    starts = bundle_runner.read_safetensors(tmp_path / "graph" / "graph_initial_values.safetensors")
    assert [value.tolist() for name, value in starts.items() if "mean" in name] == [[[0.5] * 3]]
    for i in range(5):
        x = obs(1, 3, seed=10 + i)
        harness.assert_same([twin(x)], [bundle.step(x=x)["policy/y"]])


def pipeline(first: Tensor, policy: nn.Module, backend: str = "jit") -> Tensor:
    """Pre-processing on the CPU, the policy on the device, post-processing on the CPU, NumPy in the end."""
    raw = annotate.input_tensors("pre", {"raw": first})
    features = annotate.output_tensors("pre", {"features": raw * 2 + 1}, export_with=backend)
    x = annotate.input_tensors("policy", {"x": features.to(ANNEX, non_blocking=True)})
    action = annotate.output_tensors("policy", {"action": policy(x)}, export_with=backend)
    command = annotate.input_tensors("post", {"command": action.detach().cpu()})
    return annotate.output_tensors("post", {"torque": command.clamp(-1, 1) * 10}, export_with=backend)


@pytest.mark.parametrize("backend", ["jit", "onnx"])
def test_edges_survive_the_way_to_a_device_and_back(backend: str, tmp_path: Path) -> None:
    policy = nn.Linear(3, 2).to(ANNEX)
    leapp.start("graph", save_path=tmp_path)
    with torch.no_grad():
        for i in range(2):
            pipeline(obs(1, 3, seed=i, device="cpu"), policy, backend).numpy()
    leapp.stop()
    leapp.compile_graph()
    folder = tmp_path / "graph"
    assert harness.warnings_in(harness.read_log(folder)) == []
    assert harness.read_yaml(folder)["pipeline"]["data_flow"] == {
        "pre/features": ["policy/x"],
        "policy/action": ["post/command"],
    }
    fresh = obs(1, 3, seed=7, device="cpu")
    with torch.no_grad():
        expected = pipeline(fresh, policy)
    found = bundle_runner.Bundle(folder).step(raw=fresh)
    harness.assert_same([expected], [found["post/torque"]], rtol=1e-4, atol=1e-5)


def test_numpy_of_a_copy_of_the_cpus_goes_on_in_the_node(tmp_path: Path) -> None:
    leapp.start("graph", save_path=tmp_path)
    x = annotate.input_tensors("node", {"x": obs(1, 3)})
    y = torch.from_numpy(x.cpu().numpy() * 2).to(ANNEX) + x
    annotate.output_tensors("node", {"y": y}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    found = leapp.InferenceManager(tmp_path / "graph" / "graph.yaml")({"node/x": torch.ones(1, 3)})
    assert found["node/y"].tolist() == [[3.0] * 3]


def test_a_copy_under_way_is_waited_for(tmp_path: Path) -> None:
    """What a node is given may not have come from the device yet: samples would hold what lay there before."""
    leapp.start("graph", save_path=tmp_path)
    for i in range(3):
        sensed = obs(1, 3, seed=i) * 2
        late = sensed.to("cpu", non_blocking=True)
        x = annotate.input_tensors("node", {"x": late})
        torch.annex.synchronize()
        y = x + 1
        back = y.pin_memory().to(ANNEX, non_blocking=True)
        annotate.output_tensors("node", {"y": y, "z": back * 3}, export_with="jit")
    leapp.stop()
    assert leapp.compile_graph() == {"node": True}
    assert harness.warnings_in(harness.read_log(tmp_path / "graph")) == []


def test_edges_are_found_through_a_copy_under_way(tmp_path: Path) -> None:
    leapp.start("graph", save_path=tmp_path)
    for i in range(2):
        x = annotate.input_tensors("far", {"x": obs(1, 3, seed=i)})
        y = annotate.output_tensors("far", {"y": x * 2}, export_with="jit")
        near = annotate.input_tensors("near", {"y": y.to("cpu", non_blocking=True)})
        torch.annex.synchronize()
        annotate.output_tensors("near", {"z": near + 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert harness.read_yaml(tmp_path / "graph")["pipeline"]["data_flow"] == {"far/y": ["near/y"]}


def test_the_same_address_on_two_devices_is_two_states(tmp_path: Path) -> None:
    one, two = annex.twins()
    two += 5
    leapp.start("graph", save_path=tmp_path)
    for i in range(3):
        x = annotate.input_tensors("node", {"x": obs(1, 2, seed=i)})
        one += x[0, 0]
        two *= 2
        annotate.output_tensors("node", {"y": one[:2] + x, "z": two[:2].to(ANNEX) * x}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    bundle = bundle_runner.Bundle(tmp_path / "graph")
    first = torch.tensor([[1.0, 2.0]])
    for step in range(1, 4):
        found = bundle.step(x=first)
        assert found["node/y"].tolist() == [[step + 1.0, step + 2.0]]
        assert found["node/z"].tolist() == [[5.0 * 2**step, 10.0 * 2**step]]


def test_weights_are_copied_from_the_device_once(tmp_path: Path) -> None:
    policy = nn.Linear(64, 64).to(ANNEX)
    leapp.start("graph", save_path=tmp_path)
    with torch.no_grad():
        for i in range(3):
            x = annotate.input_tensors("policy", {"x": obs(1, 64, seed=i)})
            annotate.output_tensors("policy", {"y": policy(x)}, export_with="onnx")
    before = torch.ops.annex.bytes_to_cpu()
    leapp.stop()
    assert torch.ops.annex.bytes_to_cpu() - before == 64 * 65 * 4
    leapp.compile_graph()
    assert torch.ops.annex.bytes_to_cpu() - before == 64 * 65 * 4


@pytest.mark.parametrize("device", [ANNEX, torch.device("cpu")])
@pytest.mark.parametrize("cast", ["annex", "cpu"])
def test_autocast_casts_what_lies_on_its_device(device: torch.device, cast: str, tmp_path: Path) -> None:
    layer = nn.Linear(8, 8).to(device)

    def program(x: Tensor) -> tuple[Tensor, Tensor]:
        with torch.autocast(cast, dtype=torch.bfloat16):
            y = layer(x)
            return y, torch.mm(y.float(), x.t()).float().softmax(-1)

    exported = harness.export(program, obs(4, 8, device=device), save_path=tmp_path)
    assert exported.eager[0].dtype == (torch.bfloat16 if cast == device.type else torch.float32)
    fresh = obs(4, 8, seed=3, device=device)
    with torch.no_grad():
        harness.assert_same(list(program(fresh)), exported(fresh), rtol=1e-4, atol=1e-4)


def test_a_number_followed_from_the_device_is_in_the_model(tmp_path: Path) -> None:
    leapp.start("graph", save_path=tmp_path)
    for i in range(3):
        x = annotate.input_tensors("node", {"x": obs(1, 3, seed=i)})
        annotate.output_tensors("node", {"y": x * x.max().item()}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    found = leapp.InferenceManager(tmp_path / "graph" / "graph.yaml")({"node/x": torch.tensor([[1.0, 2.0, 3.0]])})
    assert found["node/y"].tolist() == [[3.0, 6.0, 9.0]]


def test_the_default_device_may_be_another(tmp_path: Path) -> None:
    """What LEAPP makes for itself stays on the CPU, whatever the program's default is."""
    torch.set_default_device(ANNEX)
    try:
        leapp.start("graph", save_path=tmp_path)
        for i in range(3):
            array = annotate.input_tensors("pre", {"a": obs(1, 3, seed=i, device="cpu").numpy()})
            features = annotate.output_tensors("pre", {"f": array * 2 + 1}, export_with="onnx")
            x = annotate.input_tensors("policy", {"x": torch.as_tensor(features)})
            y = x + torch.ones(3)
            annotate.output_tensors("policy", {"y": y}, export_with="onnx")
        leapp.stop()
        leapp.compile_graph()
        manager = leapp.InferenceManager(tmp_path / "graph" / "graph.yaml")
        found = manager({"pre/a": torch.ones(1, 3)})
    finally:
        torch.set_default_device(None)
    assert found["policy/y"].tolist() == [[4.0] * 3]
    assert found["policy/y"].device == torch.device("cpu")
    assert harness.read_yaml(tmp_path / "graph")["pipeline"]["data_flow"] == {"pre/f": ["policy/x"]}


def test_state_may_be_set_from_the_device(tmp_path: Path) -> None:
    leapp.start("graph", save_path=tmp_path)
    hidden = torch.zeros(1, 2, device=ANNEX)
    for i in range(2):
        x = annotate.input_tensors("node", {"x": obs(1, 2, seed=i)})
        h = annotate.state_tensors("node", {"h": hidden})
        hidden = annotate.update_state("node", {"h": h + x})
        annotate.output_tensors("node", {"y": hidden * 2}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    manager = leapp.InferenceManager(tmp_path / "graph" / "graph.yaml")
    manager.set_input_value("node", "h", torch.full((1, 2), 4.0, device=ANNEX))
    assert manager({"node/x": torch.ones(1, 2, device=ANNEX)})["node/y"].tolist() == [[10.0, 10.0]]


def test_a_number_of_the_device_meets_tensors_of_the_cpu(tmp_path: Path) -> None:
    table = torch.tensor([[1.0, 10.0, 100.0]])

    def program(x: Tensor) -> Tensor:
        n = x.max().item()
        low = table * n + n  # on the CPU
        y = x.clone().clamp_(max=n / 2)
        if n > 0.5:
            y = y * 2
        return y + low.to(x.device)

    leapp.start("graph", save_path=tmp_path)
    inputs = [torch.tensor([[0.1, 0.2, scale]], device=ANNEX) for scale in (0.4, 0.9, 0.3, 2.0)]
    for value in inputs:
        x = annotate.input_tensors("node", {"x": value})
        annotate.output_tensors("node", {"y": program(x)}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    manager = leapp.InferenceManager(tmp_path / "graph" / "graph.yaml")
    for value in (*inputs, torch.tensor([[3.0, 1.0, 2.0]], device=ANNEX)):
        harness.assert_same([program(value)], [manager({"node/x": value})["node/y"]])
