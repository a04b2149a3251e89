// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls on files. Standard headers that declare these functions are not included: they are defined here, with the
// parameters they have in glibc on a 64-bit machine (`open` without its dots: the third one is passed all the same).
#include <linux/fcntl.h>

#include <cstddef>

#include "next.h"

namespace {

using leapp::faults::armed;
using leapp::faults::Call;
using leapp::faults::decide;
using leapp::faults::fails;
using leapp::faults::kill_if_planned;
using leapp::faults::Verdict;

/// To open a file for reading changes nothing.
Call opening(int flags) { return (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) == O_RDONLY ? Call::kRead : Call::kOpen; }

/// How much of a call for `size` bytes is done: all, half (and then perhaps no more of the process), or -1.
long possible(Call call, int file, std::size_t size) {
  const Verdict verdict = armed() ? decide(call, file, /*can_tear=*/true) : Verdict::kGo;
  if (verdict == Verdict::kFail) return -1;
  return static_cast<long>(verdict == Verdict::kTear ? (size + 1) / 2 : size);
}

}  // namespace

using Size = std::size_t;
struct Vector {  // struct iovec
  void* base;
  Size size;
};

LEAPP_FAULTS_EXPORT int open(const char* path, int flags, unsigned mode) {
  return fails(opening(flags), path) ? -1 : LEAPP_NEXT(open)(path, flags, mode);
}
LEAPP_FAULTS_EXPORT int open64(const char* path, int flags, unsigned mode) {
  return fails(opening(flags), path) ? -1 : LEAPP_NEXT(open64)(path, flags, mode);
}
LEAPP_FAULTS_EXPORT int openat(int folder, const char* path, int flags, unsigned mode) {
  return fails(opening(flags), path, folder) ? -1 : LEAPP_NEXT(openat)(folder, path, flags, mode);
}
LEAPP_FAULTS_EXPORT int openat64(int folder, const char* path, int flags, unsigned mode) {
  return fails(opening(flags), path, folder) ? -1 : LEAPP_NEXT(openat64)(folder, path, flags, mode);
}
LEAPP_FAULTS_EXPORT int creat(const char* path, unsigned mode) {
  return fails(Call::kOpen, path) ? -1 : LEAPP_NEXT(creat)(path, mode);
}

