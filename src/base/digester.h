// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/hash.h"
#include "leapp/base/status.h"

namespace leapp {

/// Both checksums of what comes in pieces.
class Digester {
 public:
  Digester();
  ~Digester();
  Digester(const Digester&) = delete;
  Digester& operator=(const Digester&) = delete;

  void update(std::span<const std::byte> bytes);
  /// Once, at the end.
  Result<Digests> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace leapp
