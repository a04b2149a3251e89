# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The README's pipeline, with TorchScript for both nodes."""

import env  # mock environment setup
import leapp
import torch
from leapp import annotate


def get_obs1_from_env():
    obs1 = env.get_from_env("obs")
    obs1 = annotate.input_tensors("preprocess", {"obs1_name": obs1})  # inserted annotation
    # **some processing**
    return obs1


def get_obs2_from_env():
    obs2 = env.get_from_env("obs2")
    obs2 = annotate.input_tensors("preprocess", {"obs2_name": obs2})  # inserted annotation
    # **some processing**
    return obs2


leapp.start(name="my_pipeline")

obs1 = get_obs1_from_env()
obs2 = get_obs2_from_env()

# Simple feature construction from the two observation tensors.
obs1_centered = obs1 - obs1.mean()
obs2_scaled = obs2 / (obs2.abs().max() + 1e-6)
features = torch.cat([obs1_centered, obs2_scaled], dim=-1)

annotate.output_tensors("preprocess", {"processed_features": features}, export_with="jit")  # inserted annotation

features = annotate.input_tensors("predict", {"features": features})  # inserted annotation
output = torch.relu(features @ torch.randn(16, 4))
annotate.output_tensors("predict", {"output": output}, export_with="jit")  # inserted annotation

leapp.stop()
leapp.compile_graph()
