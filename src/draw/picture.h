// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/severity.h"
#include "leapp/base/finding.h"

/// What a pipeline looks like, as plain data: filled by whoever knows it, drawn by libleapp_draw.so. Texts are UTF-8
/// and are escaped by whoever draws them; empty ones are not shown.
namespace leapp::draw {

/// Nodes, and what the caller gives to and gets from them, of a picture: more are refused.
inline constexpr std::size_t kMostBoxes = 512;

/// A pair that is shown as "label: text".
using Fact = std::pair<std::string, std::string>;

struct PicturePort {
  std::string name;
  std::string dtype;
  std::string shape;  ///< "[1, 48]"
  std::string kind;
  bool external = false;    ///< the caller of the pipeline gives or gets it
  std::vector<Fact> facts;  ///< "element names", "extra keys", ...
};

/// A tensor that a model holds.
struct PictureConstant {
  std::string name;
  std::string dtype;
  std::string shape;
  std::uint64_t bytes = 0;
  std::string preview;  ///< "0.5, 1, ..."
};

/// A result of an operator.
struct PictureValue {
  std::string name;
  std::string type;  ///< "float32[1,48]"
};

/// The line of the user's program an operator came from.
struct PictureLine {
  std::string file;
  int line = 0;  ///< 0: not known
  std::string function;
  std::string text;  ///< what is written there
};

struct PictureOperator {
  std::string op;         ///< "aten::linear", "Gemm"
  std::string arguments;  ///< "x, weight, bias, alpha=1"
  std::vector<PictureValue> results;
  PictureLine source;
  std::uint64_t constant_bytes = 0;  ///< of the constants it reads
};

/// Something to know about a place of the pipeline.
struct PictureFinding {
  Severity severity = Severity::kNote;
  std::string text;
  std::optional<std::size_t> port;  ///< of the node's inputs, then of its outputs
  std::optional<std::size_t> op;    ///< of the node's operators
};

struct PictureNode {
  std::string name;
  std::string backend;  ///< "onnx"; empty: there is no model
  std::string file;
  std::optional<std::uint64_t> bytes;  ///< of the file
  std::optional<CheckStatus> status;   ///< of validation; nothing: not validated
  /// Its model does not do what the program does.
  [[nodiscard]] bool fails() const { return status == CheckStatus::kFailed || status == CheckStatus::kErrored; }
  std::optional<double> microseconds;  ///< that a step spends in this node
  std::vector<PicturePort> inputs;
  std::vector<PicturePort> outputs;
  bool operators_known = false;
  std::string operators_note;  ///< why they are not known, or where they are from
  std::vector<PictureOperator> operators;
  std::vector<PictureConstant> constants;
  std::vector<PictureFinding> findings;
  std::vector<Fact> facts;
};

/// From an output to an input, by position.
struct PictureEdge {
  std::size_t from_node = 0;
  std::size_t from_port = 0;
  std::size_t to_node = 0;
  std::size_t to_port = 0;
  bool feedback = false;  ///< the value arrives one step later
};

struct PipelinePicture {
  std::string name;
  std::vector<PictureNode> nodes;  ///< producers first
  std::vector<PictureEdge> edges;
  std::vector<PictureFinding> findings;  ///< of no single node
  std::vector<Fact> facts;               ///< "frequency": "50 Hz"
};

}  // namespace leapp::draw
