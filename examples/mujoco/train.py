# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Train the policy, in half a minute of one core, and write weights.npz. Usage: train.py [FILE]

It learns from a teacher that knows more than it will: velocities, masses and the angles that reach the target. The
policy drives, the teacher says at each step what it would have done, and the policy is fitted to all that was said so
far. Every run begins as robots do: at rest, with a history that holds the first position four times.
"""

from __future__ import annotations

import math
import sys
import time

import mujoco
import numpy as np
import torch
from arm import Arm
from policy import FRAMES, FREQUENCY, HERE, JOINTS, Policy

UPPER, FORE, HAND = 0.4, 0.35, 0.2
ROUNDS, RUNS, STEPS, FITS, BATCH = 14, 16, 120, 350, 512


def angles_for(target: np.ndarray) -> dict[str, float]:
    """The hand points forward, the elbow hangs below."""
    x, z = target[0] - HAND, target[1]
    distance = min(math.hypot(x, z), 0.999 * (UPPER + FORE))
    cosine = (distance**2 - UPPER**2 - FORE**2) / (2 * UPPER * FORE)
    elbow = math.acos(max(-1.0, min(1.0, cosine)))
    shoulder = math.atan2(z, x) - math.atan2(FORE * math.sin(elbow), UPPER + FORE * math.cos(elbow))
    return {"shoulder": shoulder, "elbow": elbow, "wrist": -shoulder - elbow}


class Teacher:
    """Stiff springs to the right angles, dampers, and what gravity takes."""

    GAINS = ((100.0, 9.0), (60.0, 4.5), (9.0, 0.55))  # shoulder, elbow, wrist

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self.scratch = mujoco.MjData(arm.model)

    def torques(self, target: np.ndarray) -> np.ndarray:
        """In the policy's order."""
        data, wanted = self.arm.data, angles_for(target)
        self.scratch.qpos[:] = data.qpos
        mujoco.mj_forward(self.arm.model, self.scratch)  # at rest: only gravity is left
        result = {}
        for i, name in enumerate(self.arm.joints):
            stiffness, damping = self.GAINS[i]
            error = wanted[name] - data.qpos[i]
            limit = self.arm.model.actuator(name).ctrlrange[1]
            torque = stiffness * error - damping * data.qvel[i] + self.scratch.qfrc_bias[i]
            result[name] = float(np.clip(torque, -limit, limit))
        return np.array([result[name] for name in JOINTS])


def random_target(random: np.random.Generator) -> np.ndarray:
    return np.array([random.uniform(0.42, 0.78), random.uniform(-0.2, 0.3)])


class School:
    def __init__(self) -> None:
        torch.manual_seed(0)
        torch.set_num_threads(1)
        self.random = np.random.default_rng(0)
        self.arm = Arm()
        self.teacher = Teacher(self.arm)
        self.policy = Policy()
        self.seen: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # history, target, what the teacher says

    def run(self, share: float) -> float:
        """One run; the teacher drives a `share` of it. Returns how far the tip was from the target in the end."""
        order = [self.arm.joints.index(name) for name in JOINTS]
        motors = [JOINTS.index(name) for name in self.arm.motors]
        begin = angles_for(random_target(self.random))
        self.arm.reset({name: angle + self.random.normal(0, 0.4) for name, angle in begin.items()})
        self.arm.data.qvel[:] = 0
        history = np.repeat(self.arm.position[order][None], FRAMES, axis=0)
        target, speed = random_target(self.random), self.random.normal(0, 0.3, 2)
        missed = []
        for step in range(STEPS):
            history = np.concatenate([history[1:], self.arm.position[order][None]])
            said = self.teacher.torques(target)
            self.seen.append((history, target.copy(), said))
            with torch.no_grad():
                inputs = torch.tensor(history[None]).float(), torch.tensor(target[None]).float()
                torques = self.policy.act(*inputs)[0].numpy()
            self.arm.drive((said if self.random.random() < share else torques)[motors])
            target = np.clip(target + speed / FREQUENCY, [0.42, -0.2], [0.78, 0.3])
            if step > STEPS // 2:
                missed.append(math.dist(self.arm.tip, target))
        return float(np.mean(missed))

    def fit(self, rate: float) -> float:
        """Returns the mean error, in units of the torques' limits."""
        history, target, said = (torch.tensor(np.array(part)).float() for part in zip(*self.seen, strict=True))
        adam = torch.optim.Adam(self.policy.parameters(), lr=rate)
        for _ in range(FITS):
            batch = torch.randint(len(said), (BATCH,))
            error = (self.policy.act(history[batch], target[batch]) - said[batch]) / self.policy.limits
            loss = error.square().mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
        return float(loss.detach().sqrt())


def main(file: str) -> None:
    school = School()
    for number in range(ROUNDS):
        missed = np.mean([school.run(share=max(0.0, 1.0 - number / 4)) for _ in range(RUNS)])
        error = school.fit(3e-3 * 0.8**number)
        print(f"round {number}: torques {error:.3f}, tip {1000 * missed:.0f} mm, {time.process_time():.0f} s")
    weights = {name: value.numpy().astype(np.float32) for name, value in school.policy.state_dict().items()}
    np.savez_compressed(file, allow_pickle=False, **weights)
    print(f"{file}: {sum(value.size for value in weights.values())} weights")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(HERE / "weights.npz"))
