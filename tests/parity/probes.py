# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Questions that both packages answer with a value: what is returned, what an attribute holds, what is refused."""

from __future__ import annotations

import importlib
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import torch
import yaml
from leapp import TensorSemantics, annotate

PROBES: dict[str, Callable[[], Any]] = {}


def probe(function: Callable[[], Any]) -> Callable[[], Any]:
    """Registers a question. The answer is made of what JSON has."""
    PROBES[function.__name__] = function
    return function


def raised(function: Callable[[], Any]) -> str:
    """Which of the exceptions that programs catch it was."""
    kinds = (FileNotFoundError, KeyError, ValueError, TypeError, AttributeError, RuntimeError, Exception)
    try:
        function()
    except Exception as error:
        return next(kind.__name__ for kind in kinds if isinstance(error, kind))
    return "nothing"


def accumulator(name: str = "g", calls: int = 3, export_with: str = "jit") -> str:
    """A bundle with one input, one output and one state; says where it is."""
    leapp.start(name)
    total = torch.zeros(2)
    for _ in range(calls):
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        before = annotate.state_tensors("n", {"total": total})
        total = annotate.update_state("n", {"total": before + x})
        annotate.output_tensors("n", {"y": total * 2}, export_with=export_with)
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return f"{name}/{name}.yaml"


