// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/recorder.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "leapp/bundle/reader.h"
#include "runtime/pipeline/pipeline_impl.h"
#include "runtime/recording/recording_file.h"
#include "runtime/recording/recording_layout.h"
#include "runtime/recording/step_ring.h"
#include "runtime/recording/step_tap.h"
#include "runtime/reload/worker.h"

namespace leapp::runtime {
namespace {

namespace fs = std::filesystem;
using Milliseconds = std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kSlotAlignment = 64;

std::size_t aligned(std::size_t at) { return (at + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment; }

std::int64_t nanoseconds_of(Time time) { return std::chrono::nanoseconds(time.time_since_epoch()).count(); }

Status check(const RecorderOptions& options) {
  constexpr Milliseconds kLongest = std::chrono::hours(24 * 365);
  if (options.flush_interval < Milliseconds(0) || options.flush_interval > kLongest) {
    return invalid_argument(
        fmt::format("flush_interval: expected 0 to {} ms, found {}", kLongest.count(), options.flush_interval.count()));
  }
  constexpr std::size_t kLargestChunk = std::size_t{1} << 30U;
  if (options.chunk_bytes > kLargestChunk) {
    return invalid_argument(
        fmt::format("chunk_bytes: expected at most {}, found {}", kLargestChunk, options.chunk_bytes));
  }
  const long cores = ::sysconf(_SC_NPROCESSORS_CONF);
  for (const int cpu : options.cpus) {
    if (cpu >= 0 && cpu < cores && cpu < CPU_SETSIZE) continue;
    return invalid_argument(fmt::format("cpus: expected cores from 0 to {}, found {}", cores - 1, cpu));
  }
  return {};
}

/// Lays out what is streamed in one go. REQUIRES: what is added is memory of a pipeline's, which can be read up to the
/// end of its line.
class StripLayout {
 public:
  explicit StripLayout(std::size_t begin) : end_(aligned(begin)) {}

  /// Where it goes: close to the one before, as every line is one to be written.
  std::size_t add(const void* from, std::size_t size) {
    strips_.push_back({static_cast<const std::byte*>(from), end_, size});
    end_ += (size + simd::CopySpan::kGrain - 1) / simd::CopySpan::kGrain * simd::CopySpan::kGrain;
    return strips_.back().to;
  }

  /// The last line is filled up: part of a line costs more than all of it.
  StepTap::Strips finish(std::size_t& end) {
    static constexpr std::array<std::byte, kSlotAlignment> kZeros{};
    if (end_ != aligned(end_)) add(kZeros.data(), aligned(end_) - end_);
    end = end_;
    return std::move(strips_);
  }

 private:
  std::size_t end_;
  StepTap::Strips strips_;
};

/// Gives ports their places in a slot.
StepTap::Strips place(std::vector<RecordedPort>& ports, std::size_t& end) {
  StripLayout layout(end);
  for (RecordedPort& port : ports) port.at = layout.add(port.port.data, port.codec.bytes());
  return layout.finish(end);
}

/// The same for states, which are in `memory`; `at` is one or the other of their places.
StepTap::Strips place(std::vector<RecordedPort>& states, std::size_t RecordedPort::*at,
                      const std::vector<const std::byte*>& memory, std::size_t& end) {
  StripLayout layout(end);
  for (std::size_t i = 0; i < states.size(); ++i) states[i].*at = layout.add(memory[i], states[i].codec.bytes());
  return layout.finish(end);
}

mcap::Metadata files_of(const fs::path& yaml, const bundle::BundleSpec& spec) {
  mcap::Metadata files{kFilesMetadata, {}};
  const auto add = [&](const std::string& name, const fs::path& path) {
    const auto sum = sha256_of_file(path);
    files.entries.emplace_back(name, sum.ok() ? sum.value() : "");
  };
  const fs::path folder = yaml.parent_path();
  add(yaml.filename().string(), yaml);
  for (const bundle::Model& model : spec.models) {
    if (model.parameters.model_path) add(*model.parameters.model_path, folder / *model.parameters.model_path);
    for (const auto& [key, value] : model.parameters.extra) {
      const auto* beside = key == bundle::kExternalData ? std::get_if<bundle::YamlMap>(&value.data) : nullptr;
      if (beside == nullptr) continue;
      for (const auto& [name, sum] : *beside) {
        add(name, (folder / model.parameters.model_path.value_or("")).parent_path() / name);
      }
    }
  }
  if (spec.pipeline.initial_values) add(*spec.pipeline.initial_values, folder / *spec.pipeline.initial_values);
  std::sort(files.entries.begin(), files.entries.end());
  files.entries.erase(std::unique(files.entries.begin(), files.entries.end()), files.entries.end());
  return files;
}

mcap::Metadata description_of(const Pipeline& pipeline, const fs::path& yaml, std::int64_t unix_offset) {
  mcap::Metadata found{kRecordingMetadata,
                       {{"version", kRecordingVersion},
                        {"bundle", yaml.stem().string()},
                        {"engine", engines_text(pipeline)},
                        {"fused", pipeline.fusion().ok() ? "true" : "false"},
                        {"unix_offset_ns", std::to_string(unix_offset)}}};
  if (pipeline.frequency()) found.entries.emplace_back("frequency", fmt::format("{}", *pipeline.frequency()));
  if (!pipeline.guards().empty()) found.entries.emplace_back("guards", guards_text(pipeline.guards()));
  return found;
}

std::int64_t unix_offset() {
  const auto since = [](auto time) { return std::chrono::nanoseconds(time.time_since_epoch()).count(); };
  return since(std::chrono::system_clock::now()) - since(steady_clock::now());
}

Status make_ordinary(const std::vector<int>& cpus) {
  leave_the_loop_alone(Priority::kOrdinary);
  if (cpus.empty()) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) == 0) return {};
  return invalid_argument("cpus: the system does not let the thread run on these cores");
}

/// Why nothing is recorded in a child that fork() has made.
Status of_another_process() {
  return failed_precondition("the recorder is of the process that this one was forked from: make a new one");
}

}  // namespace

