// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace leapp {

/// The torch whose headers this was compiled with: "2.13.0".
std::string_view built_for_torch();

/// The torch whose libraries are loaded, in their own words: "2.13.0"; empty when they do not say.
std::string running_torch();

/// "2.13" of "2.13.0+cpu".
std::string_view torch_minor(std::string_view version);

/// Why what was built for one must not be used with the other, in one sentence; empty: they are of one minor version.
/// torch keeps its C++ as it is within a minor version, and only there.
std::string torch_mismatch();

}  // namespace leapp
