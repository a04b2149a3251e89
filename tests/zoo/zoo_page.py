# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/reports/networks.md, from what the zoo's runs found."""

from __future__ import annotations

import re
import statistics
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "networks.md"
BEGIN, END = "<!-- written by tests/zoo/run.py -->", "<!-- end -->"
EXPECTED = {"jit": 0.98, "onnx": 0.95}  # right, of all networks

Results = dict[str, dict[str, dict[str, Any]]]


def count(results: Results, way: str, status: str) -> int:
    return sum(outcomes.get(way, {}).get("status") == status for outcomes in results.values())


def ratios(results: Results, field: str) -> list[float]:
    """PyTorch's exporter against compile_graph, for networks that both exported."""
    both = [r for r in results.values() if all(r.get(way, {}).get("status") == "right" for way in ("onnx", "torch"))]
    return [r["torch"][field] / r["onnx"][field] for r in both if r["onnx"][field] > 0]


def as_expected(results: Results) -> bool:
    """None wrong without a word, none that ended the process, and few refused."""
    bad = sum(count(results, way, status) for way in EXPECTED for status in ("wrong", "failed"))
    return bad == 0 and all(count(results, way, "right") >= share * len(results) for way, share in EXPECTED.items())


def summary(results: Results) -> str:
    lines = [f"{len(results)} networks"]
    for way in ("jit", "onnx", "torch"):
        found = sorted({r[way]["status"] for r in results.values() if way in r})
        lines.append(f"{way}: " + ", ".join(f"{count(results, way, status)} {status}" for status in found))
    faster = ratios(results, "seconds")
    if faster:
        lines.append(f"compile_graph: {statistics.median(faster):.0f} times faster in the median of {len(faster)}")
    return "\n".join(lines)


def cell(outcome: dict[str, Any] | None) -> str:
    return outcome["status"] if outcome else ""


def figures(outcome: dict[str, Any] | None) -> tuple[str, str]:
    if not outcome or not outcome.get("seconds"):
        return "", ""
    return f"{outcome['seconds']:.2f}", f"{outcome['megabytes']:.0f}"


def row(name: str, outcomes: dict[str, dict[str, Any]]) -> str:
    ours, torch = outcomes.get("onnx"), outcomes.get("torch")
    parameters = (ours or {}).get("parameters", 0) / 1e6
    cells = [f"`{name}`", f"{parameters:.2f}", cell(outcomes.get("jit")), cell(ours), *figures(ours)]
    exported = cell(torch).replace("right", "exported")
    return "| " + " | ".join([*cells, exported, *figures(torch)]) + " |"


def plain(reason: str) -> str:
    """One line of a message, without paths of this machine."""
    words = " ".join(reason.split()).replace("|", "\\|").replace("<", "&lt;")
    words = re.sub(r"/[^\s:]*/(site-packages|tests/zoo)/", "", words)
    return words if len(words) <= 300 else words[:297] + "…"


def reasons(results: Results) -> list[str]:
    lines = []
    for name, outcomes in results.items():
        for way in ("jit", "onnx"):
            outcome = outcomes.get(way)
            if outcome and outcome["status"] != "right":
                lines.append(f"- `{name}`, {way}, {outcome['status']}: {plain(outcome['reason'])}")
    return lines


def written(results: Results) -> str:
    head = [
        "| network | million parameters | jit | onnx | `compile_graph`, s | MB | `torch.onnx.export` | s | MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    rows = [row(name, outcomes) for name, outcomes in results.items()]
    counted = ["```", summary(results), "```"]
    missing = reasons(results)
    told = ["", "What is not right, and what is said:", "", *missing] if missing else []
    return "\n".join([*counted, "", *head, *rows, *told])


def write(results: Results) -> None:
    text = PAGE.read_text()
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{written(results)}\n{END}{after}")
