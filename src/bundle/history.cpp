// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/bundle/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/shape.h"
#include "base/text.h"

namespace leapp::bundle {
namespace {

std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::int64_t frame_count(const HistoryPart& part, const Shape& shape) {
  if (!part.axis) return count_of(shape);
  const std::int64_t extent = shape[*part.axis];
  return extent == 0 ? 0 : count_of(shape) / extent * ((part.stop - part.start) / part.frames);
}

/// One part from what stands in the file. `place` is for messages.
class PartReader {
 public:
  PartReader(const YamlValue& value, const Shape& shape, std::string place)
      : value_(value), shape_(shape), place_(std::move(place)) {}

  Result<HistoryPart> run() {
    const auto* map = std::get_if<YamlMap>(&value_.data);
    if (map == nullptr) return error("expected a map such as {axis: 1, frames: 5, input: policy/obs}");
    for (const auto& [key, value] : *map) LEAPP_RETURN_IF_ERROR(read(key, value));
    LEAPP_RETURN_IF_ERROR(check_source());
    LEAPP_RETURN_IF_ERROR(check_range());
    return std::move(part_);
  }

 private:
  [[nodiscard]] Status error(const std::string& text) const { return invalid_argument(place_ + ": " + text); }

  Status integer(const std::string& key, const YamlValue& value, std::int64_t& to) {
    const auto* number = std::get_if<std::int64_t>(&value.data);
    if (number == nullptr || *number < 0) return error(fmt::format("{}: expected a whole number, 0 or more", key));
    to = *number;
    return {};
  }

  Status text(const std::string& key, const YamlValue& value, std::string& to) {
    const auto* name = std::get_if<std::string>(&value.data);
    if (name == nullptr || name->empty()) return error(fmt::format("{}: expected a port, \"node/port\"", key));
    to = *name;
    return {};
  }

  Status read(const std::string& key, const YamlValue& value) {
    if (key == "axis") {
      std::int64_t axis = 0;
      LEAPP_RETURN_IF_ERROR(integer(key, value, axis));
      if (axis >= std::ssize(shape_)) {
        return error(fmt::format("axis: expected one of the {} axes of the state, found {}", shape_.size(), axis));
      }
      part_.axis = static_cast<std::size_t>(axis);
      return {};
    }
    if (key == "start") return integer(key, value, part_.start);
    if (key == "stop") return stop_given_ = true, integer(key, value, part_.stop);
    if (key == "frames") return frames_given_ = true, integer(key, value, part_.frames);
    if (key == "size") return integer(key, value, part_.size);
    if (key == "input") return text(key, value, part_.input);
    if (key == "state") return text(key, value, part_.state);
    if (key == "newest") return read_newest(value);
    if (key == "of") return read_of(value);
    return error(
        fmt::format("unknown key {}; there are axis, frames, size, start, stop, newest, input, state, of", quote(key)));
  }

  Status read_newest(const YamlValue& value) {
    std::string which;
    LEAPP_RETURN_IF_ERROR(text("newest", value, which));
    if (which != "first" && which != "last") {
      return error(fmt::format("newest: expected first or last, found {}", quote(which)));
    }
    newest_given_ = true;
    part_.newest_first = which == "first";
    return {};
  }

  Status read_of(const YamlValue& value) {
    const auto* list = std::get_if<YamlList>(&value.data);
    if (list == nullptr || list->empty()) return error("of: expected a list of ports, \"node/port\"");
    for (const YamlValue& item : *list) {
      std::string name;
      LEAPP_RETURN_IF_ERROR(text("of", item, name));
      part_.of.push_back(std::move(name));
    }
    return {};
  }

  Status check_source() const {
    const int sources = (part_.input.empty() ? 0 : 1) + (part_.state.empty() ? 0 : 1) + (part_.of.empty() ? 0 : 1);
    if (sources != 1) return error(fmt::format("expected one of input, state, of; found {} of them", sources));
    if (!part_.state.empty() && part_.axis) return error("axis: expected none with state, which fills the whole state");
    if (newest_given_ && (!part_.axis || part_.of.empty())) return error("newest: only with axis and of");
    return {};
  }

  Status check_range() {
    if (!part_.axis) {
      if (stop_given_ || frames_given_ || part_.start != 0 || part_.size != 1) {
        return error("start, stop, frames, size: only with an axis");
      }
      return {};
    }
    const std::int64_t extent = shape_[*part_.axis];
    if (!stop_given_) part_.stop = extent;
    if (part_.start >= part_.stop || part_.stop > extent) {
      return error(
          fmt::format("start {} and stop {}: axis {} has {} places", part_.start, part_.stop, *part_.axis, extent));
    }
    const std::int64_t length = part_.stop - part_.start;
    if (part_.frames < 1 || part_.size < 1 || part_.frames > length / part_.size ||
        length % (part_.frames * part_.size) != 0) {
      return error(fmt::format("{} frames of {} places do not fill {} places of axis {}", part_.frames, part_.size,
                               length, *part_.axis));
    }
    return {};
  }

