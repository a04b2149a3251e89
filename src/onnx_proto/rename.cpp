// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/rename.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <utility>

#include "onnx_proto/fields.h"
#include "onnx_proto/message.h"

namespace leapp::onnx {
namespace {

enum class Part {
  kNode,
  kAttribute,
  kGraph,
  kTensor,
  kSparseTensor,
  kValueInfo,
  kType,
  kTensorType,
  kElementType,
  kMapType,
  kShape,
  kDimension,
  kAnnotation,
  kParameter,
  kFunction,
};

/// What is done with a field.
enum class Action {
  kValue,     ///< the name of a value
  kLabel,     ///< another name: it gets the prefix
  kFunction,  ///< the name of a function
  kOperator,  ///< a node's operator, which may be one of the model's functions
  kEnter,     ///< a message with names in it
};

struct Rule {
  Part kind;
  protozero::pbf_tag_type field;
  Action action;
  Part to = Part::kNode;  ///< of kEnter
};

// Every field that is a name or can lead to one. Names of the tensors in attributes mean nothing to anybody.
constexpr std::array kRules = {
    Rule{Part::kNode, number(NodeField::kInput), Action::kValue},
    Rule{Part::kNode, number(NodeField::kOutput), Action::kValue},
    Rule{Part::kNode, number(NodeField::kName), Action::kLabel},
    Rule{Part::kNode, number(NodeField::kOpType), Action::kOperator},
    Rule{Part::kNode, number(NodeField::kAttribute), Action::kEnter, Part::kAttribute},
    Rule{Part::kAttribute, number(AttributeField::kGraph), Action::kEnter, Part::kGraph},
    Rule{Part::kAttribute, number(AttributeField::kGraphs), Action::kEnter, Part::kGraph},
    Rule{Part::kGraph, number(GraphField::kNode), Action::kEnter, Part::kNode},
    Rule{Part::kGraph, number(GraphField::kInitializer), Action::kEnter, Part::kTensor},
    Rule{Part::kGraph, number(GraphField::kSparseInitializer), Action::kEnter, Part::kSparseTensor},
    Rule{Part::kGraph, number(GraphField::kInput), Action::kEnter, Part::kValueInfo},
    Rule{Part::kGraph, number(GraphField::kOutput), Action::kEnter, Part::kValueInfo},
    Rule{Part::kGraph, number(GraphField::kValueInfo), Action::kEnter, Part::kValueInfo},
    Rule{Part::kGraph, number(GraphField::kQuantization), Action::kEnter, Part::kAnnotation},
    Rule{Part::kTensor, number(TensorField::kName), Action::kValue},
    Rule{Part::kSparseTensor, number(SparseTensorField::kValues), Action::kEnter, Part::kTensor},
    Rule{Part::kValueInfo, number(ValueInfoField::kName), Action::kValue},
    Rule{Part::kValueInfo, number(ValueInfoField::kType), Action::kEnter, Part::kType},
    Rule{Part::kType, number(TypeField::kTensorType), Action::kEnter, Part::kTensorType},
    Rule{Part::kType, number(TypeField::kSparseTensorType), Action::kEnter, Part::kTensorType},
    Rule{Part::kType, number(TypeField::kSequenceType), Action::kEnter, Part::kElementType},
    Rule{Part::kType, number(TypeField::kOptionalType), Action::kEnter, Part::kElementType},
    Rule{Part::kType, number(TypeField::kMapType), Action::kEnter, Part::kMapType},
    Rule{Part::kElementType, number(ElementTypeField::kElemType), Action::kEnter, Part::kType},
    Rule{Part::kMapType, number(MapTypeField::kValueType), Action::kEnter, Part::kType},
    Rule{Part::kTensorType, number(TensorTypeField::kShape), Action::kEnter, Part::kShape},
    Rule{Part::kShape, number(ShapeField::kDim), Action::kEnter, Part::kDimension},
    Rule{Part::kDimension, number(DimensionField::kParam), Action::kLabel},
    Rule{Part::kAnnotation, number(AnnotationField::kTensorName), Action::kValue},
    Rule{Part::kAnnotation, number(AnnotationField::kParameterNames), Action::kEnter, Part::kParameter},
    Rule{Part::kParameter, number(StringPairField::kValue), Action::kValue},
    Rule{Part::kFunction, number(FunctionField::kName), Action::kFunction},
    Rule{Part::kFunction, number(FunctionField::kNode), Action::kEnter, Part::kNode},
    Rule{Part::kFunction, number(FunctionField::kAttributeValue), Action::kEnter, Part::kAttribute},
};

const Rule* find_rule(Part kind, const protozero::pbf_reader& message) {
  if (message.wire_type() != protozero::pbf_wire_type::length_delimited) return nullptr;
  const auto rule = std::find_if(kRules.begin(), kRules.end(),
                                 [&](const Rule& one) { return one.kind == kind && one.field == message.tag(); });
  return rule == kRules.end() ? nullptr : &*rule;
}

/// What a node says about itself.
struct NodeHead {
  std::string_view op_type;
  std::string_view domain;
  std::string_view output;  ///< the first
  bool named = false;
};

NodeHead read_head(protozero::pbf_reader node) {
  NodeHead head;
  while (node.next()) {
    if (node.wire_type() != protozero::pbf_wire_type::length_delimited) {
      node.skip();
      continue;
    }
    const protozero::pbf_tag_type field = node.tag();
    const protozero::data_view view = node.get_view();
    const std::string_view text(view.data(), view.size());
    if (field == number(NodeField::kOpType)) head.op_type = text;
    if (field == number(NodeField::kDomain)) head.domain = text;
    if (field == number(NodeField::kOutput) && head.output.empty()) head.output = text;
    if (field == number(NodeField::kName)) head.named = !text.empty();
  }
  return head;
}

class Rewriter {
 public:
  explicit Rewriter(const Renaming& renaming) : renaming_(renaming) {}

