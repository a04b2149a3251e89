// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace leapp::exporter {
namespace {

namespace fs = std::filesystem;

using bundle::ModelFormat;

/// What may stand in `export_with`.
struct Known {
  std::string_view name;
  ModelFormat format;
  BackendKind kind;
};

constexpr auto kBackends = std::to_array<Known>({
    {"jit", ModelFormat::kTorchScript, BackendKind::kTorchScript},
    {"jit-script", ModelFormat::kTorchScript, BackendKind::kTorchScript},
    {"jit-trace", ModelFormat::kTorchScript, BackendKind::kTorchScript},
    {"onnx", ModelFormat::kOnnx, BackendKind::kOnnx},
    {"onnx-dynamo", ModelFormat::kOnnx, BackendKind::kPytorch},
    {"onnx-torchscript", ModelFormat::kOnnx, BackendKind::kPytorch},
    {"pt2", ModelFormat::kPt2, BackendKind::kPytorch},
    {"exported-program", ModelFormat::kPt2, BackendKind::kPytorch},
});

/// What the leapp package's backends take, and why nothing comes of it where it is not read.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kWithoutEffect = {
    {{"optimize", "the graph is always simplified"},
     {"verify", "compile_graph(validate=True) checks every model"},
     {"report", "log.txt has what the export found"},
     {"skip_validation", "the ONNX checker is never run"},
     {"prescript", "what is exported is the recorded graph"},
     {"check_trace", "compile_graph(validate=True) checks every model"},
     {"strict", "what is exported is the recorded graph"},
     {"device", "the device is chosen when the model is loaded"},
     {"dynamic_shapes", "ports have the shapes they were captured with"},
     {"annotate_tensorrt_compatible", "LEAPP writes nothing for TensorRT"},
     {"validate_tensorrt_build", "LEAPP writes nothing for TensorRT"}}};

constexpr std::int64_t kOldestOpset = 13;
constexpr std::int64_t kNewestOpset = 23;
constexpr std::int64_t kOldestIr = 3;
constexpr std::int64_t kNewestIr = 13;
// A protobuf message, which a model is, has to be shorter than 2^31 bytes.
constexpr std::int64_t kMostInOneFile = 1'900'000'000;

const char* type_name(const bundle::YamlValue& value) {
  constexpr std::array<const char*, 7> kNames = {"None", "bool", "int", "float", "str", "list", "dict"};
  return kNames.at(value.data.index());
}

/// Reads the parameters one after the other and knows which keys there are.
class Reader {
 public:
  Reader(std::string where, const bundle::YamlMap& params) : where_(std::move(where)), params_(params) {}

  template <typename T>
  void take(const char* key, const char* expected, const std::function<void(const T&)>& use) {
    known_.push_back(key);
    const auto* value = find(key);
    if (!value || !status_.ok()) return;
    if (const T* typed = std::get_if<T>(&value->data)) return use(*typed);
    status_ = wrong_type(
        fmt::format("{}: backend_params['{}'] must be {}, found {}", where_, key, expected, type_name(*value)));
  }

  void take_range(const char* key, std::int64_t low, std::int64_t high, const std::function<void(std::int64_t)>& use) {
    take<std::int64_t>(key, "an int", [&](std::int64_t value) {
      if (value >= low && value <= high) return use(value);
      status_ = invalid_argument(
          fmt::format("{}: backend_params['{}'] must be from {} to {}, found {}", where_, key, low, high, value));
    });
  }

  /// Refuses keys that nobody knows; `notes` gets a sentence for each that is known and changes nothing.
  Status finish(std::vector<std::string>& notes) const {
    LEAPP_RETURN_IF_ERROR(status_);
    for (const auto& [key, value] : params_) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      const auto* other = std::find_if(kWithoutEffect.begin(), kWithoutEffect.end(),
                                       [&name = key](const auto& entry) { return entry.first == name; });
      if (other != kWithoutEffect.end()) {
        notes.push_back(fmt::format("{}: backend_params['{}'] changes nothing: {}", where_, key, other->second));
        continue;
      }
      return invalid_argument(fmt::format("{}: backend_params has no '{}'; known: {}", where_, key,
                                          known_.empty() ? "none" : join(known_, ", ")));
    }
    return {};
  }

 private:
  const bundle::YamlValue* find(std::string_view key) const {
    const auto found =
        std::find_if(params_.begin(), params_.end(), [&](const auto& entry) { return entry.first == key; });
    return found == params_.end() ? nullptr : &found->second;
  }

  std::string where_;
  const bundle::YamlMap& params_;
  std::vector<std::string_view> known_;
  Status status_;
};

