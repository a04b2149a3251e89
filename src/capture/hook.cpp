// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <atomic>
#include <exception>
#include <utility>

#include "base/console.h"
#include "capture/op_info.h"
#include "capture/recorder.h"

namespace leapp::capture {
namespace {

std::atomic<std::shared_ptr<Recorder>> g_recorder;
std::atomic<at::CallbackHandle> g_handle{at::INVALID_CALLBACK_HANDLE};

thread_local int t_unrecorded = 0;
thread_local std::shared_ptr<Recorder> t_recorder;  // null: that of the process
thread_local const OpInfo* t_look_inside = nullptr;
thread_local bool t_inside = false;  // an operator is being recorded: what it calls is part of it

struct Context : at::ObserverContext {
  std::shared_ptr<Recorder> recorder;
  PendingOp op;
  bool recorded = false;
  int exceptions = 0;
  bool outermost = false;
};

// Function transforms hand wrappers to the outer record, dispatch modes may do something else altogether, and autocast
// hides its casts: the operators they call in turn show what really happens.
bool is_transformed() {
  return c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerFrontMode) ||
         c10::impl::TorchDispatchModeTLS::any_modes_set();
}

bool transparent(const OpInfo& info) {
  if (is_transformed()) return true;
  const auto casts = [&](c10::DeviceType device, c10::DispatchKey key) {
    return at::autocast::is_autocast_enabled(device) && !c10::impl::tls_is_dispatch_key_excluded(key) &&
           (info.has_autocast_kernel(device) || info.composite());
  };
  return casts(c10::DeviceType::CPU, c10::DispatchKey::AutocastCPU) ||
         casts(c10::DeviceType::CUDA, c10::DispatchKey::AutocastCUDA);
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& record) {
  if (t_unrecorded > 0 || t_inside || at::in_parallel_region()) return nullptr;
  const OpInfo* info = op_info(record);
  if (!info || transparent(*info)) return nullptr;
  if (info == t_look_inside) {
    t_look_inside = nullptr;  // the first call only: an operator may call itself on other types
    return nullptr;
  }
  auto context = std::make_unique<Context>();
  context->recorder = t_recorder ? t_recorder : g_recorder.load();
  if (!context->recorder) return nullptr;
  // The TorchScript interpreter hands over its whole stack: the arguments are on top.
  const std::size_t count = info->schema().arguments().size();
  const auto inputs = record.inputs();
  if (inputs.size() >= count) {
    context->recorded = context->recorder->begin(context->op, *info, inputs.slice(inputs.size() - count));
  }
  context->exceptions = std::uncaught_exceptions();
  // What another library's operator calls is recorded in its place: a plain torch cannot load the operator itself.
  context->outermost = info->is_torchs_own();
  t_inside = context->outermost;
  return context;
}

void finish(const at::RecordFunction& record, Context* context) {
  if (context->outermost) t_inside = false;
  if (!context->recorded) return;
  if (std::uncaught_exceptions() > context->exceptions) {
    context->recorder->abandon(context->op);
    return;
  }
  const std::size_t count = context->op.info->schema().returns().size();
  const std::vector<c10::IValue>& outputs = record.outputs();
  if (outputs.size() < count) return context->recorder->abandon(context->op);
  const auto results = c10::ArrayRef<c10::IValue>(outputs).slice(outputs.size() - count);
  if (!context->outermost && context->recorder->explained(context->op, results)) return;
  context->recorder->finish(context->op, results);
}

void on_end(const at::RecordFunction& record, at::ObserverContext* base) {
  if (!base) return;
  finish(record, static_cast<Context*>(base));
  const Unrecorded quiet;  // a stream of the user's may compute
  flush_console();
}

}  // namespace

Unrecorded::Unrecorded() { ++t_unrecorded; }
Unrecorded::~Unrecorded() { --t_unrecorded; }

LookInside::LookInside(const OpInfo* op) { t_look_inside = op; }
LookInside::~LookInside() { t_look_inside = nullptr; }

RecordInto::RecordInto(std::shared_ptr<Recorder> recorder) : before_(std::exchange(t_recorder, std::move(recorder))) {}
RecordInto::~RecordInto() { t_recorder = std::move(before_); }

std::shared_ptr<Recorder> recorder_of_thread() {
  if (t_unrecorded > 0 || t_inside || is_transformed()) return nullptr;
  return t_recorder ? t_recorder : g_recorder.load();
}

void install_hook(std::shared_ptr<Recorder> recorder) {
  g_recorder.store(std::move(recorder));
  g_handle.store(at::addGlobalCallback(at::RecordFunctionCallback(on_start, on_end)
                                           .needsInputs(true)
                                           .needsOutputs(true)
                                           .scopes({at::RecordScope::FUNCTION})));
}

void remove_hook() {
  const at::CallbackHandle handle = g_handle.exchange(at::INVALID_CALLBACK_HANDLE);
  if (handle != at::INVALID_CALLBACK_HANDLE) at::removeCallback(handle);
  g_recorder.store(nullptr);
}

bool hook_installed() { return g_handle.load() != at::INVALID_CALLBACK_HANDLE; }

}  // namespace leapp::capture