struct Recorder::Impl {
  ~Impl() { (void)close(); }
  /// What ~Recorder does instead in a child that fork() has made: nobody there waits for the thread, or writes.
  void leave() noexcept;

  /// Gives everything its place in a slot, and makes the ring.
  Status lay_out(Pipeline::Impl& recorded, RecordingLayout& layout, std::size_t ring_bytes);
  Status start(RecordingLayout layout, RecordingFile::Options options);
  void run(std::promise<Status>& opened);
  Status work();
  Status work_until_closed();
  /// How many steps it has taken from the ring.
  Result<std::size_t> drain();
  void wait(std::size_t taken);
  void stop_for(const Status& why);
  void publish() noexcept;
  Status close();
  [[nodiscard]] Status status() const {
    if (worker.is_elsewhere()) return of_another_process();
    if (failed.load(std::memory_order_acquire)) return error;
    if (!tap->swapped.load(std::memory_order_relaxed)) return {};
    return failed_precondition("another bundle was swapped in, and a recording is of one: make a new recorder");
  }

  fs::path path;
  std::vector<int> cpus;
  std::unique_ptr<StepRing> ring;
  std::unique_ptr<StepTap> tap = std::make_unique<StepTap>();
  Pipeline::Impl* pipeline = nullptr;
  std::optional<RecordingFile> file;  ///< of the thread alone

