// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What capture records while a pipeline runs: values and the operators that made them.
//
// Values form a reference-counted SSA graph. A tensor table entry holds the value of a tensor, an operator holds its
// operands; what no tensor and no output needs any more disappears by itself. Closing a node cuts out the part that
// its outputs need (to_graph.h).
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/hook/source_location.h"
#include "capture/recorder/geometry.h"
#include "capture/trace/value_type.h"
#include "graph/graph.h"

namespace leapp::capture {

/// One opening of a node. 0: none. A value is live while the activation that owns it is open.
using ActivationId = std::uint32_t;

class Memory;
class OpInfo;
struct TraceOp;
struct TracedValue;
using ValuePtr = std::shared_ptr<TracedValue>;

/// Whether a constant was drawn from a random generator while the session ran.
enum class Drawn : std::uint8_t {
  kNot,
  kElsewhere,  ///< while no node was open, or several
  kOnce,       ///< in the only call of its node: nobody can tell whether it would be drawn again
  kSettled,    ///< in the first call of its node, and the same in later ones
};

/// A tensor that a node reads and did not compute. Held by reference until something is about to write to its
/// memory; then it gets a copy of its own. What holds it is behind the virtual functions.
struct ConstantCell {
  bool by_reference = true;
  bool overwritten = false;        ///< the memory it was taken from has been written to since
  std::uint64_t content_hash = 0;  ///< taken at stop()
  std::string name;                ///< "actor.0.weight", or empty
  ValuePtr provenance;             ///< what this tensor held before a node took it as a constant; usually null
  bool parameter = false;          ///< a parameter of the module that gave it its name
  bool given = false;              ///< a default argument of an annotated function: may be an output as it is
  bool fresh = false;              ///< made in the call that read it
  Drawn drawn = Drawn::kNot;
  LocationId location = 0;          ///< first use
  const void* read_from = nullptr;  ///< of a parameter: its storage, which tells it from others that are used alike

  std::weak_ptr<Memory> home;     ///< the memory it was read from, while anyone has it
  Geometry place;                 ///< where in it
  std::vector<Geometry> covered;  ///< parts of it that lay under newer values when it was read
  std::size_t outside = 0;        ///< of Memory::outside: how many there were when it was read

  ConstantCell() = default;
  virtual ~ConstantCell() = default;
  ConstantCell(const ConstantCell&) = delete;
  ConstantCell& operator=(const ConstantCell&) = delete;

  /// Numbers that a model may not want to have for ever.
  [[nodiscard]] bool is_random() const { return drawn == Drawn::kElsewhere || drawn == Drawn::kOnce; }

  [[nodiscard]] virtual ValueType type() const = 0;
  /// The program goes on, and may change it: remembers what it holds.
  virtual void seal() { content_hash = hash(); }
  /// Of what it holds now.
  [[nodiscard]] virtual std::uint64_t hash() const = 0;
  [[nodiscard]] virtual ContentPtr copy() const = 0;
  /// For the exported graph, with the bytes as they are; none: of a type that no graph has.
  [[nodiscard]] virtual std::optional<graph::Constant> exported() const = 0;
  /// Whether both look at the same elements of the same memory: it has not been replaced.
  [[nodiscard]] virtual bool is_same_memory(const ConstantCell& other) const = 0;
  /// Which memory, and how many tensors have it. Null: none of its own.
  [[nodiscard]] virtual const void* storage() const = 0;
  [[nodiscard]] virtual std::size_t storage_holders() const = 0;
};

struct TraceArgument {
  enum class Kind : std::uint8_t { kAttribute, kTensor, kTensorList };
  Kind kind = Kind::kAttribute;
  c10::IValue attribute;       ///< also a Python number that stands where the schema says Tensor
  ValuePtr tensor;             ///< kTensor
  std::vector<ValuePtr> list;  ///< kTensorList; null entries are None

  static TraceArgument of(ValuePtr value);
  static TraceArgument of(std::vector<ValuePtr> values);
  static TraceArgument of(c10::IValue value);
};

/// What is known of random numbers that were drawn from nothing live (draws.h).
struct Draw {
  enum class Later : std::uint8_t {
    kUnknown,  ///< no later call has drawn here, or read the numbers
    kAlways,   ///< likewise, but they were written over something live: drawn in every call, as one shows
    kSame,     ///< later calls drew the same ones: the program sets the generator's seed
    kAnew,     ///< a later call drew other ones
    kKept,     ///< a later call read the numbers again
    kMixed,    ///< one call read them again, another drew other ones
  };
  ActivationId call = 0;        ///< the one that was open
  std::uint64_t generator = 0;  ///< hash of the generator's state before it
  Later later = Later::kUnknown;

