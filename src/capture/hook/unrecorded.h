// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace leapp::capture {

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

}  // namespace leapp::capture
