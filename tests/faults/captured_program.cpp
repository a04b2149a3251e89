// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "captured_program.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

#include "leapp/capture.h"
#include "leapp/runtime/pipeline.h"

namespace leapp::faults {
namespace {

constexpr int kPasses = 3;

/// The program has met an error, and is not stubborn.
struct GivenUp {};

at::Tensor observation(int pass) { return at::full({1, 3}, 0.25 * (pass + 1)); }

}  // namespace

struct CapturedProgram::Tensors {
  at::Tensor weight = at::arange(12, at::kFloat).div(10).reshape({4, 3});
  at::Tensor state = at::zeros({1, 4});
  at::Tensor memory = at::ones({1, 4});
};

CapturedProgram::CapturedProgram(std::filesystem::path folder, bool stubborn)
    : folder_(std::move(folder)), stubborn_(stubborn) {
  passes();  // no session is active: annotations hand back what they are given
  eager_ = std::exchange(results_, {});
}

template <typename Call>
auto CapturedProgram::ours(const Call& call) {
  in_leapp_ = true;
  auto result = call();
  in_leapp_ = false;
  return result;
}

void CapturedProgram::note(const Status& status) {
  if (status.ok()) return;
  if (error_.ok()) error_ = status;
  if (!stubborn_) throw GivenUp();
}

template <typename Results>
at::Tensor CapturedProgram::first(const at::Tensor& given, const Results& results) {
  note(results.status());
  return results.ok() ? at::Tensor(results.value()[0]) : given;
}

at::Tensor CapturedProgram::policy(Tensors& tensors, const at::Tensor& f) {
  const Payload inputs{{"f", f}};
  const at::Tensor b = first(f, ours([&] { return annotate::input_tensors("policy", inputs); }));
  const NamedTensors states{{"s", tensors.state}};
  const at::Tensor s = first(tensors.state, ours([&] { return annotate::state_tensors("policy", states); }));
  tensors.memory.mul_(0.5).add_(b);
  const at::Tensor t = at::add(b, s).mul(0.5).add(tensors.memory);
  const NamedTensors updates{{"s", t}};
  tensors.state = t;
  note(ours([&] { return annotate::update_state("policy", updates); }).status());
  const at::Tensor y = at::cat({t, at::relu(b)}, 1);
  const Payload outputs{{"y", y}};
  const OutputOptions options{.export_with = "onnx"};
  return first(y, ours([&] { return annotate::output_tensors("policy", outputs, options); }));
}

at::Tensor CapturedProgram::pass(Tensors& tensors, int number) {
  const at::Tensor x = observation(number);
  const Payload inputs{{"x", x}};
  const at::Tensor a = first(x, ours([&] { return annotate::input_tensors("pre", inputs); }));
  const at::Tensor f = at::tanh(at::linear(a, tensors.weight));
  const Payload outputs{{"f", f}};
  const OutputOptions options{.export_with = "onnx"};
  return policy(tensors, first(f, ours([&] { return annotate::output_tensors("pre", outputs, options); })));
}

void CapturedProgram::passes() {
  Tensors tensors;
  for (int number = 0; number < kPasses; ++number) results_.push_back(pass(tensors, number));
}

void CapturedProgram::start() {
  const StartOptions options{.save_path = folder_.string()};
  note(ours([&] { return leapp::start("g", options); }));
}

void CapturedProgram::stop() {
  if (leapp::is_active()) note(ours([] { return leapp::stop(); }));
}

void CapturedProgram::attempt(void (CapturedProgram::*part)()) {
  try {
    (this->*part)();
  } catch (const GivenUp&) {  // error_ says why
  } catch (const std::exception& failure) {
    if (in_leapp_ && exception_.empty()) exception_ = failure.what();
    operator_threw_ = !in_leapp_;
    in_leapp_ = false;
  }
}

void CapturedProgram::run() {
  attempt(&CapturedProgram::start);
  started_ = leapp::is_active();
  if (!started_) return;
  attempt(&CapturedProgram::passes);
  attempt(&CapturedProgram::stop);
}

Status CapturedProgram::compile() {
  const auto report = leapp::compile_graph({.visualize = false, .validate = false});
  return report.status();
}

bool CapturedProgram::as_eager() const {
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (!at::equal(results_[i], eager_[i])) return false;
  }
  return true;
}

bool CapturedProgram::runs_as_eager(const std::filesystem::path& folder) {
  const CapturedProgram program(folder, false);
  runtime::LoadOptions options;
  options.engine.prefer = engine::Prefer::kNative;
  auto loaded = runtime::Pipeline::load(folder / "g" / "g.yaml", options);
  if (!loaded.ok()) {
    std::fprintf(stderr, "%s\n", loaded.status().message().c_str());
    return false;
  }
  runtime::Pipeline& pipeline = loaded.value();
  const auto x = pipeline.input<float>("pre/x");
  const auto y = pipeline.output<float>("policy/y");
  if (!x.ok() || !y.ok()) return false;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (float& element : x.value()) element = 0.25F * static_cast<float>(pass + 1);
    if (pipeline.step() != runtime::StepResult::kOk) return false;
    const at::Tensor& wanted = program.eager_[static_cast<std::size_t>(pass)];
    for (std::size_t i = 0; i < y.value().size(); ++i) {
      if (std::abs(y.value()[i] - wanted[0][static_cast<std::int64_t>(i)].item<float>()) > 1e-5F) return false;
    }
  }
  return true;
}

}  // namespace leapp::faults
