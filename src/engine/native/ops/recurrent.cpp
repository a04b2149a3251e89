// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// GRU, LSTM and RNN. What the input contributes is one product for the whole sequence; then one call per time step.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "engine/native/op_table.h"
#include "engine/native/ops/matrices.h"

namespace leapp::native {
namespace {

constexpr Kernel kGruCell = kernel_of<&kernels::gru_cell>("gru cell");
constexpr Kernel kLstmCell = kernel_of<&kernels::lstm_cell>("lstm cell");
constexpr Kernel kSimpleCell = kernel_of<&kernels::simple_cell>("rnn cell");
constexpr std::int64_t kLongest = 4096;  ///< each step is a call of its own

struct Layer {
  std::int64_t gates = 1;
  std::int64_t hidden = 0;
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t width = 0;
  std::int64_t directions = 1;
  bool lstm = false;
};

/// One direction of the layer.
struct Direction {
  std::int64_t number = 0;
  bool backwards = false;
  ValueId h = kNoValue;  ///< [batch, hidden]: before the first step
  ValueId c = kNoValue;
};

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Functions other than those a layer has by default are not for these kernels, but for a simple layer's relu.
kernels::Activation check_activations(Lowering& b, const Layer& layer) {
  kernels::Activation function{kernels::Unary::kTanh};
  if (b.has_attr("clip")) refuse("clipped gates");
  if (b.attr_int("input_forget", 0) != 0) refuse("coupled gates");
  if (b.attr_int("layout", 0) != 0) refuse("another layout");
  const auto names = b.attr_strings("activations");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = lower_case(names[i]);
    const bool gate = layer.gates > 1 && i % (layer.lstm ? 3 : 2) == 0;
    if (layer.gates == 1 && name == "relu") {
      function.function = kernels::Unary::kRelu;
    } else if (name != (gate ? "sigmoid" : "tanh")) {
      refuse(fmt::format("the function {}", quote(names[i])));
    }
  }
  return function;
}

/// `count` numbers of row `direction` of a constant or other value [directions, ...].
ValueId row_of(Lowering& b, ValueId value, std::int64_t direction, std::int64_t begin, std::int64_t count) {
  const std::int64_t row = b.elements(value) / b.shape(value)[0];
  return b.view(value, b.dtype(value), {count},
                static_cast<std::uint64_t>(direction * row + begin) * dtype_size(b.dtype(value)));
}

ValueId zeros(Lowering& b, const Shape& shape) {
  const ValueId id = b.make(DType::kFloat32, shape);
  b.expect_room(b.value(id).bytes);
  const std::vector<std::byte> bytes(b.value(id).bytes);
  return b.constant(DType::kFloat32, shape, onnx::Bytes::copy_of(bytes));
}

/// W x + Wb for all steps: [steps * batch, gates * hidden].
ValueId from_input(Lowering& b, const Layer& layer, const Direction& direction, ValueId x) {
  const ValueId w = b.input(1);
  const std::int64_t n = layer.gates * layer.hidden;
  const MatrixLayout layout{.k = layer.width,
                            .n = n,
                            .row_stride = 1,
                            .column_stride = layer.width,
                            .offset = direction.number * n * layer.width};
  ValueId bias = kNoValue;
  if (b.has_input(3)) bias = row_of(b, as_float32(b, b.input(3)), direction.number, 0, n);
  return add_packed(b, {.x = x,
                        .packed = packed_matrix(b, w, layout),
                        .bias = bias,
                        .storage = storage_of(b.dtype(w)),
                        .m = layer.steps * layer.batch,
                        .k = layer.width,
                        .n = n,
                        .shape = {layer.steps * layer.batch, n}});
}

struct Outputs {
  ValueId all = kNoValue;  ///< [steps, directions, batch, hidden]
  ValueId h = kNoValue;    ///< [directions, batch, hidden]
  ValueId c = kNoValue;
};

void add_direction(Lowering& b, const Layer& layer, Direction direction, ValueId x, const Outputs& to,
                   const kernels::Activation& function) {
  const std::int64_t n = layer.gates * layer.hidden;
  const ValueId inputs = from_input(b, layer, direction, x);
  const ValueId r = b.input(2);
  const ValueId packed = packed_matrix(b, r,
                                       {.k = layer.hidden,
                                        .n = n,
                                        .row_stride = 1,
                                        .column_stride = layer.hidden,
                                        .offset = direction.number * n * layer.hidden});
  kernels::RecurrentCell args;
  args.storage = storage_of(b.dtype(r));
  args.from_input_stride = n;
  args.batch = layer.batch;
  args.hidden = layer.hidden;
  args.linear_before_reset = b.attr_int("linear_before_reset", 0) != 0;
  args.activation = function;
  ValueId bias = kNoValue;
  if (b.has_input(3)) bias = row_of(b, as_float32(b, b.input(3)), direction.number, n, n);
  ValueId peephole = kNoValue;
  if (layer.lstm && b.has_input(7))
    peephole = row_of(b, as_float32(b, b.input(7)), direction.number, 0, 3 * layer.hidden);
  const ValueId scratch = b.make(DType::kFloat32, {layer.batch * ((layer.gates + 1) * layer.hidden + 16)});
  const std::uint64_t block = static_cast<std::uint64_t>(layer.batch * layer.hidden) * sizeof(float);
  const Shape state = {layer.batch, layer.hidden};
  const Kernel& kernel = layer.lstm ? kLstmCell : layer.gates == 3 ? kGruCell : kSimpleCell;
  for (std::int64_t i = 0; i < layer.steps; ++i) {
    const std::int64_t step = direction.backwards ? layer.steps - 1 - i : i;
    const bool last = i + 1 == layer.steps;
    const ValueId part = b.view(inputs, DType::kFloat32, {layer.batch, n},
                                static_cast<std::uint64_t>(step * layer.batch * n) * sizeof(float));
    ValueId h = kNoValue;
    if (to.all != kNoValue) {
      h = b.view(to.all, DType::kFloat32, state,
                 static_cast<std::uint64_t>(step * layer.directions + direction.number) * block);
    } else if (last && to.h != kNoValue) {
      h = b.view(to.h, DType::kFloat32, state, static_cast<std::uint64_t>(direction.number) * block);
    } else {
      h = b.make(DType::kFloat32, state);
    }
    ValueId c = kNoValue;
    if (layer.lstm) {
      c = last && to.c != kNoValue
              ? b.view(to.c, DType::kFloat32, state, static_cast<std::uint64_t>(direction.number) * block)
              : b.make(DType::kFloat32, state);
    }
    CallMaker make(kernel, args);
    make.read(args.from_input, part).read(args.recurrent, packed).read(args.recurrent_bias, bias);
    make.read(args.peephole, peephole).read(args.h, direction.h).read(args.c, direction.c);
    make.write(args.h_next, h).write(args.c_next, c).scratch(args.scratch, scratch);
    b.add(make.take());
    direction.h = h;
    direction.c = c;
  }
  if (to.all != kNoValue && to.h != kNoValue) {
    copy_bytes(b, direction.h,
               b.view(to.h, DType::kFloat32, state, static_cast<std::uint64_t>(direction.number) * block));
  }
}

Layer layer_of(Lowering& b, ValueId x, ValueId w, ValueId r) {
  Layer layer;
  layer.lstm = b.op() == "LSTM";
  layer.gates = layer.lstm ? 4 : b.op() == "GRU" ? 3 : 1;
  if (b.rank(x) != 3 || b.rank(w) != 3 || b.rank(r) != 3) refuse("expects three dimensions");
  layer.steps = b.shape(x)[0];
  layer.batch = b.shape(x)[1];
  layer.width = b.shape(x)[2];
  layer.hidden = b.shape(r)[2];
  layer.directions = b.shape(w)[0];
  const std::int64_t n = layer.gates * layer.hidden;
  if (b.shape(w) != Shape{layer.directions, n, layer.width} || b.shape(r) != Shape{layer.directions, n, layer.hidden}) {
    refuse("weights that do not go with its input");
  }
  if (!b.is_constant(w) || !b.is_constant(r)) refuse("weights that depend on data");
  if (!is_single(b.dtype(w)) || b.dtype(r) != b.dtype(w)) refuse("weights of another type");
  if (layer.steps < 1 || layer.steps > kLongest || layer.batch < 1 || layer.hidden < 1) refuse("lengths out of range");
  const std::string direction = b.attr_string("direction", "forward");
  if (layer.directions != (direction == "bidirectional" ? 2 : 1)) refuse("weights for another number of directions");
  const auto check = [&](std::size_t input, std::int64_t count, const char* what) {
    if (b.has_input(input) && b.elements(b.input(input)) != count) refuse(fmt::format("{} of another size", what));
  };
  check(3, layer.directions * 2 * n, "a bias");
  check(5, layer.directions * layer.batch * layer.hidden, "a state");
  if (layer.lstm) check(6, layer.directions * layer.batch * layer.hidden, "a state");
  if (layer.lstm) check(7, layer.directions * 3 * layer.hidden, "peepholes");
  if (b.has_input(4)) {
    for (const std::int64_t length : b.ints(b.input(4), "sequence_lens")) {
      if (length != layer.steps) refuse("sequences of different lengths");
    }
  }
  return layer;
}

void lower_recurrent(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = as_float32(b, given);
  const Layer layer = layer_of(b, x, b.input(1), b.input(2));
  const kernels::Activation function = check_activations(b, layer);
  b.add_steps(layer.steps * layer.directions);
  Outputs to;
  if (b.has_output(0)) to.all = b.make(DType::kFloat32, {layer.steps, layer.directions, layer.batch, layer.hidden});
  const Shape last = {layer.directions, layer.batch, layer.hidden};
  if (b.has_output(1)) to.h = b.make(DType::kFloat32, last);
  if (layer.lstm && b.has_output(2)) to.c = b.make(DType::kFloat32, last);
  const std::int64_t block = layer.batch * layer.hidden;
  for (std::int64_t d = 0; d < layer.directions; ++d) {
    Direction direction{.number = d, .backwards = d == 1 || b.attr_string("direction", "forward") == "reverse"};
    const auto state = [&](std::size_t input) {
      return b.has_input(input) ? row_of(b, as_float32(b, b.input(input)), d, 0, block)
                                : zeros(b, {layer.batch, layer.hidden});
    };
    direction.h = state(5);
    if (layer.lstm) direction.c = state(6);
    add_direction(b, layer, direction, x, to, function);
  }
  if (to.all != kNoValue) bind_as(b, 0, to.all, b.dtype(given));
  if (to.h != kNoValue) bind_as(b, 1, to.h, b.dtype(given));
  if (to.c != kNoValue) bind_as(b, 2, to.c, b.dtype(given));
}

constexpr std::array kRecurrentOps = {
    LowerEntry{"GRU", lower_recurrent},
    LowerEntry{"LSTM", lower_recurrent},
    LowerEntry{"RNN", lower_recurrent},
};

}  // namespace

LowerEntries recurrent_ops() { return kRecurrentOps; }

}  // namespace leapp::native
