# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# cmake -D SOURCE=<folder> -D MIRROR=<folder> -P mirror_by_links.cmake
# One link in MIRROR for each file of SOURCE; links whose file is gone are removed, other files are left alone.

file(GLOB_RECURSE files RELATIVE "${SOURCE}" "${SOURCE}/*")
list(FILTER files EXCLUDE REGEX "(^|/)(__pycache__|[.][^/]*)(/|$)|[.]pyc$")
foreach(file IN LISTS files)
  set(link "${MIRROR}/${file}")
  if(NOT IS_SYMLINK "${link}")
    get_filename_component(folder "${link}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    file(CREATE_LINK "${SOURCE}/${file}" "${link}" SYMBOLIC)
  endif()
endforeach()

file(GLOB_RECURSE links RELATIVE "${MIRROR}" "${MIRROR}/*")
foreach(file IN LISTS links)
  if(IS_SYMLINK "${MIRROR}/${file}" AND NOT EXISTS "${SOURCE}/${file}")
    file(REMOVE "${MIRROR}/${file}")
  endif()
endforeach()
