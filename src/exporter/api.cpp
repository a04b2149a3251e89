// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "bundle/folder/folder.h"
#include "capture/hook/torch_version.h"
#include "capture/session/front_end.h"
#include "capture/session/session.h"
#include "exporter/backend.h"
#include "exporter/compile.h"
#include "exporter/payload.h"
#include "leapp/capture.h"
#include "torch_types/failure.h"
#include "torch_types/torch_build.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

using capture::SessionUse;

StatusCode code_of(const Status& status) { return status.code(); }
template <typename T>
StatusCode code_of(const Result<T>& result) {
  return result.status().code();
}

/// What `call` gives; kOutOfMemory when memory ran out in it, with a text that needs none.
template <typename Call>
auto guarded(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "out of memory");
  } catch (const c10::Error& failure) {
    if (!is_out_of_memory(failure)) throw;
    return Status(StatusCode::kOutOfMemory, "out of memory");
  }
}

/// The user's line behind a message that concerns a call of theirs.
Status with_location(const Status& status) {
  const capture::LocationId here = capture::front_end()->location();
  if (here == 0) return status;
  return {status.code(), fmt::format("{} ({})", status.message(), capture::location_text(here))};
}

/// Places that were warned about values that are no tensors, since start().
struct Warned {
  std::mutex mutex;
  std::set<std::string> places;
};

Warned& warned() {
  static auto* places = new Warned();
  return *places;
}

void warn_of_no_tensors(capture::Session& session, const std::string& node, const std::vector<std::string>& leaves) {
  if (leaves.empty()) return;
  const capture::LocationId here = capture::front_end()->location();
  const std::string place = capture::line_prefix(here);
  const std::string what = join(leaves, ", ");
  {
    const std::lock_guard guard(warned().mutex);
    if (!warned().places.insert(place.empty() ? node + "/" + what : place).second) return;
  }
  session.recording().log->warning(
      fmt::format("{}node '{}': {} {} no tensor and becomes a constant of the model, with the value of the first call",
                  place, node, what, leaves.size() == 1 ? "is" : "are each"));
}

template <typename T>
Result<T> located(Result<T> result) {
  if (result.ok()) return result;
  return with_location(result.status());
}

