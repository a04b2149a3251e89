// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <protozero/exception.hpp>
#include <protozero/pbf_message.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "onnx_proto/constants.h"
#include "onnx_proto/contents.h"
#include "onnx_proto/declared.h"
#include "onnx_proto/fields.h"
#include "onnx_proto/message.h"
#include "onnx_proto/shapes.h"
#include "onnx_proto/texts.h"

namespace leapp::onnx {
namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};
constexpr std::uint64_t kBody = 16;   // what a body of a branch or loop costs to have, in operators
constexpr std::uint64_t kRound = 10;  // what a round of a loop costs beside its operators, in operators
constexpr double kUnknownWidth = 4;   // of an element whose type is not said
constexpr double kLeastWidth = 1;

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? kMost : result;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? kMost : result;
}

std::uint64_t rounded(double number) {
  if (!(number > 0)) return 0;
  return number >= 0x1p63 ? kMost : static_cast<std::uint64_t>(number);
}

struct Cost {
  std::uint64_t operators = 0;
  std::uint64_t runs = 0;
  std::uint64_t nested = 0;  // functions inside each other
  double weights = 0;        // bytes of tensors that take more memory than the model's file has for them
};

double width_of(const KnownValue* value) {
  return value != nullptr && value->dtype ? static_cast<double>(dtype_size(*value->dtype)) : kUnknownWidth;
}

double range_elements(const KnownValue* from, const KnownValue* to, const KnownValue* step) {
  if (from == nullptr || to == nullptr || step == nullptr) return 0;
  if (from->numbers.size() != 1 || to->numbers.size() != 1 || step->numbers.size() != 1) return 0;
  return step->numbers[0] == 0 ? 0 : std::max(0.0, (to->numbers[0] - from->numbers[0]) / step->numbers[0]);
}

double padded_elements(const KnownValue& pads) {
  double count = 1;
  const std::size_t rank = pads.numbers.size() / 2;
  for (std::size_t i = 0; i < rank; ++i) count *= std::max(1.0, pads.numbers[i] + pads.numbers[rank + i]);
  return count;
}

/// Bytes that a node's result has at least, as far as its size comes from constants; 0: that is not known.
double result_bytes(const NodeView& node, const KnownValues& known) {
  const std::string_view op = node.op_type;
  const KnownValue* first = known.input(node, 0);
  const KnownValue* second = known.input(node, 1);
  if (op == "ConstantOfShape" && first != nullptr) {
    const auto fill = constant_of(node);
    return elements_of(first->numbers) * width_of(fill ? &*fill : nullptr);
  }
  if (op == "Expand" && second != nullptr) return elements_of(second->numbers) * width_of(first);
  if (op == "Range") return range_elements(first, second, known.input(node, 2)) * width_of(first);
  if (op == "Tile" && second != nullptr) {
    const double each = first == nullptr ? 1 : static_cast<double>(first->numbers.size());
    return each * elements_of(second->numbers) * width_of(first);
  }
  if (op == "Pad" && second != nullptr) return padded_elements(*second) * width_of(first);
  if (op == "OneHot" && second != nullptr) return elements_of(second->numbers) * kUnknownWidth;
  if (const KnownValue* sizes = op == "Resize" ? known.input(node, 3) : nullptr) {
    return elements_of(sizes->numbers) * kUnknownWidth;
  }
  if (op == "RandomNormal" || op == "RandomUniform") return elements_of(integers_of(node, "shape")) * kUnknownWidth;
  return 0;
}

/// The extents that are not 0, multiplied; 0 for a tensor that has elements.
double empty_extents(const Extents& extents) {
  if (elements_of(extents) > 0) return 0;
  double others = 1;
  for (const double extent : extents) others *= std::max(1.0, extent);
  return others;
}

std::string place_of(const NodeView& node) {
  const std::string_view name = !node.name.empty() ? node.name : node.outputs.empty() ? "" : node.outputs.front();
  return fmt::format("node {} ({})", quote_brief(name), printable(node.op_type.substr(0, 60)));
}

Status at(const std::string& place, const Status& status) {
  return status.ok() ? status : Status(status.code(), fmt::format("{}: {}", place, status.message()));
}

