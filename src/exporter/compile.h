// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/session.h"
#include "leapp/capture.h"

namespace leapp::exporter {

/// Everything compile_graph does. REQUIRES: the session has stopped.
Result<CompileReport> compile(capture::Session& session, const CompileOptions& options);

}  // namespace leapp::exporter
