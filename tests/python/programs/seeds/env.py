# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The environment that the README's pipeline reads from."""

import torch


def get_from_env(name: str) -> torch.Tensor:
    return torch.randn(1, 8)