class Survey {
 public:
  Survey(const ModelView& model, const ModelLimits& limits) : model_(model), limits_(limits) {
    for (std::size_t i = 0; i < model.functions.size(); ++i) {
      functions_.emplace(key(model.functions[i].domain, model.functions[i].name), i);
    }
    seen_.resize(model.functions.size());
  }

  Status run() {
    if (model_.functions.size() > limits_.functions) {
      return invalid_argument(
          fmt::format("expected at most {} functions, found {}", limits_.functions, model_.functions.size()));
    }
    return graph(model_.graph, Known(), 0).status();
  }

 private:
  struct Function {
    bool under_way = false;
    std::optional<Cost> cost;
  };

  /// What can be told of the tensors of a graph.
  struct Known {
    KnownValues values = KnownValues();
    KnownShapes shapes = KnownShapes();
  };

  static std::string key(std::string_view domain, std::string_view name) {
    return fmt::format("{}\n{}", domain == "ai.onnx" ? "" : domain, name);
  }

  Status too_many(const NodeView& node, std::uint64_t found) const {
    return invalid_argument(fmt::format("{}: expected at most {} operators, with functions written out, found {}",
                                        place_of(node), limits_.operators,
                                        found == kMost ? "more than can be counted" : fmt::format("{}", found)));
  }

  Status add(Cost& total, const Cost& more, const NodeView& node) const {
    LEAPP_RETURN_IF_ERROR(add_weight(total, more.weights, place_of(node)));
    total = {sum(total.operators, more.operators), sum(total.runs, more.runs), std::max(total.nested, more.nested),
             total.weights};
    if (total.operators > limits_.operators) return too_many(node, total.operators);
    if (total.runs <= limits_.operator_runs) return {};
    return invalid_argument(fmt::format(
        "{}: expected at most {} runs of operators in one run of the model, found {}: it does not end", place_of(node),
        limits_.operator_runs, total.runs == kMost ? "more than can be counted" : fmt::format("{}", total.runs)));
  }

  Status check_bytes(double bytes, const std::string& place) const {
    if (bytes <= static_cast<double>(limits_.tensor_bytes)) return {};
    return invalid_argument(fmt::format("{}: makes a tensor of {}, the option memory_limit is {}", place,
                                        bytes_text(rounded(bytes)), bytes_text(limits_.tensor_bytes)));
  }

  Status add_weight(Cost& total, double bytes, const std::string& place) const {
    LEAPP_RETURN_IF_ERROR(check_bytes(bytes, place));
    total.weights += bytes;
    if (total.weights <= static_cast<double>(limits_.tensor_bytes)) return {};
    return invalid_argument(
        fmt::format("{}: with those before it, sparse and external tensors of {}, the option memory_limit is {}", place,
                    bytes_text(rounded(total.weights)), bytes_text(limits_.tensor_bytes)));
  }

  Status check_extents(const Extents* extents, const std::string& place) const {
    if (extents == nullptr) return {};
    LEAPP_RETURN_IF_ERROR(check_bytes(elements_of(*extents) * kLeastWidth, place));
    const double others = empty_extents(*extents);
    if (others <= static_cast<double>(limits_.empty_extents)) return {};
    return invalid_argument(
        fmt::format("{}: a tensor without elements, expected other extents of at most {}, multiplied, found {}", place,
                    limits_.empty_extents, rounded(others)));
  }

  Result<Cost> graph(const GraphView& view, const Known& around, int depth) {
    Known known{KnownValues(&around.values), KnownShapes(&around.shapes)};
    Cost total;
    for (const ValueInfoView& input : view.inputs) {
      known.values.hide(input.name);
      // What a body says of its inputs is not checked by anybody before it runs, and may change from round to round.
      depth == 0 ? known.shapes.add_input(input) : known.shapes.hide(input.name);
      LEAPP_RETURN_IF_ERROR(check_extents(known.shapes.find(input.name), "input " + quote_brief(input.name)));
    }
    for (const NamedView& tensor : view.initializers) {
      known.values.add_initializer(tensor);
      known.shapes.add_initializer(tensor);
      const std::string place = "initializer " + quote_brief(tensor.name);
      LEAPP_RETURN_IF_ERROR(check_extents(known.shapes.find(tensor.name), place));
      LEAPP_RETURN_IF_ERROR(at(place, check_texts(tensor.bytes)));
      // The contents of others are in the model's file. These may be the same again and again.
      if (const Declared found = declared(tensor.bytes); found.external) {
        LEAPP_RETURN_IF_ERROR(add_weight(total, found.bytes(), place));
      }
    }
    for (const NamedView& tensor : view.sparse_initializers) {
      LEAPP_RETURN_IF_ERROR(add_weight(total, dense_bytes(tensor.bytes), "initializer " + quote_brief(tensor.name)));
    }
    for (const Encoded bytes : view.nodes) LEAPP_RETURN_IF_ERROR(node(bytes, known, depth, total));
    return total;
  }