  Worker worker;
  std::mutex mutex;
  std::condition_variable woken;
  bool closing = false;
  Milliseconds interval{5};
  std::atomic<std::uint64_t> written{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<bool> failed{false};
  Status error;  ///< set once, before `failed`
};

Status Recorder::Impl::lay_out(Pipeline::Impl& recorded, RecordingLayout& layout, std::size_t ring_bytes) {
  pipeline = &recorded;
  std::size_t end = sizeof(SlotHead);
  tap->inputs = place(layout.inputs, end);
  tap->outputs = place(layout.outputs, end);
  const std::size_t states_at = end;
  for (const unsigned parity : {0U, 1U}) {
    end = states_at;
    std::vector<const std::byte*> memory;
    for (const StatePlan& state : recorded.plan.states) memory.push_back(recorded.buffers.at(state.place, parity));
    tap->states_before[parity] = place(layout.states, &RecordedPort::before, memory, end);
    tap->states_after[parity] = place(layout.states, &RecordedPort::at, memory, end);
  }
  tap->memory_at = layout.memory_at = aligned(end);
  tap->memory_size = layout.memory_size = recorded.guards ? recorded.guards->memory_size() : 0;
  tap->rules = recorded.guards_set;
  LEAPP_ASSIGN_OR_RETURN(ring, StepRing::make(tap->memory_at + tap->memory_size, ring_bytes));
  tap->ring = ring.get();
  return {};
}

Status Recorder::Impl::start(RecordingLayout layout, RecordingFile::Options options) {
  path = options.path;
  cpus = options.recorder.cpus;
  file.emplace(std::move(layout), std::move(options));
  const auto opened = std::make_shared<std::promise<Status>>();
  std::future<Status> result = opened->get_future();
  LEAPP_RETURN_IF_ERROR(worker.start("leapp-recorder", "the recorder", [this, opened] { run(*opened); }));
  Status status = result.get();
  if (!status.ok()) worker.join();
  return status;
}

void Recorder::Impl::run(std::promise<Status>& opened) {
  Status status = without_exceptions([this]() -> Status {
    LEAPP_RETURN_IF_ERROR(make_ordinary(cpus));
    return file->open();
  });
  const bool ok = status.ok();
  publish();
  opened.set_value(std::move(status));
  if (!ok) return;
  const Status worked = work();
  if (!worked.ok()) stop_for(worked);
  publish();
}

// Memory that runs out here is an error of the recorder like a full disk, and not the end of the program.
Status Recorder::Impl::work() {
  return without_exceptions([this] { return work_until_closed(); });
}

Status Recorder::Impl::work_until_closed() {
  for (;;) {
    bool last = false;
    {
      const std::lock_guard lock(mutex);
      last = closing;  // nothing is put into the ring after that
    }
    LEAPP_ASSIGN_OR_RETURN(const std::size_t taken, drain());
    if (last) return file->finish();
    LEAPP_RETURN_IF_ERROR(file->flush_if_due(steady_clock::now()));
    publish();
    wait(taken);
  }
}

Result<std::size_t> Recorder::Impl::drain() {
  std::size_t taken = 0;
  for (; const std::byte* slot = ring->front(); ++taken) {
    const std::uint64_t before = file->steps() + file->waiting();
    const Status added = without_exceptions([&] { return file->add(slot); });
    ring->pop();  // it is in the file's chunk, also when that could not be written
    if (added.ok()) continue;
    if (file->steps() + file->waiting() == before) tap->dropped.fetch_add(1, std::memory_order_relaxed);
    return added;
  }
  return taken;
}

// The loop wakes nobody. So often that the ring is never half full, and seldom when little happens.
void Recorder::Impl::wait(std::size_t taken) {
  constexpr Milliseconds kLongest{20};
  if (taken > ring->count() / 4) interval = std::max(interval / 2, Milliseconds(1));
  if (taken < ring->count() / 16) interval = std::min(interval * 2, kLongest);
  std::unique_lock lock(mutex);
  woken.wait_for(lock, taken > ring->count() / 2 ? Milliseconds(0) : interval, [this] { return closing; });
}

void Recorder::Impl::stop_for(const Status& why) {
  tap->stopped.store(true, std::memory_order_relaxed);
  tap->dropped.fetch_add(file->waiting(), std::memory_order_relaxed);
  error = without_exceptions([&]() -> Status {
    return {why.code(), fmt::format("{}; recording has stopped after {} steps", why.message(), file->steps())};
  });
  (void)without_exceptions([this]() -> Status {
    file->finish_after_error();
    return {};
  });
  failed.store(true, std::memory_order_release);
}

void Recorder::Impl::publish() noexcept {
  written.store(file->steps(), std::memory_order_relaxed);
  bytes.store(file->bytes(), std::memory_order_relaxed);
}

Status Recorder::Impl::close() {
  if (!tap->detached) pipeline->recorded.tap = nullptr;
  tap->detached = true;
  if (!worker.is_here()) return status();
  {
    const std::lock_guard lock(mutex);
    closing = true;
  }
  woken.notify_all();
  worker.join();
  // After an error there are steps in the ring that nobody has taken.
  for (; ring->front() != nullptr; ring->pop()) tap->dropped.fetch_add(1, std::memory_order_relaxed);
  return status();
}

void Recorder::Impl::leave() noexcept {
  if (!tap->detached) pipeline->recorded.tap = nullptr;
  tap->detached = true;
}

Recorder::Recorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&& other) noexcept {
  Recorder taken(std::move(other));
  std::swap(impl_, taken.impl_);
  return *this;
}
Recorder::~Recorder() {
  if (!impl_ || !impl_->worker.is_elsewhere()) return;
  impl_->leave();
  (void)impl_.release();  // the thread of the other process waits on it
}

