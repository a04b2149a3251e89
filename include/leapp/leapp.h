/* SPDX-FileCopyrightText: The LEAPP authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * LEAPP's runtime for programs that are not C++, or were built with another compiler: C, Rust, MATLAB, ctypes,
 * plug-ins. C11; libleapp_runtime.so has all of it. What the functions do is said in include/leapp/runtime; here stands
 * what is different:
 *
 * - Functions that can fail return a leapp_status, LEAPP_OK (0) when they did not. leapp_error() then is the message,
 * of the last call on this thread that failed. No exception leaves these functions, and none may come in through a
 *   callback.
 * - Handles (leapp_pipeline, ...) are made by a function with _load or _make in its name and given back with _free,
 * which takes NULL too. What a handle was made from outlives it: free name maps, players, loops, recorders and
 * reloaders before their pipeline.
 * - Text that is returned belongs to the handle and stays until that is freed. Text that is given is read during the
 * call.
 * - Structs begin with their size, which whoever makes one sets (LEAPP_INIT does): newer versions add fields at the
 * end, and a program that was built with an older header goes on working.
 * - Times are nanoseconds of CLOCK_MONOTONIC.
 * - One thread at a time for a pipeline and for what was made of it; leapp_loop_stop and leapp_loop_read may be called
 *   from any.
 */
#ifndef LEAPP_LEAPP_H
#define LEAPP_LEAPP_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LEAPP_C __attribute__((visibility("default")))
#else
#define LEAPP_C
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header. It is raised when something that was there is changed; additions do not change it. */
#define LEAPP_ABI_VERSION 1

/* That of the library: use it only when it is LEAPP_ABI_VERSION. */
LEAPP_C uint32_t leapp_abi_version(void);
/* "0.1.0", the version of the library. */
LEAPP_C const char* leapp_version(void);

/* What a function that can fail returns: LEAPP_OK, or why it failed. */
typedef int32_t leapp_status;
enum {
  LEAPP_OK = 0,
  LEAPP_INVALID_ARGUMENT = 1,
  LEAPP_WRONG_TYPE = 2,
  LEAPP_FAILED_PRECONDITION = 3,
  LEAPP_NOT_FOUND = 4,
  LEAPP_IO = 5,
  LEAPP_DATA_LOSS = 6,
  LEAPP_UNIMPLEMENTED = 7,
  LEAPP_INTERNAL = 8,
  LEAPP_OUT_OF_MEMORY = 9,
  LEAPP_TIMED_OUT = 10,
  LEAPP_REFUSED = 100 /* a guard did not let a step happen; outputs and state are what they were */
};

/* Why the last call on this thread that failed did so; "" when none has. Stays until the next one fails. */
LEAPP_C const char* leapp_error(void);

/* leapp_load_options options = LEAPP_INIT(leapp_load_options); all other fields are zero, which is their default. */
#ifdef __cplusplus
#define LEAPP_INIT(type) \
  type { static_cast<uint32_t>(sizeof(type)) }
#else
#define LEAPP_INIT(type) \
  { .size = (uint32_t)sizeof(type) }
#endif

/* ---- Pipeline ---------------------------------------------------------------------------------------------------- */

/* A loaded bundle. */
typedef struct leapp_pipeline leapp_pipeline;

/* Which engine runs ONNX models. */
enum { LEAPP_ENGINE_AUTO = 0, LEAPP_ENGINE_NATIVE = 1, LEAPP_ENGINE_ONNXRUNTIME = 2 };

/* Options of leapp_load. */
typedef struct leapp_load_options {
  uint32_t size;
  int32_t engine;                  /* LEAPP_ENGINE_ */
  int32_t allow_outside;           /* 1: models may lie outside the bundle's folder */
  int32_t skip_checksums;          /* 1: do not compare them */
  int32_t no_fusion;               /* 1: a model for each node */
  int32_t threads;                 /* of ONNX Runtime within an operator; 0: one */
  const char* onnxruntime_library; /* file or folder; NULL: looked for */
  const char* const* trusted_keys; /* PEM texts, or paths of files: only what one of them has signed is loaded */
  size_t trusted_key_count;        /* 0: nobody has to have signed it */
  uint64_t minimum_serial;         /* with trusted keys: refuse what was signed with an earlier one */
  /* For bundles of strangers (SECURITY.md): */
  uint64_t memory_limit;      /* bytes that it may ask for; 0: a quarter of the machine's memory */
  uint64_t timeout_ns;        /* of loading, and of each step of an ONNX model (LEAPP_TIMED_OUT); 0: any time */
  int32_t refuse_torchscript; /* 1: models that are programs are not loaded */
} leapp_load_options;

