# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What a person sees, and where: sys.stderr of the moment, logging, notebooks."""

from __future__ import annotations

import contextlib
import io
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from harness import line_of, read_log, warnings_in
from leapp import annotate
from torch import Tensor

LEFT = "leaves the graph"


def escaping(x: Tensor) -> Tensor:
    """A line of its own for every test: each is shown once a process."""
    namespace: dict[str, Any] = {}
    escaping.count += 1  # type: ignore[attr-defined]
    file = f"/users/program_{escaping.count}.py"  # type: ignore[attr-defined]
    exec(compile("def run(x):\n    float(x.sum())\n    return x * 2\n", file, "exec"), namespace)
    return namespace["run"](x)  # type: ignore[no-any-return]


escaping.count = 0  # type: ignore[attr-defined]


def run_node(fn: Any = escaping) -> None:
    x = annotate.input_tensors("n", {"x": torch.ones(3)})
    annotate.output_tensors("n", {"y": fn(x)}, export_with="jit")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    leapp.start("g", save_path=str(tmp_path))
    return tmp_path / "g"


@pytest.fixture
def leapp_logger() -> Iterator[logging.Logger]:
    """With the level and the handlers of the root as they were before."""
    root, logger = logging.getLogger(), logging.getLogger("leapp")
    handlers, level, own = list(root.handlers), root.level, logger.level
    yield logger
    root.handlers[:] = handlers
    root.setLevel(level)
    logger.setLevel(own)
    logger.disabled = False


# ---- Streams ---------------------------------------------------------------------------------------------------------


