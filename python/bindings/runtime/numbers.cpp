// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "numbers.h"

#include <fmt/format.h>

#include <cstring>

#include "array_in.h"
#include "array_out.h"
#include "common/exceptions.h"
#include "runtime/pipeline/elements.h"

namespace nb = nanobind;

namespace leapp::python {

std::vector<double> numbers_of(nb::handle value, std::string_view where) {
  ArrayIn array;
  array.open(value, where);
  if (!array.dtype() || !is_port_dtype(*array.dtype())) {
    raise(invalid_argument(fmt::format("{}: expected an array of numbers, found {}", where, array.type_text())));
  }
  std::size_t count = 1;
  for (const std::int64_t extent : array.shape()) count *= static_cast<std::size_t>(extent);
  std::vector<std::byte> bytes(count * dtype_size(*array.dtype()));
  array.copy_to(bytes.data());
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = runtime::load_element(*array.dtype(), bytes.data(), i);
  return numbers;
}

nb::object array_of(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                    const std::vector<std::byte>& bytes) {
  nb::list extents;
  for (const std::int64_t extent : shape) extents.append(extent);
  const std::vector<PortInfo> port{{name, nb::str(name.c_str()), dtype, shape, nb::tuple(extents)}};
  const ArrayLibrary library = ArrayLibrary::current();
  library.check(port);
  const ArrayOut made = library.make(port.front());
  if (!bytes.empty()) std::memcpy(made.data, bytes.data(), bytes.size());
  return made.array;
}

nb::object array_of(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                    std::span<const double> numbers) {
  std::vector<std::byte> bytes(numbers.size() * dtype_size(dtype));
  for (std::size_t i = 0; i < numbers.size(); ++i) runtime::store_element(dtype, bytes.data(), i, numbers[i]);
  return array_of(name, dtype, shape, bytes);
}

}  // namespace leapp::python
