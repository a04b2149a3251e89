// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "robot.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "common/exceptions.h"
#include "describe.h"
#include "leapp/runtime/chunks.h"
#include "leapp/runtime/guards.h"
#include "leapp/runtime/loop.h"
#include "leapp/runtime/name_map.h"
#include "numbers.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

using runtime::Port;
using runtime::PortRole;

nb::object none_or(const std::optional<double>& number) { return number ? nb::cast(*number) : nb::none(); }

/// What leapp.ports.Port is made from.
nb::tuple port_tuple(const Port& port) {
  nb::list shape;
  nb::list names;
  for (const std::int64_t extent : port.shape) shape.append(extent);
  for (const bundle::AxisNames& axis : port.element_names) {
    names.append(axis ? nb::tuple(nb::cast(*axis)) : nb::object(nb::none()));
  }
  nb::dict extra;
  for (const auto& [key, value] : port.extra) extra[key.c_str()] = to_python(value);
  const char* role = port.role == PortRole::kInput ? "input" : port.role == PortRole::kOutput ? "output" : "feedback";
  const auto& time = port.temporal_axis;
  return nb::make_tuple(port.name, port.node, role, port.kind, std::string(dtype_name(port.dtype)), nb::tuple(shape),
                        nb::tuple(names), time ? nb::cast(time->axis) : nb::none(),
                        time ? nb::cast(time->period_ms) : nb::none(), none_or(port.frequency), extra);
}

nb::list ports(Manager& manager, const std::string& role) {
  std::vector<Port> found;
  manager.with_pipeline([&](runtime::Pipeline& pipeline) {
    found = role == "input"    ? pipeline.input_ports()
            : role == "output" ? pipeline.output_ports()
                               : pipeline.feedback_ports();
  });
  nb::list list;
  for (const Port& port : found) list.append(port_tuple(port));
  return list;
}

std::string name_of_kind(Manager& manager, const std::string& kind, bool output) {
  Result<Port> found = not_found("");
  manager.with_pipeline([&](runtime::Pipeline& pipeline) {
    found = output ? pipeline.output_of_kind(kind) : pipeline.input_of_kind(kind);
  });
  return take(std::move(found)).name;
}

nb::dict zeros_input(Manager& manager) {
  std::vector<Port> found;
  manager.with_pipeline([&](runtime::Pipeline& pipeline) { found = pipeline.input_ports(); });
  nb::dict values;
  for (const Port& port : found) {
    const std::vector<std::byte> zeros(port.size() * dtype_size(port.dtype));
    values[port.name.c_str()] = array_of(port.name, port.dtype, port.shape, zeros);
  }
  return values;
}

void set_guards(Manager& manager, const std::optional<std::string>& text,
                const std::optional<std::filesystem::path>& file, bool bundle) {
  Status status;
  manager.with_pipeline([&](runtime::Pipeline& pipeline) {
    auto rules = text     ? runtime::parse_guards(*text)
                 : file   ? runtime::read_guards(*file)
                 : bundle ? runtime::guards_of(pipeline.spec())
                          : Result<runtime::GuardRules>(runtime::GuardRules());
    status = rules.ok() ? pipeline.set_guards(rules.value()) : rules.status();
  });
  check(status);
}

/// Of each event: port, element, its place and name as a text, cause, action, found, limit, became, a sentence.
nb::list guard_events(Manager& manager) {
  static constexpr const char* kCauses[] = {"non_finite", "below", "above", "rate"};
  static constexpr const char* kActions[] = {"pass", "clamp", "hold", "fail"};
  std::vector<std::pair<runtime::GuardEvent, std::string>> events;
  std::vector<std::string> names;
  manager.with_pipeline([&](runtime::Pipeline& pipeline) {
    for (const runtime::GuardEvent& event : pipeline.guard_events()) {
      events.emplace_back(event, pipeline.guard_text(event));
      names.push_back(pipeline.guards()[event.port].port);
    }
  });
  nb::list list;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& [event, text] = events[i];
    list.append(nb::make_tuple(names[i], event.element, kCauses[static_cast<int>(event.cause)],
                               kActions[static_cast<int>(event.action)], event.found, event.limit, event.became, text));
  }
  return list;
}

void set_last_good(Manager& manager, const std::string& port, nb::handle values) {
  const std::vector<double> numbers = numbers_of(values, port);
  Status status;
  manager.with_pipeline([&](runtime::Pipeline& pipeline) { status = pipeline.set_last_good(port, numbers); });
  check(status);
}

