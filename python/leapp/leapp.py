# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Where programs written for the leapp package look for these."""

from leapp.capture import annotate
from leapp.capture.lifecycle import compile_graph, start, stop

__all__ = ["annotate", "compile_graph", "start", "stop"]
