# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# Python_EXECUTABLE: the caller's choice, else the repository's .venv, else python3. Development files only when
# extension modules are built.
include_guard(GLOBAL)

if(NOT DEFINED Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH "Python interpreter")
endif()
if(LEAPP_BUILD_PYTHON)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
else()
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
endif()

# CMake 3.26 and newer know what a module for the stable ABI is linked with; on Linux it is what every module is: headers.
if(TARGET Python::Module AND NOT TARGET Python::SABIModule AND CMAKE_VERSION VERSION_LESS 3.26 AND NOT WIN32)
  get_target_property(leapp_python_include Python::Module INTERFACE_INCLUDE_DIRECTORIES)
  add_library(Python::SABIModule INTERFACE IMPORTED GLOBAL)
  target_include_directories(Python::SABIModule INTERFACE ${leapp_python_include})
endif()
