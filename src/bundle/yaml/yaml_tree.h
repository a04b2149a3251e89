// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/status.h"
#include "leapp/bundle/spec.h"

namespace leapp::bundle {

inline constexpr std::size_t kLargestYaml = std::size_t{4} << 20U;
inline constexpr std::size_t kDeepestYaml = 64;
/// Keeps a small file of many tiny values from becoming gigabytes in memory.
inline constexpr std::size_t kMostYamlValues = 200'000;
/// Bytes of one scalar, or of a [...] or {...} that begins a line: the parser reads such a collection to its end before
/// it speaks of its beginning, and needs three hundred times its size for that.
inline constexpr std::size_t kLongestYamlValue = std::size_t{128} << 10U;

/// One value of a YAML file as it stands there: scalars are not interpreted yet.
struct YamlNode {
  enum class Kind { kScalar, kList, kMap };

  Kind kind = Kind::kScalar;
  bool plain = true;  ///< a scalar without quotes, which may mean something else than its text
  int line = 0;       ///< counted from 1
  std::string text;
  std::vector<std::string> keys;  ///< of a map: the names of `items`
  std::vector<YamlNode> items;

  /// Written as nothing, ~ or null.
  [[nodiscard]] bool is_null() const;
};

/// The one document in `text`. kDataLoss, with the line, for what is not YAML and for what no bundle needs: anchors,
/// aliases, tags, keys that occur twice or are no scalars, several documents, more than the limits above.
Result<YamlNode> parse_yaml(std::string_view text);

/// Scalars become null, bool, int64, double or string, as YAML 1.2 and PyYAML agree to read them.
[[nodiscard]] YamlValue to_value(const YamlNode& node);

/// The inverse, as if it had been read from a file.
[[nodiscard]] YamlNode to_node(const YamlValue& value);

}  // namespace leapp::bundle