  Status node(Encoded bytes, Known& known, int depth, Cost& total) {
    LEAPP_ASSIGN_OR_RETURN(const NodeView view, read_node(bytes));
    LEAPP_RETURN_IF_ERROR(check_bytes(result_bytes(view, known.values), place_of(view)));
    LEAPP_RETURN_IF_ERROR(at(place_of(view), check_texts(view)));
    for (const Encoded tensor : view.sparse_tensors) {
      LEAPP_RETURN_IF_ERROR(add_weight(total, dense_bytes(tensor), place_of(view)));
    }
    LEAPP_RETURN_IF_ERROR(check_depth(view, known.values));
    LEAPP_ASSIGN_OR_RETURN(const Cost cost, cost_of(view, known, depth));
    known.shapes.add_result(view, known.values);
    known.values.add_result(view);
    const Extents* const extents = view.outputs.empty() ? nullptr : known.shapes.find(view.outputs.front());
    LEAPP_RETURN_IF_ERROR(check_extents(extents, place_of(view)));
    return add(total, cost, view);
  }

  // ONNX Runtime reads the first number of it, and ends the process if there is none.
  static Status check_depth(const NodeView& view, const KnownValues& values) {
    const KnownValue* const depth = view.op_type == "OneHot" ? values.input(view, 1) : nullptr;
    if (depth == nullptr || depth->numbers.size() == 1) return {};
    return invalid_argument(
        fmt::format("{}: expected one number as depth, found {}", place_of(view), depth->numbers.size()));
  }

  Result<Cost> cost_of(const NodeView& view, const Known& known, int depth) {
    if (const auto found = functions_.find(key(view.domain, view.op_type)); found != functions_.end()) {
      return function(found->second, view, depth);
    }
    Cost cost{1, 1, 0, 0};
    for (const Encoded inner : view.graphs) {
      if (depth >= kDeepestGraph) return data_loss(fmt::format("more than {} graphs inside each other", kDeepestGraph));
      LEAPP_ASSIGN_OR_RETURN(const GraphView body, read_graph(inner));
      LEAPP_ASSIGN_OR_RETURN(const Cost once, graph(body, known, depth + 1));
      const std::uint64_t rounds = rounds_of(view, body, known);
      cost.operators = sum(cost.operators, sum(once.operators, kBody));
      cost.runs = sum(cost.runs, product(rounds, sum(once.runs, kRound)));
      cost.nested = std::max(cost.nested, once.nested);
      LEAPP_RETURN_IF_ERROR(add_weight(cost, once.weights, place_of(view)));
    }
    return cost;
  }

  /// How often a body runs, where that can be told; else 1: that is decided while it runs.
  static std::uint64_t rounds_of(const NodeView& view, const GraphView& body, const Known& known) {
    if (view.op_type == "Loop") return rounds_of_loop(view, body, known.values);
    return view.op_type == "Scan" ? rounds_of_scan(view, known.shapes) : 1;
  }

  /// As many as the tensors that it goes through are long. Those are the last of its inputs.
  static std::uint64_t rounds_of_scan(const NodeView& scan, const KnownShapes& shapes) {
    const std::int64_t scanned = integer_of(scan, "num_scan_inputs", 0);
    if (scanned <= 0 || static_cast<std::size_t>(scanned) > scan.inputs.size()) return 1;
    const std::vector<double> axes = integers_of(scan, "scan_input_axes");
    const Extents* const extents = shapes.input(scan, scan.inputs.size() - static_cast<std::size_t>(scanned));
    if (extents == nullptr) return 1;
    const double axis = axes.empty() ? 0 : axes.front() + (axes.front() < 0 ? static_cast<double>(extents->size()) : 0);
    return axis >= 0 && axis < static_cast<double>(extents->size())
               ? rounded((*extents)[static_cast<std::size_t>(axis)])
               : 1;
  }

