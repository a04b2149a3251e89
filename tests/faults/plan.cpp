// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "faults.h"

namespace leapp::faults {
namespace {

struct CallName {
  std::string_view name;
  int usual_error;
  bool changes_files;
};

constexpr std::array<CallName, kCalls> kNames{{
    {"alloc", ENOMEM, false},
    {"open", ENOSPC, true},
    {"write", ENOSPC, true},
    {"rename", EIO, true},
    {"link", ENOSPC, true},
    {"unlink", EIO, true},
    {"mkdir", ENOSPC, true},
    {"sync", EIO, true},
    {"stat", EIO, false},
    {"list", EIO, false},
    {"lock", ENOLCK, true},
    {"mode", EPERM, true},
    {"read", EIO, false},
    {"bytes", EIO, false},
    {"map", ENODEV, false},
}};

using Text = std::array<char, 4096>;

std::atomic<bool> g_armed{false};
std::atomic<long> g_seen{0};
std::atomic<long> g_hits{0};
std::uint64_t g_calls = 0;
Text g_under{};
Text g_hit{};
std::array<void*, 256> g_hit_stack{};
int g_hit_depth = 0;
long g_at = 0;
int g_error = 0;
bool g_kill = false;
bool g_stays = false;
bool g_tear = false;
long g_thread = 0;  // 0: every one

long this_thread() { return ::syscall(SYS_gettid); }

bool parse_calls(const char* text) {
  g_calls = 0;
  std::string_view rest = text == nullptr || *text == '\0' ? "files" : text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    bool known = word == "all" || word == "files";
    for (std::size_t i = 0; i < kCalls; ++i) {
      const bool named = kNames[i].name == word;
      known |= named;
      if (named || word == "all" || (word == "files" && kNames[i].changes_files)) g_calls |= std::uint64_t{1} << i;
    }
    if (!known) return false;
  }
  return true;
}

/// What the system calls an open file, or "".
void path_of(int file, Text& path) {
  std::array<char, 64> link{"/proc/self/fd/"};
  *std::to_chars(link.data() + 14, link.data() + link.size(), file).ptr = '\0';
  const long size = ::syscall(SYS_readlinkat, AT_FDCWD, link.data(), path.data(), path.size() - 1);
  path[static_cast<std::size_t>(std::max(size, 0L))] = '\0';
}

void append(Text& text, std::string_view more) {
  const std::size_t size = std::strlen(text.data());
  const std::size_t count = std::min(more.size(), text.size() - 1 - size);
  std::memcpy(text.data() + size, more.data(), count);
  text[size + count] = '\0';
}

/// The text of a path from the root, where that can be told.
void absolute(const char* path, int folder, Text& result) {
  result[0] = '\0';
  if (path[0] != '/') {
    if (folder != AT_FDCWD) {
      path_of(folder, result);
    } else if (::syscall(SYS_getcwd, result.data(), result.size()) < 0) {
      result[0] = '\0';
    }
    append(result, "/");
  }
  append(result, path);
}

bool is_under(std::string_view path) {
  return g_under[0] == '\0' || path.starts_with(std::string_view(g_under.data()));
}

Verdict act(Call call, std::string_view path, bool can_tear = false) {
  const long number = g_seen.fetch_add(1) + 1;
  if (g_at == 0 || number < g_at || (number > g_at && !g_stays)) return Verdict::kGo;
  const CallName& name = kNames[static_cast<std::size_t>(call)];
  if (g_hits.fetch_add(1) == 0) {
    g_hit[0] = '\0';
    append(g_hit, name.name);
    append(g_hit, " ");
    append(g_hit, path);
    g_hit_depth = walk_stack(g_hit_stack.data(), static_cast<int>(g_hit_stack.size()));
    if (can_tear && (g_kill || g_stays || g_tear)) return Verdict::kTear;
  }
  kill_if_planned();
  errno = g_error != 0 ? g_error : name.usual_error;
  return Verdict::kFail;
}

bool is_meant(Call call) {
  return ((g_calls >> static_cast<unsigned>(call)) & 1U) != 0 && (g_thread == 0 || g_thread == this_thread());
}

/// "at=17" -> "17"; empty: there is no such word.
std::string_view value_of(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if ((at != 0 && text[at - 1] != ' ') || text.substr(at + key.size(), 1) != "=") continue;
    const std::string_view value = text.substr(at + key.size() + 1);
    return value.substr(0, value.find(' '));
  }
  return {};
}

