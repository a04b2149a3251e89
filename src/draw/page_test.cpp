// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "draw/layout.h"
#include "draw/picture_testing.h"
#include "draw/svg.h"

namespace leapp::draw {
namespace {

std::string page_of(const PipelinePicture& picture) {
  const Boxes boxes = make_boxes(picture);
  auto layout = lay_out(boxes);
  EXPECT_TRUE(layout.ok()) << layout.status().message();
  return render_page(picture, render_svg(picture, boxes, layout.value()));
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

std::string data_in(const std::string& page) {
  const std::string begin = R"(<script id="data" type="application/json">)";
  const std::size_t from = page.find(begin) + begin.size();
  return page.substr(from, page.find("</script>", from) - from);
}

TEST(Page, NamesCannotEscape) {
  const std::string page = page_of(make_hostile());
  EXPECT_EQ(count(page, "</script>"), 2U);
  EXPECT_EQ(count(page, "<b>"), 0U);
  EXPECT_EQ(page.find("\xE2\x80\xA8"), std::string::npos);
  const auto data = nlohmann::json::parse(data_in(page));
  EXPECT_EQ(data["nodes"][0]["name"], make_hostile().nodes[0].name);
  EXPECT_EQ(data["nodes"][0]["inputs"][1]["name"], "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Page, HasEverythingInIt) {
  const std::string page = page_of(make_chain(3));
  EXPECT_EQ(page.find("@LEAPP_"), std::string::npos);
  EXPECT_EQ(count(page, "class=\"node\""), 3U);
  // The name space of SVG is the one address in it, and nothing is fetched from there.
  EXPECT_FALSE(std::regex_search(page, std::regex("(src|href)=\"(?!data:)|@import|url\\(")));
  EXPECT_EQ(count(page, "http"), count(page, "http://www.w3.org/2000/svg") + count(page, "http-equiv"));
}

TEST(Page, EveryLinkJoinsElementsThatAreThere) {
  for (const std::size_t size : {1U, 12U, 30U}) {
    const std::string page = page_of(make_chain(size));
    const std::regex ends("data-(?:from|to)=\"([^\"]+)\"");
    std::size_t found = 0;
    for (std::sregex_iterator at(page.begin(), page.end(), ends), end; at != end; ++at, ++found) {
      EXPECT_EQ(count(page, "id=\"" + (*at)[1].str() + "\""), 1U) << (*at)[1];
    }
    EXPECT_EQ(found, 2 * count(page, "class=\"hit\""));
    EXPECT_GE(found, 2 * make_chain(size).edges.size());
  }
}

TEST(Page, OperatorsOfOneLineShareIt) {
  PipelinePicture picture = make_chain(1);
  const PictureLine line{"walk.py", 12, "step", "return x.sin() + 1"};
  picture.nodes[0].operators = {{.op = "aten::sin", .source = line}, {.op = "aten::add", .source = line}, {.op = "x"}};
  const auto data = nlohmann::json::parse(page_data(picture));
  ASSERT_EQ(data["lines"].size(), 1U);
  EXPECT_EQ(data["lines"][0]["text"], line.text);
  EXPECT_EQ(data["nodes"][0]["operators"][1]["line"], 0);
  EXPECT_FALSE(data["nodes"][0]["operators"][2].contains("line"));
}

}  // namespace
}  // namespace leapp::draw
