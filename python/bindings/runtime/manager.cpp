// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "base/text.h"
#include "common/exceptions.h"
#include "describe.h"
#include "load.h"
#include "mock.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

nb::object interned(const std::string& text) {
  PyObject* key = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (key == nullptr) throw nb::python_error();
  PyUnicode_InternInPlace(&key);
  return nb::steal(key);
}

PortInfo port_info(const std::string& name, const TensorView& view) {
  PortInfo port{name, interned(name), view.dtype, {view.shape.begin(), view.shape.end()}, {}};
  nb::list extents;
  for (const std::int64_t extent : port.shape) extents.append(extent);
  port.extents = nb::tuple(extents);
  return port;
}

std::size_t bytes_of(const TensorView& view) { return view.size() * dtype_size(view.dtype); }

// A state's input is "X_in" where its output is "X_out"; it answers to "X" too.
std::map<std::string, std::size_t, std::less<>> names_of(const std::vector<PortInfo>& ports) {
  std::map<std::string, std::size_t, std::less<>> names;
  for (std::size_t i = 0; i < ports.size(); ++i) names.emplace(ports[i].name, i);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name.ends_with("_in")) names.emplace(ports[i].name.substr(0, ports[i].name.size() - 3), i);
  }
  return names;
}

std::string list_text(const std::vector<PortInfo>& ports) {
  std::vector<std::string> names;
  for (const PortInfo& port : ports) names.push_back(port.name);
  return names.empty() ? "none" : join(names, ", ");
}

nb::dict as_dict(nb::handle inputs) {
  if (PyDict_Check(inputs.ptr())) return nb::borrow<nb::dict>(inputs);
  PyObject* dict =
      nb::hasattr(inputs, "keys") ? PyObject_CallOneArg(nb::handle(&PyDict_Type).ptr(), inputs.ptr()) : nullptr;
  if (dict == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (dict == nullptr) {
    raise(wrong_type(fmt::format("expected a dict of \"node/port\" and array, found {}", type_text(inputs))));
  }
  return nb::steal<nb::dict>(dict);
}

}  // namespace

/// The pipeline belongs to this thread for as long as it lives.
class Manager::Turn {
 public:
  explicit Turn(Manager& manager) : manager_(manager) {
    if (manager.running_ == std::this_thread::get_id()) {
      raise(failed_precondition("this InferenceManager is in the middle of a step, on this thread"));
    }
    if (!manager.mutex_.try_lock()) {
      const nb::gil_scoped_release others_may_run;  // whose turn it is needs Python's lock to finish
      manager.mutex_.lock();
    }
    manager.running_ = std::this_thread::get_id();
  }
  ~Turn() {
    manager_.running_ = std::thread::id();
    manager_.mutex_.unlock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Manager& manager_;
};

Manager::Manager(const std::filesystem::path& bundle, const runtime::LoadOptions& options)
    : pipeline_(load_pipeline(bundle, options)) {
  for (const std::string& name : pipeline_->inputs()) {
    input_views_.push_back(pipeline_->input(name).value());
    inputs_.push_back(port_info(name, input_views_.back()));
  }
  for (const std::string& name : pipeline_->outputs()) {
    output_views_.push_back(std::as_const(*pipeline_).output(name).value());
    outputs_.push_back(port_info(name, output_views_.back()));
  }
  for (const std::string& name : pipeline_->feedback_inputs()) {
    states_.push_back(port_info(name, pipeline_->feedback_input(name).value()));
  }
  input_names_ = names_of(inputs_);
  state_names_ = names_of(states_);
  kept_.assign(inputs_.size(), false);
}

nb::list Manager::keys(const std::vector<PortInfo>& ports) {
  nb::list list;
  for (const PortInfo& port : ports) list.append(port.key);
  return list;
}

std::optional<std::size_t> Manager::find(const Names& names, nb::handle key) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_Check(key.ptr()) ? PyUnicode_AsUTF8AndSize(key.ptr(), &size) : nullptr;
  PyErr_Clear();
  if (text == nullptr) return std::nullopt;
  const auto found = names.find(std::string_view(text, static_cast<std::size_t>(size)));
  if (found == names.end()) return std::nullopt;
  return found->second;
}

void Manager::raise_unknown(std::string_view key) const {
  if (const auto state = state_names_.find(key); state != state_names_.end()) {
    raise(
        not_found(fmt::format("{} is a feedback input, which the step before gives: use set_input_value to replace it",
                              states_[state->second].name)));
  }
  raise(not_found(fmt::format("there is no input {}; there are {}", quote(key), list_text(inputs_))));
}

