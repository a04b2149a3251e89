// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/widen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/text.h"
#include "engine/native/lowering.h"
#include "onnx_proto/contents.h"
#include "onnx_proto/reader.h"
#include "onnx_proto/rename.h"
#include "onnx_proto/rewrite.h"
#include "runtime/random_draws.h"
#include "runtime/row_node.h"

namespace leapp::runtime {
namespace {

constexpr std::size_t kMostAttempts = 256;  ///< ways to place the rows of one node's inputs

std::vector<engine::TensorInfo> infos_of(const std::vector<bundle::Port>& ports) {
  std::vector<engine::TensorInfo> infos;
  for (const bundle::Port& port : ports) infos.push_back({port.name, port.dtype, port.shape});
  return infos;
}

std::optional<Extents> integers_of(const native::Value& value) {
  if (!value.constant || value.shape.size() > 1) return std::nullopt;
  const std::span<const std::byte> bytes = value.constant->view;
  Extents numbers;
  if (value.dtype == DType::kInt64) {
    numbers.resize(bytes.size() / sizeof(std::int64_t));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  } else if (value.dtype == DType::kInt32) {
    std::vector<std::int32_t> narrow(bytes.size() / sizeof(std::int32_t));
    if (!bytes.empty()) std::memcpy(narrow.data(), bytes.data(), bytes.size());
    numbers.assign(narrow.begin(), narrow.end());
  } else {
    return std::nullopt;
  }
  return numbers;
}

/// Where the rows of a value are, and the other places that are the same in memory.
std::vector<RowPlace> places_of(const RowValue& value) {
  const RowPlace now{*value.axis, value.inner};
  std::vector<RowPlace> places{now};
  if (std::find(value.shape.begin(), value.shape.end(), 0) != value.shape.end()) return places;
  for (const RowPlace& place : places_before(value.shape, before_rows(value.shape, now.axis, now.inner))) {
    if (place.axis != now.axis) places.push_back(place);
  }
  return places;
}

std::string name_of(const onnx::NodeView& node) {
  const std::string_view made = node.outputs.empty() ? std::string_view() : node.outputs.front();
  return fmt::format("{} {}", printable(node.op_type.substr(0, 60)), quote_brief(node.name.empty() ? made : node.name));
}

class Widener {
 public:
  Widener(const WidenRequest& request, const onnx::ModelView& model, native::LoweringResult lowered)
      : request_(request),
        rows_(static_cast<std::int64_t>(request.rows)),
        model_(model),
        lowered_(std::move(lowered)),
        rewrite_(model) {
    for (const onnx::OperatorSet& set : model.opset_imports) {
      if (set.domain.empty()) opset_ = set.version;
    }
  }

  Result<std::string> run() {
    LEAPP_RETURN_IF_ERROR(check_model());
    LEAPP_RETURN_IF_ERROR(add_inputs());
    for (const onnx::Encoded bytes : model_.graph.nodes) {
      LEAPP_ASSIGN_OR_RETURN(const onnx::NodeView node, onnx::read_node(bytes));
      if (const Status added = add(node, bytes); !added.ok()) {
        return Status(added.code(), fmt::format("{}: {}", name_of(node), added.message()));
      }
    }
    LEAPP_RETURN_IF_ERROR(add_outputs());
    std::set<std::string, std::less<>> ports;
    for (const bundle::Port& port : request_.node.inputs) ports.insert(port.name);
    return std::move(rewrite_).take(ports).text();
  }

