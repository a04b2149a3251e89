// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <limits>
#include <memory>

#include "runtime/c/common.h"

namespace leapp::c {
namespace {

using runtime::Pipeline;
using runtime::Port;

thread_local std::string last_error;

leapp_status number_of(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kOk:
      return LEAPP_OK;
    case StatusCode::kInvalidArgument:
      return LEAPP_INVALID_ARGUMENT;
    case StatusCode::kWrongType:
      return LEAPP_WRONG_TYPE;
    case StatusCode::kFailedPrecondition:
      return LEAPP_FAILED_PRECONDITION;
    case StatusCode::kNotFound:
      return LEAPP_NOT_FOUND;
    case StatusCode::kIo:
      return LEAPP_IO;
    case StatusCode::kDataLoss:
      return LEAPP_DATA_LOSS;
    case StatusCode::kUnimplemented:
      return LEAPP_UNIMPLEMENTED;
    case StatusCode::kOutOfMemory:
      return LEAPP_OUT_OF_MEMORY;
    case StatusCode::kTimeout:
      return LEAPP_TIMED_OUT;
    default:
      return LEAPP_INTERNAL;
  }
}

}  // namespace

Result<std::vector<std::string>> texts_of(const char* const* texts, std::size_t count, const char* what) {
  std::vector<std::string> made;
  if (count > 0 && texts == nullptr) return null(what);
  for (std::size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return null(what);
    made.emplace_back(texts[i]);
  }
  return made;
}

Result<runtime::LoadOptions> load_options(const leapp_load_options* given) {
  LEAPP_ASSIGN_OR_RETURN(const leapp_load_options from, options_of(given, "leapp_load_options"));
  runtime::LoadOptions options;
  options.allow_outside = from.allow_outside != 0;
  options.verify_checksums = from.skip_checksums == 0;
  options.fuse = from.no_fusion == 0;
  if (from.engine < LEAPP_ENGINE_AUTO || from.engine > LEAPP_ENGINE_ONNXRUNTIME) {
    return invalid_argument("leapp_load_options: engine: expected 0 to 2, found " + std::to_string(from.engine));
  }
  options.engine.prefer = from.engine == LEAPP_ENGINE_NATIVE        ? engine::Prefer::kNative
                          : from.engine == LEAPP_ENGINE_ONNXRUNTIME ? engine::Prefer::kOnnxRuntime
                                                                    : engine::Prefer::kAuto;
  if (from.threads < 0) {
    return invalid_argument("leapp_load_options: threads: expected 0 or more, found " + std::to_string(from.threads));
  }
  if (from.threads > 0) options.engine.intra_op_threads = from.threads;
  if (from.onnxruntime_library != nullptr) options.engine.onnxruntime_library = from.onnxruntime_library;
  LEAPP_ASSIGN_OR_RETURN(options.trusted_keys,
                         texts_of(from.trusted_keys, from.trusted_key_count, "leapp_load_options: trusted_keys"));
  options.minimum_serial = from.minimum_serial;
  options.memory_limit = from.memory_limit;
  if (from.timeout_ns > std::numeric_limits<std::int64_t>::max()) {
    return invalid_argument("leapp_load_options: timeout_ns: expected less than 2^63, found " +
                            std::to_string(from.timeout_ns));
  }
  options.timeout = std::chrono::nanoseconds(from.timeout_ns);
  options.allow_torchscript = from.refuse_torchscript == 0;
  return options;
}

namespace {

/// Whether all that leapp_port and leapp_element_name say of them is the same.
bool read_the_same(const std::vector<Port>& one, const std::vector<Port>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](const Port& a, const Port& b) {
    return a.name == b.name && a.node == b.node && a.kind == b.kind && a.dtype == b.dtype && a.shape == b.shape &&
           a.element_names == b.element_names && a.temporal_axis == b.temporal_axis && a.frequency == b.frequency;
  });
}

// Not while swapping, for it allocates. What was given out before stays; bundles that take turns for days have their
// ports once each.
void refresh(leapp_pipeline& pipeline) {
  std::vector<Port>& states = pipeline.ports[LEAPP_FEEDBACK];
  std::vector<Port> now = pipeline.pipeline.feedback_ports();
  pipeline.swapped = false;
  if (read_the_same(now, states)) return;
  const auto before = std::find_if(pipeline.earlier.begin(), pipeline.earlier.end(),
                                   [&](const std::vector<Port>& ports) { return read_the_same(now, ports); });
  if (before != pipeline.earlier.end()) return std::swap(*before, states);
  pipeline.earlier.push_back(std::move(states));
  states = std::move(now);
}

