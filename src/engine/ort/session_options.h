// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ort/api.h"
#include "engine/ort/memory.h"
#include "engine/ort/session_log.h"
#include "leapp/engine/options.h"

namespace leapp::engine::ort {

/// Whether this build of ONNX Runtime has the CUDA provider. That it starts is another matter.
Result<bool> offers_cuda(const OrtApi& api);

/// The options of a session that logs to `log`. `fold_constants`: as in ModelSource.
Result<Owned<OrtSessionOptions>> make_session_options(const OrtApi& api, const Options& options, bool fold_constants,
                                                      SessionLog& log);

/// What the session asks for is booked to `account`, which has to outlive it, in threads that have a Booking.
Status book_session(const OrtApi& api, const Options& options, MemoryAccount* account, OrtSessionOptions* session);

/// Puts the CUDA provider in front of the CPU's.
Status append_cuda(const OrtApi& api, OrtSessionOptions* options);

}  // namespace leapp::engine::ort
