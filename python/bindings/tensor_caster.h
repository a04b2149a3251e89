// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Lets nanobind pass at::Tensor: the Python object and the C++ handle are the same tensor.
#pragma once

#include <nanobind/nanobind.h>
#include <torch/csrc/autograd/python_variable.h>

namespace nanobind::detail {

template <>
struct type_caster<at::Tensor> {
  NB_TYPE_CASTER(at::Tensor, const_name("torch.Tensor"))

  // NOLINTNEXTLINE(bugprone-exception-escape): nanobind asks for noexcept; torch throws here for tensors it has broken
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    if (!THPVariable_Check(source.ptr())) return false;
    value = THPVariable_Unpack(source.ptr());
    return true;
  }

  static handle from_cpp(const at::Tensor& tensor, rv_policy, cleanup_list*) noexcept {
    return THPVariable_Wrap(tensor);
  }
};

}  // namespace nanobind::detail
