// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate_compare.h"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "capture/trace.h"

namespace leapp::exporter {
namespace {

std::int64_t count(const at::Tensor& mask) { return mask.sum().item<std::int64_t>(); }

std::string share(std::int64_t part, std::int64_t whole) {
  return fmt::format("{} of {} elements ({:.3g} %)", part, whole,
                     100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string range(const at::Tensor& values) {
  return fmt::format("[{:.6g}, {:.6g}]", values.min().item<double>(), values.max().item<double>());
}

// Names the side: the model that was exported, or the program it was made from.
std::string nan_text(const at::Tensor& found, const at::Tensor& expected) {
  std::string text;
  for (const auto& [side, values] : {std::pair{"exported", &found}, std::pair{"source", &expected}}) {
    const std::int64_t nans = count(values->isnan());
    if (nans == 0) continue;
    text += fmt::format("{}NaN in the {} output: {}", text.empty() ? "" : "; ", side, share(nans, values->numel()));
  }
  return text;
}

std::string infinity_text(const at::Tensor& found, const at::Tensor& expected) {
  const at::Tensor different = found.isinf().logical_or(expected.isinf()).logical_and(found.ne(expected));
  if (count(different) == 0) return "";
  return fmt::format("Inf at different places: exported {}, source {}", share(count(found.isinf()), found.numel()),
                     share(count(expected.isinf()), expected.numel()));
}

std::string difference_text(const at::Tensor& found, const at::Tensor& expected, const Tolerance& tolerance) {
  // Equal infinities have no difference.
  const at::Tensor apart = at::where(found.eq(expected), at::zeros_like(found), found.sub(expected)).abs().flatten();
  const at::Tensor wrong = apart.gt(expected.abs().flatten().mul(tolerance.rtol).add(tolerance.atol));
  const std::int64_t failures = count(wrong.logical_and(found.flatten().ne(expected.flatten())));
  if (failures == 0) return "";
  const at::Tensor sorted = std::get<0>(apart.sort());
  const auto quantile = [&](double q) {
    const auto at = static_cast<std::int64_t>(std::llround(q * static_cast<double>(sorted.numel() - 1)));
    return sorted[at].item<double>();
  };
  return fmt::format(
      "{} differ by more than rtol {} and atol {}; range of the source {}, of the exported output {}; |diff| max "
      "{:.6g}, "
      "mean {:.6g}, p50 {:.6g}, p75 {:.6g}, p90 {:.6g}, p99 {:.6g}, p99.5 {:.6g}",
      share(failures, found.numel()), tolerance.rtol, tolerance.atol, range(expected), range(found), quantile(1.0),
      apart.mean().item<double>(), quantile(0.5), quantile(0.75), quantile(0.9), quantile(0.99), quantile(0.995));
}

std::string difference(const at::Tensor& found, const at::Tensor& expected, const Tolerance& tolerance) {
  const bool same_type = found.scalar_type() == expected.scalar_type() && found.sizes() == expected.sizes();
  if (!same_type) return fmt::format("expected {}, found {}", capture::describe(expected), capture::describe(found));
  if (expected.numel() == 0) return "";
  const at::Tensor a = found.to(at::kDouble);
  const at::Tensor b = expected.to(at::kDouble);
  std::string text = nan_text(a, b);
  if (text.empty()) text = infinity_text(a, b);
  if (text.empty()) text = difference_text(a, b, tolerance);
  return text.empty() ? text : fmt::format("{}: {}", capture::describe(expected), text);
}

}  // namespace

Comparison compare(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& expected,
                   const ComparedSample& sample) {
  Comparison result;
  if (found.size() != expected.size()) {
    result.problem = fmt::format("{}, sample {}: expected {} outputs, found {}", sample.node, sample.number,
                                 expected.size(), found.size());
    return result;
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    // What capture does not know the value of cannot be compared.
    if (sample.outputs[i].empty() || !expected[i].defined()) continue;
    const std::string name = fmt::format("{}/{}, sample {}", sample.node, sample.outputs[i], sample.number);
    const std::string text = difference(found[i], expected[i], sample.tolerance);
    if (!text.empty()) {
      result.problem = fmt::format("{}: {}", name, text);
      return result;
    }
    if (const std::int64_t infinite = expected[i].numel() == 0 ? 0 : count(expected[i].isinf()); infinite > 0) {
      result.warnings.push_back(
          fmt::format("{}: both sides are infinite in {}", name, share(infinite, expected[i].numel())));
    }
  }
  return result;
}

}  // namespace leapp::exporter
