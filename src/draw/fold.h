// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace leapp::draw {

/// A column of boxes: how much room it takes.
struct ColumnSize {
  double width = 0;
  double height = 0;
};

/// Which row each column goes to, so that the picture is largest on a sheet of A4: all 0 when one row is as good.
/// `gap` is the distance between columns.
[[nodiscard]] std::vector<std::size_t> fold(const std::vector<ColumnSize>& columns, double gap);

}  // namespace leapp::draw
