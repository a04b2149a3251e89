// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/yaml/yaml_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <istream>
#include <limits>
#include <new>
#include <optional>
#include <streambuf>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "bundle/yaml/yaml_events.h"
#include "bundle/yaml/yaml_scalar.h"

namespace leapp::bundle {
namespace {

/// Leaves the parser from inside an event.
struct Refusal {
  int line;
  std::string message;
};

constexpr std::size_t kLongestScalarQuote = 60;

std::string shortened(const std::string& text) {
  return quote(text.size() <= kLongestScalarQuote ? text : text.substr(0, kLongestScalarQuote) + "...");
}

/// The text as the parser reads it, piece by piece. Refuses to go on when too much was read since it last spoke.
class Source final : public std::streambuf {
 public:
  explicit Source(std::string_view text) : text_(text) {}

  void spoke() { heard_ = read_; }

 protected:
  int_type underflow() override {
    if (read_ - heard_ > kLongestYamlValue) {
      const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(heard_), '\n');
      throw Refusal{static_cast<int>(line),
                    fmt::format("expected values of at most {} bytes, found a longer one", kLongestYamlValue)};
    }
    if (read_ == text_.size()) return traits_type::eof();
    // Only read from: the interface is older than const.
    char* piece = const_cast<char*>(text_.data()) + read_;  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const std::size_t size = std::min(text_.size() - read_, kPiece);
    read_ += size;
    setg(piece, piece, piece + size);
    return traits_type::to_int_type(*piece);
  }

 private:
  static constexpr std::size_t kPiece = 4096;

  std::string_view text_;
  std::size_t read_ = 0;
  std::size_t heard_ = 0;
};

/// Builds the tree. What is open is a stack; a value is moved into its parent when it is complete.
class TreeBuilder final : public YamlEvents {
 public:
  explicit TreeBuilder(Source& source) : source_(source) {}

  void document_start(int line) override {
    if (done_) throw Refusal{line, "expected one document, found another"};
  }
  void document_end() override { done_ = true; }

  void alias(int line) override { throw Refusal{line, "aliases are not allowed in a bundle"}; }

  void scalar(const Start& start, std::string_view text) override {
    check(start);
    std::string value(text);
    if (!open_.empty() && open_.back().node.kind == YamlNode::Kind::kMap && !open_.back().key) {
      Open& map = open_.back();
      if (!map.seen.insert(value).second) {
        throw Refusal{start.line, fmt::format("the key {} occurs twice", shortened(value))};
      }
      map.key = std::move(value);
      return;
    }
    YamlNode node;
    node.line = start.line;
    node.plain = start.tag != "!";
    node.text = std::move(value);
    add(std::move(node));
  }

  void list_start(const Start& start) override { open(start, YamlNode::Kind::kList); }
  void map_start(const Start& start) override { open(start, YamlNode::Kind::kMap); }

  void collection_end() override {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  YamlNode take() { return std::move(root_); }

 private:
  struct Open {
    YamlNode node;
    std::unordered_set<std::string> seen;
    std::optional<std::string> key;  // of a map: what the next value is for
  };

  void check(const Start& start) {
    source_.spoke();
    if (start.anchored) throw Refusal{start.line, "anchors are not allowed in a bundle"};
    if (!start.tag.empty() && start.tag != "?" && start.tag != "!") {
      throw Refusal{start.line,
                    fmt::format("tags are not allowed in a bundle, found {}", shortened(std::string(start.tag)))};
    }
    if (++values_ > kMostYamlValues) {
      throw Refusal{start.line, fmt::format("expected at most {} values", kMostYamlValues)};
    }
  }

  void open(const Start& start, YamlNode::Kind kind) {
    check(start);
    if (open_.size() >= kDeepestYaml) {
      throw Refusal{start.line, fmt::format("expected at most {} levels", kDeepestYaml)};
    }
    if (!open_.empty() && open_.back().node.kind == YamlNode::Kind::kMap && !open_.back().key) {
      throw Refusal{start.line, "expected a name as key, found a list or a map"};
    }
    Open entry;
    entry.node.kind = kind;
    entry.node.line = start.line;
    open_.push_back(std::move(entry));
  }

  void add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.key) parent.node.keys.push_back(std::move(*parent.key));
    parent.key.reset();
    parent.node.items.push_back(std::move(node));
  }

