// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/yaml/yaml_events.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <string>

namespace leapp::bundle {
namespace {

YamlEvents::Start start_of(const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor) {
  return {mark.line + 1, tag, anchor != YAML::NullAnchor};
}

class Forwarded final : public YAML::EventHandler {
 public:
  explicit Forwarded(YamlEvents& events) : events_(events) {}

  void OnDocumentStart(const YAML::Mark& mark) override { events_.document_start(mark.line + 1); }
  void OnDocumentEnd() override { events_.document_end(); }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    events_.scalar(start_of(mark, "?", anchor), "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { events_.alias(mark.line + 1); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    events_.scalar(start_of(mark, tag, anchor), value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    events_.list_start(start_of(mark, tag, anchor));
  }
  void OnSequenceEnd() override { events_.collection_end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    events_.map_start(start_of(mark, tag, anchor));
  }
  void OnMapEnd() override { events_.collection_end(); }

 private:
  YamlEvents& events_;
};

}  // namespace

bool parse_yaml_events(std::istream& text, YamlEvents& events) {
  try {
    YAML::Parser parser(text);
    Forwarded forwarded(events);
    bool any = false;
    while (parser.HandleNextDocument(forwarded)) any = true;
    return any;
  } catch (const YAML::Exception& error) {
    YamlSyntaxError found{.line = error.mark.line + 1};
    std::copy_n(error.msg.data(), std::min(error.msg.size(), YamlSyntaxError::kLongest), found.message);
    throw found;
  }
}

}  // namespace leapp::bundle
