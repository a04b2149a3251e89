// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/tensor_content.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/hash.h"
#include "capture/hook/arguments.h"
#include "capture/hook/hook.h"
#include "torch_types/host.h"
#include "torch_types/tensors.h"

namespace leapp::capture {
namespace {

constexpr std::int64_t kShown = 4;  // elements in a message

class TensorContent : public Content {
 public:
  explicit TensorContent(at::Tensor tensor) : tensor_(std::move(tensor)) {}

  [[nodiscard]] const at::Tensor& tensor() const { return tensor_; }
  [[nodiscard]] ValueType type() const override { return type_of(tensor_); }
  [[nodiscard]] std::uint64_t hash() const override { return content_hash(tensor_); }
  [[nodiscard]] std::string text() const override {
    const Suppress quiet;
    const std::int64_t shown = std::min<std::int64_t>(tensor_.numel(), kShown);
    const at::Tensor head = on_host(tensor_).reshape({-1}).narrow(0, 0, shown).to(at::kDouble).contiguous();
    std::string text;
    for (std::int64_t i = 0; i < shown; ++i) {
      text += fmt::format("{}{:.6g}", i ? ", " : "", static_cast<const double*>(head.const_data_ptr())[i]);
    }
    return "[" + text + (tensor_.numel() > shown ? ", ...]" : "]");
  }

 private:
  at::Tensor tensor_;
};

}  // namespace

at::Tensor locked(const WeakTensor& tensor) {
  auto strong = tensor.lock();
  return strong ? at::Tensor(std::move(strong)) : at::Tensor();
}

ContentPtr content_of(at::Tensor tensor) {
  return tensor.defined() ? std::make_shared<TensorContent>(std::move(tensor)) : nullptr;
}

const at::Tensor& tensor_of(const ContentPtr& content) {
  static const at::Tensor none;
  return content ? static_cast<const TensorContent&>(*content).tensor() : none;
}

ValueType TensorCell::type() const { return {tensor.scalar_type(), c10::DimVector(tensor.sizes())}; }
void TensorCell::seal() {
  if (!tensor.is_cpu()) {
    tensor = dense_copy(tensor);
    by_reference = false;
  }
  ConstantCell::seal();
}

std::uint64_t TensorCell::hash() const { return capture::content_hash(tensor); }

ContentPtr TensorCell::copy() const { return copied_content(tensor); }

std::optional<graph::Constant> TensorCell::exported() const { return to_constant(tensor); }

bool TensorCell::is_same_memory(const ConstantCell& other) const {
  const at::Tensor& theirs = tensor_of(other);
  return by_reference && other.by_reference && tensor.has_storage() && theirs.has_storage() &&
         tensor.device() == theirs.device() && tensor.const_data_ptr() == theirs.const_data_ptr() &&
         tensor.strides() == theirs.strides();
}

const void* TensorCell::storage() const {
  return tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

std::size_t TensorCell::storage_holders() const { return tensor.has_storage() ? tensor.storage().use_count() : 0; }

const at::Tensor& tensor_of(const ConstantCell& cell) { return static_cast<const TensorCell&>(cell).tensor; }

ValuePtr constant_of(at::Tensor tensor, LocationId location) {
  auto cell = std::make_shared<TensorCell>();
  cell->tensor = std::move(tensor);
  cell->by_reference = false;
  cell->location = location;
  return make_constant(std::move(cell));
}

std::string describe(const at::Tensor& tensor) {
  return fmt::format("{}[{}]", dtype_text(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "));
}

at::Tensor dense_copy(const at::Tensor& tensor) {
  const Suppress quiet;
  return copied_to_host(tensor);
}

ContentPtr copied_content(const at::Tensor& tensor) { return content_of(dense_copy(tensor)); }

std::uint64_t content_hash(const at::Tensor& tensor) {
  const Suppress quiet;
  const at::Tensor dense = on_host(tensor);
  return leapp::content_hash(std::span(static_cast<const std::byte*>(dense.const_data_ptr()), dense.nbytes()));
}

}  // namespace leapp::capture