/// The caller's arrays in the order of inputs_; empty where there is none and none is needed.
std::vector<nb::object> Manager::sort_inputs(nb::handle inputs) const {
  const nb::dict dict = as_dict(inputs);
  std::vector<nb::object> values(inputs_.size());
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict.ptr(), &at, &key, &value) != 0;) {
    const auto index = find(input_names_, key);
    if (!index) raise_unknown(nb::str(nb::handle(key)).c_str());
    if (values[*index].is_valid()) {
      raise(invalid_argument(fmt::format("{} is given twice, with and without _in", inputs_[*index].name)));
    }
    values[*index] = nb::borrow(value);
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_valid() && !kept_[i]) missing.push_back(inputs_[i].name);
  }
  if (!missing.empty()) {
    raise(not_found(
        fmt::format("expected a value for each of {}; missing: {}", list_text(inputs_), join(missing, ", "))));
  }
  return values;
}

void Manager::open(ArrayIn& array, nb::handle value, const PortInfo& port) {
  array.open(value, port.name);
  if (array.dtype() == port.dtype && std::ranges::equal(array.shape(), port.shape)) return;
  raise(invalid_argument(
      fmt::format("{}: expected {}, found {}", port.name, type_text(port.dtype, port.shape), array.type_text())));
}

void Manager::step() {
  runtime::StepResult result{};
  {
    const nb::gil_scoped_release others_may_run;
    result = pipeline_->step();
  }
  if (result != runtime::StepResult::kOk) raise(pipeline_->error());
}

nb::dict Manager::run(nb::handle inputs) {
  const std::vector<nb::object> values = sort_inputs(inputs);
  std::vector<ArrayIn> arrays(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_valid()) open(arrays[i], values[i], inputs_[i]);
  }
  // Made before it is our turn: making them may run other Python code.
  const ArrayLibrary library = ArrayLibrary::current();
  library.check(outputs_);
  std::vector<void*> targets;
  targets.reserve(outputs_.size());
  nb::dict results;
  for (const PortInfo& port : outputs_) {
    const ArrayOut made = library.make(port);
    targets.push_back(made.data);
    results[port.key] = made.array;
  }
  const Turn turn(*this);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_valid()) arrays[i].copy_to(input_views_[i].data);
  }
  step();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    std::memcpy(targets[i], output_views_[i].data, bytes_of(output_views_[i]));
  }
  return results;
}

void Manager::set_input_value(const std::string& node, const std::string& name, nb::handle value) {
  const std::string key = node + "/" + name;
  const auto state = state_names_.find(key);
  const auto input = input_names_.find(key);
  if (state == state_names_.end() && input == input_names_.end()) {
    raise(not_found(fmt::format("{} can not be set: expected an input ({}) or a feedback input ({})", quote(key),
                                list_text(inputs_), list_text(states_))));
  }
  ArrayIn array;
  if (input != input_names_.end()) {
    open(array, value, inputs_[input->second]);
    const Turn turn(*this);
    array.copy_to(input_views_[input->second].data);
    kept_[input->second] = true;
    return;
  }
  open(array, value, states_[state->second]);
  const Turn turn(*this);
  array.copy_to(pipeline_->feedback_input(states_[state->second].name).value().data);
}

void Manager::reset(const std::string& mode) {
  if (mode != "exported" && mode != "zeros") {
    raise(invalid_argument(fmt::format("mode: expected \"exported\" or \"zeros\", found {}", quote(mode))));
  }
  const Turn turn(*this);
  pipeline_->reset(mode == "exported" ? runtime::ResetMode::kExported : runtime::ResetMode::kZeros);
}

nb::dict Manager::mock_input(std::optional<std::uint64_t> seed) const {
  std::random_device device;
  std::mt19937_64 generator(seed ? *seed : (std::uint64_t{device()} << 32U | device()));
  const ArrayLibrary library = ArrayLibrary::current();
  library.check(inputs_);
  nb::dict values;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const ArrayOut made = library.make(inputs_[i]);
    fill_random(inputs_[i].dtype, made.data, input_views_[i].size(), generator);
    values[inputs_[i].key] = made.array;
  }
  return values;
}

nb::list Manager::nodes() const {
  const auto describe_all = [](const std::vector<bundle::Port>& ports) {
    nb::list list;
    for (const bundle::Port& port : ports) list.append(describe(port));
    return list;
  };
  nb::list nodes;
  for (const bundle::Model& model : pipeline_->spec().models) {
    nodes.append(nb::make_tuple(model.name.c_str(), model.parameters.backend->c_str(),
                                model.parameters.model_path->c_str(), describe_all(model.inputs),
                                describe_all(model.outputs)));
  }
  return nodes;
}

}  // namespace leapp::python
