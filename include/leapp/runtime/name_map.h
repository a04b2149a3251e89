// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Joints in the robot's order, whatever order the policy was trained with.
//
//   auto q = NameMap::make(pipeline.input_of_kind("state/joint/position").value(), 1, robot.joint_names()).value();
//   auto target = NameMap::make(pipeline.output_of_kind("target/joint/position").value(), 1, ...).value();
//   q.write(robot.positions()); pipeline.step(); target.read(robot.targets());
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/base/tensor_view.h"
#include "leapp/runtime/port.h"

namespace leapp::runtime {

/// How the robot's numbers differ from the policy's, for each of the robot's names:
///
///   in the port = sign * scale * in the robot + offset
///
/// and reading does the inverse, so that one description of the robot serves observations and targets. Each list is
/// empty (1, 0 and 1) or has an entry for each of the robot's names, in the robot's order.
struct Conversion {
  std::vector<double> scale;   ///< finite, not 0
  std::vector<double> offset;  ///< finite, in the port's unit
  std::vector<double> sign;    ///< 1 or -1
};

/// Copies between an array in the robot's order and a port in the policy's. Where a port has several axes, one has the
/// names and the others are as they are: for [1, history, joints] the robot's array is [1, history, robot_names].
///
/// write() and read() allocate nothing, lock nothing and do not throw. A map belongs to one thread at a time, as the
/// pipeline does; it refers to the pipeline's memory and must not outlive it.
class LEAPP_API NameMap {
 public:
  /// `axis` counts from 0; from the end when it is negative. kInvalidArgument, with the names of both sides, when a
  /// name is missing, unknown or there twice on either side; also for an axis that is not there or has no names, and
  /// for a conversion that cannot be inverted.
  static Result<NameMap> make(const Port& port, int axis, std::span<const std::string> robot_names,
                              const Conversion& conversion = {});

  /// How many numbers the robot's array has: as many as the port.
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The robot's array to the port, or the port to the robot's array. Numbers become what the port's dtype holds: whole
  /// numbers the nearest that fits. False, and nothing is written, when the array has another size than size(), when an
  /// output is to be written, and for a feedback input, which has no memory that stays (use write_to).
  [[nodiscard]] bool write(std::span<const float> robot) noexcept;
  [[nodiscard]] bool write(std::span<const double> robot) noexcept;
  [[nodiscard]] bool read(std::span<float> robot) const noexcept;
  [[nodiscard]] bool read(std::span<double> robot) const noexcept;

  /// The same with memory that is not the pipeline's: `port` has the port's dtype and size() elements.
  [[nodiscard]] bool write_to(void* port, std::span<const double> robot) const noexcept;
  [[nodiscard]] bool read_from(const void* port, std::span<double> robot) const noexcept;

 private:
  struct Tables;

  NameMap() = default;
  template <typename Number>
  [[nodiscard]] bool put(void* port, std::span<const Number> robot) const noexcept;
  template <typename Number>
  [[nodiscard]] bool take(const void* port, std::span<Number> robot) const noexcept;

  void* data_ = nullptr;
  std::size_t size_ = 0;
  bool output_ = false;
  DType dtype_ = DType::kFloat32;
  std::shared_ptr<const Tables> tables_;  ///< never changed: copies of a map share them
};

}  // namespace leapp::runtime