/* `bundle` is its YAML file or its folder; `options` may be NULL. */
LEAPP_C leapp_status leapp_load(const char* bundle, const leapp_load_options* options, leapp_pipeline** pipeline);
LEAPP_C void leapp_free(leapp_pipeline* pipeline);

/* Runs every node once. LEAPP_REFUSED when a guard did not allow it. Allocates only when it fails. */
LEAPP_C leapp_status leapp_step(leapp_pipeline* pipeline);

/* LEAPP_RESET_FIRST_FRAME: the next step fills histories with what it reads first; LEAPP_FAILED_PRECONDITION when there
 * is state and none of it is known to be a history. */
enum { LEAPP_RESET_EXPORTED = 0, LEAPP_RESET_ZEROS = 1, LEAPP_RESET_FIRST_FRAME = 2 };
LEAPP_C leapp_status leapp_reset(leapp_pipeline* pipeline, int32_t mode);

/* How often the bundle is meant to step, in Hz; 0 when it does not say. */
LEAPP_C double leapp_frequency(const leapp_pipeline* pipeline);

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

/* What a port is to the caller. */
enum { LEAPP_INPUT = 0, LEAPP_OUTPUT = 1, LEAPP_FEEDBACK = 2 };

/* Types of elements. */
enum {
  LEAPP_FLOAT16 = 0,
  LEAPP_FLOAT32 = 1,
  LEAPP_FLOAT64 = 2,
  LEAPP_BFLOAT16 = 3,
  LEAPP_INT8 = 4,
  LEAPP_INT16 = 5,
  LEAPP_INT32 = 6,
  LEAPP_INT64 = 7,
  LEAPP_UINT8 = 8,
  LEAPP_BOOL = 9
};

/* A port of a pipeline, and all that the bundle says of it. */
typedef struct leapp_port {
  uint32_t size;
  int32_t role;     /* LEAPP_INPUT, LEAPP_OUTPUT or LEAPP_FEEDBACK */
  const char* name; /* "node/port" */
  const char* node;
  const char* kind;      /* NULL: none */
  int32_t dtype;         /* LEAPP_FLOAT32, ... */
  int32_t temporal_axis; /* the axis of moments; -1: none */
  double temporal_period_ms;
  double frequency; /* of the bundle, in Hz; 0: not given */
  const int64_t* shape;
  size_t rank;
  size_t elements;
  size_t bytes;
  void* data; /* stays in place; NULL for LEAPP_FEEDBACK, see leapp_feedback */
} leapp_port;

/* How many ports there are of that role. */
LEAPP_C size_t leapp_port_count(const leapp_pipeline* pipeline, int32_t role);
/* By their order in the bundle, by name, by kind. `port` has its size set. */
LEAPP_C leapp_status leapp_port_at(const leapp_pipeline* pipeline, int32_t role, size_t index, leapp_port* port);
LEAPP_C leapp_status leapp_port_named(const leapp_pipeline* pipeline, int32_t role, const char* name, leapp_port* port);
LEAPP_C leapp_status leapp_port_of_kind(const leapp_pipeline* pipeline, int32_t role, const char* kind,
                                        leapp_port* port);
/* The name of one place along an axis; NULL when it has none or does not exist. */
LEAPP_C const char* leapp_element_name(const leapp_pipeline* pipeline, int32_t role, const char* name, size_t axis,
                                       size_t place);
/* What a feedback input will read in the next step; may be written (a history after LEAPP_RESET_FIRST_FRAME: the step
 * writes over it). In place until the next step or reset. */
LEAPP_C leapp_status leapp_feedback(leapp_pipeline* pipeline, const char* name, void** data, size_t* bytes);

/* ---- Order by name ----------------------------------------------------------------------------------------------- */

/* Matches the names along one axis of a port with the robot's. leapp_chunks plays action chunks. */
typedef struct leapp_name_map leapp_name_map;
typedef struct leapp_chunks leapp_chunks;

/* In the port = sign * scale * in the robot + offset. Each is NULL or has a number for each of the robot's names. */
typedef struct leapp_conversion {
  uint32_t size;
  const double* scale;
  const double* offset;
  const double* sign;
} leapp_conversion;

/* `axis` may count from the end (-1). `conversion` may be NULL. */
LEAPP_C leapp_status leapp_name_map_make(leapp_pipeline* pipeline, int32_t role, const char* port, int32_t axis,
                                         const char* const* robot_names, size_t count,
                                         const leapp_conversion* conversion, leapp_name_map** map);