LEAPP_FAULTS_EXPORT long write(int file, const void* bytes, Size size) {
  const long part = possible(Call::kWrite, file, size);
  if (part < 0) return -1;
  const long done = LEAPP_NEXT(write)(file, bytes, static_cast<Size>(part));
  if (static_cast<Size>(part) < size) kill_if_planned();
  return done;
}
LEAPP_FAULTS_EXPORT long pwrite64(int file, const void* bytes, Size size, long at) {
  const long part = possible(Call::kWrite, file, size);
  if (part < 0) return -1;
  const long done = LEAPP_NEXT(pwrite64)(file, bytes, static_cast<Size>(part), at);
  if (static_cast<Size>(part) < size) kill_if_planned();
  return done;
}
LEAPP_FAULTS_EXPORT long pwrite(int file, const void* bytes, Size size, long at) {
  return pwrite64(file, bytes, size, at);
}
LEAPP_FAULTS_EXPORT long writev(int file, const Vector* pieces, int count) {
  const Verdict verdict = armed() ? decide(Call::kWrite, file, /*can_tear=*/true) : Verdict::kGo;
  if (verdict == Verdict::kFail) return -1;
  if (verdict == Verdict::kGo || count == 0) return LEAPP_NEXT(writev)(file, pieces, count);
  const long done = LEAPP_NEXT(write)(file, pieces[0].base, pieces[0].size / 2);
  kill_if_planned();
  return done;
}
LEAPP_FAULTS_EXPORT long copy_file_range(int from, long* from_at, int to, long* to_at, Size size, unsigned flags) {
  return fails(Call::kWrite, to) ? -1 : LEAPP_NEXT(copy_file_range)(from, from_at, to, to_at, size, flags);
}
LEAPP_FAULTS_EXPORT long sendfile64(int to, int from, long* at, Size size) {
  return fails(Call::kWrite, to) ? -1 : LEAPP_NEXT(sendfile64)(to, from, at, size);
}
LEAPP_FAULTS_EXPORT long sendfile(int to, int from, long* at, Size size) { return sendfile64(to, from, at, size); }
LEAPP_FAULTS_EXPORT int ftruncate64(int file, long size) {
  return fails(Call::kWrite, file) ? -1 : LEAPP_NEXT(ftruncate64)(file, size);
}
LEAPP_FAULTS_EXPORT int ftruncate(int file, long size) { return ftruncate64(file, size); }
LEAPP_FAULTS_EXPORT long read(int file, void* bytes, Size size) {
  const long part = possible(Call::kBytes, file, size);
  return part < 0 ? -1 : LEAPP_NEXT(read)(file, bytes, static_cast<Size>(part));
}
LEAPP_FAULTS_EXPORT long pread64(int file, void* bytes, Size size, long at) {
  const long part = possible(Call::kBytes, file, size);
  return part < 0 ? -1 : LEAPP_NEXT(pread64)(file, bytes, static_cast<Size>(part), at);
}
LEAPP_FAULTS_EXPORT long pread(int file, void* bytes, Size size, long at) { return pread64(file, bytes, size, at); }
LEAPP_FAULTS_EXPORT void* mmap64(void* start, Size size, int access, int flags, int file, long at) {
  if (file >= 0 && fails(Call::kMap, file))
    return reinterpret_cast<void*>(-1);  // NOLINT(performance-no-int-to-ptr): MAP_FAILED
  return LEAPP_NEXT(mmap64)(start, size, access, flags, file, at);
}
LEAPP_FAULTS_EXPORT void* mmap(void* start, Size size, int access, int flags, int file, long at) {
  return mmap64(start, size, access, flags, file, at);
}

LEAPP_FAULTS_EXPORT int fsync(int file) { return fails(Call::kSync, file) ? -1 : LEAPP_NEXT(fsync)(file); }
LEAPP_FAULTS_EXPORT int fdatasync(int file) { return fails(Call::kSync, file) ? -1 : LEAPP_NEXT(fdatasync)(file); }
LEAPP_FAULTS_EXPORT int flock(int file, int what) {
  return fails(Call::kLock, file) ? -1 : LEAPP_NEXT(flock)(file, what);
}

LEAPP_FAULTS_EXPORT int rename(const char* from, const char* to) {
  return fails(Call::kRename, from) ? -1 : LEAPP_NEXT(rename)(from, to);
}
LEAPP_FAULTS_EXPORT int renameat(int folder, const char* from, int to_folder, const char* to) {
  return fails(Call::kRename, from, folder) ? -1 : LEAPP_NEXT(renameat)(folder, from, to_folder, to);
}
LEAPP_FAULTS_EXPORT int renameat2(int folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return fails(Call::kRename, from, folder) ? -1 : LEAPP_NEXT(renameat2)(folder, from, to_folder, to, flags);
}
LEAPP_FAULTS_EXPORT int link(const char* from, const char* to) {
  return fails(Call::kLink, to) ? -1 : LEAPP_NEXT(link)(from, to);
}
LEAPP_FAULTS_EXPORT int linkat(int folder, const char* from, int to_folder, const char* to, int flags) {
  return fails(Call::kLink, to, to_folder) ? -1 : LEAPP_NEXT(linkat)(folder, from, to_folder, to, flags);
}
LEAPP_FAULTS_EXPORT int symlink(const char* target, const char* link) {
  return fails(Call::kLink, link) ? -1 : LEAPP_NEXT(symlink)(target, link);
}
LEAPP_FAULTS_EXPORT int symlinkat(const char* target, int folder, const char* link) {
  return fails(Call::kLink, link, folder) ? -1 : LEAPP_NEXT(symlinkat)(target, folder, link);
}
LEAPP_FAULTS_EXPORT int unlink(const char* path) { return fails(Call::kUnlink, path) ? -1 : LEAPP_NEXT(unlink)(path); }
LEAPP_FAULTS_EXPORT int unlinkat(int folder, const char* path, int flags) {
  return fails(Call::kUnlink, path, folder) ? -1 : LEAPP_NEXT(unlinkat)(folder, path, flags);
}
LEAPP_FAULTS_EXPORT int rmdir(const char* path) { return fails(Call::kUnlink, path) ? -1 : LEAPP_NEXT(rmdir)(path); }
LEAPP_FAULTS_EXPORT int remove(const char* path) { return fails(Call::kUnlink, path) ? -1 : LEAPP_NEXT(remove)(path); }
LEAPP_FAULTS_EXPORT int mkdir(const char* path, unsigned mode) {
  return fails(Call::kMkdir, path) ? -1 : LEAPP_NEXT(mkdir)(path, mode);
}
LEAPP_FAULTS_EXPORT int mkdirat(int folder, const char* path, unsigned mode) {
  return fails(Call::kMkdir, path, folder) ? -1 : LEAPP_NEXT(mkdirat)(folder, path, mode);
}

