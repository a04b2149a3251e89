/* SPDX-FileCopyrightText: The LEAPP authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * leapp/leapp.h used from C11, -pedantic and warnings as errors. The bundle is that of robot_testing.h.
 */
#include "runtime/c/use_in_c.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "leapp/leapp.h"

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: %s\n  %s\n", __FILE__, __LINE__, #condition, leapp_error()); \
      return 1;                                                                            \
    }                                                                                      \
  } while (0)

static const char* const kRobot[] = {"ankle", "hip", "knee"};

static int says(const char* word) { return strstr(leapp_error(), word) != NULL; }

static int check_ports(leapp_pipeline* pipeline) {
  leapp_port port = LEAPP_INIT(leapp_port);
  void* state = NULL;
  size_t bytes = 0;
  CHECK(leapp_frequency(pipeline) == 50.0);
  CHECK(leapp_port_count(pipeline, LEAPP_INPUT) == 2);
  CHECK(leapp_port_count(pipeline, LEAPP_OUTPUT) == 2);
  CHECK(leapp_port_count(pipeline, LEAPP_FEEDBACK) == 1);
  CHECK(leapp_port_count(pipeline, 7) == 0);
  CHECK(leapp_port_of_kind(pipeline, LEAPP_INPUT, "state/joint/position", &port) == LEAPP_OK);
  CHECK(strcmp(port.name, "policy/q") == 0 && strcmp(port.node, "policy") == 0);
  CHECK(strcmp(port.kind, "state/joint/position") == 0);
  CHECK(port.dtype == LEAPP_FLOAT32 && port.rank == 2 && port.shape[1] == 3 && port.elements == 3 && port.bytes == 12);
  CHECK(port.frequency == 50.0 && port.temporal_axis == -1 && port.data != NULL);
  CHECK(leapp_port_named(pipeline, LEAPP_OUTPUT, "policy/chunk", &port) == LEAPP_OK);
  CHECK(port.temporal_axis == 1 && port.temporal_period_ms == 10.0 && port.kind == NULL);
  CHECK(leapp_port_at(pipeline, LEAPP_FEEDBACK, 0, &port) == LEAPP_OK);
  CHECK(strcmp(port.name, "policy/h_in") == 0 && port.data == NULL);
  CHECK(strcmp(leapp_element_name(pipeline, LEAPP_INPUT, "policy/q", 1, 2), "ankle") == 0);
  CHECK(leapp_element_name(pipeline, LEAPP_INPUT, "policy/q", 0, 0) == NULL);
  CHECK(leapp_element_name(pipeline, LEAPP_INPUT, "policy/q", 1, 3) == NULL);
  CHECK(leapp_feedback(pipeline, "policy/h", &state, &bytes) == LEAPP_OK && bytes == 12);
  CHECK(((const float*)state)[2] == 3.0F);
  return 0;
}

static int check_errors(leapp_pipeline* pipeline) {
  leapp_port port = LEAPP_INIT(leapp_port);
  leapp_port sizeless;
  leapp_pipeline* none = (leapp_pipeline*)&port;
  leapp_name_map* map = NULL;
  leapp_load_options options = LEAPP_INIT(leapp_load_options);
  memset(&sizeless, 0, sizeof sizeless);
  CHECK(leapp_load("/nowhere.yaml", NULL, &none) == LEAPP_IO && none == NULL && says("/nowhere.yaml"));
  CHECK(leapp_load(NULL, NULL, &none) == LEAPP_INVALID_ARGUMENT && says("NULL"));
  options.engine = 9;
  CHECK(leapp_load("/nowhere.yaml", &options, &none) == LEAPP_INVALID_ARGUMENT && says("engine") && says("9"));
  CHECK(leapp_port_named(pipeline, LEAPP_INPUT, "policy/x", &port) == LEAPP_NOT_FOUND && says("policy/q"));
  CHECK(leapp_port_of_kind(pipeline, LEAPP_INPUT, "kp", &port) == LEAPP_NOT_FOUND && says("kp"));
  CHECK(leapp_port_at(pipeline, LEAPP_INPUT, 2, &port) == LEAPP_NOT_FOUND);
  CHECK(leapp_port_at(pipeline, 5, 0, &port) == LEAPP_INVALID_ARGUMENT && says("role"));
  CHECK(leapp_port_at(pipeline, LEAPP_INPUT, 0, &sizeless) == LEAPP_INVALID_ARGUMENT && says("LEAPP_INIT"));
  CHECK(leapp_name_map_make(pipeline, LEAPP_INPUT, "policy/q", 1, kRobot, 2, NULL, &map) == LEAPP_INVALID_ARGUMENT);
  CHECK(map == NULL && says("the robot lacks: knee"));
  CHECK(leapp_set_guards(pipeline, "guards: {policy/q: {uper: 1}}") == LEAPP_DATA_LOSS && says("uper"));
  CHECK(leapp_set_guards(pipeline, "guards: {policy/x: {}}") == LEAPP_NOT_FOUND && says("policy/action"));
  CHECK(leapp_set_guards_from_file(pipeline, "/nowhere.yaml") == LEAPP_IO);
  CHECK(leapp_reset(pipeline, 42) == LEAPP_INVALID_ARGUMENT && says("42"));
  CHECK(leapp_reset(pipeline, LEAPP_RESET_FIRST_FRAME) == LEAPP_FAILED_PRECONDITION && says("policy/h_in"));
  CHECK(leapp_step(NULL) == LEAPP_INVALID_ARGUMENT);
  leapp_free(NULL);
  return 0;
}