int number_of(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// LEAPP_FAULTS, for programs that arm nothing themselves.
__attribute__((constructor)) void arm_from_environment() {
  const char* text = std::getenv("LEAPP_FAULTS");
  if (text == nullptr) return;
  Text calls{};
  Text under{};
  append(calls, value_of(text, "calls"));
  append(under, value_of(text, "under"));
  const leapp_faults_plan plan{.calls = calls.data(),
                               .under = under.data(),
                               .at = number_of(value_of(text, "at")),
                               .kill = value_of(text, "do") == "kill" ? 1 : 0,
                               .error = number_of(value_of(text, "error")),
                               .stays = number_of(value_of(text, "stays")),
                               .this_thread_only = 0,
                               .tear = number_of(value_of(text, "tear"))};
  if (leapp_faults_arm(&plan) != 0) std::abort();
}

/// `report=FILE` in LEAPP_FAULTS: the number of calls, as the process ends.
__attribute__((destructor)) void report() {
  const char* text = std::getenv("LEAPP_FAULTS");
  if (text == nullptr) return;
  const long seen = leapp_faults_disarm();
  Text file{};
  append(file, value_of(text, "report"));
  if (file[0] == '\0') return;
  Text line{};
  *std::to_chars(line.data(), line.data() + 32, seen).ptr = ' ';
  append(line, g_hit.data());
  append(line, "\n");
  const long number = ::syscall(SYS_openat, AT_FDCWD, file.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (number >= 0) (void)::syscall(SYS_write, number, line.data(), std::strlen(line.data()));
}

}  // namespace

bool armed() { return g_armed.load(std::memory_order_relaxed); }

Verdict decide(Call call, const char* path, int folder) {
  if (!is_meant(call)) return Verdict::kGo;
  if (path == nullptr) return act(call, "");
  const int before = errno;
  Text whole;
  absolute(path, folder, whole);
  errno = before;
  return is_under(whole.data()) ? act(call, whole.data()) : Verdict::kGo;
}

Verdict decide(Call call, int file, bool can_tear) {
  if (!is_meant(call)) return Verdict::kGo;
  const int before = errno;
  Text whole;
  path_of(file, whole);
  errno = before;
  return is_under(whole.data()) ? act(call, whole.data(), can_tear) : Verdict::kGo;
}

void kill_if_planned() {
  if (g_kill) (void)::syscall(SYS_kill, ::getpid(), SIGKILL);
}

void* next_function(const char* name) { return ::dlsym(RTLD_NEXT, name); }

}  // namespace leapp::faults

using namespace leapp::faults;  // NOLINT: the C functions are made of the above

LEAPP_FAULTS_EXPORT int leapp_faults_arm(const leapp_faults_plan* plan) {
  g_armed = false;
  if (!parse_calls(plan->calls) || plan->at < 0) return -1;
  g_under[0] = '\0';
  if (plan->under != nullptr) append(g_under, plan->under);
  g_hit[0] = '\0';
  g_hit_depth = 0;
  g_at = plan->at;
  g_error = plan->error;
  g_kill = plan->kill != 0;
  g_stays = plan->stays != 0;
  g_tear = plan->tear != 0;
  g_thread = plan->this_thread_only != 0 ? this_thread() : 0;
  g_seen = 0;
  g_hits = 0;
  g_armed = true;
  return 0;
}

LEAPP_FAULTS_EXPORT long leapp_faults_disarm() {
  g_armed = false;
  return g_seen;
}

LEAPP_FAULTS_EXPORT long leapp_faults_hits() { return g_hits; }
LEAPP_FAULTS_EXPORT const char* leapp_faults_hit() { return g_hit.data(); }

LEAPP_FAULTS_EXPORT int leapp_faults_hit_stack(void** frames, int most) {
  const int count = std::min(most, g_hit_depth);
  std::copy_n(g_hit_stack.begin(), std::max(count, 0), frames);
  return count;
}
