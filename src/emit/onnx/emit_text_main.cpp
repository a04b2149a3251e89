// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// For trying out the emitter: graphs in the text form become models beside them.
//
//   emit_onnx_text OPSET FILE...
//
// Writes FILE.onnx for each FILE and prints one line for each: "ok", or the error.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "emit/onnx/emitter.h"
#include "graph/text.h"

namespace {

leapp::Status emit_file(const std::string& path, int opset) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  LEAPP_ASSIGN_OR_RETURN(const leapp::graph::Graph graph, leapp::graph::parse(text));
  LEAPP_ASSIGN_OR_RETURN(const leapp::emit::OnnxModel model, leapp::emit::emit_onnx(graph, {.opset_version = opset}));
  std::ofstream(path + ".onnx", std::ios::binary) << model.model.text();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: emit_onnx_text OPSET FILE...\n");
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    const leapp::Status status = emit_file(argv[i], std::atoi(argv[1]));
    std::string message = status.ok() ? "ok" : status.message();
    for (char& c : message) c = c == '\n' ? ' ' : c;
    fmt::print("{}\n", message);
  }
  return 0;
}
