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
string(REGEX MATCH "[0-9][^']*" leapp_torch_version "${leapp_torch_version}")
message(STATUS "Found torch: ${LEAPP_TORCH_ROOT} (${leapp_torch_version})")

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
target_compile_definitions(leapp_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
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
