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
    OpEntry{"aten::_cast_Byte", convert},
    OpEntry{"aten::_cast_Char", convert},
    OpEntry{"aten::_cast_Double", convert},
    OpEntry{"aten::_cast_Float", convert},
    OpEntry{"aten::_cast_Half", convert},
    OpEntry{"aten::_cast_Int", convert},
    OpEntry{"aten::_cast_Long", convert},
    OpEntry{"aten::_cast_Short", convert},
    OpEntry{"aten::_to_copy", convert},
    OpEntry{"aten::_conj", same},
    OpEntry{"aten::alias", same},
    OpEntry{"aten::alias_copy", same},
    OpEntry{"aten::clone", same},
    OpEntry{"aten::conj", same},
    OpEntry{"aten::conj_physical", same},
    OpEntry{"aten::contiguous", same},
    OpEntry{"aten::detach", same},
    OpEntry{"aten::detach_copy", same},
    OpEntry{"aten::lift_fresh", same},
    OpEntry{"aten::lift_fresh_copy", same},
    OpEntry{"aten::real", same},
    OpEntry{"aten::resolve_conj", same},
    OpEntry{"aten::resolve_neg", same},
    OpEntry{"aten::to.device", convert},
    OpEntry{"aten::to.dtype", convert},
    OpEntry{"aten::to.dtype_layout", convert},
    OpEntry{"aten::to.other", convert},
    OpEntry{"aten::type_as", convert},
};

}  // namespace

OpEntries casting_ops() { return kCastingOps; }

}  // namespace leapp::onnx_ops
