// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/namer.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace leapp::codegen {
namespace {

constexpr std::size_t kLongest = 80;

// Separated by spaces: short to read, and a set is made of it once.
constexpr std::string_view kKeywords =
    "alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool break case "
    "catch char char8_t char16_t char32_t class compl concept const consteval constexpr constinit const_cast continue "
    "co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern false "
    "final float for friend goto if import inline int long module mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq override private protected public reflexpr register reinterpret_cast requires restrict return "
    "short signed sizeof static static_assert static_cast struct switch synchronized template this thread_local throw "
    "true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq "
    "main std";

// Of <math.h>: each also with f and l behind it.
constexpr std::string_view kMathNames =
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs fdim "
    "finite floor fma fmax fmin fmod frexp gamma hypot ilogb infinity isinf isnan j0 j1 jn ldexp lgamma llrint llround "
    "log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint "
    "round roundeven scalb scalbln scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn";

// Other names that headers of C libraries and compilers declare or define everywhere, in lower case.
constexpr std::string_view kLibraryNames =
    "abort abs accept access alarm arm assert atexit atof atoi atol bind brk calloc clock close connect daemon div dup "
    "errno exit ffs fork fpclassify free getenv gets i386 index isatty isfinite isgreater isless isnormal isunordered "
    "kill labs link linux listen lseek malloc mips nice offsetof optarg optind pause pipe popen printf puts putchar "
    "qsort raise rand random read realloc recv remove rename rindex sbrk select send signal signbit signgam sleep "
    "socket sprintf srand srandom stat stderr stdin stdout swab sync syscall system tell time timezone times truncate "
    "tzname unix unlink va_arg va_copy va_end va_list va_start vfork wait write div_t ldiv_t size_t ptrdiff_t "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t float_t "
    "double_t";

constexpr std::string_view kHeaders =
    "aio assert complex ctype dirent dlfcn endian errno fcntl features fenv float glob grp iconv inttypes iso646 "
    "limits "
    "locale malloc math memory net netdb new poll pthread pwd regex sched semaphore setjmp signal spawn stdalign "
    "stdarg "
    "stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings syslog termios tgmath threads time uchar "
    "unistd utime wchar wctype windows";

std::set<std::string, std::less<>> words(std::string_view list) {
  std::set<std::string, std::less<>> result;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    result.emplace(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return result;
}

std::set<std::string, std::less<>> reserved_words() {
  std::set<std::string, std::less<>> all = words(kKeywords);
  for (const std::string& name : words(kMathNames)) all.insert({name, name + "f", name + "l"});
  all.merge(words(kLibraryNames));
  return all;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Macros are written so, and a board's headers bring hundreds.
bool looks_like_macro(std::string_view name) {
  for (const char c : name) {
    if (c >= 'a' && c <= 'z') return false;
  }
  return true;
}

}  // namespace

std::string spelled(std::string_view text) {
  std::string name;
  const auto add = [&](std::string_view part) {
    for (const char c : part) {
      if (c != '_' || (!name.empty() && name.back() != '_')) name += c;
    }
  };
  while (!text.empty() && name.size() < kLongest) {
    const auto code = take_code_point(text);
    if (!code || *code < 0x80) {
      const char c = code ? static_cast<char>(*code) : '_';
      add(std::string_view(is_letter(c) || is_digit(c) ? std::string(1, c) : "_"));
    } else {
      add(fmt::format("u{:04x}_", static_cast<std::uint32_t>(*code)));
    }
  }
  while (name.ends_with('_')) name.pop_back();
  if (name.empty()) return "unnamed";
  return is_digit(name.front()) ? "n" + name : name;
}

bool is_reserved(std::string_view name) {
  static const auto* const all = new std::set<std::string, std::less<>>(reserved_words());
  return all->contains(name) || looks_like_macro(name);
}

bool is_header(std::string_view name) {
  static const auto* const all = new std::set<std::string, std::less<>>(words(kHeaders));
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return all->contains(lower);
}

std::string Namer::operator()(std::string_view wish) {
  std::string name = spelled(wish);
  if (is_reserved(name)) name += '_';
  // "_2" might itself be somebody's name: what is taken is looked up each time.
  const std::string base = name.ends_with('_') ? name : name + "_";
  for (int i = 2; taken_.contains(name); ++i) name = fmt::format("{}{}", base, i);
  taken_.insert(name);
  return name;
}

}  // namespace leapp::codegen
