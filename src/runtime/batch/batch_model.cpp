// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/batch/batch_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "engine/native/lowering.h"
#include "onnx_proto/contents.h"
#include "onnx_proto/reader.h"
#include "onnx_proto/rename.h"
#include "onnx_proto/rewrite.h"
#include "runtime/batch/batch_lift.h"
#include "runtime/batch/batch_node.h"
#include "runtime/batch/batch_places.h"
#include "runtime/batch/batch_writer.h"
#include "runtime/pipeline/random_draws.h"

namespace leapp::runtime {
namespace {

constexpr std::size_t kMostAttempts = 256;  ///< ways to place the rows of one node's inputs

std::vector<engine::TensorInfo> infos_of(const std::vector<bundle::Port>& ports) {
  std::vector<engine::TensorInfo> infos;
  for (const bundle::Port& port : ports) infos.push_back({port.name, port.dtype, port.shape});
  return infos;
}

std::optional<BatchExtents> integers_of(const native::PlanValue& value) {
  if (!value.constant || value.shape.size() > 1) return std::nullopt;
  const std::span<const std::byte> bytes = value.constant->view;
  BatchExtents numbers;
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
        write_(model, rows_) {
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
    return std::move(write_.model()).take(ports).text();
  }

 private:
  Status check_model() {
    if (!model_.functions.empty()) return unimplemented("the model has functions of its own");
    if (!model_.graph.sparse_initializers.empty()) return unimplemented("the model has sparse weights");
    for (const auto* ports : {&request_.node.inputs, &request_.node.outputs}) {
      for (const bundle::Port& port : *ports) {
        if (std::find(port.shape.begin(), port.shape.end(), 0) == port.shape.end()) continue;
        return unimplemented(fmt::format("the port {} has no elements: {}", port.name, shape_text(port.shape)));
      }
    }
    for (const onnx::Encoded bytes : model_.graph.nodes) {
      LEAPP_ASSIGN_OR_RETURN(const onnx::NodeView node, onnx::read_node(bytes));
      for (const std::string_view name : node.outputs) write_.reserve(name);
      for (const std::string_view name : node.inputs) write_.reserve(name);
    }
    for (const onnx::NamedView& tensor : model_.graph.initializers) write_.reserve(tensor.name);
    for (const onnx::ValueInfoView& output : model_.graph.outputs) results_.emplace(output.name);
    for (const bundle::Port& port : request_.node.outputs) {
      if (port.shape.empty() || port.shape.front() != 1) inset_.emplace(port.name);
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
      write_.model().add_input(wide_info(port));
      if (port.shape.empty()) lifted_[{port.name, {}}] = port.name;
      if (port.shape.empty() || port.shape.front() == 1) {
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
    lifted_[{port.name, port.shape}] = port.name;
    const auto one = std::find(port.shape.begin(), port.shape.end(), 1);
    const std::int64_t axis = one == port.shape.end() ? 0 : one - port.shape.begin();
    std::string from = port.name;
    if (axis > 0) {
      BatchExtents order(port.shape.size() + 1);
      std::iota(order.begin(), order.end(), 0);
      std::rotate(order.begin(), order.begin() + 1, order.begin() + axis + 1);
      from = write_.transposed(from, order);
    }
    BatchExtents shape = port.shape;
    shape[static_cast<std::size_t>(axis)] *= rows_;
    const std::string made = write_.fresh(port.name + "/rows");
    write_.add_operator("Reshape", from, shape, made);
    renamed_[port.name] = made;
    axes_[port.name] = {axis, false};
  }

  [[nodiscard]] std::optional<BatchExtents> shape_of(std::string_view name) const {
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

  /// The value with its rows elsewhere. What is the same in memory is reshaped; else rows are copied.
  std::string moved(const std::string& name, const RowValue& value, const RowPlace& place) {
    const std::int64_t from = before_rows(value.shape, *value.axis, value.inner);
    const std::int64_t to = before_rows(value.shape, place.axis, place.inner);
    if (*value.axis == place.axis && from == to) return current(name);
    std::string& made = moved_[{name, place.axis, to}];
    if (made.empty()) {
      BatchExtents shape = value.shape;
      shape[static_cast<std::size_t>(place.axis)] *= rows_;
      made = write_.fresh(fmt::format("{}/rows_{}", name, place.axis));
      write_.add_operator("Reshape", write_.carried(current(name), value.shape, from, to), shape, made);
    }
    return made;
  }

  /// A constant for every row.
  std::string repeated(const std::string& name, const RowValue& value, std::int64_t axis) {
    std::string& made = moved_[{name, axis, 0}];
    if (made.empty()) {
      BatchExtents shape = value.shape;
      shape[static_cast<std::size_t>(axis)] = rows_;
      made = write_.fresh(fmt::format("{}/rows_{}", name, axis));
      write_.add_operator("Expand", current(name), shape, made);
    }
    return made;
  }

  [[nodiscard]] std::string current(const std::string& name) const {
    const auto found = renamed_.find(name);
    return found == renamed_.end() ? name : found->second;
  }

  Status add(const onnx::NodeView& node, onnx::Encoded bytes) {
    if (!node.graphs.empty()) return unimplemented("it has graphs inside");
    if (node.outputs.empty()) return unimplemented("it has no results");
    const bool own = node.domain.empty() || node.domain == "ai.onnx";
    if (own && is_random(node.op_type)) return unimplemented("every row has random numbers of its own");
    const bool wide = std::any_of(node.inputs.begin(), node.inputs.end(),
                                  [&](std::string_view name) { return axes_.find(name) != axes_.end(); });
    if (!wide) return add_renamed(node, bytes, {});
    const RowRule rule = own ? find_row_rule(node.op_type) : nullptr;
    if (rule == nullptr && !(own && can_be_lifted(node.op_type))) {
      return unimplemented("it is not known whether it keeps rows apart");
    }
    std::vector<RowValue> inputs;
    for (const std::string_view name : node.inputs) {
      LEAPP_ASSIGN_OR_RETURN(RowValue value, value_of(name));
      inputs.push_back(std::move(value));
    }
    std::vector<BatchExtents> outputs;
    for (const std::string_view name : node.outputs) {
      const auto shape = name.empty() ? std::optional(BatchExtents()) : shape_of(name);
      if (!shape) return unimplemented(fmt::format("the shape of {} is not known", quote_brief(name)));
      outputs.push_back(*shape);
    }
    const Status placed =
        rule == nullptr ? mixes_rows("nothing is known of its axes") : place_rows(node, bytes, rule, inputs, outputs);
    if (placed.ok()) return placed;
    const RowNode looked(node, opset_, rows_, inputs, outputs);
    const auto lifting = lift_node(looked);
    return lifting.ok() ? apply(node, looked, lifting.value()) : placed;
  }

  static bool single(const std::vector<RowValue>& inputs, const onnx::NodeView& node,
                     const std::vector<BatchExtents>& outputs) {
    for (const RowValue& input : inputs) {
      if (input.axis && input.shape.empty()) return true;
    }
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (outputs[o].empty() && !node.outputs[o].empty()) return true;
    }
    return false;
  }

  /// Tries the rule with the rows where they are, then with those of single inputs moved to axes that mean the same,
  /// and then with as few of them as possible copied.
  Status place_rows(const onnx::NodeView& node, onnx::Encoded bytes, RowRule rule, const std::vector<RowValue>& inputs,
                    const std::vector<BatchExtents>& outputs) {
    if (single(inputs, node, outputs)) return mixes_rows("a single number has no axis for rows");
    Ways ways(inputs, kMostAttempts);
    Status first;
    for (std::size_t copies = 0; copies <= ways.inputs_with_rows(); ++copies) {
      for (const std::vector<RowPlace>& way : ways.with_copies(copies)) {
        std::vector<RowValue> tried = inputs;
        for (std::size_t i = 0; i < tried.size(); ++i) {
          if (!tried[i].axis) continue;
          tried[i].axis = way[i].axis;
          tried[i].inner = way[i].inner;
        }
        RowNode looked(node, opset_, rows_, tried, outputs);
        Status status = tried_rule(looked, rule, tried, outputs);
        if (status.ok()) return apply(node, bytes, inputs, tried, looked.edits());
        if (first.ok()) first = std::move(status);
      }
    }
    return first;
  }

  static Status tried_rule(RowNode& node, RowRule rule, const std::vector<RowValue>& inputs,
                           const std::vector<BatchExtents>& outputs) {
    const bool blocks = std::any_of(inputs.begin(), inputs.end(), [](const RowValue& one) { return each(one) > 1; });
    if (blocks && !takes_blocks(node.op())) return mixes_rows("rows are a part of an axis");
    LEAPP_RETURN_IF_ERROR(rule(node));
    return check_axes(node, inputs, outputs);
  }

  /// Entries that a row has along its axis; 0 for what has no rows.
  static std::int64_t each(const RowValue& value) {
    return value.axis ? value.shape[static_cast<std::size_t>(*value.axis)] : 0;
  }

  /// But for a reshape, rows keep as many entries as they have.
  static Status check_axes(const RowNode& node, const std::vector<RowValue>& inputs,
                           const std::vector<BatchExtents>& outputs) {
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
      if (inputs[i].axis) replaced[i] = moved(std::string(node.inputs[i]), inputs[i], {*tried[i].axis, tried[i].inner});
    }
    for (const auto& [input, axis] : edits.repeats) {
      const BatchExtents& shape = inputs[input].shape;
      if (axis >= std::ssize(shape) || shape[static_cast<std::size_t>(axis)] != 1) {
        return mixes_rows(fmt::format("its input {} is longer than a row", input));
      }
      replaced[input] = repeated(std::string(node.inputs[input]), inputs[input], axis);
    }
    for (const auto& [input, numbers] : edits.numbers) {
      replaced[input] = write_.constant(numbers, std::string(node.outputs.front()) + "/numbers");
    }
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      if (node.outputs[o].empty() || !edits.axes[o]) continue;
      const bool inner = std::any_of(tried.begin(), tried.end(), [](const RowValue& one) { return one.inner; });
      axes_[std::string(node.outputs[o])] = {*edits.axes[o], edits.inner.value_or(inner)};
    }
    return add_renamed(node, bytes, replaced);
  }

  /// The value with its rows before all axes, each seen as `shape`.
  std::string lifted(const std::string& name, const RowValue& value, const BatchExtents& shape) {
    std::string& made = lifted_[{name, shape}];
    if (made.empty()) {
      const auto same = lifted_.find({name, value.shape});
      const bool known = same != lifted_.end() && !same->second.empty();
      const std::int64_t before = value.shape.empty() ? 1 : before_rows(value.shape, *value.axis, value.inner);
      const std::string from = known ? same->second : write_.carried(current(name), value.shape, before, 1);
      made = write_.fresh(name + "/lifted");
      write_.add_operator("Reshape", from, write_.rows_before(shape), made);
    }
    return made;
  }

  /// A constant, once for each row.
  std::string lifted_constant(const std::string& name, const BatchExtents& shape) {
    std::string& made = lifted_[{name, shape}];
    if (made.empty()) {
      made = write_.fresh(name + "/lifted");
      write_.add_operator("Expand", current(name), write_.rows_before(shape), made);
    }
    return made;
  }

  /// The node with the rows before all axes of what it reads and gives.
  Status apply(const onnx::NodeView& view, const RowNode& looked, const Lifting& lifting) {
    onnx::NodeProto node;
    node.op_type = lifting.op;
    node.attributes = lifting.attributes;
    for (std::size_t i = 0; i < view.inputs.size(); ++i) {
      const std::string name(view.inputs[i]);
      const bool repeated = std::find(lifting.repeats.begin(), lifting.repeats.end(), i) != lifting.repeats.end();
      if (lifting.shapes[i]) {
        LEAPP_ASSIGN_OR_RETURN(const RowValue value, value_of(name));
        node.inputs.push_back(lifted(name, value, *lifting.shapes[i]));
      } else {
        node.inputs.push_back(repeated ? lifted_constant(name, looked.shape(i)) : current(name));
      }
    }
    for (const auto& [input, numbers] : lifting.numbers) {
      node.inputs.resize(std::max(node.inputs.size(), input + 1));
      node.inputs[input] = write_.constant(numbers, std::string(view.outputs.front()) + "/numbers");
    }
    if (lifting.counted) {
      node.inputs[*lifting.counted] = write_.counted(node.inputs[*lifting.counted], looked.shape(*lifting.counted));
    }
    if (lifting.op != view.op_type) node.inputs.resize(2);  // a reshape, or a choice of one's own
    for (const std::string_view output : view.outputs) {
      node.outputs.push_back(output.empty() ? std::string() : write_.fresh(std::string(output) + "/lifted"));
    }
    node.name = fmt::format("rows/{}({})", lifting.op, node.outputs.front());
    write_.model().add_node(node);
    for (std::size_t o = 0; o < view.outputs.size(); ++o) {
      if (!view.outputs[o].empty())
        take_lifted(std::string(view.outputs[o]), node.outputs[o], looked.result(o), lifting);
    }
    return {};
  }

  /// A result that has the rows before all axes, as a value that has them along the first.
  void take_lifted(const std::string& name, const std::string& found, const BatchExtents& shape,
                   const Lifting& lifting) {
    std::string from = found;
    if (lifting.other_shape) {
      from = write_.fresh(name + "/lifted");
      write_.add_operator("Reshape", found, write_.rows_before(shape), from);
    }
    lifted_[{name, shape}] = from;
    axes_[name] = {};
    if (shape.empty()) {
      renamed_[name] = from;
      return;
    }
    if (needs_other_name(name)) renamed_[name] = write_.fresh(name + "/one");
    BatchExtents target = shape;
    target.front() *= rows_;
    write_.add_operator("Reshape", from, target, current(name));
  }

  void freeze(const std::string& name, const BatchExtents& numbers) {
    const std::string made = write_.constant(numbers, name + "/frozen");
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
      renamed_[std::string(output)] = write_.fresh(std::string(output) + "/one");
      if (!rename(output, renamed_[std::string(output)])) return unimplemented("it reads its own result");
      changed = true;
    }
    if (!changed) {
      write_.model().add_node(bytes);
      return {};
    }
    // A name that stays has to be said, too: others get the prefix.
    for (const std::string_view output : node.outputs) renaming.values.try_emplace(std::string(output), output);
    LEAPP_ASSIGN_OR_RETURN(onnx::Pieces pieces, onnx::rename_node(bytes, renaming));
    write_.model().add_node(std::move(pieces));
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
      write_.model().add_output(wide_info(port));
      LEAPP_ASSIGN_OR_RETURN(const RowValue value, value_of(port.name));
      if (value.axis == 0 && !value.inner && !port.shape.empty() && port.shape.front() == 1) continue;
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
    const BatchExtents shape = widened_shape(port.shape, request_.rows);
    if (!value.axis) {
      write_.add_operator("Expand", current(port.name), shape, port.name);
      return {};
    }
    const std::int64_t before = before_rows(value.shape, *value.axis, value.inner);
    const std::string from = write_.carried(current(port.name), value.shape, before, 1);
    write_.add_operator("Reshape", from, shape, port.name);
    return {};
  }

  const WidenRequest& request_;
  std::int64_t rows_;
  std::int64_t opset_ = 0;
  const onnx::ModelView& model_;
  native::LoweringResult lowered_;  ///< for one row: what shapes and constants there are
  RowWriter write_;
  std::map<std::string, BatchExtents, std::less<>> declared_;
  std::map<std::string, RowPlace, std::less<>> axes_;                   ///< of values that have rows
  std::set<std::string, std::less<>> results_;                          ///< outputs of the model
  std::set<std::string, std::less<>> inset_;                            ///< those without a leading 1
  std::map<std::string, std::string> renamed_;                          ///< values that have another name now
  std::map<std::pair<std::string, BatchExtents>, std::string> lifted_;  ///< value, a row's shape → rows before all axes
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::string>
      moved_;  ///< value, axis, entries before its rows → what has them there
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
