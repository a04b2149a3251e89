// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "fleet.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "common/exceptions.h"
#include "common/released.h"
#include "interrupt.h"
#include "leapp/bundle/reader.h"
#include "manager.h"
#include "options.h"
#include "runtime/pipeline/budget.h"
#include "runtime/pipeline/pipeline_access.h"
#include "runtime/pipeline/random_draws.h"
#include "runtime/recording/episodes.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

/// Dense memory of a Python object, held for as long as this lives.
class Memory {
 public:
  Memory(nb::handle object, bool writable, const std::string& what) {
    const int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) {
      PyErr_Clear();
      raise(wrong_type(fmt::format("{}: expected a dense array in memory{}", what, writable ? " to write to" : "")));
    }
  }
  ~Memory() { PyBuffer_Release(&view_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(view_.buf); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

using Memories = std::vector<std::unique_ptr<Memory>>;

void expect_size(const Memory& memory, std::size_t expected, const std::string& what) {
  if (memory.size() == expected) return;
  raise(invalid_argument(fmt::format("{}: expected {} bytes, found {}", what, expected, memory.size())));
}

std::size_t row_bytes(const TensorView& view, std::size_t batch) {
  return view.size() * dtype_size(view.dtype) / batch;
}

/// One element of the list that run_episodes is given: (steps, inputs, outputs, resets).
runtime::Episode episode_of(nb::handle given, runtime::Pipeline& pipeline, Memories& memories) {
  const auto [steps, inputs, outputs, resets] =
      nb::cast<std::tuple<std::size_t, nb::list, nb::list, std::vector<std::size_t>>>(given);
  runtime::Episode episode{.steps = steps, .resets = resets};
  if (nb::len(inputs) != pipeline.inputs().size() || nb::len(outputs) != pipeline.outputs().size()) {
    raise(invalid_argument("run_episodes: expected an array for every input and output"));
  }
  for (std::size_t i = 0; i < pipeline.inputs().size(); ++i) {
    const std::string& name = pipeline.inputs()[i];
    const std::size_t row = row_bytes(pipeline.input(name).value(), pipeline.batch());
    const Memory& memory = *memories.emplace_back(std::make_unique<Memory>(inputs[i], false, name));
    const bool held = steps != 1 && memory.size() == row;
    if (!held) expect_size(memory, steps * row, name);
    episode.inputs.push_back({memory.data(), held});
  }
  for (std::size_t i = 0; i < pipeline.outputs().size(); ++i) {
    const std::string& name = pipeline.outputs()[i];
    const std::size_t row = row_bytes(std::as_const(pipeline).output(name).value(), pipeline.batch());
    const Memory& memory = *memories.emplace_back(std::make_unique<Memory>(outputs[i], true, name));
    expect_size(memory, steps * row, name);
    episode.outputs.push_back(memory.data());
  }
  return episode;
}

/// None, or the step that failed and why.
nb::object run_episodes(Manager& manager, const nb::list& given, const std::string& reset) {
  const runtime::ResetMode mode = reset_mode("reset", reset);
  std::optional<runtime::EpisodeFailure> failure;
  manager.with_pipeline([&](runtime::Pipeline& pipeline) {
    if (nb::len(given) > pipeline.batch()) {
      raise(invalid_argument(
          fmt::format("run_episodes: expected at most {} episodes, found {}", pipeline.batch(), nb::len(given))));
    }
    Memories memories;
    std::vector<runtime::Episode> episodes;
    for (const nb::handle one : given) episodes.push_back(episode_of(one, pipeline, memories));
    Interruptible interruptible(*runtime::PipelineAccess::stop_of(pipeline));
    do {
      const Released others_may_run;
      failure = runtime::step_episodes(pipeline, episodes, mode);
    } while (failure && interruptible.was_interrupted());
  });
  if (!failure) return nb::none();
  return nb::make_tuple(failure->step, safe_text(failure->status.message()));
}

DType dtype_named(const std::string& name) {
  const auto dtype = parse_dtype(name);
  if (!dtype || !is_port_dtype(*dtype)) raise(invalid_argument(fmt::format("{} is no dtype of a port", quote(name))));
  return *dtype;
}

nb::tuple compare_series(nb::handle found, nb::handle expected, const std::string& dtype, std::size_t steps,
                         double rtol, double atol) {
  const Memory ours(found, false, "found");
  const Memory theirs(expected, false, "expected");
  const DType type = dtype_named(dtype);
  expect_size(theirs, ours.size(), "expected");
  const std::size_t elements = steps == 0 ? 0 : ours.size() / dtype_size(type) / steps;
  expect_size(ours, steps * elements * dtype_size(type), "found");
  runtime::SeriesDifference result;
  {
    const Released others_may_run;
    result = runtime::compare_series({ours.data(), theirs.data(), type, steps, elements}, rtol, atol);
  }
  return nb::make_tuple(nb::cast(result.worst), nb::cast(result.element), nb::cast(result.outside), result.sum,
                        result.sum_squares, result.compared, result.not_finite);
}

nb::tuple range_of(nb::handle values, const std::string& dtype) {
  const Memory memory(values, false, "values");
  const DType type = dtype_named(dtype);
  const runtime::SeriesRange range = runtime::range_of(memory.data(), type, memory.size() / dtype_size(type));
  return nb::make_tuple(range.least, range.most, range.sum, range.finite, range.not_finite);
}

nb::tuple episode_tuple(Result<runtime::EpisodeFile> read) {
  check(read.status());
  nb::list columns;
  for (const runtime::EpisodeColumn& column : read.value().columns) {
    const nb::bytes bytes(column.bytes.data(), column.bytes.size());
    columns.append(nb::make_tuple(safe_text(column.name), std::string(dtype_name(column.dtype)), column.shape, bytes));
  }
  return nb::make_tuple(columns, read.value().resets, read.value().note);
}

/// The YAML file, then the files it names, each with its name in the bundle; weights beside a model too.
std::vector<std::pair<std::string, std::filesystem::path>> bundle_files(const std::filesystem::path& bundle) {
  const auto yaml = bundle::locate_bundle(bundle);
  check(yaml.status());
  const auto spec = bundle::read_bundle(yaml.value());
  check(spec.status());
  std::vector<std::string> names;
  for (const bundle::Model& model : spec.value().models) {
    if (!model.parameters.model_path) continue;
    names.push_back(*model.parameters.model_path);
    names.push_back(names.back() + ".data");
  }
  if (const auto& initial = spec.value().pipeline.initial_values) names.push_back(*initial);
  std::vector<std::pair<std::string, std::filesystem::path>> files{{"", yaml.value()}};
  for (const std::string& name : names) {
    std::filesystem::path file = yaml.value().parent_path() / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error)) files.emplace_back(name, std::move(file));
  }
  return files;
}

}  // namespace

