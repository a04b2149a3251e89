// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "exporter/prepare.h"
#include "leapp/bundle/spec.h"
#include "leapp/capture.h"

namespace leapp::exporter {

/// What is known of a bundle once it is written and validated.
struct WrittenBundle {
  const std::vector<PreparedNode>* nodes = nullptr;
  const bundle::BundleSpec* spec = nullptr;
  const std::vector<NodeResult>* results = nullptr;
  std::string folder;
  std::string name;
};

/// Writes {name}.png and {name}.html. What goes wrong is one warning in the log: the bundle is complete without them.
void write_pictures(const WrittenBundle& written, Logger& log);

}  // namespace leapp::exporter
