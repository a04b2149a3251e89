// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "deaths.h"

#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <span>
#include <string_view>

#include "faults.h"

namespace leapp::faults {
namespace {

// What only does what it is told to: the culprit is who called it.
constexpr std::array<std::string_view, 8> kMessengers{"ld-linux", "libc.so",         "libdl.so",  "libgcc_s.so",
                                                      "libm.so",  "libleapp_faults", "libstdc++", "linux-vdso"};
constexpr std::string_view kOnnxRuntime = "libonnxruntime";
// What ends the process itself when there is no memory, or throws through functions that may not.
constexpr std::array<std::string_view, 11> kOthers{kOnnxRuntime, "libtorch",      "libcrypto",  "libc10",
                                                   "libglib",    "libgvc",        "libcgraph",  "libpango",
                                                   "libcairo",   "libfontconfig", "libharfbuzz"};

long g_request = 0;
DeathCodes g_codes{};
std::array<char, 1 << 16> g_signal_stack{};

/// A line that is put together without asking for memory.
class Line {
 public:
  void add(std::string_view text) {
    const std::size_t count = std::min(text.size(), text_.size() - size_);
    std::memcpy(text_.data() + size_, text.data(), count);
    size_ += count;
  }
  void add_number(unsigned long number, int base) {
    std::array<char, 32> digits{};
    add({digits.data(), std::to_chars(digits.begin(), digits.end(), number, base).ptr});
  }
  void print() {
    add("\n");
    (void)!::write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  std::array<char, 16384> text_{};
  std::size_t size_ = 0;
};

struct Frame {
  std::string_view module = "?";
  std::string_view symbol;
  unsigned long offset = 0;
};

Frame frame_of(const void* address) {
  // A return address may be the first of the next function.
  const char* at = static_cast<const char*>(address) - 1;
  Dl_info info{};
  if (::dladdr(at, &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string_view path = info.dli_fname;
  Frame frame{path.substr(path.rfind('/') + 1), info.dli_sname == nullptr ? "" : info.dli_sname};
  frame.offset = static_cast<unsigned long>(at - static_cast<const char*>(info.dli_fbase));
  return frame;
}

bool is_one_of(std::span<const std::string_view> names, std::string_view module) {
  return std::ranges::any_of(names, [&](std::string_view name) { return module.starts_with(name); });
}

enum class Culprit { kUnknown, kOurs, kOthers };

/// libtorch has functions of the C++ library in itself, which others then get to call: who is to blame is who did.
bool is_standard(std::string_view symbol) {
  return symbol.starts_with("_ZNSt") || symbol.starts_with("_ZNKSt") || symbol.starts_with("_ZSt");
}

/// How many frames from `at` on are in the same library and were called as functions of the C++ library.
std::size_t standard_frames(std::span<void* const> stack, std::size_t at) {
  const std::string_view module = frame_of(stack[at]).module;
  std::size_t end = at;
  while (end < stack.size() && frame_of(stack[end]).module == module) ++end;
  return is_standard(frame_of(stack[end - 1]).symbol) ? end - at : 0;
}

/// Writes the stack, and returns whose the first function on it is that acts on its own.
Culprit describe(std::span<void* const> stack, Line& line) {
  Culprit culprit = Culprit::kUnknown;
  std::size_t skipped = 0;  // up to this frame nobody acts on its own
  for (std::size_t at = 0; at < stack.size(); ++at) {
    const Frame frame = frame_of(stack[at]);
    line.add(" ");
    line.add(frame.module);
    line.add("+0x");
    line.add_number(frame.offset, 16);
    // The nearest exported name says nothing in a library without symbols.
    if (!frame.symbol.empty() && !frame.module.starts_with(kOnnxRuntime)) {
      line.add("(");
      line.add(frame.symbol.substr(0, 60));
      line.add(")");
    }
    if (culprit != Culprit::kUnknown || frame.module == "?" || is_one_of(kMessengers, frame.module)) continue;
    if (at >= skipped) skipped = at + standard_frames(stack, at);
    if (at < skipped) continue;
    culprit = is_one_of(kOthers, frame.module) ? Culprit::kOthers : Culprit::kOurs;
    line.add("[*]");
  }
  return culprit;
}

/// Without this handler's own frames, which come first.
std::span<void* const> without_handler(std::span<void* const> frames, int count) {
  const Frame self = frame_of(g_signal_stack.data());
  std::span<void* const> stack = frames.first(static_cast<std::size_t>(count));
  while (!stack.empty()) {
    const Frame frame = frame_of(stack.front());
    if (frame.module != self.module && !frame.module.starts_with("libleapp_faults")) break;
    stack = stack.subspan(1);
  }
  return stack;
}

/// A call of what is no function leaves nothing to walk from: its caller is what stands on the stack.
void* on_top_of_stack([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return *reinterpret_cast<void**>(registers[REG_RSP]);  // NOLINT: an address
#else
  return nullptr;
#endif
}

/// Whether there is code where it was when the signal came.
bool was_in_code([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return frame_of(reinterpret_cast<char*>(registers[REG_RIP]) + 1).module != "?";  // NOLINT: an address
#else
  return true;
#endif
}

void on_death(int signal, siginfo_t* /*unused*/, void* context) {
  static Line line;  // too large for the stack of a signal
  std::array<void*, 128> frames{};
  line.add("request ");
  line.add_number(static_cast<unsigned long>(g_request), 10);
  line.add(": signal ");
  line.add_number(static_cast<unsigned long>(signal), 10);
  line.add(": asked by");
  int count = leapp_faults_hit_stack(frames.data(), static_cast<int>(frames.size()));
  const Culprit asked = describe(std::span(frames).first(static_cast<std::size_t>(count)), line);
  line.add(" ; ended by");
  count = was_in_code(context) ? leapp_faults_stack(frames.data(), static_cast<int>(frames.size())) : 0;
  Culprit ended = describe(without_handler(frames, count), line);
  if (ended == Culprit::kUnknown) {
    void* caller = on_top_of_stack(context);
    ended = describe(std::span(&caller, 1), line);
  }
  line.print();
  const bool elsewhere = asked == Culprit::kOthers && ended == Culprit::kOthers && signal != SIGALRM;
  ::_exit(elsewhere ? g_codes.elsewhere : g_codes.ours);
}

}  // namespace

void explain_deaths(long request, DeathCodes codes, unsigned seconds) {
  g_request = request;
  g_codes = codes;
  stack_t stack{};
  stack.ss_sp = g_signal_stack.data();
  stack.ss_size = g_signal_stack.size();
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_death;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM}) {
    ::sigaction(signal, &action, nullptr);
  }
  ::alarm(seconds);
}

}  // namespace leapp::faults
