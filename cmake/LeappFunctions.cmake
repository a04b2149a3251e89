# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0

# Build-wide flags, before any target exists.
if(LEAPP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(LEAPP_CCACHE_PROGRAM ccache)
  mark_as_advanced(LEAPP_CCACHE_PROGRAM)
  if(LEAPP_CCACHE_PROGRAM)
    # Paths below the source folder are hashed relative to it, so that a second clone finds what the first compiled.
    # What it takes to be trusted with precompiled headers: none of ours has __DATE__, nor depends on a macro of one target.
    # What a unit includes is read off the compiler's list, not by running the preprocessor first.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros "${LEAPP_CCACHE_PROGRAM}")
  endif()
endif()
# Line tables only: a quarter off the compile time, and three quarters off the objects, of files that include torch.
add_compile_options($<$<CONFIG:RelWithDebInfo>:-g1>)
# The same results on every machine: where a * b + c is to be rounded once, it is written so. For all of a build, for GCC
# takes this from a precompiled header. 64-bit ARM always has such an instruction, x86-64 when it is asked for.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" OR CMAKE_CXX_FLAGS MATCHES "-m(arch|avx|fma)")
  add_compile_options(-ffp-contract=off)
endif()
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

# leapp_add_library(<name> SOURCES <file>... [DEPENDS <target>...] [PRIVATE_DEPENDS <target>...] [TORCH | PLAIN]
#                   [UNIT_BYTES <bytes>])
#
# A static, position-independent library. Includes are written from include/ ("leapp/base/status.h") or from src/
# ("graph/graph.h"). DEPENDS are what its headers need, PRIVATE_DEPENDS what only its .cpp files need. TORCH: its sources
# include torch. PLAIN: each source is compiled by itself, without precompiled headers. UNIT_BYTES: see leapp_units.
function(leapp_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;PLAIN" "UNIT_BYTES" "SOURCES;DEPENDS;PRIVATE_DEPENDS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "leapp_add_library(${name}): expected SOURCES, found '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" OUTPUT_VARIABLE sources)
  leapp_quick_sources(${name})
  add_library(${name} STATIC ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES LEAPP_SOURCES "${sources}")  # fuzz/ compiles them once more
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
  leapp_set_warnings(${name})
  leapp_quick_target(${name} leapp_base leapp_torch_types)
endfunction()

# leapp_add_executable(<name> SOURCES <file>... [DEPENDS <target>...])
function(leapp_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS})
  leapp_set_warnings(${name})
endfunction()

# leapp_add_test(<name> SOURCES <file>... [DEPENDS <target>...] [TIMEOUT <seconds>] [TORCH | PLAIN] [UNIT_BYTES <bytes>])
#
# One GoogleTest program that is one ctest. TORCH links libtorch and allows for its slow start. PLAIN and UNIT_BYTES as
# for libraries. Does nothing when LEAPP_BUILD_TESTS is off.
function(leapp_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;PLAIN" "TIMEOUT;UNIT_BYTES" "SOURCES;DEPENDS")
  if(NOT LEAPP_BUILD_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
    if(arg_TORCH)
      set(arg_TIMEOUT 300)
    endif()
  endif()
  leapp_quick_sources(${name})
  leapp_add_executable(${name} SOURCES ${arg_SOURCES} DEPENDS ${arg_DEPENDS} GTest::gtest_main)
  if(arg_TORCH)
    target_link_libraries(${name} PRIVATE leapp_torch)
    target_compile_options(${name} PRIVATE -fPIC)  # as the owner of torch's precompiled headers: one for all is 40 s less
  endif()
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    target_compile_definitions(${name} PRIVATE LEAPP_TEST_EMULATED)
  endif()
  leapp_compile_as_test(${name})
  leapp_quick_target(${name} leapp_test_headers leapp_torch_types)
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  leapp_set_timeout(${name} ${arg_TIMEOUT})
endfunction()

# leapp_set_timeout(<test> <seconds>): ten times as many in an emulator.
function(leapp_set_timeout test seconds)
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    math(EXPR seconds "${seconds} * 10")
  endif()
  set_tests_properties(${test} PROPERTIES TIMEOUT ${seconds})
endfunction()

# What is run a few times is not worth the optimiser's time.
function(leapp_compile_as_test target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  # As the compiler does it by itself, in programs and in the owner of their precompiled headers alike.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
endfunction()

# Of the functions above: arg_SOURCES becomes the units, unless arg_PLAIN.
macro(leapp_quick_sources name)
  if(NOT arg_UNIT_BYTES AND arg_TORCH)
    set(arg_UNIT_BYTES ${LEAPP_TORCH_UNIT_BYTES})  # four seconds of a unit go to templates of torch's that no unit needs
  elseif(NOT arg_UNIT_BYTES)
    set(arg_UNIT_BYTES ${LEAPP_UNIT_BYTES})
  endif()
  if(NOT arg_PLAIN)
    leapp_units(arg_SOURCES ${name} BYTES ${arg_UNIT_BYTES} SOURCES ${arg_SOURCES})
  endif()
endmacro()

macro(leapp_quick_target name owner torch_owner)
  if(NOT arg_PLAIN)
    leapp_find_sources_of_units(${name})
    if(arg_TORCH)
      leapp_use_precompiled(${name} FROM ${torch_owner})
    else()
      leapp_use_precompiled(${name} FROM ${owner})
    endif()
  endif()
endmacro()
