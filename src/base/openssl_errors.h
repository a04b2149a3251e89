// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leapp {

/// Before the first use of OpenSSL: it is not to clean up when the program ends, for a thread may be loading a bundle
/// then, and would use what is gone. Somebody else may have used it before, and then it does.
void begin_openssl() noexcept;

/// Empties OpenSSL's queue of errors after a call that failed: what stays there would turn up in someone else's
/// message. Throws std::bad_alloc when memory was the reason, which must not pass for a wrong signature or a damaged
/// key.
void forget_openssl_errors();

}  // namespace leapp
