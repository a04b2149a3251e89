// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/SmallVector.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "capture/recorder/geometry.h"
#include "capture/recorder/memory_use.h"
#include "capture/recorder/outside_writes.h"
#include "capture/trace/trace.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {

/// What a range of memory holds, as values.
///
/// The range starts with whatever bytes it had (a constant); over these lie values in the order in which they were
/// put there: inputs that alias it, results, writes. Reading a geometry gives the value that lies there if one fits
/// exactly and nothing newer touches it; else the layers are joined into one flat value (the root) and the geometry
/// is read from that. So views of views, views made before the session began and views nobody saw being made need no
/// bookkeeping of their own.
///
/// The bytes themselves are the business of whoever has them: storage_content.h while a program runs.
class Memory : public std::enable_shared_from_this<Memory> {
 public:
  struct Layer {
    Geometry geometry;
    ValuePtr value;
    LocationId location = 0;  ///< of the write; 0: there was none
  };

  explicit Memory(std::int64_t bytes) : bytes_(bytes) {}
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  /// Grows with every write. A tensor whose recorded epoch is older must be read anew.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }

  /// Nothing is known but the bytes in memory.
  [[nodiscard]] bool plain() const { return layers_.empty(); }
  [[nodiscard]] const c10::SmallVector<Layer, 1>& layers() const { return layers_; }
  /// Since forget_before().
  [[nodiscard]] const MemoryUse& use() const { return use_; }
  [[nodiscard]] MemoryUse& use() { return use_; }

  /// The value at `geometry`, or null where only the bytes in memory are known.
  ValuePtr read(const Geometry& geometry, TraceBuilder& builder, ActivationId preferred);

  /// `value` lies at `geometry` and always has, as far as anyone can tell: older readers stay right.
  void overlay(const Geometry& geometry, ValuePtr value);

  /// `value` has just been written to `geometry`.
  void write(const Geometry& geometry, ValuePtr value, TraceBuilder& builder);

  /// Whatever lies here was overwritten with something unknown.
  void forget();

  /// Puts `replacement(value)` in the place of every value; null takes the layer away.
  void replace(const std::function<ValuePtr(const ValuePtr&)>& replacement);

  void add_constant(const std::shared_ptr<ConstantCell>& cell);
  [[nodiscard]] bool has_constants() const;

  /// Someone takes what is in it for content, and no write was seen: it was filled past the dispatcher (torch.tensor).
  void note_filled() {
    if (plain()) use_.note_content();
  }
  /// A tensor that a call made and then wrote to in part has one value when the call ends, as if somebody had read it.
  void settle(ActivationId activation, TraceBuilder& builder);

  /// How a tensor that is all of this memory lies in it, if one was seen; else a flat one.
  [[nodiscard]] Geometry whole(at::ScalarType dtype) const;
  void note_shape(const Geometry& geometry);

  /// What the program did to it while no node was open.
  [[nodiscard]] const OutsideWrites& outside() const { return outside_; }
  [[nodiscard]] OutsideWrites& outside() { return outside_; }

  /// Someone still has it.
  [[nodiscard]] virtual bool alive() = 0;

  /// A copy of the bytes before a node first wrote here, as a tensor at `place`; of the bytes as they are, when none
  /// did.
  [[nodiscard]] virtual ContentPtr content_before(const Geometry& place) const = 0;

  /// From now on "before" is what it holds now.
  virtual void forget_before();

  /// State larger than this is not looked for.
  static constexpr std::int64_t kMaxKept = std::int64_t{256} << 20;

 protected:
  /// The bytes before, as one flat constant of `count` elements, or as they are when none wrote.
  virtual std::shared_ptr<ConstantCell> cell_before(at::ScalarType dtype, std::int64_t count) = 0;

  std::int64_t bytes_;
  std::uint64_t epoch_ = 0;
  c10::SmallVector<Layer, 1> layers_;
  std::optional<Geometry> whole_;
  MemoryUse use_;
  std::vector<std::weak_ptr<ConstantCell>> constants_;
  std::size_t most_constants_ = 8;  // until those that are gone are looked for
  OutsideWrites outside_;

 private:
  ValuePtr join(at::ScalarType dtype, TraceBuilder& builder);
  ValuePtr bytes_in_memory(at::ScalarType dtype, const ValuePtr& provenance, TraceBuilder& builder);
};

}  // namespace leapp::capture
