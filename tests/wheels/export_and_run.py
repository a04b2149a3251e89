# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Run by scripts/wheel-test in a venv that has torch and a LEAPP that pip built there: exports, runs what it wrote."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import leapp
import torch
from leapp import annotate

assert Path(leapp.__file__).is_relative_to(sys.prefix), leapp.__file__

for backend in ("jit", "onnx"):
    with TemporaryDirectory() as folder:
        torch.manual_seed(0)
        policy = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
        obs = torch.randn(1, 6)
        leapp.start("walk", save_path=folder)
        seen = annotate.input_tensors("policy", {"obs": obs})
        action = annotate.output_tensors("policy", {"action": policy(seen)}, export_with=backend)
        leapp.stop()
        assert leapp.compile_graph(), backend
        manager = leapp.InferenceManager(Path(folder) / "walk")
        torch.testing.assert_close(manager({"policy/obs": obs})["policy/action"], action.detach())
        print(f"{backend}: exported with torch {torch.__version__}, run by {manager.engines[0].engine}")
