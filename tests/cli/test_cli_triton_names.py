# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""`leapp export-triton` of bundles of strangers: names that collide, that lead elsewhere, or that are somebody's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import bundles
import numpy as np
import pytest
import tool


def jit_node(folder: Path, number: int, inputs: list[str], outputs: list[str]) -> dict[str, Any]:
    """Its model is not looked at."""
    (folder / f"{number}.pt").write_text(f"model {number}")
    return {
        "inputs": [bundles.port(name) for name in inputs],
        "outputs": [bundles.port(name) for name in outputs],
        "parameters": {"backend": "jit", "model_path": f"{number}.pt"},
    }


def write_nodes(folder: Path, names: list[str]) -> None:
    folder.mkdir()
    models = {name: jit_node(folder, i, ["x"], ["y"]) for i, name in enumerate(names)}
    pipeline = {
        "data_flow": {},
        "feedback_flow": {},
        "inputs": {name: ["x"] for name in names},
        "outputs": {name: ["y"] for name in names},
    }
    bundles.write(folder, {"models": models, "pipeline": pipeline, "system information": {}})


def test_nodes_whose_names_are_alike_get_folders_of_their_own(leapp: tool.Tool) -> None:
    names = ["a:b", "a_b", "A_b", "a_b_2", "x" * 1000, "x" * 999 + "y", "\u202ea"]
    write_nodes(leapp.cwd / "walk", names)
    made = leapp.json("export-triton", "walk", "--output", "models")["models"]
    folders = [one["name"] for one in made]
    assert len({name.lower() for name in folders}) == len(names) + 1
    assert sorted(os.listdir(leapp.cwd / "models")) == sorted(folders)
    for i, folder in enumerate(folders[:-1]):
        assert (leapp.cwd / "models" / folder / "1/model.pt").read_text() == f"model {i}"
    assert len({tensor for one in made[-1:] for tensor in one["inputs"] + one["outputs"]}) == 2 * len(names)


def test_names_of_an_ensembles_ends_are_all_different(leapp: tool.Tool) -> None:
    """a's x and b's are called a_x and b_x, and c has an a_x already."""
    folder = leapp.cwd / "walk"
    folder.mkdir()
    models = {
        "a": jit_node(folder, 0, ["x"], ["y"]),
        "b": jit_node(folder, 1, ["x"], ["z"]),
        "c": jit_node(folder, 2, ["a_x"], ["b_x"]),
    }
    inputs = {"a": ["x"], "b": ["x"], "c": ["a_x"]}
    pipeline = {
        "data_flow": {},
        "feedback_flow": {},
        "inputs": inputs,
        "outputs": {"a": ["y"], "b": ["z"], "c": ["b_x"]},
    }
    bundles.write(folder, {"models": models, "pipeline": pipeline, "system information": {}})
    made = leapp.json("export-triton", "walk", "--output", "models")["models"][-1]
    assert len({*made["inputs"], *made["outputs"]}) == 6


def test_states_whose_names_are_alike_begin_with_their_own_values(leapp: tool.Tool) -> None:
    folder = leapp.cwd / "walk"
    folder.mkdir()
    names = ["h:1", "h_1", "H_1"]
    model = jit_node(folder, 0, ["x", *names], ["y", *(f"{name}>" for name in names)])
    values = {f"n/{name}": np.full((1, 4), i + 1, np.float32) for i, name in enumerate(names)}
    (folder / "first.safetensors").write_bytes(bundles.safetensors(values))
    pipeline = {
        "data_flow": {},
        "feedback_flow": {f"n/{name}>": [f"n/{name}"] for name in names},
        "initial_values": "first.safetensors",
        "inputs": {"n": ["x"]},
        "outputs": {"n": ["y"]},
    }
    bundles.write(folder, {"models": {"n": model}, "pipeline": pipeline, "system information": {}})
    leapp("export-triton", "walk", "--output", "models")
    files = sorted((leapp.cwd / "models/walk_n/initial_state").iterdir())
    assert sorted(np.frombuffer(file.read_bytes(), np.float32)[0] for file in files) == [1, 2, 3]


