/* SPDX-FileCopyrightText: The LEAPP authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A program that returns from main() while its threads step, record, load and watch: ends BUNDLE RECORDING. */
#include <leapp/leapp.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static leapp_pipeline* pipeline;
static leapp_recorder* recorder;
static leapp_load_options load = LEAPP_INIT(leapp_load_options);

static void* step(void* unused) {
  for (;;) {
    if (leapp_step(pipeline) != LEAPP_OK) break;
    (void)leapp_recorder_record(recorder, NULL);
  }
  return unused;
}

static void* load_again(void* bundle) {
  for (;;) {
    leapp_pipeline* other = NULL;
    if (leapp_load(bundle, &load, &other) != LEAPP_OK) break;
    leapp_free(other);
  }
  return NULL;
}

int main(int count, char** arguments) {
  const struct timespec soon = {0, 20000000};
  leapp_recorder_options record = LEAPP_INIT(leapp_recorder_options);
  leapp_reloader_options watch = LEAPP_INIT(leapp_reloader_options);
  leapp_reloader* reloader = NULL;
  pthread_t thread;
  if (count != 3) return 2;
  load.engine = LEAPP_ENGINE_NATIVE;
  load.timeout_ns = 1000000000;
  record.overwrite = 1;
  watch.load = &load;
  watch.watch = arguments[1];
  watch.poll_ms = 1;
  if (leapp_load(arguments[1], &load, &pipeline) || leapp_recorder_make(pipeline, arguments[2], &record, &recorder) ||
      leapp_reloader_make(pipeline, &watch, &reloader)) {
    return fprintf(stderr, "%s\n", leapp_error()), 1;
  }
  if (pthread_create(&thread, NULL, step, NULL) || pthread_create(&thread, NULL, load_again, arguments[1])) return 3;
  return nanosleep(&soon, NULL);
}
