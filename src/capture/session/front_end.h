// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What LEAPP asks the language that the program is written in.
//
// start() gives the front end of the process to its session. The one below is that of a C++ program, which knows
// little; the Python module has one that looks at frames, attributes and modules.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/hook/source_location.h"

namespace at {
class Tensor;
}
namespace leapp::exporter {
struct PytorchExporters;
}

namespace leapp::capture {

/// Who has a tensor when nothing of the pipeline runs.
struct Holder {
  enum class Kind : std::uint8_t { kUnknown, kNobody, kVariable, kAttribute };
  Kind kind = Kind::kUnknown;  ///< kUnknown: the front end cannot tell
  std::string name;
};

/// Every function may be called from any thread, without any lock of ours held, and throws nothing but std::bad_alloc.
class FrontEnd {
 public:
  FrontEnd() = default;
  virtual ~FrontEnd() = default;
  FrontEnd(const FrontEnd&) = delete;
  FrontEnd& operator=(const FrontEnd&) = delete;

  /// Where the calling thread's user code stands. Must not take any lock of ours.
  [[nodiscard]] virtual LocationId location();

  /// Gives names (leapp::name_tensor) to the parameters of the module that is being called, if it has not done so
  /// before; false: nothing is new.
  virtual bool name_parameters();

  /// Whether the number that the running code is about to read from a tensor is only looked at by checks of a library,
  /// which raise and select no computation.
  [[nodiscard]] virtual bool is_only_checked();

  /// The name of the variable or attribute that holds `tensor`, or nothing.
  [[nodiscard]] virtual std::string holder_name(const at::Tensor& tensor);

  /// Of each of `tensors`.
  [[nodiscard]] virtual std::vector<Holder> holders(const std::vector<at::Tensor>& tensors);

  /// Whether the user wants to stop (Ctrl-C). Asked between samples and between nodes of an export. Once it said yes it
  /// goes on saying so until the call that asked has returned.
  [[nodiscard]] virtual bool interrupted();

  /// The way to PyTorch's own exporters; null: there is none.
  [[nodiscard]] virtual const exporter::PytorchExporters* pytorch_exporters();

  /// Lines 1 to `line` of the user's program; none where there are fewer or the file cannot be read.
  [[nodiscard]] virtual std::vector<std::string> source_until(const std::string& file, int line);
};

/// The front end of this process, never null: that of a C++ program until another is set. Thread-safe.
std::shared_ptr<FrontEnd> front_end();
/// Called once by a language's module. Null: that of a C++ program.
void set_front_end(std::shared_ptr<FrontEnd> front_end);

}  // namespace leapp::capture
