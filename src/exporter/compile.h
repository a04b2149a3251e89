// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/trace/record.h"
#include "leapp/capture.h"

namespace leapp::exporter {

/// Everything compile_graph does. REQUIRES: the session has stopped.
Result<CompileReport> compile(capture::CaptureResult& recording, const CompileOptions& options);

/// Validates the bundle as it lies in the session's folder and writes nothing but the report: for files that somebody
/// changed after they were written. REQUIRES: compile() has written it, from this session.
Result<CompileReport> validate_written(capture::CaptureResult& recording, const CompileOptions& options);

}  // namespace leapp::exporter