/* Of what a player plays. */
LEAPP_C leapp_status leapp_name_map_make_of_chunks(leapp_chunks* chunks, int32_t axis, const char* const* robot_names,
                                                   size_t count, const leapp_conversion* conversion,
                                                   leapp_name_map** map);
LEAPP_C void leapp_name_map_free(leapp_name_map* map);
LEAPP_C size_t leapp_name_map_size(const leapp_name_map* map);
/* `count` has to be leapp_name_map_size. They allocate only when they fail. */
LEAPP_C leapp_status leapp_name_map_write_float(leapp_name_map* map, const float* robot, size_t count);
LEAPP_C leapp_status leapp_name_map_write_double(leapp_name_map* map, const double* robot, size_t count);
LEAPP_C leapp_status leapp_name_map_read_float(const leapp_name_map* map, float* robot, size_t count);
LEAPP_C leapp_status leapp_name_map_read_double(const leapp_name_map* map, double* robot, size_t count);

/* ---- Guards ------------------------------------------------------------------------------------------------------ */

/* From YAML or JSON text, from a file of it, or from the bundle's semantics; NULL or "" as text: none. */
LEAPP_C leapp_status leapp_set_guards(leapp_pipeline* pipeline, const char* text);
LEAPP_C leapp_status leapp_set_guards_from_file(leapp_pipeline* pipeline, const char* file);
LEAPP_C leapp_status leapp_set_guards_from_bundle(leapp_pipeline* pipeline);

/* What a guard did, and why. */
enum { LEAPP_PASSED = 0, LEAPP_CLAMPED = 1, LEAPP_HELD = 2, LEAPP_FAILED = 3 };
enum { LEAPP_NON_FINITE = 0, LEAPP_BELOW = 1, LEAPP_ABOVE = 2, LEAPP_RATE = 3 };

/* One element that a guard acted on in the last step. */
typedef struct leapp_guard_event {
  uint32_t size;
  int32_t cause;    /* LEAPP_NON_FINITE, ... */
  int32_t action;   /* LEAPP_PASSED, ... */
  uint32_t element; /* by its place in memory */
  const char* port; /* "node/port"; stays until the guards are replaced */
  double found;
  double limit;
  double became;
} leapp_guard_event;

/* Of the last step: how many there were, and the first 64 of them. */
LEAPP_C size_t leapp_guard_event_count(const leapp_pipeline* pipeline);
LEAPP_C leapp_status leapp_guard_event_at(const leapp_pipeline* pipeline, size_t index, leapp_guard_event* event);
/* A sentence about it into `text`, with a zero at its end and cut off at `room` bytes. Returns the length of all of it.
 */
LEAPP_C size_t leapp_guard_event_text(const leapp_pipeline* pipeline, size_t index, char* text, size_t room);
/* Where the robot stands, for the rates of the first step. */
LEAPP_C leapp_status leapp_set_last_good(leapp_pipeline* pipeline, const char* port, const double* values,
                                         size_t count);
LEAPP_C void leapp_forget_last_good(leapp_pipeline* pipeline);

/* ---- Signed bundles ---------------------------------------------------------------------------------------------- */

/* A new pair of keys in two files that must not exist; the private one is for its owner's eyes only. */
LEAPP_C leapp_status leapp_keygen(const char* private_file, const char* public_file);
/* Writes the bundle's manifest. A key is a PEM text, or the path of a file that has one. */
LEAPP_C leapp_status leapp_sign(const char* bundle, const char* private_key, uint64_t serial);
/* LEAPP_OK when one of the keys has signed the bundle as it is. */
LEAPP_C leapp_status leapp_verify(const char* bundle, const char* const* trusted_keys, size_t count,
                                  uint64_t minimum_serial);

/* ---- Another bundle while it runs -------------------------------------------------------------------------------- */

/* For one pipeline, which outlives it. All but leapp_reloader_swap and leapp_reloader_free may be called from any
 * thread. After a swap, memory of inputs and outputs, name maps, players and guards are what they were; ports of state
 * are the new bundle's. */
typedef struct leapp_reloader leapp_reloader;

/* What becomes of the state when a bundle is swapped. */
enum { LEAPP_STATE_RESET = 0, LEAPP_STATE_KEEP_IF_SAME = 1, LEAPP_STATE_KEEP = 2 };

