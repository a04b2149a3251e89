# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The same as in the leapp package."""

from __future__ import annotations

import platform
from typing import Any

from leapp.version import __config_version__, __version__

__all__ = ["get_system_info"]


def get_system_info() -> dict[str, dict[str, Any]]:
    """What a bundle that is made here would say of where it was made."""
    import torch

    os = platform.freedesktop_os_release() if hasattr(platform, "freedesktop_os_release") else {}
    entry = {
        "leapp version": __version__,
        "leapp config version": __config_version__,
        "torch version": torch.__version__,
        "python version": platform.python_version(),
        "cuda version": str(torch.version.cuda),
        "os": f"{os.get('NAME', platform.system())} {os.get('VERSION_ID', '')}".strip(),
    }
    return {"system information": entry}
