# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Two nodes, the second of which feeds the first in the next pass. Usage: feedback_example.py [FOLDER]

Nothing here says "state": every tensor is an ordinary input or output. That `policy_memory` comes back one pass later
is seen in the second pass, so the loop runs twice. feedback_example.cpp runs the bundle and prints the same numbers.
"""

import sys
from pathlib import Path

import leapp
import torch
from leapp import annotate


def mix_with_feedback(data: torch.Tensor, feedback: torch.Tensor) -> torch.Tensor:
    centered = data - 0.5
    return torch.tanh(centered + 0.25 * feedback)


def blend_feedback(hidden: torch.Tensor, previous_feedback: torch.Tensor) -> torch.Tensor:
    return 0.8 * previous_feedback + 0.2 * hidden


def step(observation: torch.Tensor, policy_memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """One pass: the action, and what to give to the next pass."""
    data, feedback = annotate.input_tensors(
        "policy_step", {"observation_scalar": observation, "policy_memory_in": policy_memory}
    )
    policy_context = mix_with_feedback(data, feedback)
    control_action = torch.clamp(policy_context * 2.0, min=-1.0, max=1.0)
    policy_context, control_action = annotate.output_tensors(
        "policy_step", {"policy_context": policy_context, "control_action": control_action}, export_with="jit"
    )

    hidden, previous = annotate.input_tensors(
        "feedback_update", {"policy_context": policy_context, "policy_memory_prev": policy_memory}
    )
    policy_memory = blend_feedback(hidden, previous)
    policy_memory = annotate.output_tensors("feedback_update", {"policy_memory_out": policy_memory}, export_with="jit")
    return control_action, policy_memory


def main(folder: str) -> None:
    leapp.start("sample_feedback_graph", save_path=folder)
    policy_memory = torch.tensor([0.0])
    for i in range(2):
        control_action, policy_memory = step(torch.tensor([1.0 - 0.75 * i]), policy_memory)
        print(f"pass {i}: control_action = {control_action.item():+.6f}, policy_memory = {policy_memory.item():+.6f}")
    leapp.stop()
    leapp.compile_graph()
    print("written:", Path(folder) / "sample_feedback_graph" / "sample_feedback_graph.yaml")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