  [[nodiscard]] bool is_kept() const { return later == Later::kKept || later == Later::kMixed; }
  [[nodiscard]] bool is_anew() const { return later == Later::kAnew || later == Later::kMixed; }
};

/// An operator in functional form. Immutable once its results exist, but for operands that turn out to be state.
struct TraceOp {
  const OpInfo* info = nullptr;
  std::vector<TraceArgument> arguments;    ///< in the order of info->schema()
  c10::SmallVector<ValueType, 1> results;  ///< lists flattened
  LocationId location = 0;
  std::uint64_t sequence = 0;
  bool random = false;
  Draw draw;                            ///< of a random operator that reads nothing live
  std::shared_ptr<TraceOp> next_to_go;  ///< while they are destroyed

  TraceOp() = default;
  TraceOp(const TraceOp&) = delete;
  TraceOp& operator=(const TraceOp&) = delete;
  ~TraceOp();
};

enum class TracedKind : std::uint8_t {
  kInput,      ///< an input port of an open node
  kResult,     ///< made by an operator
  kConstant,   ///< a tensor taken as it is
  kPublished,  ///< an output of a closed node
  kGlue,       ///< computed from published outputs while no node was open
  kFormer,     ///< left over from a node that has closed, without being an output of it
  kDrawn,      ///< a random tensor made from nothing live
};

/// Where a value that no operator of ours made comes from.
struct Origin {
  std::string node;                ///< kPublished, kFormer: name of the node; kDrawn: the operator
  std::string port;                ///< kInput, kPublished
  std::uint64_t pass = 0;          ///< kPublished, kFormer
  std::uint64_t key = 0;           ///< kFormer: which value of the node it was (value_key.h)
  bool part = false;               ///< kFormer: some other piece of memory that held it
  bool constant = false;           ///< kPublished: a static output
  std::uint64_t content_hash = 0;  ///< kPublished
  ValuePtr source;                 ///< kGlue: a published output it was computed from; kInput: what the tensor held
  std::string glue_op;             ///< kGlue: first operator that changed the value
  LocationId location = 0;         ///< kGlue, kDrawn
};

/// The dimension of a value whose size depends on data (row_counts.h). -1: none, or not known.
struct RowsDim {
  int dim = -1;
  std::int64_t unit = 1;            ///< elements of that dimension for each row
  const TraceOp* source = nullptr;  ///< the operator that chose the rows
};

struct TracedValue {
  TracedKind kind = TracedKind::kResult;
  ActivationId owner = 0;   ///< 0: does not depend on any node's inputs
  bool over_input = false;  ///< it was written over (a part of) an input of a node
  std::uint32_t index = 0;  ///< kResult: which result
  ValueType type;
  RowsDim rows;
  std::shared_ptr<TraceOp> op;          ///< kResult
  std::shared_ptr<ConstantCell> cell;   ///< kConstant
  std::shared_ptr<ConstantCell> drawn;  ///< kResult, drawn from nothing live: the numbers, should they be a constant
  std::unique_ptr<Origin> origin;       ///< kInput, kPublished, kGlue, kFormer, kDrawn
};

/// What tensors hold that outlives the call of a node which made it, by key (value_key.h).
using Survivors = std::unordered_map<std::uint64_t, ValuePtr>;

/// Whether an operator of a node can read it as it is.
inline bool is_operand(const TracedValue& value) {
  return value.kind == TracedKind::kInput || value.kind == TracedKind::kResult || value.kind == TracedKind::kConstant;
}

/// Whether it depends on nothing but constants.
inline bool is_constant(const TracedValue& value) { return is_operand(value) && value.owner == 0; }

/// A value of one of the kinds that have an origin.
ValuePtr make_value(TracedKind kind, ValueType type, Origin origin);
ValuePtr make_constant(std::shared_ptr<ConstantCell> cell);

/// Calls `visit(ValuePtr&)` for every tensor operand.
template <typename Op, typename Visit>
void for_each_operand(Op& op, Visit visit) {
  for (auto& argument : op.arguments) {
    if (argument.kind == TraceArgument::Kind::kTensor) visit(argument.tensor);
    if (argument.kind != TraceArgument::Kind::kTensorList) continue;
    for (auto& value : argument.list) {
      if (value) visit(value);
    }
  }
}

}  // namespace leapp::capture
