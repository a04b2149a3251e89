# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Small programs that both this LEAPP and the one on PyPI run. Each leaves a bundle named after itself."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import leapp
import numpy as np
import torch
from leapp import TensorSemantics, annotate

PROGRAMS: dict[str, Callable[[], Any]] = {}
START: dict[str, dict[str, Any]] = {
    "non_traced": {"non_traced": ["a"]},
    "dry_run": {"dry_run": True},
    "unpatched": {"global_patching": False},
}


def program(function: Callable[[], Any]) -> Callable[[], Any]:
    """Registers a program; start and compile stand around it."""

    def run() -> Any:
        leapp.start(function.__name__, **START.get(function.__name__, {}))
        options = function() or {}
        leapp.stop()
        return leapp.compile_graph(**{"visualize": False, "strict": False, **options})

    PROGRAMS[function.__name__] = run
    return function


@program
def nested_inputs():
    payload = {"joints": {"position": torch.randn(3), "velocity": torch.randn(3)}, "extra": [torch.randn(2)] * 1}
    joints, extra = annotate.input_tensors("n", payload)
    total = torch.cat([joints["position"] * 2, joints["velocity"], extra[0]])
    annotate.output_tensors("n", {"total": total}, export_with="jit")


@program
def nested_outputs():
    x = annotate.input_tensors("n", {"x": torch.randn(4)})
    annotate.output_tensors("n", {"parts": {"low": x[:2] * 2, "rest": [x[2:] + 1, x.sum()]}}, export_with="jit")


@program
def nested_edge():
    x = annotate.input_tensors("a", {"x": torch.randn(4)})
    parts = {"low": x[:2] * 2, "high": x[2:] * 3}
    annotate.output_tensors("a", {"parts": parts}, export_with="jit")
    given = annotate.input_tensors("b", {"given": parts})
    annotate.output_tensors("b", {"y": given["low"] + given["high"]}, export_with="jit")


@annotate.method(export_with="jit")
def named_results(x, y):
    total = x + y
    difference = x - y
    return total, difference


@annotate.method(export_with="jit", node_name="unnamed")
def unnamed_result(x):
    return x * 2 + 1


@annotate.method(export_with="jit")
def two_unnamed(x):
    return x * 2, x + 1


@annotate.method(export_with="jit")
def dict_result(x):
    return {"double": x * 2, "plus": x + 1}


SCALE = torch.tensor(2.0)
Pair = collections.namedtuple("Pair", ["left", "right"])


@annotate.method(export_with="jit")
def tuple_with_fields(x):
    return Pair(x * 2, x + 1)


@annotate.method(export_with="jit")
def list_result(x):
    return [x * 2, x + 1]


@annotate.method(export_with="jit")
def many_arguments(x, *rest, scale=SCALE, **options):
    result = x * scale
    for value in rest:
        result = result + value
    return result + options["offset"]


@annotate.method(export_with="jit")
def weighted(first, second, third=None, *, gain=None, **more):
    total = first * 2 + second
    for value in (third, gain, *more.values()):
        total = total if value is None else total * value
    return total


@program
def method_keywords_in_another_order():
    for _ in range(2):
        weighted(gain=torch.randn(3), last=torch.randn(3), second=torch.randn(3), first=torch.randn(3))


@program
def method_keywords_after_positions():
    weighted(torch.randn(3), third=torch.randn(3), other=torch.randn(3), gain=torch.randn(3), second=torch.randn(3))


@program
def method_keywords_that_change_their_order():
    for order in (["second", "gain", "first"], ["first", "second", "gain"]):
        weighted(**{name: torch.randn(3) for name in order})


@program
def method_names():
    named_results(torch.randn(3), torch.randn(3))


@program
def method_unnamed():
    unnamed_result(torch.randn(3))


@program
def method_two_unnamed():
    two_unnamed(torch.randn(3))


@program
def method_dict():
    dict_result(torch.randn(3))


@program
def method_namedtuple():
    tuple_with_fields(torch.randn(3))


@program
def method_list():
    list_result(torch.randn(3))


@program
def method_arguments():
    many_arguments(torch.randn(3), torch.randn(3), torch.randn(3), offset=torch.randn(3))


@program
def method_chain():
    total, difference = named_results(torch.randn(3), torch.randn(3))
    named = unnamed_result(total)
    dict_result(named - 0 * difference if False else named)


@program
def static_edge():
    x = annotate.input_tensors("a", {"x": torch.randn(3)})
    gains = torch.tensor([1.0, 2.0, 3.0])
    annotate.output_tensors("a", {"y": x * 2}, static_outputs={"gains": gains}, export_with="jit")
    g = annotate.input_tensors("b", {"g": gains})
    z = annotate.input_tensors("b", {"z": x * 1 if False else torch.randn(3)})
    annotate.output_tensors("b", {"w": g * z}, export_with="jit")


