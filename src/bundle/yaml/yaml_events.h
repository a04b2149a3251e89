// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The one door to yaml-cpp. That is a compiled library with std::string in its interface, and so of one C++ ABI; some
// builds of torch, and with them all of LEAPP that shares a process with them, have the other. What is declared here
// looks the same in both: no std::string, and nothing that holds one.
#pragma once

#include <cstddef>
#include <istream>
#include <string_view>

namespace leapp::bundle {

/// What a parser finds, in the order of the text. Lines are counted from 1. What is thrown here leaves the parser.
class YamlEvents {
 public:
  /// `tag`: "?" for a plain scalar, "!" for a quoted one, anything else as it was written; empty for collections
  /// without one.
  struct Start {
    int line;
    std::string_view tag;
    bool anchored;
  };

  virtual ~YamlEvents() = default;
  virtual void document_start(int line) = 0;
  virtual void document_end() = 0;
  virtual void alias(int line) = 0;
  virtual void scalar(const Start& start, std::string_view value) = 0;
  virtual void list_start(const Start& start) = 0;
  virtual void map_start(const Start& start) = 0;
  virtual void collection_end() = 0;
};

/// What the parser does not like about a text. Thrown by parse_yaml_events.
struct YamlSyntaxError {
  static constexpr std::size_t kLongest = 240;

  int line = 0;  ///< 0: unknown
  char message[kLongest + 1] = {};
};

/// Reads all documents. False: there is none.
bool parse_yaml_events(std::istream& text, YamlEvents& events);

}  // namespace leapp::bundle
