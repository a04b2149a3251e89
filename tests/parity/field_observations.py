# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What the field does to observe: proxies, histories, recurrent actors, arrays."""

from __future__ import annotations

import functools

import numpy as np
import torch
from field import N, loop, net, one_call
from leapp import annotate
from programs import program
from torch import nn


class LazyData:
    def __init__(self, **values):
        self._values = values
        self._cache = {}

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._values:
            raise AttributeError(name)
        if name not in self._cache:
            self._cache[name] = annotate.input_tensors(N, {name: self._values[name]})
        return self._cache[name]

    def forget(self):
        self._cache.clear()


@program
def lazy_proxy():
    data = LazyData(position=torch.randn(1, 3), velocity=torch.randn(1, 3))

    def step():
        data.forget()
        action = data.position * 2 - data.velocity
        annotate.output_tensors(N, {"action": action}, export_with="jit")

    loop(step)


@program
def lazy_proxy_in_another_order():
    data = LazyData(position=torch.randn(1, 3), velocity=torch.randn(1, 3))
    for order in (0, 1, 0):
        data.forget()
        if order:
            v, p = data.velocity, data.position
        else:
            p, v = data.position, data.velocity
        annotate.output_tensors(N, {"action": p * 2 - v}, export_with="jit")


@program
def stopped_with_the_next_observation_at_hand():
    data = LazyData(position=torch.randn(1, 3))
    for _ in range(3):
        observation = data.position * 2
        annotate.output_tensors(N, {"action": observation + 1}, export_with="jit")
        data.forget()
        _ = data.position * 2


@program
def input_read_again_between_calls():
    position = torch.randn(1, 3)
    for _ in range(3):
        x = annotate.input_tensors(N, {"position": position})
        annotate.output_tensors(N, {"action": x * 2}, export_with="jit")
        annotate.input_tensors(N, {"position": position})
        position.add_(0.1)


@program
def input_announced_twice_in_a_call():
    position = torch.randn(1, 3)
    for _ in range(2):
        a = annotate.input_tensors(N, {"position": position})
        b = annotate.input_tensors(N, {"position": position})
        annotate.output_tensors(N, {"action": a + 2 * b}, export_with="jit")


@program
def annotate_in_a_property():
    class Robot:
        raw = torch.randn(1, 3)

        @property
        def joints(self):
            return annotate.input_tensors(N, {"joints": self.raw})

    robot = Robot()
    for _ in range(2):
        annotate.output_tensors(N, {"action": robot.joints * 2}, export_with="jit")


@program
def cached_property():
    class Robot:
        @functools.cached_property
        def joints(self):
            return annotate.input_tensors(N, {"joints": torch.ones(1, 3)})

    robot = Robot()
    annotate.output_tensors(N, {"action": robot.joints * 2 + robot.joints}, export_with="jit")


class Running(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("mean", torch.randn(n))
        self.register_buffer("var", torch.rand(n) + 1)
        self.eps = 1e-5

    def forward(self, x):
        return ((x - self.mean) / torch.sqrt(self.var + self.eps)).clamp(-5, 5)


@program
def empirical_normalization():
    torch.manual_seed(3)
    norm, policy = Running(4), net()
    one_call(lambda x: policy(norm(x)), (1, 4))


@program
def observation_dict():
    policy = net(6)
    obs = {"joints": torch.randn(1, 3), "command": torch.randn(1, 3)}
    given = annotate.input_tensors(N, {"obs": obs})
    annotate.output_tensors(N, {"action": policy(torch.cat(list(given.values()), -1))}, export_with="jit")


@program
def observations_unpacked():
    policy = net(6)
    j, c = annotate.input_tensors(N, {"joints": torch.randn(1, 3), "command": torch.randn(1, 3)})
    annotate.output_tensors(N, {"action": policy(torch.cat([j, c], -1))}, export_with="jit")


@program
def in_place_clip_and_scale():
    def terms(x, y):
        a = x.clone().clip_(min=-1.0, max=1.0).mul_(2.0)
        b = y.clone().mul_(torch.tensor([2.0, 2.0, 0.25]))
        return torch.cat([a, b], -1)

    one_call(terms, (1, 3), (1, 3))


@program
def stacked_frames():
    frames = torch.zeros(1, 3, 2)
    for _ in range(4):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 2)})
        f = annotate.state_tensors(N, {"frames": frames})
        frames = torch.cat([f[:, 1:], x.unsqueeze(1)], 1)
        frames = annotate.update_state(N, {"frames": frames})
        annotate.output_tensors(N, {"action": frames.flatten(1) * 2}, export_with="jit")