Result<Recorder> Recorder::make(Pipeline& pipeline, const fs::path& file, RecorderOptions options) {
  LEAPP_RETURN_IF_ERROR(check(options));
  Pipeline::Impl& inside = *pipeline.impl_;
  if (!inside.prepared)
    return failed_precondition("the pipeline is not prepared: call prepare() before it is recorded");
  if (inside.recorded.tap != nullptr) return failed_precondition("the pipeline has a recorder already: close that one");
  LEAPP_ASSIGN_OR_RETURN(RecordingLayout layout, RecordingLayout::make(pipeline.input_ports(), pipeline.output_ports(),
                                                                       pipeline.feedback_ports()));
  auto impl = std::make_unique<Impl>();
  LEAPP_RETURN_IF_ERROR(impl->lay_out(inside, layout, options.ring_bytes));
  const std::int64_t offset = unix_offset();
  LEAPP_RETURN_IF_ERROR(impl->start(std::move(layout), {.path = file,
                                                        .recorder = std::move(options),
                                                        .metadata = {description_of(pipeline, inside.yaml, offset),
                                                                     files_of(inside.yaml, inside.spec)},
                                                        .library = "leapp " LEAPP_VERSION,
                                                        .unix_offset = offset}));
  inside.recorded.tap = impl->tap.get();
  return Recorder(std::move(impl));
}

bool Recorder::record(const StepTimes& times) noexcept {
  StepTap& tap = *impl_->tap;
  if (tap.detached || impl_->worker.is_elsewhere()) return false;
  const Pipeline::Impl& inside = *impl_->pipeline;
  const bool refused = inside.guards && inside.guards->refused();
  const StepResult result = refused ? StepResult::kRefused : inside.failed ? StepResult::kFailed : StepResult::kOk;
  return tap.record({.parity = inside.parity,
                     .result = static_cast<std::uint8_t>(result),
                     .guard_events = inside.guards ? static_cast<std::uint32_t>(inside.guards->event_count()) : 0,
                     .deadline = nanoseconds_of(times.deadline),
                     .woken = nanoseconds_of(times.woken),
                     .input = nanoseconds_of(times.input)});
}

bool Recorder::record(const Tick& tick) noexcept {
  return record({.deadline = tick.deadline, .woken = tick.woken, .input = tick.input_time().value_or(Time())});
}

RecorderSummary Recorder::summary() const noexcept {
  const Impl& impl = *impl_;
  return {.steps = impl.tap->steps.load(std::memory_order_relaxed),
          .written = impl.written.load(std::memory_order_relaxed),
          .dropped = impl.tap->dropped.load(std::memory_order_relaxed),
          .bytes = impl.bytes.load(std::memory_order_relaxed)};
}

Status Recorder::status() const { return impl_->status(); }
Status Recorder::close() { return impl_->close(); }
const fs::path& Recorder::file() const { return impl_->path; }

}  // namespace leapp::runtime
