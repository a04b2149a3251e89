# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""{name}.png and {name}.html. The page is opened in a headless Chromium, clicked, searched and photographed; the
screenshots stay in build/pictures, to be looked at."""

from __future__ import annotations

import json
import os
import runpy
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chromium
import leapp
import pytest
import torch
from leapp import annotate

ROOT = Path(__file__).parents[3]
SHOTS = ROOT / "build" / "pictures"
MISSING = chromium.find() is None
# Where everything is meant to be installed, a test that does not run is a failure.
needs_chromium = pytest.mark.skipif(MISSING and "LEAPP_CI" not in os.environ, reason="no Chromium here")


def pipeline(name: str, count: int, save_path: Path) -> Path:
    """`count` nodes in a row with skips, state, feedback from the last to the first, and some long names."""
    leapp.start(name, save_path=save_path)
    last = torch.zeros(1, 8)
    hidden = {i: torch.zeros(1, 4) for i in range(1, count, 4)}
    for _ in range(2):
        outputs = [torch.ones(1, 8)]
        for i in range(count):
            node = f"stage_{i}" if i % 7 != 6 else f"a_stage_with_a_name_that_is_longer_than_anybody_would_like_{i}"
            inputs = {"observation": outputs[-1]}
            if i == 0:
                inputs["previous_action"] = last
            if i % 3 == 2:
                inputs["skip"] = outputs[-2]
            if i in hidden:
                inputs |= {"hidden_in": hidden[i], "command": torch.full((1, 8), float(i))}
            values = annotate.input_tensors(node, inputs)
            values = dict(zip(inputs, values if isinstance(values, tuple) else (values,), strict=True))
            action = torch.tanh(sum(v for k, v in values.items() if k != "hidden_in") * 0.5)
            results = {"action": action}
            if i in hidden:
                results["hidden_out"] = values["hidden_in"] * 0.9 + action[:, :4]
            annotate.output_tensors(node, results, export_with="onnx")
            hidden |= {i: results["hidden_out"]} if i in hidden else {}
            outputs.append(action)
        last = outputs[-1]
    leapp.stop()
    leapp.compile_graph(visualize=True, validate=False, graph_configs=leapp.GraphConfigs(frequency=50.0))
    return save_path / name


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The seeds' feedback graph, as its program writes it, and two synthetic pipelines."""
    folder = tmp_path_factory.mktemp("pictures")
    before = Path.cwd()
    os.chdir(folder)
    try:
        with pytest.MonkeyPatch.context() as patch:
            # The default, which conftest turns off for all other tests.
            patch.setattr(leapp.compile_graph, "__defaults__", (True, *leapp.compile_graph.__defaults__[1:]))
            runpy.run_path(str(ROOT / "tests/python/programs/seeds/sample_feedback_graph.py"), run_name="__main__")
    finally:
        os.chdir(before)
    feedback = folder / "sample_feedback_graph"
    found = {"feedback": feedback, "twelve": pipeline("twelve", 12, folder), "thirty": pipeline("thirty", 30, folder)}
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Chromium]:
    assert not MISSING, "no Chromium, where all tests have to run: scripts/setup installs it"
    SHOTS.mkdir(parents=True, exist_ok=True)
    with chromium.Chromium() as opened:
        yield opened


@dataclass
class Page:
    """A bundle's page, open."""

    browser: chromium.Chromium
    file: Path

    def __enter__(self) -> Page:
        self.browser.requests.clear()
        self.browser.complaints.clear()
        self.browser.open(self.file)
        return self

    def __exit__(self, *_: object) -> None:
        assert self.browser.complaints == []
        assert set(self.browser.requests) <= {self.file.resolve().as_uri()}

    def ask(self, expression: str) -> Any:
        return self.browser.evaluate(expression)

    def expect(self, expression: str, value: Any = True) -> None:
        """Waits for it: an event of the page may still be under way."""
        deadline = time.monotonic() + 10
        while (found := self.ask(expression)) != value and time.monotonic() < deadline:
            time.sleep(0.02)
        assert found == value, f"{expression}\n{self.details()}"

    def expect_details(self, *parts: str) -> None:
        for part in parts:
            self.expect(f"document.getElementById('details').innerText.includes({json.dumps(part)})")

    def details(self) -> str:
        return str(self.ask("document.getElementById('details').innerText"))

    def shoot(self, name: str) -> None:
        self.browser.screenshot(SHOTS / f"{name}.png")


def png_size(file: Path) -> tuple[int, int]:
    head = file.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:24])
    return width, height


