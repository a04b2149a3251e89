// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/page.h"

#include <array>
#include <string_view>
#include <utility>

#include "draw/escape.h"
#include "draw/page_files.h"

namespace leapp::draw {
namespace {

using Insert = std::pair<std::string_view, std::string>;

/// Puts each text in the place of its mark. What was put in is not looked at again.
template <std::size_t N>
std::string fill_in(std::string_view text, const std::array<Insert, N>& inserts) {
  std::string result;
  while (!text.empty()) {
    const std::size_t at = text.find("@LEAPP_");
    result += text.substr(0, at);
    if (at == std::string_view::npos) break;
    text.remove_prefix(at);
    std::size_t taken = 1;
    for (const auto& [mark, insert] : inserts) {
      if (!text.starts_with(mark)) continue;
      result += insert;
      taken = mark.size();
    }
    if (taken == 1) result += text.front();
    text.remove_prefix(taken);
  }
  return result;
}

}  // namespace

std::string render_page(const PipelinePicture& picture, const std::string& svg) {
  std::string script;
  for (const std::string_view part : {page_files::dom_js, page_files::canvas_js, page_files::details_js,
                                      page_files::search_js, page_files::main_js}) {
    script += part;
  }
  const std::array<Insert, 5> inserts = {{
      {"@LEAPP_TITLE@", escape_xml(picture.name)},
      {"@LEAPP_STYLE@", std::string(page_files::page_css)},
      {"@LEAPP_SVG@", svg},
      {"@LEAPP_DATA@", escape_script(page_data(picture))},
      {"@LEAPP_SCRIPT@", script},
  }};
  return fill_in(page_files::page_html, inserts);
}

}  // namespace leapp::draw
