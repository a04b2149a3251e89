# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Places where programs written for other versions look for names of the leapp package."""
