// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A plugin of another build: it sees a version that is not its own, and touches nothing (engine/plugin.h).

extern "C" __attribute__((visibility("default"))) void* leapp_open_engine(int version, const void* /*options*/,
                                                                          void* /*error*/) {
  static int engine = 0;
  return version == engine ? &engine : nullptr;
}
