// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace leapp::inspect {
namespace {

std::size_t width_of(char32_t code) {
  const bool combining =
      (code >= 0x300 && code <= 0x36F) || (code >= 0x200B && code <= 0x200D) || (code >= 0xFE00 && code <= 0xFE0F);
  const bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                    (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                    (code >= 0xFF00 && code <= 0xFF60) || (code >= 0x1F300 && code <= 0x1FAFF) ||
                    (code >= 0x20000 && code <= 0x3FFFD);
  return combining ? 0 : wide ? 2 : 1;
}

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

// The piece of `text` that fits, at least one character.
std::string_view fitting(std::string_view text, std::size_t width) {
  std::string_view rest = text;
  std::size_t used = 0;
  std::size_t taken = 0;
  std::size_t after_break = 0;
  while (!rest.empty()) {
    const char first = rest.front();
    const std::size_t columns = width_of(take_code_point(rest).value_or(U'?'));
    if (taken > 0 && used + columns > width) return text.substr(0, after_break > 0 ? after_break : taken);
    used += columns;
    taken = text.size() - rest.size();
    if (first == ' ' || first == ',' || first == '/' || first == ';') after_break = taken;
  }
  return text;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string result;
  bool after_break = false;
  for (const char c : text) {
    if (c == '\n') {
      while (result.ends_with(' ')) result.pop_back();
      after_break = true;
    } else if (!after_break || c != ' ') {
      if (after_break && !result.empty()) result += ' ';
      after_break = false;
      result += c;
    }
  }
  return printable(result);
}

std::string in_option_words(std::string text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kWords{{
      {"the option onnxruntime_library", "--onnxruntime"},
      {"the option torch_engine_library", "--torch-engine"},
      {"allow_outside permits", "--allow-outside permits"},
      {"the option memory_limit", "--memory-limit"},
      {"unless the option allow_torchscript is set", "with --no-torchscript"},
  }};
  for (const auto& [from, to] : kWords) {
    const std::size_t at = text.find(from);
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) width += width_of(take_code_point(text).value_or(U'?'));
  return width;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  do {
    const std::string_view line = fitting(text, width);
    text.remove_prefix(line.size());
    lines.emplace_back(line);
    while (lines.back().ends_with(' ')) lines.back().pop_back();
    while (text.starts_with(' ')) text.remove_prefix(1);
  } while (!text.empty());
  return lines;
}

std::string size_text(std::uint64_t bytes) { return bytes_text(bytes); }

std::string count_text(std::uint64_t count) {
  std::string text = fmt::format("{}", count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string closest(std::string_view word, const std::vector<std::string>& candidates, std::size_t most) {
  constexpr std::size_t kLongest = 64;  // the cost is the product of both lengths
  std::string best;
  std::size_t least = word.size() > kLongest ? 0 : most > 0 ? most + 1 : std::max<std::size_t>(2, word.size() / 3 + 1);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = candidate.size() > kLongest ? kLongest : edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string plural(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count_text(count), what, count == 1 ? "" : "s");
}

}  // namespace leapp::inspect