static int check_steps(leapp_pipeline* pipeline) {
  const double scale[] = {1, 1, 2};
  const float q[] = {30, 10, 10};
  double targets[3];
  float floats[3];
  leapp_conversion conversion = LEAPP_INIT(leapp_conversion);
  leapp_name_map* in = NULL;
  leapp_name_map* out = NULL;
  conversion.scale = scale;
  CHECK(leapp_name_map_make(pipeline, LEAPP_INPUT, "policy/q", -1, kRobot, 3, &conversion, &in) == LEAPP_OK);
  CHECK(leapp_name_map_make(pipeline, LEAPP_OUTPUT, "policy/action", 1, kRobot, 3, NULL, &out) == LEAPP_OK);
  CHECK(leapp_name_map_size(in) == 3);
  CHECK(leapp_name_map_write_float(in, q, 3) == LEAPP_OK);
  CHECK(leapp_name_map_write_float(in, q, 2) == LEAPP_INVALID_ARGUMENT && says("expected 3"));
  CHECK(leapp_name_map_write_float(out, q, 3) == LEAPP_FAILED_PRECONDITION && says("output"));
  CHECK(leapp_step(pipeline) == LEAPP_OK);
  CHECK(leapp_name_map_read_double(out, targets, 3) == LEAPP_OK);
  CHECK(targets[0] == 33 && targets[1] == 11 && targets[2] == 22); /* q + h, which begins as 1, 2, 3 */
  CHECK(leapp_name_map_read_float(out, floats, 3) == LEAPP_OK && floats[0] == 33);
  CHECK(leapp_reset(pipeline, LEAPP_RESET_ZEROS) == LEAPP_OK);
  CHECK(leapp_step(pipeline) == LEAPP_OK);
  CHECK(leapp_name_map_read_double(out, targets, 3) == LEAPP_OK && targets[0] == 30);
  targets[0] = targets[1] = targets[2] = 0;
  CHECK(leapp_name_map_write_double(in, targets, 3) == LEAPP_OK);
  leapp_name_map_free(in);
  leapp_name_map_free(out);
  return leapp_reset(pipeline, LEAPP_RESET_ZEROS) != LEAPP_OK;
}

