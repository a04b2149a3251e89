// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "leapp/base/dtype.h"
#include "leapp/base/export.h"

/// What `{name}.yaml` says, as plain data. Lists of pairs stand for YAML maps: their order is the file's. Absent
/// optionals are keys that are not written, except under ModelParameters and SystemInformation, where they are written
/// as null.
namespace leapp::bundle {

struct YamlValue;
/// A sequence, and a mapping that keeps its order.
using YamlList = std::vector<YamlValue>;
using YamlMap = std::vector<std::pair<std::string, YamlValue>>;

/// Any value a user may attach to a port or to the pipeline. A default-constructed one is null.
struct YamlValue {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, YamlList, YamlMap> data;

  YamlValue() = default;
  YamlValue(std::nullptr_t) {}                         // NOLINT: implicit, so that maps can be written as literals
  YamlValue(bool value) : data(value) {}               // NOLINT
  YamlValue(int value) : data(std::int64_t{value}) {}  // NOLINT
  YamlValue(std::int64_t value) : data(value) {}       // NOLINT
  YamlValue(double value) : data(value) {}             // NOLINT
  YamlValue(const char* value) : data(std::string(value)) {}  // NOLINT
  YamlValue(std::string value) : data(std::move(value)) {}    // NOLINT
  YamlValue(YamlList value) : data(std::move(value)) {}       // NOLINT
  YamlValue(YamlMap value) : data(std::move(value)) {}        // NOLINT

  /// By assignment: g++ 12's std::variant takes the process with it when memory runs out in its copy constructor, for
  /// strings and vectors are types of which it thinks that one is always there.
  YamlValue(const YamlValue& other) { data = other.data; }
  YamlValue(YamlValue&&) noexcept = default;
  YamlValue& operator=(const YamlValue&) = default;
  YamlValue& operator=(YamlValue&&) noexcept = default;
  ~YamlValue() = default;

  bool operator==(const YamlValue&) const = default;
};

/// The names of the elements along one axis, or none.
using AxisNames = std::optional<std::vector<std::string>>;

/// Marks one axis as a row of moments, `period_ms` apart. Written as `__temporal_axis__` in that axis' place in
/// `element_names`, and `temporal_period_ms`.
struct TemporalAxis {
  std::size_t axis = 0;
  double period_ms = 0;

  bool operator==(const TemporalAxis&) const = default;
};

/// A key of an output that says whether it is the next value of state alone, where its edges would mislead (check.h).
inline constexpr const char* kStateKey = "leapp_state";

/// What a port means to whoever deploys the pipeline. A field that is added here has a row in the table of
/// src/bundle/port_fields.cpp, which everything that reads, writes or shows ports goes by.
struct Semantics {
  std::optional<std::string> kind;                      ///< "state/joint/position", or any text
  std::optional<std::vector<AxisNames>> element_names;  ///< one entry per axis
  std::optional<TemporalAxis> temporal_axis;
  YamlMap extra;  ///< keys of the user's, which must not use the name of a built-in field

  bool operator==(const Semantics&) const = default;
};

/// An input or output of a node, as the YAML describes it.
struct Port : Semantics {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::string type = "tensor";

  bool operator==(const Port&) const = default;
};

/// What a model's file is written in. format.h has the table of their names, suffixes and needs.
enum class ModelFormat : std::uint8_t { kTorchScript, kOnnx, kPt2 };

/// All absent: a placeholder, a node without a model.
struct ModelParameters {
  std::optional<std::string> backend;
  std::optional<std::string> model_path;
  std::optional<std::string> md5sum;
  std::optional<std::string> sha256sum;
  std::optional<std::int64_t> opset_version;  ///< not written when absent
  YamlMap extra;

  /// What `backend` names; nothing where that is null or known to nobody.
  [[nodiscard]] LEAPP_API std::optional<ModelFormat> format() const;

  bool operator==(const ModelParameters&) const = default;
};

/// One node: its ports and the model that computes them.
struct Model {
  std::string name;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  ModelParameters parameters;

  bool operator==(const Model&) const = default;
};

/// "node/port" → the "node/port"s it feeds.
using EdgeMap = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Node → names of its ports.
using NodePorts = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// How nodes are joined, and what the caller gives and gets.
struct Pipeline {
  YamlMap configs;  ///< not written when empty
  EdgeMap data_flow;
  EdgeMap feedback_flow;
  std::optional<std::string> initial_values;  ///< file name
  NodePorts inputs;
  NodePorts outputs;

  bool operator==(const Pipeline&) const = default;
};

/// Versions of what exported the bundle, by name.
using SystemInformation = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// All that a bundle's YAML says.
struct BundleSpec {
  std::vector<Model> models;  ///< producers before consumers
  Pipeline pipeline;
  SystemInformation system_information;

  bool operator==(const BundleSpec&) const = default;
};

}  // namespace leapp::bundle
