# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that went wrong here once: state, calls that differ, models of one's own, patches, arrays."""

from __future__ import annotations

import leapp
import numpy as np
import torch
from leapp import TensorSemantics, annotate
from programs import START, program

N = "policy"


def announced_output(value, **options):
    return annotate.output_tensors(N, {"action": value}, **{"export_with": "jit", **options})


@program
def history_made_from_this_call():
    """state_tensors is given a value that this call computed."""
    history = None
    for _ in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 2)})
        if history is None:
            history = x.unsqueeze(0).repeat(3, 1, 1)
        before = annotate.state_tensors(N, {"history": history})
        history = annotate.update_state(N, {"history": torch.cat([before[1:], x.unsqueeze(0)])})
        announced_output(history.reshape(1, -1) * 2)


@program
def history_updated_before_it_was_announced():
    """The first call only updates the state; later ones announce it first."""
    history = None
    for _ in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 2)})
        if history is None:
            history = x.unsqueeze(0).repeat(3, 1, 1)
        else:
            history = torch.cat([annotate.state_tensors(N, {"history": history})[1:], x.unsqueeze(0)])
        history = annotate.update_state(N, {"history": history})
        announced_output(history.reshape(1, -1) * 2)


@program
def last_action_only_fed_back():
    """The only reader of the action is the next step."""
    last = torch.zeros(2)
    for _ in range(3):
        x, previous = annotate.input_tensors(N, {"x": torch.randn(2), "last": last})
        last = announced_output(torch.tanh(x + previous))


@program
def clock_of_announced_state():
    """An output that depends on state alone."""
    t = torch.zeros(1)
    for _ in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(1)})
        t = annotate.update_state(N, {"t": annotate.state_tensors(N, {"t": t}) + 0.1})
        annotate.output_tensors(N, {"phase": torch.sin(t), "double": x * 2}, export_with="jit")


@program
def clock_without_inputs():
    """A node whose only input is its state."""
    t = torch.zeros(1)
    for _ in range(3):
        t = annotate.update_state(N, {"t": annotate.state_tensors(N, {"t": t}) + 0.1})
        announced_output(torch.sin(t))


@program
def clock_in_an_attribute():
    """State that nobody announced, and an output that depends on it alone."""
    held = {"t": torch.zeros(1)}
    for _ in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(1)})
        held["t"] = held["t"] + 0.1
        annotate.output_tensors(N, {"phase": torch.sin(held["t"]) + x * 0, "double": x * 2}, export_with="jit")


class Phase(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("phase", torch.zeros(2))

    def forward(self, x):
        self.phase = self.phase + 0.1
        return x * 2, torch.sin(self.phase)


@program
def part_of_a_buffer():
    """An output that is made from a module's buffer alone."""
    module = Phase()
    for _ in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(2)})
        annotate.module(N, module)
        double, phase = module(x)
        annotate.output_tensors(N, {"double": double, "sine": phase[:1]}, export_with="jit")


@program
def view_held_from_before():
    """A view that was made before the session is written, then the tensor itself."""
    kept = torch.zeros(2, 4)
    row = kept[0]
    for _ in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(4)})
        row.copy_(x)
        kept[1].add_(x)
        announced_output(kept * 2)


@program
def pointer_that_is_a_tensor():
    """A circular buffer whose place to write is a tensor of no dimensions."""
    ring, place = torch.zeros(3, 2), torch.tensor(0)
    for _ in range(4):
        x = annotate.input_tensors(N, {"x": torch.randn(2)})
        r, p = annotate.state_tensors(N, {"ring": ring, "place": place})
        r = r.clone()
        r[p] = x
        ring, place = annotate.update_state(N, {"ring": r, "place": (p + 1) % 3})
        announced_output(r.flatten() * 2)


@program
def row_read_with_a_tensor():
    """buffer[i] with an index of no dimensions."""
    table = torch.randn(3, 2)
    i, x = annotate.input_tensors(N, {"i": torch.tensor(1), "x": torch.randn(2)})
    announced_output(table[i] + x)


@program
def constant_made_in_the_first_call():
    """A cache that the first call fills, from nothing live."""
    cache = None
    for _ in range(4):
        x = annotate.input_tensors(N, {"x": torch.randn(3)})
        if cache is None:
            cache = torch.arange(3.0) * 0.1
        announced_output(x - cache)


@program
def policy_made_after_the_first_observation():
    """Weights and buffers are made while the node is open."""
    policy = None
    for _ in range(4):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 3)})
        if policy is None:
            policy, mean = torch.nn.Linear(3, 2), torch.ones(3) / 4
        announced_output(policy(x - mean))


@program
def number_that_differs_and_does_not_matter():
    """A counter is multiplied by zero: every sample agrees."""
    for step in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(2)})
        announced_output(x * 2 + 0.0 * step)


@program
def clamp_that_never_binds():
    """A bound differs from call to call, and no value is near it."""
    for step in range(3):
        x = annotate.input_tensors(N, {"x": torch.rand(2)})
        announced_output(torch.clamp(x, max=100.0 + step))


@program
def overwritten_input():
    """x[:] = 5 leaves nothing of the input."""
    x = annotate.input_tensors(N, {"x": torch.randn(3)})
    x[:] = 5.0
    announced_output(x * 2)


@program
def array_of_no_dimensions():
    """(x.sum() == 6).all() on a live array."""
    x = annotate.input_tensors(N, {"x": np.ones(6)})
    assert (x.sum() == 6).all()
    announced_output(x * 2)