  Result<Pieces> run(Encoded bytes, Part kind) {
    in_function_ = kind == Part::kFunction;
    try {
      return rewrite({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, kind, 0);
    } catch (const protozero::exception& error) {
      return data_loss(fmt::format("not an ONNX model: {}", error.what()));
    }
  }

 private:
  Result<Pieces> rewrite(protozero::data_view bytes, Part kind, int depth) {
    if (depth > kDeepestMessage)
      return data_loss(fmt::format("more than {} messages inside each other", kDeepestMessage));
    NodeHead head;
    if (kind == Part::kNode) head = read_head(protozero::pbf_reader(bytes));
    PieceBuilder result;
    protozero::pbf_reader message(bytes);
    for (const char* begin = bytes.data(); message.next(); begin = message.data().data()) {
      const Rule* rule = find_rule(kind, message);
      if (rule == nullptr) {
        message.skip();
        result.add_shared(std::as_bytes(std::span(begin, message.data().data())));
      } else if (rule->action == Action::kEnter) {
        LEAPP_ASSIGN_OR_RETURN(Pieces content, rewrite(message.get_view(), rule->to, depth + 1));
        result.add_field(rule->field, std::move(content));
      } else {
        const protozero::data_view name = message.get_view();
        result.add_field(rule->field, renamed(rule->action, {name.data(), name.size()}, head));
      }
    }
    if (kind == Part::kNode && !head.named && !in_function_) {
      result.add_field(number(NodeField::kName), fmt::format("{}{}({})", renaming_.prefix, head.op_type, head.output));
    }
    return std::move(result).take();
  }

  [[nodiscard]] std::string renamed(Action action, std::string_view name, const NodeHead& head) const {
    if (action == Action::kFunction) return renaming_.prefix + std::string(name);
    if (action == Action::kOperator) return operator_name(head);
    if (in_function_ || name.empty()) return std::string(name);
    return action == Action::kValue ? renaming_.value(name) : renaming_.prefix + std::string(name);
  }

  [[nodiscard]] std::string operator_name(const NodeHead& head) const {
    for (const FunctionView& function : renaming_.functions) {
      if (function.name == head.op_type && function.domain == head.domain) {
        return renaming_.prefix + std::string(head.op_type);
      }
    }
    return std::string(head.op_type);
  }

  const Renaming& renaming_;
  bool in_function_ = false;
};

}  // namespace

std::string Renaming::value(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? prefix + std::string(name) : found->second;
}

Result<Pieces> rename_node(Encoded node, const Renaming& renaming) { return Rewriter(renaming).run(node, Part::kNode); }

Result<Pieces> rename_initializer(Encoded tensor, const Renaming& renaming) {
  return Rewriter(renaming).run(tensor, Part::kTensor);
}

Result<Pieces> rename_sparse_initializer(Encoded tensor, const Renaming& renaming) {
  return Rewriter(renaming).run(tensor, Part::kSparseTensor);
}

Result<Pieces> rename_value_info(Encoded info, const Renaming& renaming) {
  return Rewriter(renaming).run(info, Part::kValueInfo);
}

Result<Pieces> rename_annotation(Encoded annotation, const Renaming& renaming) {
  return Rewriter(renaming).run(annotation, Part::kAnnotation);
}

Result<Pieces> rename_function(Encoded function, const Renaming& renaming) {
  return Rewriter(renaming).run(function, Part::kFunction);
}

}  // namespace leapp::onnx
