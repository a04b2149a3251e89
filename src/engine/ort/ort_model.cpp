// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/ort_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "engine/float_mode.h"
#include "engine/ort/divisions.h"

namespace leapp::engine::ort {
namespace {

// The empty string comes back as nullptr in no version of ONNX Runtime; names are copied and freed at once.
Result<std::string> take_name(const OrtApi& api, OrtAllocator* allocator, char* name) {
  std::string copy(name);
  LEAPP_RETURN_IF_ORT_ERROR(api, api.AllocatorFree(allocator, name));
  return copy;
}

std::string describe(const TensorInfo& info) {
  const std::string dtype = info.dtype ? std::string(dtype_name(*info.dtype)) : "?";
  return info.shape ? dtype + shape_text(*info.shape) : dtype + "[?]";
}

bool fits(const TensorInfo& info, const BoundBuffer& buffer) {
  if (info.dtype && *info.dtype != buffer.dtype) return false;
  if (!info.shape) return true;
  return std::equal(info.shape->begin(), info.shape->end(), buffer.shape.begin(), buffer.shape.end(),
                    [](std::int64_t model, std::int64_t ours) { return model < 0 || model == ours; });
}

using Named = std::unordered_map<std::string_view, const BoundBuffer*>;

Named by_name(const std::vector<BoundBuffer>& buffers) {
  Named named;
  for (const BoundBuffer& buffer : buffers) named.emplace(buffer.name, &buffer);
  return named;
}

std::string names(const std::vector<TensorInfo>& tensors) {
  std::vector<std::string> list;
  for (const TensorInfo& tensor : tensors) list.push_back(tensor.name);
  return list.empty() ? "none" : join(list, ", ");
}

Status check(const std::vector<TensorInfo>& tensors, const std::vector<BoundBuffer>& buffers, const char* what) {
  std::unordered_map<std::string_view, const TensorInfo*> named;
  for (const TensorInfo& tensor : tensors) named.emplace(tensor.name, &tensor);
  for (const BoundBuffer& buffer : buffers) {
    const auto found = named.find(buffer.name);
    const TensorInfo* info = found == named.end() ? nullptr : found->second;
    if (info == nullptr) {
      return invalid_argument(
          fmt::format("the model has no {} {}; it has {}", what, quote(buffer.name), names(tensors)));
    }
    if (!fits(*info, buffer)) {
      return invalid_argument(fmt::format("{} {}: the bundle says {}, the model {}", what, quote(buffer.name),
                                          type_text(buffer.dtype, buffer.shape), describe(*info)));
    }
  }
  return {};
}

Result<TensorInfo> read_type(const OrtApi& api, const OrtTypeInfo* type, std::string name) {
  TensorInfo info{std::move(name), std::nullopt, std::nullopt};
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  LEAPP_RETURN_IF_ORT_ERROR(api, api.CastTypeInfoToTensorInfo(type, &tensor));
  if (tensor == nullptr)
    return unimplemented(fmt::format("{} is not a tensor; only tensors can be ports", quote(info.name)));
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  LEAPP_RETURN_IF_ORT_ERROR(api, api.GetTensorElementType(tensor, &element));
  info.dtype = to_dtype(element);
  if (!info.dtype) {
    return unimplemented(fmt::format("{} has ONNX element type {}, which no port can have", quote(info.name),
                                     static_cast<int>(element)));
  }
  std::size_t rank = 0;
  LEAPP_RETURN_IF_ORT_ERROR(api, api.GetDimensionsCount(tensor, &rank));
  std::vector<std::int64_t> shape(rank);
  LEAPP_RETURN_IF_ORT_ERROR(api, api.GetDimensions(tensor, shape.data(), rank));
  info.shape = std::move(shape);
  return info;
}

}  // namespace

Result<std::unique_ptr<EngineModel>> OrtModel::create(SessionParts parts) {
  std::unique_ptr<OrtModel> model(new OrtModel(std::move(parts)));
  const OrtApi& api = model->api();
  LEAPP_RETURN_IF_ERROR(model->read_signature());
  OrtMemoryInfo* memory = nullptr;
  LEAPP_RETURN_IF_ORT_ERROR(api, api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory));
  model->memory_ = {memory, api.ReleaseMemoryInfo};
  OrtRunOptions* run_options = nullptr;
  LEAPP_RETURN_IF_ORT_ERROR(api, api.CreateRunOptions(&run_options));
  model->run_options_ = {run_options, api.ReleaseRunOptions};
  return std::unique_ptr<EngineModel>(std::move(model));
}

