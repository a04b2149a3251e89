// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/torchscript/module_builder.h"

#include <c10/util/Type.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/normalize_ops.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "emit/torchscript/arguments.h"
#include "emit/torchscript/module_tree.h"
#include "graph/conditional.h"
#include "graph/loop.h"
#include "graph/names.h"
#include "torch_types/failure.h"
#include "torch_types/tensors.h"

namespace leapp::emit {
namespace {

namespace jit = torch::jit;
using graph::Attribute;

constexpr std::int64_t kContiguousFormat = 0;
constexpr std::size_t kDeepestExpression = 16;

// What torch's printer writes, its reader reads back as the same value of the same type.
bool prints_exactly(const c10::IValue& value) {
  if (value.isDouble()) {
    // Whole floats of this size are printed with neither point nor exponent: as ints.
    const double magnitude = std::abs(value.toDouble());
    return !(magnitude >= 1e10 && magnitude < 1e17 && std::trunc(magnitude) == magnitude);
  }
  if (value.isComplexDouble()) return false;  // the signs of zeros are lost
  if (value.isString()) {
    for (const char c : value.toStringRef()) {
      if (c < 0x20 || c > 0x7e) return false;
    }
  }
  return true;
}

c10::TypePtr attribute_type(const c10::IValue& value, const c10::TypePtr& formal) {
  // Attributes cannot be declared as numbers of any kind.
  if (!is_number(*formal)) return formal;
  return value.isNone() ? c10::OptionalType::create(c10::FloatType::get()) : value.type();
}

class ModuleBuilder {
 public:
  ModuleBuilder(const graph::Graph& graph, const BuildOptions& options)
      : graph_(graph), options_(options), tree_(graph, code_, options.with_tensors) {}
  BuiltModule build();

 private:
  void add_nodes(const graph::Graph& graph);
  void add_node(const graph::Node& node);
  void add_conditional(const graph::Node& node);
  void add_side(jit::Node* branch, const graph::Graph& side, const std::vector<graph::Value*>& operands);
  void add_loop(const graph::Node& node);
  struct LoopParts {
    const graph::LoopNode* loop;
    std::vector<jit::Value*> operands;
    jit::Value* count;  // null: none, or that of a loop that only counts
    bool counted;
  };
  void add_body(jit::Node* made, const LoopParts& parts);
  jit::Value* whole_number(jit::Value* number);
  jit::Value* goes_on(jit::Value* condition, jit::Value* round, jit::Value* count);
  void read_members(const graph::Graph& inside);
  jit::Node* begin(const graph::Node& node, c10::Symbol kind, const std::vector<jit::Value*>& inputs);
  jit::Value* number(const char* conversion, const graph::Value* value);
  void add_results(const graph::Node& node, const c10::FunctionSchema& schema, jit::Node* call);
  void define(const graph::Value& result, jit::Value* value);
  void add_outputs();

  jit::Value* argument(const Attribute* attribute, const c10::Argument& argument);
  jit::Value* literal(const c10::IValue& value, const c10::TypePtr& type);
  jit::Value* list(const std::vector<jit::Value*>& items, const c10::Type& type);
  jit::Value* tensor(const graph::Value* value);
  jit::Value* place();
  jit::Node* call(const c10::FunctionSchema& schema, const std::vector<jit::Value*>& inputs);
  jit::Value* call(const char* name, const std::vector<jit::Value*>& inputs);
  jit::SourceRange source_range(const graph::SourceLocation& location);
  void normalise();
  jit::Value* dense(jit::Value* value, bool at_offset_zero);
  jit::Value* reinterpret(const graph::Value* self, const graph::TensorType& type);
  void settle_layout(const c10::FunctionSchema& schema, std::vector<jit::Value*>& inputs);
  void settle_promotion(const c10::FunctionSchema& schema, std::vector<jit::Value*>& inputs);

