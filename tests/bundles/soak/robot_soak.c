/* SPDX-FileCopyrightText: The LEAPP authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A robot that runs for days, without its waiting: names, guards, a recorder and a loop around each step.
 *
 *   robot_soak BUNDLE STEPS RECORDING
 *
 * Prints a line of JSON: kB of memory that were added after the first tenth, how many results were compared with those
 * of a pipeline that was loaded afresh, what the loop and the recorder have counted, and seconds of CPU. */
#include <leapp/leapp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JOINTS 3
#define STEPS_IN_A_CALL 200 /* a loop sleeps between two calls, be it for a microsecond */

static const char* const kNames[JOINTS] = {"ankle", "hip", "knee"};

struct Soak {
  leapp_pipeline* pipeline;
  leapp_pipeline* fresh;
  leapp_name_map* positions;
  leapp_name_map* targets;
  leapp_recorder* recorder;
  uint64_t steps;
  long resident; /* after the first tenth */
  uint64_t compared;
  uint64_t guarded;
  int wrong;
};

static long resident(void) {
  char line[256];
  long found = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "VmRSS:", 6) == 0) found = atol(line + 6);
  }
  if (file != NULL) fclose(file);
  return found;
}

/* The next step of a pipeline that was loaded afresh, from the same state and inputs, gives the same bits. */
static int compare(struct Soak* soak) {
  leapp_port from = LEAPP_INIT(leapp_port);
  leapp_port to = LEAPP_INIT(leapp_port);
  size_t i;
  for (i = 0; i < leapp_port_count(soak->pipeline, LEAPP_FEEDBACK); ++i) {
    void* here = NULL;
    void* there = NULL;
    if (leapp_port_at(soak->pipeline, LEAPP_FEEDBACK, i, &from) != LEAPP_OK ||
        leapp_feedback(soak->pipeline, from.name, &here, NULL) != LEAPP_OK ||
        leapp_feedback(soak->fresh, from.name, &there, NULL) != LEAPP_OK) {
      return 0;
    }
    memcpy(there, here, from.bytes);
  }
  if (leapp_port_at(soak->pipeline, LEAPP_INPUT, 0, &from) != LEAPP_OK ||
      leapp_port_at(soak->fresh, LEAPP_INPUT, 0, &to) != LEAPP_OK) {
    return 0;
  }
  memcpy(to.data, from.data, from.bytes);
  if (leapp_step(soak->pipeline) != LEAPP_OK || leapp_step(soak->fresh) != LEAPP_OK) return 0;
  (void)leapp_recorder_record(soak->recorder, NULL);
  if (leapp_port_at(soak->pipeline, LEAPP_OUTPUT, 0, &from) != LEAPP_OK ||
      leapp_port_at(soak->fresh, LEAPP_OUTPUT, 0, &to) != LEAPP_OK) {
    return 0;
  }
  return memcmp(from.data, to.data, from.bytes) == 0;
}

static void step(struct Soak* soak, leapp_tick* tick, uint64_t number) {
  double q[JOINTS];
  float target[JOINTS];
  const double place = (double)(number % 1000) / 500 - 1;
  q[0] = place;
  q[1] = -place;
  q[2] = place * place;
  soak->wrong = leapp_name_map_write_double(soak->positions, q, JOINTS) != LEAPP_OK ||
                leapp_step(soak->pipeline) != LEAPP_OK ||
                leapp_name_map_read_float(soak->targets, target, JOINTS) != LEAPP_OK;
  if (soak->wrong) return;
  (void)leapp_recorder_record(soak->recorder, tick);
  soak->guarded += leapp_guard_event_count(soak->pipeline);
  if (number % 10007 == 0 && leapp_reset(soak->pipeline, LEAPP_RESET_EXPORTED) != LEAPP_OK) soak->wrong = 1;
  if (number % (soak->steps / 100) == 0) {
    soak->wrong = soak->wrong || !compare(soak);
    ++soak->compared;
  }
  if (number == soak->steps / 10) soak->resident = resident();
}

static int32_t steps(void* user, leapp_tick* tick) {
  struct Soak* soak = user;
  const uint64_t first = tick->number * STEPS_IN_A_CALL;
  uint64_t i;
  tick->input_time = tick->woken;
  tick->has_input_time = 1;
  for (i = 0; i < STEPS_IN_A_CALL && !soak->wrong; ++i) step(soak, tick, first + i);
  return !soak->wrong && first + STEPS_IN_A_CALL < soak->steps;
}

int main(int count, char** arguments) {
  struct Soak soak;
  leapp_load_options load = LEAPP_INIT(leapp_load_options);
  leapp_loop_options fast = LEAPP_INIT(leapp_loop_options);
  leapp_recorder_options often = LEAPP_INIT(leapp_recorder_options);
  leapp_loop_summary loops = LEAPP_INIT(leapp_loop_summary);
  leapp_recorder_summary recorded = LEAPP_INIT(leapp_recorder_summary);
  leapp_loop* loop = NULL;
  memset(&soak, 0, sizeof soak);
  if (count != 4) return 2;
  soak.steps = strtoull(arguments[2], NULL, 10);
  load.engine = LEAPP_ENGINE_NATIVE;
  load.timeout_ns = 60000000000;
  fast.frequency = 1e6; /* more than it can do */
  often.overwrite = 1;
  if (leapp_load(arguments[1], &load, &soak.pipeline) || leapp_load(arguments[1], &load, &soak.fresh) ||
      leapp_set_guards_from_file(soak.pipeline, "guards.yaml") || leapp_set_guards_from_file(soak.fresh, "guards.yaml") ||
      leapp_name_map_make(soak.pipeline, LEAPP_INPUT, "policy/q", -1, kNames, JOINTS, NULL, &soak.positions) ||
      leapp_name_map_make(soak.pipeline, LEAPP_OUTPUT, "policy/target", -1, kNames, JOINTS, NULL, &soak.targets) ||
      leapp_recorder_make(soak.pipeline, arguments[3], &often, &soak.recorder) ||
      leapp_loop_make(soak.pipeline, &fast, &loop) || leapp_loop_run(loop, steps, &soak) || soak.wrong ||
      leapp_loop_read(loop, &loops) || leapp_recorder_close(soak.recorder) ||
      leapp_recorder_read(soak.recorder, &recorded)) {
    return fprintf(stderr, "%s\n", leapp_error()), 1;
  }
  printf("{\"growth\": %ld, \"compared\": %lu, \"calls\": %lu, \"guarded\": %lu, \"steps\": %lu, \"written\": %lu, "
         "\"dropped\": %lu, \"cpu\": %.1f}\n",
         resident() - soak.resident, (unsigned long)soak.compared, (unsigned long)loops.calls,
         (unsigned long)soak.guarded, (unsigned long)recorded.steps, (unsigned long)recorded.written,
         (unsigned long)recorded.dropped, (double)clock() / CLOCKS_PER_SEC);
  leapp_loop_free(loop);
  leapp_recorder_free(soak.recorder);
  leapp_name_map_free(soak.positions);
  leapp_name_map_free(soak.targets);
  leapp_free(soak.pipeline);
  leapp_free(soak.fresh);
  return 0;
}
