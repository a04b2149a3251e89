// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/front_end.h"

#include <ATen/core/Tensor.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <utility>

namespace leapp::capture {
namespace {

constexpr std::uintmax_t kLargestSource = 16U << 20U;

// Never destroyed: it may lead to Python, which has ended by then.
std::atomic<std::shared_ptr<FrontEnd>>& front_end_slot() {
  static auto* held = new std::atomic<std::shared_ptr<FrontEnd>>(std::make_shared<FrontEnd>());
  return *held;
}

}  // namespace

LocationId FrontEnd::location() { return 0; }
bool FrontEnd::name_parameters() { return false; }
bool FrontEnd::is_only_checked() { return false; }
std::string FrontEnd::holder_name(const at::Tensor&) { return ""; }
std::vector<Holder> FrontEnd::holders(const std::vector<at::Tensor>& tensors) {
  return std::vector<Holder>(tensors.size());
}
bool FrontEnd::interrupted() { return false; }
const exporter::PytorchExporters* FrontEnd::pytorch_exporters() { return nullptr; }

std::vector<std::string> FrontEnd::source_until(const std::string& file, int line) {
  std::error_code error;
  if (line <= 0 || !std::filesystem::is_regular_file(file, error)) return {};
  if (std::filesystem::file_size(file, error) > kLargestSource || error) return {};
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string text; static_cast<int>(lines.size()) < line && std::getline(stream, text);) lines.push_back(text);
  return static_cast<int>(lines.size()) == line ? lines : std::vector<std::string>();
}

std::shared_ptr<FrontEnd> front_end() { return front_end_slot().load(); }

void set_front_end(std::shared_ptr<FrontEnd> front_end) {
  front_end_slot().store(front_end ? std::move(front_end) : std::make_shared<FrontEnd>());
}

}  // namespace leapp::capture
