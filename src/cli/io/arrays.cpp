// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/io/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "bundle/files/safetensors.h"
#include "cli/io/csv.h"
#include "cli/io/npy.h"
#include "cli/io/output_file.h"
#include "inspect/numbers.h"
#include "leapp/bundle/reader.h"

namespace leapp::cli {
namespace {

namespace fs = std::filesystem;

enum class Format { kNpz, kSafetensors, kCsv };

Result<Format> format_of(const fs::path& path) {
  const std::string suffix = path.extension().string();
  if (suffix == ".npz") return Format::kNpz;
  if (suffix == ".safetensors") return Format::kSafetensors;
  if (suffix == ".csv") return Format::kCsv;
  return invalid_argument(fmt::format("{}: expected a name that ends in .npz, .safetensors or .csv", path.string()));
}

Result<std::vector<Array>> parse_tensors(std::span<const std::byte> file) {
  LEAPP_ASSIGN_OR_RETURN(const auto tensors, bundle::parse_safetensors(file));
  std::vector<Array> arrays;
  arrays.reserve(tensors.size());
  for (const bundle::StoredTensor& tensor : tensors) {
    arrays.push_back({tensor.name, tensor.dtype, tensor.shape, {tensor.bytes.begin(), tensor.bytes.end()}});
  }
  return arrays;
}

// [N] in front of the port's shape, of which leading ones may be missing.
bool is_row_of(std::span<const std::int64_t> found, std::span<const std::int64_t> shape) {
  if (found.empty()) return false;
  const auto rest = found.subspan(1);
  while (shape.size() > rest.size() && shape.front() == 1) shape = shape.subspan(1);
  return std::equal(rest.begin(), rest.end(), shape.begin(), shape.end());
}

Status convert(Array& array, const ArrayType& type) {
  if (!inspect::is_number(array.dtype)) {
    return wrong_type(
        fmt::format("{}: expected {}, found {}", array.name, dtype_name(type.dtype), dtype_name(array.dtype)));
  }
  const std::size_t from = dtype_size(array.dtype);
  const std::size_t to = dtype_size(type.dtype);
  std::vector<std::byte> bytes(array.bytes.size() / from * to);
  for (std::size_t i = 0; i < bytes.size() / to; ++i) {
    const std::byte* element = array.bytes.data() + i * from;
    if (!inspect::convert_element({array.dtype, element}, type.dtype, bytes.data() + i * to)) {
      return wrong_type(fmt::format("{}: {}, its element {}, is not a {}", array.name,
                                    inspect::element_text(array.dtype, element), i, dtype_name(type.dtype)));
    }
  }
  array.bytes = std::move(bytes);
  array.dtype = type.dtype;
  return {};
}

Status check_fit(const ArrayType& found, const ArrayType& type, bool cast) {
  const bool fits = found.shape == type.shape || is_row_of(found.shape, type.shape);
  if (fits && (found.dtype == type.dtype || cast)) return {};
  std::string wanted = shape_text(type.shape);
  wanted.insert(1, type.shape.empty() ? "N" : "N,");
  return wrong_type(fmt::format("{}: expected {}{}, found {}{}", found.name, dtype_name(type.dtype), wanted,
                                type_text(found.dtype, found.shape), fits ? "; --cast converts it" : ""));
}

Result<Series> fit(Array array, const ArrayType& type, bool cast) {
  LEAPP_RETURN_IF_ERROR(check_fit({array.name, array.dtype, array.shape}, type, cast));
  const bool held = array.shape == type.shape;
  if (array.dtype != type.dtype) LEAPP_RETURN_IF_ERROR(convert(array, type));
  const std::size_t steps = held ? 1 : static_cast<std::size_t>(array.shape.front());
  return Series{.type = &type, .steps = steps, .held = held, .bytes = std::move(array.bytes)};
}

Result<std::vector<Series>> fit_all(std::vector<Array> arrays, const ReadOptions& options) {
  std::vector<Series> all;
  std::set<std::string> seen;
  for (Array& array : arrays) {
    LEAPP_ASSIGN_OR_RETURN(const ArrayType* type, options.find(array.name));
    if (type == nullptr) continue;
    if (!seen.insert(type->name).second) return data_loss(fmt::format("{} is given twice", type->name));
    LEAPP_ASSIGN_OR_RETURN(Series series, fit(std::move(array), *type, options.cast));
    all.push_back(std::move(series));
  }
  return all;
}

/// Only what a port can take is inflated: an .npz of a megabyte may hold a gigabyte.
Result<std::vector<Array>> parse_fitting_npz(std::span<const std::byte> file, const ReadOptions& options) {
  const auto wants = [&](const ArrayType& found) -> Result<bool> {
    LEAPP_ASSIGN_OR_RETURN(const ArrayType* type, options.find(found.name));
    if (type == nullptr) return false;
    LEAPP_RETURN_IF_ERROR(check_fit(found, *type, options.cast));
    return true;
  };
  return parse_npz(file, {.wants = wants, .memory_limit = options.memory_limit});
}

Result<std::vector<Series>> read(const fs::path& path, const ReadOptions& options) {
  LEAPP_ASSIGN_OR_RETURN(const Format format, format_of(path));
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> file, bundle::read_file(path, options.memory_limit));
  if (format == Format::kCsv) {
    return parse_csv({reinterpret_cast<const char*>(file.data()), file.size()}, options.find);
  }
  LEAPP_ASSIGN_OR_RETURN(std::vector<Array> arrays,
                         format == Format::kNpz ? parse_fitting_npz(file, options) : parse_tensors(file));
  return fit_all(std::move(arrays), options);
}

}  // namespace

std::size_t ArrayType::elements() const {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

Result<std::vector<Series>> read_series(const fs::path& path, const ReadOptions& options) {
  auto found = read(path, options);
  if (found.ok() || found.status().message().find(path.string()) != std::string::npos) return found;
  return Status(found.status().code(), fmt::format("{}: {}", path.string(), found.status().message()));
}

Status check_writable(const fs::path& path) {
  LEAPP_ASSIGN_OR_RETURN([[maybe_unused]] const Format format, format_of(path));
  return check_output(path);
}

Status write_arrays(const fs::path& path, std::span<const Array> arrays, bool deflated) {
  LEAPP_ASSIGN_OR_RETURN(const Format format, format_of(path));
  if (format == Format::kCsv) {
    const std::string text = csv_text(arrays);
    return write_output(path, std::as_bytes(std::span(text)));
  }
  std::vector<bundle::TensorEntry> entries;
  for (const Array& array : arrays) entries.push_back({array.name, array.dtype, array.shape, array.bytes});
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                         format == Format::kNpz ? npz_bytes(arrays, deflated) : bundle::safetensors_bytes(entries));
  return write_output(path, bytes);
}

}  // namespace leapp::cli
