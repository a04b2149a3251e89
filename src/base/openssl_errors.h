// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leapp {

/// Empties OpenSSL's queue of errors after a call that failed: what stays there would turn up in someone else's
/// message. Throws std::bad_alloc when memory was the reason, which must not pass for a wrong signature or a damaged
/// key.
void forget_openssl_errors();

}  // namespace leapp
