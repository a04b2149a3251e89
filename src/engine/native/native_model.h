// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/native/plan.h"
#include "engine/native/program.h"

namespace leapp::native {

/// A plan with its memory. The weights and the memory to work in are shared by all bindings.
class NativeModel final : public engine::EngineModel {
 public:
  struct Parts {
    std::string name;
    Plan plan;
    std::vector<engine::TensorInfo> inputs;
    std::vector<engine::TensorInfo> outputs;
    std::shared_ptr<engine::Stop> stop;  ///< may be null
    std::uint64_t memory_limit = 0;      ///< with outputs that nobody binds; 0: none
  };
  /// REQUIRES: the plan's memory is planned, and the model's bytes are still there.
  explicit NativeModel(Parts parts);

  [[nodiscard]] const std::vector<engine::TensorInfo>& inputs() const override { return parts_.inputs; }
  [[nodiscard]] const std::vector<engine::TensorInfo>& outputs() const override { return parts_.outputs; }
  Result<std::size_t> prepare(const engine::Binding& binding) override;
  Result<std::size_t> prepare_untried(const engine::Binding& binding) override;
  [[nodiscard]] bool run(std::size_t binding) noexcept override;
  [[nodiscard]] Status error() const override;

 private:
  [[nodiscard]] Status check(const engine::Binding& binding) const;
  [[nodiscard]] Status count_unbound(const engine::Binding& binding);
  [[nodiscard]] Status explained(const Status& status, const char* action) const;

  Parts parts_;
  AlignedMemory constants_;
  AlignedMemory arena_;
  std::vector<AlignedMemory> unbound_;  ///< outputs that a binding does not ask for
  std::uint64_t unbound_bytes_ = 0;
  std::vector<std::unique_ptr<Program>> programs_;
  const KernelCall* failed_ = nullptr;
};

}  // namespace leapp::native
