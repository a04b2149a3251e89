// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include "leapp/bundle/signing.h"

namespace leapp::python {

/// What leapp.signing.Signature is made from.
nanobind::tuple signature_tuple(const bundle::Signature& signature);

/// Keys, and bundles that somebody vouches for.
void bind_signing(nanobind::module_& module);

}  // namespace leapp::python