@pytest.mark.parametrize("name", ["feedback", "twelve", "thirty"])
def test_every_export_has_its_pictures(bundles: dict[str, Path], name: str) -> None:
    folder = bundles[name]
    width, height = png_size(folder / f"{folder.name}.png")
    # Folded, so that it can be printed.
    assert 0.25 < width / height < 4
    assert (folder / f"{folder.name}.html").read_text().startswith("<!DOCTYPE html>")
    assert "Pictures: " in (folder / "log.txt").read_text()
    assert not list(folder.glob("*.part"))


OVERLAPS = """(() => {
  const boxes = [...document.querySelectorAll('.node, .inputs, .outputs')].map((e) => [e, e.getBBox()]);
  const found = [];
  boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
    if (p.x < q.x + q.width && q.x < p.x + p.width && p.y < q.y + q.height && q.y < p.y + p.height)
      found.push([a.id, b.id]);
  }));
  for (const text of document.querySelectorAll('#picture text')) {
    const t = text.getBBox();
    const rects = [...text.parentElement.querySelectorAll(':scope > rect')].map((r) => r.getBBox());
    const across = (r) => t.x >= r.x - 0.5 && t.x + t.width <= r.x + r.width + 0.5;
    const down = (r) => t.y >= r.y - 1 && t.y + t.height <= r.y + r.height + 1;
    const inside = text.parentElement.matches('.badge') || rects.some((r) => across(r) && down(r));
    if (!inside) found.push(text.textContent);
  }
  return found;
})()"""


@needs_chromium
@pytest.mark.parametrize("name", ["feedback", "twelve", "thirty"])
def test_nothing_overlaps_or_spills(bundles: dict[str, Path], browser: chromium.Chromium, name: str) -> None:
    folder = bundles[name]
    with Page(browser, folder / f"{folder.name}.html") as page:
        assert (
            page.ask("document.querySelectorAll('.node').length") == {"feedback": 2, "twelve": 12, "thirty": 30}[name]
        )
        assert page.ask(OVERLAPS) == []
        assert page.ask("document.querySelectorAll('.badge').length") == 0
        page.shoot(name)


@needs_chromium
def test_a_node_shows_its_operators_and_their_lines(bundles: dict[str, Path], browser: chromium.Chromium) -> None:
    with Page(browser, bundles["feedback"] / "sample_feedback_graph.html") as page:
        page.expect_details("policy_step")
        browser.click("#node-0 > rect.title")
        page.expect_details(
            "aten::tanh",
            "return torch.tanh(centered + 0.25 * feedback)",
            "sample_feedback_graph.py:12 in mix_with_feedback",
            "control_action = torch.clamp(policy_context * 2.0, min=-1.0, max=1.0)",
            "validation passed",
            "feedback_update/policy_context",
        )
        page.expect("document.querySelector('.node.selected').id", "node-0")
        page.shoot("feedback_node")


@needs_chromium
def test_edges_light_up_from_port_to_port_and_can_be_followed(
    bundles: dict[str, Path], browser: chromium.Chromium
) -> None:
    with Page(browser, bundles["twelve"] / "twelve.html") as page:
        edge = page.ask("document.querySelector('.link[data-edge]:not(.feedback)').id")
        middle = page.ask(
            f"(() => {{ const line = document.querySelector('#{edge} .line');"
            " const p = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());"
            " return [p.x, p.y]; })()"
        )
        browser.click_at(*middle)
        page.expect_details("Data edge")
        ends = page.ask(f"Object.values({{...document.getElementById('{edge}').dataset}}).slice(0, 2)")
        assert set(ends) <= set(page.ask("[...document.querySelectorAll('.port.lit')].map((e) => e.id)"))
        page.shoot("twelve_edge")
        # By keyboard: along the edges to the next node, and back.
        page.ask("document.getElementById('node-0').focus()")
        browser.press("ArrowRight")
        page.expect("document.activeElement.id", "node-1")
        browser.press("ArrowLeft")
        page.expect("document.activeElement.id", "node-0")
        browser.press("Enter")
        page.expect("location.hash", "#/node-0")
        page.expect_details("stage_0", "aten::tanh")
        browser.press("Escape")
        page.expect("location.hash", "")
        # The other end of a port's edge is a button.
        page.ask("location.hash = '/port-0-o0'")
        page.expect_details("output of stage_0")
        page.ask("document.querySelector('#details .portline .goto').click()")
        page.expect("/^#.port-[1-9]/.test(location.hash)")