static int check_guards(leapp_pipeline* pipeline) {
  const double stand[] = {0, 0, 0};
  char text[200];
  leapp_guard_event event = LEAPP_INIT(leapp_guard_event);
  leapp_port v = LEAPP_INIT(leapp_port);
  CHECK(leapp_port_named(pipeline, LEAPP_INPUT, "policy/v", &v) == LEAPP_OK);
  CHECK(leapp_set_guards(pipeline, "{\"guards\": {\"policy/action\": {\"upper\": 2, \"per_step\": 1}}}") == LEAPP_OK);
  CHECK(leapp_set_last_good(pipeline, "policy/action", stand, 3) == LEAPP_OK);
  CHECK(leapp_set_last_good(pipeline, "policy/action", stand, 2) == LEAPP_INVALID_ARGUMENT);
  ((float*)v.data)[1] = 5;
  CHECK(leapp_step(pipeline) == LEAPP_OK);
  CHECK(leapp_guard_event_count(pipeline) == 2);
  CHECK(leapp_guard_event_at(pipeline, 1, &event) == LEAPP_OK);
  CHECK(event.cause == LEAPP_RATE && event.action == LEAPP_CLAMPED && event.element == 1 && event.became == 1);
  CHECK(strcmp(event.port, "policy/action") == 0);
  CHECK(leapp_guard_event_at(pipeline, 2, &event) == LEAPP_NOT_FOUND);
  CHECK(leapp_guard_event_text(pipeline, 0, text, sizeof text) == strlen(text));
  CHECK(strcmp(text, "policy/action[0,1] (knee): 5 is above 2: clamped to 2") == 0);
  CHECK(leapp_guard_event_text(pipeline, 0, text, 7) > 7 && strcmp(text, "policy") == 0);
  ((float*)v.data)[1] = NAN;
  CHECK(leapp_step(pipeline) == LEAPP_REFUSED && says("policy/action[0,1] (knee)"));
  leapp_forget_last_good(pipeline);
  ((float*)v.data)[1] = 0;
  CHECK(leapp_set_guards(pipeline, NULL) == LEAPP_OK && leapp_guard_event_count(pipeline) == 0);
  return leapp_set_guards_from_bundle(pipeline) != LEAPP_OK;
}

struct Counts {
  leapp_pipeline* pipeline;
  int calls;
  int failures;
};

static int32_t tick(void* user, leapp_tick* tick) {
  struct Counts* counts = (struct Counts*)user;
  tick->has_input_time = 1;
  tick->input_time = tick->woken;
  if (tick->woken < tick->deadline || leapp_step(counts->pipeline) != LEAPP_OK) ++counts->failures;
  return ++counts->calls < 5;
}

static int check_loop(leapp_pipeline* pipeline) {
  struct Counts counts = {NULL, 0, 0};
  leapp_loop_options options = LEAPP_INIT(leapp_loop_options);
  leapp_loop_summary summary = LEAPP_INIT(leapp_loop_summary);
  leapp_loop* loop = NULL;
  counts.pipeline = pipeline;
  CHECK(leapp_loop_make(NULL, NULL, &loop) == LEAPP_INVALID_ARGUMENT && says("frequency"));
  options.frequency = 2000;
  options.fifo_priority = 1000;
  CHECK(leapp_loop_make(NULL, &options, &loop) == LEAPP_INVALID_ARGUMENT && says("1000"));
  options.fifo_priority = 0;
  CHECK(leapp_loop_make(pipeline, &options, &loop) == LEAPP_OK);
  CHECK(leapp_loop_note(loop, 0) == NULL);
  CHECK(leapp_loop_run(loop, tick, &counts) == LEAPP_OK);
  CHECK(counts.calls == 5 && counts.failures == 0);
  CHECK(leapp_loop_read(loop, &summary) == LEAPP_OK);
  CHECK(summary.calls == 5 && summary.step.count == 5 && summary.input_age.count == 5 && summary.step.max > 0);
  leapp_loop_stop(loop);
  CHECK(leapp_loop_run(loop, tick, &counts) == LEAPP_OK && counts.calls == 5);
  leapp_loop_free(loop);
  return 0;
}

static int check_chunks(leapp_pipeline* pipeline) {
  const int64_t ms = 1000000;
  double robot[3];
  leapp_port port = LEAPP_INIT(leapp_port);
  leapp_port q = LEAPP_INIT(leapp_port);
  leapp_chunks* chunks = NULL;
  leapp_name_map* map = NULL;
  CHECK(leapp_chunks_make(pipeline, "policy/action", LEAPP_CHUNK_HOLD, 0, &chunks) == LEAPP_INVALID_ARGUMENT);
  CHECK(says("axis of moments"));
  CHECK(leapp_chunks_make(pipeline, "policy/chunk", 9, 0, &chunks) == LEAPP_INVALID_ARGUMENT && says("mode"));
  CHECK(leapp_chunks_make(pipeline, "policy/chunk", LEAPP_CHUNK_LINEAR, 0, &chunks) == LEAPP_OK);
  CHECK(leapp_chunks_play(chunks, 0) == LEAPP_CHUNK_EMPTY);
  CHECK(leapp_port_named(pipeline, LEAPP_INPUT, "policy/q", &q) == LEAPP_OK);
  ((float*)q.data)[0] = 4;
  CHECK(leapp_step(pipeline) == LEAPP_OK);
  leapp_chunks_take(chunks, 100 * ms);
  CHECK(leapp_chunks_play(chunks, 115 * ms) == LEAPP_CHUNK_PLAYING);
  CHECK(leapp_chunks_port(chunks, &port) == LEAPP_OK && port.rank == 2 && ((const float*)port.data)[0] == 6);
  CHECK(leapp_name_map_make_of_chunks(chunks, 1, kRobot, 3, NULL, &map) == LEAPP_OK);
  CHECK(leapp_name_map_read_double(map, robot, 3) == LEAPP_OK && robot[1] == 6);
  CHECK(leapp_chunks_play(chunks, 200 * ms) == LEAPP_CHUNK_ENDED);
  leapp_name_map_free(map);
  leapp_chunks_free(chunks);
  return 0;
}

