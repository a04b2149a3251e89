# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Export the trained policy with the names and kinds of its ports. Usage: export.py [FOLDER]; writes FOLDER/arm/"""

from __future__ import annotations

import sys

import leapp
import torch
from leapp import InputKindEnum, OutputKindEnum, TensorSemantics, annotate
from policy import FRAMES, FREQUENCY, JOINTS, trained

NAMES = [None, JOINTS]


def main(folder: str) -> None:
    policy = trained()
    torch.manual_seed(1)
    history = torch.zeros(1, FRAMES, len(JOINTS))
    leapp.start("arm", save_path=folder)
    with torch.no_grad():
        for _ in range(3):
            given = TensorSemantics("q", torch.randn(1, 3), kind=InputKindEnum.JOINT_POSITION, element_names=NAMES)
            aim = TensorSemantics("target", torch.randn(1, 2), kind="command/tip", element_names=[None, ["x", "z"]])
            q, target = annotate.input_tensors("policy", [given, aim])
            history = annotate.state_tensors("policy", {"history": history})
            torques, history = policy(q, target, history)
            history = annotate.update_state("policy", {"history": history})
            result = TensorSemantics("torque", torques, kind=OutputKindEnum.JOINT_TORQUES, element_names=NAMES)
            annotate.output_tensors("policy", result, export_with="onnx")
    leapp.stop()
    leapp.compile_graph(graph_configs=leapp.GraphConfigs(frequency=FREQUENCY))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
