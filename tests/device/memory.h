// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a device that is none: ordinary memory behind other addresses.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

#include <functional>

namespace leapp::annex {

constexpr c10::DeviceIndex kDevices = 2;
constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;

/// Where the device's own kernels find what others know by `address`. Everybody else who follows an address dies of it:
/// nothing may be read there. Both devices use the same addresses, each for memory of its own.
void* reach(const void* address, c10::DeviceIndex device);

/// Of the device that is current on the calling thread. What it gives holds no zeros; what is given back is filled with
/// something else, and handed out again at once.
c10::Allocator* allocator();

/// Of memory of the CPU that the device may copy from and to while the program goes on.
c10::Allocator* pinned_allocator();
bool is_pinned(const void* address);

c10::DeviceIndex current_device();
c10::DeviceIndex exchange_device(c10::DeviceIndex device);

/// Work that the device has promised and not begun: copies that nobody waits for.
void postpone(std::function<void()> work);
void finish_work();
std::size_t work_left();

}  // namespace leapp::annex
