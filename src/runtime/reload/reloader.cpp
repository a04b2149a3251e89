// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/reloader.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <future>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/memory.h"
#include "base/text.h"
#include "bundle/files/verified_files.h"
#include "bundle/folder/file_system.h"
#include "leapp/runtime/loop.h"
#include "runtime/reload/bundle_watch.h"
#include "runtime/reload/reloader_access.h"
#include "runtime/reload/staged_bundle.h"
#include "runtime/reload/worker.h"

namespace leapp::runtime {

namespace fs = std::filesystem;

using StagedBundle = PipelineAccess::StagedBundle;

namespace {

// How often the loading thread looks whether the loop has taken what is ready. The loop does not wake it up: that would
// be a call of the system, and an invitation to the scheduler to run the one instead of the other.
constexpr int kCollectMs = 2;

// Threads inherit what the loop's was given. A thread that wakes up is preferred to one that has been running: to the
// loop, if that has no priority of its own. Not so with SCHED_BATCH. On Linux both are the calling thread's.
void give_way(int nice) noexcept {
  const sched_param none{.sched_priority = 0};
  (void)::sched_setscheduler(0, SCHED_BATCH, &none);
  const auto thread = static_cast<id_t>(::gettid());
  if (::getpriority(PRIO_PROCESS, thread) < nice) (void)::setpriority(PRIO_PROCESS, thread, nice);
}

}  // namespace

/// Two words are shared with the loop's thread, `ready` and `retired`: whoever takes a pointer out of them owns it.
/// Everything else is between the loading thread and those that may wait, and is guarded by `mutex`.
struct __attribute__((visibility("hidden"))) Reloader::Impl {
  Impl(PipelineAccess::ReloadTarget where, ReloaderOptions how, ReloaderAccess::Load loads)
      : seat(std::move(where)), options(std::move(how)), load(std::move(loads)), watch(options) {}
  ~Impl();

  Status start();
  void run();
  /// One round of that; false: it is to end.
  bool work();
  void wait_for_news() const;
  void collect();
  void finish(StagedBundle& fresh) noexcept;
  void handle(std::uint64_t number, const fs::path& bundle);
  void fail(std::uint64_t number, const Status& why) noexcept;
  Result<std::unique_ptr<StagedBundle>> make_fresh(const fs::path& bundle, std::shared_ptr<engine::Stop> stop) const;
  void end_loading() const noexcept;
  [[nodiscard]] ReloadReport report_of_a_child() const;
  std::uint64_t request(const fs::path& bundle);
  void retire(StagedBundle* fresh) noexcept;
  void wake() const noexcept;

  PipelineAccess::ReloadTarget seat;  ///< signature: that of the running bundle, as far as the loading thread knows
  const ReloaderOptions options;
  const ReloaderAccess::Load load;
  BundleWatch watch;
  bundle::FileDescriptor news;  ///< an eventfd: something was requested
  std::size_t outstanding = 0;  ///< bundles that were made ready and did not come back; the loading thread's own

  std::atomic<StagedBundle*> ready{nullptr};
  std::atomic<StagedBundle*> retired{nullptr};  ///< a list, the newest first
  std::atomic<std::uint64_t> swaps{0};

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  ReloadReport report;
  bool pending = false;  ///< `report` is of a request that nobody has begun to load
  bool stopping = false;
  std::shared_ptr<engine::Stop> loading;  ///< ends the first run of what is being loaded; null: nothing, or not ours
  std::chrono::steady_clock::time_point next_look;  ///< the loading thread's own, as the next
  bool changed_on_disk = false;                     ///< what is watched, and nobody has requested it

  Worker worker;
};

Reloader::Impl::~Impl() {
  if (worker.is_here()) {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
      end_loading();
    }
    wake();
    worker.join();
  }
  retire(ready.exchange(nullptr));
  for (StagedBundle* fresh = retired.exchange(nullptr); fresh != nullptr;) {
    const std::unique_ptr<StagedBundle> last(fresh);
    fresh = fresh->next;
  }
}

Status Reloader::Impl::start() {
  news = bundle::FileDescriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!news.is_open()) return internal_error(fmt::format("reloader: no eventfd: {}", std::strerror(errno)));
  const auto started = std::make_shared<std::promise<Status>>();
  std::future<Status> status = started->get_future();
  LEAPP_RETURN_IF_ERROR(worker.start("leapp-reloader", "the reloader", [this, started] {
    give_way(options.nice);
    const auto notes = make_realtime({.cpus = options.cpus, .required = true});
    const bool fine = notes.ok();
    started->set_value(fine ? Status() : notes.status());
    if (fine) run();
  }));
  return status.get();
}

void Reloader::Impl::wake() const noexcept {
  const std::uint64_t one = 1;
  // It fails only when the counter is full, and then there is news enough.
  if (::write(news.number(), &one, sizeof one) < 0) errno = 0;
}

