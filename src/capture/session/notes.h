// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "capture/hook/source_location.h"

namespace leapp::capture {

/// Something capture warned about that may explain why an exported model differs from the program.
struct Note {
  enum class Kind : std::uint8_t {
    kLeft,         ///< a value left the graph
    kBakedNumber,  ///< and came back as a number
    kGlue,         ///< an operator between two nodes, in none of them
  };
  Kind kind = Kind::kLeft;
  std::string node;
  std::string port;         ///< kGlue: the input that gets no edge
  std::string source;       ///< kGlue: "node/port" of the output it was computed from
  std::string op;           ///< kBakedNumber, kGlue: the operator; kLeft: the way out
  std::string number;       ///< kBakedNumber
  LocationId location = 0;  ///< kLeft: where it left; else of the operator
  LocationId left_at = 0;   ///< kBakedNumber: where the number left the graph
};

}  // namespace leapp::capture
