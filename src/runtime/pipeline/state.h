// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "leapp/base/status.h"
#include "leapp/bundle/reader.h"
#include "runtime/pipeline/plan.h"

namespace leapp::runtime {

/// The bytes that each of PipelinePlan::states begins with; none where these are zeros.
using InitialValues = std::vector<std::vector<std::byte>>;

/// Reads them from the bundle in `folder`; zeros when it names no file of them. An error names the feedback input that
/// has none, or one of another dtype or shape, and a value that belongs to no input.
Result<InitialValues> read_initial_values(const std::filesystem::path& folder, const bundle::BundleSpec& spec,
                                          const PipelinePlan& plan, const bundle::FileOptions& options);

}  // namespace leapp::runtime
