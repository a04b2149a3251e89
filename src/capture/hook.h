// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <memory>

namespace leapp::capture {

class OpInfo;
class Recorder;

/// Operators of this thread are not recorded while one exists. Gradients work as usual.
class Unrecorded {
 public:
  Unrecorded();
  ~Unrecorded();
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;
};

/// For operators of our own: not recorded, no gradients, no autocast, no function transform, no dispatch mode.
class Suppress {
 private:
  Unrecorded unrecorded_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
  c10::impl::ExcludeDispatchKeyGuard no_modes_{
      c10::DispatchKeySet({c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
                           c10::DispatchKey::FuncTorchDynamicLayerBackMode, c10::DispatchKey::Python,
                           c10::DispatchKey::PythonTLSSnapshot}) |
      c10::autocast_dispatch_keyset};
};

/// The next call of `op` on this thread is not recorded, but what it calls is.
class LookInside {
 public:
  explicit LookInside(const OpInfo* op);
  ~LookInside();
  LookInside(const LookInside&) = delete;
  LookInside& operator=(const LookInside&) = delete;
};

/// Operators of this thread go to another recorder while one exists.
class RecordInto {
 public:
  explicit RecordInto(std::shared_ptr<Recorder> recorder);
  ~RecordInto();
  RecordInto(const RecordInto&) = delete;
  RecordInto& operator=(const RecordInto&) = delete;

 private:
  std::shared_ptr<Recorder> before_;
};

/// The one that operators of this thread go to; null: they are not recorded, or not as the program calls them.
[[nodiscard]] std::shared_ptr<Recorder> recorder_of_thread();

/// Every operator of every thread goes to `recorder` until remove_hook(). REQUIRES: no hook is installed.
void install_hook(std::shared_ptr<Recorder> recorder);
void remove_hook();
[[nodiscard]] bool hook_installed();

}  // namespace leapp::capture