def test_warnings_are_seen_by_redirect_stderr_at_their_line(session: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with contextlib.redirect_stderr(io.StringIO()) as seen:
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        y = escaping(x)
        before = seen.getvalue()
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    assert before.startswith("leapp: warning: /users/program_"), "it does not wait for the next annotation"
    assert before.endswith("\n")
    assert seen.getvalue() == before, "and comes once"
    assert capfd.readouterr().err == "", "nothing goes past Python"


def test_warnings_are_seen_by_capsys(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_node()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert LEFT in shown.err


class Failing(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError("the pipe is gone")


@pytest.mark.parametrize("original", [True, False], ids=["pythons_own", "none"])
def test_a_stream_that_fails_loses_no_line_and_breaks_nothing(
    original: bool, session: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    own = io.StringIO()
    monkeypatch.setattr(sys, "stderr", Failing())
    monkeypatch.setattr(sys, "__stderr__", own if original else None)
    run_node()
    leapp.stop()
    assert LEFT in (own.getvalue() if original else capfd.readouterr().err)
    assert len(warnings_in(read_log(session))) == 1
    assert leapp.compile_graph()["n"]


def test_a_stream_that_cannot_spell_a_line(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stderr", ascii_only)
    logging.getLogger("leapp").warning("Größe")
    ascii_only.seek(0)
    assert ascii_only.read() == "leapp: warning: Gr\\xf6\\xdfe\n"


def test_a_program_without_stderr(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    run_node()
    leapp.stop()
    assert len(warnings_in(read_log(session))) == 1


def test_a_stream_that_computes_is_not_recorded(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    live: list[Tensor] = []

    class Computing(io.StringIO):
        def write(self, text: str) -> int:
            live.append(x.sum() + 1)
            float(x.max())  # would warn, and write, for ever
            return super().write(text)

    monkeypatch.setattr(sys, "stderr", Computing())
    x = annotate.input_tensors("n", {"x": torch.ones(3)})
    annotate.output_tensors("n", {"y": escaping(x)}, export_with="jit")
    leapp.stop()
    assert live
    assert len(warnings_in(read_log(session))) == 1


def test_warnings_of_other_threads(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = annotate.input_tensors("n", {"x": torch.ones(3)})
    threads = [threading.Thread(target=escaping, args=(x,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 8
    assert all(line.startswith("leapp: warning: /users/program_") for line in lines)


def test_ctrl_c_while_a_line_is_written_reaches_the_program(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(io.StringIO):
        def write(self, text: str) -> int:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stderr", Interrupted())
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012  (it comes with one of the next instructions)
        run_node()
        for _ in range(1000):
            pass
    monkeypatch.undo()


def test_what_is_logged_while_python_ends(tmp_path: Path) -> None:
    program = f"""
import atexit, torch
def late():
    float(x.sum())
atexit.register(late)  # before ours, so it runs after ours
import leapp
from leapp import annotate
leapp.start("g", save_path={str(tmp_path)!r})
x = annotate.input_tensors("n", {{"x": torch.ones(3)}})
float(x.max())
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert [line[:28] for line in run.stderr.splitlines()] == [
        "leapp: warning: <string>:10:",
        "leapp: warning: <string>:4: ",
    ]


# ---- logging ---------------------------------------------------------------------------------------------------------


def test_records_have_the_users_line(session: Path, caplog: pytest.LogCaptureFixture) -> None:
    def fn(x: Tensor) -> Tensor:
        float(x.sum())  # here
        return x * 2

    run_node(fn)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("leapp", logging.WARNING)
    assert (record.pathname, record.lineno) == (__file__, line_of(fn, "# here"))
    assert LEFT in record.getMessage()


def test_who_asks_for_more_gets_all_of_the_log(
    session: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, logger="leapp")
    run_node(lambda x: x * 2)
    leapp.stop()
    leapp.compile_graph()
    logged = [line.split("] ", 1)[1] for line in read_log(session).splitlines() if line.startswith("[")]
    assert [record.getMessage().splitlines()[0] for record in caplog.records] == logged
    assert len(logged) > 2
    assert all(record.pathname == __file__ for record in caplog.records)
    assert capsys.readouterr().err.count("\n") == 1, "the console does not change with it"


def test_basic_config_shows_lines_once(
    session: Path, leapp_logger: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    logging.basicConfig(force=True, level=logging.INFO)
    run_node()
    leapp.stop()
    leapp.compile_graph()
    shown = stream.getvalue()
    assert shown.count(LEFT) == 1
    assert "WARNING:leapp:/users/" in shown
    assert shown.count("Bundle: ") == 1
    assert "INFO:leapp:Bundle: " in shown


def test_basic_config_that_shows_no_information(
    session: Path, leapp_logger: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    logging.basicConfig(force=True)
    run_node()
    leapp.stop()
    leapp.compile_graph()
    shown = stream.getvalue()
    assert shown.count(LEFT) == 1
    assert "\nleapp: Bundle: " in shown, "the last line is ours"


def test_a_file_handler_does_not_take_the_console(
    session: Path, leapp_logger: logging.Logger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = logging.FileHandler(tmp_path / "users.log")
    logging.getLogger().addHandler(handler)
    run_node()
    handler.close()
    assert (tmp_path / "users.log").read_text().count(LEFT) == 1
    assert capsys.readouterr().err.count(LEFT) == 1


@pytest.mark.parametrize("how", ["level", "disabled"])
def test_the_logger_can_be_silenced(
    how: str, session: Path, leapp_logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    if how == "level":
        leapp_logger.setLevel(logging.ERROR)
    leapp_logger.disabled = how == "disabled"
    run_node()
    leapp.stop()
    leapp.compile_graph()
    assert capsys.readouterr().err == ""
    assert len(warnings_in(read_log(session))) == 1


class Raising(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise ValueError("a handler of the program's")


def test_a_handler_that_raises_breaks_nothing(
    session: Path, leapp_logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger().addHandler(Raising())
    run_node()
    assert capsys.readouterr().err.count(LEFT) == 1


def test_verbose_shows_information_whatever_pythons_default_level(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leapp.start("g", save_path=str(tmp_path), verbose=True)
    run_node(lambda x: x * 2)
    leapp.stop()
    leapp.compile_graph()
    shown = capsys.readouterr().err
    assert "leapp: info: " in shown
    assert len(shown.splitlines()) >= len(read_log(tmp_path / "g").splitlines())


# ---- How often, and the last line ------------------------------------------------------------------------------------


def again(x: Tensor) -> Tensor:
    float(x.sum())
    return x * 2


def test_a_line_is_warned_of_once_a_process_and_logged_in_every_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("first", "second"):
        leapp.start(name, save_path=str(tmp_path))
        for _ in range(3):
            run_node(again)
        leapp.stop()
        leapp.compile_graph()
        assert len(warnings_in(read_log(tmp_path / name))) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [LEFT in line for line in lines] == [True, False, False]
    assert lines[1] == f"leapp: Bundle: {tmp_path}/first/first.yaml"
    assert lines[2].startswith(f"leapp: Bundle: {tmp_path}/second/second.yaml (1 of its warnings was shown for")


def test_the_last_line_says_where_the_bundle_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    leapp.start("g")
    run_node(lambda x: x * 2)
    leapp.stop()
    leapp.compile_graph()
    assert capsys.readouterr().err == f"leapp: Bundle: {tmp_path}/g/g.yaml\n"


def test_no_message_speaks_of_an_unknown_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A thread of torch's that runs no Python has no line of the user's."""
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.ones(3)})
    run = eval(compile("lambda x: float(x.sum())", "<frozen users>", "eval"))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        pool.submit(run, x).result()
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    text = read_log(tmp_path / "g") + capsys.readouterr().err
    assert LEFT in text
    assert "unknown line" not in text
    assert "warning: : " not in text
