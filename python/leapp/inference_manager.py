# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Where programs written for the leapp package look for these."""

from leapp.node import Node as NodeManager
from leapp.runtime import InferenceManager

__all__ = ["InferenceManager", "NodeManager"]