void bind_fleet(nb::module_& module) {
  module.def("run_episodes", &run_episodes, nb::arg("manager"), nb::arg("episodes"), nb::arg("reset"));
  module.def("compare_series", &compare_series, nb::arg("found"), nb::arg("expected"), nb::arg("dtype"),
             nb::arg("steps"), nb::arg("rtol"), nb::arg("atol"));
  module.def("range_of", &range_of, nb::arg("values"), nb::arg("dtype"));
  module.def(
      "bundle_files", [](const std::filesystem::path& bundle) { return bundle_files(bundle); }, nb::arg("bundle"));
  module.def("default_memory_limit", &runtime::default_memory_limit);
  module.def(
      "printable", [](const nb::bytes& text) { return printable(std::string_view(text.c_str(), text.size())); },
      nb::arg("text"));
  module.def(
      "draws_of",
      [](const std::filesystem::path& model) {
        const auto found = runtime::draws_of(model);
        check(found.status());
        constexpr std::array kNames{"none", "seeded", "unseeded"};
        return std::string(kNames.at(static_cast<std::size_t>(found.value())));
      },
      nb::arg("model"));
  module.def(
      "read_safetensors_episode",
      [](const std::filesystem::path& file) { return episode_tuple(runtime::read_safetensors_episode(file)); },
      nb::arg("file"));
  module.def(
      "read_recorded_episode",
      [](const std::filesystem::path& file, bool accept_cut) {
        return episode_tuple(runtime::read_recorded_episode(file, accept_cut));
      },
      nb::arg("file"), nb::arg("accept_cut"));
}

}  // namespace leapp::python
