/* SPDX-FileCopyrightText: The LEAPP authors
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LEAPP_USE_IN_C_H
#define LEAPP_USE_IN_C_H

#ifdef __cplusplus
extern "C" {
#endif

/* Calls every function of leapp/leapp.h but those of the next; 0 when all did what they should. */
int use_leapp_in_c(const char* bundle, const char* recording);

/* The same of signed bundles and of swapping them. `other` has the same ports; keys go to `folder`. */
int swap_in_c(const char* bundle, const char* other, const char* folder);

#ifdef __cplusplus
}
#endif

#endif
