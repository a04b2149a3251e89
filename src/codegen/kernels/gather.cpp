// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing at places that data names. Each place is looked at before it is used.
#include "engine/native/scalar/gather.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "codegen/functions.h"
#include "codegen/kernel_table.h"
#include "codegen/text.h"
#include "engine/native/ops/arguments.h"

namespace leapp::codegen {
namespace {

using native::GatherArgs;
using native::GatherElementsArgs;
using native::GatherNdArgs;
using native::OneHotArgs;
using native::ScatterElementsArgs;
using native::ScatterNdArgs;
using native::ScatterReduction;

static_assert(offsetof(native::Indices, data) == 0, "the operand of indices is found by the member that holds them");

constexpr std::array kGatherSnippets = {
    Snippet{"place_of", "",
            R"(// An index, negative ones from the back, as a place below `extent`; -1 when it is out of range.
template <typename Index>
inline int32_t place_of(Index index, int32_t extent) {
  if (index < -extent || index >= extent) return -1;
  return static_cast<int32_t>(index < 0 ? index + extent : index);
}
)"},
    Snippet{"row_place", "place_of",
            R"(// The place in a tensor with these extents that a row of indices names; -1 when one is out of range.
template <typename Index>
inline int32_t row_place(const Index* row, const int32_t* extents, int32_t depth) {
  int32_t place = 0;
  for (int32_t d = 0; d < depth; ++d) {
    const int32_t at = place_of(row[d], extents[d]);
    if (at < 0) return -1;
    place = place * extents[d] + at;
  }
  return place;
}
)"},
    Snippet{"gather", "place_of", R"(// y[o][i][k] = x[o][indices[i]][k]. False when an index is out of range.
template <typename T, typename Index>
inline bool gather(const T* x, const Index* indices, T* y, int32_t outer, int32_t extent, int32_t count, int32_t inner) {
  for (int32_t o = 0; o < outer; ++o) {
    for (int32_t i = 0; i < count; ++i) {
      const int32_t place = place_of(indices[i], extent);
      if (place < 0) return false;
      for (int32_t k = 0; k < inner; ++k) *y++ = x[(o * extent + place) * inner + k];
    }
  }
  return true;
}
)"},
    Snippet{"gather_nd", "row_place",
            R"(// Each row of indices names a slice of x, which has `batch` parts. False when an index is out of range.
template <typename T, typename Index>
inline bool gather_nd(const T* x, const Index* indices, T* y, const int32_t* extents, int32_t depth, int32_t rows,
                      int32_t slice, int32_t batch, int32_t batch_stride) {
  for (int32_t row = 0; row < rows; ++row) {
    const int32_t place = row_place(indices + row * depth, extents, depth);
    if (place < 0) return false;
    const T* from = x + row / (rows / batch) * batch_stride + place * slice;
    for (int32_t i = 0; i < slice; ++i) *y++ = from[i];
  }
  return true;
}
)"},
    Snippet{
        "scatter_nd", "row_place",
        R"(// Each row of indices names a slice of y, into which one of `updates` is put. False when an index is out of range.
template <typename T, typename Index, typename Join>
inline bool scatter_nd(T* y, const Index* indices, const T* updates, const int32_t* extents, int32_t depth, int32_t rows,
                       int32_t slice, Join join) {
  for (int32_t row = 0; row < rows; ++row) {
    const int32_t place = row_place(indices + row * depth, extents, depth);
    if (place < 0) return false;
    T* to = y + place * slice;
    for (int32_t i = 0; i < slice; ++i) to[i] = join(to[i], *updates++);
  }
  return true;
}
)"},
    Snippet{"one_hot", "place_of", R"(// values[1] where the index says so, else values[0].
template <typename T, typename Index>
inline void one_hot(const Index* indices, const T* values, T* y, int32_t outer, int32_t depth, int32_t inner) {
  for (int32_t o = 0; o < outer; ++o) {
    for (int32_t d = 0; d < depth; ++d) {
      for (int32_t i = 0; i < inner; ++i) *y++ = values[place_of(indices[o * inner + i], depth) == d ? 1 : 0];
    }
  }
}
)"},
};

/// A list of extents as an array of the file.
std::string extents_text(Emitter& e, const std::int64_t* extents, std::int32_t depth) {
  std::vector<std::int32_t> numbers;
  for (std::int32_t d = 0; d < depth; ++d) {
    (void)e.number(extents[d]);
    numbers.push_back(static_cast<std::int32_t>(extents[d]));
  }
  native::PlanValue value;
  value.dtype = DType::kInt32;
  value.shape = {depth};
  value.constant = onnx::Bytes::copy_of(std::as_bytes(std::span(numbers)));
  return e.add_constant(fmt::format("extents_{}", e.step()), value);
}

std::int64_t width_of(Emitter& e, native::ValueId value) {
  return static_cast<std::int64_t>(dtype_size(e.dtype(value)));
}

void emit_gather(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<GatherArgs>();
  const native::ValueId x = e.operand(call, &GatherArgs::x);
  e.need("gather");
  e.call_or_fail("gather", {e.pointer(x), e.pointer(call, &GatherArgs::indices), e.pointer(call, &GatherArgs::y),
                            e.number(args.outer), e.number(args.extent), e.number(args.indices.count),
                            e.number(args.inner / width_of(e, x))});
}

void emit_gather_nd(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<GatherNdArgs>();
  if (args.indices.count == 0) return;
  const native::ValueId x = e.operand(call, &GatherNdArgs::x);
  e.need("gather_nd");
  e.call_or_fail("gather_nd", {e.pointer(x), e.pointer(call, &GatherNdArgs::indices), e.pointer(call, &GatherNdArgs::y),
                               extents_text(e, args.extents, args.depth), e.number(args.depth),
                               e.number(args.indices.count), e.number(args.slice / width_of(e, x)),
                               e.number(args.batch), e.number(args.batch_bytes / width_of(e, x))});
}

void emit_one_hot(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<OneHotArgs>();
  e.need("one_hot");
  e.call("one_hot",
         {e.pointer(call, &OneHotArgs::indices), e.pointer(call, &OneHotArgs::values), e.pointer(call, &OneHotArgs::y),
          e.number(args.outer), e.number(args.depth), e.number(args.inner)});
}

/// A function of the element `a` that is there and the update `b`.
std::string join_text(Emitter& e, ScatterReduction reduction, DType dtype) {
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  const bool floating = half || dtype == DType::kFloat32 || dtype == DType::kFloat64;
  if (reduction == ScatterReduction::kNone) return "b";
  std::string a = "a";
  std::string b = "b";
  if (half) {
    e.need(dtype == DType::kFloat16 ? "widened float16" : "widened bfloat16");
    e.need(dtype == DType::kFloat16 ? "narrowed float16" : "narrowed bfloat16");
    a = "widened(a)";
    b = "widened(b)";
  }
  const auto integer = [&](const char* helper) {
    e.need(helper);
    return fmt::format("{}(a, b)", helper);
  };
  std::string text;
  switch (reduction) {
    case ScatterReduction::kAdd:
      text = floating ? fmt::format("{} + {}", a, b) : integer("added");
      break;
    case ScatterReduction::kMul:
      text = floating ? fmt::format("{} * {}", a, b) : integer("multiplied");
      break;
    default: {
      const bool maximum = reduction == ScatterReduction::kMax;
      if (floating) e.need(maximum ? "maximum" : "minimum");
      text = floating ? fmt::format("{}({}, {})", maximum ? "maximum" : "minimum", a, b)
                      : fmt::format("a {} b ? a : b", maximum ? ">" : "<");
    }
  }
  return half ? fmt::format("narrowed_{}({})", type_word(dtype), text) : text;
}

void emit_scatter_nd(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<ScatterNdArgs>();
  const DType dtype = e.dtype(e.operand(call, &ScatterNdArgs::y));
  const std::string_view type = c_type(dtype);
  e.need("scatter_nd");
  const char* before = args.reduction == ScatterReduction::kNone ? "" : " a";
  e.call_or_fail("scatter_nd", {e.pointer(call, &ScatterNdArgs::y), e.pointer(call, &ScatterNdArgs::indices),
                                e.pointer(call, &ScatterNdArgs::updates), extents_text(e, args.extents, args.depth),
                                e.number(args.depth), e.number(args.indices.count), e.number(args.slice),
                                fmt::format("[]({0}{1}, {0} b) {{ return {2}; }}", type, before,
                                            join_text(e, args.reduction, dtype))});
}

/// Loops over the indices. `statement` has the places of an index, `at`, and of the element it names, `element`.
struct ElementLoop {
  GatherElementsArgs places;
  std::array<std::string, 3> parameters;
  std::string statement;
};

void emit_elements(Emitter& e, const native::KernelCall& call, const ElementLoop& loop) {
  const GatherElementsArgs& args = loop.places;
  std::array<std::int64_t, native::kMaxRank> others{};
  for (std::int32_t i = 0; i < args.rank; ++i) {
    const auto at = static_cast<std::size_t>(i);
    others[at] = i == args.axis ? 0 : args.strides[at];
  }
  const std::string step = inside(args.rank);
  std::string body = fmt::format("{}const int32_t place = place_of(indices[at], {});\n", step, e.number(args.extent));
  body += fmt::format("{}if (place < 0) return false;\n", step);
  body += fmt::format("{}const int32_t element = {} + place * {};\n", step, index_text(e, others.data(), args.rank),
                      e.number(args.strides[args.axis]));
  body += fmt::format("{}{}\n{}++at;\n", step, loop.statement, step);
  e.need("place_of");
  const std::string name = e.add_function(join(loop.parameters, ", "),
                                          "  int32_t at = 0;\n" + loops(e, {args.shape, args.rank}, body), true);
  std::vector<std::string> arguments;
  for (const native::Operand& operand : call.operands) arguments.push_back(e.pointer(operand.value));
  e.call_or_fail(name, arguments);
}

void emit_gather_elements(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<GatherElementsArgs>();
  if (args.indices.count == 0) return;
  const std::string_view type = c_type(e.dtype(e.operand(call, &GatherElementsArgs::x)));
  const std::string_view index = c_type(e.dtype(e.operand(call, &GatherElementsArgs::indices)));
  emit_elements(
      e, call,
      {args,
       {fmt::format("const {}* x", type), fmt::format("const {}* indices", index), fmt::format("{}* y", type)},
       "y[at] = x[element];"});
}

void emit_scatter_elements(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<ScatterElementsArgs>();
  const DType dtype = e.dtype(e.operand(call, &ScatterElementsArgs::y));
  const std::string_view type = c_type(dtype);
  const std::string_view index = c_type(e.dtype(e.operand(call, &ScatterElementsArgs::indices)));
  GatherElementsArgs places;
  places.rank = args.rank;
  places.axis = args.axis;
  places.extent = args.extent;
  std::copy(std::begin(args.shape), std::end(args.shape), std::begin(places.shape));
  std::copy(std::begin(args.strides), std::end(args.strides), std::begin(places.strides));
  std::string statement = "y[element] = updates[at];";
  if (args.reduction != ScatterReduction::kNone) {
    statement = fmt::format("const {0} a = y[element];\n{1}const {0} b = updates[at];\n{1}y[element] = {2};", type,
                            inside(args.rank), join_text(e, args.reduction, dtype));
  }
  emit_elements(
      e, call,
      {places,
       {fmt::format("{}* y", type), fmt::format("const {}* indices", index), fmt::format("const {}* updates", type)},
       statement});
}

constexpr std::array kGatherKernels = {
    KernelEntry{"gather", emit_gather, true},
    KernelEntry{"gather nd", emit_gather_nd, true},
    KernelEntry{"gather elements", emit_gather_elements, true},
    KernelEntry{"scatter elements", emit_scatter_elements, true},
    KernelEntry{"scatter nd", emit_scatter_nd, true},
    KernelEntry{"one hot", emit_one_hot},
};

}  // namespace

Family gather_family() { return {kGatherKernels, kGatherSnippets}; }

}  // namespace leapp::codegen
