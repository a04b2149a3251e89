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
#include "common/released.h"
#include "describe.h"
#include "interrupt.h"
#include "load.h"
#include "options.h"
#include "runtime/pipeline/mock.h"
#include "runtime/pipeline/pipeline_access.h"
#include "runtime/reload/worker.h"
#include "signing.h"

namespace nb = nanobind;

namespace leapp::python {

using std::chrono::milliseconds;

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

/// What a tensor holds, of its own. Made into an array when it is nobody's turn: that may run other Python code.
class Contents {
 public:
  Contents() = default;
  explicit Contents(const TensorView& view) : Contents(view.dtype, {view.shape.begin(), view.shape.end()}) {
    std::memcpy(bytes_.data(), view.data, bytes_.size());
  }
  /// Zeros.
  Contents(DType dtype, std::vector<std::int64_t> shape) : dtype_(dtype), shape_(std::move(shape)) {
    std::size_t size = dtype_size(dtype);
    for (const std::int64_t extent : shape_) size *= static_cast<std::size_t>(extent);
    bytes_.resize(size);
  }

  [[nodiscard]] nb::object to_array(const std::string& name) {
    const std::vector<PortInfo> port{port_info(name, {bytes_.data(), dtype_, shape_})};
    const ArrayLibrary library = ArrayLibrary::current();
    library.check(port);
    const ArrayOut made = library.make(port.front());
    std::memcpy(made.data, bytes_.data(), bytes_.size());
    return made.array;
  }

 private:
  DType dtype_ = DType::kFloat32;
  std::vector<std::int64_t> shape_;
  std::vector<std::byte> bytes_;
};

nb::dict as_dict(nb::handle inputs) {
  if (PyDict_Check(inputs.ptr())) return nb::borrow<nb::dict>(inputs);
  PyObject* dict = nb::hasattr(inputs, "keys")
                       ? PyObject_CallFunctionObjArgs(nb::handle(&PyDict_Type).ptr(), inputs.ptr(), nullptr)
                       : nullptr;
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
  /// Raises what Ctrl-C raises meanwhile. Nobody's when it did not come within `longest`: see has().
  explicit Turn(Manager& manager, milliseconds longest = kAsLongAsItTakes) : manager_(manager) {
    if (manager.running_ == std::this_thread::get_id()) {
      raise(failed_precondition("this InferenceManager is in the middle of a step, on this thread"));
    }
    has_ = manager.mutex_.try_lock() || wait(longest);
    if (!has_) return;
    manager.running_ = std::this_thread::get_id();
    manager.forks_ = runtime::fork_number();
  }
  ~Turn() {
    if (!has_) return;
    manager_.running_ = std::thread::id();
    manager_.mutex_.unlock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  [[nodiscard]] bool has() const { return has_; }

 private:
  static constexpr milliseconds kAsLongAsItTakes{std::chrono::hours(24 * 365)};

  bool wait(milliseconds longest) {
    if (manager_.forks_ != runtime::fork_number()) {
      raise(failed_precondition(
          "another thread was in the middle of a step when this process was forked: load the bundle again"));
    }
    // When Python ends, threads stay where they are, also one whose turn it is.
    constexpr milliseconds kPiece{100};
    constexpr milliseconds kLongestAtTheEnd{1000};
    for (milliseconds waited{0};; waited += kPiece) {
      {
        const Released others_may_run;  // whose turn it is needs Python's lock to finish
        if (manager_.mutex_.try_lock_for(std::min(kPiece, longest - waited))) return true;
      }
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (waited + kPiece >= longest) return false;
      if (is_ending() && waited >= kLongestAtTheEnd) {
        raise(failed_precondition("Python ends while another thread is in the middle of a step"));
      }
    }
  }

  Manager& manager_;
  bool has_ = false;
};

Manager::Manager(const std::filesystem::path& bundle, const std::string& node, const runtime::LoadOptions& options,
                 nb::object on_missing)
    : stop_(options.engine.stop), pipeline_(load_pipeline(bundle, node, options)), on_missing_(std::move(on_missing)) {
  for (const std::string& name : pipeline_->inputs()) {
    input_views_.push_back(pipeline_->input(name).value());
    inputs_.push_back(port_info(name, input_views_.back()));
  }
  for (const std::string& name : pipeline_->outputs()) {
    output_views_.push_back(std::as_const(*pipeline_).output(name).value());
    outputs_.push_back(port_info(name, output_views_.back()));
  }
  look_at_states();
  input_names_ = names_of(inputs_);
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
  const std::string feedback = states_.empty() ? "" : fmt::format(", and the feedback inputs {}", list_text(states_));
  raise(not_found(fmt::format("there is no input {}; there are {}{}", quote(key), list_text(inputs_), feedback)));
}

Manager::Given Manager::sort_inputs(nb::handle inputs) {
  const nb::dict dict = as_dict(inputs);
  Given given{std::vector<nb::object>(inputs_.size()), std::vector<nb::object>(states_.size())};
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict.ptr(), &at, &key, &value) != 0;) {
    auto index = find(input_names_, key);
    const bool external = index.has_value();
    if (!external) index = find(state_names_, key);
    if (!index) raise_unknown(text_of(key));
    nb::object& place = (external ? given.inputs : given.states)[*index];
    if (place.is_valid()) {
      const std::string& name = (external ? inputs_ : states_)[*index].name;
      raise(invalid_argument(fmt::format("{} is given twice, with and without _in", name)));
    }
    place = nb::borrow(value);
  }
  return given;
}

