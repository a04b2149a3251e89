// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leapp::capture {

/// While one exists, tensors above 128 kB get memory of their own from the system. Otherwise glibc, once it has seen a
/// large block freed, takes them from its heap, where our small records settle in the holes they leave and the next
/// tensor does not fit any more: peak memory was measured at two to twenty times that without capture.
class HeapWithoutHoles {
 public:
  HeapWithoutHoles();
  ~HeapWithoutHoles();
  HeapWithoutHoles(const HeapWithoutHoles&) = delete;
  HeapWithoutHoles& operator=(const HeapWithoutHoles&) = delete;
};

}  // namespace leapp::capture
