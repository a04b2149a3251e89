# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that cannot be exported as they are: what the finding says, which line it names, what it tells to write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from harness import line_of, read_log
from leapp import annotate
from validation_kit import run_node


def findings(
    folder: Path, fn: Callable[..., Any], calls: Iterable[Iterable[torch.Tensor]], status: str = "failed", **start: Any
) -> list[Any]:
    """Of the one node. The same text must be in the log, in the message, in the report and in what is raised."""
    leapp.start("g", save_path=folder, **start)
    with torch.no_grad():
        for inputs in calls:
            run_node(fn, inputs)
    leapp.stop()
    result = leapp.compile_graph(visualize=False, strict=False).nodes["policy"]
    assert result.status == status, result.message
    assert_said_everywhere(folder / "g", result)
    return list(result.findings)


def assert_said_everywhere(folder: Path, result: Any) -> None:
    report = json.loads((folder / "g_report.json").read_text())
    for finding in result.findings:
        assert finding.what in result.message
        assert finding.what in read_log(folder)
        [written] = [one for one in report["findings"] if one["what"] == finding.what and one["line"] == finding.line]
        for field in ("kind", "fails", "node", "file", "line", "code", "details", "remedy", "snippet"):
            assert written[field] == getattr(finding, field)
        assert finding.remedy in result.message
    failing = [finding for finding in result.findings if finding.fails]
    if not failing:
        return
    with pytest.raises(leapp.ValidationError) as raised:
        leapp.compile_graph(visualize=False)
    for finding in failing:
        for text in (finding.what, finding.remedy, *finding.snippet.splitlines()):
            assert text in str(raised.value)


def ramp(count: int = 3) -> list[tuple[torch.Tensor]]:
    return [(torch.tensor([1.0, -2.0, 3.0]) * (i + 1),) for i in range(count)]


def test_a_number_that_changes(tmp_path: Path) -> None:
    class Policy:
        gain = 1.0

        def step(self, x0: torch.Tensor) -> torch.Tensor:
            self.gain += 0.5
            return x0 * self.gain  # baked

    [finding] = findings(tmp_path, Policy().step, ramp())
    assert (finding.kind, finding.fails) == ("baked_number", True)
    assert (finding.file, finding.line) == (__file__, line_of(Policy.step, "# baked"))
    assert "'other' is 1.5 in call 0 and 2. in call 1" in finding.what
    assert finding.details[:2] == ["so does call 2", "it shows in samples 1, 2 of 3"]
    assert finding.details[2].startswith("policy/y0, sample 1: float32[3]: 3 of 3 elements (100 %) differ")
    assert finding.snippet == (
        'gain = annotate.input_tensors("policy", {"gain": torch.as_tensor(self.gain)})\nreturn x0 * gain'
    )


def test_a_number_read_from_a_tensor(tmp_path: Path) -> None:
    def program(x0: torch.Tensor) -> torch.Tensor:
        largest = float(x0.abs().max())  # left
        return x0 / largest  # came back

    finding = findings(tmp_path, program, ramp())[0]
    assert (finding.kind, finding.line) == ("baked_number", line_of(program, "# came back"))
    assert "it shows in samples 1, 2 of 3" in finding.details


def test_a_number_read_from_a_tensor_in_a_single_call(tmp_path: Path) -> None:
    """Nothing differs yet, and still it is worth knowing."""

    def program(x0: torch.Tensor) -> torch.Tensor:
        largest = float(x0.abs().max() * 1.25)  # left
        return x0 / largest  # came back

    [finding] = findings(tmp_path, program, ramp(1), status="passed")
    assert (finding.kind, finding.fails) == ("baked_number", False)
    assert finding.line == line_of(program, "# came back")
    assert finding.snippet == "largest = x0.abs().max() * 1.25"


def test_a_branch(tmp_path: Path) -> None:
    def program(x0: torch.Tensor) -> torch.Tensor:
        if float(x0.sum()) > 3:  # noqa: SIM108
            y = x0 - 1  # large
        else:
            y = x0 * 2  # small
        return y

    finding = findings(tmp_path, program, ramp())[0]
    assert (finding.kind, finding.line) == ("branch", line_of(program, "# small"))
    assert f":{line_of(program, '# large')}" in finding.details[0]
    assert finding.snippet == "y = torch.where(x0.sum() > 3, x0 - 1, x0 * 2)"


def test_a_missed_input(tmp_path: Path) -> None:
    offset = torch.zeros(3)

    def program(x0: torch.Tensor) -> torch.Tensor:
        return x0 + offset  # not announced

    leapp.start("g", save_path=tmp_path)
    for i, inputs in enumerate(ramp()):
        offset = torch.full((3,), i + 0.5)
        run_node(program, inputs)
    leapp.stop()
    result = leapp.compile_graph(visualize=False, strict=False).nodes["policy"]
    assert_said_everywhere(tmp_path / "g", result)
    finding = result.findings[0]
    assert (finding.kind, finding.line) == ("missed_input", line_of(program, "# not announced"))
    assert "[0.5, 0.5, 0.5] in call 0 and [1.5, 1.5, 1.5] in call 1" in finding.what
    assert finding.snippet == 'offset = annotate.input_tensors("policy", {"offset": offset})'


