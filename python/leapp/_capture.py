# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled half of capture: importing this gives the module that was built for the torch that is here."""

import sys

from leapp.torch_modules import load_capture

sys.modules[__name__] = load_capture()
