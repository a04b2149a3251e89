// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/hook.h"

#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "base/console.h"
#include "capture/hook/arguments.h"
#include "capture/hook/op_info.h"
#include "capture/recorder/op_recorder.h"
#include "torch_types/host.h"

namespace leapp::capture {
namespace {

using Slot = std::atomic<std::shared_ptr<OpRecorder>>;

// Another one in each process: what a thread was about to do with the old one as the process forked, it never finishes.
Slot g_first_recorder;
std::atomic<Slot*> g_recorder{&g_first_recorder};
std::atomic<at::CallbackHandle> g_handle{at::INVALID_CALLBACK_HANDLE};

std::shared_ptr<OpRecorder> recorder_of_process() { return g_recorder.load()->load(); }
void set_recorder_of_process(std::shared_ptr<OpRecorder> recorder) { g_recorder.load()->store(std::move(recorder)); }

thread_local int t_unrecorded = 0;
// Null: that of the process. No shared_ptr, whose end glibc would have to write down, or else end the process.
thread_local const std::shared_ptr<OpRecorder>* t_recorder = nullptr;
thread_local const OpInfo* t_look_inside = nullptr;
thread_local bool t_inside = false;  // an operator is being recorded: what it calls is part of it

std::shared_ptr<OpRecorder> recorder_now() { return t_recorder ? *t_recorder : recorder_of_process(); }

struct Context : at::ObserverContext {
  std::shared_ptr<OpRecorder> recorder;
  PendingOp op;
  bool recorded = false;
  int exceptions = 0;
  bool outermost = false;
  std::optional<c10::Device> copies_from;
};

using Inputs = c10::ArrayRef<const c10::IValue>;

// Each kind of device has an autocast of its own, which casts what lies there.
bool is_cast(const OpInfo& info, Inputs inputs) {
  const c10::DispatchKeySet on = c10::autocast_dispatch_keyset - c10::impl::tls_local_dispatch_key_set().excluded_;
  if (on.empty()) return false;
  c10::DispatchKeySet met;
  for (const c10::IValue& input : inputs) {
    for_each_tensor(input, [&](const at::Tensor& tensor) { met = met | (on & tensor.key_set()); });
  }
  return std::any_of(met.begin(), met.end(),
                     [&](c10::DispatchKey key) { return info.facts().composite || info.has_kernel(key); });
}

// Function transforms hand wrappers to the outer record, dispatch modes may do something else altogether, and autocast
// hides its casts: the operators they call in turn show what really happens.
bool is_transformed() {
  return c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerFrontMode) ||
         c10::impl::TorchDispatchModeTLS::any_modes_set();
}

bool transparent(const OpInfo& info, Inputs inputs) { return is_transformed() || is_cast(info, inputs); }

// The device from which the operator copies without waiting for it.
std::optional<c10::Device> copies_from(const OpInfo& info, Inputs inputs) {
  const bool copies = info.op_class() == OpClass::kIdentity || info.op_class() == OpClass::kCopy;
  const int flag = copies ? info.argument("non_blocking") : -1;
  if (flag < 0 || !inputs[static_cast<std::size_t>(flag)].isBool() || !inputs[static_cast<std::size_t>(flag)].toBool())
    return std::nullopt;
  const c10::IValue& source = inputs[info.op_class() == OpClass::kCopy ? 1 : 0];
  if (!source.isTensor() || !source.toTensor().defined() || source.toTensor().is_cpu()) return std::nullopt;
  return source.toTensor().device();
}

std::unique_ptr<at::ObserverContext> started(const at::RecordFunction& record) {
  if (t_unrecorded > 0 || t_inside || at::in_parallel_region()) return nullptr;
  // First of all: in a forked child there is none, and locks may be as threads of the parent had them.
  std::shared_ptr<OpRecorder> recorder = recorder_now();
  if (!recorder) return nullptr;
  const OpInfo* info = op_info(record);
  if (!info || transparent(*info, record.inputs())) return nullptr;
  if (info == t_look_inside) {
    t_look_inside = nullptr;  // the first call only: an operator may call itself on other types
    return nullptr;
  }
  auto context = std::make_unique<Context>();
  context->recorder = std::move(recorder);
  // The TorchScript interpreter hands over its whole stack: the arguments are on top.
  const std::size_t count = info->schema().arguments().size();
  const auto inputs = record.inputs();
  if (inputs.size() >= count) {
    const Inputs arguments = inputs.slice(inputs.size() - count);
    context->copies_from = copies_from(*info, arguments);
    context->recorded = context->recorder->begin(context->op, *info, arguments);
  }
  context->exceptions = std::uncaught_exceptions();
  // What another library's operator calls is recorded in its place: a plain torch cannot load the operator itself.
  context->outermost = info->facts().torchs_own;
  t_inside = context->outermost;
  return context;
}

/// An operator of which nobody knows what it was: torch takes exceptions for no matter, and goes on.
void lose_operator(const std::shared_ptr<OpRecorder>& recorder) noexcept {
  if (recorder) recorder->lose_to_exception("recording an operator");
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& record) {
  try {
    return started(record);
  } catch (...) {
    lose_operator(recorder_now());
    return nullptr;
  }
}

void finish(const at::RecordFunction& record, Context* context) {
  if (context->outermost) t_inside = false;
  if (context->copies_from) note_copy_under_way(*context->copies_from);
  if (!context->recorded) return;
  if (std::uncaught_exceptions() > context->exceptions) {
    context->recorder->abandon(context->op);
    return;
  }
  const std::size_t count = context->op.info->schema().returns().size();
  const std::vector<c10::IValue>& outputs = record.outputs();
  if (outputs.size() < count) return context->recorder->abandon(context->op);
  const auto results = c10::ArrayRef<c10::IValue>(outputs).slice(outputs.size() - count);
  if (!context->outermost && context->recorder->fully_decomposed(context->op, results)) return;
  context->recorder->finish(context->op, results);
}

void on_end(const at::RecordFunction& record, at::ObserverContext* base) {
  if (!base) return;
  auto* context = static_cast<Context*>(base);
  try {
    finish(record, context);
  } catch (...) {
    lose_operator(context->recorder);
  }
  const Unrecorded quiet;  // a stream of the user's may compute
  flush_console();
}

}  // namespace