static int check_recorder(leapp_pipeline* pipeline, const char* file) {
  leapp_recorder_options options = LEAPP_INIT(leapp_recorder_options);
  leapp_recorder_summary summary = LEAPP_INIT(leapp_recorder_summary);
  leapp_tick tick = LEAPP_INIT(leapp_tick);
  leapp_recorder* recorder = NULL;
  leapp_recorder* second = NULL;
  CHECK(leapp_recorder_make(pipeline, "/nowhere/run.mcap", NULL, &recorder) == LEAPP_IO && says("/nowhere/run.mcap"));
  CHECK(recorder == NULL && leapp_recorder_record(recorder, NULL) == 0);
  options.cpu_count = 1;
  CHECK(leapp_recorder_make(pipeline, file, &options, &recorder) == LEAPP_INVALID_ARGUMENT && says("cpus"));
  options.cpu_count = 0;
  options.chunk_bytes = 1000;
  CHECK(leapp_recorder_make(pipeline, file, &options, &recorder) == LEAPP_OK);
  CHECK(leapp_recorder_make(pipeline, file, &options, &second) == LEAPP_FAILED_PRECONDITION && second == NULL);
  CHECK(leapp_recorder_record(recorder, NULL) == 0);
  CHECK(leapp_step(pipeline) == LEAPP_OK && leapp_recorder_record(recorder, NULL) == 1);
  tick.has_input_time = 1;
  tick.input_time = 42;
  CHECK(leapp_step(pipeline) == LEAPP_OK && leapp_recorder_record(recorder, &tick) == 1);
  CHECK(leapp_recorder_status(recorder) == LEAPP_OK && leapp_recorder_close(recorder) == LEAPP_OK);
  CHECK(leapp_recorder_read(recorder, &summary) == LEAPP_OK);
  CHECK(summary.steps == 2 && summary.written == 2 && summary.dropped == 0 && summary.bytes > 1000);
  leapp_recorder_free(recorder);
  leapp_recorder_free(NULL);
  CHECK(leapp_recorder_make(pipeline, file, NULL, &recorder) == LEAPP_IO && says("exists"));
  return 0;
}

int use_leapp_in_c(const char* bundle, const char* recording) {
  leapp_pipeline* pipeline = NULL;
  leapp_load_options options = LEAPP_INIT(leapp_load_options);
  int failed = 0;
  if (leapp_abi_version() != LEAPP_ABI_VERSION || strlen(leapp_version()) == 0) return 1;
  options.engine = LEAPP_ENGINE_NATIVE;
  CHECK(leapp_load(bundle, &options, &pipeline) == LEAPP_OK);
  failed = check_ports(pipeline) || check_errors(pipeline) || check_steps(pipeline) || check_guards(pipeline) ||
           check_loop(pipeline) || check_chunks(pipeline) || check_recorder(pipeline, recording);
  leapp_free(pipeline);
  return failed;
}

static leapp_reload_report wait_for(const leapp_reloader* reloader) {
  leapp_reload_report report = LEAPP_INIT(leapp_reload_report);
  if (leapp_reloader_wait(reloader, INT64_C(60000000000), &report) != LEAPP_OK) report.state = -1;
  return report;
}

