# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Close the loop in Python. Usage: simulate.py BUNDLE FILE.csv [--reset MODE] [--eager] [--seconds S]

The bundle drives the arm along an eight; every period is a line of FILE.csv. With --eager it is the PyTorch policy that
drives, without LEAPP, and fills its history as it did in training.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
import torch
from arm import START, Arm, target_at
from leapp import InferenceManager, NameMap
from policy import FRAMES, FREQUENCY, HERE, JOINTS, trained

Controller = Callable[[np.ndarray, np.ndarray], np.ndarray]

COLUMNS = ["time", "shoulder", "elbow", "wrist", *(f"torque_{name}" for name in ("elbow", "wrist", "shoulder"))]
COLUMNS += ["tip_x", "tip_z", "target_x", "target_z"]


def from_bundle(bundle: str, reset: str, arm: Arm) -> Controller:
    manager = InferenceManager(bundle)
    positions = NameMap(manager.input_by_kind("state/joint/position"), -1, arm.joints)
    torques = NameMap(manager.output_by_kind("target/joint/torques"), -1, arm.motors)
    manager.set_guards(file=HERE / "limits.yaml")
    manager.reset(reset)

    def control(position: np.ndarray, target: np.ndarray) -> np.ndarray:
        inputs = {"policy/q": positions.to_port(position), "policy/target": target.astype(np.float32)[None]}
        outputs = manager(inputs)
        return np.asarray(torques.from_port(outputs["policy/torque"])).ravel()

    return control


def from_torch(arm: Arm) -> Controller:
    policy = trained()
    order, motors = [arm.joints.index(name) for name in JOINTS], [JOINTS.index(name) for name in arm.motors]
    history: torch.Tensor | None = None

    def control(position: np.ndarray, target: np.ndarray) -> np.ndarray:
        nonlocal history
        q = torch.tensor(position[order]).float()[None]
        if history is None:
            history = q.unsqueeze(1).repeat(1, FRAMES, 1)
        with torch.no_grad():
            torques, history = policy(q, torch.tensor(target).float()[None], history)
        return torques[0].double().numpy()[motors]

    return control


def run(arm: Arm, control: Controller, seconds: float) -> list[Sequence[float]]:
    arm.reset(START)
    rows = []
    for period in range(int(seconds * FREQUENCY)):
        target = target_at(period / FREQUENCY)
        position, tip = arm.position, arm.tip
        torques = control(position, np.array(target))
        rows.append((arm.data.time, *position, *torques, *tip, *target))
        arm.drive(torques)
    return rows


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("bundle")
    options.add_argument("file")
    options.add_argument("--reset", default="first_frame", choices=["first_frame", "exported", "zeros"])
    options.add_argument("--eager", action="store_true")
    options.add_argument("--seconds", type=float, default=8.0)
    given = options.parse_args()
    arm = Arm()
    control = from_torch(arm) if given.eager else from_bundle(given.bundle, given.reset, arm)
    rows = run(arm, control, given.seconds)
    with open(given.file, "w", encoding="utf-8") as file:
        print(",".join(COLUMNS), file=file)
        for row in rows:
            print(",".join(f"{value:.17g}" for value in row), file=file)
    print(f"{given.file}: {len(rows)} periods")


if __name__ == "__main__":
    main()
