// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What validation shows while it works and at its end.
#pragma once

#include <cstddef>
#include <string>

#include "exporter/validate/checks.h"
#include "exporter/validate/report/report.h"

namespace leapp::exporter {

/// "[2/3] policy → onnx 14 ms, 6 samples ok"
[[nodiscard]] std::string node_line(const NodeCheck& node, std::size_t number, std::size_t count);

/// "pipeline: 6 passes ok, 3 ms"
[[nodiscard]] std::string pipeline_line(const PipelineCheck& pipeline);

/// One row a node, one for the pipeline, and a sum below them. `coloured` marks results for a terminal.
[[nodiscard]] std::string table_text(const Validation& validation, bool coloured);

}  // namespace leapp::exporter
