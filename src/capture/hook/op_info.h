// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace at {
struct RecordFunction;
}
namespace c10 {
class OperatorHandle;
}

namespace leapp::capture {

/// How capture treats an operator. Everything not in a class of its own is recorded as it stands.
enum class OpClass : std::uint8_t {
  kPlain,
  kIdentity,          ///< the result holds the same values: clone, detach, contiguous, same-dtype to
  kFilled,            ///< likewise, and what it is given was filled past the dispatcher: torch.tensor's lift_fresh
  kReshape,           ///< the view family: another shape over the same elements in the same order
  kAsStrided,         ///< geometry over the storage of its argument
  kAsStridedScatter,  ///< likewise
  kUninitialised,     ///< empty and its kin: memory without content
  kFull,              ///< zeros_like, new_full, ...: content that does not depend on the tensor argument
  kFill,              ///< fill_, zero_
  kFillDiagonal,      ///< fill_diagonal_, which has no functional form
  kCopy,              ///< copy_
  kBatchNorm,         ///< writes running statistics without saying so in its schema
  kInstanceNorm,      ///< likewise
  kControl,           ///< an If or a Loop of scripted code (control.h)
  kMetadata,          ///< asks for sizes, strides, flags; says nothing about values
  kIgnored,           ///< changes bookkeeping only: set_, requires_grad_, _version, ...
};

/// The functional form of an operator that writes to its arguments.
struct FunctionalVariant {
  const class OpInfo* op = nullptr;
  std::vector<int> arguments;       ///< for each argument of the twin, the argument of the original, or -1: default
  std::size_t leading_results = 0;  ///< results that are the original's own, before those of the written arguments
};

/// What schema, tags and name of an operator say, looked at once.
struct OpFacts {
  bool returns_tensor = false;
  bool gives_views = false;  ///< memory of its arguments, and writes to none of it
  bool random = false;       ///< it may draw (PendingOp::is_random)
  bool dynamic_shape = false;
  bool inplace_view = false;
  bool pointwise = false;  ///< every element of the result is one of the elements of each operand in the same place
  bool composite = false;
  bool torchs_own = true;  ///< every PyTorch has it
  /// It draws every element of what it writes to: what that held does not matter, though its functional form is given a
  /// tensor like it.
  bool draws_over_self = false;
  bool may_decide = false;  ///< it may give a bool that the program goes one way or another by (guards.h)
  bool searches = false;    ///< it gives the elements of a tensor that are not zero, or of another where they are not
  bool may_shape_by_data = false;  ///< shapes of its results may depend on elements (shape_depends_on_data)
};

/// What capture knows about one operator overload. Made once per process, never destroyed.
class OpInfo {
 public:
  explicit OpInfo(const c10::OperatorHandle& handle);
  ~OpInfo();

  [[nodiscard]] const c10::FunctionSchema& schema() const { return schema_; }
  [[nodiscard]] const std::string& name() const { return schema_.name(); }               ///< "aten::add"
  [[nodiscard]] const std::string& overload() const { return schema_.overload_name(); }  ///< "Tensor"
  [[nodiscard]] std::string qualified_name() const;
  /// Runs it: takes its arguments from the end of `stack` and leaves its results there. Throws what torch throws.
  void run(std::vector<c10::IValue>& stack) const;

  [[nodiscard]] OpClass op_class() const { return class_; }
  [[nodiscard]] const std::vector<std::size_t>& writes() const { return writes_; }
  /// For each return, the written argument it is, or -1.
  [[nodiscard]] const std::vector<int>& return_aliases() const { return return_aliases_; }
  [[nodiscard]] const OpFacts& facts() const { return facts_; }
  [[nodiscard]] bool has_kernel(c10::DispatchKey key) const;

  /// REQUIRES: !writes().empty(). Null op: there is none.
  [[nodiscard]] const FunctionalVariant& twin() const;

  /// False for an argument that is only written to: what it held before does not matter.
  [[nodiscard]] bool reads(std::size_t argument) const;

  /// Position of the argument of that name, or -1.
  [[nodiscard]] int argument(std::string_view name) const;

 private:
  void read_schema();
  void read_name();

  std::unique_ptr<const c10::OperatorHandle> handle_;
  const c10::FunctionSchema& schema_;
  OpClass class_ = OpClass::kPlain;
  std::vector<std::size_t> writes_;
  std::vector<int> return_aliases_;
  OpFacts facts_;
  mutable std::optional<FunctionalVariant> twin_;  // found on first use, under the session's lock
};

/// The operator a record stands for, or nullptr when it has no schema (an autograd.Function, a profiler range).
/// Thread-safe.
const OpInfo* op_info(const at::RecordFunction& record);

/// REQUIRES: such an operator is registered. Thread-safe.
const OpInfo* op_info(const std::string& name, const std::string& overload);

/// Same, nullptr when it is not registered.
const OpInfo* find_op_info(const std::string& name, const std::string& overload);

}  // namespace leapp::capture
