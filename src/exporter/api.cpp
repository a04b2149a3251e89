// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "base/log.h"
#include "capture/session.h"
#include "capture/source_location.h"
#include "exporter/compile.h"
#include "leapp/capture.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<capture::Session> active() {
  auto session = capture::current_session();
  return session && !session->stopped() ? session : nullptr;
}

/// The user's line behind a message that concerns a call of theirs.
Status with_location(const Status& status) {
  const capture::LocationId here = capture::current_location();
  if (here == 0) return status;
  return {status.code(), fmt::format("{} ({})", status.message(), capture::location_text(here))};
}

Result<fs::path> bundle_folder(const std::string& name, const std::string& save_path) {
  const fs::path path = (fs::path(save_path) / name).lexically_normal();
  const std::string last = fs::path(name).has_filename() ? fs::path(name).filename().string()
                                                         : fs::path(name).parent_path().filename().string();
  if (name.empty() || last.empty() || last == "." || last == "..") {
    return invalid_argument(fmt::format("start: name must end in the name of a graph, found '{}'", name));
  }
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

bool is_active() { return active() != nullptr; }

Status start(const std::string& name, const StartOptions& options) {
  LEAPP_ASSIGN_OR_RETURN(const fs::path folder, bundle_folder(name, options.save_path));
  if (options.max_cached_io < 0) {
    return invalid_argument(fmt::format("start: max_cached_io must be >= 0, found {}", options.max_cached_io));
  }
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) return io_error(fmt::format("start: cannot make the folder {}: {}", folder.string(), failure.message()));
  LEAPP_ASSIGN_OR_RETURN(std::unique_ptr<Logger> log, Logger::open(folder, options.verbose));
  if (const auto before = active()) {
    log->warning(fmt::format("start: the session '{}' is still active and is dropped", before->name()));
  }
  // The old session takes its hook with it before the new one installs its own.
  capture::set_current_session(nullptr);
  capture::set_current_session(
      std::make_shared<capture::Session>(folder.filename().string(), folder.string(), options, std::move(log)));
  return {};
}

Status stop() {
  const auto session = active();
  if (!session) return with_location(failed_precondition("stop: no session is active; call start first"));
  const Status status = session->stop();
  return status.ok() ? status : with_location(status);
}

Result<CompileReport> compile_graph(const CompileOptions& options) {
  const auto session = capture::current_session();
  if (!session) return with_location(failed_precondition("compile_graph: nothing was captured; call start first"));
  if (!session->stopped()) return with_location(failed_precondition("compile_graph: call stop first"));
  return exporter::compile(*session, options);
}

void name_tensor(const at::Tensor& tensor, const std::string& name, bool parameter) {
  if (const auto session = active(); session && tensor.defined()) session->name_tensor(tensor, name, parameter);
}

namespace annotate {
namespace {

std::vector<at::Tensor> values(const NamedTensors& tensors) {
  std::vector<at::Tensor> result;
  for (const auto& [name, tensor] : tensors) result.push_back(tensor);
  return result;
}

}  // namespace

Result<std::vector<at::Tensor>> input_tensors(const std::string& node, const NamedTensors& tensors) {
  const auto session = active();
  if (!session) return values(tensors);
  auto result = session->input_tensors(node, tensors);
  if (!result.ok()) return with_location(result.status());
  return result;
}

Result<std::vector<at::Tensor>> output_tensors(const std::string& node, const NamedTensors& tensors,
                                               const OutputOptions& options) {
  const auto session = active();
  if (!session) return values(tensors);
  auto result = session->output_tensors(node, tensors, options);
  if (!result.ok()) return with_location(result.status());
  return result;
}

}  // namespace annotate
}  // namespace leapp
