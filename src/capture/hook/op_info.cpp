// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/op_info.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "capture/hook/torch_version.h"

namespace leapp::capture {
namespace {

const std::unordered_map<std::string_view, OpClass>& classes() {
  static const std::unordered_map<std::string_view, OpClass> table = {
      {"aten::clone", OpClass::kIdentity},
      {"aten::contiguous", OpClass::kIdentity},
      {"aten::detach", OpClass::kIdentity},
      {"aten::detach_copy", OpClass::kIdentity},
      {"aten::alias", OpClass::kIdentity},
      {"aten::alias_copy", OpClass::kIdentity},
      {"aten::lift", OpClass::kFilled},
      {"aten::lift_fresh", OpClass::kFilled},
      {"aten::lift_fresh_copy", OpClass::kFilled},
      {"aten::to", OpClass::kIdentity},
      {"aten::_to_copy", OpClass::kIdentity},
      {"aten::type_as", OpClass::kIdentity},
      {"aten::cpu", OpClass::kIdentity},
      {"aten::cuda", OpClass::kIdentity},
      {"aten::positive", OpClass::kIdentity},
      {"aten::pin_memory", OpClass::kIdentity},
      {"aten::_pin_memory", OpClass::kIdentity},
      {"aten::view_as", OpClass::kReshape},
      {"aten::reshape_as", OpClass::kReshape},
      {"aten::_unsafe_view", OpClass::kReshape},
      {"aten::_reshape_alias", OpClass::kReshape},
      {"aten::_reshape_alias_copy", OpClass::kReshape},
      {"aten::as_strided", OpClass::kAsStrided},
      {"aten::as_strided_copy", OpClass::kAsStrided},
      {"aten::as_strided_scatter", OpClass::kAsStridedScatter},
      {"aten::empty", OpClass::kUninitialised},
      {"aten::empty_like", OpClass::kUninitialised},
      {"aten::empty_strided", OpClass::kUninitialised},
      {"aten::empty_permuted", OpClass::kUninitialised},
      {"aten::new_empty", OpClass::kUninitialised},
      {"aten::new_empty_strided", OpClass::kUninitialised},
      {"aten::_efficientzerotensor", OpClass::kFull},
      {"aten::zeros_like", OpClass::kFull},
      {"aten::ones_like", OpClass::kFull},
      {"aten::full_like", OpClass::kFull},
      {"aten::new_zeros", OpClass::kFull},
      {"aten::new_ones", OpClass::kFull},
      {"aten::new_full", OpClass::kFull},
      {"aten::fill_", OpClass::kFill},
      {"aten::zero_", OpClass::kFill},
      {"aten::fill_diagonal_", OpClass::kFillDiagonal},
      {"leapp::control_", OpClass::kControl},
      {"aten::copy_", OpClass::kCopy},
      {"aten::batch_norm", OpClass::kBatchNorm},
      {"aten::native_batch_norm", OpClass::kBatchNorm},
      {"aten::_native_batch_norm_legit", OpClass::kBatchNorm},
      {"aten::cudnn_batch_norm", OpClass::kBatchNorm},
      {"aten::miopen_batch_norm", OpClass::kBatchNorm},
      {"aten::instance_norm", OpClass::kInstanceNorm},
      {"aten::set_", OpClass::kIgnored},
      {"aten::set_data", OpClass::kIgnored},
      {"aten::data", OpClass::kIdentity},
      {"aten::resize_", OpClass::kIgnored},
      {"aten::resize_as_", OpClass::kIgnored},
      {"aten::_resize_output_", OpClass::kIgnored},
      {"aten::as_strided_", OpClass::kIgnored},
      {"aten::detach_", OpClass::kIgnored},
      {"aten::requires_grad_", OpClass::kIgnored},
      {"aten::retain_grad", OpClass::kIgnored},
      {"aten::record_stream", OpClass::kIgnored},
      {"aten::rename_", OpClass::kIgnored},
      {"aten::_backward", OpClass::kIgnored},
      {"aten::size", OpClass::kMetadata},
      {"aten::sym_size", OpClass::kMetadata},
      {"aten::stride", OpClass::kMetadata},
      {"aten::sym_stride", OpClass::kMetadata},
      {"aten::numel", OpClass::kMetadata},
      {"aten::sym_numel", OpClass::kMetadata},
      {"aten::storage_offset", OpClass::kMetadata},
      {"aten::sym_storage_offset", OpClass::kMetadata},
      {"aten::dim", OpClass::kMetadata},
      {"aten::len", OpClass::kMetadata},
      {"aten::is_same_size", OpClass::kMetadata},
      {"aten::is_floating_point", OpClass::kMetadata},
      {"aten::is_complex", OpClass::kMetadata},
      {"aten::is_signed", OpClass::kMetadata},
      {"aten::is_conj", OpClass::kMetadata},
      {"aten::is_neg", OpClass::kMetadata},
      {"aten::_is_zerotensor", OpClass::kMetadata},
      {"aten::is_inference", OpClass::kMetadata},
      {"aten::is_leaf", OpClass::kMetadata},
      {"aten::is_pinned", OpClass::kMetadata},
      {"aten::is_set_to", OpClass::kMetadata},
      {"aten::is_distributed", OpClass::kMetadata},
      {"aten::output_nr", OpClass::kMetadata},
      {"aten::retains_grad", OpClass::kMetadata},
      {"aten::_version", OpClass::kMetadata},
      {"aten::_has_same_storage_numel", OpClass::kMetadata},
      {"aten::_has_compatible_shallow_copy_type", OpClass::kMetadata},
      {"aten::result_type", OpClass::kMetadata},
      {"aten::can_cast", OpClass::kMetadata},
      {"aten::qscheme", OpClass::kMetadata},
      {"aten::_debug_has_internal_overlap", OpClass::kMetadata},
      {"aten::_nested_tensor_size", OpClass::kMetadata},
      {"aten::_use_cudnn_ctc_loss", OpClass::kMetadata},
      {"aten::_use_cudnn_rnn_flatten_weight", OpClass::kMetadata},
      {"aten::cudnn_is_acceptable", OpClass::kMetadata},
      {"aten::is_vulkan_available", OpClass::kMetadata},
      {"aten::_nnpack_available", OpClass::kMetadata},
      {"aten::_fused_sdp_choice", OpClass::kMetadata},
      {"aten::_assert_tensor_metadata", OpClass::kMetadata},
  };
  return table;
}

OpClass classify(const std::string& name, const std::string& overload) {
  // view.dtype reads the bits anew; every other view is a reshape.
  if (name == "aten::view") return overload == "dtype" ? OpClass::kPlain : OpClass::kReshape;
  const auto found = classes().find(name);
  return found == classes().end() ? OpClass::kPlain : found->second;
}

bool is_tensor_like(const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::TensorType) return true;
  if (const auto optional = type->cast<c10::OptionalType>()) return is_tensor_like(optional->getElementType());
  if (const auto list = type->cast<c10::ListType>()) return is_tensor_like(list->getElementType());
  return false;
}

template <std::size_t count>
bool is_one_of(const std::string& name, const std::array<std::string_view, count>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// All overloads of a name: the dispatcher offers only a flat list of everything it knows.
std::vector<c10::OperatorHandle> overloads(const std::string& name) {
  static const auto* index = [] {
    auto* table = new std::unordered_map<std::string, std::vector<c10::OperatorName>>();
    for (const c10::OperatorName& op : c10::Dispatcher::singleton().getAllOpNames()) (*table)[op.name].push_back(op);
    for (auto& [key, names] : *table) {
      std::sort(names.begin(), names.end(),
                [](const auto& a, const auto& b) { return a.overload_name < b.overload_name; });
    }
    return table;
  }();
  std::vector<c10::OperatorHandle> handles;
  const auto found = index->find(name);
  if (found == index->end()) return handles;
  for (const c10::OperatorName& op : found->second) {
    if (auto handle = c10::Dispatcher::singleton().findSchema(op)) handles.push_back(*handle);
  }
  return handles;
}

bool writes_nothing(const c10::FunctionSchema& schema) {
  return std::none_of(schema.arguments().begin(), schema.arguments().end(), [](const c10::Argument& argument) {
    return argument.alias_info() && argument.alias_info()->isWrite();
  });
}

std::vector<std::string> functional_names(const std::string& name) {
  if (name == "aten::normal_") return {"aten::normal_functional"};
  if (name.rfind("aten::__i", 0) == 0) return {"aten::__" + name.substr(9)};  // __iand__ -> __and__
  std::vector<std::string> names;
  if (name.back() == '_' && name[name.size() - 2] != '_') names.push_back(name.substr(0, name.size() - 1));
  names.push_back(name);
  names.push_back(name + "_functional");
  return names;
}

// Matches arguments by name. An argument the twin lacks must be one that is only written to.
std::optional<std::vector<int>> match_arguments(const c10::FunctionSchema& twin, const c10::FunctionSchema& original) {
  std::vector<int> mapping;
  std::vector<bool> used(original.arguments().size(), false);
  for (const c10::Argument& wanted : twin.arguments()) {
    int found = -1;
    for (std::size_t i = 0; i < original.arguments().size(); ++i) {
      const c10::Argument& given = original.arguments()[i];
      const bool both_first = i == 0 && mapping.empty();  // `self` of dropout_ is `input` of dropout
      if ((given.name() == wanted.name() || both_first) && *given.type() == *wanted.type()) found = static_cast<int>(i);
    }
    if (found < 0 && !wanted.default_value()) return std::nullopt;
    if (found >= 0) used[static_cast<std::size_t>(found)] = true;
    mapping.push_back(found);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    const c10::Argument& given = original.arguments()[i];
    if (!used[i] && !(given.alias_info() && given.alias_info()->isWrite())) return std::nullopt;
  }
  return mapping;
}

}  // namespace

OpInfo::OpInfo(const c10::OperatorHandle& handle)
    : handle_(std::make_unique<const c10::OperatorHandle>(handle)), schema_(handle_->schema()) {
  class_ = classify(name(), overload());
  read_schema();
  facts_.random = handle_->hasTag(at::Tag::nondeterministic_seeded);
  facts_.dynamic_shape = handle_->hasTag(at::Tag::dynamic_output_shape);
  facts_.inplace_view = handle_->hasTag(at::Tag::inplace_view);
  facts_.pointwise = handle_->hasTag(at::Tag::pointwise);
  facts_.composite = handle_->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
  read_name();
}

void OpInfo::read_schema() {
  for (std::size_t i = 0; i < schema_.arguments().size(); ++i) {
    const c10::AliasInfo* alias = schema_.arguments()[i].alias_info();
    if (alias && alias->isWrite()) writes_.push_back(i);
  }
  // The classes describe functional forms; an out= overload is written through its twin.
  if (!writes_.empty() && class_ < OpClass::kFill) class_ = OpClass::kPlain;
  for (const c10::Argument& result : schema_.returns()) {
    if (is_tensor_like(result.type())) facts_.returns_tensor = true;
    int written = -1;
    if (result.alias_info() && result.alias_info()->isWrite()) {
      for (const std::size_t i : writes_) {
        if (schema_.arguments()[i].alias_info()->beforeSets() == result.alias_info()->beforeSets())
          written = static_cast<int>(i);
      }
    }
    return_aliases_.push_back(written);
  }
  facts_.gives_views = writes_.empty() && std::any_of(schema_.returns().begin(), schema_.returns().end(),
                                                      [](const c10::Argument& result) { return result.alias_info(); });
}

// What nothing but its name tells. Names are compared here, once, not for every call.
void OpInfo::read_name() {
  // Ours never come into a model as they are.
  static constexpr std::array<std::string_view, 9> kOwn = {
      "aten::",     "prims::",    "prim::",           "quantized::", "mkldnn::",
      "inductor::", "profiler::", "static_runtime::", "leapp::"};
  facts_.torchs_own =
      std::any_of(kOwn.begin(), kOwn.end(), [&](std::string_view space) { return name().starts_with(space); });
  static constexpr std::array<std::string_view, 8> kOverSelf = {
      "aten::normal_",     "aten::uniform_",   "aten::exponential_", "aten::cauchy_",
      "aten::log_normal_", "aten::geometric_", "aten::bernoulli_",   "aten::random_"};
  facts_.draws_over_self = is_one_of(name(), kOverSelf);
  static constexpr std::array<std::string_view, 4> kDeciding = {"aten::is_nonzero", "aten::item", "aten::equal",
                                                                "aten::allclose"};
  facts_.may_decide = is_one_of(name(), kDeciding);
  static constexpr std::array<std::string_view, 5> kSearching = {
      "aten::nonzero", "aten::nonzero_numpy", "aten::argwhere", "aten::masked_select", "aten::index"};
  const bool where = name() == "aten::where" && overload().empty();
  facts_.searches = where || is_one_of(name(), kSearching);
  // These lack the tag that would say so.
  static constexpr std::array<std::string_view, 3> kUntagged = {"aten::nonzero_numpy", "aten::repeat_interleave",
                                                                "torchvision::nms"};
  facts_.may_shape_by_data =
      facts_.dynamic_shape || where || is_one_of(name(), kUntagged) || overload() == "tensor_indices_or_sections";
}

OpInfo::~OpInfo() = default;

void OpInfo::run(std::vector<c10::IValue>& stack) const { handle_->callBoxed(stack); }

std::string OpInfo::qualified_name() const { return overload().empty() ? name() : name() + "." + overload(); }

bool OpInfo::has_kernel(c10::DispatchKey key) const { return handle_->hasKernelForDispatchKey(key); }

int OpInfo::argument(std::string_view wanted) const {
  for (std::size_t i = 0; i < schema_.arguments().size(); ++i) {
    if (schema_.arguments()[i].name() == wanted) return static_cast<int>(i);
  }
  return -1;
}

bool OpInfo::reads(std::size_t argument) const {
  if (writes_.empty() || std::find(writes_.begin(), writes_.end(), argument) == writes_.end()) return true;
  if (class_ == OpClass::kFill || class_ == OpClass::kCopy) return false;
  const std::vector<int>& used = twin().arguments;
  return !twin().op || std::find(used.begin(), used.end(), static_cast<int>(argument)) != used.end();
}

const FunctionalVariant& OpInfo::twin() const {
  static std::mutex mutex;  // the last operators of one session and the first of the next may meet
  const std::lock_guard lock(mutex);
  if (twin_) return *twin_;
  FunctionalVariant best;  // kept once it is found: memory may run out before
  const std::size_t own = static_cast<std::size_t>(std::count(return_aliases_.begin(), return_aliases_.end(), -1));
  std::size_t best_score = 0;
  for (const std::string& candidate : functional_names(name())) {
    for (const c10::OperatorHandle& handle : overloads(candidate)) {
      const c10::FunctionSchema& schema = handle.schema();
      if (!writes_nothing(schema)) continue;
      auto mapping = match_arguments(schema, schema_);
      if (!mapping) continue;
      const std::size_t results = schema.returns().size();
      const bool one_list = results == 1 && writes_.size() == 1;
      if (!one_list && results != own + writes_.size()) continue;
      const std::size_t score = 1 + (handle.operator_name().overload_name == overload() ? 1 : 0);
      if (score <= best_score) continue;
      best_score = score;
      best = FunctionalVariant{op_info(candidate, handle.operator_name().overload_name), std::move(*mapping),
                               one_list ? 0 : own};
    }
    if (best_score > 0) break;
  }
  return twin_.emplace(std::move(best));
}

namespace {

struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<const char*, const OpInfo*> by_address;  // of the name inside the dispatcher's schema
  std::unordered_map<std::string, std::unique_ptr<OpInfo>> by_name;
};

Registry& registry() {
  static auto* table = new Registry();
  return *table;
}

}  // namespace

