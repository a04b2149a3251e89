# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""leapp view: the page of a bundle, from its files alone."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import bundles
import onnx
import tool


def data_of(page: Path) -> Any:
    """What the page's script is given."""
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_an_onnx_bundle_shows_its_operators(leapp: tool.Tool, walk: Path) -> None:
    tool.check_golden("view_walk.txt", leapp("view", "walk/walk.yaml", "--no-open"))
    tool.check_golden("view_walk.json", leapp("view", "walk", "--no-open", "--json"))
    data = data_of(walk.parent / "walk.view.html")
    nodes = {node["name"]: node for node in data["nodes"]}
    assert sorted(nodes) == ["policy", "post", "pre"]
    model = onnx.load(walk.parent / "pre.onnx")
    pre = nodes["pre"]
    assert [op["op"] for op in pre["operators"]] == [node.op_type for node in model.graph.node]
    assert [c["name"] for c in pre["constants"]] == [tensor.name for tensor in model.graph.initializer]
    assert pre["constants"][0]["preview"] == "2"
    assert pre["operators"][-1]["results"] == [["y", "float32[1,4]"]]
    assert sum(edge["feedback"] for edge in data["edges"]) == 1


def test_lines_and_shapes_that_the_model_holds(leapp: tool.Tool, walk: Path) -> None:
    model = onnx.load(walk.parent / "pre.onnx")
    model.graph.node[0].doc_string = "controllers/walk.py:42"
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("scaled", onnx.TensorProto.FLOAT, [1, 4]))
    onnx.save(model, walk.parent / "pre.onnx")
    yaml = (walk.parent / "walk.yaml").read_text()
    content = (walk.parent / "pre.onnx").read_bytes()
    for algorithm in ("md5", "sha256"):
        before = re.search(rf"pre:.*?{algorithm}sum: (\w+)", yaml, re.DOTALL)
        assert before is not None
        yaml = yaml.replace(before[1], hashlib.new(algorithm, content).hexdigest(), 1)
    (walk.parent / "walk.yaml").write_text(yaml)
    leapp("view", "walk", "--no-open")
    data = data_of(walk.parent / "walk.view.html")
    first = next(node for node in data["nodes"] if node["name"] == "pre")["operators"][0]
    assert first["results"] == [["scaled", "float32[1,4]"]]
    assert data["lines"][first["line"]] == {"file": "controllers/walk.py", "line": 42, "function": "", "text": ""}


def test_torchscript_shows_ports_alone(leapp: tool.Tool) -> None:
    shutil.copytree(bundles.PEER / "my_pipeline", leapp.cwd / "my_pipeline")
    leapp("view", "my_pipeline", "--no-open", "--output", "page.html", "--png", "picture.png")
    assert (leapp.cwd / "picture.png").read_bytes().startswith(b"\x89PNG")
    nodes = [node for node in data_of(leapp.cwd / "page.html")["nodes"] if node["backend"] == "jit"]
    assert nodes
    for node in nodes:
        assert not node["operatorsKnown"]
        assert "not shown" in node["operatorsNote"]
        assert node["inputs"]
        assert node["size"]


def test_shares_of_time_come_from_bench(leapp: tool.Tool, walk: Path) -> None:
    (leapp.cwd / "bench.json").write_text(leapp("bench", "walk", "--steps", 20, "--json"))
    leapp("view", "walk", "--no-open", "--bench", "bench.json")
    assert all(node["microseconds"] > 0 for node in data_of(walk.parent / "walk.view.html")["nodes"])
    (leapp.cwd / "bench.json").write_text('{"nodes": [3]}')
    assert "bench.json is not what leapp bench" in leapp.error("view", "walk", "--no-open", "--bench", "bench.json")


def test_findings_are_on_the_page_and_in_the_exit_code(leapp: tool.Tool, walk: Path) -> None:
    (walk.parent / "pre.onnx").write_bytes(b"not a model")
    (walk.parent / "post.onnx").unlink()
    assert leapp.json("view", "walk", "--no-open", code=1)["findings"] is True
    findings = {node["name"]: node["findings"] for node in data_of(walk.parent / "walk.view.html")["nodes"]}
    assert "checksum" in findings["pre"][0]["text"]
    assert "not an ONNX model" in findings["pre"][1]["text"]
    assert "post.onnx" in findings["post"][0]["text"]
    assert findings["policy"] == []


def test_the_page_is_opened_unless_that_is_not_wanted(leapp: tool.Tool, walk: Path) -> None:
    program = leapp.cwd / "bin" / "xdg-open"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$1" > "$0.opened"\n')
    program.chmod(0o755)
    leapp.environment["PATH"] = f"{program.parent}:/usr/bin:/bin"
    assert leapp.json("view", "walk", "--no-open")["opened"] is False
    assert leapp.json("view", "walk")["opened"] is True
    opened = program.parent / "xdg-open.opened"
    for _ in range(500):
        if opened.exists() and opened.read_text():
            break
        leapp("--version")  # takes a moment, and does nothing
    assert opened.read_text() == f"{walk.parent}/walk.view.html\n"


def test_without_graphviz_it_says_what_to_install(leapp: tool.Tool, walk: Path) -> None:
    leapp.environment["LEAPP_DRAW_LIBRARY"] = "/nowhere/libleapp_draw.so"
    message = leapp.error("view", "walk", "--no-open")
    assert "Graphviz" in message
    assert "libgvc6" in message
    assert leapp("inspect", "walk")


def test_bad_input(leapp: tool.Tool, walk: Path) -> None:
    assert "nowhere" in leapp.error("view", "nowhere", "--no-open")
    assert "--output names another file" in leapp.error("view", "walk", "--no-open", "-o", "/nowhere/page.html")