/* Options of leapp_reloader_make. */
typedef struct leapp_reloader_options {
  uint32_t size;
  int32_t state;                  /* LEAPP_STATE_: what state holds after a swap */
  int32_t reset;                  /* LEAPP_RESET_: the same where it is not kept */
  int32_t poll_ms;                /* how often `watch` is looked at; 0: 500 */
  const leapp_load_options* load; /* how bundles are loaded, whom they have to be signed by; NULL: the defaults */
  const char* watch;              /* a bundle that is loaded whenever it changes; NULL: none */
  const int32_t* cpus;            /* the loading thread runs on these only */
  size_t cpu_count;               /* 0: on those of the thread that makes it */
} leapp_reloader_options;

/* How far a requested bundle is. */
enum {
  LEAPP_RELOAD_IDLE = 0,    /* nothing was requested yet */
  LEAPP_RELOAD_LOADING = 1, /* or waiting to be */
  LEAPP_RELOAD_READY = 2,   /* the next leapp_reloader_swap takes it */
  LEAPP_RELOAD_SWAPPED = 3, /* it runs */
  LEAPP_RELOAD_FAILED = 4   /* what ran before runs on */
};

/* How the newest request goes. */
typedef struct leapp_reload_report {
  uint32_t size;
  int32_t state;       /* LEAPP_RELOAD_ */
  uint64_t number;     /* of the request */
  leapp_status status; /* why it failed; leapp_reloader_reason has the message */
  int32_t state_kept;  /* 1: once it is swapped */
  uint64_t serial;     /* that it was signed with */
} leapp_reload_report;

/* Makes a reloader for that pipeline, and frees it. */
LEAPP_C leapp_status leapp_reloader_make(leapp_pipeline* pipeline, const leapp_reloader_options* options,
                                         leapp_reloader** reloader);
LEAPP_C void leapp_reloader_free(leapp_reloader* reloader);
/* Loads it next; what was requested before and is not swapped in never will be. `number` may be NULL. */
LEAPP_C leapp_status leapp_reloader_request(leapp_reloader* reloader, const char* bundle, uint64_t* number);
enum { LEAPP_SWAP_NOTHING = 0, LEAPP_SWAPPED = 1, LEAPP_SWAP_REFUSED = 2 };
/* Between two steps, by the thread that steps: LEAPP_SWAPPED when the next one is the new bundle's. Allocates nothing
 * and waits for nothing. */
LEAPP_C int32_t leapp_reloader_swap(leapp_reloader* reloader, leapp_pipeline* pipeline);
/* Waits at most so many nanoseconds, which may be 0, until the newest request is loaded or has failed. */
LEAPP_C leapp_status leapp_reloader_wait(const leapp_reloader* reloader, int64_t longest, leapp_reload_report* report);
/* Why the newest request failed, into `text`, as leapp_guard_event_text does. */
LEAPP_C size_t leapp_reloader_reason(const leapp_reloader* reloader, char* text, size_t room);

/* ---- Loop -------------------------------------------------------------------------------------------------------- */

/* Calls a function at a fixed rate. */
typedef struct leapp_loop leapp_loop;

/* Options of leapp_loop_make. */
typedef struct leapp_loop_options {
  uint32_t size;
  int32_t stop_at_overrun; /* 1: an overrun ends the loop; 0: missed periods are skipped */
  double frequency;        /* in Hz; 0: the bundle's */
  const int32_t* cpus;     /* the calling thread runs on these only */
  size_t cpu_count;        /* 0: as it was */
  int32_t fifo_priority;   /* 1 to 99; 0: as it was */
  int32_t lock_memory;     /* 1: mlockall */
  int32_t required;        /* 1: what the system refuses is an error, else a note */
} leapp_loop_options;

/* What a loop's callback is told about the call. */
typedef struct leapp_tick {
  uint32_t size;
  int32_t has_input_time; /* set it to 1, and the next, when the inputs were measured at a known time */
  int64_t input_time;
  uint64_t number;
  uint64_t period;
  int64_t deadline;
  int64_t woken;
} leapp_tick;

/* A distribution of durations, in nanoseconds. */
typedef struct leapp_durations {
  uint64_t count;
  double mean; /* nanoseconds, as the others */
  int64_t p50;
  int64_t p99;
  int64_t p999;
  int64_t max;
} leapp_durations;

/* Statistics of a loop. */
typedef struct leapp_loop_summary {
  uint32_t size;
  uint64_t calls;
  uint64_t overruns;
  uint64_t skipped;
  leapp_durations step;
  leapp_durations lateness;
  leapp_durations input_age;
} leapp_loop_summary;

