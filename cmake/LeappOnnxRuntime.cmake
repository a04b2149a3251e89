# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# ONNX Runtime: its C headers to build with, a library to test with. Nothing is linked: the library is found at run time.
#   LEAPP_ONNXRUNTIME_INCLUDE   folder of onnxruntime_c_api.h; not found: false
#   LEAPP_ONNXRUNTIME_LIBRARY   the library in the Python package `onnxruntime`; empty: tests that run models skip
# What is under build/ is looked for there when another machine's programs are built, too.
include_guard(GLOBAL)

set(ONNXRUNTIME_ROOT "" CACHE PATH "Folder of an ONNX Runtime; empty: the headers that scripts/setup fetched")
find_path(LEAPP_ONNXRUNTIME_INCLUDE onnxruntime_c_api.h
  HINTS "${ONNXRUNTIME_ROOT}" "${PROJECT_SOURCE_DIR}/build/onnxruntime-headers/usr"
  PATH_SUFFIXES include include/onnxruntime include/onnxruntime/core/session
  CMAKE_FIND_ROOT_PATH_BOTH)
mark_as_advanced(LEAPP_ONNXRUNTIME_INCLUDE)
if(NOT LEAPP_ONNXRUNTIME_INCLUDE)
  message(WARNING "No headers of ONNX Runtime: this build cannot run ONNX models. Run scripts/setup or set ONNXRUNTIME_ROOT")
endif()

set(LEAPP_ONNXRUNTIME_PACKAGE "" CACHE PATH "Folder of the package onnxruntime that tests run; empty: the interpreter's")
set(LEAPP_ONNXRUNTIME_LIBRARY "")
if(LEAPP_BUILD_TESTS)
  set(leapp_onnxruntime_package "${LEAPP_ONNXRUNTIME_PACKAGE}")
  if(NOT leapp_onnxruntime_package)
    include(LeappFindPython)
    # Does not import the package, which would cost a second.
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c
        "import importlib.util as u; s = u.find_spec('onnxruntime'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE leapp_onnxruntime_package OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  file(GLOB LEAPP_ONNXRUNTIME_LIBRARY "${leapp_onnxruntime_package}/capi/libonnxruntime.so.*")
endif()

# leapp_test_with_onnxruntime(<test>...): the tests find that library, and the bundles under tests/bundles.
function(leapp_test_with_onnxruntime)
  if(NOT LEAPP_BUILD_TESTS)
    return()
  endif()
  foreach(test IN LISTS ARGN)
    target_compile_definitions(${test} PRIVATE LEAPP_TEST_BUNDLES="${PROJECT_SOURCE_DIR}/tests/bundles"
      LEAPP_TEST_ONNXRUNTIME="${LEAPP_ONNXRUNTIME_LIBRARY}")
  endforeach()
endfunction()
