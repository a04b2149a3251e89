// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bundle/yaml/yaml_cursor.h"
#include "leapp/bundle/port_entry.h"

namespace leapp::bundle {

/// Takes the fields of the table, and into `extra` what is no key of a port at all. REQUIRES: `entry` is a map.
Status read_semantics(const YamlCursor& entry, Semantics& semantics);

}  // namespace leapp::bundle
