// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/pending_op.h"

#include <algorithm>

#include "capture/hook/arguments.h"
#include "capture/hook/op_info.h"

namespace leapp::capture {

bool PendingOp::shares_memory(const at::Tensor& tensor) const {
  if (!tensor.has_storage()) return false;
  const c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  return std::find(input_storages.begin(), input_storages.end(), storage) != input_storages.end();
}

bool PendingOp::is_random() const {
  if (!info->facts().random) return false;
  for (const char* name : {"train", "training"}) {
    if (info->argument(name) >= 0 && !flag(*this, {name})) return false;
  }
  for (const char* name : {"p", "dropout_p", "dropout"}) {
    const int position = info->argument(name);
    if (position < 0) continue;
    const c10::IValue& value = arguments[static_cast<std::size_t>(position)].attribute;
    if (value.isDouble() && value.toDouble() == 0.0) return false;
  }
  return true;
}

std::uint32_t version_of(const at::Tensor& tensor) {
  const c10::VariableVersion& counter = tensor.unsafeGetTensorImpl()->version_counter();
  return counter.enabled() ? counter.current_version() : 0;
}

}  // namespace leapp::capture
