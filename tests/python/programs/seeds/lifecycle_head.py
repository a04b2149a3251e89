# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The head of the API page, with one function to trace."""

import leapp
import torch
from leapp import annotate


@annotate.method(export_with="jit")
def double(values):
    doubled = values * 2
    return doubled


data = torch.randn(4)

leapp.start(name="my_graph", save_path=".", verbose=False)
# ... trace your code using annotate.method()
# or annotate.input_tensors() / annotate.output_tensors()
doubled = double(data)
leapp.stop()
leapp.compile_graph(visualize=True)
