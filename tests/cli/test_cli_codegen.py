# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""leapp codegen: what it says, what it refuses, and what it does with names that want to break out."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import bundles
import numpy as np
import onnx
import pytest
import tool
from onnx import TensorProto, helper

FLAGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fno-exceptions", "-fno-rtti"]


def compiled(folder: Path, *more: str) -> None:
    """Every .cpp of the folder, strictly."""
    for file in sorted(folder.glob("*.cpp")):
        done = subprocess.run(
            ["g++", *FLAGS, *more, "-c", file.name, "-o", "/dev/null"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def add_model(name: str = "", doc: str = "", inputs: tuple[str, str] = ("a", "b"), output: str = "y") -> bytes:
    graph = helper.make_graph(
        [helper.make_node("Add", list(inputs), [output], name=name, doc_string=doc)],
        "graph",
        [helper.make_tensor_value_info(one, TensorProto.FLOAT, [2]) for one in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    text: bytes = model.SerializeToString()
    return text


def write(folder: Path, model: bytes, inputs: tuple[str, ...], outputs: tuple[str, ...], node: str = "node") -> Path:
    folder.mkdir()
    (folder / "model.onnx").write_bytes(model)
    ports: list[list[dict[str, Any]]] = [
        [{"name": name, "dtype": "float32", "shape": [2], "type": "tensor"} for name in names]
        for names in (inputs, outputs)
    ]
    parameters = {"backend": "onnx", "model_path": "model.onnx"}
    spec = {
        "models": {node: {"inputs": ports[0], "outputs": ports[1], "parameters": parameters}},
        "pipeline": {
            "data_flow": {}, "feedback_flow": {}, "inputs": {node: list(inputs)}, "outputs": {node: list(outputs)},
        },
        "system information": {"leapp config version": "1.1"},
    }  # fmt: skip
    bundles.write(folder, spec)
    return folder


def test_what_it_says(leapp: tool.Tool, walk: Path) -> None:
    tool.check_golden("codegen_walk.txt", leapp("codegen", "walk", "--output", "walk_source"))
    assert sorted(os.listdir(leapp.cwd / "walk_source")) == ["walk.cpp", "walk.h"]
    compiled(leapp.cwd / "walk_source")


def test_the_state_begins_with_its_initial_values(leapp: tool.Tool, walk: Path) -> None:
    leapp("codegen", "walk", "--output", "cpp")
    values = np.random.default_rng(0).standard_normal((100, 1, 4)).astype(np.float32)
    rows = ",".join("{{" + ",".join(f"{x:.9g}f" for x in row.ravel()) + "}}" for row in values)
    (leapp.cwd / "main.cpp").write_text(f"""
#include <stdio.h>
#include "cpp/walk.h"
static const walk::Inputs kInputs[] = {{{rows}}};
int main() {{
  walk::State state;
  walk::Outputs outputs;
  walk::init(state);
  for (const walk::Inputs& inputs : kInputs) {{
    if (walk::step(state, inputs, outputs) != 0) return 1;
    for (float y : outputs.y) printf("%.9g\\n", static_cast<double>(y));
  }}
  return 0;
}}
""")
    subprocess.run(["g++", *FLAGS, "main.cpp", "cpp/walk.cpp", "-o", "program"], cwd=leapp.cwd, check=True)
    printed = subprocess.run([leapp.cwd / "program"], capture_output=True, text=True, check=True).stdout
    found = np.array(printed.split(), np.float32).reshape(100, 1, 4)
    np.testing.assert_allclose(found, bundles.expected_steps(values), rtol=1e-6)


HOSTILE = [
    '*/ int broken; /*', 'line\nint broken;', 'back\\', '??/', 'quote" int broken; "', "class", "double", "int x;",
    "a b", "a_b", "π", "‮right to left", "NAN", "state", "step", "__x", "1", " ", "#error broken", "inputs",
]  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE)
def test_names_do_not_break_out(hostile: str, leapp: tool.Tool) -> None:
    """As a port, as a node, as what the model says of its nodes: the files compile, strictly, also with trigraphs."""
    # What a bundle does not allow in names of ports and nodes, a model may still have inside.
    port = hostile if hostile.strip() and not re.search(r"[/\\\n]", hostile) else "a"
    model = add_model(name=hostile, doc=f"{hostile}\n{hostile}:3\n{hostile}", inputs=(port, "b"), output=port + "y")
    folder = write(leapp.cwd / "names", model, (port, "b"), (port + "y",), port)
    spec = bundles.read(folder / "names.yaml")
    spec["models"][port]["inputs"][0].update({"kind": hostile, "element_names": [[hostile, "second"]]})
    bundles.write(folder, spec)
    leapp("codegen", "names", "--output", "cpp")
    compiled(leapp.cwd / "cpp")
    compiled(leapp.cwd / "cpp", "-trigraphs", "-Wno-trigraphs")
    for file in (leapp.cwd / "cpp").iterdir():
        text = file.read_text(encoding="ascii")
        code = re.sub(r"//.*", "", text)
        assert "broken" not in re.sub(r"\w*broken\w*\[|\.\w*broken\w*|\w+_\w*broken\w*", "", code), code


def test_names_that_are_spelled_alike_stay_apart(leapp: tool.Tool) -> None:
    write(leapp.cwd / "alike", add_model(inputs=("a b", "a_b"), output="a-b"), ("a b", "a_b"), ("a-b",))
    leapp("codegen", "alike", "--output", "cpp")
    header = (leapp.cwd / "cpp/alike.h").read_text()
    assert header.count("float node_a_b[2];") == 1
    assert header.count("float node_a_b_2[2];") == 1
    assert header.count("float a_b[2];") == 1
    compiled(leapp.cwd / "cpp")


@pytest.mark.parametrize("name", ["exp", "and", "my robot", "1st", "gamma", "*/", "math", "stdint", "String"])
def test_any_name_of_a_bundle(name: str, leapp: tool.Tool) -> None:
    if "/" in name:
        name = "*"
    write(leapp.cwd / name, add_model(), ("a", "b"), ("y",))
    found = leapp.json("codegen", leapp.cwd / name / f"{name}.yaml", "--output", "cpp")
    assert re.fullmatch(r"[A-Za-z]\w*", found["namespace"])
    compiled(leapp.cwd / "cpp")
    compiled(leapp.cwd / "cpp", "-I.")  # where another program's <math.h> must not be ours
    assert found["namespace"].lower() not in ("math", "stdint", "string")


# ---- what is refused ----


def test_nodes_that_are_no_onnx(leapp: tool.Tool, walk: Path) -> None:
    spec = bundles.read(walk)
    spec["models"]["policy"]["parameters"]["backend"] = "jit"
    bundles.write(walk.parent, spec)
    error = leapp.error("codegen", "walk", "--output", "cpp")
    assert 'node policy: expected an ONNX model, found "jit": export it with export_with="onnx"' in error
    assert not (leapp.cwd / "cpp").exists()


def test_operators_that_have_no_source_form_are_listed(leapp: tool.Tool) -> None:
    graph = helper.make_graph(
        [
            helper.make_node("NonZero", ["a"], ["places"], name="where_it_is"),
            helper.make_node("Custom", ["b"], ["c"], name="theirs", domain="other"),
            helper.make_node("Add", ["a", "b"], ["y"]),
        ],
        "graph",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("a", "b")],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    sets = [helper.make_opsetid("", 18), helper.make_opsetid("other", 1)]
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=sets, ir_version=8)
    write(leapp.cwd / "odd", model.SerializeToString(), ("a", "b"), ("y",))
    found = leapp.json("codegen", "odd", "--output", "cpp", code=1)
    assert found["written"] is None
    assert [(row["operator"], row["node"], row["makes"]) for row in found["not_covered"]] == [
        ("NonZero", "node/where_it_is", "node/places"),
        ("other::Custom", "node/theirs", "node/c"),
    ]
    text = leapp("codegen", "odd", "--output", "cpp", code=1)
    assert "2 operators not covered: nothing was written" in text
    assert not (leapp.cwd / "cpp").exists()


def test_a_shape_that_is_not_fixed(leapp: tool.Tool) -> None:
    graph = helper.make_graph(
        [
            helper.make_node("NonZero", ["a"], ["places"]),
            helper.make_node("Cast", ["places"], ["y"], to=TensorProto.FLOAT),
        ],
        "graph",
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    folder = write(leapp.cwd / "open", model.SerializeToString(), ("a",), ("y",))
    file = folder / "open.yaml"
    spec = bundles.read(file)
    spec["models"]["node"]["outputs"][0]["shape"] = [1, 2]
    bundles.write(folder, spec)
    found = leapp.json("codegen", "open", "--output", "cpp", code=1)
    assert found["not_covered"][0]["operator"] == "NonZero"


def test_a_folder_with_somebodys_files_is_left_alone(leapp: tool.Tool, walk: Path) -> None:
    (leapp.cwd / "cpp").mkdir()
    (leapp.cwd / "cpp/walk.cpp").write_text("int mine;\n")
    error = leapp.error("codegen", "walk", "--output", "cpp")
    assert error == "--output: expected a new folder or one with generated files only, found walk.cpp in it"
    assert (leapp.cwd / "cpp/walk.cpp").read_text() == "int mine;\n"
    assert leapp.error("codegen", "walk", "--output", walk).startswith("--output: expected a folder, found the file")
    error = leapp.error("codegen", "walk", "--output", "walk")
    assert "found" in error
    assert sorted(os.listdir(walk.parent)) == sorted(
        ["walk.yaml", "pre.onnx", "policy.onnx", "post.onnx", "walk_initial_values.safetensors"]
    )


def test_a_slash_at_the_end(leapp: tool.Tool, walk: Path) -> None:
    for _ in range(2):
        leapp("codegen", "walk", "--output", "cpp/")
    assert sorted(os.listdir(leapp.cwd / "cpp")) == ["walk.cpp", "walk.h"]
    for nothing in ("", "/"):
        assert leapp.error("codegen", "walk", "--output", nothing) == f'--output: expected a folder, found "{nothing}"'


def test_what_it_wrote_it_may_write_again(leapp: tool.Tool, walk: Path) -> None:
    leapp("codegen", "walk", "--output", "cpp")
    before = {file.name: file.read_bytes() for file in (leapp.cwd / "cpp").iterdir()}
    other = bundles.write_recurrent(leapp.cwd / "other")
    leapp("codegen", other, "--output", "cpp")
    assert sorted(os.listdir(leapp.cwd / "cpp")) == ["other.cpp", "other.h"]
    leapp("codegen", "walk", "--output", "cpp")
    assert {file.name: file.read_bytes() for file in (leapp.cwd / "cpp").iterdir()} == before
    assert sorted(os.listdir(leapp.cwd)) == ["cpp", "other", "walk"]


def test_a_place_that_cannot_be_written(leapp: tool.Tool, walk: Path) -> None:
    error = leapp.error("codegen", "walk", "--output", "no/such/folder/cpp")
    assert "no/such" in error
    (leapp.cwd / "file").write_text("")
    assert leapp.run("codegen", "walk", "--output", "file/cpp").returncode == 2
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (leapp.cwd / "closed").mkdir(mode=0o500)
    assert "closed" in leapp.error("codegen", "walk", "--output", "closed/cpp")


def test_files_that_lie(leapp: tool.Tool, walk: Path) -> None:
    (walk.parent / "policy.onnx").write_bytes(b"no model")
    assert "sha256" in leapp.error("codegen", "walk", "--output", "cpp")
    assert leapp.run("codegen", "walk", "--output", "cpp", "--no-checksums").returncode == 2
    assert leapp.run("codegen", "walk").returncode == 2
    assert not (leapp.cwd / "cpp").exists()
