# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What the validation page shows of feedback state, after a graph that has the node it names."""

import leapp
import torch
from leapp import InferenceManager, annotate

leapp.start("my_graph")
x = annotate.input_tensors("stateful_node", {"x": torch.ones(1, 32)})
h = annotate.state_tensors("stateful_node", {"h": torch.ones(1, 32)})
annotate.update_state("stateful_node", {"h": 0.5 * h + x})
annotate.output_tensors("stateful_node", {"y": h * 2}, export_with="jit")
leapp.stop()
leapp.compile_graph(visualize=False)

manager = InferenceManager("my_graph/my_graph.yaml")
manager.set_input_value("stateful_node", "h", torch.zeros(1, 32))

assert manager.feedback_inputs == ["stateful_node/h"]
outputs = [manager({"stateful_node/x": torch.ones(1, 32)})["stateful_node/y"][0, 0].item() for _ in range(3)]
assert outputs == [0.0, 2.0, 3.0], outputs
manager.reset()
assert manager({"stateful_node/x": torch.ones(1, 32)})["stateful_node/y"][0, 0].item() == 2.0
