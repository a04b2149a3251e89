# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Say what tensors mean: kinds, names of elements, an axis of moments, keys of your own. Usage: semantics.py [FOLDER]

Writes FOLDER/semantics/ and prints what its YAML says about the ports, and a target for each joint; semantics.cpp runs
the bundle, looks the ports up by what they mean and prints the same targets.
"""

import sys
from pathlib import Path

import leapp
import torch
from leapp import GraphConfigs, InputKindEnum, OutputKindEnum, TemporalAxis, TensorSemantics, annotate

JOINTS = ["hip", "knee", "ankle"]
GAINS = [20.0, 20.0, 10.0]


def main(folder: str) -> None:
    leapp.start("semantics", save_path=folder)
    position, history = annotate.input_tensors(
        "policy",
        [
            TensorSemantics("q", 0.25 * torch.arange(3), kind=InputKindEnum.JOINT_POSITION, element_names=JOINTS),
            TensorSemantics("history", torch.arange(15.0).reshape(5, 3), element_names=[TemporalAxis(20.0), JOINTS]),
        ],
    )
    target = position + 0.1 * history.mean(dim=0)
    target = annotate.output_tensors(
        "policy",
        TensorSemantics("target", target, OutputKindEnum.JOINT_POSITION, JOINTS, extra={"unit": "rad"}),
        static_outputs=TensorSemantics("kp", torch.tensor(GAINS), OutputKindEnum.KP, JOINTS),
        export_with="jit",
    )
    leapp.stop()
    leapp.compile_graph(graph_configs=GraphConfigs(frequency=50.0))
    print((Path(folder) / "semantics" / "semantics.yaml").read_text().partition("\nsystem information:")[0])
    for i, joint in enumerate(JOINTS):
        print(f"# {joint}: target {target[i].item():+.6f}, kp {GAINS[i]:+.6f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
