// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "leapp/bundle/spec.h"

namespace leapp::bundle {

/// The text of `{name}.yaml`. Equal specs give equal bytes. Checks nothing: names that occur twice come out twice.
[[nodiscard]] std::string yaml_text(const BundleSpec& spec);

}  // namespace leapp::bundle
