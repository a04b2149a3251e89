// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// libleapp_faults.so, preloaded (LD_PRELOAD), counts the calls by which a process asks for memory and changes files,
// and makes one of them fail, or kills the process there. Three ways to use it:
//   - a program that is linked with nothing of this: `LEAPP_FAULTS="calls=alloc at=17 do=fail" LD_PRELOAD=... program`
//   - C++: these functions, declared weak, so that a program tells whether the library is there
//   - Python: tests/faults/faults.py
// A preloaded library that is not armed only looks at one number per call.
#pragma once

extern "C" {

/// What to do at which call. Strings are copied.
struct leapp_faults_plan {
  /// Names with commas between: alloc open write rename link unlink mkdir sync stat list lock mode read (to
  /// open for reading) bytes (to read) map, or `files` for all that change something on disk, `all`. Null or empty:
  /// files.
  const char* calls;
  /// Only calls on files at or below this absolute path, or beside it with a name that begins as its last part does
  /// (`/tmp/a/.` is everything in /tmp/a with a dot in front). Null or empty: all. Means nothing to `alloc`.
  const char* under;
  long at;               ///< the first call to act on, counted from 1; 0: count only
  int kill;              ///< 0: the call fails; 1: the process is killed (SIGKILL) there, half a write done
  int error;             ///< errno of the failure; 0: what is usual for the call (ENOMEM, ENOSPC, EIO, ...)
  int stays;             ///< 0: only that call fails; 1: it and all later ones, as on a disk that is full
  int this_thread_only;  ///< 1: other threads' calls are neither counted nor harmed
  int tear;              ///< 1: half of the call is done, and it says so: a short write, a short read
};

/// Starts to count from 0. Returns 0, or -1 for a plan that cannot be read.
__attribute__((weak)) int leapp_faults_arm(const leapp_faults_plan* plan);
/// Stops. Returns the calls counted since arm().
__attribute__((weak)) long leapp_faults_disarm();
/// Calls that were made to fail since arm().
__attribute__((weak)) long leapp_faults_hits();
/// "write /tmp/x/g.yaml": the first call that was made to fail since arm(); "" when none was.
__attribute__((weak)) const char* leapp_faults_hit();
/// Who made that call, innermost first: at most `most` return addresses. Returns how many.
__attribute__((weak)) int leapp_faults_hit_stack(void** frames, int most);
/// The same of the caller, now. Needs no memory, so a signal handler may ask.
__attribute__((weak)) int leapp_faults_stack(void** frames, int most);
}
