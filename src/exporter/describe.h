// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "exporter/prepare.h"
#include "leapp/bundle/spec.h"

namespace leapp::exporter {

/// Ports and wiring of the nodes, in an order that runs producers first. Parameters of the models are left to fill in.
bundle::BundleSpec describe(const std::vector<PreparedNode>& nodes, const capture::CaptureResult& recording);

/// Writes down which version of the format the bundle needs: once all of it is known.
void set_config_version(bundle::BundleSpec& spec);

/// Positions of `nodes` in that order.
std::vector<std::size_t> run_order(const std::vector<PreparedNode>& nodes);

/// The bytes of the initial-values file: what the first pass saw at every feedback input.
Result<std::vector<std::byte>> initial_values(const std::vector<PreparedNode>& nodes);

/// Says which outputs who runs the bundle gets although pipeline.outputs does not list them.
void log_unlisted_outputs(const bundle::BundleSpec& spec, Logger& log);

void log_statistics(const bundle::BundleSpec& spec, Logger& log);

}  // namespace leapp::exporter
