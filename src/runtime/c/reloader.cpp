// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/reloader.h"

#include <cstring>

#include "runtime/c/common.h"

struct leapp_reloader {
  leapp::runtime::Reloader reloader;
};

namespace leapp::c {
namespace {

using runtime::ResetMode;
using runtime::StateOnSwap;

static_assert(LEAPP_STATE_KEEP == static_cast<int>(StateOnSwap::kKeep));
static_assert(LEAPP_SWAP_REFUSED == static_cast<int>(runtime::SwapResult::kRefused));
static_assert(LEAPP_RELOAD_FAILED == static_cast<int>(runtime::ReloadState::kFailed));

Status out_of_range(const char* field, int highest, std::int32_t found) {
  return invalid_argument(std::string("leapp_reloader_options: ") + field + ": expected 0 to " +
                          std::to_string(highest) + ", found " + std::to_string(found));
}

Result<runtime::ReloaderOptions> reloader_options(const leapp_reloader_options* given) {
  LEAPP_ASSIGN_OR_RETURN(const leapp_reloader_options from, options_of(given, "leapp_reloader_options"));
  runtime::ReloaderOptions options;
  LEAPP_ASSIGN_OR_RETURN(options.load, load_options(from.load));
  if (from.state < LEAPP_STATE_RESET || from.state > LEAPP_STATE_KEEP) {
    return out_of_range("state", LEAPP_STATE_KEEP, from.state);
  }
  if (from.reset < LEAPP_RESET_EXPORTED || from.reset > LEAPP_RESET_FIRST_FRAME) {
    return out_of_range("reset", LEAPP_RESET_FIRST_FRAME, from.reset);
  }
  options.state = static_cast<StateOnSwap>(from.state);
  options.reset = static_cast<ResetMode>(from.reset);
  if (from.poll_ms != 0) options.poll = std::chrono::milliseconds(from.poll_ms);
  if (from.watch != nullptr) options.watch = from.watch;
  if (from.cpu_count > 0 && from.cpus == nullptr) return null("leapp_reloader_options: cpus");
  options.cpus.assign(from.cpus, from.cpus + from.cpu_count);
  return options;
}

leapp_reload_report report_of(const runtime::ReloadReport& report) {
  leapp_reload_report made{};
  made.state = static_cast<std::int32_t>(report.state);
  made.number = report.number;
  made.status = keep(report.status);
  made.state_kept = report.state_kept ? 1 : 0;
  made.serial = report.signature ? report.signature->serial : 0;
  return made;
}

}  // namespace
}  // namespace leapp::c

using leapp::c::guarded;
using leapp::c::null;

extern "C" {

leapp_status leapp_reloader_make(leapp_pipeline* pipeline, const leapp_reloader_options* options,
                                 leapp_reloader** reloader) {
  return guarded([&]() -> leapp::Status {
    if (pipeline == nullptr || reloader == nullptr) return null("pipeline or reloader");
    *reloader = nullptr;
    LEAPP_ASSIGN_OR_RETURN(leapp::runtime::ReloaderOptions known, leapp::c::reloader_options(options));
    LEAPP_ASSIGN_OR_RETURN(leapp::runtime::Reloader made,
                           leapp::runtime::Reloader::make(pipeline->pipeline, std::move(known)));
    *reloader = new leapp_reloader{std::move(made)};
    return {};
  });
}

void leapp_reloader_free(leapp_reloader* reloader) { delete reloader; }

leapp_status leapp_reloader_request(leapp_reloader* reloader, const char* bundle, uint64_t* number) {
  return guarded([&]() -> leapp::Status {
    if (reloader == nullptr || bundle == nullptr) return null("reloader or bundle");
    const std::uint64_t given = reloader->reloader.request(bundle);
    if (number != nullptr) *number = given;
    return {};
  });
}

int32_t leapp_reloader_swap(leapp_reloader* reloader, leapp_pipeline* pipeline) {
  if (reloader == nullptr || pipeline == nullptr) return LEAPP_SWAP_NOTHING;
  const auto result = reloader->reloader.swap_if_ready(pipeline->pipeline);
  if (result == leapp::runtime::SwapResult::kSwapped) pipeline->swapped = true;
  return static_cast<std::int32_t>(result);
}

leapp_status leapp_reloader_wait(const leapp_reloader* reloader, int64_t longest, leapp_reload_report* report) {
  return guarded([&]() -> leapp::Status {
    if (reloader == nullptr) return null("reloader");
    const auto found = reloader->reloader.wait(std::chrono::nanoseconds(longest));
    return leapp::c::give(leapp::c::report_of(found), report, "leapp_reload_report");
  });
}

size_t leapp_reloader_reason(const leapp_reloader* reloader, char* text, size_t room) {
  std::size_t length = 0;
  (void)guarded([&]() -> leapp::Status {
    if (reloader == nullptr) return null("reloader");
    const std::string message = reloader->reloader.report().status.message();
    length = message.size();
    if (text == nullptr || room == 0) return {};
    const std::size_t copied = std::min(length, room - 1);
    std::memcpy(text, message.data(), copied);
    text[copied] = '\0';
    return {};
  });
  return length;
}

}  // extern "C"