/* `pipeline` may be NULL when the options have a frequency, `options` when the bundle has one. */
LEAPP_C leapp_status leapp_loop_make(const leapp_pipeline* pipeline, const leapp_loop_options* options,
                                     leapp_loop** loop);
LEAPP_C void leapp_loop_free(leapp_loop* loop);
/* Calls back until that returns 0, or leapp_loop_stop. */
LEAPP_C leapp_status leapp_loop_run(leapp_loop* loop, int32_t (*call)(void* user, leapp_tick* tick), void* user);
LEAPP_C void leapp_loop_stop(leapp_loop* loop);
/* What the system refused, one sentence each; NULL after the last. */
LEAPP_C const char* leapp_loop_note(const leapp_loop* loop, size_t index);
/* Of any thread, while it runs. */
LEAPP_C leapp_status leapp_loop_read(const leapp_loop* loop, leapp_loop_summary* summary);

/* ---- Action chunks ----------------------------------------------------------------------------------------------- */

/* How values between two rows of a chunk are made, and where in it a time lies. */
enum { LEAPP_CHUNK_HOLD = 0, LEAPP_CHUNK_LINEAR = 1, LEAPP_CHUNK_BLEND = 2 };
enum { LEAPP_CHUNK_PLAYING = 0, LEAPP_CHUNK_BEFORE = 1, LEAPP_CHUNK_ENDED = 2, LEAPP_CHUNK_EMPTY = 3 };

/* Makes a player for that output, and frees it. */
LEAPP_C leapp_status leapp_chunks_make(leapp_pipeline* pipeline, const char* output, int32_t mode, double overlap_ms,
                                       leapp_chunks** chunks);
LEAPP_C void leapp_chunks_free(leapp_chunks* chunks);
/* The output's value of now is the newest chunk, its first row is for `start`. */
LEAPP_C void leapp_chunks_take(leapp_chunks* chunks, int64_t start);
/* What is due at `time`, into the memory of leapp_chunks_port: LEAPP_CHUNK_PLAYING, ... */
LEAPP_C int32_t leapp_chunks_play(leapp_chunks* chunks, int64_t time);
/* One moment: the output without its axis of moments. */
LEAPP_C leapp_status leapp_chunks_port(const leapp_chunks* chunks, leapp_port* port);

/* ---- Recorder ---------------------------------------------------------------------------------------------------- */

/* Writes every step to a file. */
typedef struct leapp_recorder leapp_recorder;

/* Options of leapp_recorder_make. */
typedef struct leapp_recorder_options {
  uint32_t size;
  int32_t overwrite;         /* 1: a file that is there is replaced, else it is an error */
  uint64_t ring_bytes;       /* of the memory between steps and file; 0: 4 MiB */
  uint64_t chunk_bytes;      /* a chunk is written when it is so large; 0: 1 MiB */
  int64_t flush_interval_ms; /* or when its first step is so old; 0: 500 */
  int32_t sync;              /* 1: each chunk is forced to disk */
  const int32_t* cpus;       /* the cores of the thread that writes */
  size_t cpu_count;          /* 0: any */
} leapp_recorder_options;

/* In the end steps = written + dropped. */
typedef struct leapp_recorder_summary {
  uint32_t size;
  uint64_t steps;
  uint64_t written;
  uint64_t dropped;
  uint64_t bytes; /* of the file */
} leapp_recorder_summary;

/* `file` is an MCAP file that is made; `options` may be NULL. */
LEAPP_C leapp_status leapp_recorder_make(leapp_pipeline* pipeline, const char* file,
                                         const leapp_recorder_options* options, leapp_recorder** recorder);
/* Closes it, too. */
LEAPP_C void leapp_recorder_free(leapp_recorder* recorder);
/* After leapp_step, on the same thread: 1 when the step was taken down, 0 when it was dropped or there was none. Never
 * waits, never allocates. `tick` may be NULL. */
LEAPP_C int32_t leapp_recorder_record(leapp_recorder* recorder, const leapp_tick* tick);
/* Of any thread. */
LEAPP_C leapp_status leapp_recorder_read(const leapp_recorder* recorder, leapp_recorder_summary* summary);
/* LEAPP_OK while it goes on; else why recording has stopped. Of any thread. */
LEAPP_C leapp_status leapp_recorder_status(const leapp_recorder* recorder);
/* Writes what is left and the index that viewers use. */
LEAPP_C leapp_status leapp_recorder_close(leapp_recorder* recorder);

#ifdef __cplusplus
}
#endif

#endif /* LEAPP_LEAPP_H */