const OpInfo* find_op_info(const std::string& name, const std::string& overload) {
  Registry& table = registry();
  const std::string key = name + "." + overload;
  {
    const std::shared_lock lock(table.mutex);
    if (const auto found = table.by_name.find(key); found != table.by_name.end()) return found->second.get();
  }
  const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  if (!handle) return nullptr;
  auto made = std::make_unique<OpInfo>(*handle);
  const std::unique_lock lock(table.mutex);
  return table.by_name.try_emplace(key, std::move(made)).first->second.get();
}

const OpInfo* op_info(const std::string& name, const std::string& overload) {
  const OpInfo* found = find_op_info(name, overload);
  TORCH_CHECK(found, "LEAPP needs the operator ", name, ".", overload, ", which this PyTorch does not have");
  return found;
}

const OpInfo* op_info(const at::RecordFunction& record) {
  Registry& table = registry();
  const char* address = record.name();
  {
    const std::shared_lock lock(table.mutex);
    const auto found = table.by_address.find(address);
    if (found != table.by_address.end() && found->second->name() == address &&
        is_overload(record, found->second->overload())) {
      return found->second;
    }
  }
  const std::optional<c10::OperatorName> name = record.operator_name();
  if (!name) return nullptr;
  const OpInfo* info = find_op_info(name->name, name->overload_name);
  if (info) {
    const std::unique_lock lock(table.mutex);
    table.by_address[address] = info;
  }
  return info;
}

}  // namespace leapp::capture