 private:
  Status check_model() {
    if (!model_.functions.empty()) return unimplemented("the model has functions of its own");
    if (!model_.graph.sparse_initializers.empty()) return unimplemented("the model has sparse weights");
    for (const auto* ports : {&request_.node.inputs, &request_.node.outputs}) {
      for (const bundle::Port& port : *ports) {
        const bool has_elements = std::find(port.shape.begin(), port.shape.end(), 0) == port.shape.end();
        if (!port.shape.empty() && has_elements) continue;
        return unimplemented(
            fmt::format("the port {} has the shape {}, without an axis for rows", port.name, shape_text(port.shape)));
      }
    }
    for (const onnx::Encoded bytes : model_.graph.nodes) {
      LEAPP_ASSIGN_OR_RETURN(const onnx::NodeView node, onnx::read_node(bytes));
      for (const std::string_view name : node.outputs) names_.emplace(name);
      for (const std::string_view name : node.inputs) names_.emplace(name);
    }
    for (const onnx::NamedView& tensor : model_.graph.initializers) names_.emplace(tensor.name);
    for (const onnx::ValueInfoView& output : model_.graph.outputs) results_.emplace(output.name);
    for (const bundle::Port& port : request_.node.outputs) {
      if (port.shape.front() != 1) inset_.emplace(port.name);
    }
    for (const onnx::NamedView& info : model_.graph.value_infos) {
      const auto read = onnx::read_value_info(info.bytes);
      if (read.ok() && read.value().dims) declared_[std::string(info.name)] = *read.value().dims;
    }
    return {};
  }

  onnx::ValueInfo wide_info(const bundle::Port& port) const {
    return {port.name, onnx::data_type_of(port.dtype).value_or(0), widened_shape(port.shape, request_.rows)};
  }

  Status add_inputs() {
    for (const bundle::Port& port : request_.node.inputs) {
      rewrite_.add_input(wide_info(port));
      if (port.shape.front() == 1) {
        axes_[port.name] = {};
      } else {
        take_in(port);
      }
    }
    return {};
  }

  /// A port that has the rows before all of its own axes, as a value that has them along one of these: one that has a
  /// single entry, as state of several layers does, or else the first, as blocks.
  void take_in(const bundle::Port& port) {
    const auto one = std::find(port.shape.begin(), port.shape.end(), 1);
    const std::int64_t axis = one == port.shape.end() ? 0 : one - port.shape.begin();
    std::string from = port.name;
    if (axis > 0) {
      Extents order(port.shape.size() + 1);
      std::iota(order.begin(), order.end(), 0);
      std::rotate(order.begin(), order.begin() + 1, order.begin() + axis + 1);
      from = transposed(from, order);
    }
    Extents shape = port.shape;
    shape[static_cast<std::size_t>(axis)] *= rows_;
    const std::string made = fresh(port.name + "/rows");
    add_operator("Reshape", from, shape, made);
    renamed_[port.name] = made;
    axes_[port.name] = {axis, false};
  }

  [[nodiscard]] std::optional<Extents> shape_of(std::string_view name) const {
    const auto lowered = lowered_.names.find(name);
    if (lowered != lowered_.names.end()) return lowered_.plan.values[lowered->second].shape;
    const auto declared = declared_.find(name);
    const bool fixed = declared != declared_.end() && std::all_of(declared->second.begin(), declared->second.end(),
                                                                  [](std::int64_t extent) { return extent >= 0; });
    return fixed ? std::optional(declared->second) : std::nullopt;
  }

  Result<RowValue> value_of(std::string_view name) const {
    RowValue value;
    if (name.empty()) return value;
    const auto shape = shape_of(name);
    if (!shape) return unimplemented(fmt::format("the shape of {} is not known", quote_brief(name)));
    value.shape = *shape;
    if (const auto place = axes_.find(name); place != axes_.end()) {
      value.axis = place->second.axis;
      value.inner = place->second.inner;
    }
    const auto lowered = lowered_.names.find(name);
    if (lowered != lowered_.names.end()) value.numbers = integers_of(lowered_.plan.values[lowered->second]);
    return value;
  }

  /// A name that nothing has yet.
  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  std::string constant(const Extents& numbers, const std::string& wanted) {
    const std::string name = fresh(wanted);
    onnx::Node node;
    node.op_type = "Constant";
    node.outputs = {name};
    node.name = fmt::format("Constant({})", name);
    node.attributes = {{"value_ints", numbers}};
    rewrite_.add_node(node);
    return name;
  }

  void add_operator(const char* op, const std::string& from, const Extents& shape, const std::string& to) {
    onnx::Node node;
    node.op_type = op;
    node.inputs = {from, constant(shape, to + "/shape")};
    node.outputs = {to};
    node.name = fmt::format("{}({})", op, to);
    rewrite_.add_node(node);
  }

