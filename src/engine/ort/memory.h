// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes ONNX Runtime ask us for memory.
#pragma once

#include <onnxruntime_c_api.h>

#include "engine/ort/memory_account.h"
#include "leapp/base/status.h"

namespace leapp::engine::ort {

/// From here on sessions of this environment that say "session.use_env_allocators" ask us for memory. Once for an
/// environment, which is never freed.
Status register_memory(const OrtApi& api, OrtEnv* env);

/// Threads that a session starts book to `account`, which has to outlive it.
Status book_threads(const OrtApi& api, OrtSessionOptions* options, MemoryAccount* account);

}  // namespace leapp::engine::ort
