// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <span>

#include "leapp/runtime/guards.h"
#include "runtime/c/common.h"

namespace leapp::c {
namespace {

using runtime::Port;

Result<std::vector<std::string>> texts_of(const char* const* texts, std::size_t count) {
  std::vector<std::string> found;
  if (texts == nullptr && count != 0) return null("robot_names");
  for (std::size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return null("robot_names");
    found.emplace_back(texts[i]);
  }
  return found;
}

Status make_map(const Port& port, std::int32_t axis, const char* const* names, std::size_t count,
                const leapp_conversion* given, leapp_name_map** map) {
  if (map == nullptr) return null("map");
  *map = nullptr;
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::string> robot, texts_of(names, count));
  LEAPP_ASSIGN_OR_RETURN(const leapp_conversion from, options_of(given, "leapp_conversion"));
  runtime::Conversion conversion;
  if (from.scale != nullptr) conversion.scale.assign(from.scale, from.scale + count);
  if (from.offset != nullptr) conversion.offset.assign(from.offset, from.offset + count);
  if (from.sign != nullptr) conversion.sign.assign(from.sign, from.sign + count);
  LEAPP_ASSIGN_OR_RETURN(runtime::NameMap made, runtime::NameMap::make(port, axis, robot, conversion));
  *map = new leapp_name_map{std::move(made)};
  return {};
}

/// `copy` says whether it copied.
template <typename Number, typename Copy>
leapp_status copy_array(const leapp_name_map* map, Number* robot, std::size_t count, Copy copy) noexcept {
  if (map != nullptr && robot != nullptr && copy(std::span<Number>(robot, count))) return LEAPP_OK;
  return guarded([&]() -> Status {
    if (map == nullptr) return null("map");
    if (robot == nullptr) return null("robot");
    if (count == map->map.size()) {
      return failed_precondition("the port is an output, which is not for writing, or feedback, whose memory moves");
    }
    return invalid_argument("expected " + std::to_string(map->map.size()) + " numbers, found " + std::to_string(count));
  });
}

Status use_guards(leapp_pipeline* pipeline, Result<runtime::GuardRules> rules) {
  if (!rules.ok()) return rules.status();
  return pipeline->pipeline.set_guards(rules.value());
}

Result<runtime::LoopOptions> loop_options(const leapp_loop_options* given) {
  LEAPP_ASSIGN_OR_RETURN(const leapp_loop_options from, options_of(given, "leapp_loop_options"));
  runtime::LoopOptions options;
  if (from.frequency != 0) options.frequency = from.frequency;
  options.overrun = from.stop_at_overrun != 0 ? runtime::Overrun::kStop : runtime::Overrun::kSkip;
  if (from.cpus == nullptr && from.cpu_count != 0) return null("leapp_loop_options: cpus");
  for (std::size_t i = 0; i < from.cpu_count; ++i) options.realtime.cpus.push_back(from.cpus[i]);
  options.realtime.fifo_priority = from.fifo_priority;
  options.realtime.lock_memory = from.lock_memory != 0;
  options.realtime.required = from.required != 0;
  return options;
}

std::int64_t nanoseconds_of(runtime::Time time) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

leapp_durations durations_of(const runtime::DurationSummary& from) noexcept {
  return {from.count, from.mean, from.p50, from.p99, from.p999, from.max};
}

}  // namespace
}  // namespace leapp::c

using leapp::c::guarded;
using leapp::c::null;

static_assert(LEAPP_FAILED == static_cast<int>(leapp::runtime::GuardAction::kFail));
static_assert(LEAPP_RATE == static_cast<int>(leapp::runtime::GuardCause::kRate));
static_assert(LEAPP_CHUNK_BLEND == static_cast<int>(leapp::runtime::ChunkMode::kBlend));
static_assert(LEAPP_CHUNK_EMPTY == static_cast<int>(leapp::runtime::ChunkResult::kEmpty));

