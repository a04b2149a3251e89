// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The text form of a graph, in which tests of passes and emitters are written.
//
//   graph policy(%obs: float32[1,48]) {
//     %w = constant float32[2,2] [1, 2, 3, 4]
//     %0: float32[1,2] = aten::linear(input=%obs, weight=%w, bias=None)  @ "policy.py":12 in "forward"
//     %1: float32[1,2] = random aten::rand_like(self=%0, dtype=float32, device=device("cpu"), dim=[0, -1])
//     return (action=%1)
//   }
//
// Names that are not made of letters, digits, '_', '.' and '/' stand in quotes: %"my port". Strings take the escapes
// \" \\ \n \t \r and \xNN. An integer has no point, a float has one (or an exponent, or is inf or nan). Other literals:
// None, True, complex(1.0, 2.0), float32, device("cpu"), layout("strided"), memory_format("channels_last").
// A list is typed by its elements: [1, 2], [True], [1.0], ["a"], [float32], [%x, None]; where they do not tell, or may
// mix, the type stands in front: int[], bool[], float[], str[], dtype[], tensor[None], scalar[1, 2.0].
// An argument may be a graph of its own (conditional.h): then=graph (%x: float32[2]) { ... }; its names are its own.
// A constant that was a parameter of a module is written `parameter`. Bytes of a constant are numbers where these are
// exact and few, else base64. '#' starts a comment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::graph {

struct PrintOptions {
  /// Constants of up to this many elements are written as numbers.
  std::int64_t inline_elements = 16;
  /// Writes "..." for the bytes of larger constants. For people: parse refuses it.
  bool elide_large_constants = false;
};

/// parse(print(graph)) is the same graph, down to the bits of its constants.
[[nodiscard]] std::string print(const Graph& graph, const PrintOptions& options = {});

/// One argument of an operator, as print writes it.
[[nodiscard]] std::string print(const Attribute& argument);

/// Any bytes end in a graph or in an error that names the line. What comes out is well formed as text (names are known
/// and unique, sizes fit); verify() tells whether it is a legal graph.
[[nodiscard]] Result<Graph> parse(std::string_view text);

}  // namespace leapp::graph
