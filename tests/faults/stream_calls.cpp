// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams of the C library, which do not go through the functions of file_calls.cpp: glibc calls its own.
#include <cstddef>

#include "next.h"

namespace {

using leapp::faults::Call;
using leapp::faults::fails;

bool reads(const char* mode) {
  if (mode[0] != 'r') return false;
  for (; *mode != '\0'; ++mode) {
    if (*mode == '+') return false;
  }
  return true;
}

}  // namespace

struct _IO_FILE;  // NOLINT(bugprone-reserved-identifier): glibc's
extern "C" int fileno(_IO_FILE* stream);

LEAPP_FAULTS_EXPORT _IO_FILE* fopen(const char* path, const char* mode) {
  return fails(reads(mode) ? Call::kRead : Call::kOpen, path) ? nullptr : LEAPP_NEXT(fopen)(path, mode);
}
LEAPP_FAULTS_EXPORT _IO_FILE* fopen64(const char* path, const char* mode) {
  return fails(reads(mode) ? Call::kRead : Call::kOpen, path) ? nullptr : LEAPP_NEXT(fopen64)(path, mode);
}
LEAPP_FAULTS_EXPORT std::size_t fwrite(const void* bytes, std::size_t size, std::size_t count, _IO_FILE* stream) {
  return fails(Call::kWrite, fileno(stream)) ? 0 : LEAPP_NEXT(fwrite)(bytes, size, count, stream);
}
LEAPP_FAULTS_EXPORT std::size_t fwrite_unlocked(const void* bytes, std::size_t size, std::size_t count,
                                                _IO_FILE* stream) {
  return fails(Call::kWrite, fileno(stream)) ? 0 : LEAPP_NEXT(fwrite_unlocked)(bytes, size, count, stream);
}
LEAPP_FAULTS_EXPORT int fflush(_IO_FILE* stream) {
  return stream != nullptr && fails(Call::kWrite, fileno(stream)) ? -1 : LEAPP_NEXT(fflush)(stream);
}