  Source& source_;
  std::vector<Open> open_;
  YamlNode root_;
  std::size_t values_ = 0;
  bool done_ = false;
};

Result<YamlNode> parse_checked(std::string_view text) {
  Source source(text);
  std::istream stream(&source);
  try {
    TreeBuilder builder(source);
    if (!parse_yaml_events(stream, builder)) return data_loss("expected a map, found an empty file");
    return builder.take();
  } catch (const Refusal& refusal) {
    return data_loss(fmt::format("line {}: {}", refusal.line, refusal.message));
  } catch (const std::bad_alloc&) {
    throw;  // whoever called has room for it
  } catch (const YamlSyntaxError& error) {
    return data_loss(fmt::format("line {}: not YAML: {}", error.line, error.message));
  } catch (const std::exception& error) {
    return data_loss(fmt::format("not YAML: {}", error.what()));
  }
}

std::optional<bool> parse_bool(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kTrue{"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
  static constexpr std::array<std::string_view, 9> kFalse{"false", "False", "FALSE", "no", "No",
                                                          "NO",    "off",   "Off",   "OFF"};
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return true;
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return false;
  return std::nullopt;
}

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.starts_with('+')) return std::nullopt;
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_float(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool negative = text.starts_with('-');
  const std::string_view rest = negative || text.starts_with('+') ? text.substr(1) : text;
  if (rest == ".inf" || rest == ".Inf" || rest == ".INF") return negative ? -kInfinity : kInfinity;
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return std::numeric_limits<double>::quiet_NaN();
  // from_chars would take "nan", "inf" and "infinity", which are words in YAML.
  if (rest.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  return parse_number<double>(text);
}

}  // namespace

bool YamlNode::is_null() const {
  return kind == Kind::kScalar && plain &&
         (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
}

Result<YamlNode> parse_yaml(std::string_view text) {
  if (text.size() > kLargestYaml) {
    return data_loss(fmt::format("expected at most {} bytes, found {}", kLargestYaml, text.size()));
  }
  // yaml-cpp guesses other encodings from bytes like these; a bundle is UTF-8.
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos) return data_loss("expected UTF-8 text");
  return parse_checked(text);
}

YamlValue to_value(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kList) {
    YamlList list;
    for (const YamlNode& item : node.items) list.push_back(to_value(item));
    return list;
  }
  if (node.kind == YamlNode::Kind::kMap) {
    YamlMap map;
    for (std::size_t i = 0; i < node.items.size(); ++i) map.emplace_back(node.keys[i], to_value(node.items[i]));
    return map;
  }
  if (!node.plain) return node.text;
  if (node.is_null()) return nullptr;
  if (const auto value = parse_bool(node.text)) return *value;
  if (const auto value = parse_number<std::int64_t>(node.text)) return *value;
  if (const auto value = parse_float(node.text)) return *value;
  return node.text;
}

YamlNode to_node(const YamlValue& value) {
  struct Visitor {
    YamlNode operator()(std::monostate) const { return scalar("null"); }
    YamlNode operator()(bool flag) const { return scalar(flag ? "true" : "false"); }
    YamlNode operator()(std::int64_t number) const { return scalar(std::to_string(number)); }
    YamlNode operator()(double number) const { return scalar(yaml_float(number)); }
    YamlNode operator()(const std::string& text) const { return {.plain = false, .text = text}; }
    YamlNode operator()(const YamlList& list) const {
      YamlNode node{.kind = YamlNode::Kind::kList};
      for (const YamlValue& item : list) node.items.push_back(to_node(item));
      return node;
    }
    YamlNode operator()(const YamlMap& map) const {
      YamlNode node{.kind = YamlNode::Kind::kMap};
      for (const auto& [key, item] : map) {
        node.keys.push_back(key);
        node.items.push_back(to_node(item));
      }
      return node;
    }
    static YamlNode scalar(std::string text) { return {.text = std::move(text)}; }
  };
  return std::visit(Visitor{}, value.data);
}

}  // namespace leapp::bundle
