// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <vector>

#include "leapp/base/status.h"

namespace leapp::faults {

/// Two nodes, one of which has state that it announces and state that it does not, called three times.
class CapturedProgram {
 public:
  /// `stubborn`: goes on after errors.
  CapturedProgram(std::filesystem::path folder, bool stubborn);

  /// From start() to stop(). Throws nothing.
  void run();
  Status compile();

  /// Without a session there is nothing to be stubborn about.
  [[nodiscard]] bool started() const { return started_; }
  /// The first error of start(), an annotation or stop().
  [[nodiscard]] const Status& error() const { return error_; }
  /// What a function of LEAPP threw, none of which throws.
  [[nodiscard]] const std::string& exception() const { return exception_; }
  /// An operator of torch, or the program itself, had no memory. What came before counts.
  [[nodiscard]] bool operator_threw() const { return operator_threw_; }
  /// Whether it computed what it computes without LEAPP, as far as it came.
  [[nodiscard]] bool as_eager() const;

  /// Whether the bundle in `folder` computes that, on LEAPP's own engine.
  static bool runs_as_eager(const std::filesystem::path& folder);

 private:
  struct Tensors;

  void attempt(void (CapturedProgram::*part)());
  void start();
  void passes();
  void stop();
  at::Tensor pass(Tensors& tensors, int number);
  at::Tensor policy(Tensors& tensors, const at::Tensor& f);
  template <typename Call>
  auto ours(const Call& call);
  void note(const Status& status);
  template <typename Results>
  at::Tensor first(const at::Tensor& given, const Results& results);

  std::filesystem::path folder_;
  bool stubborn_;
  std::vector<at::Tensor> eager_;
  std::vector<at::Tensor> results_;
  Status error_;
  std::string exception_;
  bool started_ = false;
  bool in_leapp_ = false;
  bool operator_threw_ = false;
};

}  // namespace leapp::faults
