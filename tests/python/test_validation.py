# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Models that are spoiled after they were written: what validation says, to the digit, and where it points."""

from __future__ import annotations

import inspect
import json
import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import leapp
import numpy as np
import onnx
import pytest
import torch
from harness import line_of, read_log, read_yaml
from leapp import annotate
from onnx import helper
from validation_kit import (
    again,
    edit_code,
    edit_onnx,
    edit_torchscript,
    edit_weight,
    export,
    node_again,
    node_of,
    run_file,
    run_node,
    statistics,
)

RTOL, ATOL = 1e-3, 1e-5


class Actor(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Linear(6, 16)
        self.second = torch.nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.first(x)  # the first layer
        h = torch.relu(h)  # the bend
        h = h * 1.5  # the scale
        return self.second(h)  # the second layer


def calls(count: int = 3, shape: tuple[int, ...] = (4, 6)) -> list[tuple[torch.Tensor]]:
    torch.manual_seed(1)
    return [(torch.randn(*shape),) for _ in range(count)]


def check(
    folder: Path, given: list[list[torch.Tensor]], inputs: list[Any], suffix: str, marker: str, operator: str
) -> Any:
    """Every number of the first sample is right, and the finding points at the line with `marker`."""
    result = node_again()
    assert result.status == "failed"
    [finding] = [one for one in result.findings if one.fails]
    found = run_file(folder / f"policy{suffix}", inputs[0])[0]
    expected = statistics(found, given[0][0].numpy(), RTOL, ATOL)
    shape = ",".join(map(str, found.shape))
    assert finding.details[0] == f"policy/y0, sample 0: float32[{shape}]: {expected}"
    assert (finding.file, finding.line) == (__file__, line_of(Actor.forward, marker))
    assert finding.code in inspect.getsource(Actor.forward)
    assert f"{operator} is the first of" in finding.details[1]
    assert finding.what in result.message
    return finding


WEIGHT: list[tuple[str, str, str, str]] = [
    ("onnx", "first.weight", "# the first layer", "aten::linear"),
    ("onnx", "second.bias", "# the second layer", "aten::linear"),
    ("jit", "first.weight", "# the first layer", "aten::linear"),
    ("jit", "second.bias", "# the second layer", "aten::linear"),
]


def spoil_weight(path: Path, name: str, value: float | None = None) -> None:
    def in_onnx(model: onnx.ModelProto) -> None:
        names = [tensor.name for tensor in model.graph.initializer]
        wanted = next(one for one in names if one.startswith(name))

        def edit(array: np.ndarray[Any, Any]) -> None:
            array.flat[2] = array.flat[2] + 1 if value is None else value

        edit_weight(model, wanted, edit)

    def in_torchscript(module: torch.jit.ScriptModule) -> None:
        weight = dict(module.named_parameters())[name].view(-1)
        weight[2] = weight[2] + 1 if value is None else value

    if path.suffix == ".onnx":
        edit_onnx(path, in_onnx)
    else:
        edit_torchscript(path, in_torchscript)


@pytest.mark.parametrize(("backend", "name", "marker", "operator"), WEIGHT)
def test_one_weight(backend: str, name: str, marker: str, operator: str, tmp_path: Path) -> None:
    inputs = calls()
    folder, given = export(tmp_path, Actor(), inputs, export_with=backend)
    suffix = ".onnx" if backend == "onnx" else ".pt"
    spoil_weight(folder / f"policy{suffix}", name)
    finding = check(folder, given, inputs, suffix, marker, operator)
    assert "in all 3 samples" in finding.what


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_one_operator(backend: str, tmp_path: Path) -> None:
    inputs = calls()
    folder, given = export(tmp_path, Actor(), inputs, export_with=backend)

    def bend(model: onnx.ModelProto) -> None:
        node_of(model, "Relu").op_type = "Tanh"

    if backend == "onnx":
        edit_onnx(folder / "policy.onnx", bend)
        check(folder, given, inputs, ".onnx", "# the bend", "aten::relu")
    else:
        edit_code(folder / "policy.pt", "torch.relu(", "torch.tanh(")
        check(folder, given, inputs, ".pt", "# the bend", "aten::relu")


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_nan_in_a_bias(backend: str, tmp_path: Path) -> None:
    folder, _ = export(tmp_path, Actor(), calls(), export_with=backend)
    spoil_weight(folder / ("policy.onnx" if backend == "onnx" else "policy.pt"), "second.bias", float("nan"))
    [finding] = node_again().findings
    assert finding.kind == "nan"
    assert finding.details[0] == (
        "policy/y0, sample 0: float32[4,5]: NaN in the exported output: 4 of 20 elements (20 %)"
    )
    assert finding.line == line_of(Actor.forward, "# the second layer")
    report = json.loads((folder / "g_report.json").read_text())
    problem = report["nodes"][0]["problems"][0]
    assert (problem["exported"]["nan"], problem["source"]["nan"]) == (4, 0)


def test_nan_that_the_program_makes_is_traced_to_its_line(tmp_path: Path) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x - 1
        z = torch.log(y)  # of a negative number
        return z * 2

    leapp.start("g", save_path=tmp_path)
    run_node(program, [torch.zeros(3)])
    leapp.stop()
    [finding] = leapp.compile_graph(visualize=False, strict=False).nodes["policy"].findings
    assert (finding.kind, finding.line) == ("nan", line_of(program, "# of a negative number"))
    assert "the program itself gives NaN there" in finding.remedy
    assert finding.code == "z = torch.log(y)"


def square(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return torch.sigmoid(y)  # square


def test_a_transposed_output(tmp_path: Path) -> None:
    folder, given = export(tmp_path, square, [(torch.arange(9.0).reshape(3, 3),)])

    def transpose(model: onnx.ModelProto) -> None:
        last = next(node for node in model.graph.node if node.output[0] == "y0")
        last.output[0] = "before"
        model.graph.node.append(helper.make_node("Transpose", ["before"], ["y0"], perm=[1, 0]))

    edit_onnx(folder / "policy.onnx", transpose)
    [finding] = node_again().findings
    assert finding.line == line_of(square, "# square")
    found = run_file(folder / "policy.onnx", [torch.arange(9.0).reshape(3, 3)])[0]
    assert statistics(found, given[0][0].numpy(), RTOL, ATOL) in finding.details[0]


def test_another_shape(tmp_path: Path) -> None:
    folder, _ = export(tmp_path, square, [(torch.arange(6.0).reshape(2, 3),)])

    def transpose(model: onnx.ModelProto) -> None:
        last = next(node for node in model.graph.node if node.output[0] == "y0")
        last.output[0] = "before"
        model.graph.node.append(helper.make_node("Transpose", ["before"], ["y0"], perm=[1, 0]))
        dims = model.graph.output[0].type.tensor_type.shape.dim
        dims[0].dim_value, dims[1].dim_value = 3, 2

    edit_onnx(folder / "policy.onnx", transpose)
    result = node_again()
    assert result.status == "failed"
    assert "output 'y0': expected float32[2,3], found float32[3,2]" in result.message


def test_an_extra_output(tmp_path: Path) -> None:
    folder, _ = export(tmp_path, Actor(), calls(1))
    hidden: list[str] = []

    def add(model: onnx.ModelProto) -> None:
        hidden.append(node_of(model, "Relu").output[0])
        model.graph.output.append(helper.make_tensor_value_info(hidden[0], onnx.TensorProto.FLOAT, [4, 16]))

    edit_onnx(folder / "policy.onnx", add)
    result = node_again()
    assert result.status == "failed"
    assert f"expected 1 outputs, found 2 (y0, {hidden[0]})" in result.message


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_the_gate_order_of_a_gru(backend: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    gru = torch.nn.GRU(4, 3)

    def program(x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = x * 2
        out, after = gru(x, h)  # three gates
        return out + 1, after

    inputs = [(torch.randn(5, 1, 4), torch.randn(1, 1, 3))]
    folder, given = export(tmp_path, program, inputs, export_with=backend)

    def swap(rows: Any) -> None:
        rows[..., :3, :], rows[..., 3:6, :] = rows[..., 3:6, :].copy(), rows[..., :3, :].copy()

    def swap_gates(model: onnx.ModelProto) -> None:
        edit_weight(model, node_of(model, "GRU").input[1], swap)

    def swap_in_torchscript(module: torch.jit.ScriptModule) -> None:
        weight = dict(module.named_parameters())["weight_ih_l0"]
        weight[:6] = weight[:6].clone().roll(3, 0)

    if backend == "onnx":
        edit_onnx(folder / "policy.onnx", swap_gates)
    else:
        edit_torchscript(folder / "policy.pt", swap_in_torchscript)
    [finding] = node_again().findings
    assert finding.line == line_of(program, "# three gates")
    assert "aten::gru.input is the first" in finding.details[-1]
    for i, found in enumerate(run_file(folder / f"policy{'.onnx' if backend == 'onnx' else '.pt'}", inputs[0])):
        assert statistics(found, given[0][i].numpy(), RTOL, ATOL) in finding.details[i]


def test_rounding_that_depends_on_the_opset(tmp_path: Path) -> None:
    """Opsets before 11 have no Round, which rounds halves to even: floor(x + 0.5) in its place rounds them up."""

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 0.5
        y = torch.round(y)  # halves
        return y * 0.25

    inputs = [(torch.arange(-8.0, 8.0).reshape(4, 4),)]
    folder, given = export(tmp_path, program, inputs)

    def round_up(model: onnx.ModelProto) -> None:
        nodes = list(model.graph.node)
        at = next(i for i, node in enumerate(nodes) if node.op_type == "Round")
        old = nodes[at]
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(0.5, np.float32), "half"))
        nodes[at : at + 1] = [
            helper.make_node("Add", [old.input[0], "half"], ["raised"]),
            helper.make_node("Floor", ["raised"], list(old.output)),
        ]
        del model.graph.node[:]
        model.graph.node.extend(nodes)

    edit_onnx(folder / "policy.onnx", round_up)
    [finding] = node_again().findings
    assert finding.line == line_of(program, "# halves")
    found = run_file(folder / "policy.onnx", inputs[0])[0]
    assert statistics(found, given[0][0].numpy(), RTOL, ATOL) in finding.details[0]


def test_tolerances_decide(tmp_path: Path) -> None:
    folder, _ = export(tmp_path, Actor(), calls())
    spoil_weight(folder / "policy.onnx", "second.bias", 0.01)
    assert node_again(rtol=0.0, atol=10.0).status == "passed"
    assert not (folder / "g_report.json").exists()
    assert node_again(rtol=0.0, atol=1e-6).status == "failed"
    assert (folder / "g_report.json").exists()


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["rtol", "atol"])
def test_tolerances_that_make_no_sense(name: str, value: float, tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    run_node(square, [torch.ones(3)])
    leapp.stop()
    with pytest.raises(ValueError, match=name):
        leapp.compile_graph(visualize=False, **{name: value})


# ---- several nodes ---------------------------------------------------------------------------------------------------


def chain(folder: Path, nodes: int, backend: str = "onnx", passes: int = 2) -> Path:
    leapp.start("g", save_path=folder)
    for i in range(passes):
        x = torch.full((3,), float(i + 1))
        for j in range(nodes):
            live = annotate.input_tensors(f"n{j}", {"x": x})
            x = annotate.output_tensors(f"n{j}", {"y": torch.relu(live) + 1}, export_with=backend)
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return folder / "g"


def test_failing_nodes_among_twenty(tmp_path: Path) -> None:
    folder = chain(tmp_path, 20)

    def bend(model: onnx.ModelProto) -> None:
        node_of(model, "Relu").op_type = "Neg"

    edit_onnx(folder / "n7.onnx", bend)
    (folder / "n12.onnx").write_bytes(b"not a model")
    report = again()
    statuses = {result.node: result.status for result in report.nodes}
    assert statuses == {f"n{i}": {7: "failed", 12: "errored"}.get(i, "passed") for i in range(20)}
    assert all(result.samples == 2 for result in report.nodes if result.node != "n12")
    with pytest.raises(leapp.ValidationError) as raised:
        report.raise_for_validation()
    text = str(raised.value)
    assert "n7 failed: " in text
    assert "n12 errored: " in text
    assert "ONNX Runtime" in text  # the engine's own words
    assert text.count(" failed: ") == 1
    assert text.count(" errored: ") == 1
    log = read_log(folder)
    assert "Validation: 18 passed, 1 failed, 1 errored" in log
    assert "whole pipeline: not run: a node errored" in log


def test_the_console_is_quiet_when_all_is_well(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = chain(tmp_path, 3)
    assert capfd.readouterr().err == f"leapp: Bundle: {folder}/g.yaml\n"
    assert not (folder / "g_report.json").exists()
    leapp.compile_graph(visualize=False, verbose=True)
    shown = capfd.readouterr().err
    assert "[2/3] n1 → onnx" in shown
    assert "2 samples ok" in shown
    assert "(whole pipeline)" in shown
    assert "\x1b[" not in shown  # colours are for terminals


def test_a_stale_report_goes_with_the_next_export(tmp_path: Path) -> None:
    folder = chain(tmp_path, 2)
    edit_onnx(folder / "n1.onnx", lambda model: setattr(node_of(model, "Relu"), "op_type", "Neg"))
    again(strict=False)
    assert (folder / "g_report.json").exists()
    leapp.compile_graph(visualize=False)
    assert not (folder / "g_report.json").exists()


def compile_until_stopped(after: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, after)
    for _ in range(1000):
        leapp.compile_graph(visualize=False)


@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_ctrl_c_leaves_a_whole_bundle(backend: str, tmp_path: Path) -> None:
    folder = chain(tmp_path, 3, backend)
    before = read_yaml(folder)

    def stop(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, stop)
    try:
        for after in (0.001, 0.01, 0.03):
            with pytest.raises(KeyboardInterrupt):
                compile_until_stopped(after)
            now = read_yaml(folder)
            assert now["models"] == before["models"]
            assert {path.name for path in folder.iterdir()} == {
                "g.yaml",
                "log.txt",
                *(f"n{i}.{'onnx' if backend == 'onnx' else 'pt'}" for i in range(3)),
            }
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert all(leapp.compile_graph(visualize=False).values())


# ---- the whole bundle ------------------------------------------------------------------------------------------------


def accumulate(folder: Path, step: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], passes: int = 6) -> Path:
    leapp.start("g", save_path=folder)
    total = torch.zeros(2)
    for i in range(passes):
        x = annotate.input_tensors("sum", {"x": torch.full((2,), i + 1.0)})
        before = annotate.state_tensors("sum", {"total": total})
        total = step(before, x)
        annotate.update_state("sum", {"total": total})
        annotate.output_tensors("sum", {"y": total * 2}, export_with="onnx")
    leapp.stop()
    return folder / "g"


def test_the_whole_pipeline_runs_with_its_state(tmp_path: Path) -> None:
    folder = accumulate(tmp_path, lambda total, x: total + x)
    leapp.compile_graph(visualize=False)
    assert "whole pipeline: 6 passes ok" in read_log(folder)


def test_a_small_difference_that_adds_up(tmp_path: Path) -> None:
    """Each step is within tolerance when it starts from the program's state; on its own the pipeline drifts away."""
    folder = accumulate(tmp_path, lambda total, x: total * 1.0 + x)

    def drift(model: onnx.ModelProto) -> None:
        name = next(t.name for t in model.graph.initializer if onnx.numpy_helper.to_array(t).size == 1)
        edit_weight(model, name, lambda array: array.fill(1.0009))

    leapp.compile_graph(visualize=False)
    if not onnx.load(folder / "sum.onnx").graph.initializer:
        pytest.skip("the factor was folded away")
    edit_onnx(folder / "sum.onnx", drift)
    result = node_again("sum")
    [finding] = result.findings
    assert (result.status, finding.kind) == ("failed", "drift")
    assert "grows" in finding.details[0]
    assert "worst in pass 5" in finding.details[0]
    report = json.loads((folder / "g_report.json").read_text())
    output = next(one for one in report["pipeline"]["outputs"] if not one["state"])
    assert len(output["max_difference_by_pass"]) == 6
    assert output["max_difference_by_pass"] == sorted(output["max_difference_by_pass"])
    assert output["trend"] == "grows"


def test_a_state_that_the_program_resets(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    state = torch.zeros(2)
    for i in range(5):
        if i == 3:
            state = torch.full((2,), 7.0)  # a new episode
        x = annotate.input_tensors("sum", {"x": torch.full((2,), i + 1.0), "state": state})
        state = annotate.output_tensors("sum", {"next": x[0] + x[1]}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    log = read_log(tmp_path / "g")
    assert "the program set sum/state itself before pass 3" in log
    assert "whole pipeline: 5 passes ok" in log


def test_nodes_that_do_not_run_in_every_pass(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path)
    for i in range(4):
        x = annotate.input_tensors("fast", {"x": torch.full((2,), i + 1.0)})
        annotate.output_tensors("fast", {"y": x * 2}, export_with="jit")
        if i % 2 == 0:
            z = annotate.input_tensors("slow", {"z": torch.ones(2)})
            annotate.output_tensors("slow", {"w": z + 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    assert "node 'slow' did not run in pass 1" in read_log(tmp_path / "g")


def test_nodes_without_a_model_are_said_to_be_skipped(tmp_path: Path) -> None:
    leapp.start("g", save_path=tmp_path, non_traced=["off"])
    run_node(square, [torch.ones(2)], node="off")
    run_node(square, [torch.ones(2)], node="on")
    leapp.stop()
    results = leapp.compile_graph(visualize=False)
    assert (results.nodes["off"].status, results.nodes["on"].status) == ("skipped", "passed")
    assert "non_traced" in results.nodes["off"].message
    assert "whole pipeline: not run: node 'off' has no model" in read_log(tmp_path / "g")
    results = leapp.compile_graph(visualize=False, dry_run=True)
    assert "dry run" in results.nodes["on"].message


def test_a_model_that_was_brought_is_validated_and_run_with_the_rest(tmp_path: Path) -> None:
    class Doubler(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    def bring(name: str, factor: float) -> Any:
        leapp.start(name, save_path=tmp_path)
        for i in range(2):
            x = annotate.input_tensors("mine", {"x": torch.full((3,), i + 1.0)})
            params = {"model_path": str(tmp_path / "net.pt")}
            y = annotate.output_tensors("mine", {"y": x * factor}, backend_params=params)
            run_node(square, [y], node="next")
        leapp.stop()
        return leapp.compile_graph(visualize=False, strict=False)

    torch.jit.save(torch.jit.script(Doubler()), str(tmp_path / "net.pt"))
    assert all(bring("good", 2.0).values())
    assert "whole pipeline: 2 passes ok" in read_log(tmp_path / "good")
    [finding] = bring("bad", 3.0).nodes["mine"].findings
    assert "not LEAPP's" in finding.details[-1]
    assert "right file" in finding.remedy


@pytest.mark.parametrize("node", ["preprocess", "inference"])
def test_a_model_that_the_peer_wrote(node: str, tmp_path: Path) -> None:
    """As a model of one's own: checked like any other, against the program that it came from."""
    peer = Path(__file__).parent.parent / "bundles" / "peer" / "complete_pipeline"
    program = torch.jit.load(str(peer / f"{node}.pt"))

    def export_with(factor: float) -> Any:
        leapp.start("g", save_path=tmp_path)
        with torch.no_grad():
            for (x,) in calls(3, (1, 10)):
                live = annotate.input_tensors(node, {"x": x})
                params = {"model_path": str(peer / f"{node}.pt")}
                annotate.output_tensors(node, {"y": program(live) * factor}, backend_params=params)
        leapp.stop()
        return leapp.compile_graph(visualize=False, strict=False).nodes[node]

    assert (export_with(1.0).status, export_with(1.0).samples) == ("passed", 3)
    result = export_with(2.0)
    assert (result.status, result.findings[0].kind) == ("failed", "mismatch")


def test_a_node_that_fails_leaves_the_state_of_others_alone(tmp_path: Path) -> None:
    """Later samples only: said, with the numbers of those samples."""
    torch.manual_seed(2)
    hidden: dict[str, float] = {"bias": 0.0}

    def program(x: torch.Tensor) -> torch.Tensor:
        offset = np.float32(hidden["bias"])  # what LEAPP cannot see change without a second call
        hidden["bias"] += 1.0
        return x + float(offset)

    leapp.start("g", save_path=tmp_path)
    for inputs in calls(3, (2, 2)):
        run_node(program, inputs)
        run_node(square, inputs, node="other")
    leapp.stop()
    results = leapp.compile_graph(visualize=False, strict=False)
    assert results.nodes["other"].status == "passed"
    [finding] = results.nodes["policy"].findings
    assert finding.kind == "baked_number"
    assert "it shows in samples 1, 2 of 3" in finding.details
