// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>

#include "draw/picture.h"

/// Pipelines for tests: no program makes these.
namespace leapp::draw {

inline PicturePort make_port(std::string name, std::string kind = "") {
  return {.name = std::move(name), .dtype = "float32", .shape = "[1, 48]", .kind = std::move(kind)};
}

/// `count` nodes in a row. Every third feeds the one after the next as well, every fourth has an input of its own and
/// state, the last one feeds the first back, and every seventh has names longer than any sensible one.
inline PipelinePicture make_chain(std::size_t count) {
  PipelinePicture picture{.name = fmt::format("chain_of_{}", count), .facts = {{"frequency", "50 Hz"}}};
  for (std::size_t i = 0; i < count; ++i) {
    PictureNode node{.name = fmt::format("stage_{}", i), .backend = "onnx", .bytes = 1234 * (i + 1)};
    if (i % 7 == 6) node.name = fmt::format("a_stage_with_a_name_that_goes_on_and_on_and_on_until_its_end_{}", i);
    node.inputs = {make_port("observation", i == 0 ? "state/joint/position" : "")};
    node.outputs = {make_port("action", i + 1 == count ? "target/joint/position" : "")};
    node.inputs[0].external = i == 0;
    node.outputs[0].external = i + 1 == count;
    if (i > 0) picture.edges.push_back({i - 1, 0, i, 0, false});
    if (i % 4 == 1) {
      node.inputs.push_back(make_port("hidden_in"));
      node.outputs.push_back(make_port("hidden_out"));
      picture.edges.push_back({i, 1, i, 1, true});
      node.inputs.push_back(make_port(fmt::format("command_{}", i), "command/body/velocity"));
      node.inputs.back().external = true;
    }
    picture.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 0; i + 2 < count; i += 3) {
    picture.nodes[i + 2].inputs.push_back(make_port("skip"));
    picture.edges.push_back({i, 0, i + 2, picture.nodes[i + 2].inputs.size() - 1, false});
  }
  picture.nodes[0].inputs.push_back(make_port("previous_action"));
  picture.edges.push_back({count - 1, 0, 0, picture.nodes[0].inputs.size() - 1, true});
  return picture;
}

/// One node whose names have whatever a name may have.
inline PipelinePicture make_hostile() {
  const std::string evil = "</script><b>&amp;\"'\\N\\n {x} \xE2\x80\xA8 日本語 é 😀\x01";
  PipelinePicture picture{.name = evil};
  PictureNode node{.name = evil, .backend = evil, .file = evil, .status = CheckStatus::kFailed};
  node.inputs = {make_port(evil, evil), make_port("\xFF\xFE"), make_port("  two  spaces  ")};
  node.outputs = {make_port(std::string(300, 'x'), evil)};
  node.inputs[0].external = true;
  node.inputs[0].facts = {{evil, evil}};
  node.outputs[0].external = true;
  node.findings = {{Severity::kError, evil, 0, 0}};
  node.operators_known = true;
  node.operators = {{.op = evil, .arguments = evil, .results = {{evil, evil}}, .source = {evil, 1, evil, evil}}};
  node.constants = {{.name = evil, .dtype = "float32", .shape = "[]", .bytes = 4, .preview = evil}};
  picture.nodes.push_back(node);
  picture.edges.push_back({0, 0, 0, 1, true});
  return picture;
}

}  // namespace leapp::draw
