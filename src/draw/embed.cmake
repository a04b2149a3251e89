# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# cmake -D FILES=<list> -D OUTPUT=<header> -P embed.cmake
# A header with the content of each file as a string_view: page.css as leapp::draw::page_files::page_css.
set(text "// Generated from src/draw/page.\n#pragma once\n\n#include <string_view>\n\nnamespace leapp::draw::page_files {\n")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  string(REPLACE "." "_" name "${name}")
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND text "inline constexpr char ${name}_bytes[] = {${bytes}};\n")
  string(APPEND text "inline constexpr std::string_view ${name}(${name}_bytes, sizeof(${name}_bytes));\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}}  // namespace leapp::draw::page_files\n")