/// Arrays in the robot's order and in the port's.
class PythonNameMap {
 public:
  PythonNameMap(const std::string& name, const std::string& dtype, std::vector<std::int64_t> shape,
                std::vector<bundle::AxisNames> names, int axis, const std::vector<std::string>& robot,
                const runtime::Conversion& conversion)
      : port_(make_port(name, dtype, std::move(shape), std::move(names))),
        map_(take(runtime::NameMap::make(port_, axis, robot, conversion))),
        robot_shape_(port_.shape) {}

  [[nodiscard]] nb::object to_port(nb::handle robot) const {
    const std::vector<double> numbers = numbers_of(robot, port_.name);
    std::vector<std::byte> bytes(port_.size() * dtype_size(port_.dtype));
    expect_size(numbers.size());
    (void)map_.write_to(bytes.data(), numbers);
    return array_of(port_.name, port_.dtype, port_.shape, bytes);
  }

  [[nodiscard]] nb::object from_port(nb::handle value) const {
    ArrayIn array;
    array.open(value, port_.name);
    if (array.dtype() != port_.dtype || !std::ranges::equal(array.shape(), port_.shape)) {
      raise(invalid_argument(fmt::format("{}: expected {}, found {}", port_.name, type_text(port_.dtype, port_.shape),
                                         array.type_text())));
    }
    std::vector<std::byte> bytes(port_.size() * dtype_size(port_.dtype));
    array.copy_to(bytes.data());
    std::vector<double> numbers(port_.size());
    (void)map_.read_from(bytes.data(), numbers);
    const bool wide = port_.dtype == DType::kFloat64 || port_.dtype == DType::kInt64 || port_.dtype == DType::kInt32;
    return array_of(port_.name, wide ? DType::kFloat64 : DType::kFloat32, robot_shape_, numbers);
  }

 private:
  static Port make_port(const std::string& name, const std::string& dtype, std::vector<std::int64_t> shape,
                        std::vector<bundle::AxisNames> names) {
    Port port;
    port.name = name;
    port.dtype = parse_dtype(dtype).value_or(DType::kFloat32);
    port.shape = std::move(shape);
    port.element_names = std::move(names);
    port.element_names.resize(port.shape.size());
    return port;
  }

  void expect_size(std::size_t found) const {
    if (found == map_.size()) return;
    raise(invalid_argument(fmt::format("{}: expected {} numbers in the robot's order ({}), found {}", port_.name,
                                       map_.size(), shape_text(robot_shape_), found)));
  }

  Port port_;
  runtime::NameMap map_;
  std::vector<std::int64_t> robot_shape_;
};

runtime::Time time_of(double seconds) {
  if (!std::isfinite(seconds) || std::abs(seconds) > 9e9) {
    raise(invalid_argument(fmt::format("time: expected seconds of time.monotonic(), found {}", seconds)));
  }
  return runtime::Time(std::chrono::nanoseconds(std::llround(seconds * 1e9)));
}

