# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Policies of lerobot as pipelines of several nodes with state, as a robot would run them.

Each is a function of one step, annotated. Without a session the annotations hand back what they are given, so the same
code is the reference. What lerobot keeps in Python (a deque of actions, asked for its length) is a tensor and a place
in it here: that is what to write for a robot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import from_lerobot as zoo
import torch
from catalogue import Inputs
from leapp import annotate
from lerobot.policies.smolvla.modeling_smolvla import make_att_2d_masks
from torch import Tensor


class ActionQueue:
    """A chunk is taken when the last one is used up; one action of it a step."""

    def __init__(self, length: int) -> None:
        self.actions, self.place = torch.zeros(length, zoo.ACTIONS), torch.zeros((), dtype=torch.long)

    def __call__(self, chunk: Tensor, backend: str) -> Tensor:
        given = annotate.input_tensors("queue", {"chunk": chunk})
        if self.place == 0:
            self.actions.copy_(given[0, : len(self.actions)])
        action = self.actions[self.place] * 0.5 + 0.1  # as the normaliser of actions has it
        self.place.copy_((self.place + 1) % len(self.actions))
        annotate.output_tensors("queue", {"action": action}, export_with=backend)
        return action


class Act:
    """observation -> normalised -> chunk -> queue."""

    def __init__(self) -> None:
        self.policy, self.queue = zoo.act().eval(), ActionQueue(4)
        self.mean, self.std = torch.rand(zoo.STATES), torch.rand(zoo.STATES) + 0.5

    def __call__(self, state: Tensor, image: Tensor, backend: str) -> Tensor:
        state, image = annotate.input_tensors("observation", {"state": state, "image": image})
        seen = {"normal": (state - self.mean) / self.std, "picture": image * 2 - 1}
        seen = dict(zip(seen, _outputs("observation", seen, backend), strict=True))
        normal, picture = annotate.input_tensors("policy", seen)
        chunk = self.policy.predict_action_chunk({zoo.STATE: normal, zoo.CAMERA: picture})
        (chunk,) = _outputs("policy", {"chunk": chunk}, backend)
        return self.queue(chunk, backend)


class Diffusion:
    """The last two observations are kept; noise is an input; five steps of DDIM; a queue of actions."""

    def __init__(self) -> None:
        self.policy, self.queue = zoo.diffusion().eval(), ActionQueue(4)
        self.states, self.pictures = torch.zeros(1, 2, zoo.STATES), torch.zeros(1, 2, 1, 3, zoo.SIZE, zoo.SIZE)

    def __call__(self, state: Tensor, image: Tensor, noise: Tensor, backend: str) -> Tensor:
        state, image = annotate.input_tensors("history", {"state": state, "image": image})
        self.states = torch.cat([self.states[:, 1:], state[:, None]], 1)
        self.pictures = torch.cat([self.pictures[:, 1:], image[:, None, None]], 1)
        kept = _outputs("history", {"states": self.states, "pictures": self.pictures}, backend)
        states, pictures, noise = annotate.input_tensors(
            "policy", {"states": kept[0], "pictures": kept[1], "noise": noise}
        )
        batch = {zoo.STATE: states, "observation.images": pictures}
        (chunk,) = _outputs("policy", {"chunk": self.policy.diffusion.generate_actions(batch, noise=noise)}, backend)
        return self.queue(chunk, backend)


class SmolVla:
    """Picture, sentence and state become keys and values, which are kept and renewed every other step; the actions are
    denoised with them in every step."""

    def __init__(self) -> None:
        self.model, self.queue = zoo.smolvla().eval().model, ActionQueue(3)
        self.tick = torch.zeros((), dtype=torch.long)
        tokens, width = self.prefix_shape()
        self.keys = [torch.zeros(1, tokens, 1, width) for _ in range(2)]
        self.values = [torch.zeros(1, tokens, 1, width) for _ in range(2)]
        self.padding = torch.zeros(1, tokens, dtype=torch.bool)

    def prefix_shape(self) -> tuple[int, int]:
        inputs = zoo.told(torch.Generator().manual_seed(0))
        with torch.no_grad():
            cache, padding = self.prefix(*(inputs[name] for name in ("state", "image", "tokens", "mask")))
        return padding.shape[1], cache[0]["key_states"].shape[-1]

    def prefix(self, state: Tensor, image: Tensor, tokens: Tensor, mask: Tensor) -> tuple[dict[int, Inputs], Tensor]:
        states = torch.nn.functional.pad(state, (0, 8 - zoo.STATES))
        small = torch.nn.functional.interpolate(image, (32, 32), mode="bilinear", align_corners=False) * 2 - 1
        present = torch.ones(1, dtype=torch.bool)
        embedded, padding, attention = self.model.embed_prefix([small], [present], tokens, mask, state=states)
        _, cache = self.model.vlm_with_expert.forward(
            attention_mask=make_att_2d_masks(padding, attention),
            position_ids=torch.cumsum(padding, dim=1) - 1,
            past_key_values=None,
            inputs_embeds=[embedded, None],
            use_cache=True,
            fill_kv_cache=True,
        )
        return cache, padding

    def __call__(
        self, state: Tensor, image: Tensor, tokens: Tensor, mask: Tensor, noise: Tensor, backend: str
    ) -> Tensor:
        told = annotate.input_tensors("prefix", {"state": state, "image": image, "tokens": tokens, "mask": mask})
        if self.tick == 0:
            cache, padding = self.prefix(*told)
            for layer in range(2):
                self.keys[layer].copy_(cache[layer]["key_states"])
                self.values[layer].copy_(cache[layer]["value_states"])
            self.padding.copy_(padding)
        self.tick.copy_((self.tick + 1) % 2)
        kept = {f"key{i}": k.clone() for i, k in enumerate(self.keys)}
        kept.update({f"value{i}": v.clone() for i, v in enumerate(self.values)})
        kept["padding"] = self.padding.clone()
        kept = dict(zip(kept, _outputs("prefix", kept, backend), strict=True))
        given = annotate.input_tensors("denoise", {**kept, "noise": noise})
        chunk = self.denoised(dict(zip([*kept, "noise"], given, strict=True)))
        (chunk,) = _outputs("denoise", {"chunk": chunk[:, :, : zoo.ACTIONS]}, backend)
        return self.queue(chunk, backend)

    def denoised(self, given: Inputs) -> Tensor:
        cache = {i: {"key_states": given[f"key{i}"], "value_states": given[f"value{i}"]} for i in range(2)}
        x, steps = given["noise"], self.model.config.num_steps
        for step in range(steps):
            time = torch.full((1,), 1.0 - step / steps)
            x = x - self.model.denoise_step(given["padding"], cache, x, time) / steps
        return x


def _outputs(node: str, values: Inputs, backend: str) -> tuple[Tensor, ...]:
    published = annotate.output_tensors(node, values, export_with=backend)
    return published if isinstance(published, tuple) else (published,)


@dataclass(frozen=True)
class Policy:
    make: Callable[[], Callable[..., Tensor]]
    inputs: Callable[[torch.Generator], Inputs]
    nodes: Mapping[str, str]  # where an input enters


POLICIES = {
    "act": Policy(Act, zoo.observation, {"state": "observation", "image": "observation"}),
    "diffusion": Policy(Diffusion, zoo.noisy_now, {"state": "history", "image": "history", "noise": "policy"}),
    "smolvla": Policy(
        SmolVla,
        zoo.told,
        {"state": "prefix", "image": "prefix", "tokens": "prefix", "mask": "prefix", "noise": "denoise"},
    ),
}
