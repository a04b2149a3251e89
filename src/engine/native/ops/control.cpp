// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// If and Loop. The body of either is a block of its own; shapes are those of the first round, and stay.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/text.h"
#include "engine/native/op_table.h"
#include "engine/native/ops/arguments.h"
#include "engine/native/ops/common.h"
#include "engine/native/program.h"

namespace leapp::native {
namespace {

bool branch(const Branch& args) noexcept {
  return run_block(*args.condition != 0 ? *args.then_block : *args.else_block);
}
constexpr Kernel kBranch = kernel_of<&branch>("if", "a side of a branch failed");

bool rounds(const Rounds& args) noexcept {
  const std::int64_t limit = args.limit == nullptr ? std::numeric_limits<std::int64_t>::max() : *args.limit;
  *args.keep_on = args.start == nullptr || *args.start != 0 ? 1 : 0;
  for (std::int64_t round = 0; round < limit && *args.keep_on != 0; ++round) {
    *args.round = round;
    if (!run_block(*args.body)) return false;
  }
  return true;
}
constexpr Kernel kLoop = kernel_of<&rounds>("loop", "a round of a loop failed");

void copy_value(Lowering& b, ValueId from, ValueId to) {
  if (b.dtype(from) != b.dtype(to) || b.shape(from) != b.shape(to)) {
    refuse(fmt::format("{} in one place, {} in another", type_text(b.dtype(from), b.shape(from)),
                       type_text(b.dtype(to), b.shape(to))));
  }
  copy_bytes(b, from, to);
}

void lower_if(Lowering& b) {
  const ValueId condition = b.input(0);
  const auto then_graph = b.attr_graph("then_branch");
  const auto else_graph = b.attr_graph("else_branch");
  if (!then_graph || !else_graph) refuse("a branch without its sides");
  if (b.dtype(condition) != DType::kBool || b.elements(condition) != 1) refuse("a condition that is not a bool");
  if (b.is_constant(condition)) {
    const bool taken = b.bytes(condition)[0] != std::byte{0};
    const auto results = b.inline_graph(taken ? *then_graph : *else_graph, {});
    for (std::size_t i = 0; i < results.size(); ++i) b.bind(i, b.reshaped(results[i], b.shape(results[i])));
    return;
  }
  std::vector<ValueId> results;
  Branch args;
  Block then_block = b.lower_graph(*then_graph, {}, [&](const std::vector<ValueId>& made) {
    for (const ValueId value : made) {
      results.push_back(b.make_like(value));
      copy_value(b, value, results.back());
    }
  });
  Block else_block = b.lower_graph(*else_graph, {}, [&](const std::vector<ValueId>& made) {
    if (made.size() != results.size()) refuse("sides with different numbers of results");
    for (std::size_t i = 0; i < made.size(); ++i) copy_value(b, made[i], results[i]);
  });
  CallMaker make(kBranch, args);
  make.read(args.condition, condition);
  make.block(args.then_block, std::move(then_block)).block(args.else_block, std::move(else_block));
  b.add(make.take());
  for (std::size_t i = 0; i < results.size(); ++i) b.bind(i, results[i]);
}

// What is carried lives in one place for all rounds. The new values are put there at the end of a round by way of
// copies: one may be made of another's place.
void lower_loop(Lowering& b) {
  const auto graph = b.attr_graph("body");
  if (!graph) refuse("a loop without a body");
  const ValueId limit = b.optional_input(0);
  const ValueId start = b.optional_input(1);
  if (limit != kNoValue && (b.dtype(limit) != DType::kInt64 || b.elements(limit) != 1))
    refuse("a limit that is not an int64");
  if (start != kNoValue && (b.dtype(start) != DType::kBool || b.elements(start) != 1))
    refuse("a condition that is not a bool");
  if (limit == kNoValue && start == kNoValue) refuse("an endless loop");
  const std::size_t carried = b.input_count() < 2 ? 0 : b.input_count() - 2;
  if (b.output_count() > carried) refuse("results that are collected round by round");
  const ValueId round = b.make(DType::kInt64, {});
  const ValueId keep_on = b.make(DType::kBool, {});
  std::vector<ValueId> inputs = {round, keep_on};
  std::vector<ValueId> places;
  for (std::size_t i = 0; i < carried; ++i) {
    const ValueId first = b.input(i + 2);
    const ValueId place = b.make_like(first);
    copy_bytes(b, first, place);
    places.push_back(place);
    // The body sees it under a name of its own, so that its results are never the place itself.
    inputs.push_back(place);
  }
  Block body = b.lower_graph(*graph, inputs, [&](const std::vector<ValueId>& made) {
    if (made.size() != carried + 1) refuse("a body with another number of results");
    if (b.dtype(made[0]) != DType::kBool || b.elements(made[0]) != 1) refuse("a condition that is not a bool");
    std::vector<ValueId> copies;
    for (std::size_t i = 0; i < carried; ++i) {
      copies.push_back(b.make_like(places[i]));
      copy_value(b, made[i + 1], copies.back());
    }
    copy_bytes(b, made[0], keep_on);
    for (std::size_t i = 0; i < carried; ++i) copy_bytes(b, copies[i], places[i]);
  });
  Rounds args;
  CallMaker make(kLoop, args);
  make.read(args.limit, limit).read(args.start, start).update(args.round, round).update(args.keep_on, keep_on);
  b.add(make.block(args.body, std::move(body)).take());
  for (std::size_t i = 0; i < carried; ++i) b.bind(i, places[i]);
}

constexpr std::array kControlOps = {
    LowerEntry{.name = "If", .handler = lower_if, .fold = false},
    LowerEntry{.name = "Loop", .handler = lower_loop, .fold = false},
};

}  // namespace

LowerEntries control_ops() { return kControlOps; }

}  // namespace leapp::native