OrtModel::~OrtModel() = default;

Status OrtModel::read_signature() {
  LEAPP_RETURN_IF_ERROR(read_tensors(Role::kInput, inputs_));
  LEAPP_RETURN_IF_ERROR(read_tensors(Role::kOutput, outputs_));
  return read_tensors(Role::kConstant, constants_);
}

Status OrtModel::read_tensors(Role role, std::vector<TensorInfo>& tensors) const {
  const auto count_of = role == Role::kInput    ? api().SessionGetInputCount
                        : role == Role::kOutput ? api().SessionGetOutputCount
                                                : api().SessionGetOverridableInitializerCount;
  std::size_t count = 0;
  LEAPP_RETURN_IF_ORT_ERROR(api(), count_of(parts_.session.get(), &count));
  for (std::size_t i = 0; i < count; ++i) {
    auto tensor = read_tensor(role, i);
    if (!tensor.ok()) return explained(tensor.status(), "cannot load");
    tensors.push_back(std::move(tensor).value());
  }
  return {};
}

Result<TensorInfo> OrtModel::read_tensor(Role role, std::size_t index) const {
  OrtAllocator* allocator = nullptr;
  LEAPP_RETURN_IF_ORT_ERROR(api(), api().GetAllocatorWithDefaultOptions(&allocator));
  char* raw = nullptr;
  OrtTypeInfo* type = nullptr;
  const OrtSession* session = parts_.session.get();
  const auto name_of = role == Role::kInput    ? api().SessionGetInputName
                       : role == Role::kOutput ? api().SessionGetOutputName
                                               : api().SessionGetOverridableInitializerName;
  LEAPP_RETURN_IF_ORT_ERROR(api(), name_of(session, index, allocator, &raw));
  LEAPP_ASSIGN_OR_RETURN(std::string name, take_name(api(), allocator, raw));
  const auto type_of = role == Role::kInput    ? api().SessionGetInputTypeInfo
                       : role == Role::kOutput ? api().SessionGetOutputTypeInfo
                                               : api().SessionGetOverridableInitializerTypeInfo;
  LEAPP_RETURN_IF_ORT_ERROR(api(), type_of(session, index, &type));
  const Owned<OrtTypeInfo> owned(type, api().ReleaseTypeInfo);
  return read_type(api(), type, std::move(name));
}

Status OrtModel::bind(Bound& bound, const BoundBuffer& buffer, bool input) const {
  const auto size = buffer_size(buffer.dtype, buffer.shape);
  if (!size) return invalid_argument(fmt::format("{} is too large", type_text(buffer.dtype, buffer.shape)));
  OrtValue* value = nullptr;
  LEAPP_RETURN_IF_ORT_ERROR(api(),
                            api().CreateTensorWithDataAsOrtValue(memory_.get(), buffer.data, *size, buffer.shape.data(),
                                                                 buffer.shape.size(), to_onnx(buffer.dtype), &value));
  bound.values.emplace_back(value, api().ReleaseValue);
  return take_status(api(), input ? api().BindInput(bound.binding.get(), buffer.name.c_str(), value)
                                  : api().BindOutput(bound.binding.get(), buffer.name.c_str(), value));
}

