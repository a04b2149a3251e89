// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leapp/base/dtype.h"
#include "leapp/base/status.h"
#include "leapp/engine/options.h"
#include "leapp/engine/report.h"

/// What runs one model. An engine loads models; a model is given the buffers it works on once, in prepare, and then
/// runs as often as wanted. Engines know nothing of pipelines. One model belongs to one thread at a time; different
/// models, also of one engine, may run at the same time.
namespace leapp::engine {

/// One tensor of a model, as the bundle or the model itself describes it.
struct TensorInfo {
  std::string name;
  std::optional<DType> dtype;                      ///< absent: the model does not say
  std::optional<std::vector<std::int64_t>> shape;  ///< absent: the model does not say; -1: any extent
};

/// A model to load: its bytes, or if there are none its file.
struct ModelSource {
  std::string name;                  ///< for messages
  std::filesystem::path path;        ///< also where a model's external data is looked for
  std::span<const std::byte> bytes;  ///< needed during the call only
  /// The inputs that will be bound, if that is known: extents that the model leaves open are these.
  std::vector<TensorInfo> inputs = {};
  /// Bytes that an engine may need for weights and results, as far as it knows that before; 0: any.
  std::uint64_t memory_limit = 0;
  /// How many of them somebody has already: ports and state. Less than the limit.
  std::uint64_t memory_taken = 0;
  /// Whether an engine that cannot be ended meanwhile may work out what follows from constants alone.
  bool fold_constants = true;
  /// Ends what runs; may be null.
  std::shared_ptr<Stop> stop = nullptr;
};

/// What is left for an engine of a source's limit; 0: any.
[[nodiscard]] inline std::uint64_t memory_left(const ModelSource& source) {
  if (source.memory_limit == 0) return 0;
  return source.memory_limit > source.memory_taken ? source.memory_limit - source.memory_taken : 1;
}

/// One dense tensor in memory of the caller, which must outlive the model that is given it. `data` is never null and is
/// aligned to 64 bytes.
struct BoundBuffer {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  void* data = nullptr;
};

/// The buffers of one way to run a model. The order is that of the bundle's ports.
struct Binding {
  std::vector<BoundBuffer> inputs;
  std::vector<BoundBuffer> outputs;
};

class EngineModel {
 public:
  EngineModel() = default;
  EngineModel(const EngineModel&) = delete;
  EngineModel& operator=(const EngineModel&) = delete;
  virtual ~EngineModel() = default;

  /// The tensors as the model's file describes them.
  [[nodiscard]] virtual const std::vector<TensorInfo>& inputs() const = 0;
  [[nodiscard]] virtual const std::vector<TensorInfo>& outputs() const = 0;

  /// Binds the buffers, checks them against the model and runs it on them as they are, so that the first real run is as
  /// fast as any. Returns the number to call run() with: 0, 1, ... A model that cannot run on these values says so
  /// here.
  virtual Result<std::size_t> prepare(const Binding& binding) = 0;

  /// The same without the run, for a model that refuses whatever values were tried: those of a step may be fine. Only
  /// an engine that knows that nothing but the values was wrong has it.
  virtual Result<std::size_t> prepare_untried(const Binding& /*binding*/) {
    return unimplemented("prepare() has to run the model");
  }

  /// Reads the inputs, writes the outputs; false when that failed, and then the outputs hold anything. The caller's
  /// floating-point mode is as it was afterwards; denormals are flushed during the run.
  /// REQUIRES: `binding` came from prepare().
  [[nodiscard]] virtual bool run(std::size_t binding) noexcept = 0;

  /// Why the last run failed.
  [[nodiscard]] virtual Status error() const = 0;

  /// What runs it, and why. Engines fill in what they know.
  [[nodiscard]] const Report& report() const { return report_; }
  void set_report(Report report) { report_ = std::move(report); }

 private:
  Report report_;
};

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  /// "ONNX Runtime 1.31.1 (/path/libonnxruntime.so.1)": for messages and reports.
  [[nodiscard]] virtual const std::string& description() const = 0;
  virtual Result<std::unique_ptr<EngineModel>> load(const ModelSource& source) = 0;
};

/// Bytes of a dense tensor; nothing when that overflows or an extent is negative.
[[nodiscard]] inline std::optional<std::size_t> buffer_size(DType dtype, std::span<const std::int64_t> shape) {
  std::size_t size = dtype_size(dtype);
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(size, static_cast<std::size_t>(extent), &size)) return std::nullopt;
  }
  return size;
}

}  // namespace leapp::engine
