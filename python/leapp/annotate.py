# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The public name of ``leapp.capture.annotate``: both names give the same module."""

import sys

from leapp.capture import annotate
from leapp.capture.annotate import *  # noqa: F403  (for type checkers)

sys.modules[__name__] = annotate
