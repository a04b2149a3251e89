// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/memory_use.h"

#include <algorithm>
#include <cstring>

#include "capture/recorder/memory.h"

namespace leapp::capture {
namespace {

/// One byte for every byte of a memory.
class ByteMask {
 public:
  explicit ByteMask(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {}

  void mark(const Geometry& place, bool value) {
    if (place.element_count() > 0) mark(place, value, 0, place.byte_offset);
  }

  [[nodiscard]] bool meets(const ByteMask& other) const {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      if ((bytes_[i] & other.bytes_[i]) != 0) return true;
    }
    return false;
  }

 private:
  void mark(const Geometry& place, bool value, std::size_t dim, std::int64_t offset) {
    std::int64_t run = 1;
    bool dense = true;
    for (std::size_t i = place.sizes.size(); i-- > dim;) {
      dense = dense && (place.sizes[i] == 1 || place.strides[i] == run);
      run *= place.sizes[i];
    }
    if (dense) {
      std::memset(bytes_.data() + offset, value ? 1 : 0, static_cast<std::size_t>(run * place.item_size()));
      return;
    }
    for (std::int64_t i = 0; i < place.sizes[dim]; ++i)
      mark(place, value, dim + 1, offset + i * place.strides[dim] * place.item_size());
  }

  std::vector<std::uint8_t> bytes_;
};

}  // namespace

bool MemoryUse::has_input_at(const Geometry& place) const {
  return std::any_of(inputs_.begin(), inputs_.end(), [&](const Geometry& input) { return touch(input, place); });
}

bool MemoryUse::changed(const ConstantCell& cell, std::int64_t bytes) const {
  if (bytes > Memory::kMaxKept) return true;
  ByteMask written(bytes);
  for (const Geometry& place : writes_) written.mark(place, true);
  for (const Geometry& place : cell.covered) written.mark(place, false);
  for (const Geometry& place : inputs_) written.mark(place, false);
  ByteMask read(bytes);
  read.mark(cell.place, true);
  return read.meets(written);
}

void MemoryUse::begin() {
  written_ = false;
  born_in_call_ = false;
  writes_.clear();
  inputs_.clear();
}

void MemoryUse::absorb(const MemoryUse& other) {
  writes_.insert(writes_.end(), other.writes_.begin(), other.writes_.end());
  inputs_.insert(inputs_.end(), other.inputs_.begin(), other.inputs_.end());
  written_ = written_ || other.written_;
  kept_ = kept_ || other.kept_;
  undefined_ = undefined_ && other.undefined_;
}

void MemoryUse::shift(std::int64_t bytes) {
  for (Geometry& place : writes_) place.byte_offset += bytes;
  for (Geometry& place : inputs_) place.byte_offset += bytes;
}

}  // namespace leapp::capture
