# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Validation of several nodes, and of the bundle as a whole."""

from __future__ import annotations

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
from harness import read_log, read_yaml
from leapp import annotate
from validation_kit import (
    again,
    edit_onnx,
    edit_weight,
    node_again,
    node_of,
    run_node,
)


def calls(count: int = 3, shape: tuple[int, ...] = (4, 6)) -> list[tuple[torch.Tensor]]:
    torch.manual_seed(1)
    return [(torch.randn(*shape),) for _ in range(count)]


def square(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return torch.sigmoid(y)  # square


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
    result = node_again("sum", rtol=1e-3, atol=1e-5)
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
    peer = Path(__file__).parents[2] / "bundles" / "peer" / "complete_pipeline"
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
