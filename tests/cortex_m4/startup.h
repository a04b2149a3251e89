// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#ifndef LEAPP_TESTS_CORTEX_M4_STARTUP_H
#define LEAPP_TESTS_CORTEX_M4_STARTUP_H

#include <stdint.h>

/// A file of the host, for writing; negative when there is none.
int32_t host_open(const char* name);
bool host_write(int32_t file, const void* from, uint32_t bytes);
/// Ends the emulator with that code.
[[noreturn]] void host_exit(int32_t code);

#endif