void Reloader::Impl::wait_for_news() const {
  pollfd waiting{news.number(), POLLIN, 0};
  int longest = watch.is_on() ? static_cast<int>(options.poll.count()) : -1;
  if (outstanding > 0) longest = longest < 0 ? kCollectMs : std::min(longest, kCollectMs);
  if (::poll(&waiting, 1, longest) <= 0) return;
  std::uint64_t count = 0;
  if (::read(news.number(), &count, sizeof count) < 0) errno = 0;
}

void Reloader::Impl::retire(StagedBundle* fresh) noexcept {
  if (fresh == nullptr) return;
  fresh->next = retired.load(std::memory_order_relaxed);
  while (!retired.compare_exchange_weak(fresh->next, fresh, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void Reloader::Impl::finish(StagedBundle& fresh) noexcept {
  if (fresh.outcome() == StagedBundle::Outcome::kSwapped) seat.signature = fresh.take_signature();
  if (fresh.outcome() == StagedBundle::Outcome::kWaiting) return;  // a newer request came before
  const std::lock_guard lock(mutex);
  if (fresh.number != report.number) return;
  report.status = without_exceptions([&] { return fresh.status(); });
  report.state = report.status.ok() ? ReloadState::kSwapped : ReloadState::kFailed;
  report.state_kept = fresh.state_kept();
  changed.notify_all();
}

// What the loop's thread has replaced or refused, the oldest first.
void Reloader::Impl::collect() {
  StagedBundle* oldest = nullptr;
  for (StagedBundle* newest = retired.exchange(nullptr, std::memory_order_acquire); newest != nullptr;) {
    StagedBundle* const before = std::exchange(newest->next, oldest);
    oldest = std::exchange(newest, before);
  }
  while (oldest != nullptr) {
    const std::unique_ptr<StagedBundle> fresh(oldest);
    oldest = fresh->next;
    --outstanding;
    finish(*fresh);
  }
}

// What nobody waits for any more need not come to its end. REQUIRES: `mutex` is ours.
void Reloader::Impl::end_loading() const noexcept {
  if (loading) loading->request();
}

Result<std::unique_ptr<StagedBundle>> Reloader::Impl::make_fresh(const fs::path& bundle,
                                                                 std::shared_ptr<engine::Stop> stop) const {
  LoadOptions how = options.load;
  how.prepare = true;
  if (stop) how.engine.stop = std::move(stop);
  if (!how.trusted_keys.empty() && seat.signature) {
    how.minimum_serial = std::max(how.minimum_serial, seat.signature->serial);
  }
  try {
    LEAPP_ASSIGN_OR_RETURN(Pipeline pipeline, load(bundle, how));
    auto fresh = StagedBundle::make(std::move(pipeline), seat);
    if (fresh.ok()) return fresh;
    return Status(fresh.status().code(), fmt::format("{}: {}", bundle.string(), fresh.status().message()));
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "out of memory");  // a text that needs none itself
  } catch (const std::exception& error) {
    return internal_error(fmt::format("{}: {}", bundle.string(), error.what()));
  }
}

void Reloader::Impl::handle(std::uint64_t number, const fs::path& bundle) {
  // Another one each time: that of a bundle that runs is its own.
  auto stop = options.load.engine.stop ? nullptr : std::make_shared<engine::Stop>();
  {
    const std::lock_guard lock(mutex);
    if (stopping || number != report.number) return;
    loading = stop;
  }
  auto made = make_fresh(bundle, std::move(stop));
  std::unique_ptr<StagedBundle> superseded;  // freed when the mutex is free again
  const std::lock_guard lock(mutex);
  loading.reset();
  if (stopping || number != report.number) {
    if (made.ok()) superseded = std::move(made).value();
    return;
  }
  report.status = made.status();
  if (made.ok()) {
    std::unique_ptr<StagedBundle> fresh = std::move(made).value();
    fresh->number = number;
    report.signature = fresh->signature();
    ready.store(fresh.release(), std::memory_order_release);
    ++outstanding;
  }
  report.state = report.status.ok() ? ReloadState::kReady : ReloadState::kFailed;
  changed.notify_all();
}

// Where memory ran out around a load.
void Reloader::Impl::fail(std::uint64_t number, const Status& why) noexcept {
  if (why.ok()) return;
  const std::lock_guard lock(mutex);
  loading.reset();
  if (number != report.number || report.state != ReloadState::kLoading) return;
  report.state = ReloadState::kFailed;
  report.status = why;
  changed.notify_all();
}

std::uint64_t Reloader::Impl::request(const fs::path& bundle) {
  if (worker.is_elsewhere()) return 0;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex);
    number = report.number + 1;
    report = {};
    report.number = number;
    report.bundle = bundle;
    report.state = ReloadState::kLoading;
    pending = true;
    end_loading();
    retire(ready.exchange(nullptr, std::memory_order_acq_rel));
  }
  wake();
  return number;
}

