# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the peer on its own bundles and keeps what it answered, for the runtime's tests to compare with.

    build/peer-venv/bin/python tests/bundles/make_peer_expected.py

Writes peer_expected/NAME.safetensors beside this file: `STEP/in/node/port` and `STEP/out/node/port`, STEPS steps in a
row from the exported state. The files are kept in the repository; run this after a change here.
"""

from __future__ import annotations

from pathlib import Path

import torch
from leapp import InferenceManager
from safetensors.torch import save_file

STEPS = 20
HERE = Path(__file__).resolve().parent


def main() -> None:
    (HERE / "peer_expected").mkdir(exist_ok=True)
    for folder in sorted((HERE / "peer").iterdir()):
        torch.manual_seed(0)
        manager = InferenceManager(str(folder / f"{folder.name}.yaml"))
        tensors: dict[str, torch.Tensor] = {}
        for step in range(STEPS):
            inputs = manager.get_mock_input()
            for name, value in inputs.items():
                tensors[f"{step}/in/{name}"] = value.clone().contiguous()
            for name, value in manager.run_policy(inputs).items():
                tensors[f"{step}/out/{name}"] = torch.as_tensor(value).clone().contiguous()
        save_file(tensors, HERE / "peer_expected" / f"{folder.name}.safetensors")


if __name__ == "__main__":
    main()
