// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "load.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <utility>

#include "common/exceptions.h"
#include "engine/engine.h"
#include "interrupt.h"
#include "leapp/bundle/format.h"
#include "pt2_engine.h"
#include "runtime/pipeline/pipeline_access.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

/// The folder of the Python package `onnxruntime`, without importing it; empty when there is none.
std::string onnxruntime_package() {
  const Acquired lock;
  try {
    const nb::object spec = stay_at_the_end(
        [] { return nb::object(nb::module_::import_("importlib.util").attr("find_spec")("onnxruntime")); });
    if (spec.is_none()) return {};
    const nb::object folders = spec.attr("submodule_search_locations");
    return nb::cast<nb::str>(nb::object(folders[0])).c_str();
  } catch (const nb::python_error&) {
    return {};
  }
}

/// torch's libraries have to be there before ours that are linked to them.
Status import_torch(const std::string& backend) {
  const Acquired lock;
  try {
    stay_at_the_end([] { return nb::module_::import_("torch"); });
    return {};
  } catch (nb::python_error& error) {
    error.restore();
    return not_found(
        fmt::format("'{}' models need torch, which cannot be imported ({}); install it, or export the "
                    "nodes with 'onnx'",
                    backend, take_exception()));
  }
}

Result<std::unique_ptr<engine::Engine>> open_engine(const std::string& backend, engine::Options options) {
  const bundle::FormatInfo* known = bundle::find_format(backend);
  if (known != nullptr && known->needs_torch) LEAPP_RETURN_IF_ERROR(import_torch(backend));
  if (known != nullptr && known->format == bundle::ModelFormat::kPt2) return open_pt2_engine();
  const bool onnx = known != nullptr && known->format == bundle::ModelFormat::kOnnx;
  if (onnx && options.onnxruntime_package.empty()) options.onnxruntime_package = onnxruntime_package();
  return runtime::PipelineAccess::open_engine(backend, options);
}

}  // namespace

Result<runtime::Pipeline> load_anywhere(const std::filesystem::path& bundle, const runtime::LoadOptions& options) {
  runtime::LoadOptions own = options;
  // Ends one run at a time, and what runs meanwhile has another.
  if (!own.engine.stop) own.engine.stop = std::make_shared<engine::Stop>();
  const auto open = [engine = own.engine](const std::string& backend) { return open_engine(backend, engine); };
  return runtime::PipelineAccess::load(bundle, own, open);
}

runtime::Pipeline load_pipeline(const std::filesystem::path& bundle, const std::string& node,
                                const runtime::LoadOptions& options) {
  Interruptible interruptible(*options.engine.stop);
  const auto open = [engine = options.engine](const std::string& backend) { return open_engine(backend, engine); };
  const auto load = [&] {
    const Released others_may_run;
    return runtime::PipelineAccess::load_node(bundle, node, options, open);
  };
  auto pipeline = load();
  while (!pipeline.ok() && interruptible.was_interrupted()) pipeline = load();
  if (pipeline.ok()) return std::move(pipeline).value();
  // What is not found while loading is not a key but a library.
  raise(pipeline.status(), pipeline.status().code() == StatusCode::kNotFound ? "LeappImportError" : nullptr);
}

}  // namespace leapp::python