@program
def copies_of_an_array_between_nodes():
    """np.copy keeps the edge."""
    x = annotate.input_tensors("a", {"x": np.ones(3, dtype=np.float32)})
    y = annotate.output_tensors("a", {"y": x * 2}, export_with="jit")
    z = annotate.input_tensors("b", {"z": np.copy(y)})
    annotate.output_tensors("b", {"w": z + 1}, export_with="jit")


@program
def mirrored_tags_of_an_array():
    """mirror_leapp_tags on arrays."""
    x = annotate.input_tensors(N, {"x": np.ones(3, dtype=np.float32)})
    y = x * 2
    kept = np.zeros(3, dtype=np.float32)
    kept[:] = np.full(3, 2.0, dtype=np.float32)
    announced_output(annotate.mirror_leapp_tags(y, kept) + 1)


@program
def nested_register_buffer():
    """Buffers in a dict of a dict."""
    x = annotate.input_tensors(N, {"x": torch.randn(3)})
    buffers = annotate.register_buffer(N, {"parts": {"low": torch.zeros(3), "high": torch.zeros(3)}})
    buffers["low"][:] = x
    buffers["high"][:] = x * 2
    announced_output(buffers["low"] + buffers["high"])


@program
def outputs_that_left_torch():
    """A node without a model may compute with lists."""
    x = annotate.input_tensors("a", {"x": torch.ones(3)})
    y = torch.tensor([value * 2 for value in x.tolist()])
    y = annotate.output_tensors("a", {"y": y}, export_with="jit")
    z = annotate.input_tensors("b", {"z": y})
    annotate.output_tensors("b", {"w": z + 1}, export_with="jit")


START["outputs_that_left_torch"] = {"non_traced": ["a"]}


@program
def unused_input_without_a_back_end():
    """A node that gets no model drops inputs that reach no output."""
    x, _ = annotate.input_tensors(N, {"x": torch.randn(3), "unused": torch.randn(3)})
    annotate.output_tensors(N, {"y": x * 2})


OWN_MODEL = torch.jit.script(torch.nn.Sequential(torch.nn.ReLU()))


@program
def own_model_with_fewer_inputs():
    """One's own model gets the inputs it has."""
    torch.jit.save(OWN_MODEL, "own.pt")
    x, _ = annotate.input_tensors(N, {"x": torch.randn(3), "unused": torch.randn(3)})
    annotate.output_tensors(N, {"y": torch.relu(x)}, backend_params={"model_path": "own.pt"})


@program
def transposed_matrix_times_vector():
    """m.T @ v as ONNX."""
    m, v = annotate.input_tensors(N, {"m": torch.randn(3, 3), "v": torch.randn(3)})
    announced_output(m.T @ v, export_with="onnx-dynamo")


@program
def slice_writes_by_torchs_exporter():
    """onnx-torchscript of x[:, 1] = y."""
    x, y = annotate.input_tensors(N, {"x": torch.randn(2, 3), "y": torch.randn(2)})
    z = x.clone()
    z[:, 1] = y
    announced_output(z * 2, export_with="onnx-torchscript")


@program
def two_names_for_the_same_memory():
    """A tensor and a view of it, each with its own meaning."""
    state = torch.randn(1, 6)
    whole = TensorSemantics("whole", state, kind="state/whole")
    part = TensorSemantics("part", state[:, :3], kind="state/part")
    a, b = annotate.input_tensors(N, [whole, part])
    announced_output(a[:, 3:] + b)


@program
def keywords_in_the_order_of_the_call():
    """annotate.method called by keyword."""

    @annotate.method(export_with="jit", node_name="act")
    def act(obs, command, *, scale):
        action = obs * scale + command
        return action

    act(scale=torch.randn(3), command=torch.randn(3), obs=torch.randn(3))


@program
def returned_default():
    """A default argument is returned."""

    @annotate.method(export_with="jit", node_name="act")
    def act(obs, gains=torch.tensor([1.0, 2.0])):  # noqa: B008
        action = obs * 2
        return action, gains

    act(torch.randn(2))


def patched_sine(value):
    return torch.cos(value) * 2


@program
def patch_for_live_arguments_only():
    """A patched function computes as ever with what is not live."""
    x = annotate.input_tensors(N, {"x": torch.randn(3)})
    offset = torch.sin(torch.zeros(3))
    announced_output(torch.sin(x) + offset)


START["patch_for_live_arguments_only"] = {"patching": [leapp.FunctionPatch(torch, "sin", patched_sine)]}


@program
def patch_without_global_patching():
    """global_patching=False leaves functions as they are."""
    x = annotate.input_tensors(N, {"x": torch.randn(3)})
    announced_output(torch.sin(x))


START["patch_without_global_patching"] = {
    "patching": [leapp.FunctionPatch(torch, "sin", patched_sine)],
    "global_patching": False,
}


@program
def input_replaced_while_open():
    """Another tensor under the same name replaces the first."""
    a = annotate.input_tensors(N, {"x": torch.randn(3)})
    del a
    b = annotate.input_tensors(N, {"x": torch.full((3,), 2.0)})
    announced_output(b * 2)


@program
def state_updated_after_the_node_was_closed():
    """update_state comes when the next call has begun."""
    h = torch.zeros(2)
    following = annotate.input_tensors(N, {"x": torch.randn(2)})
    for _ in range(3):
        before = annotate.state_tensors(N, {"h": h})
        after = torch.tanh(following + before)
        announced_output(after * 2)
        following = annotate.input_tensors(N, {"x": torch.randn(2)})
        h = after * torch.ones(2)
        annotate.update_state(N, {"h": h})


@program
def copied_with_a_name_of_python():
    """Ports may be called as Python's keywords and built-ins are."""
    x = annotate.input_tensors(N, {"input": torch.randn(3), "list": torch.randn(3)})
    announced_output(x[0] + x[1])
