// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "leapp/base/status.h"
#include "leapp/runtime/reloader.h"
#include "runtime/pipeline/pipeline_access.h"

namespace leapp::runtime {

struct PortTable;

/// Ok when a program that was written for the ports `running` can go on with `fresh`, in whichever order they are. Else
/// kInvalidArgument with everything that differs, both sides of it.
Status check_agreement(const std::vector<Port>& running, const std::vector<Port>& fresh);

/// What a reloader knows of the pipeline that it is for, from any thread.
struct PipelineAccess::ReloadTarget {
  std::shared_ptr<const PortTable> face;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::optional<bundle::Signature> signature;

  static Result<ReloadTarget> of(Pipeline& pipeline);
};

/// A bundle that is loaded and warm and waits to take the place of the one that runs; afterwards, the one that it
/// replaced. Made and freed by a thread that may wait; swap_into() is for the loop's.
class PipelineAccess::StagedBundle {
 public:
  enum class Outcome : std::uint8_t {
    kWaiting,
    kSwapped,
    kOtherPipeline,
    kOtherState,
    kEarlierSerial,
    kGuardedState,
    kNoHistory,
    kBusy,
  };

  /// Checks that the ports agree, and makes the pipeline work on the seat's.
  static Result<std::unique_ptr<StagedBundle>> make(Pipeline pipeline, const ReloadTarget& seat);

  StagedBundle(const StagedBundle&) = delete;
  StagedBundle& operator=(const StagedBundle&) = delete;
  ~StagedBundle();

  /// kSwapped, or a reason why not: then nothing has changed.
  Outcome swap_into(Pipeline& running, StateOnSwap rule, ResetMode reset) noexcept;

  /// Why swap_into() refused; ok when it did not. Any thread, afterwards.
  [[nodiscard]] Status status() const;
  [[nodiscard]] Outcome outcome() const { return outcome_; }
  [[nodiscard]] bool state_kept() const { return state_kept_; }
  [[nodiscard]] const std::optional<bundle::Signature>& signature() const { return signature_; }
  /// For the one who frees it next.
  [[nodiscard]] std::optional<bundle::Signature> take_signature() noexcept { return std::move(signature_); }

  std::uint64_t number = 0;      ///< of the request
  StagedBundle* next = nullptr;  ///< in a list of such

 private:
  explicit StagedBundle(std::unique_ptr<Pipeline::Impl> impl);
  [[nodiscard]] Outcome check(const Pipeline::Impl& running, StateOnSwap rule, ResetMode reset) noexcept;

  std::unique_ptr<Pipeline::Impl> impl_;
  std::optional<bundle::Signature> signature_;
  Outcome outcome_ = Outcome::kWaiting;
  bool state_kept_ = false;
  std::uint64_t running_serial_ = 0;
  std::array<char, 128> guarded_{};  ///< the name of the guarded state, cut off
};

}  // namespace leapp::runtime