/// Speaks of inputs that are not given: the first time of each, or always by an error.
void Manager::miss(const std::vector<nb::object>& inputs) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_valid() && !kept_[i]) missing.push_back(i);
  }
  if (missing.empty()) return;
  if (on_missing_.is_none()) {
    std::vector<std::string> names;
    for (const std::size_t i : missing) names.push_back(inputs_[i].name);
    raise(
        not_found(fmt::format("expected a value for each of {}; missing: {}", list_text(inputs_), join(names, ", "))));
  }
  for (const std::size_t i : missing) {
    kept_[i] = true;
    on_missing_(inputs_[i].key);
  }
}

void Manager::open(ArrayIn& array, nb::handle value, const PortInfo& port) {
  array.open(value, port.name);
  if (array.dtype() == port.dtype && std::ranges::equal(array.shape(), port.shape)) return;
  raise(invalid_argument(
      fmt::format("{}: expected {}, found {}", port.name, type_text(port.dtype, port.shape), array.type_text())));
}

std::vector<ArrayIn> Manager::open_all(const std::vector<nb::object>& values, const std::vector<PortInfo>& ports) {
  std::vector<ArrayIn> arrays(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_valid()) open(arrays[i], values[i], ports[i]);
  }
  return arrays;
}

Manager::Backup Manager::set_states(const std::vector<nb::object>& values, const std::vector<ArrayIn>& arrays) {
  Backup before;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_valid()) continue;
    const TensorView state = pipeline_->feedback_input(states_[i].name).value();
    const auto* bytes = static_cast<const std::byte*>(state.data);
    const bool history = runtime::PipelineAccess::fill_history(*pipeline_, states_[i].name, false);
    before.push_back({state, std::vector<std::byte>(bytes, bytes + bytes_of(state)), history ? states_[i].name : ""});
    arrays[i].copy_to(state.data);
  }
  return before;
}

void Manager::step(const Backup& before) {
  const auto restore = [&] {
    for (const Before& one : before) {
      std::memcpy(one.state.data, one.bytes.data(), one.bytes.size());
      if (!one.history.empty()) runtime::PipelineAccess::fill_history(*pipeline_, one.history, true);
    }
  };
  try {
    Interruptible interruptible(*stop_);
    do {
      const Released others_may_run;
      if (pipeline_->step() == runtime::StepResult::kOk) return;
    } while (interruptible.was_interrupted());
  } catch (const nb::python_error&) {
    restore();
    throw;
  }
  restore();
  raise(pipeline_->error());
}

nb::dict Manager::run(nb::handle inputs) {
  // What arrays are read with may be Python code, and nanobind lets nothing through when Python ends meanwhile.
  return stay_at_the_end([&] { return run_step(inputs); });
}

