// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/tensor_notices.h"

#include <ATen/ops/allclose.h>
#include <fmt/format.h>

#include "capture/hook/hook.h"
#include "capture/recorder/op_recorder.h"
#include "capture/recorder/tensor_content.h"
#include "torch_types/host.h"

namespace leapp::capture {

void TensorNotices::name(const at::Tensor& tensor, const std::string& name, bool parameter) {
  const auto guard = recorder_->lock();
  if (!recorder_->is_complete()) return;
  recorder_->table().names().set(tensor, name, parameter);
}

Status TensorNotices::mirror(const at::Tensor& source, const at::Tensor& target) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  const bool same_type = source.defined() && target.defined() && source.sizes() == target.sizes() &&
                         source.scalar_type() == target.scalar_type();
  if (!same_type) {
    const auto text = [](const at::Tensor& tensor) { return tensor.defined() ? describe(tensor) : "none"; };
    return invalid_argument(
        fmt::format("mirror_leapp_tags: source is {}, target is {}; expected the same", text(source), text(target)));
  }
  if (content_hash(source) != content_hash(target)) {
    return invalid_argument("mirror_leapp_tags: source and target do not hold the same values");
  }
  const auto guard = recorder_->lock();
  LEAPP_RETURN_IF_ERROR(incomplete(recorder_->lost()));
  const ValuePtr value = recorder_->table().find(source);
  const ValuePtr known = recorder_->table().find(target);
  if (value && value != known) recorder_->table().write(target, value);
  return {};
}

void TensorNotices::release(const at::Tensor& tensor) {
  const auto guard = recorder_->lock();
  if (!recorder_->is_complete()) return;
  recorder_->table().release(tensor);
}

void TensorNotices::rewritten(const at::Tensor& tensor) {
  try {
    recorder_->note_escape(tensor, "a Python function that writes to it");
    const auto guard = recorder_->lock();
    if (recorder_->is_complete()) recorder_->table().overwrite_unknown(tensor);
  } catch (...) {
    recorder_->lose_to_exception("a write");  // it has been done, and nobody tells again
    throw;
  }
}

void TensorNotices::copied(const at::Tensor& source, const at::Tensor& copy) {
  const auto guard = recorder_->lock();
  if (!recorder_->is_complete()) return;
  const ValuePtr value = recorder_->table().find(source);
  const bool same =
      value && copy.defined() && source.sizes() == copy.sizes() && source.scalar_type() == copy.scalar_type();
  if (same) recorder_->table().bind_content(copy, value);
}

bool TensorNotices::repeated(const at::Tensor& recorded, const at::Tensor& result) {
  const bool same_type = recorded.scalar_type() == result.scalar_type() && recorded.sizes() == result.sizes();
  if (!same_type) return false;
  {
    const Unrecorded quiet;
    const at::Tensor a = on_host(recorded).detach().to(at::kDouble);
    const at::Tensor b = on_host(result).detach().to(at::kDouble);
    if (!at::allclose(a, b, /*rtol=*/1e-5, /*atol=*/1e-7, /*equal_nan=*/true)) return false;
  }
  copied(recorded, result);
  return true;
}

void TensorNotices::escaped(const at::Tensor& tensor, const std::string& how) { recorder_->note_escape(tensor, how); }

bool TensorNotices::is_live(const at::Tensor& tensor) {
  const auto guard = recorder_->lock();
  if (!recorder_->is_complete()) return false;
  const ValuePtr value = recorder_->table().find_own(tensor);
  return value && value->owner != 0;
}

bool TensorNotices::in_node() {
  const auto guard = recorder_->lock();
  if (!recorder_->is_complete()) return false;
  return recorder_->calls().any();
}

RowsDim TensorNotices::rows(const at::Tensor& tensor) {
  const LocationId where = front_end_.location();
  const auto guard = recorder_->lock();
  if (!recorder_->is_complete() || !recorder_->calls().any()) return {};
  recorder_->builder().set_current(nullptr, where);
  const ValuePtr value = recorder_->table().find(tensor);
  return value && is_operand(*value) ? value->rows : RowsDim();
}

void TensorNotices::length_asked(const at::Tensor& tensor) {
  const auto guard = recorder_->lock();
  if (!recorder_->is_complete()) return;
  const ValuePtr value = recorder_->table().find(tensor);
  if (!value || value->owner == 0 || !value->rows.source || !recorder_->calls().contains(value->owner)) return;
  const TraceOp& source = *value->rows.source;
  recorder_->escapes().length_followed(
      {recorder_->calls().name_of(value->owner), source.info->qualified_name(), source.location});
}

std::optional<c10::Scalar> TensorNotices::followed_number(const at::Tensor& tensor) {
  if (!in_node() || front_end_.is_only_checked()) return std::nullopt;
  const LocationId where = front_end_.location();
  const Unrecorded quiet;
  const c10::Scalar number = tensor.item();
  const auto guard = recorder_->lock();
  if (!recorder_->is_complete()) return number;
  const ValuePtr value = recorder_->table().find(tensor);
  if (!value || value->owner == 0) return number;
  recorder_->escapes().number_followed(recorder_->calls().name_of(value->owner), number.toDouble(), where);
  recorder_->escapes().number_left(value->owner, c10::IValue(number), where);
  return number;
}

at::Tensor TensorNotices::view_at(const IndexedView& wanted) {
  const at::Tensor& base = wanted.base;
  if (base.dim() == 0 || wanted.dim < -base.dim() || wanted.dim >= base.dim()) return {};
  const std::int64_t dim = wanted.dim < 0 ? wanted.dim + base.dim() : wanted.dim;
  const LocationId where = front_end_.location();
  std::optional<std::int64_t> length = wanted.length;
  if (wanted.stop.defined()) {
    const auto guard = recorder_->lock();
    if (!recorder_->is_complete()) return {};
    recorder_->builder().set_current(nullptr, where);
    length = distance(recorder_->table().operand(wanted.start), recorder_->table().operand(wanted.stop));
    if (!length) return {};
  }
  const Unrecorded quiet;
  const std::int64_t size = base.size(dim);
  const auto number = wanted.start.item<std::int64_t>();
  const std::int64_t first = number < 0 ? number + size : number;
  const std::int64_t end = first + length.value_or(1);
  // A slice that ends at 0 begins nowhere; one with other ends than these has another length.
  if (first < 0 || first >= size || end > size || end <= first || (wanted.stop.defined() && number < 0 && end == size))
    return {};
  const at::Tensor view = length ? base.narrow(dim, first, *length) : base.select(dim, first);
  const auto guard = recorder_->lock();
  if (!recorder_->is_complete() || !recorder_->calls().any()) return {};
  recorder_->builder().set_current(nullptr, where);
  const ValuePtr index = recorder_->table().operand(wanted.start, recorder_->calls().only());
  recorder_->table().bind_dynamic(view, base, {dim, index, length});
  return view;
}

}  // namespace leapp::capture
