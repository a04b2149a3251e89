// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What a Cortex-M4 needs before main(), and files of the computer that runs the emulator (ARM semihosting).
#include "startup.h"

extern "C" {

extern uint32_t data_in_flash[];
extern uint32_t data_begin[];
extern uint32_t data_end[];
extern uint32_t bss_begin[];
extern uint32_t bss_end[];
extern uint32_t stack_top[];

int main();
void start();

void stop_on_fault() { host_exit(99); }

using Handler = void (*)();

// The first words of the flash: the stack, then where to go at reset and on the first faults.
__attribute__((section(".vectors"), used)) const Handler kVectors[16] = {
    reinterpret_cast<Handler>(stack_top),
    start,
    stop_on_fault,
    stop_on_fault,
    stop_on_fault,
    stop_on_fault,
    stop_on_fault,
};

void start() {
  *reinterpret_cast<volatile uint32_t*>(0xE000ED88U) |= 0xFU << 20;  // CPACR: the FPU on
  __asm volatile("dsb\n\tisb" ::: "memory");
  const uint32_t* from = data_in_flash;
  for (uint32_t* to = data_begin; to < data_end;) *to++ = *from++;
  for (uint32_t* to = bss_begin; to < bss_end;) *to++ = 0;
  host_exit(main());
}

}  // extern "C"

static int32_t semihosting(int32_t operation, const void* argument) {
  register int32_t r0 __asm("r0") = operation;
  register const void* r1 __asm("r1") = argument;
  __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

int32_t host_open(const char* name) {
  uint32_t length = 0;
  while (name[length] != '\0') ++length;
  const uint32_t arguments[3] = {reinterpret_cast<uint32_t>(name), 5 /* "wb" */, length};
  return semihosting(0x01, arguments);
}

bool host_write(int32_t file, const void* from, uint32_t bytes) {
  const uint32_t arguments[3] = {static_cast<uint32_t>(file), reinterpret_cast<uint32_t>(from), bytes};
  return semihosting(0x05, arguments) == 0;
}

void host_exit(int32_t code) {
  const uint32_t arguments[2] = {0x20026, static_cast<uint32_t>(code)};
  for (;;) semihosting(0x20, arguments);
}
