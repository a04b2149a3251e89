# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# 64-bit ARM with Debian's cross compiler and the packages that scripts/setup-arm64 unpacks. Tests run in an emulator.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

cmake_path(SET leapp_sysroot NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../build/arm64/sysroot")
if(NOT EXISTS "${leapp_sysroot}/.setup-stamp")
  message(FATAL_ERROR "No packages for arm64 in ${leapp_sysroot}: run scripts/setup-arm64")
endif()
set(CMAKE_SYSROOT "${leapp_sysroot}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(LEAPP_ARM64_EMULATOR qemu-aarch64)
mark_as_advanced(LEAPP_ARM64_EMULATOR)
if(LEAPP_ARM64_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${LEAPP_ARM64_EMULATOR}" -L "${leapp_sysroot}")
endif()