Result<fs::path> bundle_folder(const std::string& name, const std::string& save_path) {
  // The program may work elsewhere by the time that it compiles.
  std::error_code failure;
  const fs::path path = fs::absolute(fs::path(save_path) / name, failure).lexically_normal();
  const std::string last = fs::path(name).has_filename() ? fs::path(name).filename().string()
                                                         : fs::path(name).parent_path().filename().string();
  if (name.empty() || last.empty() || last == "." || last == "..") {
    return invalid_argument(fmt::format("start: name must end in the name of a graph, found '{}'", name));
  }
  if (failure) {
    return io_error(fmt::format("start: cannot find the folder {}: {}", quote(save_path), failure.message()));
  }
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

bool is_active() {
  const auto session = capture::current_session();
  return session && session->active();
}

namespace {

/// Held by start() and stop(). What stop() asks the program for may be code of it that calls one of them.
std::recursive_mutex& lifecycle() {
  static std::recursive_mutex mutex;
  return mutex;
}

Status start_session(const std::string& name, const StartOptions& options) {
  LEAPP_ASSIGN_OR_RETURN(const fs::path folder, bundle_folder(name, options.save_path));
  if (options.max_cached_io < 0) {
    return invalid_argument(fmt::format("start: max_cached_io must be >= 0, found {}", options.max_cached_io));
  }
  if (const Status made = bundle::StagedFolder::make(folder); !made.ok())
    return {made.code(), "start: " + made.message()};
  LEAPP_ASSIGN_OR_RETURN(std::unique_ptr<Logger> log, Logger::open(folder, options.verbose));
  if (const auto before = capture::current_session(); before && before->active()) {
    log->warning(fmt::format("start: the session '{}' is still active and is dropped", before->recording().name));
    // It takes its hook with it before the new one installs its own.
    LEAPP_RETURN_IF_ERROR(before->drop());
  }
  {
    const std::lock_guard guard(warned().mutex);
    warned().places.clear();
  }
  capture::set_current_session(nullptr);
  capture::CaptureResult recording{
      .name = folder.filename().string(), .folder = folder.string(), .options = options, .log = std::move(log)};
  if (const std::string note = capture::newer_than_tried(running_torch()); !note.empty()) recording.log->info(note);
  capture::set_current_session(std::make_shared<capture::Session>(std::move(recording), capture::front_end()));
  return {};
}

}  // namespace

Status start(const std::string& name, const StartOptions& options) {
  const std::lock_guard one_at_a_time(lifecycle());
  return guarded([&] { return start_session(name, options); });
}

Status stop() {
  const std::lock_guard one_at_a_time(lifecycle());
  return guarded([]() -> Status {
    const auto session = capture::current_session();
    if (!session || !session->active())
      return with_location(failed_precondition("stop: no session is active; call start first"));
    const Status status = session->stop();
    return status.ok() ? status : with_location(status);
  });
}

Result<CompileReport> compile_graph(const CompileOptions& options) {
  return guarded([&]() -> Result<CompileReport> {
    const auto session = capture::current_session();
    if (!session) return with_location(failed_precondition("compile_graph: nothing was captured; call start first"));
    if (!session->stopped()) return with_location(failed_precondition("compile_graph: call stop first"));
    if (session->recording().lost != StatusCode::kOk)
      return with_location(capture::incomplete(session->recording().lost));
    return exporter::compile(session->recording(), options);
  });
}

void name_tensor(const at::Tensor& tensor, const std::string& name, bool parameter) {
  if (const SessionUse session; session && tensor.defined()) session->tensors().name(tensor, name, parameter);
}

bool is_live(const at::Tensor& tensor) {
  const SessionUse session;
  return session && tensor.defined() && session->tensors().is_live(tensor);
}

namespace annotate {
namespace {

/// The same for a call of the program: without it what is recorded is not the program, whatever comes after.
template <typename Call>
auto annotated(const Call& call) -> decltype(call()) {
  auto result = guarded(call);
  if (code_of(result) == StatusCode::kOutOfMemory) {
    if (const SessionUse session; session) session->mark_incomplete(StatusCode::kOutOfMemory);
  }
  return result;
}

std::vector<at::Tensor> values(const NamedTensors& tensors) {
  std::vector<at::Tensor> result;
  for (const auto& [name, tensor] : tensors) result.push_back(tensor);
  return result;
}

Result<std::vector<Nested>> announce(capture::Session& session, const std::string& node, const Payload& tensors) {
  LEAPP_ASSIGN_OR_RETURN(const exporter::FlatPayload flat, exporter::flatten(node, tensors));
  LEAPP_ASSIGN_OR_RETURN(const std::vector<at::Tensor> inputs, session.annotations().input_tensors(node, flat.ports));
  warn_of_no_tensors(session, node, flat.no_tensors);
  return exporter::rebuild(tensors, inputs);
}

Result<std::vector<Nested>> publish(capture::Session& session, const std::string& node, const Payload& tensors,
                                    const OutputOptions& options) {
  LEAPP_ASSIGN_OR_RETURN(const exporter::Backend backend, exporter::parse_backend(node, options));
  LEAPP_ASSIGN_OR_RETURN(const exporter::FlatPayload flat, exporter::flatten(node, tensors));
  LEAPP_ASSIGN_OR_RETURN(const exporter::FlatPayload constants, exporter::flatten(node, options.static_outputs));
  LEAPP_ASSIGN_OR_RETURN(
      const std::vector<at::Tensor> outputs,
      session.annotations().output_tensors(node, flat.ports, constants.ports, exporter::with_absolute_path(options)));
  warn_of_no_tensors(session, node, flat.no_tensors);
  warn_of_no_tensors(session, node, constants.no_tensors);
  return exporter::rebuild(tensors, outputs);
}

Result<std::vector<Nested>> watch(capture::Session& session, const std::string& node, const Payload& tensors) {
  LEAPP_ASSIGN_OR_RETURN(const exporter::FlatPayload flat, exporter::flatten(node, tensors));
  NamedTensors buffers;
  for (const capture::PortTensor& port : flat.ports) buffers.emplace_back(port.name, port.tensor);
  LEAPP_ASSIGN_OR_RETURN(const std::vector<at::Tensor> aliases, session.annotations().register_buffer(node, buffers));
  warn_of_no_tensors(session, node, flat.no_tensors);
  return exporter::rebuild(tensors, aliases);
}

}  // namespace

Result<std::vector<Nested>> input_tensors(const std::string& node, const Payload& tensors) {
  return annotated([&]() -> Result<std::vector<Nested>> {
    const SessionUse session;
    if (!session) return exporter::values_of(tensors);
    return located(announce(*session, node, tensors));
  });
}

Result<std::vector<Nested>> output_tensors(const std::string& node, const Payload& tensors,
                                           const OutputOptions& options) {
  return annotated([&]() -> Result<std::vector<Nested>> {
    const SessionUse session;
    if (!session) return exporter::values_of(tensors);
    return located(publish(*session, node, tensors, options));
  });
}

Result<std::vector<at::Tensor>> state_tensors(const std::string& node, const NamedTensors& tensors) {
  return annotated([&]() -> Result<std::vector<at::Tensor>> {
    const SessionUse session;
    return session ? located(session->annotations().state_tensors(node, tensors)) : values(tensors);
  });
}

Status reset_from(const std::string& node, const std::vector<std::string>& states, const std::string& from) {
  return annotated([&] {
    const SessionUse session;
    const Status said = session ? session->annotations().reset_from(node, states, from) : Status();
    return said.ok() ? said : with_location(said);
  });
}

Result<std::vector<at::Tensor>> update_state(const std::string& node, const NamedTensors& tensors) {
  return annotated([&]() -> Result<std::vector<at::Tensor>> {
    const SessionUse session;
    return session ? located(session->annotations().update_state(node, tensors)) : values(tensors);
  });
}

Result<std::vector<Nested>> register_buffer(const std::string& node, const Payload& tensors) {
  return annotated([&]() -> Result<std::vector<Nested>> {
    const SessionUse session;
    if (!session) return exporter::values_of(tensors);
    return located(watch(*session, node, tensors));
  });
}

Status module(const std::string& node, const std::vector<Buffer>& buffers) {
  return annotated([&]() -> Status {
    const SessionUse session;
    if (!session) return {};
    const Status status = session->annotations().module(node, buffers);
    return status.ok() ? status : with_location(status);
  });
}

Status mirror_leapp_tags(const at::Tensor& source, const at::Tensor& target) {
  return annotated([&]() -> Status {
    if (!source.defined() || !target.defined()) {
      return with_location(wrong_type("mirror_leapp_tags: expected two tensors, found none"));
    }
    const SessionUse session;
    if (!session) return {};
    const Status status = session->tensors().mirror(source, target);
    return status.ok() ? status : with_location(status);
  });
}

}  // namespace annotate
}  // namespace leapp