  /// Of a loop that nothing but its constant count ends; of others 1.
  static std::uint64_t rounds_of_loop(const NodeView& loop, const GraphView& body, const KnownValues& known) {
    const KnownValue* count = known.input(loop, 0);
    const bool counted = !loop.inputs.empty() && !loop.inputs[0].empty();
    if (counted && (count == nullptr || count->numbers.size() != 1)) return 1;
    if (const KnownValue* start = known.input(loop, 1); start != nullptr && elements_of(start->numbers) == 0) return 0;
    if (!goes_on(body, known)) return 1;
    return counted ? rounded(count->numbers[0]) : kMost;
  }

  /// Whether a body hands on the condition it was given, or a constant one.
  static bool goes_on(const GraphView& body, const KnownValues& around) {
    if (body.outputs.empty() || body.inputs.size() < 2) return false;
    KnownValues known(&around);
    for (const ValueInfoView& input : body.inputs) known.hide(input.name);
    for (const NamedView& tensor : body.initializers) known.add_initializer(tensor);
    std::unordered_set<std::string_view> handed_on{body.inputs[1].name};
    for (const Encoded bytes : body.nodes) {
      const auto node = read_node(bytes);
      if (!node.ok()) return false;
      const NodeView& view = node.value();
      known.add_result(view);
      const bool same = view.op_type == "Identity" || view.op_type == "Cast";
      if (same && view.inputs.size() == 1 && view.outputs.size() == 1 && handed_on.contains(view.inputs[0])) {
        handed_on.insert(view.outputs[0]);
      }
    }
    const std::string_view condition = body.outputs.front().name;
    const KnownValue* value = known.find(condition);
    return handed_on.contains(condition) || (value != nullptr && elements_of(value->numbers) != 0);
  }

  Result<Cost> function(std::size_t index, const NodeView& caller, int depth) {
    Function& state = seen_[index];
    if (state.cost) return *state.cost;
    if (state.under_way) {
      return invalid_argument(fmt::format("{}: a function that calls itself", place_of(caller)));
    }
    state.under_way = true;
    Known known;
    Cost total;
    const Encoded bytes = model_.functions[index].bytes;
    Message<FunctionField> message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (message.next()) {
      if (message.tag() == FunctionField::kNode && message.wire_type() == protozero::pbf_wire_type::length_delimited) {
        const protozero::data_view inner = message.get_view();
        LEAPP_RETURN_IF_ERROR(node(std::as_bytes(std::span(inner.data(), inner.size())), known, depth, total));
      } else if (message.tag() == FunctionField::kAttributeValue &&
                 message.wire_type() == protozero::pbf_wire_type::length_delimited) {
        LEAPP_RETURN_IF_ERROR(at(place_of(caller), check_default(message.get_view())));
      } else {
        message.skip();
      }
    }
    if (++total.nested > limits_.nested_functions) {
      return invalid_argument(fmt::format("{}: expected at most {} functions inside each other", place_of(caller),
                                          limits_.nested_functions));
    }
    seen_[index].cost = total;
    return total;
  }

  /// What a function's attribute is where nobody says otherwise: the same as one of a node.
  static Status check_default(protozero::data_view attribute) {
    std::string bytes;
    protozero::pbf_writer(bytes).add_message(number(NodeField::kAttribute), attribute);
    LEAPP_ASSIGN_OR_RETURN(const NodeView view, read_node(std::as_bytes(std::span(bytes))));
    return check_texts(view);
  }

  const ModelView& model_;
  const ModelLimits& limits_;
  std::unordered_map<std::string, std::size_t> functions_;
  std::vector<Function> seen_;
};

}  // namespace

Status check_limits(Encoded model, const ModelLimits& limits) {
  LEAPP_ASSIGN_OR_RETURN(const ModelView view, read_model(model));
  try {
    return Survey(view, limits).run();
  } catch (const protozero::exception& error) {
    return data_loss(fmt::format("not an ONNX model: {}", error.what()));
  }
}

}  // namespace leapp::onnx
