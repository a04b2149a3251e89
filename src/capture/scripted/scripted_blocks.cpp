// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_blocks.h"

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/runtime/jit_exception.h>

#include <set>
#include <utility>

#include "capture/hook/hook.h"
#include "capture/scripted/scripted_run.h"

namespace leapp::capture {
namespace {

namespace jit = torch::jit;

}  // namespace

void run_inside(ScriptedRun& run, BlockRecording& recording, jit::Block* block) {
  try {
    const at::NoGradGuard no_gradients;
    const RecordInto into(recording.recorder());
    run.run(*block);
  } catch (const Unrecordable&) {
    throw;
  } catch (const jit::JITException& raised) {
    throw BlockRaises(raised.what());
  } catch (const std::exception& failure) {
    throw FailsOnThisData(failure.what());
  }
  recording.check();
}

c10::IValue number_in(const at::Tensor& twin) {
  const Unrecorded quiet;
  if (twin.scalar_type() == at::kBool) return twin.item<bool>();
  return twin.scalar_type() == at::kLong ? c10::IValue(twin.item<std::int64_t>()) : c10::IValue(twin.item<double>());
}

ScriptedItem item_inside(const ScriptedItem& item, BlockRecording& recording) {
  if (!item.twin.defined()) return {recording.inside(item.value), {}, item.unset};
  const at::Tensor twin = recording.inside(item.twin).toTensor();
  return {number_in(twin), twin, false};
}

at::Tensor zeros_of(const ValueType& type) {
  const Unrecorded quiet;
  return at::zeros(type.sizes, type.dtype);
}

at::Tensor result_tensor(const ScriptedItem& item, const ValueType& type) {
  if (item.unset) return zeros_of(type);
  if (item.value.isTensor()) return item.value.toTensor();
  return at::scalar_tensor(item.value.toScalar(), type.dtype);
}

std::vector<at::Tensor> apart(ScriptedRun& run, std::vector<at::Tensor> results, const BlockEnvironment& world) {
  std::set<const c10::TensorImpl*> seen;
  for (at::Tensor& result : results) {
    const bool fresh = seen.insert(result.unsafeGetTensorImpl()).second && !world.has(result);
    if (run.recording()) {
      result = result.clone();
    } else if (!fresh) {
      result = at::alias(result);
    }
    run.note_chosen(result);
  }
  return results;
}

void refuse_shared_writes(ScriptedRun& run, jit::Node* node, std::size_t output) {
  if (run.code().shares_writes(node, node->outputs()[output])) {
    throw Unrecordable("a tensor is written to afterwards that is another one's memory on one way and not on another");
  }
}

}  // namespace leapp::capture
