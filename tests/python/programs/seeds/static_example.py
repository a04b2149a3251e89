# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A constant output."""

import leapp
import torch
from leapp import annotate

leapp.start(name="static_example")

input_tensor = torch.tensor([1.0, 2.0, 3.0])
traced_input = annotate.input_tensors("my_node", {"input": input_tensor})

# Computed output -- derived from the traced input.
computed_output = traced_input + 1.0

# Static output -- a constant, NOT derived from any input.
static_tensor = torch.tensor([4.0, 5.0, 6.0])

annotate.output_tensors(
    "my_node",
    {"computed": computed_output},
    static_outputs={"static": static_tensor},
    export_with="jit",
)

leapp.stop()
leapp.compile_graph()
