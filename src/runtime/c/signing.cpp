// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/bundle/signing.h"

#include "runtime/c/common.h"

using leapp::c::guarded;
using leapp::c::null;

extern "C" {

leapp_status leapp_keygen(const char* private_file, const char* public_file) {
  return guarded([&]() -> leapp::Status {
    if (private_file == nullptr || public_file == nullptr) return null("private_file or public_file");
    return leapp::bundle::write_key_pair(private_file, public_file).status();
  });
}

leapp_status leapp_sign(const char* bundle, const char* private_key, uint64_t serial) {
  return guarded([&]() -> leapp::Status {
    if (bundle == nullptr || private_key == nullptr) return null("bundle or private_key");
    return leapp::bundle::sign_bundle(bundle, private_key, {.serial = serial}).status();
  });
}

leapp_status leapp_verify(const char* bundle, const char* const* trusted_keys, size_t count, uint64_t minimum_serial) {
  return guarded([&]() -> leapp::Status {
    if (bundle == nullptr) return null("bundle");
    LEAPP_ASSIGN_OR_RETURN(const std::vector<std::string> keys,
                           leapp::c::texts_of(trusted_keys, count, "trusted_keys"));
    return leapp::bundle::verify_bundle(bundle, keys, minimum_serial).status();
  });
}

}  // extern "C"
