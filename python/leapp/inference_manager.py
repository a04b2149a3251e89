# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Where programs written for the leapp package look for these."""

from leapp.runtime.manager import InferenceManager
from leapp.runtime.node import Node as NodeManager

__all__ = ["InferenceManager", "NodeManager"]
