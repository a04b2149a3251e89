// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes say which of the operators of LEAPP's own engine stand in a model, on what, and with which attributes:
// models that a parser takes, and that their authors would not write.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/native/native_engine.h"
#include "engine/native/op_table.h"
#include "engine/native/program.h"
#include "onnx_proto/limits.h"
#include "onnx_proto/writer.h"

namespace {

using leapp::DType;
using leapp::onnx::AttributeProto;
using leapp::onnx::GraphProto;
using Numbers = std::vector<std::int64_t>;

constexpr std::uint64_t kMostMemory = std::uint64_t{16} << 20U;
constexpr std::size_t kMostNodes = 4;
constexpr int kMostDepth = 2;

/// Gives zeros when there are no more.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  std::size_t below(std::size_t end) { return end == 0 ? 0 : byte() % end; }
  template <typename T, std::size_t N>
  const T& of(const std::array<T, N>& table) {
    return table[below(N)];
  }

 private:
  std::span<const std::uint8_t> rest_;
};

constexpr std::array kDTypes = {DType::kFloat32, DType::kInt64,   DType::kBool,  DType::kFloat64, DType::kInt32,
                                DType::kUInt8,   DType::kFloat16, DType::kInt8,  DType::kInt16,   DType::kBFloat16,
                                DType::kFloat32, DType::kFloat32, DType::kInt64, DType::kFloat32};
constexpr std::array<std::int64_t, 16> kIntegers = {0,  1,  2,  3,  4,   5,         7,         8,
                                                    -1, -2, -3, -5, 255, 1LL << 31, INT64_MAX, INT64_MIN};
constexpr std::array<float, 8> kFloats = {0, 1, -1, 0.5F, 2, 1e30F, -1e30F, 3};
constexpr std::array<std::string_view, 20> kTexts = {
    "",        "constant",      "edge",          "reflect", "wrap",       "linear",     "nearest",
    "cubic",   "bilinear",      "SAME_UPPER",    "VALID",   "asymmetric", "half_pixel", "floor",
    "forward", "bidirectional", "align_corners", "tanh",    "add",        "ij,jk->ik"};
constexpr std::array<std::string_view, 24> kIntegerNames = {
    "axis",       "keepdims",    "to",          "group",   "transA",        "transB",
    "ceil_mode",  "blocksize",   "exclusive",   "reverse", "largest",       "sorted",
    "batch_dims", "num_groups",  "hidden_size", "layout",  "start",         "end",
    "allowzero",  "num_outputs", "fmod",        "upper",   "align_corners", "count_include_pad"};
constexpr std::array<std::string_view, 12> kListNames = {
    "axes",  "perm",         "pads",           "strides", "dilations",  "kernel_shape",
    "split", "output_shape", "output_padding", "shape",   "value_ints", "scan_input_axes"};
constexpr std::array<std::string_view, 7> kFloatNames = {"alpha", "beta", "epsilon",    "clip",
                                                         "lambd", "bias", "value_float"};
constexpr std::array<std::string_view, 10> kTextNames = {
    "mode",         "auto_pad",     "direction", "coordinate_transformation_mode",
    "nearest_mode", "padding_mode", "equation",  "approximate",
    "reduction",    "activations"};

const std::vector<std::string_view>& operators() {
  static const auto* const names = [] {
    auto* all = new std::vector<std::string_view>;
    using namespace leapp::native;
    for (const LowerEntries family :
         {elementwise_ops(), casting_ops(), matrix_ops(), shape_ops(), layout_ops(), indexing_ops(), scatter_ops(),
          reduction_ops(), ordering_ops(), normalisation_ops(), convolution_ops(), pooling_ops(), sampling_ops(),
          recurrent_ops(), control_ops()}) {
      for (const LowerEntry& entry : family) all->push_back(entry.name);
    }
    return all;
  }();
  return *names;
}

class Maker {
 public:
  explicit Maker(Choices& choices) : choices_(choices) {}

