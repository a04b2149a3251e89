// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs TorchScript models. A shared object of its own, so that only who has such models needs libtorch.
#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

#include <cstring>
#include <exception>
#include <istream>
#include <streambuf>
#include <utility>

#include "base/text.h"
#include "engine/engine.h"
#include "engine/float_mode.h"
#include "engine/plugin.h"
#include "engine/torch/specialise.h"
#include "leapp/base/export.h"
#include "torch_types/failure.h"
#include "torch_types/tensors.h"
#include "torch_types/torch_build.h"

namespace leapp::engine {
namespace {

/// Bytes of someone else's, to be read through a stream.
class ByteSource final : public std::streambuf {
 public:
  explicit ByteSource(std::span<const std::byte> bytes) {
    // A streambuf wants to be able to write; this one is only read.
    char* start = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));  // NOLINT
    setg(start, start, start + bytes.size());
  }

 private:
  pos_type seekoff(off_type offset, std::ios_base::seekdir way, std::ios_base::openmode /*mode*/) override {
    char* const from = way == std::ios_base::beg ? eback() : way == std::ios_base::cur ? gptr() : egptr();
    if (offset < eback() - from || offset > egptr() - from) return pos_type(off_type(-1));
    setg(eback(), from + offset, egptr());
    return {gptr() - eback()};
  }
  pos_type seekpos(pos_type position, std::ios_base::openmode mode) override {
    return seekoff(off_type(position), std::ios_base::beg, mode);
  }
};

/// The first line of what torch says: the rest is a trace of C++ calls.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("\nException raised from");
  return text.substr(0, end);
}

bool is_plain(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.layout() == at::kStrided && tensor.is_contiguous() && !tensor.is_neg() &&
         !tensor._is_zerotensor();
}

/// What to.copy_(from) does, without the microsecond that asking torch takes. REQUIRES: one dtype.
void copy(const at::Tensor& from, at::Tensor& to) {
  if (from.sizes() != to.sizes() || !is_plain(from) || !is_plain(to)) {
    to.copy_(from);
  } else if (from.numel() != 0) {
    std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), from.nbytes());
  }
}

at::Tensor over(const BoundBuffer& buffer) {
  return at::from_blob(buffer.data, buffer.shape, at::TensorOptions().dtype(to_scalar_type(buffer.dtype)));
}

class TorchModel final : public EngineModel {
 public:
  TorchModel(std::string name, torch::jit::Module module)
      : name_(std::move(name)), module_(std::move(module)), forward_(module_.get_method("forward")) {
    const auto& schema = forward_.function().getSchema();
    for (std::size_t i = 1; i < schema.arguments().size(); ++i) {
      inputs_.push_back({schema.arguments()[i].name(), std::nullopt, std::nullopt});
    }
  }

  [[nodiscard]] const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  /// TorchScript names no outputs, and does not say how many there are.
  [[nodiscard]] const std::vector<TensorInfo>& outputs() const override { return outputs_; }

  Result<std::size_t> prepare(const Binding& binding) override {
    if (binding.inputs.size() != inputs_.size()) {
      return invalid_argument(fmt::format("cannot bind {}: the bundle has {} inputs, the model {}", name_,
                                          binding.inputs.size(), inputs_.size()));
    }
    Bound bound;
    for (const BoundBuffer& buffer : binding.inputs) {
      bound.inputs.push_back(over(buffer));
      bound.arguments.push_back(at::empty_like(bound.inputs.back()));
    }
    for (const BoundBuffer& buffer : binding.outputs) {
      bound.outputs.push_back(over(buffer));
      bound.names.push_back(buffer.name);
    }
    if (bound_.empty()) specialise(bound.inputs);
    bound_.push_back(std::move(bound));
    if (warm_up(bound_.size() - 1)) return bound_.size() - 1;
    // torch's analysis of shapes, which looks only at models with an `addmm`, takes some of them for wrong.
    if (plain_ && bound_.size() == 1) {
      use(*plain_);
      if (warm_up(0)) return std::size_t{0};
    }
    bound_.pop_back();
    return error();
  }

  [[nodiscard]] bool run(std::size_t binding) noexcept override {
    const FlushDenormals flush;
    try {
      const c10::InferenceMode inference;
      return run_checked(bound_[binding]);
    } catch (const std::exception& failure) {
      return fail(first_line(failure));
    } catch (...) {
      return fail("an exception that is not a std::exception");
    }
  }

  [[nodiscard]] Status error() const override {
    return internal_error(fmt::format("cannot run {}: {} [torch {}]", name_, error_, TORCH_VERSION));
  }

