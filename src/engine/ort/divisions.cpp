// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/divisions.h"

#if defined(__x86_64__) && defined(__linux__)

#include <link.h>

#include <bit>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <utility>

#include "base/signals.h"

namespace leapp::engine::ort {
namespace {

constexpr std::size_t kMostLibraries = 8;
AddressRanges<kMostLibraries> g_code;  // instructions of libraries
struct ::sigaction g_before {};

/// A `div` or `idiv`: how long it is, and how wide its operands are. Length 0: it is something else.
struct Division {
  std::size_t length = 0;
  int bytes = 4;
};

// Prefixes, F6 or F7, the byte that names the operand, and what that byte says comes after it.
Division division_at(const unsigned char* code) {
  constexpr std::size_t kMostPrefixes = 4;
  Division division;
  std::size_t at = 0;
  for (; at < kMostPrefixes; ++at) {
    const bool rex = (code[at] & 0xf0U) == 0x40U;
    if (code[at] != 0x66 && !rex) break;
    if (code[at] == 0x66) division.bytes = 2;
    if (rex && (code[at] & 0x08U) != 0) division.bytes = 8;
  }
  const unsigned char opcode = code[at++];
  if (opcode != 0xf6 && opcode != 0xf7) return {};
  if (opcode == 0xf6) division.bytes = 1;
  const unsigned mode = code[at] >> 6U;
  const unsigned operation = (code[at] >> 3U) & 7U;
  const unsigned operand = code[at++] & 7U;
  if (operation < 6) return {};
  bool base = operand != 5 || mode != 0;
  if (mode != 3 && operand == 4) base = (code[at++] & 7U) != 5 || mode != 0;
  division.length = at + (mode == 1 ? 1U : mode == 2 || (mode == 0 && !base) ? 4U : 0U);
  return division;
}

/// Quotient and rest become 0; the halves of registers that the division would not have written stay.
void give_zero(const Division& division, ::gregset_t& registers) {
  if (division.bytes == 1 || division.bytes == 2) registers[REG_RAX] &= ~::greg_t{0xffff};
  if (division.bytes == 2) registers[REG_RDX] &= ~::greg_t{0xffff};
  if (division.bytes >= 4) registers[REG_RAX] = registers[REG_RDX] = 0;
  registers[REG_RIP] += static_cast<::greg_t>(division.length);
}

void on_arithmetic_error(int signal, siginfo_t* info, void* context) {
  ::gregset_t& registers = static_cast<::ucontext_t*>(context)->uc_mcontext.gregs;
  const auto at = static_cast<std::uintptr_t>(registers[REG_RIP]);
  if (info->si_code == FPE_INTDIV && g_code.end_of(at)) {
    const Division division = division_at(std::bit_cast<const unsigned char*>(at));
    if (division.length != 0 && DivisionWatch::count()) return give_zero(division, registers);
  }
  pass_on(g_before, signal, info, context);
}

struct Search {
  std::uintptr_t inside = 0;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

int look_into(::dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (search.inside < begin || search.inside >= begin + segment.p_memsz) continue;
    search.begin = begin;
    search.end = begin + segment.p_memsz;
    return 1;
  }
  return 0;
}

}  // namespace

void watch_divisions(const void* inside) {
  Search search{reinterpret_cast<std::uintptr_t>(inside)};
  if (::dl_iterate_phdr(&look_into, &search) == 0) return;
  static auto* const mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  if (g_code.end_of(search.begin)) return;
  static bool installed = false;
  if (!std::exchange(installed, true)) g_before = install_handler(SIGFPE, on_arithmetic_error);
  g_code.add(search.begin, search.end);
}

}  // namespace leapp::engine::ort

#else

namespace leapp::engine::ort {

void watch_divisions(const void*) {}

}  // namespace leapp::engine::ort

#endif
