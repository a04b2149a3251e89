# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# The Python package in the build tree, and the extension modules in it.
include_guard(GLOBAL)
include(LeappFindPython)

if(NOT nanobind_ROOT)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
find_package(nanobind CONFIG REQUIRED)

# leapp_python_package(): makes <build>/python/leapp a mirror of python/leapp by links, brought up to date by every
# build, so that PYTHONPATH=<build>/python finds sources and extension modules together.
function(leapp_python_package)
  # Of a build before modules were named after their torch: Python would take it instead of _capture.py.
  file(GLOB stale "${PROJECT_BINARY_DIR}/python/leapp/_capture.*.so")
  if(stale)
    file(REMOVE ${stale})
  endif()
  add_custom_target(leapp_python_package ALL
    COMMAND "${CMAKE_COMMAND}" -D "SOURCE=${PROJECT_SOURCE_DIR}/python/leapp" -D "MIRROR=${PROJECT_BINARY_DIR}/python/leapp"
      -P "${PROJECT_SOURCE_DIR}/cmake/mirror_by_links.cmake"
    COMMENT "Mirroring python/leapp" VERBATIM)
endfunction()

# leapp_add_python_module(<name> SOURCES <file>... [DEPENDS <target>...] [TORCH])
#
# A nanobind extension module leapp.<name>, built into the mirror and installed beside the Python sources, where it finds
# our libraries; with TORCH also those of the package torch. Without, it is for the stable ABI where nanobind can do that
# (Python 3.12 and newer): one file for all of these. torch's own interface to Python is not.
function(leapp_add_python_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;DEPENDS")
  leapp_units(arg_SOURCES ${name} BYTES 60000 SOURCES ${arg_SOURCES})
  set(stable STABLE_ABI)
  if(arg_TORCH)
    set(stable "")
  endif()
  nanobind_add_module(${name} ${stable} NB_STATIC NB_SUPPRESS_WARNINGS NOMINSIZE ${arg_SOURCES})
  foreach(library nanobind-static nanobind-static-abi3)
    if(TARGET ${library})
      set_target_properties(${library} PROPERTIES CXX_CLANG_TIDY "")  # not ours
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS})
  leapp_set_warnings(${name})
  leapp_find_sources_of_units(${name})
  if(arg_TORCH)
    leapp_use_precompiled(${name} FROM leapp_torch_types)
  else()
    leapp_use_precompiled(${name} FROM leapp_base)
  endif()
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/python/leapp"
    INSTALL_RPATH "$ORIGIN$<$<BOOL:${arg_TORCH}>:;$ORIGIN/../torch/lib>")
  add_dependencies(${name} leapp_python_package)
  install(TARGETS ${name} LIBRARY DESTINATION leapp COMPONENT python EXCLUDE_FROM_ALL)
endfunction()