Status use_model(const std::string& node, const std::string& path, Backend& backend) {
  const std::string suffix = fs::path(path).extension().string();
  const bundle::FormatInfo* known = bundle::find_format_of_suffix(suffix);
  if (known == nullptr) {
    std::vector<std::string_view> suffixes;
    for (const bundle::FormatInfo& row : bundle::model_formats()) suffixes.push_back(row.suffix);
    return invalid_argument(
        fmt::format("node '{}': model_path must end in one of {}, found '{}'", node, join(suffixes, ", "), path));
  }
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) {
    return invalid_argument(fmt::format("node '{}': model_path '{}' is not a file", node, path));
  }
  backend.kind = BackendKind::kGiven;
  backend.format = known->format;
  backend.model_path = path;
  return {};
}

Result<Backend> parse_given(const std::string& node, const bundle::YamlMap& params) {
  Backend backend;
  std::string path;
  Reader reader(fmt::format("node '{}' (export_with=None)", node), params);
  reader.take<std::string>("model_path", "a str", [&](const std::string& value) { path = value; });
  reader.take<bool>("copy_original_model", "a bool", [&](bool value) { backend.copy_original_model = value; });
  LEAPP_RETURN_IF_ERROR(reader.finish(backend.notes));
  const bool named = std::any_of(params.begin(), params.end(), [](const auto& p) { return p.first == "model_path"; });
  if (named) LEAPP_RETURN_IF_ERROR(use_model(node, path, backend));
  return backend;
}

}  // namespace

std::string Backend::format_name() const { return format ? std::string(bundle::format_info(*format).name) : ""; }

std::string Backend::suffix() const { return format ? std::string(bundle::format_info(*format).suffix) : ""; }

Result<Backend> parse_backend(const std::string& node, const OutputOptions& options) {
  if (!options.export_with) return parse_given(node, options.backend_params);
  const auto* known =
      std::find_if(kBackends.begin(), kBackends.end(), [&](const Known& b) { return b.name == *options.export_with; });
  if (known == kBackends.end()) {
    std::vector<std::string_view> names;
    for (const Known& item : kBackends) names.push_back(item.name);
    return invalid_argument(fmt::format("node '{}': export_with='{}' is not a backend; known: {}, or None", node,
                                        *options.export_with, join(names, ", ")));
  }
  Backend backend;
  backend.kind = known->kind;
  backend.format = known->format;
  backend.name = known->format == ModelFormat::kPt2 ? backend.format_name() : known->name;  // two names of one thing
  Reader reader(fmt::format("node '{}' (export_with='{}')", node, backend.name), options.backend_params);
  if (backend.kind == BackendKind::kTorchScript) {
    reader.take<bool>("source_lines", "a bool", [&](bool value) { backend.source_lines = value; });
  }
  if (backend.format == ModelFormat::kOnnx) {
    reader.take_range("opset_version", kOldestOpset, kNewestOpset, [&](std::int64_t v) { backend.opset_version = v; });
    reader.take_range("ir_version", kOldestIr, kNewestIr, [&](std::int64_t v) { backend.ir_version = v; });
  }
  if (backend.kind == BackendKind::kOnnx) {
    reader.take_range("external_data_above", 0, kMostInOneFile,
                      [&](std::int64_t v) { backend.external_data_above = v; });
    // ONNX keeps it as a float32.
    reader.take_range("seed", 0, 1 << 24, [&](std::int64_t v) { backend.seed = v; });
  }
  if (backend.format == ModelFormat::kOnnx && backend.kind == BackendKind::kPytorch) {
    reader.take<bool>("optimize", "a bool", [&](bool value) { backend.optimize = value; });
    reader.take<bool>("report", "a bool", [&](bool value) { backend.report = value; });
    reader.take<bool>("verify", "a bool", [&](bool value) { backend.verify = value; });
  }
  LEAPP_RETURN_IF_ERROR(reader.finish(backend.notes));
  return backend;
}

OutputOptions with_absolute_path(OutputOptions options) {
  for (auto& [key, value] : options.backend_params) {
    auto* path = std::get_if<std::string>(&value.data);
    if (options.export_with || key != "model_path" || !path) continue;
    std::error_code failure;
    const fs::path absolute = fs::absolute(*path, failure);
    if (!failure) *path = absolute.string();
  }
  return options;
}

}  // namespace leapp::exporter
