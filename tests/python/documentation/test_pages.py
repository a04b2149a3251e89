# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Tutorials and guides: their blocks run, in order, and print what the pages show."""

from __future__ import annotations

import re
from pathlib import Path

import leapp
import pytest
from doc_blocks import BUILD, ROOT, Page

GUIDES = ["guard_values", "play_action_chunks", "record_and_replay", "start_state"]
TUTORIALS = sorted(path.stem for path in (ROOT / "docs/tutorials").glob("[0-9]*.md"))
NEEDS = {"02_rsl_rl_in_cpp": "rsl_rl", "06_mujoco": "mujoco", "07_ship_it": "pyarrow"}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.chdir(tmp_path)
    return Page(tmp_path)


def numbers(page: Page, word: str) -> list[float]:
    """What follows `word` at the end of a line, in all that was printed."""
    return [float(one) for text in page.printed for one in re.findall(rf"{word} (-?\d+\.\d+)$", text, re.MULTILINE)]


@pytest.mark.parametrize("name", [name for name in TUTORIALS if name != "09_libtorch"])
def test_a_tutorial(name: str, page: Page) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"docs/tutorials/{name}.md needs it")
    page.follow(f"tutorials/{name}.md")
    if name in ("02_rsl_rl_in_cpp", "08_microcontroller"):
        python, compiled = numbers(page, "action")
        assert python == pytest.approx(compiled, abs=1e-3)


def test_the_tutorial_of_libtorch(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program of the page is what the install test would build; here the build tree's libraries do."""
    torch = pytest.importorskip("torch")
    library = BUILD / "lib" / "libleapp_capture.so"
    if not library.exists():
        pytest.skip("libleapp_capture.so is not built")
    folder = Path(torch.__file__).parent
    includes = " ".join(f"-isystem {folder / part}" for part in ("include", "include/torch/csrc/api/include"))
    abi = int(torch.compiled_with_cxx11_abi())
    command = (
        f"c++ -std=c++20 {includes} -D_GLIBCXX_USE_CXX11_ABI={abi} export.cpp -o export "
        f"-L{library.parent} -lleapp_capture -lleapp_runtime -L{folder / 'lib'} -ltorch -ltorch_cpu -lc10 "
        f"-Wl,-rpath,{library.parent}:{folder / 'lib'}"
    )
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder / "lib"))
    original = Page.run

    def run(self: Page, language: str, block: str, codes: tuple[int, ...] = (0,)) -> None:
        original(self, language, f"{command}\n{block}" if "./export" in block and language == "sh" else block, codes)

    monkeypatch.setattr(Page, "run", run)
    page.follow("tutorials/09_libtorch.md")
    assert "policy: passed" in page.printed[-1]


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide(name: str, page: Page) -> None:
    page.follow(f"how_to/{name}.md")


def test_the_first_change_quotes_the_code(page: Page) -> None:
    page.follow("project/first_change.md")


def test_driving_a_robot(page: Page) -> None:
    page.follow("how_to/drive_a_robot.md")
    controller = next(text for text in page.printed if "overruns" in text)
    assert "11 calls" in controller
    assert "policy/target[0,1] (knee): " in controller
    # The same robot by C++, by Python and by C.
    knees = numbers(page, "knee")
    assert len(knees) == 3
    assert knees == pytest.approx([knees[0]] * 3, abs=1e-3)


def test_signing_and_swapping(page: Page) -> None:
    page.follow("how_to/sign_and_swap.md")
    reload = next(text for text in page.printed if "swapped" in text)
    assert "expected serial 2 or later, found 1" in reload
    assert reload.endswith("walk_v2.yaml: target 0.20\n")


def test_the_message_of_a_missing_joint_is_what_is_said() -> None:
    names = ((None, ("hip", "knee", "ankle")),)
    port = leapp.Port("policy/q", "policy", "input", None, "float32", (1, 3), names[0], None, None, None, {})
    with pytest.raises(ValueError, match="the robot lacks") as caught:
        leapp.NameMap(port, -1, ["hip", "knee", "toe"])
    assert str(caught.value) in (ROOT / "docs" / "how_to" / "drive_a_robot.md").read_text()
