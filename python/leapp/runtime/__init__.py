# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Run a bundle from Python. Neither imports torch nor needs it, unless the bundle has ``jit`` or ``pt2`` nodes."""

from leapp.runtime.manager import EngineReport, InferenceManager
from leapp.runtime.node import Node

__all__ = ["EngineReport", "InferenceManager", "Node"]
