// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/tensor_names.h"

namespace leapp::capture {

void TensorNames::set(const at::Tensor& tensor, std::string name, bool parameter) {
  names_.insert_or_assign(tensor.unsafeGetTensorImpl(),
                          Name{WeakTensor(tensor.getIntrusivePtr()), std::move(name), parameter});
}

void TensorNames::name(const std::shared_ptr<ConstantCell>& cell, const at::Tensor& tensor) {
  const Unnamed constant{cell, tensor.unsafeGetTensorImpl()};
  names_.contains(constant.tensor) ? name_again(constant) : unnamed_.push_back(constant);
}

void TensorNames::name_again(const Unnamed& constant) const {
  const auto found = names_.find(constant.tensor);
  if (found == names_.end()) return;
  constant.cell->name = found->second.name;
  constant.cell->parameter = found->second.parameter;
}

void TensorNames::sweep() {
  std::erase_if(names_, [](const auto& item) { return item.second.tensor.expired(); });
}

}  // namespace leapp::capture
