# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the surface export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import leapp
import torch
import yaml
from leapp import annotate

X = torch.arange(1.0, 3.0).reshape(1, 2)


def two_nodes(folder: Path) -> Path:
    """pre (f = 2a + b) → pol (act = o + m + h; mem = act/2 fed back as m; h = h + o), in TorchScript."""
    leapp.start("two", save_path=folder)
    mem = torch.zeros(1, 2)
    for i in range(2):
        a, b = annotate.input_tensors("pre", {"a": torch.ones(1, 2) * i, "b": torch.ones(1, 2)})
        f = annotate.output_tensors("pre", {"f": a * 2 + b}, export_with="jit")
        o, m = annotate.input_tensors("pol", {"o": f, "m": mem})
        h = annotate.state_tensors("pol", {"h": torch.ones(1, 2)})
        annotate.update_state("pol", {"h": h + o})
        out = o + m + h
        _, mem = annotate.output_tensors("pol", {"act": out, "mem": out * 0.5}, export_with="jit")
    leapp.stop()
    leapp.compile_graph(visualize=False, graph_configs=leapp.GraphConfigs(50, {"robot": "go2"}))
    return folder / "two" / "two.yaml"


def session(tmp_path: Path, tensors: Any = None, **output: Any) -> dict[str, Any]:
    leapp.start("g", save_path=tmp_path)
    x = annotate.input_tensors("n", {"x": X} if tensors is None else tensors)
    annotate.output_tensors("n", {"y": x * 2}, **{"export_with": "jit", **output})
    leapp.stop()
    leapp.compile_graph(visualize=False)
    found: dict[str, Any] = yaml.safe_load((tmp_path / "g" / "g.yaml").read_text())
    return found
