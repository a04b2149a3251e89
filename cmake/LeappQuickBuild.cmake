# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# Two means against reading the same headers six hundred times (docs/design/build_time.md has what each brings):
#   LEAPP_UNITY   the sources of a target are compiled together, in units of some ten thousand bytes
#   LEAPP_PCH     headers that most sources include are compiled once for all targets that have the same flags
# With both off every source is compiled by itself, and one that lacks an include is found.
include_guard(GLOBAL)

# Larger units are less work, and less of it at a time.
set(LEAPP_UNIT_BYTES 40000 CACHE STRING "Size of the units of most targets")
set(LEAPP_TORCH_UNIT_BYTES 150000 CACHE STRING "Size of units that include torch")
# clang's analyser looks into a source that a unit includes if the unit's path has "UnifiedSource" in it: the preset tidy.
set(LEAPP_UNITS "units" CACHE STRING "What the folders of units are called, after the target")
mark_as_advanced(LEAPP_UNIT_BYTES LEAPP_TORCH_UNIT_BYTES LEAPP_UNITS)

# Not CMake's own UNITY_BUILD: its units hold absolute paths, so that ccache finds nothing for a second clone, and count
# files instead of looking how long they are.
#
# leapp_units(<variable> <name> BYTES <bytes> SOURCES <file>...): the units that stand for these sources; what is no .cpp
# file stays as it is. Names in anonymous namespaces have to differ within a target.
function(leapp_units variable name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "BYTES" "SOURCES")
  if(NOT LEAPP_UNITY)
    set(${variable} "${arg_SOURCES}" PARENT_SCOPE)
    return()
  endif()
  set(result "")
  set(text "")
  set(bytes 0)
  set(number 0)
  foreach(source IN LISTS arg_SOURCES)
    if(NOT source MATCHES "^[^$]*\\.cpp$")
      list(APPEND result "${source}")
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    file(STRINGS "${path}" repeated REGEX "#include .hwy/foreach_target[.]h" LIMIT_COUNT 1)
    if(repeated)  # Highway includes the source again for every set of instructions: it has to be a unit
      list(APPEND result "${source}")
      continue()
    endif()
    file(SIZE "${path}" size)
    math(EXPR bytes "${bytes} + ${size}")
    if(text AND bytes GREATER arg_BYTES)
      leapp_write_unit()
      set(bytes ${size})
    endif()
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(APPEND text "#include \"${path}\"\n")
  endforeach()
  if(text)
    leapp_write_unit()
  endif()
  set(${variable} "${result}" PARENT_SCOPE)
endfunction()

# Of leapp_units: `text` becomes the next unit in `result`.
macro(leapp_write_unit)
  set(unit "${CMAKE_CURRENT_BINARY_DIR}/${name}_${LEAPP_UNITS}/${name}_${number}.cpp")
  file(CONFIGURE OUTPUT "${unit}" CONTENT "${text}" @ONLY)
  list(APPEND result "${unit}")
  math(EXPR number "${number} + 1")
  set(text "")
endmacro()

# leapp_find_sources_of_units(<target>): where the includes in its units start.
function(leapp_find_sources_of_units target)
  if(LEAPP_UNITY)
    target_compile_options(${target} PRIVATE "SHELL:-iquote \"${PROJECT_SOURCE_DIR}\""
      # g++ takes what a unit includes for headers, which should not have anonymous namespaces.
      $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# ---- Precompiled headers -------------------------------------------------------------------------------------------
set(LEAPP_STANDARD_HEADERS
  <algorithm> <array> <atomic> <chrono> <cmath> <cstddef> <cstdint> <cstring> <filesystem> <functional> <limits> <map>
  <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <thread> <tuple> <type_traits>
  <unordered_map> <unordered_set> <utility> <variant> <vector>
  <fmt/format.h> <fmt/ranges.h>)
set(LEAPP_TORCH_HEADERS
  <ATen/Functions.h> <ATen/core/dispatch/Dispatcher.h> <ATen/record_function.h> <torch/csrc/jit/api/module.h>
  <torch/csrc/jit/ir/ir.h> <torch/csrc/jit/runtime/graph_executor.h> <torch/csrc/jit/serialization/import.h>)

# leapp_precompile(<target> <header>...): compiles them for itself and for those that ask for them.
function(leapp_precompile target)
  if(LEAPP_PCH)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    leapp_let_ccache_precompile(${target})
  endif()
endfunction()

# leapp_precompile_for_tests(<owner> <header>...): with GoogleTest's, and a test's flags.
function(leapp_precompile_for_tests owner)
  if(NOT LEAPP_BUILD_TESTS OR NOT LEAPP_PCH)
    return()
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${owner}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// CMake wants a source.\n")
  add_library(${owner} OBJECT EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(${owner} PRIVATE leapp_base GTest::gtest)
  leapp_set_warnings(${owner})
  leapp_compile_as_test(${owner})
  leapp_precompile(${owner} ${ARGN} <gtest/gtest.h>)
endfunction()

# leapp_use_precompiled(<target> FROM <owner>): the owner's, whose flags have to be this target's too.
function(leapp_use_precompiled target FROM owner)
  if(LEAPP_PCH AND TARGET ${owner} AND NOT target STREQUAL owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
    leapp_let_ccache_precompile(${target})
  endif()
endfunction()

# ccache takes a unit with precompiled headers only with this option of g++'s.
function(leapp_let_ccache_precompile target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
