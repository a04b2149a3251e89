// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Small ONNX models for tests, made in a few lines, and a way to run them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/native/native_engine.h"
#include "engine/native/program.h"
#include "onnx_proto/writer.h"

namespace leapp::native {

class ModelMaker {
 public:
  ModelMaker() {
    model_.ir_version = 8;
    model_.opset_imports = {{"", 18}};
    model_.graph.name = "graph";
  }

  ModelMaker& input(const std::string& name, Shape dims, DType dtype = DType::kFloat32) {
    model_.graph.inputs.push_back({name, onnx::data_type_of(dtype).value(), std::move(dims)});
    return *this;
  }
  ModelMaker& output(const std::string& name, Shape dims, DType dtype = DType::kFloat32) {
    model_.graph.outputs.push_back({name, onnx::data_type_of(dtype).value(), std::move(dims)});
    return *this;
  }
  template <typename T>
  ModelMaker& constant(const std::string& name, Shape dims, const std::vector<T>& numbers, DType dtype) {
    onnx::TensorProto tensor{name, onnx::data_type_of(dtype).value(), std::move(dims), {}, {}};
    tensor.raw_data = onnx::Bytes::copy_of(std::as_bytes(std::span(numbers)));
    model_.graph.initializers.push_back(std::move(tensor));
    return *this;
  }
  ModelMaker& floats(const std::string& name, Shape dims, const std::vector<float>& numbers) {
    return constant(name, std::move(dims), numbers, DType::kFloat32);
  }
  ModelMaker& ints(const std::string& name, const std::vector<std::int64_t>& numbers) {
    return constant(name, {static_cast<std::int64_t>(numbers.size())}, numbers, DType::kInt64);
  }
  ModelMaker& node(const std::string& op, std::vector<std::string> inputs, std::vector<std::string> outputs,
                   std::vector<onnx::AttributeProto> attributes = {}) {
    model_.graph.nodes.push_back({std::move(inputs), outputs, "at_" + outputs[0], op, "", "", std::move(attributes)});
    return *this;
  }
  [[nodiscard]] onnx::GraphProto graph() const { return model_.graph; }
  [[nodiscard]] std::string bytes() const { return onnx::write_model(model_).text(); }

 private:
  onnx::ModelProto model_;
};

/// A model on memory of its own.
class Running {
 public:
  explicit Running(const std::string& bytes) {
    auto attempted = attempt({.name = "model", .path = {}, .bytes = std::as_bytes(std::span(bytes))});
    if (!attempted.ok()) {
      why_ = attempted.status().message();
    } else if (!attempted.value().model) {
      why_ = describe(attempted.value().uncovered);
    } else {
      model_ = std::move(attempted.value().model);
      bind();
    }
  }

  [[nodiscard]] bool ok() const { return model_ != nullptr && why_.empty(); }
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] engine::EngineModel& model() { return *model_; }
  [[nodiscard]] bool run() { return model_->run(number_); }

  template <typename T>
  T* data(const std::string& name) {
    return reinterpret_cast<T*>(places_.at(name));
  }
  template <typename T>
  void set(const std::string& name, const std::vector<T>& numbers) {
    std::memcpy(data<T>(name), numbers.data(), numbers.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> get(const std::string& name, std::size_t count) {
    std::vector<T> numbers(count);
    std::memcpy(numbers.data(), data<T>(name), count * sizeof(T));
    return numbers;
  }

 private:
  void bind() {
    engine::Binding binding;
    for (auto [infos, buffers] :
         {std::pair{&model_->inputs(), &binding.inputs}, {&model_->outputs(), &binding.outputs}}) {
      for (const engine::TensorInfo& info : *infos) {
        const std::size_t bytes = engine::buffer_size(*info.dtype, *info.shape).value();
        memory_.emplace_back(bytes);
        places_[info.name] = memory_.back().data();  // of an input and an output of one name, the output
        buffers->push_back({info.name, *info.dtype, *info.shape, memory_.back().data()});
      }
    }
    const auto number = model_->prepare(binding);
    if (!number.ok()) {
      why_ = number.status().message();
    } else {
      number_ = number.value();
    }
  }

  std::vector<AlignedMemory> memory_;
  std::map<std::string, std::byte*> places_;
  std::unique_ptr<engine::EngineModel> model_;
  std::size_t number_ = 0;
  std::string why_;
};

inline std::string plan_of(const std::string& bytes) {
  const auto text = plan_text({.name = "model", .path = {}, .bytes = std::as_bytes(std::span(bytes))});
  return text.ok() ? text.value() : "refused: " + text.status().message();
}

inline std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

}  // namespace leapp::native
