// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "runtime/reload/staged_bundle.h"

namespace leapp::runtime {
namespace {

const Port* find(const std::vector<Port>& ports, const std::string& name) {
  const auto at = std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.name == name; });
  return at == ports.end() ? nullptr : &*at;
}

const char* role_text(const Port& port) { return port.role == PortRole::kInput ? "input" : "output"; }

std::string kind_text(const Port& port) { return port.kind ? quote(*port.kind) : "none"; }

std::string names_text(const bundle::AxisNames& names) {
  return names ? fmt::format("[{}]", join(*names, ", ")) : "none";
}

std::string moments_text(const Port& port) {
  if (!port.temporal_axis) return "none";
  return fmt::format("axis {} every {} ms", port.temporal_axis->axis, port.temporal_axis->period_ms);
}

std::string frequency_text(const Port& port) { return port.frequency ? fmt::format("{} Hz", *port.frequency) : "none"; }

class Differences {
 public:
  void ports(const Port& a, const Port& b) {
    both(a, "", type_text(a.dtype, a.shape), type_text(b.dtype, b.shape));
    both(a, "kind ", kind_text(a), kind_text(b));
    for (std::size_t i = 0; i < std::min(a.element_names.size(), b.element_names.size()); ++i) {
      both(a, fmt::format("names of axis {} ", i), names_text(a.element_names[i]), names_text(b.element_names[i]));
    }
    both(a, "moments ", moments_text(a), moments_text(b));
  }

  void both(const Port& port, const std::string& what, const std::string& running, const std::string& fresh) {
    if (running == fresh) return;
    add(fmt::format("{}: {}{} in the running bundle, {} in the new one", port.name, what, running, fresh));
  }

  void only(const Port& port, const char* where) {
    add(fmt::format("the {} {} is only in {}", role_text(port), port.name, where));
  }
  void add(const std::string& text) { texts_.push_back(text); }

  [[nodiscard]] Status status() const {
    if (texts_.empty()) return {};
    return invalid_argument("the ports do not agree: " + join(texts_, "; "));
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace

Status check_agreement(const std::vector<Port>& running, const std::vector<Port>& fresh) {
  Differences found;
  for (const Port& port : running) {
    const Port* other = find(fresh, port.name);
    if (other == nullptr) {
      found.only(port, "the running bundle");
    } else {
      found.ports(port, *other);
    }
  }
  for (const Port& port : fresh) {
    if (find(running, port.name) == nullptr) found.only(port, "the new one");
  }
  if (!running.empty() && !fresh.empty() && running[0].frequency != fresh[0].frequency) {
    found.add(fmt::format("frequency: {} in the running bundle, {} in the new one", frequency_text(running[0]),
                          frequency_text(fresh[0])));
  }
  return found.status();
}

}  // namespace leapp::runtime
