// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What the functions of leapp/leapp.h stand on.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leapp/base/status.h"
#include "leapp/leapp.h"
#include "leapp/runtime/chunks.h"
#include "leapp/runtime/loop.h"
#include "leapp/runtime/name_map.h"
#include "leapp/runtime/pipeline.h"

struct leapp_pipeline {
  leapp::runtime::Pipeline pipeline;
  std::array<std::vector<leapp::runtime::Port>, 3> ports;  ///< by role
  bool swapped = false;                                    ///< its ports of state are another bundle's
  std::vector<std::vector<leapp::runtime::Port>> earlier;  ///< ports of state before swaps, which somebody may hold

  explicit leapp_pipeline(leapp::runtime::Pipeline loaded) : pipeline(std::move(loaded)) {
    ports = {pipeline.input_ports(), pipeline.output_ports(), pipeline.feedback_ports()};
  }
};

struct leapp_name_map {
  leapp::runtime::NameMap map;
};

struct leapp_chunks {
  leapp::runtime::ChunkPlayer player;
};

struct leapp_loop {
  leapp::runtime::Loop loop;
};

namespace leapp::c {

/// Keeps the message for leapp_error() and returns the status' number.
leapp_status keep(const Status& status) noexcept;
leapp_status keep(leapp_status status, std::string_view message) noexcept;

/// Calls f, which returns a Status, and lets no exception out.
template <typename Call>
leapp_status guarded(Call f) noexcept {
  try {
    return keep(f());
  } catch (const std::bad_alloc&) {
    return keep(LEAPP_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return keep(LEAPP_INTERNAL, error.what());
  } catch (...) {
    return keep(LEAPP_INTERNAL, "an exception that is not of C++'s library");
  }
}

inline runtime::Time time_of(std::int64_t nanoseconds) noexcept {
  return runtime::Time(std::chrono::nanoseconds(nanoseconds));
}

inline Status null(const char* what) {
  return invalid_argument(std::string(what) + ": expected an address, found NULL");
}

/// `given` as this version knows it: what an older one did not have is zero. kInvalidArgument when it is no such
/// struct, or a newer one that has something set which is not known here.
template <typename Struct>
Result<Struct> options_of(const Struct* given, const char* name) {
  Struct known{};
  if (given == nullptr) return known;
  if (given->size < sizeof(std::uint32_t) || given->size > 4096) {
    return invalid_argument(std::string(name) + ": expected its size in its first field, found " +
                            std::to_string(given->size) + ": use LEAPP_INIT");
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (std::any_of(bytes + std::min<std::size_t>(given->size, sizeof known), bytes + given->size,
                  [](unsigned char byte) { return byte != 0; })) {
    return unimplemented(std::string(name) + ": this version of LEAPP does not know an option that is set");
  }
  std::memcpy(&known, given, std::min<std::size_t>(given->size, sizeof known));
  return known;
}

/// As much of `made` as the caller has room for.
template <typename Struct>
Status give(Struct made, Struct* to, const char* name) {
  if (to == nullptr) return null(name);
  if (to->size < sizeof(std::uint32_t) || to->size > 4096) {
    return invalid_argument(std::string(name) + ": expected its size in its first field, found " +
                            std::to_string(to->size) + ": use LEAPP_INIT");
  }
  made.size = to->size;
  std::memcpy(to, &made, std::min<std::size_t>(to->size, sizeof made));
  return {};
}

/// What leapp_load_options say; NULL: the defaults.
Result<runtime::LoadOptions> load_options(const leapp_load_options* given);

/// `count` texts; kInvalidArgument when one is NULL.
Result<std::vector<std::string>> texts_of(const char* const* texts, std::size_t count, const char* what);

/// The port as C sees it; its texts are `port`'s.
leapp_port describe(const runtime::Port& port) noexcept;

/// Among the pipeline's ports of that role. An error lists them.
Result<const runtime::Port*> find_port(const leapp_pipeline* pipeline, std::int32_t role, const char* name);

}  // namespace leapp::c