double seconds_of(runtime::Time time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

/// Plays an output of a manager, which outlives it.
class PythonChunks {
 public:
  PythonChunks(Manager& manager, const std::string& output, const std::string& mode, double overlap_ms)
      : manager_(&manager) {
    const runtime::ChunkMode known = mode == "hold"     ? runtime::ChunkMode::kHold
                                     : mode == "linear" ? runtime::ChunkMode::kLinear
                                                        : runtime::ChunkMode::kBlend;
    if (known == runtime::ChunkMode::kBlend && mode != "blend") {
      raise(invalid_argument(fmt::format("mode: expected \"hold\", \"linear\" or \"blend\", found {}", quote(mode))));
    }
    Status status;
    manager.with_pipeline([&](runtime::Pipeline& pipeline) {
      const auto port = pipeline.output_port(output);
      if (!port.ok()) return void(status = port.status());
      auto made = runtime::ChunkPlayer::make(port.value(), {.mode = known, .overlap_ms = overlap_ms});
      if (!made.ok()) return void(status = made.status());
      player_ = std::make_unique<runtime::ChunkPlayer>(std::move(made).value());
    });
    check(status);
  }

  void take(double start) {
    const runtime::Time time = time_of(start);
    manager_->with_pipeline([&](runtime::Pipeline&) { player_->take(time); });
  }

  /// What state it is in, and the array; None while it is empty.
  nb::tuple play(double time) {
    static constexpr const char* kResults[] = {"playing", "before", "ended", "empty"};
    const runtime::ChunkResult result = player_->play(time_of(time));
    const Port& port = player_->port();
    const auto* bytes = static_cast<const std::byte*>(port.data);
    nb::object values = nb::none();
    if (result != runtime::ChunkResult::kEmpty) {
      values = array_of(port.name, port.dtype, port.shape,
                        std::vector<std::byte>(bytes, bytes + port.size() * dtype_size(port.dtype)));
    }
    return nb::make_tuple(kResults[static_cast<int>(result)], values);
  }

  [[nodiscard]] nb::tuple port() const { return port_tuple(player_->port()); }
  [[nodiscard]] double length() const { return std::chrono::duration<double>(player_->length()).count(); }

 private:
  Manager* manager_;
  std::unique_ptr<runtime::ChunkPlayer> player_;
};

nb::dict durations(const runtime::DurationSummary& summary) {
  nb::dict made;
  made["count"] = summary.count;
  made["mean"] = summary.mean * 1e-9;
  made["p50"] = static_cast<double>(summary.p50) * 1e-9;
  made["p99"] = static_cast<double>(summary.p99) * 1e-9;
  made["p999"] = static_cast<double>(summary.p999) * 1e-9;
  made["max"] = static_cast<double>(summary.max) * 1e-9;
  return made;
}

/// The system's, which Python's signal handlers wake up: a loop of one call in a minute ends with Ctrl-C at once.
class PythonClock final : public runtime::LoopClock {
 public:
  [[nodiscard]] runtime::Time now() noexcept override { return std::chrono::steady_clock::now(); }

  void sleep_until(runtime::Time time, const std::atomic<bool>& interrupted) noexcept override {
    constexpr std::chrono::milliseconds kPiece{100};
    for (runtime::Time now = this->now(); now < time && !interrupted && !raised_; now = this->now()) {
      const std::int64_t at = std::chrono::nanoseconds(std::min(time, now + kPiece).time_since_epoch()).count();
      const timespec until{.tv_sec = at / 1'000'000'000, .tv_nsec = at % 1'000'000'000};
      const bool woken = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR;
      if (!is_main_thread() || (!woken && now + kPiece >= time)) continue;
      const Acquired ours;
      if (PyErr_CheckSignals() != 0) raised_.emplace();  // takes the exception
    }
  }

  /// Raises what a handler has raised. REQUIRES: Python's lock.
  void raise() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (auto raised = std::exchange(raised_, std::nullopt)) throw nb::python_error(std::move(*raised));
  }

 private:
  std::optional<nb::python_error> raised_;
};

bool is_false(nb::handle result) {
  if (result.is_none() || result.is(Py_True)) return false;
  const std::string type = type_text(result);  // Python's and NumPy's
  return (type == "bool" || type == "bool_") && PyObject_IsTrue(result.ptr()) == 0;
}

class PythonLoop {
 public:
  PythonLoop(double frequency, bool stop_at_overrun, runtime::RealtimeOptions realtime)
      : loop_(python::take(
            runtime::Loop::make({.frequency = frequency,
                                 .overrun = stop_at_overrun ? runtime::Overrun::kStop : runtime::Overrun::kSkip,
                                 .realtime = std::move(realtime),
                                 .clock = &clock_}))) {}

  void run(nb::callable call) {
    if (running_.exchange(true)) raise(failed_precondition("this Loop is running already"));
    const Running until_the_end(running_);
    const Status status = unlocked([&] {
      return loop_.run([&](runtime::Tick& tick) {
        const Acquired ours;
        clock_.raise();
        const nb::object seen = nb::cast(&tick, nb::rv_policy::copy);
        const nb::object result = stay_at_the_end([&] { return call(seen); });
        tick = nb::cast<runtime::Tick&>(seen);
        return !is_false(result);
      });
    });
    check(status);
  }

  void stop() { loop_.stop(); }
  [[nodiscard]] double frequency() const { return loop_.frequency(); }
  [[nodiscard]] std::vector<std::string> notes() const { return loop_.notes(); }
  [[nodiscard]] nb::dict statistics() const {
    const runtime::LoopSummary summary = loop_.statistics().summary();
    nb::dict made;
    made["calls"] = summary.calls;
    made["overruns"] = summary.overruns;
    made["skipped"] = summary.skipped;
    made["step"] = durations(summary.step);
    made["lateness"] = durations(summary.lateness);
    made["input_age"] = durations(summary.input_age);
    return made;
  }

