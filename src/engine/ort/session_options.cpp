// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/session_options.h"

#include <fmt/format.h>

#include <cstring>

namespace leapp::engine::ort {
namespace {

constexpr const char* kCuda = "CUDAExecutionProvider";

// Rewrites that change what right models compute: docs/design/onnx_runtime_rewrites.md says what each does. By the
// names that ONNX Runtime has for them; it knows other levels, but the first of them has four of these five already.
constexpr const char* kWrongRewrites =
    "DivMulFusion;GemmTransposeFusion;MatMul_BatchNormalization_Fusion;MatmulTransposeFusion;Pad_Fusion";

constexpr const char* kWrongRewritesAndFolding =
    "DivMulFusion;GemmTransposeFusion;MatMul_BatchNormalization_Fusion;MatmulTransposeFusion;Pad_Fusion;"
    "ConstantFolding";

GraphOptimizationLevel level(Optimisation optimisation) {
  switch (optimisation) {
    case Optimisation::kOff:
      return ORT_DISABLE_ALL;
    case Optimisation::kBasic:
      return ORT_ENABLE_BASIC;
    case Optimisation::kExtended:
      return ORT_ENABLE_EXTENDED;
    case Optimisation::kAll:
      return ORT_ENABLE_ALL;
  }
  return ORT_ENABLE_ALL;
}

Status check(const Options& options) {
  if (options.intra_op_threads < 1 || options.inter_op_threads < 1) {
    return invalid_argument(fmt::format("expected at least one thread, found intra_op_threads {}, inter_op_threads {}",
                                        options.intra_op_threads, options.inter_op_threads));
  }
  return {};
}

}  // namespace

Result<bool> offers_cuda(const OrtApi& api) {
  char** providers = nullptr;
  int count = 0;
  LEAPP_RETURN_IF_ORT_ERROR(api, api.GetAvailableProviders(&providers, &count));
  bool found = false;
  for (int i = 0; i < count; ++i) found = found || std::strcmp(providers[i], kCuda) == 0;
  LEAPP_RETURN_IF_ORT_ERROR(api, api.ReleaseAvailableProviders(providers, count));
  return found;
}

Result<Owned<OrtSessionOptions>> make_session_options(const OrtApi& api, const Options& options, bool fold_constants,
                                                      SessionLog& log) {
  LEAPP_RETURN_IF_ERROR(check(options));
  OrtSessionOptions* raw = nullptr;
  LEAPP_RETURN_IF_ORT_ERROR(api, api.CreateSessionOptions(&raw));
  Owned<OrtSessionOptions> result(raw, api.ReleaseSessionOptions);
  LEAPP_RETURN_IF_ORT_ERROR(api, api.SetUserLoggingFunction(raw, &SessionLog::add, &log));
  LEAPP_RETURN_IF_ORT_ERROR(api, api.SetSessionLogSeverityLevel(raw, ORT_LOGGING_LEVEL_WARNING));
  LEAPP_RETURN_IF_ORT_ERROR(api, api.SetIntraOpNumThreads(raw, options.intra_op_threads));
  LEAPP_RETURN_IF_ORT_ERROR(api, api.SetInterOpNumThreads(raw, options.inter_op_threads));
  LEAPP_RETURN_IF_ORT_ERROR(
      api, api.SetSessionExecutionMode(raw, options.inter_op_threads > 1 ? ORT_PARALLEL : ORT_SEQUENTIAL));
  LEAPP_RETURN_IF_ORT_ERROR(api, api.SetSessionGraphOptimizationLevel(raw, level(options.optimisation)));
  LEAPP_RETURN_IF_ORT_ERROR(api, api.AddSessionConfigEntry(raw, "optimization.disable_specified_optimizers",
                                                           fold_constants ? kWrongRewrites : kWrongRewritesAndFolding));
  // By default it looks at bytes or at the file's name, and reads what nobody has checked: a file that is an ONNX model
  // to others may be one of its own format too.
  LEAPP_RETURN_IF_ORT_ERROR(api, api.AddSessionConfigEntry(raw, "session.load_model_format", "ONNX"));
  for (const char* key : {"session.intra_op.allow_spinning", "session.inter_op.allow_spinning"}) {
    LEAPP_RETURN_IF_ORT_ERROR(api, api.AddSessionConfigEntry(raw, key, "0"));
  }
  if (!options.profile_prefix.empty()) {
    LEAPP_RETURN_IF_ORT_ERROR(api, api.EnableProfiling(raw, options.profile_prefix.c_str()));
  }
  return result;
}

Status book_session(const OrtApi& api, const Options& options, MemoryAccount* account, OrtSessionOptions* session) {
  LEAPP_RETURN_IF_ORT_ERROR(api, api.AddSessionConfigEntry(session, "session.use_env_allocators", "1"));
  const bool threads = options.intra_op_threads > 1 || options.inter_op_threads > 1;
  return threads ? book_threads(api, session, account) : Status();
}

Status append_cuda(const OrtApi& api, OrtSessionOptions* options) {
  OrtCUDAProviderOptionsV2* raw = nullptr;
  LEAPP_RETURN_IF_ORT_ERROR(api, api.CreateCUDAProviderOptions(&raw));
  const Owned<OrtCUDAProviderOptionsV2> cuda(raw, api.ReleaseCUDAProviderOptions);
  return take_status(api, api.SessionOptionsAppendExecutionProvider_CUDA_V2(options, raw));
}

}  // namespace leapp::engine::ort
