// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Closes the loop in C++: the bundle that export.py wrote drives the arm of arm.xml, in MuJoCo. No Python, no torch.
// Usage: mujoco_arm BUNDLE_FOLDER ARM.xml LIMITS.yaml FILE.csv [first_frame|exported|zeros] [SECONDS]
#include <mujoco/mujoco.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leapp/runtime/loop.h"
#include "leapp/runtime/name_map.h"
#include "leapp/runtime/pipeline.h"
#include "leapp/runtime/recorder.h"

namespace {

using namespace leapp::runtime;  // NOLINT
using leapp::Result;
using leapp::Status;

struct Arguments {
  std::string bundle, model, limits, file;
  ResetMode reset = ResetMode::kFirstFrame;
  double seconds = 8.0;
};

/// The robot: what drivers would be. Positions in the order of the joints, torques in that of the motors.
class Arm {
 public:
  static Result<Arm> load(const std::string& file) {
    std::array<char, 1000> error{};
    Arm arm;
    arm.model_.reset(mj_loadXML(file.c_str(), nullptr, error.data(), error.size()));
    if (!arm.model_) return leapp::invalid_argument(file + ": " + error.data());
    arm.data_.reset(mj_makeData(arm.model_.get()));
    return arm;
  }

  [[nodiscard]] std::vector<std::string> joints() const { return names(mjOBJ_JOINT, static_cast<int>(model_->njnt)); }
  [[nodiscard]] std::vector<std::string> motors() const { return names(mjOBJ_ACTUATOR, static_cast<int>(model_->nu)); }

  void place(const char* joint, double angle) {
    data_->qpos[model_->jnt_qposadr[mj_name2id(model_.get(), mjOBJ_JOINT, joint)]] = angle;
    mj_forward(model_.get(), data_.get());
  }
  [[nodiscard]] std::span<const double> position() const { return {data_->qpos, static_cast<std::size_t>(model_->nq)}; }
  [[nodiscard]] std::span<double> torques() { return {data_->ctrl, static_cast<std::size_t>(model_->nu)}; }
  [[nodiscard]] const double* tip() const {
    return data_->site_xpos + std::ptrdiff_t{3} * mj_name2id(model_.get(), mjOBJ_SITE, "tip");
  }
  [[nodiscard]] double time() const { return data_->time; }
  [[nodiscard]] std::chrono::nanoseconds timestep() const {
    return std::chrono::nanoseconds(std::llround(model_->opt.timestep * 1e9));
  }
  void step() { mj_step(model_.get(), data_.get()); }

 private:
  struct Delete {
    void operator()(mjModel* model) const { mj_deleteModel(model); }
    void operator()(mjData* data) const { mj_deleteData(data); }
  };

  [[nodiscard]] std::vector<std::string> names(mjtObj kind, int count) const {
    std::vector<std::string> result;
    for (int i = 0; i < count; ++i) result.emplace_back(mj_id2name(model_.get(), kind, i));
    return result;
  }

  std::unique_ptr<mjModel, Delete> model_;
  std::unique_ptr<mjData, Delete> data_;
};

/// The simulation is the loop's clock: until the next call is due, the arm moves.
class SimulatedTime : public LoopClock {
 public:
  explicit SimulatedTime(Arm& arm) : arm_(arm) {}
  [[nodiscard]] Time now() noexcept override { return now_; }
  void sleep_until(Time time, const std::atomic<bool>& interrupted) noexcept override {
    for (; now_ < time && !interrupted; now_ += arm_.timestep()) arm_.step();
  }

