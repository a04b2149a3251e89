# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What compile_graph returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leapp._capture import CompileReport, NodeResult

__all__ = ["CompileResults"]


class CompileResults(dict[str, bool]):
    """Node → True when its model passed or was skipped, else False; and in ``nodes`` how that came about.

    >>> results = leapp.compile_graph()
    >>> results["policy"] is True
    True
    >>> results.nodes["policy"].status
    'passed'
    """

    nodes: dict[str, NodeResult]
    folder: str

    def __init__(self, report: CompileReport) -> None:
        """Read the report of the compiled half."""
        super().__init__({result.node: bool(result) for result in report.nodes})
        self.nodes = {result.node: result for result in report.nodes}
        self.folder = report.folder

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are plain dicts: the details belong to this process."""
        return dict, (dict(self),)