 private:
  static constexpr int kWarmUps = 3;

  struct Bound {
    std::vector<at::Tensor> inputs;     ///< over the caller's memory
    std::vector<at::Tensor> arguments;  ///< copies: a model may write to what it is given
    std::vector<at::Tensor> outputs;    ///< over the caller's memory
    std::vector<std::string> names;
  };

  // The executor watches the first runs and compiles what it has seen.
  bool warm_up(std::size_t binding) {
    for (int i = 0; i < kWarmUps; ++i) {
      if (!run(binding)) return false;
    }
    return true;
  }

  void use(const torch::jit::Module& module) {
    module_ = module;
    forward_ = module_.get_method("forward");
  }

  void specialise(const std::vector<at::Tensor>& inputs) {
    try {
      const c10::InferenceMode inference;
      const torch::jit::Module before = module_;
      use(specialised(module_, inputs));
      plain_ = before;
    } catch (const std::exception&) {
      // It runs as it is, only slower.
    }
  }

  bool fail(std::string message) noexcept {
    error_ = std::move(message);
    return false;
  }

  bool run_checked(Bound& bound) {
    stack_.clear();
    stack_.emplace_back(module_._ivalue());
    for (std::size_t i = 0; i < bound.inputs.size(); ++i) {
      copy(bound.inputs[i], bound.arguments[i]);
      stack_.emplace_back(bound.arguments[i]);
    }
    forward_.function().run(stack_);
    const c10::IValue& result = stack_.back();
    if (result.isTensor()) {
      if (bound.outputs.size() != 1) return fail(fmt::format("expected {} outputs, found one", bound.outputs.size()));
      return store(result.toTensor(), bound, 0);
    }
    if (!result.isTuple()) return fail("expected a tensor or a tuple of tensors, found " + result.tagKind());
    const auto& elements = result.toTupleRef().elements();
    if (elements.size() != bound.outputs.size()) {
      return fail(fmt::format("expected {} outputs, found {}", bound.outputs.size(), elements.size()));
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (!elements[i].isTensor()) return fail("expected tensors, found " + elements[i].tagKind());
      if (!store(elements[i].toTensor(), bound, i)) return false;
    }
    return true;
  }

  bool store(const at::Tensor& value, Bound& bound, std::size_t at) {
    at::Tensor& output = bound.outputs[at];
    if (value.scalar_type() != output.scalar_type() || value.sizes() != output.sizes()) {
      return fail(fmt::format("output {}: expected {}{}, found {}{}", quote(bound.names[at]),
                              c10::toString(output.scalar_type()), shape_text(output.sizes()),
                              c10::toString(value.scalar_type()), shape_text(value.sizes())));
    }
    copy(value, output);
    return true;
  }

  std::string name_;
  torch::jit::Module module_;
  std::optional<torch::jit::Module> plain_;  // before it was specialised
  torch::jit::Method forward_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  std::vector<Bound> bound_;
  torch::jit::Stack stack_;
  std::string error_;
};

class TorchEngine final : public Engine {
 public:
  [[nodiscard]] const std::string& description() const override { return description_; }

  Result<std::unique_ptr<EngineModel>> load(const ModelSource& source) override {
    try {
      // Its weights are then no tensors that autograd could ask for: a view of one (linear makes one) costs half.
      const c10::InferenceMode inference;
      ByteSource bytes(source.bytes);
      std::istream stream(&bytes);
      torch::jit::Module module =
          source.bytes.empty() ? torch::jit::load(source.path.string()) : torch::jit::load(stream);
      module.eval();
      return std::unique_ptr<EngineModel>(std::make_unique<TorchModel>(source.name, std::move(module)));
    } catch (const std::exception& failure) {
      const auto text = [&] {
        return fmt::format("cannot load {}: {} [{}]", source.name, first_line(failure), description_);
      };
      return failure_status(failure, text, StatusCode::kDataLoss);
    }
  }

 private:
  std::string description_ = std::string("torch ") + TORCH_VERSION;
};

}  // namespace
}  // namespace leapp::engine

extern "C" LEAPP_API leapp::engine::Engine* leapp_open_engine(int version, const leapp::engine::Options* /*options*/,
                                                              std::string* error) {
  try {
    if (version != leapp::engine::kPluginVersion) return nullptr;  // see engine/plugin.h
    *error = leapp::torch_mismatch();
    if (error->empty()) return new leapp::engine::TorchEngine;
  } catch (const std::exception& failure) {
    *error = failure.what();
  }
  return nullptr;
}