@program
def reentry():
    for _ in range(3):
        x = annotate.input_tensors("n", {"x": torch.randn(3)})
        annotate.output_tensors("n", {"y": torch.tanh(x) * 2}, export_with="jit")


@program
def feedback_of_a_later_node():
    memory = torch.zeros(2)
    for _ in range(3):
        x, m = annotate.input_tensors("first", {"x": torch.randn(2), "m": memory})
        y = x + m
        annotate.output_tensors("first", {"y": y}, export_with="jit")
        z = annotate.input_tensors("second", {"z": y})
        memory = torch.tanh(z)
        annotate.output_tensors("second", {"memory": memory}, export_with="jit")


@program
def feedback_of_itself():
    memory = torch.zeros(2)
    for _ in range(3):
        x, m = annotate.input_tensors("n", {"x": torch.randn(2), "m": memory})
        memory = torch.tanh(x + m)
        annotate.output_tensors("n", {"memory": memory}, export_with="jit")


@program
def delay():
    """A value of the pass before, read by a node that stands later in the order."""
    previous = torch.zeros(2)
    for _ in range(3):
        x = annotate.input_tensors("first", {"x": torch.randn(2)})
        now = x * 2
        annotate.output_tensors("first", {"now": now}, export_with="jit")
        a, b = annotate.input_tensors("second", {"a": now, "b": previous})
        annotate.output_tensors("second", {"change": a - b}, export_with="jit")
        previous = now


@program
def one_output_two_inputs():
    x = annotate.input_tensors("a", {"x": torch.randn(3)})
    y = x * 2
    annotate.output_tensors("a", {"y": y}, export_with="jit")
    p, q = annotate.input_tensors("b", {"p": y, "q": y})
    annotate.output_tensors("b", {"z": p + q * 3}, export_with="jit")


@program
def fan_out():
    x = annotate.input_tensors("a", {"x": torch.randn(3)})
    y = x * 2
    annotate.output_tensors("a", {"y": y}, export_with="jit")
    for node in ("b", "c"):
        p = annotate.input_tensors(node, {"p": y})
        annotate.output_tensors(node, {"z": p + 1}, export_with="jit")


@program
def passthrough():
    x, y = annotate.input_tensors("n", {"x": torch.randn(3), "y": torch.randn(3)})
    annotate.output_tensors("n", {"same": x, "double": y * 2}, export_with="jit")


@program
def unused_input():
    x, _ = annotate.input_tensors("n", {"x": torch.randn(3), "unused": torch.randn(3)})
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")


@program
def cloned_edge():
    x = annotate.input_tensors("a", {"x": torch.randn(3)})
    y = x * 2
    annotate.output_tensors("a", {"y": y}, export_with="jit")
    z = annotate.input_tensors("b", {"z": y.clone().detach()})
    annotate.output_tensors("b", {"w": z + 1}, export_with="jit")


@program
def copied_edge():
    x = annotate.input_tensors("a", {"x": torch.randn(3)})
    y = x * 2
    annotate.output_tensors("a", {"y": y}, export_with="jit")
    kept = torch.zeros(3)
    kept.copy_(y)
    z = annotate.input_tensors("b", {"z": kept})
    annotate.output_tensors("b", {"w": z + 1}, export_with="jit")


@program
def write_through_a_view():
    x = annotate.input_tensors("n", {"x": torch.randn(2, 3)})
    y = x * 2
    y[0] += 1
    y.t()[1] = 5.0
    annotate.output_tensors("n", {"y": y}, export_with="jit")


@program
def write_into_a_plain_tensor():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    history = torch.zeros(2, 3)
    history[1] = x
    annotate.output_tensors("n", {"y": history * 2}, export_with="jit")


@program
def out_argument():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    result = torch.zeros(3)
    torch.add(x, 1.0, out=result)
    annotate.output_tensors("n", {"y": result * 2}, export_with="jit")


@program
def branch_on_data():
    for value in (1.0, -1.0):
        x = annotate.input_tensors("n", {"x": torch.full((3,), value)})
        y = x * 2 if x.sum() > 0 else x * 3
        annotate.output_tensors("n", {"y": y}, export_with="jit")


@program
def counter_in_python():
    for i in range(3):
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        annotate.output_tensors("n", {"y": x * (i + 1)}, export_with="jit")


@program
def glue():
    x = annotate.input_tensors("a", {"x": torch.randn(3)})
    y = x * 2
    annotate.output_tensors("a", {"y": y}, export_with="jit")
    z = annotate.input_tensors("b", {"z": y + 1})
    annotate.output_tensors("b", {"w": z * 3}, export_with="jit")