// An output that is an input: ONNX Runtime hands out the input's memory and leaves ours as it is.
Status OrtModel::bind_passed(Bound& bound, const Binding& binding) {
  const Named inputs = by_name(binding.inputs);
  for (const BoundBuffer& output : binding.outputs) {
    const auto found = inputs.find(output.name);
    if (found == inputs.end()) continue;
    const BoundBuffer* input = found->second;
    if (input->dtype != output.dtype || input->shape != output.shape) {
      return invalid_argument(fmt::format("{} is an input and an output: the bundle says {} and {}", quote(output.name),
                                          type_text(input->dtype, input->shape),
                                          type_text(output.dtype, output.shape)));
    }
    bound.copies.push_back({input->data, output.data, buffer_size(output.dtype, output.shape).value_or(0)});
  }
  return {};
}

Result<std::size_t> OrtModel::prepare(const Binding& binding) {
  std::vector<TensorInfo> accepted = inputs_;
  accepted.insert(accepted.end(), constants_.begin(), constants_.end());
  LEAPP_RETURN_IF_ERROR(explained(check(accepted, binding.inputs, "input"), "cannot bind"));
  LEAPP_RETURN_IF_ERROR(explained(check(outputs_, binding.outputs, "output"), "cannot bind"));
  const Named given = by_name(binding.inputs);
  for (const TensorInfo& input : inputs_) {
    if (!given.contains(input.name)) {
      return explained(
          invalid_argument(fmt::format("the bundle has no input {}, which the model needs", quote(input.name))),
          "cannot bind");
    }
  }
  OrtIoBinding* raw = nullptr;
  LEAPP_RETURN_IF_ORT_ERROR(api(), api().CreateIoBinding(parts_.session.get(), &raw));
  Bound bound;
  bound.binding = {raw, api().ReleaseIoBinding};
  for (const BoundBuffer& buffer : binding.inputs)
    LEAPP_RETURN_IF_ERROR(explained(bind(bound, buffer, true), "cannot bind"));
  for (const BoundBuffer& buffer : binding.outputs) {
    LEAPP_RETURN_IF_ERROR(explained(bind(bound, buffer, false), "cannot bind"));
  }
  LEAPP_RETURN_IF_ERROR(explained(bind_passed(bound, binding), "cannot bind"));
  bound_.push_back(std::move(bound));
  if (!run(bound_.size() - 1)) {
    bound_.pop_back();
    return error();
  }
  return bound_.size() - 1;
}

// May be called by a signal handler: ONNX Runtime sets a flag.
void OrtModel::end_run(void* model) {
  auto* self = static_cast<OrtModel*>(model);
  self->ended_.store(true);
  if (OrtStatus* failure = self->api().RunOptionsSetTerminate(self->run_options_.get())) {
    self->api().ReleaseStatus(failure);
  }
}

bool OrtModel::run(std::size_t binding) noexcept {
  const FlushDenormals flush;
  const Bound& bound = bound_[binding];
  if (ended_.exchange(false)) [[unlikely]] {
    if (OrtStatus* failure = api().RunOptionsUnsetTerminate(run_options_.get())) api().ReleaseStatus(failure);
  }
  const Stop::Run under_way(parts_.stop.get(), &end_run, this);
  const Booking booking(parts_.memory.get());
  const DivisionWatch divisions;
  OrtStatus* status = api().RunWithBinding(parts_.session.get(), run_options_.get(), bound.binding.get());
  divided_ = divisions.failed();
  if (status == nullptr && !divided_) [[likely]] {
    for (const Copy& copy : bound.copies) std::memcpy(copy.to, copy.from, copy.size);
    return true;
  }
  failure_ = {status, api().ReleaseStatus};
  return false;
}

Status OrtModel::error() const {
  if (divided_) return explained(failed_precondition(kFailedDivision), "cannot run");
  if (!failure_) return {};
  const std::string_view said = api().GetErrorMessage(failure_.get());
  return explained(Status(memory_code(said).value_or(StatusCode::kInternal), std::string(said)), "cannot run");
}

Status OrtModel::explained(const Status& status, const char* action) const {
  if (status.ok()) return status;
  const std::string log = parts_.log->text();
  return {status.code(), fmt::format("{} {}: {} [{}{}]", action, parts_.name, status.message(),
                                     parts_.library->description, log.empty() ? "" : "; its log: " + log)};
}

}  // namespace leapp::engine::ort