 private:
  struct Running {
    explicit Running(std::atomic<bool>& flag) : flag_(flag) {}
    ~Running() { flag_ = false; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    std::atomic<bool>& flag_;
  };

  PythonClock clock_;
  runtime::Loop loop_;
  std::atomic<bool> running_{false};
};

void bind_loop(nb::module_& module) {
  nb::class_<runtime::Tick>(module, "Tick")
      .def_prop_ro("number", [](const runtime::Tick& tick) { return tick.number; })
      .def_prop_ro("period", [](const runtime::Tick& tick) { return tick.period; })
      .def_prop_ro("deadline", [](const runtime::Tick& tick) { return seconds_of(tick.deadline); })
      .def_prop_ro("woken", [](const runtime::Tick& tick) { return seconds_of(tick.woken); })
      .def(
          "set_input_time", [](runtime::Tick& tick, double time) { tick.set_input_time(time_of(time)); },
          nb::arg("time"));
  nb::class_<PythonLoop>(module, "Loop")
      .def(
          "__init__",
          [](PythonLoop* self, double frequency, bool stop_at_overrun, std::vector<int> cpus, int fifo_priority,
             bool lock_memory, bool required) {
            new (self) PythonLoop(frequency, stop_at_overrun,
                                  {.cpus = std::move(cpus),
                                   .fifo_priority = fifo_priority,
                                   .lock_memory = lock_memory,
                                   .required = required});
          },
          nb::arg("frequency"), nb::arg("stop_at_overrun"), nb::arg("cpus"), nb::arg("fifo_priority"),
          nb::arg("lock_memory"), nb::arg("required"))
      .def("run", &PythonLoop::run, nb::arg("call"))
      .def("stop", &PythonLoop::stop)
      .def_prop_ro("frequency", &PythonLoop::frequency)
      .def_prop_ro("notes", &PythonLoop::notes)
      .def_prop_ro("statistics", &PythonLoop::statistics);
}

}  // namespace

void bind_robot(nb::module_& module, nb::class_<Manager>& manager) {
  manager.def("ports", &ports, nb::arg("role"))
      .def("name_of_kind", &name_of_kind, nb::arg("kind"), nb::arg("output"))
      .def("zeros_input", &zeros_input)
      .def("set_guards", &set_guards, nb::arg("text").none(), nb::arg("file").none(), nb::arg("bundle"))
      .def("guard_events", &guard_events)
      .def("set_last_good", &set_last_good, nb::arg("port"), nb::arg("values"))
      .def("forget_last_good",
           [](Manager& self) { self.with_pipeline([](runtime::Pipeline& pipeline) { pipeline.forget_last_good(); }); });
  nb::class_<PythonNameMap>(module, "NameMap")
      .def(
          "__init__",
          [](PythonNameMap* self, const std::string& name, const std::string& dtype, std::vector<std::int64_t> shape,
             std::vector<bundle::AxisNames> names, int axis, const std::vector<std::string>& robot,
             std::vector<double> scale, std::vector<double> offset, std::vector<double> sign) {
            new (self) PythonNameMap(name, dtype, std::move(shape), std::move(names), axis, robot,
                                     {std::move(scale), std::move(offset), std::move(sign)});
          },
          nb::arg("name"), nb::arg("dtype"), nb::arg("shape"), nb::arg("names"), nb::arg("axis"),
          nb::arg("robot_names"), nb::arg("scale"), nb::arg("offset"), nb::arg("sign"))
      .def("to_port", &PythonNameMap::to_port, nb::arg("robot"))
      .def("from_port", &PythonNameMap::from_port, nb::arg("value"));
  nb::class_<PythonChunks>(module, "ChunkPlayer")
      .def(nb::init<Manager&, const std::string&, const std::string&, double>(), nb::arg("manager"), nb::arg("output"),
           nb::arg("mode"), nb::arg("overlap_ms"), nb::keep_alive<1, 2>())
      .def("take", &PythonChunks::take, nb::arg("start"))
      .def("play", &PythonChunks::play, nb::arg("time"))
      .def_prop_ro("port", &PythonChunks::port)
      .def_prop_ro("length", &PythonChunks::length);
  bind_loop(module);
}

}  // namespace leapp::python
