# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A buffer that is written in place and mirrored; the page shows the class, and the rest is what it takes to run it."""

import leapp
import torch
from leapp import annotate


class DataProcessor:
    def __init__(self):
        self._buffer = torch.zeros(10)

    @annotate.method(export_with="jit")
    def process(self, input_data: torch.Tensor):
        self._buffer[:] = input_data
        annotate.mirror_leapp_tags(input_data, self._buffer)
        return self._buffer * 2.0


processor = DataProcessor()
data = torch.randn(10)

leapp.start(name="buffer_mirror")
result = processor.process(data)
leapp.stop()
leapp.compile_graph()
