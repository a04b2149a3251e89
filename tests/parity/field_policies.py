# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Policies of every make: scripted, pickled, wrapped, hooked, normalised."""

from __future__ import annotations

import copy
import dataclasses
import functools
import io
import pickle

import torch
from field import N, net, one_call
from leapp import annotate
from programs import program
from torch import nn


@dataclasses.dataclass
class DataPolicy:
    weight: torch.Tensor
    gain: float = 0.5

    def __call__(self, x):
        return torch.tanh(x @ self.weight) * self.gain


@program
def dataclass_policy():
    policy = DataPolicy(torch.randn(4, 2))
    one_call(policy, (1, 4))


@program
def scripted_policy():
    one_call(torch.jit.script(net()), (1, 4))


@program
def traced_policy():
    one_call(torch.jit.trace(net(), torch.randn(1, 4)), (1, 4))


SCRIPT = io.BytesIO()
torch.jit.save(torch.jit.script(net()), SCRIPT)


@program
def loaded_script():
    SCRIPT.seek(0)
    one_call(torch.jit.load(SCRIPT), (1, 4))


@program
def pickled_policy():
    one_call(pickle.loads(pickle.dumps(net())), (1, 4))


@program
def deep_copied_policy():
    one_call(copy.deepcopy(net()).eval(), (1, 4))


@program
def state_dict_surgery():
    policy = net()
    state = {k: v * 0.5 for k, v in policy.state_dict().items()}
    policy.load_state_dict(state)
    one_call(policy, (1, 4))


@program
def checkpoint_saved_and_loaded():
    torch.save(net().state_dict(), "model.pt")
    policy = net()
    policy.load_state_dict(torch.load("model.pt"))
    one_call(policy, (1, 4))


class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *a, **k):
        return self.module(*a, **k)


@program
def wrapped_like_ddp():
    one_call(Wrapper(Wrapper(net())), (1, 4))


@program
def data_parallel():
    one_call(nn.DataParallel(net()), (1, 4))


@program
def forward_hooks():
    policy = net()
    policy[0].register_forward_hook(lambda m, i, o: o * 2)
    policy.register_forward_pre_hook(lambda m, i: (i[0] + 1,))
    one_call(policy, (1, 4))


@program
def weight_norm():
    torch.manual_seed(3)
    one_call(nn.utils.parametrizations.weight_norm(nn.Linear(4, 2)), (1, 4))


@program
def spectral_norm():
    torch.manual_seed(3)
    one_call(nn.utils.parametrizations.spectral_norm(nn.Linear(4, 2)).eval(), (1, 4))


@program
def partial_policy():
    def act(x, w, *, scale):
        return (x @ w) * scale

    one_call(functools.partial(act, w=torch.randn(4, 2), scale=2.0), (1, 4))


@program
def callable_object():
    class Act:
        def __init__(self):
            self.net = net()

        def __call__(self, x):
            return self.net(x).clamp(-1, 1)

    one_call(Act(), (1, 4))


@program
def lambda_policy():
    policy = net()
    one_call(lambda x: policy(x) * 2, (1, 4))


@program
def compiled_policy():
    one_call(torch.compile(net(), backend="eager"), (1, 4))


@program
def dropout_in_eval():
    torch.manual_seed(3)
    one_call(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.ReLU()).eval(), (1, 4))


@program
def double_precision():
    policy = net().double()
    x = annotate.input_tensors(N, {"x": torch.randn(1, 4, dtype=torch.float64)})
    annotate.output_tensors(N, {"action": policy(x)}, export_with="jit")


@program
def half_precision_cast():
    policy = net()
    x = annotate.input_tensors(N, {"x": torch.randn(1, 4)})
    annotate.output_tensors(N, {"action": policy(x.half().float()).to(torch.float16)}, export_with="jit")


@program
def actor_critic():
    class ActorCritic(nn.Module):
        def __init__(self):
            super().__init__()
            self.actor = net()
            self.critic = net(4, 1)
            self.std = nn.Parameter(torch.ones(2))

        def act(self, x):
            return torch.distributions.Normal(self.actor(x), self.std).mean

        def evaluate(self, x):
            return self.critic(x)

    policy = ActorCritic()
    x = annotate.input_tensors(N, {"obs": torch.randn(1, 4)})
    annotate.output_tensors(N, {"action": policy.act(x), "value": policy.evaluate(x)}, export_with="jit")


@program
def convolution_policy():
    torch.manual_seed(3)
    policy = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 2))
    one_call(policy, (1, 3, 8, 8))


@program
def attention_policy():
    torch.manual_seed(3)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).eval()
    one_call(lambda x: layer(x).mean(1), (1, 5, 8))


@program
def multihead_attention():
    torch.manual_seed(3)
    layer = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    one_call(lambda q, kv: layer(q, kv, kv, need_weights=False)[0], (1, 2, 8), (1, 5, 8))


@program
def layer_norm_and_embedding():
    torch.manual_seed(3)
    table = nn.Embedding(5, 4)
    norm = nn.LayerNorm(4)
    i = annotate.input_tensors(N, {"skill": torch.tensor([2])})
    annotate.output_tensors(N, {"action": norm(table(i))}, export_with="jit")
