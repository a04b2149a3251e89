// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whose code a process died in, after a call was made to fail in it (faults.h).
namespace leapp::faults {

/// What a process that dies exits with.
struct DeathCodes {
  int ours;
  /// Both who made the call that failed and who ended the process are functions of a library of others (ONNX Runtime,
  /// libtorch, what draws and finds fonts), nearest to the end apart from the C and C++ libraries: nothing of ours
  /// could have caught anything.
  int elsewhere;
};

/// From here on a signal that ends this process writes both stacks to stderr, one line, and exits with a code.
/// `request`: named in the line. One that hangs for `seconds` is ended so too, and is ours.
void explain_deaths(long request, DeathCodes codes, unsigned seconds);

}  // namespace leapp::faults
