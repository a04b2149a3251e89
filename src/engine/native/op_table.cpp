// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/op_table.h"

#include <map>

namespace leapp::native {

const LowerEntry* find_lowering(std::string_view name) {
  static const auto* const table = [] {
    auto* rows = new std::map<std::string_view, const LowerEntry*>;
    for (const LowerEntries family :
         {elementwise_ops(), casting_ops(), matrix_ops(), shape_ops(), layout_ops(), indexing_ops(), scatter_ops(),
          reduction_ops(), ordering_ops(), normalisation_ops(), convolution_ops(), pooling_ops(), sampling_ops(),
          recurrent_ops(), control_ops()}) {
      for (const LowerEntry& entry : family) rows->emplace(entry.name, &entry);
    }
    return rows;
  }();
  const auto row = table->find(name);
  return row == table->end() ? nullptr : row->second;
}

}  // namespace leapp::native
