// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/source_location.h"

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace leapp::capture {
namespace {

std::atomic<LocationProvider> g_provider{nullptr};
std::atomic<ModuleNamer> g_module_namer{nullptr};
std::atomic<CheckFinder> g_check_finder{nullptr};
std::atomic<HolderNamer> g_holder_namer{nullptr};
std::atomic<HolderFinder> g_holder_finder{nullptr};

struct Interned {
  std::mutex mutex;
  std::map<std::tuple<std::string, int, std::string>, LocationId> ids;
  std::vector<graph::SourceLocation> places{graph::SourceLocation{}};
};

Interned& interned() {
  static Interned table;
  return table;
}

}  // namespace

void set_location_provider(LocationProvider provider) { g_provider.store(provider); }

LocationId current_location() {
  const LocationProvider provider = g_provider.load(std::memory_order_relaxed);
  return provider ? provider() : 0;
}

void set_module_namer(ModuleNamer namer) { g_module_namer.store(namer); }

bool ask_for_names() {
  const ModuleNamer namer = g_module_namer.load(std::memory_order_relaxed);
  return namer && namer();
}

void set_check_finder(CheckFinder finder) { g_check_finder.store(finder); }

bool is_only_checked() {
  const CheckFinder finder = g_check_finder.load(std::memory_order_relaxed);
  return finder && finder();
}

void set_holder_namer(HolderNamer namer) { g_holder_namer.store(namer); }

std::string holder_name(const at::Tensor& tensor) {
  const HolderNamer namer = g_holder_namer.load(std::memory_order_relaxed);
  return namer && tensor.defined() ? namer(tensor) : std::string();
}

void set_holder_finder(HolderFinder finder) { g_holder_finder.store(finder); }

std::vector<Holder> find_holders(const std::vector<at::Tensor>& tensors) {
  const HolderFinder finder = g_holder_finder.load(std::memory_order_relaxed);
  std::vector<Holder> holders;
  if (finder && !tensors.empty()) holders = finder(tensors);
  holders.resize(tensors.size());
  return holders;
}

LocationId intern_location(const std::string& file, int line, const std::string& function) {
  Interned& table = interned();
  const std::lock_guard lock(table.mutex);
  auto [position, added] =
      table.ids.try_emplace(std::make_tuple(file, line, function), static_cast<LocationId>(table.places.size()));
  if (added) table.places.push_back({file, line, function});
  return position->second;
}

graph::SourceLocation location(LocationId id) {
  Interned& table = interned();
  const std::lock_guard lock(table.mutex);
  return table.places.at(id);
}

std::string location_text(LocationId id) {
  const graph::SourceLocation place = location(id);
  return place.file.empty() ? "" : fmt::format("{}:{}", place.file, place.line);
}

std::string line_prefix(LocationId id) {
  const std::string text = location_text(id);
  return text.empty() ? text : text + ": ";
}

std::string at_line(LocationId id) {
  const std::string text = location_text(id);
  return text.empty() ? text : " at " + text;
}

}  // namespace leapp::capture
