# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Doxygen's input filter: comments of leapp.h, which is plain C, as Doxygen reads them. Lines stay where they are."""

from __future__ import annotations

import re
import sys
from pathlib import Path

text = Path(sys.argv[1]).read_text(encoding="utf-8")
if sys.argv[1].endswith("leapp/leapp.h"):
    text = re.sub(r"^/\* (?!----|SPDX)", "/** ", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=\S)( +)/\* ", r"\1/**< ", text)
sys.stdout.write(text)