static int check_reloader(leapp_pipeline* pipeline, leapp_reloader* reloader, const char* other) {
  leapp_port port = LEAPP_INIT(leapp_port);
  leapp_port after = LEAPP_INIT(leapp_port);
  char text[16];
  uint64_t number = 0;
  CHECK(leapp_port_named(pipeline, LEAPP_INPUT, "policy/q", &port) == LEAPP_OK);
  CHECK(wait_for(reloader).state == LEAPP_RELOAD_IDLE);
  CHECK(leapp_reloader_swap(reloader, pipeline) == LEAPP_SWAP_NOTHING);
  CHECK(leapp_reloader_request(reloader, "/nowhere.yaml", NULL) == LEAPP_OK);
  CHECK(wait_for(reloader).state == LEAPP_RELOAD_FAILED && wait_for(reloader).status == LEAPP_IO);
  CHECK(leapp_reloader_reason(reloader, text, sizeof text) > sizeof text && strlen(text) == sizeof text - 1);
  CHECK(leapp_reloader_request(reloader, other, &number) == LEAPP_OK && number == 2);
  CHECK(wait_for(reloader).state == LEAPP_RELOAD_READY && wait_for(reloader).serial == 3);
  CHECK(leapp_step(pipeline) == LEAPP_OK);
  CHECK(leapp_reloader_swap(reloader, pipeline) == LEAPP_SWAPPED);
  CHECK(leapp_step(pipeline) == LEAPP_OK);
  CHECK(leapp_port_named(pipeline, LEAPP_INPUT, "policy/q", &after) == LEAPP_OK && after.data == port.data);
  CHECK(leapp_port_count(pipeline, LEAPP_FEEDBACK) == 1);
  CHECK(leapp_port_at(pipeline, LEAPP_FEEDBACK, 0, &port) == LEAPP_OK && strcmp(port.name, "policy/h_in") == 0);
  CHECK(leapp_reloader_swap(NULL, pipeline) == LEAPP_SWAP_NOTHING);
  return 0;
}

int swap_in_c(const char* bundle, const char* other, const char* folder) {
  char secret[512];
  char known[512];
  const char* keys[1];
  leapp_pipeline* pipeline = NULL;
  leapp_reloader* reloader = NULL;
  leapp_load_options load = LEAPP_INIT(leapp_load_options);
  leapp_reloader_options options = LEAPP_INIT(leapp_reloader_options);
  snprintf(secret, sizeof secret, "%s/private.pem", folder);
  snprintf(known, sizeof known, "%s/public.pem", folder);
  keys[0] = known;
  CHECK(leapp_keygen(secret, known) == LEAPP_OK);
  CHECK(leapp_keygen(secret, known) == LEAPP_IO && says("private.pem"));
  CHECK(leapp_verify(bundle, keys, 1, 0) == LEAPP_DATA_LOSS && says("no manifest"));
  CHECK(leapp_sign(bundle, known, 1) == LEAPP_INVALID_ARGUMENT && says("PUBLIC KEY"));
  CHECK(leapp_sign(bundle, secret, 1) == LEAPP_OK);
  CHECK(leapp_verify(bundle, keys, 1, 1) == LEAPP_OK);
  CHECK(leapp_verify(bundle, keys, 1, 2) == LEAPP_DATA_LOSS && says("serial 2 or later, found 1"));
  CHECK(leapp_verify(bundle, NULL, 1, 0) == LEAPP_INVALID_ARGUMENT);
  CHECK(leapp_sign(other, secret, 3) == LEAPP_OK);
  load.engine = LEAPP_ENGINE_NATIVE;
  load.trusted_keys = keys;
  load.trusted_key_count = 1;
  load.minimum_serial = 2;
  CHECK(leapp_load(bundle, &load, &pipeline) == LEAPP_DATA_LOSS && says("serial 2 or later, found 1"));
  load.minimum_serial = 0;
  CHECK(leapp_load(bundle, &load, &pipeline) == LEAPP_OK);
  options.load = &load;
  options.state = 7;
  CHECK(leapp_reloader_make(pipeline, &options, &reloader) == LEAPP_INVALID_ARGUMENT && says("state") && says("7"));
  options.state = LEAPP_STATE_KEEP;
  CHECK(leapp_reloader_make(pipeline, &options, &reloader) == LEAPP_OK);
  if (check_reloader(pipeline, reloader, other) != 0) return 1;
  leapp_reloader_free(reloader);
  leapp_reloader_free(NULL);
  leapp_free(pipeline);
  return 0;
}