  std::string transposed(const std::string& from, const Extents& order) {
    onnx::Node node;
    node.op_type = "Transpose";
    node.inputs = {from};
    node.outputs = {fresh(from + "/turned")};
    node.name = fmt::format("Transpose({})", node.outputs.front());
    node.attributes = {{"perm", order}};
    rewrite_.add_node(node);
    return node.outputs.front();
  }

  /// The value with its rows along another axis.
  std::string moved(const std::string& name, const RowValue& value, std::int64_t axis) {
    if (*value.axis == axis) return current(name);
    std::string& made = moved_[{name, axis}];
    if (made.empty()) {
      Extents shape = value.shape;
      shape[static_cast<std::size_t>(axis)] *= rows_;
      made = fresh(fmt::format("{}/rows_{}", name, axis));
      add_operator("Reshape", current(name), shape, made);
    }
    return made;
  }

  /// A constant for every row.
  std::string repeated(const std::string& name, const RowValue& value, std::int64_t axis) {
    std::string& made = moved_[{name, axis}];
    if (made.empty()) {
      Extents shape = value.shape;
      shape[static_cast<std::size_t>(axis)] = rows_;
      made = fresh(fmt::format("{}/rows_{}", name, axis));
      add_operator("Expand", current(name), shape, made);
    }
    return made;
  }

  [[nodiscard]] std::string current(const std::string& name) const {
    const auto found = renamed_.find(name);
    return found == renamed_.end() ? name : found->second;
  }

  Status add(const onnx::NodeView& node, onnx::Encoded bytes) {
    if (!node.graphs.empty()) return unimplemented("it has graphs inside");
    const bool own = node.domain.empty() || node.domain == "ai.onnx";
    if (own && is_random(node.op_type)) return unimplemented("every row has random numbers of its own");
    const bool wide = std::any_of(node.inputs.begin(), node.inputs.end(),
                                  [&](std::string_view name) { return axes_.find(name) != axes_.end(); });
    if (!wide) return add_renamed(node, bytes, {});
    const RowRule rule = own ? find_row_rule(node.op_type) : nullptr;
    if (rule == nullptr) return unimplemented("it is not known whether it keeps rows apart");
    std::vector<RowValue> inputs;
    for (const std::string_view name : node.inputs) {
      LEAPP_ASSIGN_OR_RETURN(RowValue value, value_of(name));
      inputs.push_back(std::move(value));
    }
    return place_rows(node, bytes, rule, inputs);
  }

  /// Tries the rule with the rows where they are, then with those of single inputs moved to axes that mean the same.
  Status place_rows(const onnx::NodeView& node, onnx::Encoded bytes, RowRule rule,
                    const std::vector<RowValue>& inputs) {
    std::vector<Extents> outputs;
    for (const std::string_view name : node.outputs) {
      const auto shape = name.empty() ? std::optional(Extents()) : shape_of(name);
      if (!shape) return unimplemented(fmt::format("the shape of {} is not known", quote_brief(name)));
      outputs.push_back(*shape);
    }
    std::vector<std::vector<RowPlace>> places;
    std::size_t ways = 1;
    for (const RowValue& input : inputs) {
      places.push_back(input.axis ? places_of(input) : std::vector<RowPlace>(1));
      ways *= std::min(places.back().size(), kMostAttempts);
      ways = std::min(ways, kMostAttempts);
    }
    Status first;
    for (std::size_t way = 0; way < ways; ++way) {
      std::vector<RowValue> tried = inputs;
      std::size_t rest = way;
      for (std::size_t i = 0; i < tried.size(); ++i) {
        if (tried[i].axis) {
          tried[i].axis = places[i][rest % places[i].size()].axis;
          tried[i].inner = places[i][rest % places[i].size()].inner;
        }
        rest /= places[i].size();
      }
      RowNode looked(node, opset_, rows_, tried, outputs);
      const bool blocks = std::any_of(tried.begin(), tried.end(), [](const RowValue& one) { return each(one) > 1; });
      Status status = blocks && !takes_blocks(node.op_type) ? mixes_rows("rows are a part of an axis") : rule(looked);
      if (status.ok()) status = check_axes(looked, tried, outputs);
      if (status.ok()) return apply(node, bytes, inputs, tried, looked.edits());
      if (first.ok()) first = std::move(status);
    }
    return first;
  }

