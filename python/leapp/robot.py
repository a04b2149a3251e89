# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The public name of ``leapp.runtime.robot``: the types of what ``Loop`` and guards hand out."""

from leapp.runtime.robot import ChunkPlayer, Durations, GuardEvent, Loop, LoopSummary, Tick

__all__ = ["ChunkPlayer", "Durations", "GuardEvent", "Loop", "LoopSummary", "Tick"]
