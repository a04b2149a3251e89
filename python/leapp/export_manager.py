# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Where programs written for the leapp package look for the object behind ``annotate``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from leapp.capture import annotate, lifecycle
from leapp.capture._native import capture

__all__ = ["ExportManager"]


class ExportManager:
    """What is known of the session, and the annotations. There is one session, so all objects are the same.

    >>> ExportManager().get_save_path()
    '/tmp/walk'
    """

    _instance: ExportManager | None = None

    def __new__(cls) -> ExportManager:
        """Give back the one there is."""
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    @staticmethod
    def is_interpret_graph_enabled() -> bool:
        """Whether capture runs: between start and stop."""
        return capture.is_active()

    @staticmethod
    def get_graph_name() -> str:
        """The graph's name in the session that runs or ran last; "my_graph" before the first."""
        return os.path.basename(os.path.normpath(lifecycle.last.name)) if lifecycle.last else "my_graph"

    @staticmethod
    def get_save_path() -> str | None:
        """The bundle's folder; None before the first session."""
        return os.path.join(lifecycle.last.save_path, lifecycle.last.name) if lifecycle.last else None

    @property
    def config_path(self) -> str | None:
        """The bundle's YAML file; None before the first session."""
        folder = self.get_save_path()
        return None if folder is None else os.path.join(folder, self.get_graph_name() + ".yaml")

    @staticmethod
    def is_dry_run(name: str | None = None) -> bool:
        """Whether no models are written, or none for the node of that name."""
        last = lifecycle.last
        return last is not None and (last.dry_run or name in last.non_traced)

    validate_all_models: Callable[..., Any] = staticmethod(lifecycle.validate_again)
    input_tensors: Callable[..., Any] = staticmethod(annotate.input_tensors)
    output_tensors: Callable[..., Any] = staticmethod(annotate.output_tensors)
    state_tensors: Callable[..., Any] = staticmethod(annotate.state_tensors)
    update_state: Callable[..., Any] = staticmethod(annotate.update_state)
    register_buffer: Callable[..., Any] = staticmethod(annotate.register_buffer)
    module: Callable[..., Any] = staticmethod(annotate.module)
    mirror_leapp_tags: Callable[..., Any] = staticmethod(annotate.mirror_leapp_tags)
    method: Callable[..., Any] = staticmethod(annotate.method)
    _method: Callable[..., Any] = staticmethod(annotate._method)
