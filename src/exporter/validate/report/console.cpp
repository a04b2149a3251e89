// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/report/console.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace leapp::exporter {
namespace {

constexpr std::size_t kColumns = 5;
using Row = std::array<std::string, kColumns>;

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string largest_text(const std::vector<double>& values) {
  double largest = -1;
  for (const double value : values) {
    if (!std::isnan(value)) largest = std::max(largest, value);
  }
  return largest < 0 ? "-" : fmt::format("{:.2g}", largest);
}

// Characters, not bytes: names may be any UTF-8.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

const char* colour_of(CheckStatus status) {
  if (status == CheckStatus::kPassed) return "\x1b[32m";
  return status == CheckStatus::kSkipped ? "\x1b[33m" : "\x1b[31m";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// What the last column says behind the status.
std::string why(const NodeCheck& node) {
  if (!node.reason.empty()) return first_line(node.reason);
  if (!node.problems.empty()) return fmt::format("{}: {}", node.problems[0].output, node.problems[0].brief);
  if (!node.random_outputs.empty()) return counted(node.random_outputs.size(), "random output", "random outputs");
  return "";
}

Row row_of(const NodeCheck& node) {
  const std::string samples = node.samples == 0 ? "-" : fmt::format("{} of {}", node.agreeing, node.known_samples);
  return {node.node, node.backend.empty() ? "-" : node.backend, samples, largest_text(node.max),
          std::string(check_status_name(node.status))};
}

std::string why(const PipelineCheck& pipeline) {
  if (!pipeline.reason.empty()) return first_line(pipeline.reason);
  for (const Drift& drift : pipeline.outputs) {
    if (drift.problem) return fmt::format("{}: {}", drift.output, drift.problem->brief);
  }
  return "";
}

Row row_of(const PipelineCheck& pipeline) {
  std::vector<double> max;
  for (const Drift& drift : pipeline.outputs) max.insert(max.end(), drift.max.begin(), drift.max.end());
  const std::string passes = pipeline.passes == 0 ? "-" : counted(pipeline.passes, "pass", "passes");
  return {"(whole pipeline)", "", passes, largest_text(max), std::string(check_status_name(*pipeline.status))};
}

std::string sum_text(const Validation& validation) {
  const auto count = [&](CheckStatus status) {
    return std::count_if(validation.nodes.begin(), validation.nodes.end(),
                         [&](const NodeCheck& node) { return node.status == status; });
  };
  const auto skipped = count(CheckStatus::kSkipped);
  return fmt::format("Validation: {} passed, {} failed, {} errored{}", count(CheckStatus::kPassed),
                     count(CheckStatus::kFailed), count(CheckStatus::kErrored),
                     skipped == 0 ? "" : fmt::format(", {} skipped", skipped));
}

}  // namespace

std::string node_line(const NodeCheck& node, std::size_t number, std::size_t count) {
  const std::string head =
      fmt::format("[{}/{}] {} → {}", number, count, node.node, node.backend.empty() ? "no model" : node.backend);
  if (node.status == CheckStatus::kSkipped) return fmt::format("{}: not checked: {}", head, node.reason);
  const std::string timed = fmt::format("{} {:.0f} ms", head, node.milliseconds);
  if (node.status == CheckStatus::kPassed) {
    const std::string engines = node.engines.empty() ? "" : fmt::format(" on {}", fmt::join(node.engines, " and "));
    return fmt::format("{}, {} ok{}", timed, counted(node.samples, "sample", "samples"), engines);
  }
  if (node.status == CheckStatus::kErrored) return fmt::format("{}, errored: {}", timed, first_line(node.reason));
  if (node.agreeing == node.samples)
    return fmt::format("{}, failed: {}", timed, counted(node.samples, "sample agrees", "samples agree"));
  return fmt::format("{}, {} of {} differ", timed, node.samples - node.agreeing,
                     counted(node.known_samples, "sample", "samples"));
}

std::string pipeline_line(const PipelineCheck& pipeline) {
  if (pipeline.status == CheckStatus::kSkipped) return "whole pipeline: not run: " + pipeline.reason;
  if (pipeline.status == CheckStatus::kErrored) return "whole pipeline: errored: " + pipeline.reason;
  const std::string passes = counted(pipeline.passes, "pass", "passes");
  if (pipeline.status == CheckStatus::kPassed)
    return fmt::format("whole pipeline: {} ok, {:.0f} ms", passes, pipeline.milliseconds);
  return fmt::format("whole pipeline: {}, differs: {}", passes, why(pipeline));
}

std::string table_text(const Validation& validation, bool coloured) {
  std::vector<Row> rows = {{"node", "model", "samples ok", "max |diff|", "result"}};
  std::vector<std::string> reasons = {""};
  std::vector<const char*> colours = {""};
  for (const NodeCheck& node : validation.nodes) {
    rows.push_back(row_of(node));
    colours.push_back(colour_of(node.status));
    reasons.push_back(why(node));
  }
  if (validation.pipeline.status) {
    rows.push_back(row_of(validation.pipeline));
    colours.push_back(colour_of(*validation.pipeline.status));
    reasons.push_back(why(validation.pipeline));
  }
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    std::string line = "  ";
    for (std::size_t i = 0; i < kColumns; ++i) {
      const bool result = i + 1 == kColumns;
      const bool paint = result && coloured && at > 0;
      line += paint ? colours[at] + rows[at][i] + "\x1b[0m" : rows[at][i];
      if (!result || !reasons[at].empty()) line += std::string(widths[i] - width(rows[at][i]) + 2, ' ');
    }
    text += line + reasons[at] + "\n";
  }
  return text + sum_text(validation);
}

}  // namespace leapp::exporter
