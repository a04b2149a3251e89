// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_run.h"

#include <ATen/Functions.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/jit_exception.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "capture/hook/hook.h"
#include "capture/hook/tensor_notices.h"
#include "capture/recorder/op_recorder.h"
#include "capture/scripted/scripted_branch.h"
#include "capture/scripted/scripted_loop.h"

namespace leapp::capture {
namespace {

namespace jit = torch::jit;
namespace prim = c10::prim;

constexpr std::int64_t kMostWrittenOut = 64;  // rounds of a loop whose number of rounds is fixed

/// The view at an index that is a twin; undefined: it is another operator, or cannot be followed.
at::Tensor view_at_twin(const jit::Node& node, const std::vector<ScriptedItem>& inputs) {
  const std::string name = node.kind().toQualString();
  const bool one = name == "aten::select" && inputs.size() == 3 && inputs[2].twin.defined();
  const bool several = name == "aten::narrow" && inputs.size() == 4 && inputs[2].twin.defined() &&
                       inputs[3].value.isInt() && !inputs[3].twin.defined();
  if ((!one && !several) || inputs[1].twin.defined()) return {};
  const auto recorder = recorder_of_thread();
  if (!recorder) return {};
  FrontEnd nobody;  // the line is that of the scripted code
  TensorNotices notices(recorder, nobody);
  return notices.view_at({inputs[0].value.toTensor(), inputs[1].value.toInt(), inputs[2].twin, at::Tensor(),
                          several ? std::optional(inputs[3].value.toInt()) : std::nullopt});
}

}  // namespace

void run_scripted(const ScriptedCode& code, jit::Stack& stack) {
  ScriptedRun run(code, nullptr);
  const auto inputs = code.graph().inputs();
  const std::size_t first = stack.size() - inputs.size();
  for (std::size_t i = 0; i < inputs.size(); ++i) run.set(inputs[i], {stack[first + i], {}});
  stack.resize(first);
  run.run(*code.graph().block());
  for (const jit::Value* output : code.graph().outputs()) {
    run.let_go(output);
    stack.push_back(run.get(output).value);
  }
}

bool ScriptedRun::is_chosen(const at::Tensor& tensor) const {
  return std::any_of(chosen_.begin(), chosen_.end(), [&](const at::Tensor& one) { return one.is_same(tensor); });
}

void ScriptedRun::run(jit::Block& block) {
  for (jit::Node* node : block.nodes()) {
    const ScriptedLine line(line_of(*node));
    run_node(node);
  }
}

void ScriptedRun::run_quietly(jit::Block& block) {
  quiet_ = true;
  run(block);
  quiet_ = false;
}

bool ScriptedRun::follows(const jit::Value* value) const { return !quiet_ && get(value).twin.defined(); }

std::vector<ScriptedItem> ScriptedRun::inputs_of(const jit::Node* node) const {
  std::vector<ScriptedItem> items;
  for (const jit::Value* input : node->inputs()) items.push_back(get(input));
  return items;
}

c10::IValue ScriptedRun::here(const c10::IValue& value) const {
  return recording_ ? recording_->of_program(value) : value;
}

void ScriptedRun::let_go(const jit::Value* value) {
  ScriptedItem& item = values_.at(value);
  if (quiet_ || !item.twin.defined()) return;
  item.twin.item();  // for whoever records
  item.twin = at::Tensor();
}

void ScriptedRun::run_node(jit::Node* node) {
  if (node->kind() == prim::If) return branch(node);
  if (node->kind() == prim::Loop) return loop(node);
  if (is_structure(node->kind())) return run_structure(node);
  if (!quiet_ && run_followed(node)) return;
  run_operator(node);
}

void ScriptedRun::run_structure(jit::Node* node) {
  const auto give = [&](c10::IValue value) { set(node->output(), {std::move(value), {}}); };
  if (node->kind() == prim::unchecked_cast) return set(node->output(), get(node->input()));
  if (node->kind() == prim::Uninitialized) return set(node->output(), {c10::IValue(), {}, true});
  if (node->kind() == prim::Constant) return give(here(jit::toIValue(node->output()).value_or(c10::IValue())));
  if (node->kind() == prim::GetAttr) {
    return give(here(get(node->input()).value.toObject()->getAttr(node->s(c10::attr::name))));
  }
  for (const jit::Value* input : node->inputs()) let_go(input);
  std::vector<c10::IValue> items;
  for (const jit::Value* input : node->inputs()) items.push_back(get(input).value);
  if (node->kind() == prim::SetAttr) {
    if (recording_ != nullptr) {
      // self.n += 1 sets it to the tensor that it is.
      const c10::IValue now = here(items[0].toObject()->getAttr(node->s(c10::attr::name)));
      if (now.isTensor() && items[1].isTensor() && now.toTensor().is_same(items[1].toTensor())) return;
      throw Unrecordable("it sets an attribute");
    }
    return items[0].toObject()->setAttr(node->s(c10::attr::name), items[1]);
  }
  if (node->kind() == prim::RaiseException) {
    const bool named = items.size() > 1 && items[1].isString();
    throw jit::JITException(items[0].toStringRef(), named ? std::optional(items[1].toStringRef()) : std::nullopt);
  }
  if (node->kind() == prim::ListConstruct) {
    c10::impl::GenericList list(node->output()->type()->expectRef<c10::ListType>().getElementType());
    for (c10::IValue& item : items) list.push_back(std::move(item));
    return give(list);
  }
  if (node->kind() == prim::TupleConstruct) {
    const auto type = node->output()->type()->expect<c10::TupleType>();
    const bool named = type->name().has_value();
    return give(named ? c10::ivalue::Tuple::createNamed(std::move(items), type)
                      : c10::ivalue::Tuple::create(std::move(items)));
  }
  TORCH_CHECK(node->kind() == prim::DictConstruct, "no rule for ", node->kind().toQualString());
  const auto& type = node->output()->type()->expectRef<c10::DictType>();
  c10::impl::GenericDict dict(type.getKeyType(), type.getValueType());
  for (std::size_t i = 0; i < items.size(); i += 2) dict.insert(items[i], items[i + 1]);
  give(dict);
}

// Of numbers that came out of tensors, or are about to. False: it is an ordinary operator here.
bool ScriptedRun::run_followed(jit::Node* node) {
  const std::vector<ScriptedItem> inputs = inputs_of(node);
  const bool reads = reads_number(*node);
  const bool twins = std::any_of(inputs.begin(), inputs.end(), [](const auto& item) { return item.twin.defined(); });
  if ((!reads && !twins) || node->outputs().size() != 1) return false;
  const bool number = node->output()->type()->kind() != c10::TypeKind::TensorType;
  const bool from_numbers = std::all_of(inputs.begin(), inputs.end(), [](const auto& i) { return is_number(i.value); });
  if (number && (reads || from_numbers)) {
    c10::IValue result;
    {
      const Unrecorded quiet;
      jit::Stack stack;
      for (const ScriptedItem& item : inputs) stack.push_back(item.value);
      node->getOperation()(stack);
      result = stack.back();
    }
    at::Tensor twin = reads ? twin_of_read(*node, inputs, result) : twin_of_number(*node, inputs, result);
    if (!twin.defined()) return false;
    set(node->output(), {std::move(result), std::move(twin)});
    return true;
  }
  if (number) return false;
  if (const at::Tensor view = view_at_twin(*node, inputs); view.defined()) {
    set(node->output(), {view, {}});
    return true;
  }
  auto result = run_with_twins(*node, inputs);
  if (!result) return false;
  set(node->output(), {std::move(*result), {}});
  return true;
}

void ScriptedRun::run_operator(jit::Node* node) {
  for (const jit::Value* input : node->inputs()) let_go(input);
  jit::Stack stack;
  for (const jit::Value* input : node->inputs()) stack.push_back(get(input).value);
  node->getOperation()(stack);
  const std::size_t count = node->outputs().size();
  for (std::size_t i = 0; i < count; ++i) set(node->outputs()[i], {stack[stack.size() - count + i], {}});
}

void ScriptedRun::branch(jit::Node* node) {
  if (follows(node->input())) {
    try {
      return record_branch(*this, node);
    } catch (const OneSideRaises& side) {
      // Inside a block a check is left out; in the program itself it is a guard.
      if (recording_ != nullptr) return take(node, side.other);
    } catch (const Unrecordable& why) {
      if (recording_ != nullptr) throw;
      tell(node, why.what());
    }
  }
  let_go(node->input());
  take(node, get(node->input()).value.toBool() ? 0 : 1);
}

void ScriptedRun::take(jit::Node* node, std::size_t side) {
  jit::Block* taken = node->blocks()[side];
  run(*taken);
  for (std::size_t i = 0; i < node->outputs().size(); ++i) set(node->outputs()[i], get(taken->outputs()[i]));
}

void ScriptedRun::loop(jit::Node* node) {
  const jit::Value* more = node->blocks()[0]->outputs()[0];
  const auto always = jit::constant_as<bool>(const_cast<jit::Value*>(more));
  const bool fixed = always && *always;
  const bool decided =
      !quiet_ && (follows(node->input(0)) || follows(node->input(1)) || (!fixed && code_.depends_on_data(more)));
  const bool is_long = !quiet_ && fixed && get(node->input(0)).value.toInt() > kMostWrittenOut;
  if (decided || is_long) {
    try {
      return record_loop(*this, node);
    } catch (const Unrecordable& why) {
      if (decided && recording_ != nullptr) throw;
      if (decided) tell(node, why.what());
    }
  }
  write_out(node);
}

void ScriptedRun::run_loop_quietly(jit::Node* node) {
  quiet_ = true;
  write_out(node);
  quiet_ = false;
}

void ScriptedRun::write_out(jit::Node* node) {
  let_go(node->input(1));
  jit::Block& body = *node->blocks()[0];
  const std::int64_t count = get(node->input(0)).value.toInt();
  const at::Tensor rounds = follows(node->input(0)) ? get(node->input(0)).twin : at::Tensor();
  bool more = get(node->input(1)).value.toBool();
  std::vector<ScriptedItem> carried;
  for (std::size_t i = 2; i < node->inputs().size(); ++i) carried.push_back(get(node->input(i)));
  // Whoever records sees a decision before each round: another call may take more of them, or fewer.
  const auto goes_on = [&](std::int64_t round) {
    return rounds.defined() ? at::gt(rounds, round).is_nonzero() : round < count;
  };
  for (std::int64_t round = 0; more && goes_on(round); ++round) {
    set(body.inputs()[0], {round, {}});
    for (std::size_t i = 0; i < carried.size(); ++i) set(body.inputs()[i + 1], carried[i]);
    run(body);
    let_go(body.outputs()[0]);
    more = get(body.outputs()[0]).value.toBool();
    for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = get(body.outputs()[i + 1]);
  }
  for (std::size_t i = 0; i < carried.size(); ++i) set(node->outputs()[i], std::move(carried[i]));
}

// To the program itself: a block that is being recorded is run again by whoever holds it.
void ScriptedRun::tell(jit::Node* node, const std::string& why) {
  if (quiet_ || recording_ != nullptr) return;
  if (const auto recorder = recorder_of_thread()) recorder->note_written_out(node->kind() == prim::Loop, why);
}

}  // namespace leapp::capture
