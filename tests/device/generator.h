// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>

namespace leapp::annex {

/// A new one of the device: one of the CPU's under another name.
at::Generator make_generator(c10::DeviceIndex device);
const at::Generator& default_generator(c10::DeviceIndex device);

/// The CPU's generator behind one of the device's; any other as it is.
at::Generator cpu_generator(const at::Generator& generator);

}  // namespace leapp::annex
