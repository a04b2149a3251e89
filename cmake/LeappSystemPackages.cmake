# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# Libraries of others that are not looked for elsewhere. All are looked for before one message names what is missing, with
# Debian's names for it.
include_guard(GLOBAL)

set(leapp_missing "")

# leapp_need_package(<name> <Debian's name> [<argument of find_package>...])
macro(leapp_need_package name debian)
  find_package(${name} QUIET ${ARGN})
  if(NOT ${name}_FOUND)
    list(APPEND leapp_missing ${debian})
  endif()
endmacro()

# leapp_need_header(<variable> <header> <Debian's name>): the folder to include it from.
macro(leapp_need_header variable header debian)
  find_path(${variable} ${header})
  mark_as_advanced(${variable})
  if(NOT ${variable})
    list(APPEND leapp_missing ${debian})
  endif()
endmacro()

leapp_need_package(fmt libfmt-dev)
leapp_need_package(spdlog libspdlog-dev)
leapp_need_package(OpenSSL libssl-dev COMPONENTS Crypto)
leapp_need_package(yaml-cpp libyaml-cpp-dev)
leapp_need_package(nlohmann_json nlohmann-json3-dev)
leapp_need_header(LEAPP_PROTOZERO_INCLUDE protozero/pbf_reader.hpp libprotozero-dev)
leapp_need_header(LEAPP_HIGHWAY_INCLUDE hwy/highway.h libhwy-dev)
if(LEAPP_BUILD_CLI)
  leapp_need_package(CLI11 libcli11-dev)
  # Not find_package(libzip): Debian's configuration file asks for the programs of three more packages.
  leapp_need_header(LEAPP_LIBZIP_INCLUDE zip.h libzip-dev)
  find_library(LEAPP_LIBZIP zip)
  mark_as_advanced(LEAPP_LIBZIP)
endif()
if(LEAPP_BUILD_TESTS AND (NOT DEFINED LEAPP_CXX11_ABI OR LEAPP_CXX11_ABI))  # else from its sources: LeappAbi.cmake
  leapp_need_package(GTest libgtest-dev)
endif()

if(leapp_missing)
  list(JOIN leapp_missing " " leapp_missing)
  message(FATAL_ERROR "LEAPP is built with libraries that are not here. Debian and Ubuntu: apt-get install ${leapp_missing}")
endif()
