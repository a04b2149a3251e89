// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "emit/onnx/op_table.h"

namespace leapp::onnx_ops {
namespace {

/// Another dtype, device or layout of the same values: only the dtype is left of it.
void convert(OpBuilder& b) { b.bind(b.cast(b.tensor("self"), b.result().dtype)); }

void same(OpBuilder& b) { b.bind(b.tensor("self")); }

constexpr std::array kCastingOps = {
    EmitEntry{"aten::_cast_Byte", convert},
    EmitEntry{"aten::_cast_Char", convert},
    EmitEntry{"aten::_cast_Double", convert},
    EmitEntry{"aten::_cast_Float", convert},
    EmitEntry{"aten::_cast_Half", convert},
    EmitEntry{"aten::_cast_Int", convert},
    EmitEntry{"aten::_cast_Long", convert},
    EmitEntry{"aten::_cast_Short", convert},
    EmitEntry{"aten::_to_copy", convert},
    EmitEntry{"aten::_conj", same},
    EmitEntry{"aten::alias", same},
    EmitEntry{"aten::alias_copy", same},
    EmitEntry{"aten::clone", same},
    EmitEntry{"aten::conj", same},
    EmitEntry{"aten::conj_physical", same},
    EmitEntry{"aten::contiguous", same},
    EmitEntry{"aten::detach", same},
    EmitEntry{"aten::detach_copy", same},
    EmitEntry{"aten::lift_fresh", same},
    EmitEntry{"aten::lift_fresh_copy", same},
    EmitEntry{"aten::real", same},
    EmitEntry{"aten::resolve_conj", same},
    EmitEntry{"aten::resolve_neg", same},
    EmitEntry{"aten::to.device", convert},
    EmitEntry{"aten::to.dtype", convert},
    EmitEntry{"aten::to.dtype_layout", convert},
    EmitEntry{"aten::to.other", convert},
    EmitEntry{"aten::type_as", convert},
};

}  // namespace

EmitEntries casting_ops() { return kCastingOps; }

}  // namespace leapp::onnx_ops
