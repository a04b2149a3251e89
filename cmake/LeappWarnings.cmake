# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# leapp_set_warnings(<target>): the warnings our own code is compiled with. Third-party headers are SYSTEM includes.

function(leapp_set_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wunused -Wformat=2
    -Wno-missing-field-initializers  # designated initialisers leave out what has a default
    # What g++ 12 sees in its own standard library once it is inlined.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-maybe-uninitialized;-Wno-restrict;-Wno-stringop-overflow>
    $<$<BOOL:${LEAPP_WERROR}>:-Werror>)
endfunction()
