# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""State that is announced."""

import leapp
import torch
from leapp import annotate

leapp.start("stateful_policy")

obs = annotate.input_tensors("policy", {"obs": torch.randn(1, 16)})
hidden = annotate.state_tensors("policy", {"hidden": torch.zeros(1, 32)})

next_hidden = torch.tanh(torch.cat([obs, hidden], dim=-1))[..., :32]
action = torch.tanh(next_hidden)

annotate.update_state("policy", {"hidden": next_hidden})
annotate.output_tensors("policy", {"action": action}, export_with="jit")

leapp.stop()
leapp.compile_graph(validate=True)