  const YamlValue& value_;
  const Shape& shape_;
  std::string place_;
  HistoryPart part_;
  bool stop_given_ = false;
  bool frames_given_ = false;
  bool newest_given_ = false;
};

const YamlValue* value_of(const Port& port) {
  const auto found =
      std::find_if(port.extra.begin(), port.extra.end(), [](const auto& entry) { return entry.first == kHistoryKey; });
  return found == port.extra.end() ? nullptr : &found->second;
}

/// Reads every history of a bundle and compares it with the ports it speaks of.
class HistoryReader {
 public:
  HistoryReader(const BundleSpec& spec, const Wiring& wiring) : spec_(spec) {
    for (const PortIndex at : wiring.inputs) given_[name_of(at)] = &port(at);
    for (const Edge& edge : wiring.edges) {
      if (edge.feedback) states_[name_of(edge.to)] = &port(edge.to);
    }
  }

  void run() {
    for (std::size_t i = 0; i < spec_.models.size(); ++i) {
      for (std::size_t k = 0; k < spec_.models[i].inputs.size(); ++k) read({i, k});
      for (const Port& output : spec_.models[i].outputs) {
        if (value_of(output) == nullptr) continue;
        problem(fmt::format("{}/{}: {} belongs to a feedback input, and this is an output", spec_.models[i].name,
                            output.name, kHistoryKey));
      }
    }
    if (problems.empty()) check_sources();
    if (problems.empty()) check_circles();
  }

  std::vector<History> histories;
  std::vector<Status> problems;

 private:
  [[nodiscard]] const Port& port(PortIndex at) const { return spec_.models[at.node].inputs[at.port]; }
  [[nodiscard]] std::string name_of(PortIndex at) const { return spec_.models[at.node].name + "/" + port(at).name; }
  void problem(std::string text) { problems.push_back(invalid_argument(std::move(text))); }

  void read(PortIndex at) {
    const YamlValue* value = value_of(port(at));
    if (value == nullptr) return;
    History history{at, name_of(at), {}};
    const std::string place = fmt::format("{}: {}", history.name, kHistoryKey);
    const auto* list = std::get_if<YamlList>(&value->data);
    if (!states_.contains(history.name)) {
      return problem(fmt::format("{}: it is not a feedback input; the feedback inputs are: {}", place, names(states_)));
    }
    if (list == nullptr || list->empty()) return problem(place + ": expected a list of maps");
    for (std::size_t i = 0; i < list->size(); ++i) {
      auto part = PartReader((*list)[i], port(at).shape, fmt::format("{}[{}]", place, i)).run();
      if (!part.ok()) return problem(part.status().message());
      history.parts.push_back(std::move(part).value());
    }
    if (overlap(history.parts)) return problem(place + ": two of its parts cover the same elements");
    histories.push_back(std::move(history));
  }

  // Parts along different axes would meet somewhere.
  static bool overlap(const std::vector<HistoryPart>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const bool apart = parts[i].axis && parts[i].axis == parts[k].axis &&
                           (parts[i].stop <= parts[k].start || parts[k].stop <= parts[i].start);
        if (!apart) return true;
      }
    }
    return false;
  }

  using Ports = std::map<std::string, const Port*>;

  static std::string names(const Ports& ports) {
    std::vector<std::string> list;
    for (const auto& [name, port] : ports) list.push_back(name);
    return list.empty() ? "none" : join(list, ", ");
  }

  void check_sources() {
    for (const History& history : histories) {
      for (const HistoryPart& part : history.parts) check_source(history, part);
    }
  }

  void check_source(const History& history, const HistoryPart& part) {
    const std::string place = fmt::format("{}: {}", history.name, kHistoryKey);
    for (const std::string& name : part.of) {
      if (given_.contains(name) || states_.contains(name)) continue;
      problem(fmt::format("{}: of: there is no input {} that the caller gives and no state of that name; there are: {}",
                          place, quote(name), names(given_) + "; " + names(states_)));
    }
    if (std::find(part.of.begin(), part.of.end(), history.name) != part.of.end()) {
      problem(fmt::format("{}: of: what is put into the state depends on the state itself", place));
    }
    if (!part.input.empty()) check_input(history, part, place);
    if (!part.state.empty()) check_state(history, part, place);
  }

  void check_input(const History& history, const HistoryPart& part, const std::string& place) {
    const auto found = given_.find(part.input);
    if (found == given_.end()) {
      return problem(
          fmt::format("{}: input: the caller gives no {}; it gives: {}", place, quote(part.input), names(given_)));
    }
    const Port& own = port(history.state);
    const std::int64_t wanted = frame_count(part, own.shape);
    if (found->second->dtype != own.dtype || count_of(found->second->shape) != wanted) {
      problem(fmt::format("{}: input: a frame of {} {} has {} elements, and {} is {}", place, history.name,
                          type_text(own.dtype, own.shape), wanted, part.input,
                          type_text(found->second->dtype, found->second->shape)));
    }
  }

