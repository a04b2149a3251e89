// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages of a recording, in the encoding of Protocol Buffers (proto3): viewers of the field read it, a row of floats
// stands in it as it stands in memory, and every bit comes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/dtype.h"
#include "leapp/base/status.h"

namespace leapp::runtime {

/// The values of one port. A message always has the same size. In one of two ways:
///   values   message M { repeated float values = 1; }            elements in row-major order
///   fields   message M { float hip = 1; float knee = 2; ... }    where elements have names
/// float16 and bfloat16 are written as float, small integers as 32-bit ones, bools as 0 and 1.
class PortCodec {
 public:
  /// As `values`. kInvalidArgument when a message would have 2 GB or more, which no reader of the encoding takes.
  static Result<PortCodec> make(DType dtype, std::size_t elements);
  /// As `fields`, with these names of fields.
  static PortCodec make(DType dtype, std::vector<std::string> fields);
  /// As `fields` of which only the number is known, as when reading. kInvalidArgument above kMostFields.
  static Result<PortCodec> make_fields(DType dtype, std::size_t count);

  static constexpr std::size_t kMostFields = 512;

  [[nodiscard]] bool has_fields() const { return has_fields_; }
  /// Of a message, in bytes.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Of the values in memory.
  [[nodiscard]] std::size_t bytes() const { return elements_ * dtype_size(dtype_); }

  void encode(const std::byte* values, std::string& to) const;
  /// kDataLoss when `message` is not what encode() makes.
  Status decode(std::string_view message, std::byte* values) const;

  /// A FileDescriptorSet with the message `leapp.{name}`: what a viewer reads to understand the messages.
  [[nodiscard]] std::string descriptor(const std::string& name) const;

 private:
  PortCodec(DType dtype, std::size_t elements, std::vector<std::string> fields, bool has_fields);

  DType dtype_;
  std::size_t elements_ = 0;
  bool has_fields_ = false;
  std::vector<std::string> fields_;
  std::string prefix_;  ///< of `values`: tag and length
  std::size_t size_ = 0;
};

/// What is known of a step beside the values of its ports. Times are nanoseconds of the monotonic clock; 0: not known.
struct StepInfo {
  std::uint64_t number = 0;   ///< counts steps of the pipeline since the recorder was made
  std::uint64_t result = 0;   ///< StepResult
  std::uint64_t dropped = 0;  ///< steps before this one that were not recorded
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t deadline = 0;
  std::uint64_t woken = 0;
  std::uint64_t input = 0;           ///< when the newest input was measured
  std::uint64_t guard_events = 0;    ///< how many elements the guards found
  std::uint64_t guards_changed = 0;  ///< 1: the guards are others than those that the recording says

  bool operator==(const StepInfo&) const = default;
};

void encode(const StepInfo& info, std::string& to);
Result<StepInfo> decode_step(std::string_view message);
[[nodiscard]] std::string step_descriptor();

/// What the guards remember: only we read it.
void encode_memory(std::string_view memory, std::string& to);
Result<std::string_view> decode_memory(std::string_view message);
[[nodiscard]] std::string memory_descriptor();

/// Names that can be fields of a message: letters, digits and underscores, not two the same however they are written.
/// Empty when that cannot be had from `names`.
[[nodiscard]] std::vector<std::string> field_names(const std::vector<std::string>& names);

/// `text` as a name of a message: other characters become underscores.
[[nodiscard]] std::string identifier(std::string_view text);

}  // namespace leapp::runtime
