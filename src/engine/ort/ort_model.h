// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/ort/api.h"
#include "engine/ort/library.h"
#include "engine/ort/memory_account.h"
#include "engine/ort/session_log.h"

namespace leapp::engine::ort {

/// What a session is made with.
struct SessionParts {
  const Library* library = nullptr;
  std::string name;
  std::unique_ptr<SessionLog> log;        ///< the session writes to it until it is gone
  std::shared_ptr<MemoryAccount> memory;  ///< what the session asks for is booked to it
  Owned<OrtSession> session{nullptr, nullptr};
  std::shared_ptr<Stop> stop;  ///< null: nobody ends a run
};

/// One session of ONNX Runtime, with its IoBindings on our buffers.
class OrtModel final : public EngineModel {
 public:
  static Result<std::unique_ptr<EngineModel>> create(SessionParts parts);
  ~OrtModel() override;

  [[nodiscard]] const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  [[nodiscard]] const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  Result<std::size_t> prepare(const Binding& binding) override;
  [[nodiscard]] bool run(std::size_t binding) noexcept override;
  [[nodiscard]] Status error() const override;

 private:
  struct Copy {
    const void* from = nullptr;
    void* to = nullptr;
    std::size_t size = 0;
  };

  /// A binding and the values it refers to.
  struct Bound {
    Owned<OrtIoBinding> binding{nullptr, nullptr};
    std::vector<Owned<OrtValue>> values;
    std::vector<Copy> copies;  ///< after a run
  };

  static void end_run(void* model);
  explicit OrtModel(SessionParts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] const OrtApi& api() const { return *parts_.library->api; }
  Status read_signature();
  enum class Role { kInput, kOutput, kConstant };
  Status read_tensors(Role role, std::vector<TensorInfo>& tensors) const;
  Result<TensorInfo> read_tensor(Role role, std::size_t index) const;
  Status bind(Bound& bound, const BoundBuffer& buffer, bool input) const;
  static Status bind_passed(Bound& bound, const Binding& binding);
  [[nodiscard]] Status explained(const Status& status, const char* action) const;

  SessionParts parts_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  std::vector<TensorInfo> constants_;  ///< those that the caller may give another value
  Owned<OrtMemoryInfo> memory_{nullptr, nullptr};
  Owned<OrtRunOptions> run_options_{nullptr, nullptr};
  std::atomic<bool> ended_{false};  ///< the run options say that runs shall end
  std::vector<Bound> bound_;
  bool divided_ = false;  ///< the last run divided by 0, see divisions.h
  Owned<OrtStatus> failure_{nullptr, nullptr};
};

}  // namespace leapp::engine::ort
