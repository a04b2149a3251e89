# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Common meanings of ports. Any other string is a kind, too."""

from __future__ import annotations

from enum import Enum

__all__ = ["InputKindEnum", "Kind", "OutputKindEnum"]


class InputKindEnum(Enum):
    """What an input measures or commands.

    >>> TensorSemantics("q", q, kind=InputKindEnum.JOINT_POSITION)
    """

    JOINT_POSITION = "state/joint/position"
    JOINT_VELOCITY = "state/joint/velocity"
    JOINT_EFFORT = "state/joint/effort"
    BODY_POSE = "state/body/pose"
    BODY_VEL = "state/body/velocity"
    BODY_ACC = "state/body/acceleration"
    BODY_LINEAR_ACCELERATION = "state/body/linear_acceleration"
    BODY_LINEAR_VELOCITY = "state/body/linear_velocity"
    BODY_ANGULAR_ACCELERATION = "state/body/angular_acceleration"
    BODY_ANGULAR_VELOCITY = "state/body/angular_velocity"
    BODY_ROTATION = "state/body/rotation"
    BODY_POSITION = "state/body/position"
    WRENCH = "state/wrench"
    VECTOR3D = "state/vector3d"
    COMMAND_JOINT_POSITION = "command/joint/position"
    COMMAND_JOINT_VELOCITY = "command/joint/velocity"
    COMMAND_JOINT_TORQUES = "command/joint/torques"
    COMMAND_BODY_ROTATION = "command/body/rotation"
    COMMAND_BODY_VELOCITY = "command/body/velocity"
    COMMAND_POSE = "command/body/pose"


class OutputKindEnum(Enum):
    """What an output is a target for, or a gain.

    >>> TensorSemantics("target", action, kind=OutputKindEnum.JOINT_POSITION)
    """

    KP = "kp"
    KD = "kd"
    JOINT_POSITION = "target/joint/position"
    JOINT_VELOCITY = "target/joint/velocity"
    JOINT_TORQUES = "target/joint/torques"
    JOINT_EFFORT = "target/joint/effort"
    BODY_POSITION = "target/body/position"
    BODY_LINEAR_ACCELERATION = "target/body/linear_acceleration"
    BODY_ORIENTATION = "target/body/orientation"
    BODY_LINEAR_VELOCITY = "target/body/linear_velocity"
    BODY_ANGULAR_ACCELERATION = "target/body/angular_acceleration"


class Kind(Enum):
    """What a tensor is a quantity of, whichever way it goes; newer than the two above.

    >>> TensorSemantics("q", q, kind=Kind.JOINT_POSITION)
    """

    JOINT_POSITION = "joint/position"
    JOINT_VELOCITY = "joint/velocity"
    JOINT_EFFORT = "joint/effort"
    FRAME_POSE = "frame/pose"
    FRAME_POSITION = "frame/position"
    FRAME_ORIENTATION = "frame/orientation"
    FRAME_TWIST = "frame/twist"
    FRAME_LINEAR_VELOCITY = "frame/linear_velocity"
    FRAME_ANGULAR_VELOCITY = "frame/angular_velocity"
    FRAME_ACCELERATION = "frame/acceleration"
    FRAME_LINEAR_ACCELERATION = "frame/linear_acceleration"
    FRAME_ANGULAR_ACCELERATION = "frame/angular_acceleration"
    FRAME_WRENCH = "frame/wrench"
    VECTOR3D = "vector3d"
    KP = "kp"
    KD = "kd"
    IMAGE = "image"
