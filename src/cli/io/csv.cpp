// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/io/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "inspect/numbers.h"

namespace leapp::cli {
namespace {

constexpr std::size_t kMostColumns = std::size_t{1} << 22U;

struct Column {
  std::size_t series = 0;
  std::size_t element = 0;
  bool wanted = false;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Takes the first cell off the header, and the comma or the line break behind it. A name with either or a quote in it
/// stands in quotes, quotes doubled. `last`: whether nothing of the header is left.
std::string take_cell(std::string_view& text, bool& last) {
  std::string cell;
  bool quoted = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cell += text[++i];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if ((text[i] == ',' || text[i] == '\n') && !quoted) {
      break;
    } else {
      cell += text[i];
    }
  }
  last = i >= text.size() || text[i] == '\n';
  if (last && cell.ends_with('\r')) cell.pop_back();
  text.remove_prefix(std::min(i + 1, text.size()));
  return cell;
}

struct ElementName {
  std::string port;
  std::optional<std::size_t> element;
};

ElementName split_name(std::string_view name) {
  name = trimmed(name);
  const std::size_t bracket = name.rfind('[');
  std::size_t element = 0;
  if (bracket != std::string_view::npos && name.ends_with(']')) {
    const char* end = name.data() + name.size() - 1;
    const auto [stop, error] = std::from_chars(name.data() + bracket + 1, end, element);
    if (error == std::errc() && stop == end) return {std::string(name.substr(0, bracket)), element};
  }
  return {std::string(name), std::nullopt};
}

class Reader {
 public:
  explicit Reader(const FindType& find) : find_(find) {}

  /// Takes it off the text, cell by cell: what is no name of a port ends it, however many commas are left.
  Status read_header(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (trimmed(line.substr(0, line.find('\r'))).empty()) {
      return data_loss("line 1: expected the names of ports, found nothing");
    }
    for (bool last = false; !last;) {
      if (columns_.size() == kMostColumns) {
        return data_loss(fmt::format("line 1: expected at most {} columns, found more", kMostColumns));
      }
      LEAPP_RETURN_IF_ERROR(add_column(take_cell(text, last)));
    }
    for (const auto& [name, series] : names_) {
      for (std::size_t i = 0; i < seen_[series].size(); ++i) {
        if (!seen_[series][i]) return data_loss(fmt::format("line 1: expected a column {}[{}], found none", name, i));
      }
    }
    return {};
  }

  Status read_row(std::string_view line, std::size_t number) {
    for (Series& one : series_) one.bytes.resize(one.bytes.size() + one.type->bytes());
    std::size_t at = 0;
    bool more = true;
    for (; more; ++at) {
      const std::size_t comma = line.find(',');
      more = comma != std::string_view::npos;
      const std::string_view cell = trimmed(line.substr(0, comma));
      line.remove_prefix(more ? comma + 1 : line.size());
      if (at < columns_.size()) LEAPP_RETURN_IF_ERROR(put(columns_[at], cell, {number, at + 1}));
    }
    if (at != columns_.size()) {
      return data_loss(fmt::format("line {}: expected {} columns, found {}", number, columns_.size(), at));
    }
    ++rows_;
    return {};
  }

  std::vector<Series> finish() && {
    for (Series& one : series_) one.steps = rows_;
    return std::move(series_);
  }

 private:
  struct Where {
    std::size_t line;
    std::size_t column;
  };

  Status add_column(const std::string& cell) {
    const ElementName name = split_name(cell);
    auto found = find_(name.port);
    if (!found.ok()) return Status(found.status().code(), "line 1: " + found.status().message());
    const ArrayType* type = found.value();
    if (type == nullptr) {
      columns_.emplace_back();
      return {};
    }
    const auto [at, added] = names_.emplace(type->name, series_.size());
    if (added) {
      series_.push_back({.type = type, .steps = 0, .held = false, .bytes = {}});
      seen_.emplace_back(type->elements(), false);
    }
    std::vector<bool>& seen = seen_[at->second];
    if (!name.element && seen.size() != 1) {
      return data_loss(fmt::format("line 1: expected {}[0] to {}[{}], found {}", name.port, name.port, seen.size() - 1,
                                   quote_brief(cell)));
    }
    const std::size_t element = name.element.value_or(0);
    if (element >= seen.size()) {
      return data_loss(fmt::format("line 1: {} has {} elements, found {}", name.port, seen.size(), quote_brief(cell)));
    }
    if (seen[element]) return data_loss(fmt::format("line 1: {} occurs twice", quote_brief(cell)));
    seen[element] = true;
    columns_.push_back({at->second, element, true});
    return {};
  }

  Status put(const Column& column, std::string_view cell, Where where) {
    if (!column.wanted) return {};
    Series& series = series_[column.series];
    const DType dtype = series.type->dtype;
    std::byte* element =
        series.bytes.data() + series.bytes.size() - series.type->bytes() + column.element * dtype_size(dtype);
    if (inspect::parse_element(cell, dtype, element)) return {};
    return data_loss(fmt::format("line {}, column {}: expected a {} for {}[{}], found {}", where.line, where.column,
                                 dtype_name(dtype), series.type->name, column.element, quote(cell.substr(0, 40))));
  }

  const FindType& find_;
  std::vector<Column> columns_;
  std::vector<Series> series_;
  std::vector<std::vector<bool>> seen_;
  std::map<std::string, std::size_t> names_;
  std::size_t rows_ = 0;
};

std::string header_cell(const std::string& name, std::size_t element) {
  std::string text = fmt::format("{}[{}]", name, element);
  // Programs for tables take what begins so for a formula, and run it: with a space, which readers here leave out, not.
  if (std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) text.insert(0, " ");
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::size_t row_elements(const Array& array) {
  std::size_t count = 1;
  for (std::size_t i = 1; i < array.shape.size(); ++i) count *= static_cast<std::size_t>(array.shape[i]);
  return count;
}

}  // namespace

Result<std::vector<Series>> parse_csv(std::string_view text, const FindType& find) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // some editors put it there
  if (!is_utf8(text.substr(0, std::min(text.find('\n'), text.size())))) return data_loss("line 1: not UTF-8");
  Reader reader(find);
  LEAPP_RETURN_IF_ERROR(reader.read_header(text));
  std::size_t number = 1;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    ++number;
    if (text.empty() && trimmed(line).empty()) break;
    LEAPP_RETURN_IF_ERROR(reader.read_row(line, number));
  }
  if (number == 1) return data_loss("expected a line of numbers for each step, found none");
  return std::move(reader).finish();
}

std::string csv_text(std::span<const Array> arrays) {
  std::string text;
  for (const Array& array : arrays) {
    for (std::size_t i = 0; i < row_elements(array); ++i) {
      text += (text.empty() ? "" : ",") + header_cell(array.name, i);
    }
  }
  text += '\n';
  const std::size_t rows = arrays.empty() ? 0 : static_cast<std::size_t>(arrays.front().shape.front());
  for (std::size_t row = 0; row < rows; ++row) {
    bool first = true;
    for (const Array& array : arrays) {
      const std::size_t count = row_elements(array);
      for (std::size_t i = 0; i < count; ++i) {
        if (!std::exchange(first, false)) text += ',';
        text += inspect::element_text(array.dtype, array.bytes.data() + (row * count + i) * dtype_size(array.dtype));
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace leapp::cli
