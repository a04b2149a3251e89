// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/unguarded_variants.h"

#include <utility>

#include "capture/trace/slice.h"
#include "capture/trace/value_key.h"

namespace leapp::capture {
namespace {

void give_up(VariantLog& log) {
  log.given_up = true;
  log.by_signature.clear();
  log.variants.clear();
}

std::unique_ptr<NodeRecord> new_way(const NodeRecord& record) {
  auto way = std::make_unique<NodeRecord>();
  way->name = record.name;
  way->inputs = record.inputs;
  way->outputs = record.outputs;
  way->is_variant = true;
  return way;
}

}  // namespace

std::uint64_t signature_of(const std::vector<ValuePtr>& values) {
  std::uint64_t sum = 0;
  for (const TraceOp* op : slice_of(values).ops) sum += form_of(*op);
  return sum;
}

std::uint64_t form_of(const TraceOp& op) {
  std::uint64_t form = reinterpret_cast<std::uintptr_t>(op.info) ^ (std::uint64_t{op.location} << 40U);
  for (const TraceArgument& argument : op.arguments) {
    std::uint64_t part = 0;
    if (argument.kind == TraceArgument::Kind::kTensor) {
      part = argument.tensor && argument.tensor->owner != 0 ? 1 : 2;
    } else if (argument.kind == TraceArgument::Kind::kTensorList) {
      for (const ValuePtr& value : argument.list) part = part * 3 + (value && value->owner != 0 ? 1 : 2);
    } else if (argument.attribute.isInt() || argument.attribute.isDouble() || argument.attribute.isBool()) {
      part = hash_attribute(argument.attribute);
    }
    form = (form ^ part) * 0x100000001b3ULL;
  }
  return mix_hash(form, 17);
}

std::unique_ptr<NodeRecord> copy_of_way(const NodeRecord& record) {
  auto copy = new_way(record);
  copy->output_values = record.output_values;
  copy->survivors = record.survivors;
  copy->leaks = record.leaks;
  copy->divergences = record.divergences;
  copy->guards = record.guards;
  copy->ends = record.ends;
  copy->first_call = record.first_call;
  copy->taken = record.taken;
  copy->made_once = record.made_once;
  return copy;
}

UnguardedVariant take_way(NodeRecord& path, const CallTrace& call, bool first) {
  VariantLog& log = path.variants;
  if (first) {
    log.by_signature[call.signature] = 0;
    return {};
  }
  if (log.given_up) return {};
  const auto known = log.by_signature.find(call.signature);
  if (known != log.by_signature.end()) {
    if (log.variants.empty()) return {};
    NodeRecord* way = log.variants[known->second].get();
    way->taken.emplace_back(call.call, call.pass);
    return {way, false};
  }
  if (log.variants.size() >= kMaxWays || log.by_signature.size() >= 2 * kMaxWays) {
    give_up(log);
    return {};
  }
  if (log.variants.empty()) {
    log.variants.push_back(copy_of_way(path));
    // What has gone this way until now; `call` is among it already where there are guards.
    auto& taken = log.variants[0]->taken;
    if (path.guards.empty()) taken = log.calls;
    if (!taken.empty() && taken.back().first == call.call) taken.pop_back();
  }
  auto way = new_way(path);
  way->output_values = call.outputs;
  way->guards = call.guards;
  way->ends = call.ends;
  way->first_call = call.call;
  way->taken.emplace_back(call.call, call.pass);
  log.by_signature[call.signature] = log.variants.size();
  log.variants.push_back(std::move(way));
  return {log.variants.back().get(), true};
}

void settle_way(NodeRecord& path, const UnguardedVariant& taken, const CallTrace& call, bool differs) {
  if (!taken.is_new || differs) return;
  VariantLog& log = path.variants;
  log.by_signature[call.signature] = 0;
  log.variants.pop_back();
  log.variants[0]->taken.emplace_back(call.call, call.pass);
  if (log.variants.size() == 1) log.variants.clear();
}

}  // namespace leapp::capture
