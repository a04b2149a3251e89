// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the rows of a node's inputs may be.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/batch/batch_node.h"

namespace leapp::runtime {

/// Where rows may be: as they are, elsewhere but the same in memory, and where they have to be copied to.
struct BatchPlaces {
  std::vector<RowPlace> free;
  std::vector<RowPlace> copied;
};

/// None for what has no rows.
[[nodiscard]] BatchPlaces places_of(const RowValue& value);

/// All ways to place the rows of the inputs of which so many are copied, up to `most` of them.
class Ways {
 public:
  Ways(const std::vector<RowValue>& inputs, std::size_t most);

  [[nodiscard]] std::size_t inputs_with_rows() const;
  [[nodiscard]] std::vector<std::vector<RowPlace>> with_copies(std::size_t count);

 private:
  void extend(std::size_t input, std::size_t copies, std::vector<RowPlace>& way);

  std::size_t most_;
  std::vector<BatchPlaces> places_;
  std::vector<std::vector<RowPlace>> found_;
};

}  // namespace leapp::runtime
