// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "emit/onnx/emitter.h"
#include "engine/engine.h"
#include "exporter/validate/runners/engines.h"
#include "exporter/validate/runners/intermediates.h"
#include "leapp/bundle/reader.h"

namespace leapp::exporter {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::uint64_t kLargestModel = std::uint64_t{2} << 30U;

graph::Constant allocate(const graph::TensorType& type) {
  graph::Constant constant{type, nullptr};
  const std::size_t size = (constant.byte_size() / kAlignment + 1) * kAlignment;
  constant.data = std::shared_ptr<const void>(std::aligned_alloc(kAlignment, size), &std::free);
  return constant;
}

engine::BoundBuffer buffer_of(std::string name, const graph::Constant& constant) {
  // Ours alone: nobody sees it as a constant before the engine has written it.
  return {std::move(name), constant.type.dtype, constant.type.shape, const_cast<void*>(constant.data.get())};  // NOLINT
}

/// Loads the file's bytes with more outputs behind them, once for every window.
class OnnxIntermediates final : public Intermediates {
 public:
  OnnxIntermediates(EmittedModel model, emit::OnnxModel emitted, std::vector<std::byte> bytes,
                    std::unique_ptr<engine::Engine> engine)
      : model_(std::move(model)), emitted_(std::move(emitted)), bytes_(std::move(bytes)), engine_(std::move(engine)) {}

  [[nodiscard]] bool has(const graph::Value& value) const override {
    return is_port_dtype(value.dtype()) && emitted_.value_names.contains(&value);
  }

  Result<Values> compute(const std::vector<const graph::Value*>& values) override {
    if (values.empty()) return Values();
    const std::string added = emit::onnx_added_outputs(emitted_, hidden_among(values));
    std::vector<std::byte> bytes = bytes_;
    const auto* begin = reinterpret_cast<const std::byte*>(added.data());
    bytes.insert(bytes.end(), begin, begin + added.size());
    LEAPP_ASSIGN_OR_RETURN(const auto loaded, engine_->load({model_.file.filename().string(), model_.file, bytes}));
    return run(*loaded, values);
  }

 private:
  /// Those that are no outputs yet, each name once: two values of the graph may be one of the model's.
  std::vector<const graph::Value*> hidden_among(const std::vector<const graph::Value*>& values) const {
    std::unordered_set<std::string> known(model_.output_names.begin(), model_.output_names.end());
    std::vector<const graph::Value*> hidden;
    for (const graph::Value* value : values) {
      if (known.insert(emitted_.value_names.at(value)).second) hidden.push_back(value);
    }
    return hidden;
  }

  Result<Values> run(engine::EngineModel& loaded, const std::vector<const graph::Value*>& values) {
    engine::Binding binding;
    std::vector<graph::Constant> inputs;
    for (std::size_t i = 0; i < model_.inputs.size(); ++i) {
      inputs.push_back(allocate(model_.inputs[i]->type));
      binding.inputs.push_back(buffer_of(model_.input_names[i], inputs.back()));
      std::memcpy(binding.inputs.back().data, model_.inputs[i]->data.get(), inputs.back().byte_size());
    }
    Values results;
    std::unordered_map<std::string, graph::Constant> by_name;
    for (const graph::Value* value : values) {
      const std::string& name = emitted_.value_names.at(value);
      const auto [place, fresh] = by_name.try_emplace(name);
      if (fresh) {
        place->second = allocate(value->type());
        binding.outputs.push_back(buffer_of(name, place->second));
      }
      results.emplace_back(place->second);
    }
    // Preparing a model runs it.
    LEAPP_RETURN_IF_ERROR(loaded.prepare(binding).status());
    return results;
  }

  EmittedModel model_;
  emit::OnnxModel emitted_;
  std::vector<std::byte> bytes_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace

Result<std::unique_ptr<Intermediates>> onnx_intermediates(const EmittedModel& model) {
  auto emitted = emit::emit_onnx(*model.graph, {.opset_version = model.opset_version, .external_data_name = "data"});
  if (!emitted.ok()) return unimplemented("the model was made by PyTorch's exporter, which keeps no names");
  if (emitted.value().external_data.size() > 0) {
    return unimplemented("the model's weights are in a file of their own, and too large to be loaded again");
  }
  if (std::any_of(model.inputs.begin(), model.inputs.end(), [](const auto& input) { return !input; })) {
    return unimplemented("the sample has an input that is not known");
  }
  LEAPP_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, bundle::read_file(model.file, kLargestModel));
  LEAPP_ASSIGN_OR_RETURN(auto engine, open_onnx_engine_of(model.engine));
  return std::unique_ptr<Intermediates>(
      std::make_unique<OnnxIntermediates>(model, std::move(emitted).value(), std::move(bytes), std::move(engine)));
}

}  // namespace leapp::exporter
