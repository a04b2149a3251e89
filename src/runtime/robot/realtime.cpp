// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "leapp/runtime/loop.h"

namespace leapp::runtime {
namespace {

std::string cpus_text(const std::vector<int>& cpus) {
  std::vector<std::string> texts;
  for (const int cpu : cpus) texts.push_back(std::to_string(cpu));
  return join(texts, ", ");
}

std::string refused(const std::string& what, const char* help) {
  return fmt::format("{}: the system says: {}{}", what, std::strerror(errno), help);
}

Status check(const RealtimeOptions& options) {
  const long there = sysconf(_SC_NPROCESSORS_CONF);
  for (const int cpu : options.cpus) {
    if (cpu >= 0 && cpu < there && cpu < CPU_SETSIZE) continue;
    return invalid_argument(fmt::format("cpus: expected cores from 0 to {}, found {}", there - 1, cpu));
  }
  const int lowest = sched_get_priority_min(SCHED_FIFO);
  const int highest = sched_get_priority_max(SCHED_FIFO);
  const int found = options.fifo_priority;
  if (found == 0 || (found >= lowest && found <= highest)) return {};
  return invalid_argument(fmt::format("fifo_priority: expected 0 or {} to {}, found {}", lowest, highest, found));
}

void pin(const std::vector<int>& cpus, std::vector<std::string>& notes) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    notes.push_back(refused(fmt::format("pin to the cores {}", cpus_text(cpus)),
                            " (a container or cgroup may not own these cores)"));
  }
}

void raise_priority(int priority, std::vector<std::string>& notes) {
  const sched_param parameters{.sched_priority = priority};
  if (sched_setscheduler(0, SCHED_FIFO, &parameters) != 0) {
    notes.push_back(refused(fmt::format("SCHED_FIFO with priority {}", priority),
                            " (it takes CAP_SYS_NICE, or a line `rtprio` in /etc/security/limits.conf)"));
  }
}

void lock_memory(std::vector<std::string>& notes) {
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    notes.push_back(refused("mlockall", " (it takes CAP_IPC_LOCK, or a line `memlock` in /etc/security/limits.conf)"));
  }
}

}  // namespace

Result<std::vector<std::string>> make_realtime(const RealtimeOptions& options) {
  std::vector<std::string> notes;
  LEAPP_RETURN_IF_ERROR(check(options));
  if (!options.cpus.empty()) pin(options.cpus, notes);
  if (options.fifo_priority != 0) raise_priority(options.fifo_priority, notes);
  if (options.lock_memory) lock_memory(notes);
  if (options.required && !notes.empty()) return failed_precondition("real-time options: " + join(notes, "; "));
  return notes;
}

}  // namespace leapp::runtime
