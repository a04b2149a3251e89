// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "pt2_engine.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "array_out.h"
#include "common/exceptions.h"
#include "engine/float_mode.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

/// Tensors over the buffers of one binding, as leapp.pt2's programs take them.
struct Bound {
  nb::list inputs;
  nb::list outputs;
  nb::list names;
};

Bound tensors_over(const engine::Binding& binding) {
  Bound bound;
  for (const engine::BoundBuffer& buffer : binding.inputs) {
    bound.inputs.append(borrowed_tensor(buffer.dtype, buffer.shape, buffer.data));
  }
  for (const engine::BoundBuffer& buffer : binding.outputs) {
    bound.outputs.append(borrowed_tensor(buffer.dtype, buffer.shape, buffer.data));
    bound.names.append(nb::str(buffer.name.c_str()));
  }
  return bound;
}

class Pt2Model final : public engine::EngineModel {
 public:
  /// REQUIRES: Python's lock is held.
  Pt2Model(std::string name, nb::object program) : name_(std::move(name)), program_(std::move(program)) {}
  ~Pt2Model() override {
    const Acquired lock;
    stay_at_the_end([&] {
      bound_.clear();
      program_.reset();
    });
  }

  [[nodiscard]] const std::vector<engine::TensorInfo>& inputs() const override { return nothing_said_; }
  [[nodiscard]] const std::vector<engine::TensorInfo>& outputs() const override { return nothing_said_; }

  Result<std::size_t> prepare(const engine::Binding& binding) override {
    const Acquired lock;
    try {
      bound_.push_back(stay_at_the_end([&] { return tensors_over(binding); }));
    } catch (nb::python_error& error) {
      error.restore();
      return internal_error(fmt::format("cannot bind {}: {}", name_, take_exception()));
    }
    if (run(bound_.size() - 1)) return bound_.size() - 1;
    bound_.pop_back();
    return error();
  }

  [[nodiscard]] bool run(std::size_t binding) noexcept override {
    const Acquired lock;
    const engine::FlushDenormals flush;
    try {
      const Bound& bound = bound_[binding];
      stay_at_the_end([&] { return program_(bound.inputs, bound.outputs, bound.names); });
      return true;
    } catch (nb::python_error& error) {
      error.restore();
      error_ = take_exception();
    } catch (const std::exception& failure) {
      error_ = failure.what();
    }
    return false;
  }

  [[nodiscard]] Status error() const override {
    return internal_error(fmt::format("cannot run {}: {}", name_, error_));
  }

 private:
  std::string name_;
  nb::object program_;
  std::vector<Bound> bound_;
  std::vector<engine::TensorInfo> nothing_said_;
  std::string error_;
};

class Pt2Engine final : public engine::Engine {
 public:
  [[nodiscard]] const std::string& description() const override { return description_; }

  Result<std::unique_ptr<engine::EngineModel>> load(const engine::ModelSource& source) override {
    const Acquired lock;
    try {
      const nb::bytes bytes(reinterpret_cast<const char*>(source.bytes.data()), source.bytes.size());
      nb::object program =
          stay_at_the_end([&] { return nb::object(nb::module_::import_("leapp.runtime.pt2").attr("load")(bytes)); });
      return std::unique_ptr<engine::EngineModel>(std::make_unique<Pt2Model>(source.name, std::move(program)));
    } catch (nb::python_error& error) {
      error.restore();
      return data_loss(fmt::format("cannot load {}: {}", source.name, take_exception()));
    }
  }

 private:
  std::string description_ = "torch.export, through Python";
};

}  // namespace

Result<std::unique_ptr<engine::Engine>> open_pt2_engine() {
  return std::unique_ptr<engine::Engine>(std::make_unique<Pt2Engine>());
}

}  // namespace leapp::python