@program
def unannounced_edge():
    x = annotate.input_tensors("a", {"x": torch.randn(3)})
    y = x * 2
    y = annotate.output_tensors("a", {"y": y}, export_with="jit")
    z = annotate.input_tensors("b", {"z": torch.randn(3)})
    annotate.output_tensors("b", {"w": z + y}, export_with="jit")


@program
def semantics():
    position = TensorSemantics(
        "position",
        torch.randn(1, 3),
        kind=leapp.InputKindEnum.JOINT_POSITION,
        element_names=["a", "b", "c"],
        extra={"unit": "rad"},
    )
    x = annotate.input_tensors("n", position)
    target = TensorSemantics("target", x * 2, kind=leapp.OutputKindEnum.JOINT_POSITION, element_names=[None, ["p"] * 3])
    annotate.output_tensors("n", [target], export_with="jit")


@program
def configs():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
    return {"graph_configs": leapp.GraphConfigs(frequency=50.0)}


@program
def backends():
    for name in ("jit", "jit-script", "jit-trace"):
        node = name.replace("-", "_")
        x = annotate.input_tensors(node, {"x": torch.randn(3)})
        annotate.output_tensors(node, {"y": torch.sin(x)}, export_with=name)


@program
def no_backend():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    annotate.output_tensors("n", {"y": x * 2})


@program
def two_states():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    h, c = annotate.state_tensors("n", {"h": torch.zeros(3), "c": torch.ones(3)})
    annotate.update_state("n", {"c": c * 0.5 + x, "h": torch.tanh(x + h)})
    annotate.output_tensors("n", {"y": h + c}, export_with="jit")


@program
def states_in_another_order():
    h, c = torch.zeros(3), torch.ones(3)
    for k in range(3):
        x = annotate.input_tensors("n", {"x": torch.randn(3)})
        if k % 2:
            c, h = annotate.state_tensors("n", {"c": c, "h": h})
            c, h = annotate.update_state("n", {"c": c * 0.5 + x, "h": torch.tanh(x + h)})
        else:
            h, c = annotate.state_tensors("n", {"h": h, "c": c})
            h, c = annotate.update_state("n", {"h": torch.tanh(x + h), "c": c * 0.5 + x})
        annotate.output_tensors("n", {"y": h + c}, export_with="jit")


@program
def state_made_of_this_calls_input():
    history = None
    for _ in range(3):
        x = annotate.input_tensors("n", {"x": torch.randn(3)})
        if history is None:
            history = torch.stack([x, x])
        history = annotate.state_tensors("n", {"history": history})
        history = annotate.update_state("n", {"history": torch.cat([history[1:], x[None]])})
        annotate.output_tensors("n", {"y": history.sum(0)}, export_with="jit")


@program
def inputs_read_between_calls():
    def read():
        return annotate.input_tensors("n", {"x": torch.randn(3)})

    for k in range(3):
        annotate.output_tensors("n", {"y": read() * 2}, export_with="jit")
        if k < 2:
            read()


@program
def no_backend_and_an_unused_input():
    x, _ = annotate.input_tensors("n", {"x": torch.randn(3), "unused": torch.randn(2)})
    annotate.output_tensors("n", {"y": x * 2})


@program
def state_never_updated():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    h = annotate.state_tensors("n", {"h": torch.ones(3)})
    annotate.output_tensors("n", {"y": x + h}, export_with="jit")


class Memory(torch.nn.Module):
    def __init__(self, in_place: bool) -> None:
        super().__init__()
        self.in_place = in_place
        self.register_buffer("memory", torch.zeros(3))
        self.register_buffer("gain", torch.full((3,), 2.0))

    def forward(self, x):
        following = self.memory * 0.5 + x * self.gain
        if self.in_place:
            self.memory.copy_(following)
        else:
            self.memory = following
        return following + 1


@program
def module_reassigns():
    module = Memory(in_place=False)
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    annotate.module("n", module)
    annotate.output_tensors("n", {"y": module(x)}, export_with="jit")


@program
def module_in_place():
    module = Memory(in_place=True)
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    annotate.module("n", module)
    annotate.output_tensors("n", {"y": module(x)}, export_with="jit")


@program
def registered_buffer():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    buffer = annotate.register_buffer("n", {"buffer": torch.zeros(2, 3)})
    buffer[0] = x
    annotate.output_tensors("n", {"y": buffer * 2}, export_with="jit")


@program
def through_numpy():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    y = torch.from_numpy(np.sin(x.numpy()) + 1)
    annotate.output_tensors("n", {"y": y}, export_with="jit")


