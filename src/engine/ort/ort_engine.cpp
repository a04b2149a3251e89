// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/ort_engine.h"

#include <fmt/format.h>

#include <utility>

#include "engine/ort/api.h"
#include "engine/ort/divisions.h"
#include "engine/ort/library.h"
#include "engine/ort/ort_model.h"
#include "engine/ort/session_log.h"
#include "engine/ort/session_options.h"

namespace leapp::engine {
namespace {

class OrtEngine final : public Engine {
 public:
  OrtEngine(const ort::Library* library, Options options) : library_(library), options_(std::move(options)) {}

  [[nodiscard]] const std::string& description() const override { return library_->description; }
  Result<std::unique_ptr<EngineModel>> load(const ModelSource& source) override;

 private:
  Result<ort::SessionParts> make_session(const ModelSource& source, bool cuda);
  Result<bool> wants_cuda() const;

  const ort::Library* library_;
  Options options_;
  std::shared_ptr<ort::MemoryAccount> memory_;  ///< of all that it loads
};

Result<bool> OrtEngine::wants_cuda() const {
  if (options_.provider == Provider::kCpu) return false;
  LEAPP_ASSIGN_OR_RETURN(const bool offered, ort::offers_cuda(*library_->api));
  if (!offered && options_.provider == Provider::kCuda) {
    return failed_precondition(
        fmt::format("provider: expected an ONNX Runtime with CUDA, found {}, which has none", library_->description));
  }
  return offered;
}

Result<ort::SessionParts> OrtEngine::make_session(const ModelSource& source, bool cuda) {
  const OrtApi& api = *library_->api;
  ort::SessionParts parts;
  parts.library = library_;
  parts.name = source.name;
  parts.stop = options_.stop;
  parts.log = std::make_unique<ort::SessionLog>();
  LEAPP_ASSIGN_OR_RETURN(auto options, ort::make_session_options(api, options_, source.fold_constants, *parts.log));
  if (cuda) LEAPP_RETURN_IF_ERROR(ort::append_cuda(api, options.get()));
  if (library_->counts_memory) {
    if (!memory_) memory_ = ort::MemoryAccount::open(memory_left(source));
    parts.memory = memory_;
    LEAPP_RETURN_IF_ERROR(ort::book_session(api, options_, memory_.get(), options.get()));
  }
  const ort::Booking booking(memory_.get());
  const ort::DivisionWatch divisions;
  OrtSession* session = nullptr;
  OrtStatus* status = source.bytes.empty()
                          ? api.CreateSession(library_->env, source.path.c_str(), options.get(), &session)
                          : api.CreateSessionFromArray(library_->env, source.bytes.data(), source.bytes.size(),
                                                       options.get(), &session);
  if (const Status failure = ort::take_status(api, status); !failure.ok()) {
    const std::string log = parts.log->text();
    return Status(failure.code(), fmt::format("cannot load {}: {} [{}{}]", source.name, failure.message(),
                                              library_->description, log.empty() ? "" : "; its log: " + log));
  }
  parts.session = {session, api.ReleaseSession};
  if (memory_) memory_->trim();  // no run will ask for what starting a session took
  if (!divisions.failed()) return parts;
  return failed_precondition(fmt::format("cannot load {}: {}, while ONNX Runtime worked out constants or shapes [{}]",
                                         source.name, ort::kFailedDivision, library_->description));
}

Result<std::unique_ptr<EngineModel>> OrtEngine::load(const ModelSource& source) {
  LEAPP_ASSIGN_OR_RETURN(const bool cuda, wants_cuda());
  auto parts = make_session(source, cuda);
  // A library built with CUDA on a machine without it: the provider is there and does not start.
  if (!parts.ok() && cuda && options_.provider == Provider::kAuto) parts = make_session(source, false);
  if (!parts.ok()) return parts.status();
  return ort::OrtModel::create(std::move(parts).value());
}

}  // namespace

Result<std::unique_ptr<Engine>> open_onnxruntime(const Options& options) {
  LEAPP_ASSIGN_OR_RETURN(const ort::Library* library, ort::find_library(options));
  return std::unique_ptr<Engine>(std::make_unique<OrtEngine>(library, options));
}

}  // namespace leapp::engine