  const graph::Graph& graph_;
  const BuildOptions& options_;
  std::shared_ptr<jit::Graph> code_ = std::make_shared<jit::Graph>();
  ModuleTree tree_;
  std::unordered_map<const graph::Value*, jit::Value*> values_;
  std::unordered_set<const jit::Value*> dense_;  // row-major, starting where the storage does
  std::map<std::tuple<std::string, int, std::string>, std::shared_ptr<jit::Source>> sources_;
  const graph::Node* node_ = nullptr;  // the one being added
  jit::Value* place_ = nullptr;
  std::vector<ScriptCall> calls_;
};

jit::Value* ModuleBuilder::tensor(const graph::Value* value) {
  jit::Value*& known = values_[value];
  if (known == nullptr) {
    known = tree_.read(value);
    dense_.insert(known);
  }
  return known;
}

// No device is written into a model: it computes where its inputs are or, without any, where its weights are. So it
// follows torch.jit.load(map_location=...).
jit::Value* ModuleBuilder::place() {
  if (place_ != nullptr) return place_;
  // Before everything else: a side of a branch may be the first to ask.
  const jit::WithInsertPoint top(*code_->nodes().begin());
  jit::Value* there = nullptr;
  if (!graph_.inputs().empty()) {
    there = values_.at(graph_.inputs().front().get());
  } else if (!graph_.constants().empty()) {
    there = tree_.read_anew(graph_.constants().front().get());
  } else {
    return place_ = code_->insertConstant(c10::IValue());
  }
  place_ = code_->insertNode(code_->create(c10::prim::device, {there}, 1))->output();
  return place_->setType(c10::DeviceObjType::get());
}

jit::Value* ModuleBuilder::list(const std::vector<jit::Value*>& items, const c10::Type& type) {
  const c10::Type* plain = &type;
  if (const auto* optional = type.castRaw<c10::OptionalType>()) plain = optional->getElementType().get();
  const c10::TypePtr element = plain->expectRef<c10::ListType>().getElementType();
  return code_->insertNode(code_->createList(element, items))->output();
}

jit::Value* ModuleBuilder::literal(const c10::IValue& value, const c10::TypePtr& type) {
  if (!value.isList()) {
    return prints_exactly(value) ? code_->insertConstant(value)
                                 : tree_.attribute("literal", value, attribute_type(value, type));
  }
  std::vector<jit::Value*> items;
  for (const c10::IValue& item : value.toListRef()) items.push_back(literal(item, c10::NumberType::get()));
  return list(items, *type);
}

jit::Value* ModuleBuilder::argument(const Attribute* attribute_, const c10::Argument& argument) {
  const c10::TypePtr& type = argument.type();
  // Said or not; but beside an operand nothing said means where that is.
  const bool said = attribute_ != nullptr && !std::holds_alternative<std::monostate>(*attribute_);
  if (is_device(*type) && (said || node_->inputs().empty())) return place();
  if (attribute_ != nullptr) {
    if (const auto* value = std::get_if<graph::Value*>(attribute_)) return tensor(*value);
    if (const auto* values = std::get_if<std::vector<graph::Value*>>(attribute_)) {
      std::vector<jit::Value*> items;
      for (const graph::Value* value : *values) {
        items.push_back(value == nullptr ? code_->insertConstant(c10::IValue()) : tensor(value));
      }
      return list(items, *type);
    }
    if (const auto number = as_number(*attribute_); number && is_tensor(*type)) {
      // Not a constant of the code: the executor makes plain literals of those, and then finds no overload for a bool.
      return tree_.attribute("number", number_tensor(*number, *node_), c10::TensorType::get());
    }
  }
  c10::IValue value = attribute_ == nullptr ? *argument.default_value() : to_ivalue(*attribute_, argument);
  // TorchScript's Scalar is no bool: it would be made an int behind our back.
  if (is_number(*type) && value.isBool()) value = static_cast<std::int64_t>(value.toBool());
  const bool typed = options_.typed.contains(node_) && !is_tensor(*type) && !is_tensor_list(*type) &&
                     type->annotation_str().find("Generator") == std::string::npos;
  return typed ? tree_.attribute("literal", value, attribute_type(value, type)) : literal(value, type);
}

jit::Node* ModuleBuilder::call(const c10::FunctionSchema& schema, const std::vector<jit::Value*>& inputs) {
  jit::Node* node = code_->create(c10::Symbol::fromQualString(schema.name()), inputs, schema.returns().size());
  for (std::size_t i = 0; i < schema.returns().size(); ++i) node->output(i)->setType(schema.returns()[i].type());
  if (options_.source_lines && !node_->location().file.empty()) node->setSourceRange(source_range(node_->location()));
  // The printer nests what is used once and has no name, and recurses as deep. This name it prints as its own.
  if (calls_.size() % kDeepestExpression == 0) node->output(0)->setDebugName("_." + std::to_string(calls_.size()));
  calls_.push_back({node_, &schema, node->kind()});
  return code_->insertNode(node);
}

// A range over a whole text is printed as it is in a traceback, which is how torch writes Python's own.
jit::SourceRange ModuleBuilder::source_range(const graph::SourceLocation& location) {
  std::shared_ptr<jit::Source>& source = sources_[{location.file, location.line, location.function}];
  if (source == nullptr) {
    std::string text = "  File \"" + location.file + "\", line " + std::to_string(location.line);
    if (!location.function.empty()) text += ", in " + location.function;
    source = std::make_shared<jit::Source>(text + "\n", location.file, location.line);
  }
  return {source, 0, source->size()};
}

// Who reads the file puts one name for all aliases of an operator, and swaps the operands of rsub: so do we, with the
// same function.
void ModuleBuilder::normalise() {
  jit::NormalizeOps(code_);
  auto call = calls_.begin();
  for (const jit::Node* node : operators_of(*code_)) (call++)->kind = node->kind();
}

jit::Value* ModuleBuilder::call(const char* name, const std::vector<jit::Value*>& inputs) {
  return call(jit::findOperatorFor({name, ""})->schema(), inputs)->output();
}

jit::Value* ModuleBuilder::dense(jit::Value* value, bool at_offset_zero) {
  if (dense_.contains(value)) return value;
  jit::Value* format = code_->insertConstant(kContiguousFormat);
  return call(at_offset_zero ? "aten::clone" : "aten::contiguous", {value, format});
}

// Values have no strides, and no offset into a storage; these operators see both.
void ModuleBuilder::settle_layout(const c10::FunctionSchema& schema, std::vector<jit::Value*>& inputs) {
  const std::string& name = schema.name();
  if (name == "aten::as_strided" || name == "aten::as_strided_copy") {
    if (dense_.contains(inputs[0])) return;
    inputs[0] = dense(inputs[0], false);
    // Left out, the offset counts from where the tensor starts; given, from where its storage does.
    const Attribute* offset = node_->find("storage_offset");
    const auto* elements = offset == nullptr ? nullptr : std::get_if<std::int64_t>(offset);
    if (elements != nullptr && *elements != 0) {
      inputs[0] = call(jit::findOperatorFor({"aten::slice", "Tensor"})->schema(),
                       {inputs[0], code_->insertConstant(0), code_->insertConstant(*elements),
                        code_->insertConstant(std::numeric_limits<std::int64_t>::max()), code_->insertConstant(1)})
                      ->output();
    }
    inputs[3] = code_->insertConstant(c10::IValue());
  } else if (name == "aten::as_strided_scatter" || name == "aten::view_as_complex") {
    inputs[0] = dense(inputs[0], true);
  }
}

// Torch's optimiser takes x * 1 and x + 0 for x, also where x is of bools and the result is of integers.
void ModuleBuilder::settle_promotion(const c10::FunctionSchema& schema, std::vector<jit::Value*>& inputs) {
  const std::string& name = schema.name();
  const bool sum = name == "aten::add" || name == "aten::sub" || name == "aten::subtract";
  if (!sum && name != "aten::mul" && name != "aten::multiply") return;
  const graph::Value* const* self = std::get_if<graph::Value*>(node_->find("self"));
  const bool number = inputs.size() > 1 && !is_tensor(*schema.arguments()[1].type());
  if (self == nullptr || *self == nullptr || !number) return;
  const DType made = node_->result()->dtype();
  if ((*self)->dtype() != DType::kBool || made == DType::kBool) return;
  jit::Value* dtype = code_->insertConstant(static_cast<std::int64_t>(to_scalar_type(made)));
  jit::Value* no = code_->insertConstant(false);
  const auto& to = jit::findOperatorFor({"aten::to", "dtype"})->schema();
  inputs[0] = call(to, {inputs[0], dtype, no, no, code_->insertConstant(c10::IValue())})->output();
}

// `torch.view(x, 3)` in a file is read as a view of three elements, whatever was meant. What reads the bytes of another
// tensor without a choice of overloads is set_.
jit::Value* ModuleBuilder::reinterpret(const graph::Value* self, const graph::TensorType& type) {
  const auto none = [&] { return code_->insertConstant(c10::IValue()); };
  const auto ints = [&](const graph::Shape& shape) {
    return literal(c10::IValue(at::IntArrayRef(shape)), c10::ListType::ofInts());
  };
  jit::Value* source = dense(tensor(self), true);
  jit::Value* dtype = code_->insertConstant(static_cast<std::int64_t>(to_scalar_type(type.dtype)));
  const auto& empty = jit::findOperatorFor({"aten::new_empty", ""})->schema();
  jit::Value* target = call(empty, {source, ints({0}), dtype, none(), none(), none()})->output();
  graph::Shape strides(type.shape.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * type.shape[i];
  const auto& set = jit::findOperatorFor({"aten::set_", "source_Tensor_storage_offset"})->schema();
  return call(set, {target, source, code_->insertConstant(0), ints(type.shape), ints(strides)})->output();
}

void ModuleBuilder::add_node(const graph::Node& node) {
  node_ = &node;
  const c10::FunctionSchema* recorded = find_schema(node);
  if (recorded == nullptr) throw NodeError(node, "TorchScript has no such operator");
  const auto attributes = match_arguments(node, *recorded);
  const c10::FunctionSchema& schema = *choose_overload(*recorded, attributes);
  if (recorded->operator_name() == c10::OperatorName("aten::view", "dtype")) {
    define(*node.result(), reinterpret(std::get<graph::Value*>(*attributes[0]), node.result()->type()));
    return;
  }
  std::vector<jit::Value*> inputs;
  bool lost_bool = false;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const c10::Argument& formal = schema.arguments()[i];
    Attribute result_dtype;
    const Attribute* attribute = attributes[i];
    const bool is_bool = attribute != nullptr && std::holds_alternative<bool>(*attribute);
    lost_bool = lost_bool || (is_bool && is_number(*formal.type()));
    // A dtype that torch infers from a bool has to be said once the bool is an int.
    if (lost_bool && formal.name() == "dtype" && (attribute == nullptr || attribute->index() == 0)) {
      result_dtype = node.result()->dtype();
      attribute = &result_dtype;
    }
    inputs.push_back(argument(attribute, formal));
  }
  settle_layout(schema, inputs);
  settle_promotion(schema, inputs);
  add_results(node, schema, call(schema, inputs));
}

void ModuleBuilder::add_nodes(const graph::Graph& graph) {
  for (const auto& node : graph.nodes()) {
    try {
      graph::is_conditional(*node) ? add_conditional(*node) : graph::is_loop(*node) ? add_loop(*node) : add_node(*node);
    } catch (const NodeError&) {
      throw;
    } catch (const std::exception& error) {
      if (is_out_of_memory(error)) throw;
      throw NodeError(*node, reason(error));
    }
  }
}

void ModuleBuilder::add_conditional(const graph::Node& node) {
  const graph::Conditional conditional = graph::conditional_of(node);
  read_members(*conditional.then_side);
  read_members(*conditional.else_side);
  node_ = &node;
  jit::Node* branch = begin(node, c10::prim::If, {number("aten::Bool", conditional.condition)});
  add_side(branch, *conditional.then_side, conditional.operands);
  add_side(branch, *conditional.else_side, conditional.operands);
  for (const auto& result : node.results()) define(*result, branch->addOutput()->setType(c10::TensorType::get()));
}

void ModuleBuilder::add_side(jit::Node* branch, const graph::Graph& side, const std::vector<graph::Value*>& operands) {
  std::size_t index = 0;
  for (const auto& input : side.inputs()) values_[input.get()] = tensor(operands[index++]);
  jit::Block* block = branch->addBlock();
  const jit::WithInsertPoint inside(block);
  add_nodes(side);
  for (const graph::Output& output : side.outputs()) block->registerOutput(tensor(output.value));
}

// Members are read outside of blocks: what one block defines, no other has.
void ModuleBuilder::read_members(const graph::Graph& inside) {
  graph::for_each_graph(inside, [&](const graph::Graph& graph) {
    for (const auto& value : graph.constants()) tensor(value.get());
  });
}

jit::Node* ModuleBuilder::begin(const graph::Node& node, c10::Symbol kind, const std::vector<jit::Value*>& inputs) {
  jit::Node* made = code_->insertNode(code_->create(kind, inputs, 0));
  if (options_.source_lines && !node.location().file.empty()) made->setSourceRange(source_range(node.location()));
  calls_.push_back({&node, nullptr, made->kind()});
  return made;
}

jit::Value* ModuleBuilder::number(const char* conversion, const graph::Value* value) {
  return call(jit::findOperatorFor({conversion, "Tensor"})->schema(), {tensor(value)})->output();
}

jit::Value* ModuleBuilder::whole_number(jit::Value* number) {
  const auto& schema = jit::findOperatorFor({"aten::tensor", "int"})->schema();
  jit::Value* dtype = code_->insertConstant(static_cast<std::int64_t>(at::kLong));
  return call(schema, {number, dtype, code_->insertConstant(c10::IValue()), code_->insertConstant(false)})->output();
}

/// Whether there is another round after `round` of them, as far as the count says.
jit::Value* ModuleBuilder::goes_on(jit::Value* condition, jit::Value* round, jit::Value* count) {
  if (count == nullptr) return condition;
  const auto& less = jit::findOperatorFor({"aten::lt", "Tensor"})->schema();
  return call("aten::logical_and", {condition, call(less, {round, count})->output()});
}

// Source text has loops that count, and loops that ask: one that does both, or asks and looks at the number of its
// round, carries that along.
void ModuleBuilder::add_loop(const graph::Node& node) {
  const graph::LoopNode loop = graph::loop_of(node);
  read_members(*loop.body);
  node_ = &node;
  const bool counted = graph::is_counted(loop);
  std::vector<jit::Value*> carried;
  for (const graph::Value* value : loop.carried) carried.push_back(tensor(value));
  LoopParts parts{&loop, {}, counted || loop.count == nullptr ? nullptr : tensor(loop.count), counted};
  for (const graph::Value* value : loop.operands) parts.operands.push_back(tensor(value));
  std::vector<jit::Value*> inputs;
  if (counted) {
    inputs = {number("aten::Int", loop.count), code_->insertConstant(true)};
  } else {
    jit::Value* zero = whole_number(code_->insertConstant(std::int64_t{0}));
    jit::Value* first = goes_on(tensor(loop.condition), zero, parts.count);
    const auto& truth = jit::findOperatorFor({"aten::Bool", "Tensor"})->schema();
    inputs = {code_->insertConstant(std::numeric_limits<std::int64_t>::max()), call(truth, {first})->output()};
    carried.push_back(zero);
  }
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  jit::Node* made = begin(node, c10::prim::Loop, inputs);
  add_body(made, parts);
  for (const auto& result : node.results()) define(*result, made->addOutput()->setType(c10::TensorType::get()));
  if (!counted) made->addOutput()->setType(c10::TensorType::get());
}

void ModuleBuilder::add_body(jit::Node* made, const LoopParts& parts) {
  const graph::Node* node = node_;
  const graph::LoopNode& loop = *parts.loop;
  jit::Block* block = made->addBlock();
  jit::Value* index = block->addInput()->setType(c10::IntType::get());
  const jit::WithInsertPoint inside(block);
  auto input = loop.body->inputs().begin();
  const graph::Value* round = input->get();
  for (std::size_t i = 0; i < loop.carried.size(); ++i) {
    values_[(++input)->get()] = block->addInput()->setType(c10::TensorType::get());
  }
  for (jit::Value* operand : parts.operands) values_[(++input)->get()] = operand;
  if (parts.counted) {
    if (!round->unused()) values_[round] = whole_number(index);
  } else {
    values_[round] = block->addInput()->setType(c10::TensorType::get());
  }
  add_nodes(*loop.body);
  node_ = node;
  std::vector<jit::Value*> next;
  const auto& outputs = loop.body->outputs();
  for (std::size_t i = 1; i < outputs.size(); ++i) next.push_back(tensor(outputs[i].value));
  if (parts.counted) {
    block->registerOutput(code_->insertConstant(true));
  } else {
    const auto& add = jit::findOperatorFor({"aten::add", "Tensor"})->schema();
    jit::Value* one = whole_number(code_->insertConstant(std::int64_t{1}));
    jit::Value* rounds = call(add, {values_[round], one, code_->insertConstant(std::int64_t{1})})->output();
    const auto& truth = jit::findOperatorFor({"aten::Bool", "Tensor"})->schema();
    block->registerOutput(call(truth, {goes_on(tensor(outputs[0].value), rounds, parts.count)})->output());
    next.push_back(rounds);
  }
  for (jit::Value* value : next) block->registerOutput(value);
}

void ModuleBuilder::define(const graph::Value& result, jit::Value* value) {
  values_[&result] = value;
  if (!graph::is_automatic_name(result.name())) value->setDebugName(graph::legal_identifier(result.name()));
}

void ModuleBuilder::add_results(const graph::Node& node, const c10::FunctionSchema& schema, jit::Node* call) {
  std::size_t singles = 0;
  for (const c10::Argument& returned : schema.returns()) singles += is_tensor(*returned.type()) ? 1 : 0;
  TORCH_CHECK(singles <= node.results().size(), "expected at least ", singles, " results");
  std::size_t next = 0;
  for (std::size_t i = 0; i < schema.returns().size(); ++i) {
    const c10::Type& type = *schema.returns()[i].type();
    if (is_tensor(type)) {
      define(*node.result(next++), call->output(i));
    } else if (is_tensor_list(type) && node.results().size() > singles) {
      jit::Node* unpack = code_->insertNode(code_->createListUnpack(call->output(i), node.results().size() - singles));
      singles = node.results().size();
      for (jit::Value* item : unpack->outputs()) define(*node.result(next++), item);
    }
  }
  TORCH_CHECK(next == node.results().size(), "expected ", next, " results, found ", node.results().size());
  if (node.op() == "aten::as_strided_scatter") dense_.insert(call->output());
}

void ModuleBuilder::add_outputs() {
  std::vector<jit::Value*> outputs;
  for (const graph::Output& output : graph_.outputs()) outputs.push_back(tensor(output.value));
  if (outputs.size() == 1) {
    code_->registerOutput(outputs.front());
  } else {
    code_->registerOutput(code_->insertNode(code_->createTuple(outputs))->output());
  }
}

BuiltModule ModuleBuilder::build() {
  tree_.begin_code();
  graph::IdentifierNamer inputs;
  for (const auto& input : graph_.inputs()) values_[input.get()] = code_->addInput(inputs.make(input->name()));
  add_nodes(graph_);
  add_outputs();
  normalise();
  tree_.end_code();
  return {tree_.root(), std::move(calls_)};
}

void add_operators(jit::Block& block, std::vector<jit::Node*>& operators) {
  for (jit::Node* node : block.nodes()) {
    const bool plain = !node->kind().is_prim() && !node->kind().is_attr();
    if (plain || node->kind() == c10::prim::If || node->kind() == c10::prim::Loop) operators.push_back(node);
    for (jit::Block* inner : node->blocks()) add_operators(*inner, operators);
  }
}

std::string describe(const graph::Node& node) {
  std::string text = node.qualified_name();
  const graph::SourceLocation& location = node.location();
  if (!location.file.empty()) text += " at " + location.file + ":" + std::to_string(location.line);
  return text;
}

}  // namespace

std::vector<jit::Node*> operators_of(jit::Graph& code) {
  std::vector<jit::Node*> operators;
  add_operators(*code.block(), operators);
  return operators;
}

std::string reason(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch == nullptr ? error.what() : torch->what_without_backtrace();
  return text.empty() ? c10::demangle(typeid(error).name()) + " without a message" : text;
}

NodeError::NodeError(const graph::Node& node, const std::string& message)
    : std::runtime_error(describe(node) + ": " + message) {}

BuiltModule build_module(const graph::Graph& graph, const BuildOptions& options) {
  return ModuleBuilder(graph, options).build();
}

}  // namespace leapp::emit