  /// Nodes on `known` values, the last of which are its outputs, summed up to one number each: nobody has to know
  /// their shapes.
  GraphProto graph(std::vector<std::string> known, int depth) {
    GraphProto made;
    made.name = name("g");
    for (std::size_t i = choices_.below(3); i > 0; --i) known.push_back(constant(made));
    std::vector<std::string> results;
    for (std::size_t i = choices_.below(kMostNodes) + 1; i > 0; --i) {
      for (std::string& result : node(made, known, depth)) {
        known.push_back(result);
        results.push_back(std::move(result));
      }
    }
    for (const std::string& result : results) sum_up(made, result);
    return made;
  }

  std::string input(GraphProto& graph) {
    const DType dtype = choices_.of(kDTypes);
    graph.inputs.push_back({name("x"), leapp::onnx::data_type_of(dtype).value(), extents()});
    return graph.inputs.back().name;
  }

 private:
  std::string name(std::string_view start) { return std::string(start) + std::to_string(names_++); }

  Numbers extents() {
    static constexpr std::array<std::int64_t, 8> kExtents = {1, 2, 3, 4, 0, 5, 7, 17};
    Numbers found(choices_.below(5));
    for (std::int64_t& extent : found) extent = choices_.of(kExtents);
    return found;
  }
  Numbers integers() {
    Numbers found(choices_.below(7));
    for (std::int64_t& number : found) number = choices_.of(kIntegers);
    return found;
  }

  /// Half of them are lists of whole numbers, as axes and shapes are.
  std::string constant(GraphProto& graph) {
    leapp::onnx::TensorProto tensor;
    tensor.name = name("c");
    std::vector<std::byte> bytes;
    if (choices_.below(2) == 0) {
      const Numbers numbers = integers();
      tensor.data_type = leapp::onnx::data_type_of(DType::kInt64).value();
      if (numbers.size() != 1 || choices_.below(2) == 0) tensor.dims = {static_cast<std::int64_t>(numbers.size())};
      const auto view = std::as_bytes(std::span(numbers));
      bytes.assign(view.begin(), view.end());
    } else {
      const DType dtype = choices_.of(kDTypes);
      tensor.data_type = leapp::onnx::data_type_of(dtype).value();
      tensor.dims = extents();
      std::size_t count = leapp::dtype_size(dtype);
      for (const std::int64_t extent : tensor.dims) count *= static_cast<std::size_t>(extent);
      bytes.resize(count, static_cast<std::byte>(dtype == DType::kBool ? 1 : choices_.byte()));
    }
    tensor.raw_data = leapp::onnx::Bytes::copy_of(bytes);
    graph.initializers.push_back(std::move(tensor));
    return graph.initializers.back().name;
  }

  AttributeProto attribute(std::string_view op) {
    switch (choices_.below(5)) {
      case 0:
        return {std::string(choices_.of(kIntegerNames)), choices_.of(kIntegers)};
      case 1:
        return {std::string(choices_.of(kListNames)), integers()};
      case 2:
        return {std::string(choices_.of(kFloatNames)), choices_.of(kFloats)};
      case 3: {
        std::string key(choices_.of(kTextNames));
        std::string text(choices_.of(kTexts));
        if (key == "activations") return {key, std::vector<std::string>{text, text}};
        return {std::move(key), std::move(text)};
      }
      default:
        return {op == "Cast" ? "to" : "axis", static_cast<std::int64_t>(choices_.below(12)) - 2};
    }
  }

  std::shared_ptr<const GraphProto> body(const std::vector<std::string>& known, std::size_t inputs, int depth) {
    GraphProto inner;
    std::vector<std::string> seen = known;
    for (std::size_t i = 0; i < inputs; ++i) seen.push_back(input(inner));
    GraphProto made = graph(std::move(seen), depth + 1);
    made.inputs = std::move(inner.inputs);
    return std::make_shared<const GraphProto>(std::move(made));
  }