def test_a_folder_that_is_somebodys_stays(leapp: tool.Tool, walk: Path) -> None:
    """What a stranger calls a node may be what you call a model."""
    mine = leapp.cwd / "models/walk"
    (mine / "1").mkdir(parents=True)
    (mine / "config.pbtxt").write_text('name: "walk"\n')
    (mine / "1/model.onnx").write_text("mine")
    assert "not written by leapp export-triton" in leapp.error("export-triton", "walk", "--output", "models")
    assert (mine / "1/model.onnx").read_text() == "mine"
    assert sorted(os.listdir(leapp.cwd / "models")) == ["walk"]
    leapp("export-triton", "walk", "--output", "models", "--name", "other")
    leapp("export-triton", "walk", "--output", "models", "--name", "other")


def test_all_models_are_written_before_any_is_replaced(leapp: tool.Tool) -> None:
    write_nodes(leapp.cwd / "walk", ["a", "b"])
    (leapp.cwd / "models/walk_b").mkdir(parents=True)
    (leapp.cwd / "models/walk_b/mine").write_text("mine")
    leapp.error("export-triton", "walk", "--output", "models")
    assert sorted(os.listdir(leapp.cwd / "models")) == ["walk_b"]


# ---- what Triton runs ----


def test_a_bundle_puts_nothing_in_the_place_of_the_program(leapp: tool.Tool) -> None:
    """A file whose stem is ".." led from 1/bundle/../ to 1/, where model.py is."""
    folder = leapp.cwd / "bundle"
    folder.mkdir()
    entry = bundles.node(folder, "n", bundles.MODELS / "affine.onnx", [bundles.port("x")], [bundles.port("y")])
    (folder / "n.onnx").rename(folder / "model.py")
    entry["parameters"]["model_path"] = "model.py"
    pipeline = {"data_flow": {}, "feedback_flow": {}, "inputs": {"n": ["x"]}, "outputs": {"n": ["y"]}}
    path = bundles.write(folder, {"models": {"n": entry}, "pipeline": pipeline, "system information": {}})
    path.rename(folder / "...yaml")
    for name in (["--name", "served"], []):
        made = leapp.json("export-triton", folder / "...yaml", "--output", "models", "--backend", "python", *name)
        served = leapp.cwd / "models" / made["models"][0]["name"]
        assert served.parent == leapp.cwd / "models"
        assert (served / "1/model.py").read_text().startswith("# SPDX-FileCopyrightText: The LEAPP authors")
        (kept,) = (served / "1/bundle").iterdir()
        leapp("check", kept)


def test_a_name_is_inside_as_it_is_written(leapp: tool.Tool, walk: Path) -> None:
    """Through a link in the bundle it may lead to a file inside, and without it to a place above."""
    folder = walk.parent
    (folder / "a/b/c").mkdir(parents=True)
    (folder / "link").symlink_to("a/b/c")
    (folder / "walk_initial_values.safetensors").rename(folder / "a/model.py")
    spec = bundles.read(walk)
    spec["pipeline"]["initial_values"] = "link/../../model.py"
    bundles.write(folder, spec)
    leapp("run", "walk")
    for option in ([], ["--allow-outside"]):
        assert "lies outside of the bundle" in leapp.error(
            "export-triton", "walk", "--output", "models", "--backend", "python", *option
        )
    assert not (leapp.cwd / "models").exists()


@pytest.mark.parametrize("name", ["a/b", "..", ".hidden", "a\nb", "a:b", "x" * 300])
def test_names_that_are_no_folders(leapp: tool.Tool, walk: Path, name: str) -> None:
    assert "--name: expected a name" in leapp.error("export-triton", "walk", "--output", "models", "--name", name)
