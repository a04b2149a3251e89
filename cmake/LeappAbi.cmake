# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# libstdc++ has two layouts of std::string. Whatever shares a process with torch uses torch's, and wheels of torch before
# 2.7 have the old one (LEAPP_CXX11_ABI 0, from LeappTorch.cmake). The system's libraries have the new one. So with such a
# torch everything is compiled with the old one, and of the system's C++ libraries the headers are used: fmt and spdlog
# can do without their compiled part, GoogleTest is compiled from the sources that its package brings, and yaml-cpp is
# behind a door without strings (src/bundle/yaml/yaml_events.h), which leapp_compile_with_system_abi() leaves as it is.
include_guard(GLOBAL)

find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
if(NOT DEFINED LEAPP_CXX11_ABI)
  set(LEAPP_CXX11_ABI 1)
endif()

if(NOT LEAPP_CXX11_ABI)
  message(STATUS "C++ ABI: the old one, as torch has")
  add_compile_definitions(_GLIBCXX_USE_CXX11_ABI=0)
  set_target_properties(fmt::fmt PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
  set_target_properties(spdlog::spdlog PROPERTIES INTERFACE_COMPILE_DEFINITIONS SPDLOG_FMT_EXTERNAL)
endif()

if(LEAPP_BUILD_TESTS AND LEAPP_CXX11_ABI)
  find_package(GTest REQUIRED)
elseif(LEAPP_BUILD_TESTS)
  add_subdirectory(/usr/src/googletest "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
endif()

# leapp_compile_with_system_abi(<target>): whatever torch's is.
function(leapp_compile_with_system_abi target)
  if(NOT LEAPP_CXX11_ABI)
    target_compile_options(${target} PRIVATE -U_GLIBCXX_USE_CXX11_ABI)
  endif()
endfunction()
