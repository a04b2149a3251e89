// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// From a tensor, wherever it is, to bytes that the CPU can read. The only way: nobody else follows a tensor's address
// but to memory that he has made himself.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>

namespace leapp {

/// The elements in memory of the CPU, in row-major order, conjugated and negated where torch only says so: `tensor`
/// itself when it lies like that already, else a copy. What devices still have to do to it is waited for, on whatever
/// stream. Nobody may write to it. REQUIRES: dense. Throws c10::Error.
[[nodiscard]] at::Tensor on_host(const at::Tensor& tensor);

/// The same in memory of its own.
[[nodiscard]] at::Tensor copied_to_host(const at::Tensor& tensor);

/// All bytes of a storage as a flat tensor over it, on its own device.
[[nodiscard]] at::Tensor bytes_over(const c10::Storage& storage);

/// A copy from `device` to memory of the CPU has begun that the program does not wait for (`non_blocking=True`). The
/// next look at memory of the CPU does. Any thread.
void note_copy_under_way(c10::Device device);

}  // namespace leapp
