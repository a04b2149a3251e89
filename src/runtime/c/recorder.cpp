// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/recorder.h"

#include <chrono>

#include "runtime/c/common.h"

struct leapp_recorder {
  leapp::runtime::Recorder recorder;
};

namespace leapp::c {
namespace {

Result<runtime::RecorderOptions> recorder_options(const leapp_recorder_options* given) {
  LEAPP_ASSIGN_OR_RETURN(const leapp_recorder_options from, options_of(given, "leapp_recorder_options"));
  runtime::RecorderOptions options;
  if (from.ring_bytes != 0) options.ring_bytes = from.ring_bytes;
  if (from.chunk_bytes != 0) options.chunk_bytes = from.chunk_bytes;
  if (from.flush_interval_ms != 0) options.flush_interval = std::chrono::milliseconds(from.flush_interval_ms);
  options.sync = from.sync != 0;
  options.overwrite = from.overwrite != 0;
  if (from.cpus == nullptr && from.cpu_count != 0) return null("leapp_recorder_options: cpus");
  options.cpus.assign(from.cpus, from.cpus + from.cpu_count);
  return options;
}

}  // namespace
}  // namespace leapp::c

using leapp::c::guarded;
using leapp::c::null;

extern "C" {

leapp_status leapp_recorder_make(leapp_pipeline* pipeline, const char* file, const leapp_recorder_options* options,
                                 leapp_recorder** recorder) {
  return guarded([&]() -> leapp::Status {
    if (recorder == nullptr) return null("recorder");
    *recorder = nullptr;
    if (pipeline == nullptr || file == nullptr) return null("pipeline or file");
    LEAPP_ASSIGN_OR_RETURN(leapp::runtime::RecorderOptions known, leapp::c::recorder_options(options));
    LEAPP_ASSIGN_OR_RETURN(leapp::runtime::Recorder made,
                           leapp::runtime::Recorder::make(pipeline->pipeline, file, std::move(known)));
    *recorder = new leapp_recorder{std::move(made)};
    return {};
  });
}

void leapp_recorder_free(leapp_recorder* recorder) { delete recorder; }

int32_t leapp_recorder_record(leapp_recorder* recorder, const leapp_tick* tick) {
  if (recorder == nullptr) return 0;
  if (tick == nullptr) return recorder->recorder.record() ? 1 : 0;
  const leapp::runtime::StepTimes times{.deadline = leapp::c::time_of(tick->deadline),
                                        .woken = leapp::c::time_of(tick->woken),
                                        .input = leapp::c::time_of(tick->has_input_time != 0 ? tick->input_time : 0)};
  return recorder->recorder.record(times) ? 1 : 0;
}

leapp_status leapp_recorder_read(const leapp_recorder* recorder, leapp_recorder_summary* summary) {
  return guarded([&]() -> leapp::Status {
    if (recorder == nullptr) return null("recorder");
    const leapp::runtime::RecorderSummary found = recorder->recorder.summary();
    leapp_recorder_summary made{};
    made.steps = found.steps;
    made.written = found.written;
    made.dropped = found.dropped;
    made.bytes = found.bytes;
    return leapp::c::give(made, summary, "leapp_recorder_summary");
  });
}

leapp_status leapp_recorder_status(const leapp_recorder* recorder) {
  return guarded(
      [&]() -> leapp::Status { return recorder == nullptr ? null("recorder") : recorder->recorder.status(); });
}

leapp_status leapp_recorder_close(leapp_recorder* recorder) {
  return guarded(
      [&]() -> leapp::Status { return recorder == nullptr ? null("recorder") : recorder->recorder.close(); });
}

}  // extern "C"
