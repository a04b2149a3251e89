// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console/number_validators.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace leapp::cli {
namespace {

template <typename Number>
bool is_plain(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if constexpr (std::is_floating_point_v<Number>) return std::isfinite(number);
  return true;
}

template <typename Number>
CLI::Validator plain(const char* what) {
  return {[what](const std::string& text) {
            return is_plain<Number>(text) ? std::string()
                                          : fmt::format("expected {}, found {}", what, quote_brief(text));
          },
          ""};
}

}  // namespace

// Before checks of their range, whose words are for numbers.
void expect_plain_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (type.starts_with("UINT")) option->transform(plain<std::uint64_t>("a whole number that is not negative"));
    if (type.starts_with("INT")) option->transform(plain<std::int64_t>("a whole number"));
    if (type.starts_with("FLOAT") || type.starts_with("SECONDS")) option->transform(plain<double>("a number"));
  }
  for (CLI::App* inner : app.get_subcommands(nullptr)) expect_plain_numbers(*inner);
}

CLI::Validator plain_size() {
  constexpr std::string_view kDigits = "0123456789";
  return {[=](const std::string& text) {
            const std::string digits = text.substr(0, text.find_first_not_of(kDigits));
            return is_plain<std::uint64_t>(digits)
                       ? std::string()
                       : fmt::format("expected a number of bytes as 4GB, found {}", quote_brief(text));
          },
          ""};
}

}  // namespace leapp::cli
