// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/arguments.h"

#include <c10/core/Layout.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "capture/hook/hook.h"
#include "capture/hook/op_info.h"
#include "capture/hook/pending_op.h"

namespace leapp::capture {

bool is_tensor_list(const c10::IValue& value) {
  if (value.isTensorList() || value.isOptionalTensorList()) return true;
  if (!value.isList()) return false;
  const auto items = value.toListRef();
  return !items.empty() && std::all_of(items.begin(), items.end(),
                                       [](const c10::IValue& item) { return item.isTensor() || item.isNone(); });
}

c10::IValue wrapped_number(const at::Tensor& tensor) {
  // A number is the CPU's.
  const void* data = tensor.const_data_ptr();
  switch (tensor.scalar_type()) {
    case at::kDouble:
      return *static_cast<const double*>(data);
    case at::kLong:
      return *static_cast<const std::int64_t*>(data);
    case at::kBool:
      return *static_cast<const bool*>(data);
    default:
      break;
  }
  const Suppress quiet;
  return c10::IValue(tensor.item());
}

c10::IValue frozen(const c10::IValue& value, const c10::Argument& formal) {
  if (value.isGenerator()) return c10::IValue();
  if (value.isDevice()) {
    const bool optional = formal.type()->kind() == c10::TypeKind::OptionalType;
    return optional ? c10::IValue() : c10::IValue(c10::Device(c10::DeviceType::CPU));
  }
  if (value.isBool() && formal.name() == "pin_memory") return c10::IValue();
  return value.isList() ? value.deepcopy() : value;
}

ActivationId owner_of(const std::vector<TraceArgument>& arguments) {
  for (const TraceArgument& argument : arguments) {
    if (argument.tensor && argument.tensor->owner != 0) return argument.tensor->owner;
    for (const ValuePtr& value : argument.list) {
      if (value && value->owner != 0) return value->owner;
    }
  }
  return 0;
}

bool flag(const PendingOp& op, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const int position = op.info->argument(name);
    if (position < 0) continue;
    const c10::IValue& value = op.arguments[static_cast<std::size_t>(position)].attribute;
    return value.isBool() && value.toBool();
  }
  return false;
}

bool shape_depends_on_data(const TraceOp& op) {
  if (!op.info->facts().may_shape_by_data) return false;
  const std::string& name = op.info->name();
  if (name == "aten::nonzero_numpy" || (name == "aten::where" && op.info->overload().empty())) return true;
  if (name == "torchvision::nms") return true;
  const bool by_argument = (name == "aten::repeat_interleave" && op.info->overload() == "self_Tensor") ||
                           op.info->overload() == "tensor_indices_or_sections";
  if (by_argument) {
    const int size = op.info->argument("output_size");
    const bool given = size >= 0 && !op.arguments[static_cast<std::size_t>(size)].attribute.isNone();
    return !given && op.arguments[1].tensor && op.arguments[1].tensor->owner != 0;
  }
  if (!op.info->facts().dynamic_shape || op.info->name() == "aten::linalg_lstsq") return false;
  if (op.info->name() == "aten::one_hot")
    return op.arguments[1].attribute.isInt() && op.arguments[1].attribute.toInt() < 0;
  if (op.info->name() != "aten::index") return true;
  const auto& indices = op.arguments[1].list;
  return std::any_of(indices.begin(), indices.end(), [](const ValuePtr& index) {
    return index && index->owner != 0 && (index->type.dtype == at::kBool || index->type.dtype == at::kByte);
  });
}

ValueType type_of(const at::Tensor& tensor) {
  if (tensor.is_nested()) return {tensor.scalar_type(), {}};
  return {tensor.scalar_type(), c10::DimVector(tensor.sizes())};
}

bool is_dense(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && !tensor.is_nested() && !tensor.is_quantized();
}

std::string layout_text(const at::Tensor& tensor) {
  if (tensor.is_nested()) return "nested";
  if (tensor.is_quantized()) return "quantised";
  std::ostringstream text;
  text << tensor.layout();
  std::string lower = text.str();
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

}  // namespace leapp::capture