@program
def rolled_history():
    history = torch.zeros(3, 1, 2)
    for _ in range(4):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 2)})
        h = annotate.state_tensors(N, {"history": history})
        h = torch.roll(h, -1, 0)
        h[-1] = x
        history = annotate.update_state(N, {"history": h})
        annotate.output_tensors(N, {"action": history.transpose(0, 1).reshape(1, -1)}, export_with="jit")


@program
def last_action_as_state():
    policy, last = net(6), torch.zeros(1, 2)
    for _ in range(4):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 4)})
        previous = annotate.state_tensors(N, {"last_action": last})
        last = policy(torch.cat([x, previous], -1))
        annotate.update_state(N, {"last_action": last})
        annotate.output_tensors(N, {"action": last * 0.25}, export_with="jit")


@program
def last_action_given_back():
    policy, last = net(6), torch.zeros(1, 2)
    for _ in range(4):
        x, previous = annotate.input_tensors(N, {"x": torch.randn(1, 4), "last": last})
        last = annotate.output_tensors(N, {"action": policy(torch.cat([x, previous], -1))}, export_with="jit")


@program
def states_updated_in_another_order():
    a, b = torch.zeros(1, 2), torch.ones(1, 2)
    for k in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 2)})
        if k % 2:
            sb = annotate.state_tensors(N, {"b": b})
            sa = annotate.state_tensors(N, {"a": a})
        else:
            sa = annotate.state_tensors(N, {"a": a})
            sb = annotate.state_tensors(N, {"b": b})
        a, b = sa * 0.5 + x, sb - x
        if k % 2:
            annotate.update_state(N, {"b": b})
            annotate.update_state(N, {"a": a})
        else:
            annotate.update_state(N, {"a": a})
            annotate.update_state(N, {"b": b})
        annotate.output_tensors(N, {"action": sa + sb}, export_with="jit")


@program
def outputs_in_another_order():
    for k in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 2)})
        out = {"left": x * 2, "right": x + 1}
        if k % 2:
            out = dict(reversed(out.items()))
        annotate.output_tensors(N, out, export_with="jit")


@program
def recurrent_actor():
    torch.manual_seed(3)
    rnn = nn.LSTM(4, 3)
    hidden = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
    for _ in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 4)})
        hidden = annotate.state_tensors(N, {"h": hidden[0], "c": hidden[1]})
        out, hidden = rnn(x.unsqueeze(0), hidden)
        annotate.update_state(N, {"h": hidden[0], "c": hidden[1]})
        annotate.output_tensors(N, {"action": out.squeeze(0)}, export_with="jit")


@program
def gru_cell():
    torch.manual_seed(3)
    cell, h = nn.GRUCell(4, 3), torch.zeros(1, 3)
    for _ in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 4)})
        given = annotate.state_tensors(N, {"h": h})
        h = cell(x, given)
        annotate.update_state(N, {"h": h})
        annotate.output_tensors(N, {"action": h * 2}, export_with="jit")


@program
def numpy_glue_in_a_node():
    x = annotate.input_tensors(N, {"x": np.linspace(-1, 1, 4, dtype=np.float32)})
    clipped = np.clip(x, -0.5, 0.5)
    annotate.output_tensors(N, {"action": np.concatenate([clipped, np.abs(x)])}, export_with="jit")


@program
def numpy_copy_between_nodes():
    x = annotate.input_tensors("a", {"x": np.ones(3, dtype=np.float32)})
    y = annotate.output_tensors("a", {"y": x * 2}, export_with="jit")
    z = annotate.input_tensors("b", {"z": y.copy()})
    annotate.output_tensors("b", {"w": z + 1}, export_with="jit")


@program
def numpy_scalar_scale():
    scale = np.float32(0.25)
    one_call(lambda x: x * float(scale) + np.pi, (1, 3))


@program
def torch_numpy_round_trip():
    policy = net()

    def act(x):
        y = torch.from_numpy(x.numpy() * 2)
        return policy(y)

    one_call(act, (1, 4))


@program
def as_tensor_of_array():
    x = annotate.input_tensors(N, {"x": np.ones((1, 4), dtype=np.float32)})
    y = torch.as_tensor(x) * 2
    annotate.output_tensors(N, {"action": y}, export_with="jit")
