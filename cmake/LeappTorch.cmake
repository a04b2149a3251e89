# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# Imported targets for the libtorch inside the `torch` wheel:
#   leapp_torch          headers, c10, torch, torch_cpu
#   leapp_torch_python   the above and torch_python (for bindings)
#
# Not find_package(Torch): that one takes seconds, looks for MKL, CUDA and kineto with warnings on the way, and puts the
# wheel's own copy of fmt in front of the one that spdlog and we are linked with.
include_guard(GLOBAL)
include(LeappFindPython)

if(NOT LEAPP_TORCH_ROOT)
  # Does not import torch, which would cost seconds.
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
      "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE leapp_torch_root OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(LEAPP_TORCH_ROOT "${leapp_torch_root}" CACHE PATH "" FORCE)
endif()
if(NOT EXISTS "${LEAPP_TORCH_ROOT}/lib/libtorch_cpu.so")
  set(leapp_torch_looked "${LEAPP_TORCH_ROOT}")
  unset(LEAPP_TORCH_ROOT CACHE)
  message(FATAL_ERROR "No libtorch for ${Python_EXECUTABLE} (looked in '${leapp_torch_looked}'): run scripts/setup, "
    "set LEAPP_TORCH_ROOT, or turn LEAPP_BUILD_CAPTURE off")
endif()
file(STRINGS "${LEAPP_TORCH_ROOT}/version.py" leapp_torch_version REGEX "^__version__")
string(REGEX MATCH "[0-9]+[.][0-9]+[^'\"]*" leapp_torch_version "${leapp_torch_version}")
message(STATUS "Found torch: ${LEAPP_TORCH_ROOT} (${leapp_torch_version})")

# What the tests were run with, and how what is built with this one is called: _capture_torch2_13, libleapp_engine_torch2_13.so.
set(leapp_tried "${PROJECT_SOURCE_DIR}/src/capture/hook/torch_version.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${leapp_tried}")
foreach(end Lowest Highest)
  file(STRINGS "${leapp_tried}" line REGEX "k${end}Torch = \"" LIMIT_COUNT 1)
  string(REGEX MATCH "[0-9]+[.][0-9]+" leapp_torch_${end} "${line}")
endforeach()
string(REGEX MATCH "^([0-9]+)[.]([0-9]+)" leapp_torch_minor "${leapp_torch_version}")
set(LEAPP_TORCH_TAG "torch${CMAKE_MATCH_1}_${CMAKE_MATCH_2}")
if(leapp_torch_minor VERSION_LESS leapp_torch_Lowest)
  unset(LEAPP_TORCH_ROOT CACHE)
  message(FATAL_ERROR "Capture needs torch ${leapp_torch_Lowest} or newer, found ${leapp_torch_version}: "
    "pip install --upgrade torch, or turn LEAPP_BUILD_CAPTURE off")
elseif(leapp_torch_minor VERSION_GREATER leapp_torch_Highest)
  message(STATUS "torch ${leapp_torch_version} is newer than ${leapp_torch_Highest}, the newest that LEAPP was tried with")
endif()

# The layout of std::string that it was compiled with (LeappAbi.cmake).
set(LEAPP_CXX11_ABI 1)
file(STRINGS "${LEAPP_TORCH_ROOT}/share/cmake/Torch/TorchConfig.cmake" leapp_old_abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
if(leapp_old_abi)
  set(LEAPP_CXX11_ABI 0)
endif()

# The wheel's headers, less third-party ones that would hide the system's: a folder of links.
set(leapp_torch_include "${PROJECT_BINARY_DIR}/torch-include")
file(MAKE_DIRECTORY "${leapp_torch_include}")
foreach(folder ATen c10 caffe2 torch pybind11)
  file(CREATE_LINK "${LEAPP_TORCH_ROOT}/include/${folder}" "${leapp_torch_include}/${folder}" SYMBOLIC)
endforeach()

foreach(library c10 torch_cpu torch torch_python)
  add_library(leapp_torch::${library} SHARED IMPORTED GLOBAL)
  set_target_properties(leapp_torch::${library} PROPERTIES
    IMPORTED_LOCATION "${LEAPP_TORCH_ROOT}/lib/lib${library}.so"
    IMPORTED_SONAME "lib${library}.so")
endforeach()

add_library(leapp_torch INTERFACE IMPORTED GLOBAL)
target_include_directories(leapp_torch SYSTEM INTERFACE
  "${leapp_torch_include}" "${leapp_torch_include}/torch/csrc/api/include")
target_compile_definitions(leapp_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=${LEAPP_CXX11_ABI})
set(LEAPP_TORCH_OPTIONS "" CACHE STRING "More compiler options for what includes torch: -O0 for a build that is tested once")
target_compile_options(leapp_torch INTERFACE ${LEAPP_TORCH_OPTIONS})
target_link_libraries(leapp_torch INTERFACE leapp_torch::torch leapp_torch::torch_cpu leapp_torch::c10)
# For the libraries that libtorch_cpu needs in turn. The rpath of the build tree comes from the imported locations.
target_link_options(leapp_torch INTERFACE "LINKER:-rpath-link,${LEAPP_TORCH_ROOT}/lib")

add_library(leapp_torch_python INTERFACE IMPORTED GLOBAL)
target_link_libraries(leapp_torch_python INTERFACE leapp_torch leapp_torch::torch_python)

# Where installed libraries look for libtorch: beside themselves, in the Python package torch that stands beside ours, and
# unless this is for a wheel, which goes to other machines, in the torch that they were built with.
set(LEAPP_TORCH_INSTALL_RPATH "$ORIGIN" "$ORIGIN/../torch/lib")
if(NOT SKBUILD)
  list(APPEND LEAPP_TORCH_INSTALL_RPATH "${LEAPP_TORCH_ROOT}/lib")
endif()
