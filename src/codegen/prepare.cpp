// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/prepare.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "engine/native/kernels/kernels.h"
#include "engine/native/memory.h"

namespace leapp::codegen {
namespace {

using native::Access;
using native::Block;
using native::KernelCall;
using native::Operand;
using native::PlanValue;
using native::ValueId;

/// The packed matrix [k, n] that a call reads, and through which of its pointers.
struct PackedMatrix {
  std::size_t field = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
};

std::optional<PackedMatrix> packed_matrix(const KernelCall& call) {
  const std::string_view kernel = call.kernel->name;
  if (kernel == "matmul packed") {
    const auto& args = call.as<native::kernels::MatMulPacked>();
    return PackedMatrix{offsetof(native::kernels::MatMulPacked, packed), args.k, args.n};
  }
  const std::int64_t gates = kernel == "gru cell" ? 3 : kernel == "lstm cell" ? 4 : kernel == "rnn cell" ? 1 : 0;
  if (gates == 0) return std::nullopt;
  const std::int64_t hidden = call.as<native::kernels::RecurrentCell>().hidden;
  return PackedMatrix{offsetof(native::kernels::RecurrentCell, recurrent), hidden, gates * hidden};
}

class Preparation {
 public:
  explicit Preparation(native::Plan& plan) : plan_(plan) {}

  void run(Block& block) {
    find_packing(block);
    std::erase_if(block,
                  [](const KernelCall& call) { return call.kernel->name == std::string_view("pack convolution"); });
    for (KernelCall& call : block) {
      unpack(call);
      // Memory in bytes is for kernels that lay it out themselves.
      std::erase_if(call.operands, [&](const Operand& one) {
        return one.access == Access::kScratch && plan_.values[one.value].dtype == DType::kUInt8;
      });
      for (Block& inner : call.blocks) run(inner);
    }
  }

 private:
  // Weights that depend on data are packed in each step: the convolution reads what is packed instead.
  void find_packing(const Block& block) {
    for (const KernelCall& call : block) {
      if (call.kernel->name != std::string_view("pack convolution")) continue;
      const auto written = std::find_if(call.operands.begin(), call.operands.end(),
                                        [](const Operand& one) { return one.access == Access::kWrite; });
      const auto read = std::find_if(call.operands.begin(), call.operands.end(),
                                     [](const Operand& one) { return one.access == Access::kRead; });
      sources_[written->value] = read->value;
    }
  }

  void unpack(KernelCall& call) {
    const auto matrix = packed_matrix(call);
    const bool convolution = call.kernel->name == std::string_view("convolution");
    for (Operand& operand : call.operands) {
      if (matrix && operand.field == matrix->field) operand.value = dense(operand.value, *matrix);
      if (!convolution || operand.field != offsetof(native::kernels::Convolution, packed)) continue;
      const auto source = sources_.find(operand.value);
      const auto& packed = plan_.values[operand.value].packed;
      if (source != sources_.end())
        operand.value = source->second;
      else if (packed)
        operand.value = packed->from;
    }
  }

  /// The weights as [n][k].
  ValueId dense(ValueId packed, const PackedMatrix& matrix) {
    const auto known = sources_.find(packed);
    if (known != sources_.end()) return known->second;
    const auto layout = plan_.values[packed].packed;
    if (!layout) return packed;
    const PlanValue& from = plan_.values[layout->from];
    const std::size_t width = dtype_size(from.dtype);
    const auto count = static_cast<std::size_t>(matrix.k * matrix.n);
    if (layout->row_stride == 1 && layout->column_stride == matrix.k && layout->offset == 0 &&
        from.bytes == count * width) {
      return sources_[packed] = layout->from;
    }
    std::vector<std::byte> bytes(count * width);
    for (std::int64_t column = 0; column < matrix.n; ++column) {
      for (std::int64_t row = 0; row < matrix.k; ++row) {
        const auto at = layout->offset + row * layout->row_stride + column * layout->column_stride;
        std::memcpy(bytes.data() + static_cast<std::size_t>(column * matrix.k + row) * width,
                    from.constant->view.data() + static_cast<std::size_t>(at) * width, width);
      }
    }
    PlanValue value;
    value.name = from.name;
    value.dtype = from.dtype;
    value.shape = {matrix.n, matrix.k};
    value.bytes = bytes.size();
    value.constant = onnx::Bytes::copy_of(bytes);
    plan_.values.push_back(std::move(value));
    return sources_[packed] = static_cast<ValueId>(plan_.values.size() - 1);
  }

  native::Plan& plan_;
  std::map<ValueId, ValueId> sources_;  ///< packed → what it was made of
};

}  // namespace

Status prepare(native::Plan& plan) {
  Preparation(plan).run(plan.calls);
  return native::plan_memory(plan, native::Arenas::kByType);
}

}  // namespace leapp::codegen