  /// Entries that a row has along its axis; 0 for what has no rows.
  static std::int64_t each(const RowValue& value) {
    return value.axis ? value.shape[static_cast<std::size_t>(*value.axis)] : 0;
  }

  /// But for a reshape, rows keep as many entries as they have.
  static Status check_axes(const RowNode& node, const std::vector<RowValue>& inputs,
                           const std::vector<Extents>& outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto axis = node.edits().axes[i];
      if (!axis || outputs[i].empty()) continue;
      const auto found = *axis < 0 || *axis >= std::ssize(outputs[i]) ? 0 : outputs[i][static_cast<std::size_t>(*axis)];
      const bool kept =
          std::any_of(inputs.begin(), inputs.end(), [&](const RowValue& one) { return each(one) == found; });
      if (found == 0 || (!kept && node.op() != "Reshape")) return mixes_rows("its result has no axis for rows");
    }
    return {};
  }

  Status apply(const onnx::NodeView& node, onnx::Encoded bytes, const std::vector<RowValue>& inputs,
               const std::vector<RowValue>& tried, const RowEdits& edits) {
    if (!edits.frozen.empty()) {
      for (const auto& [output, numbers] : edits.frozen) freeze(std::string(node.outputs[output]), numbers);
      return {};
    }
    std::map<std::size_t, std::string> replaced;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].axis) replaced[i] = moved(std::string(node.inputs[i]), inputs[i], *tried[i].axis);
    }
    for (const auto& [input, axis] : edits.repeats) {
      const Extents& shape = inputs[input].shape;
      if (axis >= std::ssize(shape) || shape[static_cast<std::size_t>(axis)] != 1) {
        return mixes_rows(fmt::format("its input {} is longer than a row", input));
      }
      replaced[input] = repeated(std::string(node.inputs[input]), inputs[input], axis);
    }
    for (const auto& [input, numbers] : edits.numbers) {
      replaced[input] = constant(numbers, std::string(node.outputs.front()) + "/numbers");
    }
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      if (node.outputs[o].empty() || !edits.axes[o]) continue;
      const bool inner = std::any_of(tried.begin(), tried.end(), [](const RowValue& one) { return one.inner; });
      axes_[std::string(node.outputs[o])] = {*edits.axes[o], edits.inner.value_or(inner)};
    }
    return add_renamed(node, bytes, replaced);
  }

  void freeze(const std::string& name, const Extents& numbers) {
    const std::string made = constant(numbers, name + "/frozen");
    renamed_[name] = made;
  }

  /// The node, reading what has become of its inputs. Results that need another name, since the model's output of that
  /// name has its rows elsewhere, get it.
  Status add_renamed(const onnx::NodeView& node, onnx::Encoded bytes,
                     const std::map<std::size_t, std::string>& replaced) {
    onnx::Renaming renaming;
    const auto rename = [&](std::string_view from, const std::string& to) {
      const auto [at, added] = renaming.values.try_emplace(std::string(from), to);
      return added || at->second == to;
    };
    bool changed = false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].empty()) continue;
      const auto found = replaced.find(i);
      const std::string name = found == replaced.end() ? current(std::string(node.inputs[i])) : found->second;
      if (!rename(node.inputs[i], name)) return unimplemented("it reads one value in two ways");
      changed = changed || name != node.inputs[i];
    }
    for (const std::string_view output : node.outputs) {
      if (output.empty() || !needs_other_name(output)) continue;
      renamed_[std::string(output)] = fresh(std::string(output) + "/one");
      if (!rename(output, renamed_[std::string(output)])) return unimplemented("it reads its own result");
      changed = true;
    }
    if (!changed) {
      rewrite_.add_node(bytes);
      return {};
    }
    // A name that stays has to be said, too: others get the prefix.
    for (const std::string_view output : node.outputs) renaming.values.try_emplace(std::string(output), output);
    LEAPP_ASSIGN_OR_RETURN(onnx::Pieces pieces, onnx::rename_node(bytes, renaming));
    rewrite_.add_node(std::move(pieces));
    return {};
  }

  /// Whether something has to stand between a value and the output of the model that it is.
  [[nodiscard]] bool needs_other_name(std::string_view name) const {
    if (results_.find(name) == results_.end()) return false;
    const auto axis = axes_.find(name);
    return axis == axes_.end() || axis->second.axis != 0 || axis->second.inner || inset_.find(name) != inset_.end();
  }

  Status add_outputs() {
    for (const bundle::Port& port : request_.node.outputs) {
      rewrite_.add_output(wide_info(port));
      LEAPP_ASSIGN_OR_RETURN(const RowValue value, value_of(port.name));
      if (value.axis == 0 && !value.inner && port.shape.front() == 1) continue;
      if (value.shape != port.shape) {
        return unimplemented(fmt::format("the output {} has the shape {}, the bundle says {}", port.name,
                                         shape_text(value.shape), shape_text(port.shape)));
      }
      if (current(port.name) == port.name) return unimplemented(fmt::format("the output {} is a weight", port.name));
      LEAPP_RETURN_IF_ERROR(give_out(port, value));
    }
    return {};
  }

  /// An output of the model of what has its rows elsewhere, or none.
  Status give_out(const bundle::Port& port, const RowValue& value) {
    const Extents shape = widened_shape(port.shape, request_.rows);
    if (!value.axis) {
      add_operator("Expand", current(port.name), shape, port.name);
      return {};
    }
    const auto front = value.shape.begin();
    const bool first = std::all_of(front, front + *value.axis, [](std::int64_t extent) { return extent == 1; });
    std::string from = current(port.name);
    if (!first || value.inner) {
      if (each(value) != 1 || value.inner) {
        return unimplemented(fmt::format("the output {} does not have the rows one after the other", port.name));
      }
      Extents order(value.shape.size());
      std::iota(order.begin(), order.end(), 0);
      std::rotate(order.begin(), order.begin() + *value.axis, order.begin() + *value.axis + 1);
      from = transposed(from, order);
    }
    add_operator("Reshape", from, shape, port.name);
    return {};
  }

  const WidenRequest& request_;
  std::int64_t rows_;
  std::int64_t opset_ = 0;
  const onnx::ModelView& model_;
  native::LoweringResult lowered_;  ///< for one row: what shapes and constants there are
  onnx::Rewrite rewrite_;
  std::map<std::string, Extents, std::less<>> declared_;
  std::map<std::string, RowPlace, std::less<>> axes_;  ///< of values that have rows
  std::set<std::string, std::less<>> names_;
  std::set<std::string, std::less<>> results_;                         ///< outputs of the model
  std::set<std::string, std::less<>> inset_;                           ///< those without a leading 1
  std::map<std::string, std::string> renamed_;                         ///< values that have another name now
  std::map<std::pair<std::string, std::int64_t>, std::string> moved_;  ///< value, axis → what has its rows there
};

}  // namespace

Result<std::string> widen_model(const WidenRequest& request) {
  LEAPP_ASSIGN_OR_RETURN(const onnx::ModelView model, onnx::read_model(request.model));
  const std::vector<engine::TensorInfo> inputs = infos_of(request.node.inputs);
  LEAPP_ASSIGN_OR_RETURN(native::LoweringResult lowered, native::lower({request.model, inputs, request.memory_limit}));
  return Widener(request, model, std::move(lowered)).run();
}

std::vector<std::int64_t> widened_shape(const std::vector<std::int64_t>& shape, std::size_t rows) {
  std::vector<std::int64_t> wide = shape;
  if (wide.empty() || wide.front() != 1) wide.insert(wide.begin(), 1);
  wide.front() = static_cast<std::int64_t>(rows);
  return wide;
}

}  // namespace leapp::runtime