def chain() -> str:
    """Two nodes."""
    leapp.start("g")
    x = annotate.input_tensors("a", {"x": torch.ones(2)})
    y = annotate.output_tensors("a", {"y": x * 2}, export_with="jit")
    z = annotate.input_tensors("b", {"z": y})
    annotate.output_tensors("b", {"w": z + 1}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return "g/g.yaml"


def plain(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value.tolist() for key, value in values.items()}


# ---- running


@probe
def inputs_outputs_and_feedback():
    manager = leapp.InferenceManager(accumulator())
    return [manager.inputs, manager.outputs, manager.feedback_inputs]


@probe
def three_steps():
    manager = leapp.InferenceManager(accumulator())
    return [plain(manager.run_policy({"n/x": torch.ones(2)})) for _ in range(3)]


@probe
def manager_is_callable():
    manager = leapp.InferenceManager(accumulator())
    return plain(manager({"n/x": torch.ones(2)})) if callable(manager) else "not"


@probe
def left_out_at_first():
    return plain(leapp.InferenceManager(accumulator()).run_policy({}))


@probe
def left_out_later():
    manager = leapp.InferenceManager(accumulator())
    manager.run_policy({"n/x": torch.full((2,), 5.0)})
    return plain(manager.run_policy({}))


@probe
def reset_starts_again():
    manager = leapp.InferenceManager(accumulator())
    manager.run_policy({"n/x": torch.ones(2)})
    manager.reset()
    return plain(manager.run_policy({"n/x": torch.ones(2)}))


@probe
def state_set_from_outside():
    manager = leapp.InferenceManager(accumulator())
    manager.set_input_value("n", "total", torch.full((2,), 10.0))
    return plain(manager.run_policy({"n/x": torch.ones(2)}))


@probe
def state_given_with_the_inputs():
    manager = leapp.InferenceManager(accumulator())
    return plain(manager.run_policy({"n/x": torch.ones(2), "n/total": torch.full((2,), 10.0)}))


@probe
def mock_input():
    manager = leapp.InferenceManager(accumulator())
    mock = manager.get_mock_input()
    return {key: [list(value.shape), str(value.dtype)] for key, value in mock.items()}


@probe
def mock_input_runs():
    manager = leapp.InferenceManager(chain())
    return {key: list(value.shape) for key, value in manager.run_policy(manager.get_mock_input()).items()}


@probe
def missing_file():
    return raised(lambda: leapp.InferenceManager("nowhere.yaml"))


@probe
def bundle_without_initial_values():
    file = Path(accumulator())
    described = yaml.safe_load(file.read_text())
    del described["pipeline"]["initial_values"]
    file.write_text(yaml.safe_dump(described, sort_keys=False))
    return plain(leapp.InferenceManager(str(file)).run_policy({"n/x": torch.ones(2)}))


@probe
def path_as_a_path():
    return leapp.InferenceManager(Path(accumulator())).inputs


@probe
def nodes_describe_their_ports():
    node = leapp.InferenceManager(accumulator()).nodes["n"]
    return [[port["name"] for port in node.input_descriptions], [port["name"] for port in node.output_descriptions]]


@probe
def nodes_list_names_shapes_and_types():
    node = leapp.InferenceManager(accumulator()).nodes["n"]
    values = (node.input_names, node.input_shapes, node.output_names, node.output_shapes)
    return [list(map(str, map(list, value) if "shapes" in str(value) else value)) for value in values]


@probe
def nodes_know_their_device():
    return str(leapp.InferenceManager(accumulator()).nodes["n"].device)


@probe
def attributes_of_the_manager():
    manager = leapp.InferenceManager(accumulator())
    names = ("models", "pipeline", "system_info", "leapp_description", "model_path", "value_dict", "nodes")
    return [name for name in names if hasattr(manager, name)]


@probe
def description_is_the_yaml():
    file = accumulator()
    return (
        leapp.InferenceManager(file).leapp_description["pipeline"] == yaml.safe_load(Path(file).read_text())["pipeline"]
    )


@probe
def last_action_is_given():
    leapp.start("g")
    last = torch.zeros(2)
    for _ in range(3):
        x, previous = annotate.input_tensors("n", {"x": torch.ones(2), "last": last})
        last = annotate.output_tensors("n", {"action": x + previous}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    manager = leapp.InferenceManager("g/g.yaml")
    return [plain(manager.run_policy({"n/x": torch.ones(2)})) for _ in range(2)]


@probe
def a_model_outside_the_folder():
    torch.jit.save(torch.jit.script(torch.nn.Sequential(torch.nn.ReLU())), "own.pt")
    leapp.start("g")
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    own = {"model_path": os.path.abspath("own.pt"), "copy_original_model": False}
    annotate.output_tensors("n", {"y": torch.relu(x)}, backend_params=own)
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return plain(leapp.InferenceManager("g/g.yaml").run_policy({"n/x": torch.tensor([-1.0, 0.0, 2.0])}))


# ---- the session


@probe
def results_are_booleans():
    leapp.start("g")
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    leapp.stop()
    results = leapp.compile_graph(visualize=False)
    return [results["n"] is True, json.dumps(results)]


@probe
def stop_twice():
    leapp.start("g")
    leapp.stop()
    return raised(leapp.stop) != "nothing"


@probe
def compile_before_stop():
    leapp.start("g")
    answer = raised(lambda: leapp.compile_graph(visualize=False))
    leapp.stop()
    return answer != "nothing"


@probe
def own_exception_in_a_finally():
    def program():
        leapp.start("g")
        try:
            annotate.input_tensors("n", {"x": torch.ones(2)})
            raise KeyError("mine")
        finally:
            leapp.stop()

    return raised(program)


@probe
def start_while_active():
    leapp.start("first")
    leapp.start("second")
    x = annotate.input_tensors("n", {"x": torch.ones(2)})
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False)
    return Path("second/second.yaml").exists()


@probe
def home_folder():
    os.environ["HOME"] = os.getcwd()
    leapp.start("~/here")
    leapp.stop()
    return Path("here").is_dir()


@probe
def nested_folders():
    leapp.start("g", save_path="a/b")
    leapp.stop()
    return Path("a/b/g").is_dir()


@probe
def not_started():
    x = torch.ones(2)
    one = annotate.input_tensors("n", {"x": x})
    two = annotate.input_tensors("n", {"x": x, "y": x})
    return [one is x, type(two).__name__, len(two), annotate.output_tensors("n", {"x": x}) is x]


@probe
def file_names():
    accumulator(export_with="jit")
    return sorted(name for name in os.listdir("g") if not name.endswith((".png", ".html", ".txt")))


# ---- names


@probe
def import_paths():
    paths = ("leapp.inference_manager", "leapp.export_manager", "leapp.utils.tensor_description", "leapp.utils.enums")
    return {path: raised(lambda path=path: importlib.import_module(path)) for path in paths}


@probe
def names_in_modules():
    from leapp.inference_manager import InferenceManager
    from leapp.utils.enums import InputKindEnum, OutputKindEnum
    from leapp.utils.tensor_description import TensorSemantics as FromUtils

    same = (InferenceManager is leapp.InferenceManager, InputKindEnum is leapp.InputKindEnum)
    return [*same, OutputKindEnum is leapp.OutputKindEnum, FromUtils is leapp.TensorSemantics]


@probe
def kinds():
    kinds = (leapp.InputKindEnum, leapp.OutputKindEnum)
    return [{kind.name: str(kind.value) for kind in enum} for enum in kinds]


@probe
def version():
    return [isinstance(leapp.__version__, str), isinstance(leapp.__config_version__, str)]


@probe
def graph_configs():
    return leapp.GraphConfigs(frequency=50.0, extra={"robot": "go2"}).to_dict()


@probe
def semantics_to_dict():
    semantics = TensorSemantics("x", torch.zeros(1, 2), kind="k", element_names=["a", "b"], extra={"unit": "m"})
    return {key: value for key, value in semantics.to_dict().items() if key != "ref"}


@probe
def semantics_with_keywords_only():
    semantics = TensorSemantics(name="x", ref=torch.zeros(2))
    return [semantics.name, semantics.kind, semantics.element_names, semantics.extra]


@probe
def semantics_updated():
    semantics = TensorSemantics("x", torch.zeros(2))
    semantics.update({"kind": "k"})
    return semantics.kind


@probe
def a_temporal_axis():
    names = [None, leapp.TemporalAxis(20.0)]
    semantics = TensorSemantics("x", torch.zeros(2, 3), element_names=names)
    return semantics.temporal_period_ms


@probe
def logger_is_there():
    return isinstance(logging.getLogger("leapp"), logging.Logger)


@probe
def array_in_array_out():
    return type(annotate.input_tensors("n", {"x": np.ones(2)})).__name__


# ---- what is refused


def refusal(use: Callable[[], Any]) -> bool:
    leapp.start("g")
    answer = raised(use) != "nothing"
    leapp.stop()
    return answer


@probe
def bare_tensor_as_payload():
    return refusal(lambda: annotate.input_tensors("n", torch.ones(2)))


@probe
def output_before_input():
    return refusal(lambda: annotate.output_tensors("n", {"y": torch.ones(2)}, export_with="jit"))


@probe
def output_that_is_a_constant():
    def use():
        annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.output_tensors("n", {"y": torch.ones(2)}, export_with="jit")

    return refusal(use)


@probe
def unknown_back_end():
    def use():
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.output_tensors("n", {"y": x * 2}, export_with="nonsense")

    return refusal(use)


@probe
def another_shape_in_a_later_call():
    def use():
        for size in (2, 3):
            x = annotate.input_tensors("n", {"x": torch.ones(size)})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")

    return refusal(use)


@probe
def another_name_in_a_later_call():
    def use():
        for name in ("x", "z"):
            x = annotate.input_tensors("n", {name: torch.ones(2)})
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit")

    return refusal(use)


@probe
def patch_of_the_same_function_twice():
    patch = leapp.FunctionPatch(torch, "sin", torch.cos)
    return raised(lambda: leapp.start("g", patching=[patch, patch])) != "nothing"


@probe
def patch_without_live_arguments():
    leapp.start("g", patching=[leapp.FunctionPatch(torch, "sin", lambda x: torch.cos(x))])
    answer = torch.sin(torch.zeros(1)).tolist()
    leapp.stop()
    return answer


@probe
def patch_undone_at_stop():
    sin = torch.sin
    leapp.start("g", patching=[leapp.FunctionPatch(torch, "sin", lambda x: torch.cos(x))])
    leapp.stop()
    return torch.sin is sin
