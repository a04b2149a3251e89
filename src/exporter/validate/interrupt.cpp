// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/interrupt.h"

#include "capture/session/front_end.h"

namespace leapp::exporter {

bool interrupted() { return capture::front_end()->interrupted(); }

}  // namespace leapp::exporter