@program
def numpy_arrays():
    x = annotate.input_tensors("n", {"x": np.linspace(0.0, 1.0, 3)})
    annotate.output_tensors("n", {"y": np.cos(x) * 2}, export_with="jit")


@program
def script_module():
    scripted = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh()))
    x = annotate.input_tensors("n", {"x": torch.randn(1, 3)})
    annotate.output_tensors("n", {"y": scripted(x)}, export_with="jit")


@program
def batch_norm_in_training():
    norm = torch.nn.BatchNorm1d(3)
    x = annotate.input_tensors("n", {"x": torch.randn(4, 3)})
    annotate.output_tensors("n", {"y": norm(x)}, export_with="jit")


@program
def non_traced():
    x = annotate.input_tensors("a", {"x": torch.randn(3)})
    y = x * 2
    annotate.output_tensors("a", {"y": y}, export_with="jit")
    z = annotate.input_tensors("b", {"z": y})
    annotate.output_tensors("b", {"w": z + 1}, export_with="jit")


@program
def dry_run():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")


@program
def unpatched():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    annotate.output_tensors("n", {"y": x * 2}, export_with="jit")


OWN_MODEL = torch.jit.script(torch.nn.Sequential(torch.nn.ReLU()))


@program
def own_model():
    torch.jit.save(OWN_MODEL, "own.pt")
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    annotate.output_tensors("n", {"y": torch.relu(x)}, backend_params={"model_path": "own.pt"})


@program
def leaves_that_are_no_tensors():
    x, options = annotate.input_tensors("n", {"x": torch.randn(3), "options": {"gain": torch.ones(3), "number": 2}})
    annotate.output_tensors("n", {"y": x * options["gain"] * options["number"]}, export_with="jit")


class Policy:
    def __init__(self) -> None:
        self.bias = torch.ones(3)

    @annotate.method(export_with="jit")
    def act(self, obs):
        action = obs * 2 + self.bias
        return action

    @annotate.method(export_with="jit")
    def with_another_input(self, obs):
        command = annotate.input_tensors("with_another_input", {"command": torch.randn(3)})
        action = obs + command
        return action


@program
def method_of_a_class():
    policy = Policy()
    for _ in range(2):
        policy.act(torch.randn(3))


@program
def method_with_another_input():
    Policy().with_another_input(torch.randn(3))


@annotate.method(export_with="jit")
def nested_argument(parts):
    total = parts["a"] + parts["b"][0]
    return total


@program
def method_with_a_nested_argument():
    nested_argument({"a": torch.randn(3), "b": [torch.randn(3)]})


@annotate.method(export_with="jit")
def several_returns(x):
    if x.shape[0] > 2:
        large = x * 2
        return large
    small = x * 3
    return small


@program
def method_with_several_returns():
    several_returns(torch.randn(3))


@program
def static_beside_semantics():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    gains = TensorSemantics("gains", torch.tensor([1.0, 2.0, 3.0]), kind=leapp.OutputKindEnum.KP)
    annotate.output_tensors("n", {"y": x * 2}, static_outputs=gains, export_with="jit")


@program
def chunked_edge():
    """A part of an output is no output."""
    x = annotate.input_tensors("a", {"x": torch.randn(4)})
    y = x * 2
    annotate.output_tensors("a", {"y": y}, export_with="jit")
    z = annotate.input_tensors("b", {"z": y[:2]})
    annotate.output_tensors("b", {"w": z + 1}, export_with="jit")


@program
def reshaped_edge():
    x = annotate.input_tensors("a", {"x": torch.randn(4)})
    y = x * 2
    annotate.output_tensors("a", {"y": y}, export_with="jit")
    z = annotate.input_tensors("b", {"z": y.reshape(2, 2)})
    annotate.output_tensors("b", {"w": z + 1}, export_with="jit")


@program
def registered_buffer_with_history():
    history = torch.zeros(2, 3)
    for _ in range(3):
        x = annotate.input_tensors("n", {"x": torch.randn(3)})
        kept = annotate.register_buffer("n", {"history": history})
        kept[0] = kept[1].clone()
        kept[1] = x
        annotate.output_tensors("n", {"y": kept.sum(dim=0)}, export_with="jit")


@program
def integers_and_truths():
    x, mask = annotate.input_tensors("n", {"x": torch.arange(3), "mask": torch.tensor([True, False, True])})
    annotate.output_tensors("n", {"y": torch.where(mask, x * 2, x), "any": mask.any()}, export_with="jit")


@program
def several_dtypes():
    x = annotate.input_tensors("n", {"x": torch.randn(3)})
    results = {name: x.to(getattr(torch, name)) for name in ("float64", "float16", "bfloat16", "int32", "int8", "bool")}
    annotate.output_tensors("n", results, export_with="jit")
