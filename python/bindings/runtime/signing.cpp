// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/bundle/signing.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/exceptions.h"
#include "signing.h"

namespace nb = nanobind;

namespace leapp::python {

nb::tuple signature_tuple(const bundle::Signature& signature) {
  return nb::make_tuple(signature.key, signature.serial, signature.files, signature.signatures);
}

void bind_signing(nb::module_& module) {
  module.def(
      "keygen",
      [](const std::filesystem::path& secret, const std::filesystem::path& known) {
        return take(unlocked([&] { return bundle::write_key_pair(secret, known); })).fingerprint;
      },
      nb::arg("private_file"), nb::arg("public_file"));
  module.def(
      "sign",
      [](const std::filesystem::path& bundle, const std::string& key, std::uint64_t serial) {
        return signature_tuple(take(unlocked([&] { return bundle::sign_bundle(bundle, key, {.serial = serial}); })));
      },
      nb::arg("bundle"), nb::arg("key"), nb::arg("serial"));
  module.def(
      "verify",
      [](const std::filesystem::path& bundle, const std::vector<std::string>& keys, std::uint64_t minimum_serial) {
        return signature_tuple(take(unlocked([&] { return bundle::verify_bundle(bundle, keys, minimum_serial); })));
      },
      nb::arg("bundle"), nb::arg("keys"), nb::arg("minimum_serial"));
}

}  // namespace leapp::python
