// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole bundle: its YAML, a line of five '=', the model m.onnx, another such line, the initial values s.safetensors.
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "leapp/runtime/pipeline.h"

namespace {

namespace fs = std::filesystem;

/// Where the files are, in memory where there is such a folder; gone with the process.
class Folder {
 public:
  Folder() {
    std::error_code error;
    const fs::path shared = "/dev/shm";
    path_ = (fs::is_directory(shared, error) ? shared : fs::temp_directory_path()) /
            ("leapp_fuzz." + std::to_string(::getpid())) / "b";
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_.parent_path(), error);
  }

  void write(const char* name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// All inputs of these bytes: 0xff are NaN, -1 and a bool that is neither true nor false, 0x7f the largest numbers.
void fill_inputs(leapp::runtime::Pipeline& pipeline, int byte) {
  for (const std::string& name : pipeline.inputs()) {
    const leapp::Result<leapp::TensorView> view = pipeline.input(name);
    if (!view.ok()) std::abort();
    const std::size_t bytes = view.value().size() * leapp::dtype_size(view.value().dtype);
    if (bytes > 0) std::memset(view.value().data, byte, bytes);
  }
}

}  // namespace

/// Any files end in an error, or in a pipeline that can be stepped and gives what it says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  static constexpr std::string_view kBorder = "\n=====\n";
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"b.yaml", "m.onnx", "s.safetensors"}) {
    const std::size_t end = rest.find(kBorder);
    folder.write(name, rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + kBorder.size());
  }
  leapp::runtime::LoadOptions options;
  options.memory_limit = std::uint64_t{16} << 20U;
  options.timeout = std::chrono::milliseconds(50);  // enough for what small models do; a loop is soon over
  options.allow_torchscript = false;
  options.engine.prefer = leapp::engine::Prefer::kNative;
  auto pipeline = leapp::runtime::Pipeline::load(folder.path(), options);
  if (!pipeline.ok()) {
    if (pipeline.status().message().empty()) std::abort();
    return 0;
  }
  for (const int byte : {0x00, 0xff, 0x7f}) {
    fill_inputs(pipeline.value(), byte);
    if (pipeline.value().step() != leapp::runtime::StepResult::kOk && pipeline.value().error().ok()) std::abort();
  }
  for (const std::string& name : pipeline.value().outputs()) {
    if (!pipeline.value().output(name).ok()) std::abort();
  }
  return 0;
}