  std::vector<std::string> node(GraphProto& graph, const std::vector<std::string>& known, int depth) {
    leapp::onnx::NodeProto node;
    node.op_type = operators()[(choices_.byte() * 256U + choices_.byte()) % operators().size()];
    for (std::size_t i = choices_.below(6); i > 0; --i) {
      const bool left_out = choices_.below(16) == 0;
      node.inputs.push_back(left_out || known.empty() ? "" : known[known.size() - 1 - choices_.below(known.size())]);
    }
    for (std::size_t i = choices_.below(4); i > 0; --i) node.attributes.push_back(attribute(node.op_type));
    if (depth < kMostDepth && node.op_type == "If") {
      node.attributes.push_back({"then_branch", body(known, 0, depth)});
      node.attributes.push_back({"else_branch", body(known, 0, depth)});
    } else if (depth < kMostDepth && (node.op_type == "Loop" || node.op_type == "Scan")) {
      node.attributes.push_back({"body", body(known, choices_.below(4), depth)});
      node.attributes.push_back({"num_scan_inputs", static_cast<std::int64_t>(choices_.below(3))});
    }
    for (std::size_t i = choices_.below(8) == 0 ? choices_.below(4) + 1 : 1; i > 0; --i)
      node.outputs.push_back(name("y"));
    node.name = name("n");
    std::vector<std::string> results = node.outputs;
    graph.nodes.push_back(std::move(node));
    return results;
  }

  void sum_up(GraphProto& graph, const std::string& result) {
    const std::string number = name("s");
    const std::string sum = name("r");
    const std::int64_t to = leapp::onnx::data_type_of(DType::kFloat32).value();
    graph.nodes.push_back({{result}, {number}, name("n"), "Cast", "", "", {{"to", to}}});
    graph.nodes.push_back({{number}, {sum}, name("n"), "ReduceSum", "", "", {{"keepdims", std::int64_t{0}}}});
    graph.outputs.push_back({sum, static_cast<std::int32_t>(to), {}});
  }

  Choices& choices_;
  int names_ = 0;
};

/// Runs it on inputs of these bytes, as fuzz/load.cpp does.
void run(leapp::engine::EngineModel& model) {
  leapp::engine::Binding binding;
  std::vector<leapp::native::AlignedMemory> memory;
  std::vector<std::span<std::byte>> inputs;
  for (auto [infos, buffers] : {std::pair{&model.inputs(), &binding.inputs}, {&model.outputs(), &binding.outputs}}) {
    for (const leapp::engine::TensorInfo& info : *infos) {
      const std::size_t bytes = leapp::engine::buffer_size(*info.dtype, *info.shape).value();
      memory.emplace_back(bytes);
      if (buffers == &binding.inputs) inputs.emplace_back(memory.back().data(), bytes);
      buffers->push_back({info.name, *info.dtype, *info.shape, memory.back().data()});
    }
  }
  const auto number = model.prepare(binding);
  if (!number.ok()) return;
  for (const int byte : {0x00, 0xff, 0x7f, 0x01}) {
    for (const std::span<std::byte> input : inputs) std::fill(input.begin(), input.end(), static_cast<std::byte>(byte));
    (void)model.run(number.value());
  }
}

std::string model_of(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  Maker maker(choices);
  GraphProto outer;
  std::vector<std::string> known;
  for (std::size_t i = choices.below(4) + 1; i > 0; --i) known.push_back(maker.input(outer));
  leapp::onnx::ModelProto model;
  model.ir_version = 8;
  model.opset_imports = {{"", 18}};
  model.graph = maker.graph(std::move(known), 0);
  model.graph.inputs = std::move(outer.inputs);
  return leapp::onnx::write_model(model).text();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = model_of(data, size);
  const auto view = std::as_bytes(std::span(bytes));
  // What the loader looks at before an engine does.
  if (!leapp::onnx::check_limits(view, {.tensor_bytes = kMostMemory}).ok()) return 0;
  auto attempted = leapp::native::attempt({.name = "m", .path = {}, .bytes = view, .memory_limit = kMostMemory});
  if (attempted.ok() && attempted.value().model) run(*attempted.value().model);
  return 0;
}