def test_a_queue_in_python(tmp_path: Path) -> None:
    left: list[torch.Tensor] = []

    def program(x0: torch.Tensor) -> torch.Tensor:
        if not left:
            left.extend((x0 * 2).unbind())  # filled
        return left.pop(0)

    finding = findings(tmp_path, program, [[torch.full((3,), i + 0.5)] for i in range(5)])[0]
    assert (finding.kind, finding.line) == ("kept_in_python", line_of(program, "# filled"))
    assert "in call 1: an earlier call computed it" in finding.what
    assert "docs/concepts/state.md#queues" in finding.remedy


class Memory:
    def __init__(self) -> None:
        self.hidden = torch.zeros(3)

    def step(self, x0: torch.Tensor) -> torch.Tensor:
        mixed = x0 + self.hidden  # remembers
        self.hidden = mixed * 0.5
        return mixed


def test_hidden_state_that_is_held_constant(tmp_path: Path) -> None:
    finding = findings(tmp_path, Memory().step, ramp(), leaks="constant")[0]
    assert (finding.kind, finding.fails) == ("hidden_state", True)
    assert finding.line == line_of(Memory.step, "# remembers")
    assert "keeps 'hidden' from one call to the next" in finding.what
    assert "it shows in samples 1, 2 of 3" in finding.details
    assert 'hidden = annotate.state_tensors("policy", {"hidden": self.hidden})' in finding.snippet
    assert 'annotate.update_state("policy", {"hidden": ...})' in finding.snippet


def test_hidden_state_that_became_a_port(tmp_path: Path) -> None:
    [finding] = findings(tmp_path, Memory().step, ramp(), status="passed")
    assert (finding.kind, finding.fails) == ("hidden_state", False)
    assert "It is exported as input 'hidden'" in finding.what
    assert finding.line == line_of(Memory.step, "# remembers")


def test_glue(tmp_path: Path) -> None:
    def program() -> None:
        x = annotate.input_tensors("pre", {"x": torch.ones(3)})
        features = annotate.output_tensors("pre", {"features": x + 1}, export_with="onnx")
        obs = features * 2  # between the nodes
        obs = annotate.input_tensors("policy", {"obs": obs})
        annotate.output_tensors("policy", {"action": obs + 1}, export_with="onnx")

    leapp.start("g", save_path=tmp_path)
    program()
    program()
    leapp.stop()
    result = leapp.compile_graph(visualize=False).nodes["policy"]
    assert_said_everywhere(tmp_path / "g", result)
    [finding] = result.findings
    assert (result.status, finding.kind, finding.fails) == ("passed", "glue", False)
    assert (finding.file, finding.line) == (__file__, line_of(program, "# between the nodes"))
    assert "between pre/features and policy/obs" in finding.what
    assert finding.snippet.splitlines() == [
        'features = annotate.input_tensors("policy", {"features": features})  # first',
        "obs = features * 2  # then, inside the node",
    ]


def test_a_random_operator(tmp_path: Path) -> None:
    def program(x0: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        noise = torch.randn_like(x0)  # drawn
        return x0 + noise, x0 * 2

    found = findings(tmp_path, program, ramp(), status="passed")
    [finding] = [one for one in found if one.kind == "random"]
    assert (finding.fails, finding.line) == (False, line_of(program, "# drawn"))
    assert finding.snippet == 'noise = annotate.input_tensors("policy", {"noise": torch.randn_like(x0)})'
    assert "random" in finding.what


def test_dropout_that_is_still_on(tmp_path: Path) -> None:
    dropout = torch.nn.Dropout(0.5)

    def program(x0: torch.Tensor) -> torch.Tensor:
        return dropout(x0)  # training

    [finding] = findings(tmp_path, program, ramp(), status="passed")
    assert finding.line == line_of(program, "# training")
    assert "eval()" in finding.remedy


def test_random_numbers_of_the_node(tmp_path: Path) -> None:
    def program(x0: torch.Tensor) -> torch.Tensor:
        noise = torch.randn(3)  # drawn
        return x0 + noise

    [finding] = findings(tmp_path, program, ramp(), status="passed")
    assert (finding.kind, finding.fails, finding.line) == ("random", False, line_of(program, "# drawn"))
    assert finding.snippet == 'noise = annotate.input_tensors("policy", {"noise": torch.randn(3)})'


def test_a_random_constant(tmp_path: Path) -> None:
    def program() -> None:
        x = annotate.input_tensors("policy", {"x": torch.ones(3)})
        other = annotate.input_tensors("other", {"x": torch.ones(3)})
        noise = torch.randn(3)  # drawn
        annotate.output_tensors("policy", {"y": x + noise}, export_with="jit")  # added
        annotate.output_tensors("other", {"y": other * 2}, export_with="jit")

    leapp.start("g", save_path=str(tmp_path))
    for _ in range(2):
        program()
    leapp.stop()
    found = leapp.compile_graph(visualize=False, strict=False).nodes["policy"].findings
    [finding] = [one for one in found if one.kind == "random_constant"]
    assert (finding.fails, finding.line) == (True, line_of(program, "# added"))
    assert f":{line_of(program, '# drawn')}" in finding.what
    assert finding.snippet == 'noise = annotate.input_tensors("policy", {"noise": noise})'


def test_something_that_only_leaves_is_a_suspect(tmp_path: Path) -> None:
    """The value goes through a list of Python's: no number that came back is known, and still the samples differ."""

    def program(x0: torch.Tensor) -> torch.Tensor:
        first = x0.tolist()[0]  # left
        return x0 + torch.tensor([first, 0.0, 0.0])

    found = findings(tmp_path, program, ramp())
    assert any(finding.fails for finding in found)
    assert any(__file__ == finding.file for finding in found)