extern "C" {

leapp_status leapp_name_map_make(leapp_pipeline* pipeline, int32_t role, const char* port, int32_t axis,
                                 const char* const* robot_names, size_t count, const leapp_conversion* conversion,
                                 leapp_name_map** map) {
  return guarded([&]() -> leapp::Status {
    LEAPP_ASSIGN_OR_RETURN(const leapp::runtime::Port* found, leapp::c::find_port(pipeline, role, port));
    return leapp::c::make_map(*found, axis, robot_names, count, conversion, map);
  });
}

leapp_status leapp_name_map_make_of_chunks(leapp_chunks* chunks, int32_t axis, const char* const* robot_names,
                                           size_t count, const leapp_conversion* conversion, leapp_name_map** map) {
  return guarded([&]() -> leapp::Status {
    if (chunks == nullptr) return null("chunks");
    return leapp::c::make_map(chunks->player.port(), axis, robot_names, count, conversion, map);
  });
}

void leapp_name_map_free(leapp_name_map* map) { delete map; }
size_t leapp_name_map_size(const leapp_name_map* map) { return map == nullptr ? 0 : map->map.size(); }

leapp_status leapp_name_map_write_float(leapp_name_map* map, const float* robot, size_t count) {
  return leapp::c::copy_array(map, robot, count, [&](std::span<const float> values) { return map->map.write(values); });
}
leapp_status leapp_name_map_write_double(leapp_name_map* map, const double* robot, size_t count) {
  return leapp::c::copy_array(map, robot, count,
                              [&](std::span<const double> values) { return map->map.write(values); });
}
leapp_status leapp_name_map_read_float(const leapp_name_map* map, float* robot, size_t count) {
  return leapp::c::copy_array(map, robot, count, [&](std::span<float> values) { return map->map.read(values); });
}
leapp_status leapp_name_map_read_double(const leapp_name_map* map, double* robot, size_t count) {
  return leapp::c::copy_array(map, robot, count, [&](std::span<double> values) { return map->map.read(values); });
}

leapp_status leapp_set_guards(leapp_pipeline* pipeline, const char* text) {
  return guarded([&]() -> leapp::Status {
    if (pipeline == nullptr) return null("pipeline");
    if (text == nullptr || *text == '\0') return pipeline->pipeline.set_guards({});
    return leapp::c::use_guards(pipeline, leapp::runtime::parse_guards(text));
  });
}

leapp_status leapp_set_guards_from_file(leapp_pipeline* pipeline, const char* file) {
  return guarded([&]() -> leapp::Status {
    if (pipeline == nullptr || file == nullptr) return null("pipeline or file");
    return leapp::c::use_guards(pipeline, leapp::runtime::read_guards(file));
  });
}

leapp_status leapp_set_guards_from_bundle(leapp_pipeline* pipeline) {
  return guarded([&]() -> leapp::Status {
    if (pipeline == nullptr) return null("pipeline");
    return leapp::c::use_guards(pipeline, leapp::runtime::guards_of(pipeline->pipeline.spec()));
  });
}

size_t leapp_guard_event_count(const leapp_pipeline* pipeline) {
  return pipeline == nullptr ? 0 : pipeline->pipeline.guard_event_count();
}

leapp_status leapp_guard_event_at(const leapp_pipeline* pipeline, size_t index, leapp_guard_event* event) {
  if (pipeline != nullptr && index < pipeline->pipeline.guard_events().size()) {
    const leapp::runtime::GuardEvent& found = pipeline->pipeline.guard_events()[index];
    leapp_guard_event made{};
    made.cause = static_cast<std::int32_t>(found.cause);
    made.action = static_cast<std::int32_t>(found.action);
    made.element = found.element;
    made.port = pipeline->pipeline.guards()[found.port].port.c_str();
    made.found = found.found;
    made.limit = found.limit;
    made.became = found.became;
    return guarded([&] { return leapp::c::give(made, event, "leapp_guard_event"); });
  }
  return guarded([&]() -> leapp::Status {
    if (pipeline == nullptr) return null("pipeline");
    return leapp::not_found("there is no event " + std::to_string(index) + "; of the last step there are " +
                            std::to_string(pipeline->pipeline.guard_events().size()));
  });
}

size_t leapp_guard_event_text(const leapp_pipeline* pipeline, size_t index, char* text, size_t room) {
  std::string all;
  (void)guarded([&]() -> leapp::Status {
    if (pipeline == nullptr) return null("pipeline");
    if (index >= pipeline->pipeline.guard_events().size()) return leapp::not_found("there is no such event");
    all = pipeline->pipeline.guard_text(pipeline->pipeline.guard_events()[index]);
    return {};
  });
  if (text != nullptr && room > 0) {
    const std::size_t length = std::min(all.size(), room - 1);
    std::memcpy(text, all.data(), length);
    text[length] = '\0';
  }
  return all.size();
}

leapp_status leapp_set_last_good(leapp_pipeline* pipeline, const char* port, const double* values, size_t count) {
  return guarded([&]() -> leapp::Status {
    if (pipeline == nullptr || port == nullptr || values == nullptr) return null("pipeline, port or values");
    return pipeline->pipeline.set_last_good(port, {values, count});
  });
}

void leapp_forget_last_good(leapp_pipeline* pipeline) {
  if (pipeline != nullptr) pipeline->pipeline.forget_last_good();
}

leapp_status leapp_loop_make(const leapp_pipeline* pipeline, const leapp_loop_options* options, leapp_loop** loop) {
  return guarded([&]() -> leapp::Status {
    if (loop == nullptr) return null("loop");
    *loop = nullptr;
    LEAPP_ASSIGN_OR_RETURN(leapp::runtime::LoopOptions known, leapp::c::loop_options(options));
    if (!known.frequency && pipeline != nullptr) known.frequency = pipeline->pipeline.frequency();
    LEAPP_ASSIGN_OR_RETURN(leapp::runtime::Loop made, leapp::runtime::Loop::make(known));
    *loop = new leapp_loop{std::move(made)};
    return {};
  });
}

void leapp_loop_free(leapp_loop* loop) { delete loop; }

leapp_status leapp_loop_run(leapp_loop* loop, int32_t (*call)(void* user, leapp_tick* tick), void* user) {
  return guarded([&]() -> leapp::Status {
    if (loop == nullptr || call == nullptr) return null("loop or call");
    return loop->loop.run([&](leapp::runtime::Tick& tick) {
      leapp_tick seen{};
      seen.size = sizeof seen;
      seen.number = tick.number;
      seen.period = tick.period;
      seen.deadline = leapp::c::nanoseconds_of(tick.deadline);
      seen.woken = leapp::c::nanoseconds_of(tick.woken);
      const bool goes_on = call(user, &seen) != 0;
      if (seen.has_input_time != 0) tick.set_input_time(leapp::c::time_of(seen.input_time));
      return goes_on;
    });
  });
}

void leapp_loop_stop(leapp_loop* loop) {
  if (loop != nullptr) loop->loop.stop();
}

const char* leapp_loop_note(const leapp_loop* loop, size_t index) {
  return loop == nullptr || index >= loop->loop.notes().size() ? nullptr : loop->loop.notes()[index].c_str();
}

leapp_status leapp_loop_read(const leapp_loop* loop, leapp_loop_summary* summary) {
  return guarded([&]() -> leapp::Status {
    if (loop == nullptr) return null("loop");
    const leapp::runtime::LoopSummary found = loop->loop.statistics().summary();
    leapp_loop_summary made{};
    made.calls = found.calls;
    made.overruns = found.overruns;
    made.skipped = found.skipped;
    made.step = leapp::c::durations_of(found.step);
    made.lateness = leapp::c::durations_of(found.lateness);
    made.input_age = leapp::c::durations_of(found.input_age);
    return leapp::c::give(made, summary, "leapp_loop_summary");
  });
}

leapp_status leapp_chunks_make(leapp_pipeline* pipeline, const char* output, int32_t mode, double overlap_ms,
                               leapp_chunks** chunks) {
  return guarded([&]() -> leapp::Status {
    if (chunks == nullptr) return null("chunks");
    *chunks = nullptr;
    if (mode < LEAPP_CHUNK_HOLD || mode > LEAPP_CHUNK_BLEND) {
      return leapp::invalid_argument("mode: expected LEAPP_CHUNK_HOLD, _LINEAR or _BLEND, found " +
                                     std::to_string(mode));
    }
    LEAPP_ASSIGN_OR_RETURN(const leapp::runtime::Port* port, leapp::c::find_port(pipeline, LEAPP_OUTPUT, output));
    LEAPP_ASSIGN_OR_RETURN(
        leapp::runtime::ChunkPlayer player,
        leapp::runtime::ChunkPlayer::make(
            *port, {.mode = static_cast<leapp::runtime::ChunkMode>(mode), .overlap_ms = overlap_ms}));
    *chunks = new leapp_chunks{std::move(player)};
    return {};
  });
}

void leapp_chunks_free(leapp_chunks* chunks) { delete chunks; }

void leapp_chunks_take(leapp_chunks* chunks, int64_t start) {
  if (chunks != nullptr) chunks->player.take(leapp::c::time_of(start));
}

int32_t leapp_chunks_play(leapp_chunks* chunks, int64_t time) {
  if (chunks == nullptr) return LEAPP_CHUNK_EMPTY;
  return static_cast<std::int32_t>(chunks->player.play(leapp::c::time_of(time)));
}

leapp_status leapp_chunks_port(const leapp_chunks* chunks, leapp_port* port) {
  return guarded([&]() -> leapp::Status {
    if (chunks == nullptr) return null("chunks");
    return leapp::c::give(leapp::c::describe(chunks->player.port()), port, "leapp_port");
  });
}

}  // extern "C"