 private:
  Arm& arm_;
  Time now_{};
};

/// Where the tip should be: an eight.
std::array<double, 2> target_at(double seconds) {
  const double phase = 2.0 * std::numbers::pi * 0.125 * seconds;
  return {0.6 + 0.15 * std::sin(phase), 0.05 + 0.2 * std::sin(2.0 * phase)};
}

void write_row(std::FILE* file, Arm& arm, std::span<const double> target) {
  std::fprintf(file, "%.17g", arm.time());
  for (const double value : arm.position()) std::fprintf(file, ",%.17g", value);
  for (const double value : arm.torques()) std::fprintf(file, ",%.17g", value);
  std::fprintf(file, ",%.17g,%.17g,%.17g,%.17g\n", arm.tip()[0], arm.tip()[2], target[0], target[1]);
}

Status control(const Arguments& arguments, std::FILE* file) {
  LEAPP_ASSIGN_OR_RETURN(Arm arm, Arm::load(arguments.model));
  for (const auto& [joint, angle] : {std::pair{"shoulder", -1.2}, {"elbow", 1.6}, {"wrist", 0.8}})
    arm.place(joint, angle);

  LEAPP_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::load(arguments.bundle));
  LEAPP_ASSIGN_OR_RETURN(const Port q, pipeline.input_of_kind("state/joint/position"));
  LEAPP_ASSIGN_OR_RETURN(const Port torque, pipeline.output_of_kind("target/joint/torques"));
  LEAPP_ASSIGN_OR_RETURN(const std::span<float> aim, pipeline.input<float>("policy/target"));
  LEAPP_ASSIGN_OR_RETURN(NameMap positions, NameMap::make(q, -1, arm.joints()));
  LEAPP_ASSIGN_OR_RETURN(NameMap torques, NameMap::make(torque, -1, arm.motors()));
  LEAPP_ASSIGN_OR_RETURN(const GuardRules limits, read_guards(arguments.limits));
  LEAPP_RETURN_IF_ERROR(pipeline.set_guards(limits));
  LEAPP_ASSIGN_OR_RETURN(Recorder recorder, Recorder::make(pipeline, arguments.file + ".mcap", {.overwrite = true}));
  LEAPP_RETURN_IF_ERROR(pipeline.reset(arguments.reset));
  SimulatedTime clock(arm);
  LEAPP_ASSIGN_OR_RETURN(Loop loop, Loop::make(pipeline, {.clock = &clock}));

  Status failure;
  std::size_t guarded = 0;
  const auto periods = static_cast<std::uint64_t>(arguments.seconds * loop.frequency());
  LEAPP_RETURN_IF_ERROR(loop.run([&](Tick& tick) {
    tick.set_input_time(clock.now());
    const auto target = target_at(static_cast<double>(tick.number) / loop.frequency());
    aim[0] = static_cast<float>(target[0]);
    aim[1] = static_cast<float>(target[1]);
    if (!positions.write(arm.position())) return false;
    const StepResult result = pipeline.step();
    recorder.record(tick);
    if (result != StepResult::kOk) return failure = pipeline.error(), false;
    guarded += pipeline.guard_event_count();
    if (!torques.read(arm.torques())) return false;
    write_row(file, arm, target);
    return tick.number + 1 < periods;
  }));
  const LoopSummary summary = loop.statistics().summary();
  std::printf("%s: %lu periods, %lu overruns, %zu values changed by guards\n", arguments.file.c_str(), summary.calls,
              summary.overruns, guarded);
  LEAPP_RETURN_IF_ERROR(recorder.close());
  return failure;
}

Result<Arguments> parse(int argc, char** argv) {
  if (argc < 5 || argc > 7) {
    return leapp::invalid_argument(
        "usage: mujoco_arm BUNDLE_FOLDER ARM.xml LIMITS.yaml FILE.csv [first_frame|exported|zeros] [SECONDS]");
  }
  Arguments arguments{argv[1], argv[2], argv[3], argv[4]};
  const std::string mode = argc > 5 ? argv[5] : "first_frame";
  if (mode != "first_frame" && mode != "exported" && mode != "zeros") {
    return leapp::invalid_argument("expected first_frame, exported or zeros, found " + mode);
  }
  if (mode != "first_frame") arguments.reset = mode == "zeros" ? ResetMode::kZeros : ResetMode::kExported;
  if (argc > 6) arguments.seconds = std::atof(argv[6]);
  return arguments;
}

Status run(const Arguments& arguments) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(arguments.file.c_str(), "w"), &std::fclose);
  if (!file) return leapp::invalid_argument(arguments.file + ": it cannot be written");
  std::fputs("time,shoulder,elbow,wrist,torque_elbow,torque_wrist,torque_shoulder,tip_x,tip_z,target_x,target_z\n",
             file.get());
  return control(arguments, file.get());
}

}  // namespace

int main(int argc, char** argv) {
  const Result<Arguments> arguments = parse(argc, argv);
  const Status status = arguments.ok() ? run(arguments.value()) : arguments.status();
  if (!status.ok()) std::fprintf(stderr, "mujoco_arm: %s\n", status.message().c_str());
  return status.ok() ? 0 : arguments.ok() ? 1 : 2;
}
