# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Which LEAPP this is, and the newest format of bundles that it knows."""

from leapp._runtime import __version__

__all__ = ["__config_version__", "__version__"]

__config_version__ = "1.4"
