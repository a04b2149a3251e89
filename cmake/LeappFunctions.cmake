# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0

# Build-wide flags, before any target exists.
if(LEAPP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(LEAPP_CCACHE_PROGRAM ccache)
  mark_as_advanced(LEAPP_CCACHE_PROGRAM)
  if(LEAPP_CCACHE_PROGRAM)
    # Paths below the source folder are hashed relative to it, so that a second clone finds what the first compiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${LEAPP_CCACHE_PROGRAM}")
  endif()
endif()
# Line tables only: a quarter off the compile time, and three quarters off the objects, of files that include torch.
add_compile_options($<$<CONFIG:RelWithDebInfo>:-g1>)
# No path of the building machine in objects, messages or wheels.
add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")

if(LEAPP_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(LEAPP_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(LEAPP_SANITIZE)
  message(FATAL_ERROR "LEAPP_SANITIZE: expected nothing, address or thread, found '${LEAPP_SANITIZE}'")
endif()

# libFuzzer is told which ways through the libraries an input takes.
if(LEAPP_BUILD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# leapp_add_subdirectories(<folder>...): add_subdirectory for each folder that has a CMakeLists.txt by now. The
# build folder has the same name, less python/: build/<preset>/python is a folder to import from.
function(leapp_add_subdirectories)
  foreach(folder IN LISTS ARGN)
    if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
      string(REGEX REPLACE "^python/" "" build_folder "${folder}")
      add_subdirectory("${PROJECT_SOURCE_DIR}/${folder}" "${PROJECT_BINARY_DIR}/${build_folder}")
    endif()
  endforeach()
endfunction()

# leapp_add_library(<name> SOURCES <file>... [DEPENDS <target>...] [PRIVATE_DEPENDS <target>...])
#
# A static, position-independent library. Includes are written from include/ ("leapp/base/status.h") or from src/
# ("graph/graph.h"). DEPENDS are what its headers need, PRIVATE_DEPENDS what only its .cpp files need.
function(leapp_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "leapp_add_library(${name}): expected SOURCES, found '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
  leapp_set_warnings(${name})
endfunction()

# leapp_add_executable(<name> SOURCES <file>... [DEPENDS <target>...])
function(leapp_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS})
  leapp_set_warnings(${name})
endfunction()

# leapp_add_test(<name> SOURCES <file>... [DEPENDS <target>...] [TIMEOUT <seconds>] [TORCH])
#
# One GoogleTest program that is one ctest. TORCH links libtorch and allows for its slow start. Does nothing when
# LEAPP_BUILD_TESTS is off.
function(leapp_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "TIMEOUT" "SOURCES;DEPENDS")
  if(NOT LEAPP_BUILD_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
    if(arg_TORCH)
      set(arg_TIMEOUT 300)
    endif()
  endif()
  leapp_add_executable(${name} SOURCES ${arg_SOURCES} DEPENDS ${arg_DEPENDS} GTest::gtest_main)
  if(arg_TORCH)
    target_link_libraries(${name} PRIVATE leapp_torch)
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()
