// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/yaml/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/text.h"

namespace leapp::bundle {
namespace {

class JsonWriter {
 public:
  explicit JsonWriter(int indent) : indent_(indent) {}

  void write(const YamlValue& value, int level) {
    std::visit([&](const auto& data) { write(data, level); }, value.data);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void write(std::monostate, int) { text_ += "null"; }
  void write(bool value, int) { text_ += value ? "true" : "false"; }
  void write(std::int64_t value, int) { text_ += std::to_string(value); }
  void write(double value, int) {
    const std::string number = std::isfinite(value) ? fmt::format("{}", value) : "null";
    text_ += number;
    if (number.find_first_not_of("-0123456789") == std::string::npos) text_ += ".0";
  }
  void write(const std::string& value, int) { write_string(value); }
  void write(const YamlList& list, int level) {
    write_all('[', ']', list, level, [&](const YamlValue& item) { write(item, level + 1); });
  }
  void write(const YamlMap& map, int level) {
    write_all('{', '}', map, level, [&](const auto& entry) {
      write_string(entry.first);
      text_ += indent_ < 0 ? ":" : ": ";
      write(entry.second, level + 1);
    });
  }

  template <typename Items, typename WriteItem>
  void write_all(char open, char close, const Items& items, int level, WriteItem write_item) {
    text_ += open;
    bool first = true;
    for (const auto& item : items) {
      if (!first) text_ += ',';
      first = false;
      break_line(level + 1);
      write_item(item);
    }
    if (!items.empty()) break_line(level);
    text_ += close;
  }

  void break_line(int level) {
    if (indent_ < 0) return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(indent_) * static_cast<std::size_t>(level), ' ');
  }

  void write_string(std::string_view value) {
    text_ += '"';
    while (!value.empty()) {
      const std::string_view before = value;
      const auto point = take_code_point(value);
      if (!point) {
        text_ += "\uFFFD";
      } else {
        write_character(*point, before.substr(0, before.size() - value.size()));
      }
    }
    text_ += '"';
  }

  void write_character(char32_t point, std::string_view bytes) {
    static constexpr std::string_view kShort = "\"\\\b\f\n\r\t";
    static constexpr std::string_view kLetters = "\"\\bfnrt";
    const std::size_t at = point < 0x80 ? kShort.find(static_cast<char>(point)) : std::string_view::npos;
    if (at != std::string_view::npos) {
      text_ += '\\';
      text_ += kLetters[at];
    } else if (point < 0x20) {
      text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(point));
    } else {
      text_ += bytes;
    }
  }

  int indent_;
  std::string text_;
};

}  // namespace

using Json = nlohmann::ordered_json;

Json to_json(const YamlValue& value) {
  return std::visit(
      [](const auto& data) -> Json {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, YamlList>) {
          Json list = Json::array();
          for (const YamlValue& item : data) list.push_back(to_json(item));
          return list;
        } else if constexpr (std::is_same_v<T, YamlMap>) {
          return to_json(data);
        } else {
          return data;
        }
      },
      value.data);
}

Json to_json(const YamlMap& map) {
  Json result = Json::object();
  for (const auto& [key, value] : map) result[key] = to_json(value);
  return result;
}

std::string json_text(const YamlValue& value, int indent) {
  JsonWriter writer(indent);
  writer.write(value, 0);
  return writer.take();
}

}  // namespace leapp::bundle