LEAPP_FAULTS_EXPORT int chmod(const char* path, unsigned mode) {
  return fails(Call::kMode, path) ? -1 : LEAPP_NEXT(chmod)(path, mode);
}
LEAPP_FAULTS_EXPORT int fchmod(int file, unsigned mode) {
  return fails(Call::kMode, file) ? -1 : LEAPP_NEXT(fchmod)(file, mode);
}
LEAPP_FAULTS_EXPORT int fchmodat(int folder, const char* path, unsigned mode, int flags) {
  return fails(Call::kMode, path, folder) ? -1 : LEAPP_NEXT(fchmodat)(folder, path, mode, flags);
}
LEAPP_FAULTS_EXPORT int chown(const char* path, unsigned user, unsigned group) {
  return fails(Call::kMode, path) ? -1 : LEAPP_NEXT(chown)(path, user, group);
}
LEAPP_FAULTS_EXPORT int utimensat(int folder, const char* path, const void* times, int flags) {
  return fails(Call::kMode, path, folder) ? -1 : LEAPP_NEXT(utimensat)(folder, path, times, flags);
}

LEAPP_FAULTS_EXPORT int stat(const char* path, void* status) {
  return fails(Call::kStat, path) ? -1 : LEAPP_NEXT(stat)(path, status);
}
LEAPP_FAULTS_EXPORT int stat64(const char* path, void* status) {
  return fails(Call::kStat, path) ? -1 : LEAPP_NEXT(stat64)(path, status);
}
LEAPP_FAULTS_EXPORT int lstat(const char* path, void* status) {
  return fails(Call::kStat, path) ? -1 : LEAPP_NEXT(lstat)(path, status);
}
LEAPP_FAULTS_EXPORT int lstat64(const char* path, void* status) {
  return fails(Call::kStat, path) ? -1 : LEAPP_NEXT(lstat64)(path, status);
}
LEAPP_FAULTS_EXPORT int fstat(int file, void* status) {
  return fails(Call::kStat, file) ? -1 : LEAPP_NEXT(fstat)(file, status);
}
LEAPP_FAULTS_EXPORT int fstat64(int file, void* status) {
  return fails(Call::kStat, file) ? -1 : LEAPP_NEXT(fstat64)(file, status);
}
LEAPP_FAULTS_EXPORT char* realpath(const char* path, char* result) {
  return fails(Call::kStat, path) ? nullptr : LEAPP_NEXT(realpath)(path, result);
}
LEAPP_FAULTS_EXPORT void* opendir(const char* path) {
  return fails(Call::kList, path) ? nullptr : LEAPP_NEXT(opendir)(path);
}
LEAPP_FAULTS_EXPORT void* fdopendir(int file) {
  return fails(Call::kList, file) ? nullptr : LEAPP_NEXT(fdopendir)(file);
}
