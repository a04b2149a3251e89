# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` writes: the libraries, their headers, the command, and the package that find_package(leapp) finds.
# What goes into the Python package is a component of its own, "python", which is installed only when it is asked for.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

set(leapp_package "${CMAKE_INSTALL_LIBDIR}/cmake/leapp")

# leapp_install_library(<target> <header or folder under include/leapp>...): as leapp::<its EXPORT_NAME>.
function(leapp_install_library target)
  get_target_property(name ${target} EXPORT_NAME)
  install(TARGETS ${target} EXPORT leapp_${name}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT leapp_${name} NAMESPACE leapp:: FILE "leapp_${name}_targets.cmake" DESTINATION "${leapp_package}")
  foreach(header IN LISTS ARGN)
    cmake_path(GET header PARENT_PATH folder)
    if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/include/leapp/${header}")
      install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/leapp/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/leapp")
    else()
      install(FILES "${PROJECT_SOURCE_DIR}/include/leapp/${header}"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/leapp/${folder}")
    endif()
  endforeach()
endfunction()

leapp_install_library(leapp_runtime leapp.h base bundle engine runtime)
if(LEAPP_BUILD_CAPTURE)
  leapp_install_library(leapp_capture_library capture.h)
endif()
foreach(plugin leapp_engine_torch leapp_draw)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endforeach()
if(TARGET leapp_cli)
  # Plugins are looked for by name too: in lib beside bin, in a wheel in the package that bin stands in.
  set_target_properties(leapp_cli PROPERTIES
    INSTALL_RPATH "$<IF:$<BOOL:${SKBUILD}>,$ORIGIN/..,$ORIGIN/../${CMAKE_INSTALL_LIBDIR}>")
  install(TARGETS leapp_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/leappConfig.cmake.in" "${PROJECT_BINARY_DIR}/leappConfig.cmake"
  INSTALL_DESTINATION "${leapp_package}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/leappConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/leappConfig.cmake" "${PROJECT_BINARY_DIR}/leappConfigVersion.cmake"
  DESTINATION "${leapp_package}")

if(LEAPP_BUILD_PYTHON)
  # Wheels have no links: one file, with the name it is looked for by.
  install(FILES "$<TARGET_FILE:leapp_runtime>" RENAME "$<TARGET_SONAME_FILE_NAME:leapp_runtime>" DESTINATION leapp
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE
    COMPONENT python EXCLUDE_FROM_ALL)
  foreach(plugin leapp_engine_torch leapp_draw)
    if(TARGET ${plugin})
      install(TARGETS ${plugin} LIBRARY DESTINATION leapp COMPONENT python EXCLUDE_FROM_ALL)
    endif()
  endforeach()
  if(TARGET leapp_cli)
    install(TARGETS leapp_cli RUNTIME DESTINATION leapp/bin COMPONENT python EXCLUDE_FROM_ALL)  # for python -m leapp
  endif()
endif()