nb::dict Manager::run_step(nb::handle inputs) {
  const std::uint64_t bundle = bundles_;
  const Given given = sort_inputs(inputs);
  const std::vector<nb::object>& values = given.inputs;
  const std::vector<ArrayIn> arrays = open_all(values, inputs_);
  const std::vector<ArrayIn> states = open_all(given.states, states_);
  miss(values);
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
  if (bundle != bundles_) raise(failed_precondition("another thread swapped the bundle during this call; call again"));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_valid()) arrays[i].copy_to(input_views_[i].data);
  }
  step(set_states(given.states, states));
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
    raise(not_found(fmt::format("{} cannot be set: expected an input ({}) or a feedback input ({})", quote(key),
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
  const std::uint64_t bundle = bundles_;
  const std::string port = states_[state->second].name;
  open(array, value, states_[state->second]);
  const Turn turn(*this);
  if (bundle != bundles_) raise(failed_precondition("another thread swapped the bundle during this call; call again"));
  array.copy_to(pipeline_->feedback_input(port).value().data);
  runtime::PipelineAccess::fill_history(*pipeline_, port, false);
}

void Manager::reset(const std::string& mode) {
  const runtime::ResetMode wanted = reset_mode("mode", mode);
  const Turn turn(*this);
  check(pipeline_->reset(wanted));
}

void Manager::reset_row(std::size_t row, const std::string& mode) {
  const runtime::ResetMode wanted = reset_mode("mode", mode);
  const Turn turn(*this);
  check(pipeline_->reset_row(row, wanted));
}

nb::list Manager::histories() const {
  nb::list names;
  for (const std::string& name : pipeline_->histories()) names.append(name.c_str());
  return names;
}

void Manager::look_at_states() {
  std::vector<PortInfo> states;
  for (const std::string& name : pipeline_->feedback_inputs()) {
    states.push_back(port_info(name, pipeline_->feedback_input(name).value()));
  }
  states_ = std::move(states);
  state_names_ = names_of(states_);
  stop_ = runtime::PipelineAccess::stop_of(*pipeline_);
  ++bundles_;
}

nb::object Manager::signature() const {
  const auto& found = pipeline_->signature();
  return found ? nb::object(signature_tuple(*found)) : nb::none();
}

void Manager::with_pipeline(const std::function<void(runtime::Pipeline&)>& f) {
  const Turn turn(*this);
  f(*pipeline_);
}

bool Manager::with_pipeline_within(std::chrono::milliseconds longest,
                                   const std::function<void(runtime::Pipeline&)>& f) {
  const Turn turn(*this, longest);
  if (turn.has()) f(*pipeline_);
  return turn.has();
}

nb::dict Manager::mock_input(std::optional<std::uint64_t> seed) const {
  if (!seed) {
    std::random_device device;
    seed = std::uint64_t{device()} << 32U | device();
  }
  const ArrayLibrary library = ArrayLibrary::current();
  library.check(inputs_);
  nb::dict values;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const ArrayOut made = library.make(inputs_[i]);
    runtime::MockSource(*seed, inputs_[i].name).fill({made.data, inputs_[i].dtype, input_views_[i].shape});
    values[inputs_[i].key] = made.array;
  }
  return values;
}

std::optional<TensorView> Manager::input_view(const std::string& key) {
  if (const auto input = input_names_.find(key); input != input_names_.end()) return input_views_[input->second];
  if (const auto state = state_names_.find(key); state != state_names_.end()) {
    return pipeline_->feedback_input(states_[state->second].name).value();
  }
  return runtime::PipelineAccess::node_input(*pipeline_, key);
}

nb::object Manager::input_value(const std::string& key) {
  Contents contents;
  {
    const Turn turn(*this);
    const std::optional<TensorView> view = input_view(key);
    if (!view) {
      raise(
          not_found(fmt::format("{} cannot be looked at: there is no such input, or the nodes run as one model "
                                "(fuse=False keeps them apart)",
                                quote(key))));
    }
    contents = Contents(*view);
  }
  return contents.to_array(key);
}

nb::object Manager::output_value(const std::string& key) {
  const auto at = std::ranges::find(outputs_, key, &PortInfo::name);
  if (at == outputs_.end()) {
    raise(not_found(fmt::format("there is no output {}; there are {}", quote(key), list_text(outputs_))));
  }
  Contents contents;
  {
    const Turn turn(*this);
    contents = Contents(output_views_[static_cast<std::size_t>(at - outputs_.begin())]);
  }
  return contents.to_array(key);
}

nb::dict Manager::zeros(const std::string& node, bool inputs) const {
  nb::dict values;
  for (const bundle::Model& model : pipeline_->spec().models) {
    if (model.name != node) continue;
    for (const bundle::Port& port : inputs ? model.inputs : model.outputs) {
      values[port.name.c_str()] = Contents(port.dtype, port.shape).to_array(port.name);
    }
  }
  return values;
}

nb::list Manager::nodes() const {
  nb::list nodes;
  for (const bundle::Model& model : pipeline_->spec().models) {
    nodes.append(nb::make_tuple(safe_text(model.name), safe_text(*model.parameters.backend),
                                safe_text(*model.parameters.model_path), describe(model.inputs),
                                describe(model.outputs)));
  }
  return nodes;
}

nb::dict Manager::description() const { return describe(pipeline_->spec()); }

nb::list Manager::notes() const {
  nb::list notes;
  for (const std::string& note : pipeline_->notes()) notes.append(safe_text(note));
  return notes;
}

nb::list Manager::engines() const {
  nb::list models;
  for (const engine::Report& report : pipeline_->engine()) {
    nb::list operators;
    for (const engine::OperatorReport& row : report.operators) {
      operators.append(nb::make_tuple(safe_text(row.name), row.count, safe_text(row.why)));
    }
    models.append(nb::make_tuple(safe_text(report.model), safe_text(report.engine), report.native,
                                 safe_text(report.why), operators));
  }
  return models;
}

}  // namespace leapp::python