Result<const std::vector<Port>*> ports_of(const leapp_pipeline* pipeline, std::int32_t role) {
  if (pipeline == nullptr) return null("pipeline");
  if (role < LEAPP_INPUT || role > LEAPP_FEEDBACK) {
    return invalid_argument("role: expected LEAPP_INPUT, LEAPP_OUTPUT or LEAPP_FEEDBACK, found " +
                            std::to_string(role));
  }
  // A pipeline that is const to the caller was made by leapp_load, as one that is not.
  if (role == LEAPP_FEEDBACK && pipeline->swapped) refresh(const_cast<leapp_pipeline&>(*pipeline));
  return &pipeline->ports[static_cast<std::size_t>(role)];
}

bool is_called(const Port& port, std::string_view name) {
  return port.name == name || (port.role != runtime::PortRole::kOutput && port.name == std::string(name) + "_in");
}

}  // namespace

leapp_status keep(leapp_status status, std::string_view message) noexcept {
  try {
    last_error = message;
  } catch (...) {
    last_error.clear();
  }
  return status;
}

leapp_status keep(const Status& status) noexcept {
  return status.ok() ? LEAPP_OK : keep(number_of(status.code()), status.message());
}

leapp_port describe(const Port& port) noexcept {
  leapp_port made{};
  made.role = static_cast<std::int32_t>(port.role);
  made.name = port.name.c_str();
  made.node = port.node.c_str();
  made.kind = port.kind ? port.kind->c_str() : nullptr;
  made.dtype = static_cast<std::int32_t>(port.dtype);
  made.temporal_axis = port.temporal_axis ? static_cast<std::int32_t>(port.temporal_axis->axis) : -1;
  made.temporal_period_ms = port.temporal_axis ? port.temporal_axis->period_ms : 0;
  made.frequency = port.frequency.value_or(0);
  made.shape = port.shape.data();
  made.rank = port.shape.size();
  made.elements = port.size();
  made.bytes = port.size() * dtype_size(port.dtype);
  made.data = port.data;
  return made;
}

Result<const Port*> find_port(const leapp_pipeline* pipeline, std::int32_t role, const char* name) {
  LEAPP_ASSIGN_OR_RETURN(const std::vector<Port>* ports, ports_of(pipeline, role));
  if (name == nullptr) return null("name");
  for (const Port& port : *ports) {
    if (is_called(port, name)) return &port;
  }
  return not_found("there is no such port \"" + std::string(name) + "\"; there are " + runtime::describe(*ports));
}

}  // namespace leapp::c

using leapp::c::guarded;
using leapp::c::null;
using leapp::runtime::Port;

static_assert(LEAPP_BOOL == static_cast<int>(leapp::DType::kBool));
static_assert(LEAPP_BFLOAT16 == static_cast<int>(leapp::DType::kBFloat16));
static_assert(LEAPP_RESET_FIRST_FRAME == static_cast<int>(leapp::runtime::ResetMode::kFirstFrame));
static_assert(LEAPP_FEEDBACK == static_cast<int>(leapp::runtime::PortRole::kFeedback));

