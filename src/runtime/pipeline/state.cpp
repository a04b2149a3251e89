// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/state.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "bundle/files/safetensors_file.h"

namespace leapp::runtime {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 34U;

Status at_file(const std::string& file, const Status& status) {
  return {status.code(), fmt::format("pipeline.initial_values: {}: {}", file, status.message())};
}

std::unordered_set<std::string> inputs_of(const bundle::BundleSpec& spec) {
  std::unordered_set<std::string> names;
  for (const bundle::Model& model : spec.models) {
    for (const bundle::Port& port : model.inputs) names.insert(model.name + "/" + port.name);
  }
  return names;
}

/// The tensors of a file by name. One that belongs to no input is an error.
class Stored {
 public:
  explicit Stored(const bundle::SafetensorsFile& file) : file_(file) {
    for (const bundle::TensorRange& tensor : file.tensors()) tensors_.emplace(tensor.name, &tensor);
  }

  [[nodiscard]] Status check_names(const bundle::BundleSpec& spec) const {
    const std::unordered_set<std::string> inputs = inputs_of(spec);
    for (const bundle::TensorRange& tensor : file_.tensors()) {
      if (!inputs.contains(tensor.name)) {
        return invalid_argument(fmt::format("{} is not an input of any node", quote_brief(tensor.name)));
      }
    }
    return {};
  }

  [[nodiscard]] Result<std::vector<std::byte>> value_of(const EndPlan& state, const BufferPlan& buffer) const {
    const auto found = tensors_.find(state.name);
    if (found == tensors_.end()) {
      return invalid_argument(fmt::format("expected a value for the feedback input {}, found none", state.name));
    }
    const bundle::TensorRange& tensor = *found->second;
    if (tensor.dtype != buffer.dtype || tensor.shape != buffer.shape) {
      return invalid_argument(fmt::format("{}: expected {}, found {}", state.name,
                                          type_text(buffer.dtype, buffer.shape),
                                          type_text(tensor.dtype, tensor.shape)));
    }
    return file_.read(tensor);
  }

 private:
  const bundle::SafetensorsFile& file_;
  std::unordered_map<std::string_view, const bundle::TensorRange*> tensors_;
};

// Where somebody wants to see the bytes that are used, they are read once and whole.
Result<bundle::SafetensorsFile> open_values(const std::filesystem::path& path, const bundle::FileOptions& options) {
  if (!options.inspect) return bundle::SafetensorsFile::open(path);
  LEAPP_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, bundle::read_file(path, kLargestFile));
  LEAPP_RETURN_IF_ERROR(options.inspect(path, bytes));
  return bundle::SafetensorsFile::parse(std::move(bytes));
}

}  // namespace

Result<InitialValues> read_initial_values(const std::filesystem::path& folder, const bundle::BundleSpec& spec,
                                          const PipelinePlan& plan, const bundle::FileOptions& options) {
  InitialValues values;
  if (!spec.pipeline.initial_values) {
    values.resize(plan.states.size());
    return values;
  }
  const std::string& name = *spec.pipeline.initial_values;
  auto path = bundle::locate_file(folder, name, options);
  if (!path.ok()) return Status(path.status().code(), "pipeline.initial_values: " + path.status().message());
  const auto file = open_values(path.value(), options);
  if (!file.ok()) return at_file(name, file.status());
  const Stored stored(file.value());
  if (const Status known = stored.check_names(spec); !known.ok()) return at_file(name, known);
  for (const EndPlan& state : plan.states) {
    auto value = stored.value_of(state, plan.buffers[state.place.buffer]);
    if (!value.ok()) return at_file(name, value.status());
    values.push_back(std::move(value).value());
  }
  return values;
}

}  // namespace leapp::runtime
