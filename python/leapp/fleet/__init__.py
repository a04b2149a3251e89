# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Many episodes: replay the logs of a fleet through one or two bundles.

>>> from leapp.fleet import ReplayOptions, replay
>>> summary = replay(ReplayOptions(["walk/walk.yaml"], data="logs", output="result"))
>>> summary.episodes, summary.steps, summary.skipped
(200, 200000, 0)

Needs pyarrow; with Ray (``pip install 'ray[data]'``) it runs on as many cores and machines as there are, without it in
this process. The results are the same, byte for byte.
"""

from __future__ import annotations

from leapp.fleet.options import ReplayOptions
from leapp.fleet.replay import ReplaySummary, replay

__all__ = ["ReplayOptions", "ReplaySummary", "replay"]