extern "C" {

uint32_t leapp_abi_version(void) { return LEAPP_ABI_VERSION; }
const char* leapp_version(void) { return LEAPP_VERSION; }
const char* leapp_error(void) { return leapp::c::last_error.c_str(); }

leapp_status leapp_load(const char* bundle, const leapp_load_options* options, leapp_pipeline** pipeline) {
  return guarded([&]() -> leapp::Status {
    if (bundle == nullptr) return null("bundle");
    if (pipeline == nullptr) return null("pipeline");
    *pipeline = nullptr;
    LEAPP_ASSIGN_OR_RETURN(const leapp::runtime::LoadOptions known, leapp::c::load_options(options));
    LEAPP_ASSIGN_OR_RETURN(leapp::runtime::Pipeline loaded, leapp::runtime::Pipeline::load(bundle, known));
    *pipeline = new leapp_pipeline(std::move(loaded));
    return {};
  });
}

void leapp_free(leapp_pipeline* pipeline) { delete pipeline; }

leapp_status leapp_step(leapp_pipeline* pipeline) {
  if (pipeline == nullptr) return guarded([] { return null("pipeline"); });
  const auto result = pipeline->pipeline.step();
  if (result == leapp::runtime::StepResult::kOk) return LEAPP_OK;
  if (result == leapp::runtime::StepResult::kBusy) {
    return leapp::c::keep(LEAPP_FAILED_PRECONDITION, "another thread is in the middle of a step of this pipeline");
  }
  const leapp_status status = guarded([&] { return pipeline->pipeline.error(); });
  if (result == leapp::runtime::StepResult::kRefused) return LEAPP_REFUSED;
  return status == LEAPP_OK ? LEAPP_INTERNAL : status;
}

leapp_status leapp_reset(leapp_pipeline* pipeline, int32_t mode) {
  return guarded([&]() -> leapp::Status {
    if (pipeline == nullptr) return null("pipeline");
    if (mode < LEAPP_RESET_EXPORTED || mode > LEAPP_RESET_FIRST_FRAME) {
      return leapp::invalid_argument(
          "mode: expected LEAPP_RESET_EXPORTED, LEAPP_RESET_ZEROS or LEAPP_RESET_FIRST_FRAME, found " +
          std::to_string(mode));
    }
    return pipeline->pipeline.reset(static_cast<leapp::runtime::ResetMode>(mode));
  });
}

double leapp_frequency(const leapp_pipeline* pipeline) {
  return pipeline == nullptr ? 0 : pipeline->pipeline.frequency().value_or(0);
}

size_t leapp_port_count(const leapp_pipeline* pipeline, int32_t role) {
  std::size_t count = 0;
  (void)guarded([&]() -> leapp::Status {
    LEAPP_ASSIGN_OR_RETURN(const std::vector<Port>* ports, leapp::c::ports_of(pipeline, role));
    count = ports->size();
    return {};
  });
  return count;
}

leapp_status leapp_port_at(const leapp_pipeline* pipeline, int32_t role, size_t index, leapp_port* port) {
  return guarded([&]() -> leapp::Status {
    LEAPP_ASSIGN_OR_RETURN(const std::vector<Port>* ports, leapp::c::ports_of(pipeline, role));
    if (index >= ports->size()) {
      return leapp::not_found("there is no port " + std::to_string(index) + "; there are " +
                              std::to_string(ports->size()));
    }
    return leapp::c::give(leapp::c::describe((*ports)[index]), port, "leapp_port");
  });
}

leapp_status leapp_port_named(const leapp_pipeline* pipeline, int32_t role, const char* name, leapp_port* port) {
  return guarded([&]() -> leapp::Status {
    LEAPP_ASSIGN_OR_RETURN(const Port* found, leapp::c::find_port(pipeline, role, name));
    return leapp::c::give(leapp::c::describe(*found), port, "leapp_port");
  });
}

leapp_status leapp_port_of_kind(const leapp_pipeline* pipeline, int32_t role, const char* kind, leapp_port* port) {
  return guarded([&]() -> leapp::Status {
    LEAPP_ASSIGN_OR_RETURN(const std::vector<Port>* ports, leapp::c::ports_of(pipeline, role));
    if (kind == nullptr) return null("kind");
    LEAPP_ASSIGN_OR_RETURN(const Port wanted, leapp::runtime::port_of_kind(*ports, kind));
    LEAPP_ASSIGN_OR_RETURN(const Port* found, leapp::c::find_port(pipeline, role, wanted.name.c_str()));
    return leapp::c::give(leapp::c::describe(*found), port, "leapp_port");
  });
}

const char* leapp_element_name(const leapp_pipeline* pipeline, int32_t role, const char* name, size_t axis,
                               size_t place) {
  const char* found = nullptr;
  (void)guarded([&]() -> leapp::Status {
    LEAPP_ASSIGN_OR_RETURN(const Port* port, leapp::c::find_port(pipeline, role, name));
    if (axis >= port->element_names.size() || !port->element_names[axis]) return {};
    if (place < port->element_names[axis]->size()) found = (*port->element_names[axis])[place].c_str();
    return {};
  });
  return found;
}

leapp_status leapp_feedback(leapp_pipeline* pipeline, const char* name, void** data, size_t* bytes) {
  return guarded([&]() -> leapp::Status {
    if (pipeline == nullptr || name == nullptr || data == nullptr) return null("pipeline, name or data");
    LEAPP_ASSIGN_OR_RETURN(const leapp::TensorView view, pipeline->pipeline.feedback_input(name));
    *data = view.data;
    if (bytes != nullptr) *bytes = view.size() * leapp::dtype_size(view.dtype);
    return {};
  });
}

}  // extern "C"
