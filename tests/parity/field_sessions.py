# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What stands around a session: threads, contexts, names, methods, checks."""

from __future__ import annotations

import collections
import contextlib
import io
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import torch
from field import N, net, one_call
from leapp import InputKindEnum, OutputKindEnum, TensorSemantics, annotate
from programs import program
from torch import nn


@program
def in_inference_mode():
    policy = net()
    for _ in range(2):
        with torch.inference_mode():
            one_call(policy, (1, 4))


@program
def observation_outside_inference_mode():
    policy = net()
    for _ in range(3):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 4)})
        obs = x * 2
        with torch.inference_mode():
            annotate.output_tensors(N, {"action": policy(obs)}, export_with="jit")


@program
def in_no_grad_decorator():
    policy = net()

    @torch.no_grad()
    def act(x):
        return policy(x)

    one_call(act, (1, 4))


@program
def on_a_thread():
    worker = threading.Thread(target=one_call, args=(net(), (1, 4)))
    worker.start()
    worker.join()


@program
def in_a_pool():
    policy = net()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(one_call, policy, (1, 4)).result()


@program
def warnings_as_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one_call(net(), (1, 4))


@program
def redirected_output():
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        one_call(net(), (1, 4))


@program
def generator_pipeline():
    def pipeline():
        x = annotate.input_tensors("a", {"x": torch.randn(1, 3)})
        yield annotate.output_tensors("a", {"y": x * 2}, export_with="jit")

    for y in pipeline():
        z = annotate.input_tensors("b", {"z": y})
        annotate.output_tensors("b", {"w": z + 1}, export_with="jit")


@program
def node_named_like_a_task():
    one_call(net(), (1, 4), node="Isaac-Velocity-Flat-Anymal-C-v0")


@program
def node_with_dots_and_spaces():
    one_call(net(), (1, 4), node="my policy.v1")


@program
def ports_with_odd_names():
    x = annotate.input_tensors(N, {"obs.joint pos": torch.randn(3), "class": torch.randn(3)})
    annotate.output_tensors(N, {"return": x[0] + x[1]}, export_with="jit")


@program
def enum_kinds():
    x = annotate.input_tensors(
        N,
        TensorSemantics(
            name="x", ref=torch.randn(1, 3), kind=InputKindEnum.BODY_POSITION, element_names=["x", "y", "z"]
        ),
    )
    annotate.output_tensors(
        N,
        TensorSemantics(
            name="y",
            ref=x * 2,
            kind=OutputKindEnum.JOINT_TORQUE if hasattr(OutputKindEnum, "JOINT_TORQUE") else "target",
        ),
        export_with="jit",
    )


@program
def semantics_with_two_axes():
    names = [["hand", "foot"], ["x", "y", "z"]]
    x = annotate.input_tensors(
        N,
        TensorSemantics(
            name="x", ref=torch.randn(1, 2, 3), element_names=names, extra={"isaaclab_connection": "state:robot:x"}
        ),
    )
    annotate.output_tensors(N, {"y": x[:, 0]}, export_with="jit")


@program
def chained_with_a_dict_of_outputs():
    x = annotate.input_tensors("a", {"x": torch.randn(1, 3)})
    out = {"p": x * 2, "q": x + 1}
    p, q = annotate.output_tensors("a", out, export_with="jit")
    r, s = annotate.input_tensors("b", {"r": p, "s": q})
    annotate.output_tensors("b", {"w": r * s}, export_with="jit")


@program
def outputs_kept_in_a_dict():
    store = {}
    x = annotate.input_tensors("a", {"x": torch.randn(1, 3)})
    store["y"] = x * 2
    annotate.output_tensors("a", {"y": store["y"]}, export_with="jit")
    z = annotate.input_tensors("b", {"z": store["y"]})
    annotate.output_tensors("b", {"w": z + 1}, export_with="jit")


@program
def deque_history():
    history = collections.deque([torch.zeros(1, 2)] * 3, maxlen=3)
    for _ in range(4):
        x = annotate.input_tensors(N, {"x": torch.randn(1, 2)})
        old = annotate.state_tensors(N, {f"h{i}": v for i, v in enumerate(history)})
        history = collections.deque(old, maxlen=3)
        history.append(x)
        annotate.update_state(N, {f"h{i}": v for i, v in enumerate(history)})
        annotate.output_tensors(N, {"action": torch.cat(list(history), -1) * 2}, export_with="jit")


@program
def method_of_a_module():
    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net()

        @annotate.method(export_with="jit")
        def forward(self, obs):
            action = self.net(obs)
            return action

    Policy()(torch.randn(1, 4))


@program
def method_with_keywords():
    @annotate.method(export_with="jit", node_name="kw")
    def act(obs, command, *, scale):
        action = obs * scale + command
        return action

    act(command=torch.randn(3), obs=torch.randn(3), scale=torch.randn(3))


@program
def method_with_a_default():
    @annotate.method(export_with="jit", node_name="d")
    def act(obs, bias=torch.ones(3)):  # noqa: B008
        action = obs + bias
        return action

    act(torch.randn(3))


@program
def method_static():
    class P:
        @staticmethod
        @annotate.method(export_with="jit", node_name="s")
        def act(obs):
            action = obs * 2
            return action

    P.act(torch.randn(3))


@program
def method_called_three_times():
    @annotate.method(export_with="jit", node_name="m")
    def act(obs):
        action = obs * 2
        return action

    for _ in range(3):
        act(torch.randn(3))


@program
def gait_clock():
    class Clock:
        def __init__(self):
            self.t = torch.zeros(1)

        def step(self):
            x = annotate.input_tensors(N, {"x": torch.randn(1)})
            t = annotate.state_tensors(N, {"t": self.t})
            self.t = annotate.update_state(N, {"t": t + 0.1})
            annotate.output_tensors(N, {"phase": torch.sin(self.t), "y": x * 2}, export_with="jit")

    clock = Clock()
    for _ in range(3):
        clock.step()
