# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What is replayed, and how."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Literal

from leapp.errors import LeappValueError

__all__ = ["ReplayOptions"]


@dataclass(frozen=True)
class ReplayOptions:
    """What :func:`leapp.fleet.replay` is told.

    Parameters
    ----------
    bundles:
        One bundle, whose outputs are compared with the recorded ones if the data has them; or two, and the first is
        compared with the second.
    data:
        A folder of episodes (.npz, .safetensors, .mcap, .parquet; folders inside it too), or one such file.
    output:
        Folder for the results. What an interrupted run has left there is gone on with.
    columns:
        Columns of the data by port: ``{"policy/obs": "observation.state"}``.
    episode_column, order_column:
        Of Parquet files: what tells episodes apart, and what steps are sorted by. None: "episode" or "episode_index",
        and "step" or "frame_index", if there is one; "": none. Files without the first are one episode each.
    cast:
        Convert values whose dtype is not the port's, if the port can hold them. Floats are rounded.
    batch:
        Episodes that are stepped side by side by one worker: faster, and the last digits may differ.
    workers:
        Processes, on Ray. 0: this process. None: as many as there are cores if Ray is installed, else this process.
    address:
        Of a Ray cluster, as ``ray.init`` takes it.
    reset:
        How state begins in each episode.
    rtol, atol:
        A step differs when an element has ``|found - expected| > atol + rtol * |expected|``.
    worst:
        How many of the worst steps are listed.
    strict:
        Stop at the first episode that cannot be used. Otherwise it is reported and left out.
    overwrite:
        Replace the results of another replay in ``output``.
    allow_torchscript, timeout, memory_limit:
        As :class:`leapp.InferenceManager` takes them, for bundles of strangers.
    """

    bundles: Sequence[str | PathLike[str]]
    data: str | PathLike[str]
    output: str | PathLike[str]
    columns: Mapping[str, str] = field(default_factory=dict)
    episode_column: str | None = None
    order_column: str | None = None
    cast: bool = False
    batch: int = 1
    workers: int | None = None
    address: str | None = None
    reset: Literal["exported", "zeros", "first_frame"] = "exported"
    engine: Literal["auto", "native", "onnxruntime"] = "auto"
    rtol: float = 1e-3
    atol: float = 1e-5
    worst: int = 100
    strict: bool = False
    overwrite: bool = False
    allow_torchscript: bool = True
    timeout: float | None = None
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if isinstance(self.bundles, (str, PathLike)) or not 1 <= len(self.bundles) <= 2:
            raise LeappValueError(f"bundles: expected one or two, found {self.bundles!r}")
        for name, least in (("batch", 1), ("worst", 1), ("rtol", 0), ("atol", 0)):
            if not getattr(self, name) >= least:
                raise LeappValueError(f"{name}: expected {least} or more, found {getattr(self, name)!r}")
        if self.workers is not None and self.workers < 0:
            raise LeappValueError(f"workers: expected 0 or more, found {self.workers!r}")

    @property
    def bundle_paths(self) -> list[str]:
        """The bundles, wherever a worker stands."""
        return [os.path.abspath(os.fspath(bundle)) for bundle in self.bundles]
