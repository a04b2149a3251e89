// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "leapp/base/export.h"
#include "leapp/base/status.h"

/// Models that draw random numbers: two of them, loaded alike, need not do the same.
namespace leapp::runtime {

enum class Draws : std::uint8_t {
  kNone,
  kSeeded,    ///< from when it is loaded the same sequence
  kUnseeded,  ///< other numbers in every process
};

/// Whether the operator, of the default domain, draws.
[[nodiscard]] bool is_random(std::string_view op);

/// What an ONNX model draws, in its branches and loops too. Reads any bytes.
LEAPP_API Result<Draws> draws_of(const std::filesystem::path& model);

}  // namespace leapp::runtime
