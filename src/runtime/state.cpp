// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/text.h"

namespace leapp::runtime {
namespace {

// Ports are bounded, and there are not that many of them.
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 34U;

Status at_file(const std::string& file, const Status& status) {
  return {status.code(), fmt::format("pipeline.initial_values: {}: {}", file, status.message())};
}

bool is_input(const bundle::BundleSpec& spec, const std::string& name) {
  return std::any_of(spec.models.begin(), spec.models.end(), [&](const bundle::Model& model) {
    return std::any_of(model.inputs.begin(), model.inputs.end(),
                       [&](const bundle::Port& port) { return model.name + "/" + port.name == name; });
  });
}

Result<std::vector<std::byte>> value_of(const EndPlan& state, const BufferPlan& buffer,
                                        const std::vector<bundle::StoredTensor>& tensors) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const bundle::StoredTensor& tensor) { return tensor.name == state.name; });
  if (found == tensors.end()) {
    return invalid_argument(fmt::format("expected a value for the feedback input {}, found none", state.name));
  }
  if (found->dtype != buffer.dtype || found->shape != buffer.shape) {
    return invalid_argument(fmt::format("{}: expected {}, found {}", state.name, type_text(buffer.dtype, buffer.shape),
                                        type_text(found->dtype, found->shape)));
  }
  return std::vector<std::byte>(found->bytes.begin(), found->bytes.end());
}

}  // namespace

Result<InitialValues> read_initial_values(const std::filesystem::path& folder, const bundle::BundleSpec& spec,
                                          const Plan& plan, const bundle::FileOptions& options) {
  InitialValues values;
  if (!spec.pipeline.initial_values) {
    values.resize(plan.states.size());
    return values;
  }
  const std::string& name = *spec.pipeline.initial_values;
  auto path = bundle::locate_file(folder, name, options);
  if (!path.ok()) return Status(path.status().code(), "pipeline.initial_values: " + path.status().message());
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> file, bundle::read_file(path.value(), kLargestFile));
  if (options.inspect) LEAPP_RETURN_IF_ERROR(options.inspect(path.value(), file));
  auto tensors = bundle::parse_safetensors(file);
  if (!tensors.ok()) return at_file(name, tensors.status());
  for (const bundle::StoredTensor& tensor : tensors.value()) {
    if (!is_input(spec, tensor.name)) {
      return at_file(name, invalid_argument(fmt::format("{} is no input of any node", quote(tensor.name))));
    }
  }
  for (const EndPlan& state : plan.states) {
    auto value = value_of(state, plan.buffers[state.place.buffer], tensors.value());
    if (!value.ok()) return at_file(name, value.status());
    values.push_back(std::move(value).value());
  }
  return values;
}

}  // namespace leapp::runtime
