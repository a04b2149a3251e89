// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/budget.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/text.h"
#include "bundle/folder/file_system.h"
#include "engine/engine.h"
#include "runtime/pipeline/buffers.h"

namespace leapp::runtime {
namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};
constexpr std::uint64_t kShare = 4;

std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? kMost : result;
}

std::uint64_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : kMost;
}

/// "max" and what cannot be read are no limit.
std::uint64_t number_in(const char* file) {
  std::uint64_t number = 0;
  std::ifstream stream(file);
  return stream >> number && number > 0 ? number : kMost;
}

}  // namespace

std::uint64_t default_memory_limit() {
  const std::uint64_t memory = std::min({machine_memory(), number_in("/sys/fs/cgroup/memory.max"),
                                         number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
  return memory / kShare;
}

std::uint64_t MemoryNeed::sum() const { return sum_of(ports, sum_of(state, models)); }

MemoryNeed memory_need(const PipelinePlan& plan, const bundle::BundleSpec& spec, const std::filesystem::path& folder) {
  MemoryNeed need;
  need.ports = Buffers::needed(plan.buffers);
  if (spec.pipeline.initial_values) {
    for (const EndPlan& state : plan.states) {
      const BufferPlan& buffer = plan.buffers[state.place.buffer];
      need.state = sum_of(need.state, engine::buffer_size(buffer.dtype, buffer.shape).value_or(kMost));
    }
  }
  for (const bundle::Model& model : spec.models) {
    std::error_code error;
    const auto size = std::filesystem::file_size(folder / model.parameters.model_path.value_or(""), error);
    if (!error) need.models = sum_of(need.models, size);
  }
  return need;
}

Status check_memory(const MemoryNeed& need, std::uint64_t limit) {
  if (need.sum() <= limit) return {};
  return invalid_argument(
      fmt::format("the bundle needs {} of memory (ports {}, state {}, models {}), the option memory_limit is {}",
                  bytes_text(need.sum()), bytes_text(need.ports), bytes_text(need.state), bytes_text(need.models),
                  bytes_text(limit)));
}

Status check_external_memory(std::span<const std::filesystem::path> files, std::uint64_t limit) {
  std::uint64_t sum = 0;
  for (const std::filesystem::path& file : files) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    if (error) return bundle::file_error("read", file, error.value());
    sum = sum_of(sum, size);
  }
  if (sum <= limit) return {};
  return invalid_argument(fmt::format("the weights beside it need {} of memory, the option memory_limit is {}",
                                      bytes_text(sum), bytes_text(limit)));
}

}  // namespace leapp::runtime
