# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays in a captured program. ``live`` is the array that is recorded; start reading there."""
