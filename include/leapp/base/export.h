// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what the shared libraries show to their users; everything else in them is hidden.
#define LEAPP_API __attribute__((visibility("default")))
