// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace leapp::cli {
namespace {

constexpr std::size_t kBuckets = 10;
constexpr double kMicrosecond = 1000;

// The smallest time that at least that share of all is not above.
double percentile(const std::vector<std::uint64_t>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return static_cast<double>(sorted[std::max(static_cast<std::size_t>(rank), std::size_t{1}) - 1]);
}

}  // namespace

LatencySummary summarise(const Latencies& latencies) {
  LatencySummary summary;
  std::vector<std::uint64_t> sorted = latencies.times();
  if (sorted.empty()) return summary;
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (const std::uint64_t time : sorted) sum += static_cast<double>(time);
  const auto count = static_cast<double>(sorted.size());
  summary.mean = sum / count;
  double squares = 0;
  for (const std::uint64_t time : sorted) squares += std::pow(static_cast<double>(time) - summary.mean, 2);
  summary.jitter = std::sqrt(squares / count);
  summary.least = static_cast<double>(sorted.front());
  summary.p50 = percentile(sorted, 0.5);
  summary.p90 = percentile(sorted, 0.9);
  summary.p99 = percentile(sorted, 0.99);
  summary.p999 = percentile(sorted, 0.999);
  summary.most = static_cast<double>(sorted.back());
  return summary;
}

std::vector<LatencyBucket> histogram(const Latencies& latencies) {
  std::vector<LatencyBucket> buckets;
  if (latencies.count() == 0) return buckets;
  const LatencySummary summary = summarise(latencies);
  const double width = std::max(summary.p99 - summary.least, 1.0) / kBuckets;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const double from = summary.least + width * static_cast<double>(i);
    buckets.push_back({from, from + width, 0});
  }
  buckets.push_back({buckets.back().to, std::max(summary.most, buckets.back().to), 0});
  for (const std::uint64_t time : latencies.times()) {
    const double place = (static_cast<double>(time) - summary.least) / width;
    // What is exactly the 99th percentile belongs below it.
    const bool above = static_cast<double>(time) > buckets[kBuckets - 1].to;
    ++buckets[above ? kBuckets : std::min(static_cast<std::size_t>(place), kBuckets - 1)].count;
  }
  return buckets;
}

std::string time_text(double nanoseconds) {
  if (nanoseconds < 1e4) return fmt::format("{:.2f} µs", nanoseconds / kMicrosecond);
  if (nanoseconds < 1e6) return fmt::format("{:.1f} µs", nanoseconds / kMicrosecond);
  if (nanoseconds < 1e9) return fmt::format("{:.2f} ms", nanoseconds / 1e6);
  return fmt::format("{:.2f} s", nanoseconds / 1e9);
}

std::vector<std::string> summary_cells(const LatencySummary& summary) {
  std::vector<std::string> cells;
  for (const double time :
       {summary.p50, summary.p90, summary.p99, summary.p999, summary.most, summary.jitter, summary.mean}) {
    cells.push_back(time_text(time));
  }
  return cells;
}

Json summary_json(const LatencySummary& summary) {
  const auto micro = [](double nanoseconds) { return nanoseconds / kMicrosecond; };
  return {{"min_us", micro(summary.least)}, {"mean_us", micro(summary.mean)},    {"p50_us", micro(summary.p50)},
          {"p90_us", micro(summary.p90)},   {"p99_us", micro(summary.p99)},      {"p99.9_us", micro(summary.p999)},
          {"max_us", micro(summary.most)},  {"jitter_us", micro(summary.jitter)}};
}

}  // namespace leapp::cli
