# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""`leapp doctor`, shell completion, and what is said of a word that was mistyped."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tool import Tool


@pytest.fixture
def leapp(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


def test_doctor_names_engines_machine_and_remedies(leapp: Tool) -> None:
    report = leapp.json("doctor")
    found = {one["what"]: one for one in report["diagnoses"]}
    assert found["LEAPP's own engine"]["found"]
    assert found["LEAPP's own engine"]["detail"].startswith("native (")
    assert {"ONNX Runtime", "TorchScript", "processor", "real-time priority", "leapp view"} <= found.keys()
    for one in report["diagnoses"]:
        assert one["found"] or one["remedy"], one


def test_doctor_says_how_to_get_what_is_missing(leapp: Tool) -> None:
    leapp.environment["LEAPP_ONNXRUNTIME"] = "/nowhere"
    found = {one["what"]: one for one in leapp.json("doctor")["diagnoses"]}
    assert not found["ONNX Runtime"]["found"]
    assert "pip install onnxruntime" in found["ONNX Runtime"]["remedy"]
    assert "-> " in leapp("doctor")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inspct", "x"], ["unknown command inspct", "did you mean inspect?", "leapp --help"]),
        (["xyzzy"], ["unknown command xyzzy", "leapp --help"]),
        (
            ["run", "x", "--stpes", "3"],
            ["leapp run has no option --stpes", "did you mean --steps?", "leapp run --help"],
        ),
        (["bench", "x", "--rtae=5"], ["no option --rtae", "did you mean --rate?"]),
    ],
)
def test_a_mistyped_word(leapp: Tool, arguments: list[str], words: list[str]) -> None:
    said = leapp.error(*arguments)
    for word in words:
        assert word in said
    assert ("did you mean" in said) == any("did you mean" in word for word in words)


def test_bash_completes_commands_and_options(leapp: Tool, tmp_path: Path) -> None:
    script = tmp_path / "leapp.bash"
    script.write_text(leapp("completion", "bash"))

    def complete(*words: str) -> list[str]:
        typed = " ".join(words)
        program = f"source {script}; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _leapp; echo ${{COMPREPLY[@]}}"
        run = subprocess.run(["bash", "-c", program], check=True, capture_output=True, text=True)
        return run.stdout.split()

    assert complete("leapp", "be") == ["bench"]
    assert complete("leapp", "run", "--ste") == ["--steps"]
    assert complete("leapp", "run", "--eng") == ["--engine"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_every_command(leapp: Tool, shell: str, tmp_path: Path) -> None:
    text = leapp("completion", shell)
    for command in ("inspect", "check", "run", "bench", "diff", "doctor"):
        assert command in text
    script = tmp_path / "script"
    script.write_text(text)
    if shutil.which(shell):  # its own parser, where it is installed
        subprocess.run([shell, "-n", str(script)], check=True)
    assert text.count("'") % 2 == 0
