// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/files/mapped_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "base/signals.h"

namespace leapp::bundle {
namespace {

constexpr std::size_t kMostMapped = 256;
AddressRanges<kMostMapped> g_mapped;

struct Installed {
  std::mutex mutex;
  std::size_t users = 0;
  bool under_another = false;  ///< someone who came later has our handler, and may call it
  struct ::sigaction before {};
};

/// Never destroyed: files may be mapped until the process is over.
Installed& installed() {
  static auto* const one = new Installed;
  return *one;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (const auto end = g_mapped.end_of(at)) {
    const std::uintptr_t within = at & (static_cast<std::uintptr_t>(::getpagesize()) - 1);
    void* const start = static_cast<std::byte*>(info->si_addr) - within;  // of the page
    if (::mmap(start, *end - at + within, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == start) {
      errno = error;
      return;
    }
  }
  pass_on(installed().before, signal, info, context);
}

std::optional<std::size_t> take_slot(std::span<const std::byte> bytes) {
  Installed& now = installed();
  const std::lock_guard lock(now.mutex);
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const auto slot = g_mapped.add(begin, begin + bytes.size());
  if (slot && now.users++ == 0 && !now.under_another) now.before = install_handler(SIGBUS, on_bus_error);
  return slot;
}

void leave_slot(std::size_t slot) {
  Installed& now = installed();
  const std::lock_guard lock(now.mutex);
  g_mapped.remove(slot);
  if (--now.users > 0 || now.under_another) return;
  struct ::sigaction current {};
  ::sigaction(SIGBUS, nullptr, &current);
  now.under_another = (current.sa_flags & SA_SIGINFO) == 0 || current.sa_sigaction != on_bus_error;
  if (!now.under_another) ::sigaction(SIGBUS, &now.before, nullptr);
}

bool same_time(const ::timespec& a, const ::timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::map(FileDescriptor file, const struct ::stat& status,
                                                          const std::filesystem::path& path) {
  const auto size = static_cast<std::size_t>(status.st_size);
  std::shared_ptr<MappedFile> mapped(new MappedFile(std::move(file), status, path));
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, mapped->file_.number(), 0);
  if (start == MAP_FAILED) return file_error("map", path, errno);
  mapped->bytes_ = {static_cast<std::byte*>(start), size};
  mapped->slot_ = take_slot(mapped->bytes_);
  if (!mapped->slot_) return std::shared_ptr<const MappedFile>();
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

MappedFile::MappedFile(FileDescriptor file, const struct ::stat& status, std::filesystem::path path)
    : file_(std::move(file)), path_(std::move(path)), status_(status) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  if (slot_) leave_slot(*slot_);
}

Status MappedFile::unchanged() const {
  struct ::stat now {};
  if (::fstat(file_.number(), &now) != 0) return file_error("read", path_, errno);
  if (now.st_size == status_.st_size && same_time(now.st_mtim, status_.st_mtim)) return {};
  return io_error(fmt::format("cannot read {}: it was changed while it was read", path_.string()));
}

Status MappedFile::not_shorter() const {
  struct ::stat now {};
  if (::fstat(file_.number(), &now) != 0) return file_error("read", path_, errno);
  if (now.st_size >= status_.st_size) return {};
  return io_error(fmt::format("cannot read {}: it became shorter while it was read", path_.string()));
}

}  // namespace leapp::bundle
