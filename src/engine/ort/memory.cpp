// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/memory.h"

#include <cstddef>
#include <memory>
#include <thread>

#include "engine/ort/api.h"
#include "engine/ort/library.h"

namespace leapp::engine::ort {
namespace {

/// What ONNX Runtime calls. It expects an exception where there is no memory, as from its own allocators: not all of
/// its callers look at what they get.
struct Allocator : OrtAllocator {
  explicit Allocator(const OrtMemoryInfo* where) : OrtAllocator{}, info(where) {
    version = kApiVersion;
    Alloc = [](OrtAllocator*, std::size_t size) { return Booking::take(size); };
    Free = [](OrtAllocator*, void* memory) { MemoryAccount::give_back(memory); };
    Info = [](const OrtAllocator* self) { return static_cast<const Allocator*>(self)->info; };
  }

  const OrtMemoryInfo* info;
};

struct Worker {
  std::thread thread;
};

OrtCustomThreadHandle start_thread(void* account, OrtThreadWorkerFn work, void* parameter) {
  try {
    auto worker = std::make_unique<Worker>();
    worker->thread = std::thread([=] {
      const Booking booking(static_cast<MemoryAccount*>(account));
      work(parameter);
    });
    return reinterpret_cast<OrtCustomThreadHandle>(worker.release());
  } catch (...) {
    return nullptr;  // ONNX Runtime makes an error of it
  }
}

void join_thread(OrtCustomThreadHandle handle) {
  const std::unique_ptr<Worker> worker(const_cast<Worker*>(reinterpret_cast<const Worker*>(handle)));
  if (worker->thread.joinable()) worker->thread.join();
}

}  // namespace

Status register_memory(const OrtApi& api, OrtEnv* env) {
  OrtMemoryInfo* where = nullptr;
  LEAPP_RETURN_IF_ORT_ERROR(api, api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &where));
  // Neither is ever freed, like the environment that has them.
  auto* const allocator = new Allocator(where);
  const Status registered = take_status(api, api.RegisterAllocator(env, allocator));
  if (registered.ok()) return registered;
  delete allocator;
  api.ReleaseMemoryInfo(where);
  return registered;
}

Status book_threads(const OrtApi& api, OrtSessionOptions* options, MemoryAccount* account) {
  LEAPP_RETURN_IF_ORT_ERROR(api, api.SessionOptionsSetCustomCreateThreadFn(options, &start_thread));
  LEAPP_RETURN_IF_ORT_ERROR(api, api.SessionOptionsSetCustomThreadCreationOptions(options, account));
  return take_status(api, api.SessionOptionsSetCustomJoinThreadFn(options, &join_thread));
}

}  // namespace leapp::engine::ort
