// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace leapp {

/// What kind of thing went wrong. The Python module maps each code to the built-in exception named behind it.
enum class StatusCode {
  kOk,
  kInvalidArgument,     ///< ValueError: a name, shape or option that cannot be right
  kWrongType,           ///< TypeError: a value of a type that is not accepted there
  kFailedPrecondition,  ///< RuntimeError: the call came at the wrong time
  kNotFound,            ///< KeyError: a name that nothing answers to
  kIo,                  ///< OSError: the file system said no
  kDataLoss,            ///< ValueError: bytes that are not what they should be
  kUnimplemented,       ///< NotImplementedError: legal, but not supported here
  kInternal,            ///< RuntimeError: a fault of ours
  kOutOfMemory,         ///< MemoryError: the system has no more
  kTimeout,             ///< TimeoutError: it took longer than it may
};

/// Outcome of an operation without a result. Cheap to return when ok. A message says what was expected, what was
/// found and where. Safe to copy between threads.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  /// True when nothing went wrong.
  [[nodiscard]] bool ok() const { return code_ == StatusCode::kOk; }
  [[nodiscard]] StatusCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

/// Makes a Status of that code, with a message that says what was expected and what was found.
inline Status invalid_argument(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }
inline Status wrong_type(std::string message) { return {StatusCode::kWrongType, std::move(message)}; }
inline Status failed_precondition(std::string message) { return {StatusCode::kFailedPrecondition, std::move(message)}; }
inline Status not_found(std::string message) { return {StatusCode::kNotFound, std::move(message)}; }
inline Status io_error(std::string message) { return {StatusCode::kIo, std::move(message)}; }
inline Status data_loss(std::string message) { return {StatusCode::kDataLoss, std::move(message)}; }
inline Status unimplemented(std::string message) { return {StatusCode::kUnimplemented, std::move(message)}; }
inline Status internal_error(std::string message) { return {StatusCode::kInternal, std::move(message)}; }
inline Status timed_out(std::string message) { return {StatusCode::kTimeout, std::move(message)}; }
inline Status out_of_memory(std::string message) { return {StatusCode::kOutOfMemory, std::move(message)}; }

/// Says why there is no value, and ends the process: for value() of a Result that nobody asked whether it is ok.
[[noreturn]] inline void abort_without_value(const Status& status) {
  std::fprintf(stderr, "leapp: value() of a result that is an error: %s\n", status.message().c_str());
  std::abort();
}

/// A T or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit, so that `return value;` works
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit, so that `return status;` works

  /// True when there is a value.
  [[nodiscard]] bool ok() const { return value_.has_value(); }
  /// Why there is no value; kOk when there is one.
  [[nodiscard]] const Status& status() const { return status_; }

  /// REQUIRES: ok(). Else it prints the message of status() and aborts.
  T& value() & {
    if (!value_) abort_without_value(status_);
    return *value_;
  }
  const T& value() const& {
    if (!value_) abort_without_value(status_);
    return *value_;
  }
  T&& value() && {
    if (!value_) abort_without_value(status_);
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace leapp

#define LEAPP_CONCAT_INNER(a, b) a##b
#define LEAPP_CONCAT(a, b) LEAPP_CONCAT_INNER(a, b)

/// Returns from the enclosing function when `expression` is a Status that is not ok.
#define LEAPP_RETURN_IF_ERROR(expression)                                                     \
  do {                                                                                        \
    if (::leapp::Status leapp_status = (expression); !leapp_status.ok()) return leapp_status; \
  } while (false)

/// Declares `lhs` from a Result, or returns its Status from the enclosing function.
#define LEAPP_ASSIGN_OR_RETURN(lhs, expression) \
  LEAPP_ASSIGN_OR_RETURN_INNER(LEAPP_CONCAT(leapp_result_, __LINE__), lhs, expression)
#define LEAPP_ASSIGN_OR_RETURN_INNER(temporary, lhs, expression) \
  auto temporary = (expression);                                 \
  if (!temporary.ok()) return temporary.status();                \
  lhs = std::move(temporary).value()