  void check_state(const History& history, const HistoryPart& part, const std::string& place) {
    const auto found = states_.find(part.state);
    if (found == states_.end()) {
      return problem(
          fmt::format("{}: state: there is no state {}; there are: {}", place, quote(part.state), names(states_)));
    }
    const Port& own = port(history.state);
    if (found->second->dtype != own.dtype || found->second->shape != own.shape) {
      problem(fmt::format("{}: state: {} is {}, {} is {}", place, history.name, type_text(own.dtype, own.shape),
                          part.state, type_text(found->second->dtype, found->second->shape)));
    }
  }

  void check_circles() {
    std::map<std::string, std::set<std::string>> needs;
    for (const History& history : histories) {
      for (const HistoryPart& part : history.parts) {
        needs[history.name].insert(part.of.begin(), part.of.end());
        if (!part.state.empty()) needs[history.name].insert(part.state);
      }
    }
    for (bool changed = true; changed;) {
      changed = std::erase_if(needs, [&](const auto& entry) {
                  return std::none_of(entry.second.begin(), entry.second.end(),
                                      [&](const std::string& name) { return needs.contains(name); });
                }) > 0;
    }
    std::vector<std::string> left;
    left.reserve(needs.size());
    for (const auto& [name, others] : needs) left.push_back(name);
    if (!left.empty()) {
      problem(fmt::format("{}: {} wait for each other's first frame", kHistoryKey, join(left, ", ")));
    }
  }

  const BundleSpec& spec_;
  Ports given_;
  Ports states_;
};

}  // namespace

std::vector<Status> find_history_problems(const BundleSpec& spec, const Wiring& wiring) {
  HistoryReader reader(spec, wiring);
  reader.run();
  return std::move(reader.problems);
}

Result<std::vector<History>> histories_of(const BundleSpec& spec, const Wiring& wiring) {
  HistoryReader reader(spec, wiring);
  reader.run();
  LEAPP_RETURN_IF_ERROR(join_problems(reader.problems));
  return std::move(reader.histories);
}

YamlValue history_value(const std::vector<HistoryPart>& parts, const std::vector<std::int64_t>& shape) {
  YamlList list;
  for (const HistoryPart& part : parts) {
    YamlMap map;
    if (part.axis) {
      map.emplace_back("axis", static_cast<std::int64_t>(*part.axis));
      map.emplace_back("frames", part.frames);
      if (part.size != 1) map.emplace_back("size", part.size);
      if (part.start != 0) map.emplace_back("start", part.start);
      if (part.stop != shape[*part.axis]) map.emplace_back("stop", part.stop);
    }
    if (!part.input.empty()) map.emplace_back("input", part.input);
    if (!part.state.empty()) map.emplace_back("state", part.state);
    if (!part.of.empty()) {
      if (part.axis) map.emplace_back("newest", part.newest_first ? "first" : "last");
      map.emplace_back("of", YamlList(part.of.begin(), part.of.end()));
    }
    list.emplace_back(std::move(map));
  }
  return list;
}

std::string history_text(const std::vector<HistoryPart>& parts) {
  std::vector<std::string> texts;
  for (const HistoryPart& part : parts) {
    std::string text = part.axis ? fmt::format("{} frames along axis {}", part.frames, *part.axis) : "one frame";
    if (part.axis && part.frames == 1)
      text = fmt::format("places {} to {} of axis {}", part.start, part.stop - 1, *part.axis);
    if (!part.input.empty()) text += " of " + part.input;
    if (!part.state.empty()) text += ", as that of " + part.state;
    if (!part.of.empty()) text += " computed from " + join(part.of, " and ");
    texts.push_back(std::move(text));
  }
  return join(texts, "; ");
}

void rename_history(History& history, const std::function<std::string(const std::string&)>& name) {
  history.name = name(history.name);
  for (HistoryPart& part : history.parts) {
    if (!part.input.empty()) part.input = name(part.input);
    if (!part.state.empty()) part.state = name(part.state);
    for (std::string& one : part.of) one = name(one);
  }
}

void drop_histories(BundleSpec& spec) {
  for (Model& model : spec.models) {
    for (auto* ports : {&model.inputs, &model.outputs}) {
      for (Port& port : *ports) {
        std::erase_if(port.extra, [](const auto& entry) { return entry.first == kHistoryKey; });
      }
    }
  }
}

void set_history(Port& port, const std::vector<HistoryPart>& parts) {
  std::erase_if(port.extra, [](const auto& entry) { return entry.first == kHistoryKey; });
  port.extra.emplace_back(kHistoryKey, history_value(parts, port.shape));
}

}  // namespace leapp::bundle
