# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Three stages: normalise, a linear layer, the most probable class. Usage: complete_pipeline.py [FOLDER]

complete_pipeline.cpp runs the bundle and prints the same; complete_pipeline_capture.cpp is this program on libtorch and
writes the same bundle.
"""

import sys

import leapp
import torch
from leapp import annotate

STEPS = 4


class SimpleNet(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(10, 5)
        with torch.no_grad():
            self.linear.weight.copy_(torch.sin(torch.arange(50).float()).reshape(5, 10))
            self.linear.bias.copy_(torch.arange(5) * 0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


@annotate.method(export_with="jit", node_name="preprocess")
def preprocess(raw_data: torch.Tensor) -> torch.Tensor:
    normalized = (raw_data - raw_data.mean()) / (raw_data.std() + 1e-6)
    return normalized


@torch.no_grad()
def main(folder: str) -> None:
    model = SimpleNet().eval()
    leapp.start("complete_pipeline", save_path=folder)
    for step in range(STEPS):
        preprocessed = preprocess(torch.cos(torch.arange(10).float() + step).unsqueeze(0))

        features = annotate.input_tensors("inference", {"features": preprocessed})
        predictions = model(features)
        predictions = annotate.output_tensors("inference", {"predictions": predictions}, export_with="jit")

        scores = annotate.input_tensors("postprocess", {"predictions": predictions})
        final_output = torch.argmax(torch.softmax(scores, dim=1), dim=1)
        final_output = annotate.output_tensors("postprocess", {"final_output": final_output}, export_with="jit")
        print(f"step {step}: class {final_output.item()}")
    leapp.stop()
    leapp.compile_graph()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
