# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Capture: what runs between ``leapp.start`` and ``leapp.stop``, around the compiled half (``leapp._capture``).

The public names are in ``leapp`` and ``leapp.annotate``. Importing this package imports nothing else:
most of its modules need torch.
"""