void Reloader::Impl::run() {
  using std::chrono::milliseconds;
  next_look = std::chrono::steady_clock::now() + options.poll;
  for (bool goes_on = true; goes_on;) {
    // Where memory runs out outside of a load, what was asked for is still to be done a moment later.
    const Status worked = without_exceptions([&]() -> Status {
      goes_on = work();
      return {};
    });
    if (!worked.ok()) std::this_thread::sleep_for(milliseconds(100));
  }
}

bool Reloader::Impl::work() {
  wait_for_news();
  collect();
  std::uint64_t number = 0;
  fs::path bundle;
  bool wanted = false;
  {
    const std::lock_guard lock(mutex);
    if (stopping) return false;
    number = report.number;
    bundle = report.bundle;
    wanted = std::exchange(pending, false);
  }
  if (wanted) {
    fail(number, without_exceptions([&]() -> Status {
           handle(number, bundle);
           return {};
         }));
  }
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look) return true;
  next_look = now + options.poll;
  changed_on_disk = watch.look() || changed_on_disk;
  if (changed_on_disk) request(options.watch);
  changed_on_disk = false;
  return true;
}

ReloadReport Reloader::Impl::report_of_a_child() const {
  ReloadReport none;
  none.state = ReloadState::kFailed;
  none.status = failed_precondition("the reloader is of the process that this one was forked from: make a new one");
  return none;
}

Reloader::Reloader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reloader::Reloader(Reloader&&) noexcept = default;
Reloader& Reloader::operator=(Reloader&& other) noexcept {
  Reloader taken(std::move(other));
  std::swap(impl_, taken.impl_);
  return *this;
}
Reloader::~Reloader() {
  if (impl_ && impl_->worker.is_elsewhere()) (void)impl_.release();  // the thread of the other process waits on it
}

Result<Reloader> ReloaderAccess::make(Pipeline& pipeline, ReloaderOptions options, Load load) {
  LEAPP_ASSIGN_OR_RETURN(PipelineAccess::ReloadTarget seat, PipelineAccess::ReloadTarget::of(pipeline));
  if (options.poll.count() < 1 || options.poll > std::chrono::hours(24)) {
    return invalid_argument(fmt::format("reloader: poll: expected 1 ms to a day, found {} ms", options.poll.count()));
  }
  if (options.nice < 0 || options.nice > 19) {
    return invalid_argument(fmt::format("reloader: nice: expected 0 to 19, found {}", options.nice));
  }
  LEAPP_RETURN_IF_ERROR(bundle::check_keys(options.load.trusted_keys));
  // Whoever changes a key's file later changes nothing here.
  for (std::string& key : options.load.trusted_keys) {
    LEAPP_ASSIGN_OR_RETURN(key, bundle::key_text(key));
  }
  auto impl = std::make_unique<Reloader::Impl>(std::move(seat), std::move(options), std::move(load));
  LEAPP_RETURN_IF_ERROR(impl->start());
  return Reloader(std::move(impl));
}

Result<Reloader> Reloader::make(Pipeline& pipeline, ReloaderOptions options) {
  return ReloaderAccess::make(pipeline, std::move(options), [](const fs::path& bundle, const LoadOptions& how) {
    return Pipeline::load(bundle, how);
  });
}

std::uint64_t Reloader::request(const fs::path& bundle) { return impl_->request(bundle); }

SwapResult Reloader::swap_if_ready(Pipeline& pipeline) noexcept {
  Impl& self = *impl_;
  if (self.ready.load(std::memory_order_relaxed) == nullptr) [[likely]] {
    return SwapResult::kNothing;
  }
  StagedBundle* fresh = self.ready.exchange(nullptr, std::memory_order_acq_rel);
  if (fresh == nullptr) return SwapResult::kNothing;  // a newer request was quicker
  const bool swapped =
      fresh->swap_into(pipeline, self.options.state, self.options.reset) == StagedBundle::Outcome::kSwapped;
  if (swapped) self.swaps.fetch_add(1, std::memory_order_relaxed);
  self.retire(fresh);
  return swapped ? SwapResult::kSwapped : SwapResult::kRefused;
}

ReloadReport Reloader::report() const {
  if (impl_->worker.is_elsewhere()) return impl_->report_of_a_child();
  const std::lock_guard lock(impl_->mutex);
  return impl_->report;
}

ReloadReport Reloader::wait(std::chrono::nanoseconds longest, bool loaded_is_enough) const {
  if (impl_->worker.is_elsewhere()) return impl_->report_of_a_child();
  std::unique_lock lock(impl_->mutex);
  const auto done = [&] {
    const ReloadState state = impl_->report.state;
    return state != ReloadState::kLoading && (loaded_is_enough || state != ReloadState::kReady);
  };
  // Longer than this, steady_clock would overflow.
  impl_->changed.wait_for(lock, std::min<std::chrono::nanoseconds>(longest, std::chrono::hours(24 * 365)), done);
  return impl_->report;
}

std::uint64_t Reloader::swaps() const noexcept { return impl_->swaps.load(std::memory_order_relaxed); }

}  // namespace leapp::runtime