@needs_chromium
def test_search_zoom_and_theme(bundles: dict[str, Path], browser: chromium.Chromium) -> None:
    with Page(browser, bundles["thirty"] / "thirty.html") as page:
        browser.press("/")
        browser.type("stage_17 tanh")
        page.expect("document.getElementById('hits').hidden", False)
        found = "[...document.querySelectorAll('.node.found')].map((e) => e.getAttribute('aria-label'))"
        page.expect(found, ["node stage_17"])
        page.shoot("thirty_search")
        browser.press("Enter")
        page.expect("/^#.node-[0-9]+.[0-9]+$/.test(location.hash)")
        page.expect("document.querySelector('.op.found .name')?.innerText", "aten::tanh")
        before = page.ask("document.getElementById('picture').viewBox.baseVal.width")
        browser.click("#zoom-in")
        assert page.ask("document.getElementById('picture').viewBox.baseVal.width") < before
        browser.click("#zoom-fit")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.ask(ground)
        browser.click("#theme")
        assert page.ask(ground) != light
        page.shoot("thirty_dark")
        browser.click("#theme")
        assert page.ask(ground) == light


@needs_chromium
def test_findings_stand_where_they_happened(tmp_path: Path, browser: chromium.Chromium) -> None:
    leapp.start("walk", save_path=tmp_path)
    for gain in (2.0, 3.0):
        x = annotate.input_tensors("policy", {"x": torch.ones(1, 3)})
        annotate.output_tensors("policy", {"y": x * gain}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=True, strict=False)
    with Page(browser, tmp_path / "walk" / "walk.html") as page:
        assert page.ask("document.querySelectorAll('.badge.error').length") >= 1
        browser.click("#node-0 > rect.title")
        page.expect("document.querySelector('.op.bad .finding') !== null")
        page.expect_details('annotate.output_tensors("policy", {"y": x * gain}')
        page.shoot("findings")


@needs_chromium
def test_names_are_text_and_nothing_else(tmp_path: Path, browser: chromium.Chromium) -> None:
    evil = "<img src=x onerror=alert(1)><!--&amp;\u2028'\"\\N 日本"
    leapp.start("evil", save_path=tmp_path)
    x = annotate.input_tensors("a <b>&", {evil: torch.ones(2)})
    annotate.output_tensors("a <b>&", {"out": x + 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=True)
    with Page(browser, tmp_path / "evil" / "evil.html") as page:
        assert page.ask("document.images.length") == 0
        assert page.ask("data.nodes[0].inputs[0].name") == evil.replace("\u2028", "\ufffd")  # what nobody sees is shown
        browser.click("#node-0 > rect.title")
        page.expect_details("a <b>&", "aten::add")
        page.shoot("evil")


def small_bundle(folder: Path) -> None:
    leapp.start("walk", save_path=folder)
    x = annotate.input_tensors("policy", {"x": torch.ones(1, 3)})
    annotate.output_tensors("policy", {"y": x * 2}, export_with="jit")
    leapp.stop()


PROGRAM = """
import sys, pathlib
import leapp, test_pictures
test_pictures.small_bundle(pathlib.Path(sys.argv[1]))
loaded = lambda: "libgvc" in open("/proc/self/maps").read()
leapp.compile_graph(visualize=False)
print(loaded(), *pathlib.Path(sys.argv[1]).glob("walk/walk.[ph]*"))
leapp.compile_graph(dry_run=True)
print(loaded(), *sorted(path.name for path in pathlib.Path(sys.argv[1]).glob("walk/walk.[ph]*")))
"""


def test_graphviz_is_loaded_for_a_picture_only(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    arguments = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    result = subprocess.run(arguments, check=True, capture_output=True, text=True, env=environment)
    assert result.stdout == "False\nTrue walk.html walk.png\n"


def test_without_graphviz_the_bundle_is_complete_and_one_warning_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEAPP_DRAW_LIBRARY", "/nowhere/libleapp_draw.so")
    small_bundle(tmp_path)
    leapp.compile_graph(visualize=True)
    warnings = capfd.readouterr().err
    assert warnings.count("visualize: no walk.png and walk.html") == 1
    assert "libgvc6" in warnings
    assert sorted(p.name for p in (tmp_path / "walk").iterdir()) == ["log.txt", "policy.pt", "walk.yaml"]


def test_the_same_bundle_gives_the_same_pictures(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        folder = pipeline("same", 3, tmp_path / name)
        texts.append((folder / "same.html").read_text() + json.dumps(png_size(folder / "same.png")))
    assert texts[0] == texts[1]