Unrecorded::Unrecorded() { ++t_unrecorded; }
Unrecorded::~Unrecorded() { --t_unrecorded; }

LookInside::LookInside(const OpInfo* op) { t_look_inside = op; }
LookInside::~LookInside() { t_look_inside = nullptr; }

RecordInto::RecordInto(std::shared_ptr<OpRecorder> recorder)
    : recorder_(std::move(recorder)), before_(std::exchange(t_recorder, &recorder_)) {}
RecordInto::~RecordInto() { t_recorder = before_; }

std::shared_ptr<OpRecorder> recorder_of_thread() {
  if (t_unrecorded > 0 || t_inside || is_transformed()) return nullptr;
  return recorder_now();
}

void install_hook(std::shared_ptr<OpRecorder> recorder) {
  // There is one that torch could not take away for want of memory, or of the process that this one was forked from.
  if (g_handle.load() == at::INVALID_CALLBACK_HANDLE) {
    g_handle.store(at::addGlobalCallback(at::RecordFunctionCallback(on_start, on_end)
                                             .needsInputs(true)
                                             .needsOutputs(true)
                                             .scopes({at::RecordScope::FUNCTION})));
  }
  set_recorder_of_process(std::move(recorder));
}

void remove_hook() noexcept {
  set_recorder_of_process(nullptr);
  const at::CallbackHandle handle = g_handle.exchange(at::INVALID_CALLBACK_HANDLE);
  if (handle == at::INVALID_CALLBACK_HANDLE) return;
  try {
    at::removeCallback(handle);
  } catch (const std::exception&) {
    g_handle.store(handle);  // it has nothing to do without a recorder, and the next session takes it over
  }
}

bool hook_installed() { return recorder_of_process() != nullptr; }

void leave_recorder_to_parent() noexcept {
  // Not destroyed: its locks and its tensors are as the other threads of the parent had them.
  if (auto* slot = new (std::nothrow) Slot()) g_recorder.store(slot);
}

}  // namespace leapp::capture
