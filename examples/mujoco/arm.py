# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated arm: what train.py and simulate.py do with MuJoCo. arm.cpp does the same in C++."""

from __future__ import annotations

import math

import mujoco
import numpy as np
from policy import HERE

PERIOD_STEPS = 5  # of the simulation, 4 ms each, in a period of the policy
START = {"shoulder": -1.2, "elbow": 1.6, "wrist": 0.8}


def target_at(seconds: float) -> tuple[float, float]:
    """Where the tip should be: an eight."""
    phase = 2.0 * math.pi * 0.125 * seconds
    return 0.6 + 0.15 * math.sin(phase), 0.05 + 0.2 * math.sin(2.0 * phase)


class Arm:
    """Positions in the order of the joints, torques in the order of the motors."""

    def __init__(self) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(HERE / "arm.xml"))
        self.data = mujoco.MjData(self.model)
        self.joints = [self.model.joint(i).name for i in range(self.model.njnt)]
        self.motors = [self.model.actuator(i).name for i in range(self.model.nu)]

    def reset(self, position: dict[str, float]) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = [position[name] for name in self.joints]
        mujoco.mj_forward(self.model, self.data)

    @property
    def position(self) -> np.ndarray:
        return self.data.qpos.copy()

    @property
    def tip(self) -> tuple[float, float]:
        x, _, z = self.data.site("tip").xpos
        return float(x), float(z)

    def drive(self, torques: np.ndarray) -> None:
        """One period of the policy with these torques."""
        self.data.ctrl[:] = torques
        for _ in range(PERIOD_STEPS):
            mujoco.mj_step(self.model, self.data)
