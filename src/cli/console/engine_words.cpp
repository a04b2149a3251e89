// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console/engine_words.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/console/table.h"
#include "inspect/words.h"

namespace leapp::cli {
namespace {

std::string engine_name(const engine::Report& report) {
  const std::string key = engine_key(report);
  return key == "native" ? "LEAPP's own engine" : key == "onnxruntime" ? "ONNX Runtime" : key;
}

template <typename Name>
std::vector<std::string> each_once(const std::vector<engine::Report>& reports, Name name) {
  std::vector<std::string> names;
  for (const engine::Report& report : reports) {
    if (std::find(names.begin(), names.end(), name(report)) == names.end()) names.push_back(name(report));
  }
  return names;
}

}  // namespace

std::string engine_key(const engine::Report& report) {
  if (report.native) return "native";
  return report.engine.starts_with("ONNX Runtime") ? "onnxruntime" : "torch";
}

std::string engines_text(const std::vector<engine::Report>& reports) {
  return join(each_once(reports, engine_name), ", ");
}

Json engines_json(const std::vector<engine::Report>& reports) { return each_once(reports, engine_key); }

std::string choice_text(const std::vector<engine::Report>& reports, const Context& context) {
  Table engines({{"model"}, {"engine"}, {"why"}});
  Table operators({{"model"}, {"operator"}, {"nodes", true}, {"LEAPP's own engine"}});
  for (const engine::Report& report : reports) {
    engines.add({report.model, engine_name(report), report.why});
    for (const engine::OperatorReport& row : report.operators) {
      operators.add({report.model, row.name, count_text(row.count), row.native ? "yes" : "no: " + row.why});
    }
  }
  return engines.text(context) + (operators.empty() ? "" : "\n" + operators.text(context));
}

Json choice_json(const std::vector<engine::Report>& reports) {
  Json list = Json::array();
  for (const engine::Report& report : reports) {
    Json operators = Json::array();
    for (const engine::OperatorReport& row : report.operators) {
      operators.push_back({{"operator", row.name},
                           {"nodes", row.count},
                           {"native", row.native},
                           {"why", row.why.empty() ? Json(nullptr) : Json(row.why)}});
    }
    list.push_back(
        {{"model", report.model}, {"engine", engine_key(report)}, {"why", report.why}, {"operators", operators}});
  }
  return list;
}

}  // namespace leapp::cli
