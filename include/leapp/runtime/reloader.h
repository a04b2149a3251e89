// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Another bundle for a pipeline that is running, between two of its steps.
//
//   auto pipeline = Pipeline::load("walk", {.trusted_keys = {"release.public.pem"}}).value();
//   auto reloader = Reloader::make(pipeline, {.load = {.trusted_keys = {"release.public.pem"}}}).value();
//   while (running) {                                    // the loop's thread
//     reloader.swap_if_ready(pipeline);                  // almost always: one load of one word
//     read_sensors(obs); pipeline.step(); drive_motors(action);
//   }
//   reloader.request("walk_v2");                         // any other thread
//   log(reloader.wait(10s).status.message());            // why not, if it was refused
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/bundle/signing.h"
#include "leapp/runtime/options.h"
#include "leapp/runtime/pipeline.h"

namespace leapp::runtime {

/// What the state holds after a swap.
enum class StateOnSwap : std::uint8_t {
  kReset,       ///< what ReloaderOptions::reset says
  kKeepIfSame,  ///< what it held, when both bundles have the same state (X and X_in are one); else as kReset
  kKeep,        ///< what it held; a bundle that has other state is refused
};

/// Options of Reloader::make.
struct ReloaderOptions {
  /// How the new bundle is loaded; its trusted_keys are those that a new bundle has to be signed with, whatever the
  /// running one was loaded with. It is prepared in any case.
  LoadOptions load;
  StateOnSwap state = StateOnSwap::kReset;
  ResetMode reset = ResetMode::kExported;
  /// A bundle that is loaded whenever a file in its folder (log.txt aside) has changed and all have then stayed as they
  /// are for one `poll`. Empty: none.
  std::filesystem::path watch;
  std::chrono::milliseconds poll{500};
  /// Cores that the loading thread runs on. Empty: those of the thread that calls make(). It never is a real-time
  /// thread, whatever that one is, but one that waits for others: SCHED_BATCH, and as nice as this says (0 to 19).
  std::vector<int> cpus;
  int nice = 10;
};

/// What became of swap_if_ready.
enum class [[nodiscard]] SwapResult : std::uint8_t{
    kNothing,  ///< nothing is ready: the pipeline is what it was
    kSwapped,  ///< the next step is the new bundle's
    kRefused,  ///< what was ready does not fit after all: the pipeline is what it was; report() will say why
};

/// How far a requested bundle is.
enum class ReloadState : std::uint8_t {
  kIdle,     ///< nothing was requested yet
  kLoading,  ///< or waiting to be
  kReady,    ///< loaded, verified and warm: the next swap_if_ready() takes it
  kSwapped,  ///< it runs
  kFailed,   ///< `status` says why; what ran before runs on
};

/// How the newest request goes.
struct ReloadReport {
  ReloadState state = ReloadState::kIdle;
  std::uint64_t number = 0;  ///< of the request: 1, 2, ...
  std::filesystem::path bundle;
  Status status;                               ///< not ok only when it failed
  std::optional<bundle::Signature> signature;  ///< who has signed it, with trusted keys
  bool state_kept = false;                     ///< once it is swapped
};

/// Loads, verifies and warms bundles on a thread of its own, for one pipeline. The loop's thread calls swap_if_ready(),
/// everything else may be called from any thread.
///
/// What may be swapped: a bundle whose inputs and outputs agree with the running one's in name, dtype, shape, kind,
/// names and moments along each axis, in any order, and whose frequency is the same. Else the request fails, with all
/// that differs on both sides. State is the bundle's own affair and may differ; so may nodes, models and engines.
///
/// What survives a swap: every span, TensorView and Port of an input or an output, and so every NameMap and ChunkPlayer
/// that was made of one: a pipeline keeps the memory of its ports, and a bundle that is swapped in works on it. Inputs
/// and outputs hold what they held. Guards stay as they were set, with the last good values of inputs and outputs. What
/// inputs() and outputs() return stays. What spec(), notes(), engine(), feedback_inputs() and feedback_input() return
/// belongs to the bundle, and ends with it.
///
/// Several requests: the newest counts. An earlier one that is not swapped in by the time of a request() never will be,
/// and the first run of its models is ended if it goes on. A bundle whose first run never ends keeps the thread from
/// watching: LoadOptions::timeout ends that.
///
/// In a child that fork() has made there is no loading thread: report() says so, request() returns 0.
class LEAPP_API Reloader {
 public:
  /// For that pipeline, which must be prepared and may be moved later. kFailedPrecondition when it is not prepared,
  /// kInvalidArgument for options that cannot be right: keys that are none, too. Starts the thread.
  static Result<Reloader> make(Pipeline& pipeline, ReloaderOptions options = {});

  Reloader(Reloader&&) noexcept;
  Reloader& operator=(Reloader&&) noexcept;
  /// Waits for a load that is under way, and ends the first run of its models (unless options.load.engine.stop is the
  /// caller's). Not for the loop's thread while the loop matters.
  ~Reloader();

  /// Loads `bundle` next, as Pipeline::load does. Returns the request's number.
  std::uint64_t request(const std::filesystem::path& bundle);

  /// If a bundle is ready, it takes the place of the running one: two pointers change hands, state is copied or reset.
  /// Allocates nothing, waits for nothing, frees nothing: the old bundle is freed by the loading thread. kRefused, and
  /// the pipeline is what it was, when it is not the one that this was made for, when a guard is set on state that the
  /// new bundle does not have, with StateOnSwap::kKeep and other state, and when the running bundle was signed with a
  /// later serial. REQUIRES: called by the thread that steps the pipeline, between two steps.
  SwapResult swap_if_ready(Pipeline& pipeline) noexcept;

  /// How the newest request goes. That it was swapped is known a moment after the swap.
  [[nodiscard]] ReloadReport report() const;

  /// The same once it is neither kLoading nor, unless `loaded_is_enough`, kReady; or when the time is over.
  ReloadReport wait(std::chrono::nanoseconds longest, bool loaded_is_enough = true) const;

  /// How often swap_if_ready() has swapped; without a lock.
  [[nodiscard]] std::uint64_t swaps() const noexcept;

 private:
  friend struct ReloaderAccess;
  struct Impl;
  explicit Reloader(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp::runtime
