# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own exporters, which some nodes ask for.

The compiled half of capture imports ``leapp.exporters.pytorch``.
"""
