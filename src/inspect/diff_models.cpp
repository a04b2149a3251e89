// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "inspect/differences.h"
#include "inspect/numbers.h"
#include "inspect/onnx_facts.h"
#include "inspect/words.h"

namespace leapp::inspect {
namespace {

using Bytes = std::span<const std::byte>;

/// A tensor of either bundle.
struct Weight {
  std::string name;
  std::optional<DType> dtype;
  std::vector<std::int64_t> shape;
  Bytes bytes;
  bool external = false;

  [[nodiscard]] std::string text() const { return dtype ? type_text(*dtype, shape) : "unknown" + shape_text(shape); }
  [[nodiscard]] bool same_type(const Weight& other) const { return dtype == other.dtype && shape == other.shape; }
};

// Infinite where only one side is a number.
double largest_difference(DType dtype, Bytes a, Bytes b) {
  double largest = 0;
  const std::size_t width = dtype_size(dtype);
  for (std::size_t at = 0; at < a.size(); at += width) {
    const double one = to_double(dtype, a.data() + at);
    const double other = to_double(dtype, b.data() + at);
    if (one == other || (std::isnan(one) && std::isnan(other))) continue;
    const double distance = std::abs(one - other);
    largest = std::isfinite(distance) ? std::max(largest, distance) : std::numeric_limits<double>::infinity();
  }
  return largest;
}

/// Compares two lists of tensors.
class WeightDiff {
 public:
  /// `by_order`: those without a partner of their name are paired with the next of their type.
  WeightDiff(std::string what, std::string place, const NumberOptions& options, bool by_order)
      : what_(std::move(what)), place_(std::move(place)), options_(options), by_order_(by_order) {}

  std::vector<BundleDifference> run(const std::vector<Weight>& a, const std::vector<Weight>& b) {
    std::map<std::string_view, const Weight*> names;
    for (const Weight& other : b) names.emplace(other.name, &other);
    std::vector<const Weight*> left;
    std::set<const Weight*> taken;
    for (const Weight& one : a) {
      const auto partner = names.find(one.name);
      if (partner == names.end()) {
        left.push_back(&one);
      } else {
        taken.insert(partner->second);
        compare(one, *partner->second);
      }
    }
    std::map<Type, std::deque<const Weight*>> others;  // of a type, in their order
    for (const Weight& other : b) {
      if (by_order_ && !taken.contains(&other)) others[type_of(other)].push_back(&other);
    }
    for (const Weight* one : left) {
      const auto partners = others.find(type_of(*one));
      if (partners == others.end() || partners->second.empty()) {
        add(one->name, one->text(), "", std::nullopt);
      } else {
        taken.insert(partners->second.front());
        compare(*one, *partners->second.front());
        partners->second.pop_front();
      }
    }
    for (const Weight& other : b) {
      if (!taken.contains(&other)) add(other.name, "", other.text(), std::nullopt);
    }
    return std::move(differences_);
  }

 private:
  using Type = std::pair<std::optional<DType>, std::vector<std::int64_t>>;

  static Type type_of(const Weight& weight) { return {weight.dtype, weight.shape}; }

  void add(const std::string& name, std::string a, std::string b, std::optional<double> largest) {
    differences_.push_back({what_, place_.empty() ? name : place_ + ": " + name, std::move(a), std::move(b), largest});
  }

  void compare(const Weight& a, const Weight& b) {
    const std::string name = a.name == b.name ? a.name : a.name + " / " + b.name;
    if (!a.same_type(b)) return add(name, a.text(), b.text(), std::nullopt);
    if (a.external || b.external) return;  // those files are compared as a whole
    if (std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end())) return;
    if (!a.dtype || !is_number(*a.dtype)) return add(name, a.text(), "other bytes", std::nullopt);
    const double largest = largest_difference(*a.dtype, a.bytes, b.bytes);
    if (largest > options_.atol) add(name, a.text(), b.text(), largest);
  }

  std::string what_;
  std::string place_;
  NumberOptions options_;
  bool by_order_;
  std::vector<BundleDifference> differences_;
};

std::vector<Weight> weights_of(const OnnxFacts& facts) {
  std::vector<Weight> weights;
  for (const onnx::TensorContents& tensor : facts.weights) {
    weights.push_back({std::string(tensor.name), tensor.dtype, tensor.dims, tensor.bytes.view, tensor.external});
  }
  return weights;
}

void diff_operators(const std::string& node, const OnnxFacts& a, const OnnxFacts& b,
                    std::vector<BundleDifference>& differences) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> counts;
  for (const auto& [name, count] : a.operators) counts[name].first = count;
  for (const auto& [name, count] : b.operators) counts[name].second = count;
  const auto text = [](std::size_t count) { return count == 0 ? "" : count_text(count); };
  for (const auto& [name, pair] : counts) {
    if (pair.first == pair.second) continue;
    differences.push_back({"operators", node + ": " + name, text(pair.first), text(pair.second), std::nullopt});
  }
}

std::string file_text(const ModelFacts& facts) {
  return fmt::format("{}, sha256 {}", size_text(facts.file.bytes.size()), facts.digests.sha256.substr(0, 12));
}

void diff_onnx(const std::string& node, const ModelFacts& a, const ModelFacts& b, const NumberOptions& options,
               std::vector<BundleDifference>& differences) {
  const auto left = read_onnx_facts(a.file.bytes);
  const auto right = read_onnx_facts(b.file.bytes);
  if (!left.ok() || !right.ok()) {
    differences.push_back({"model", node, left.ok() ? file_text(a) : left.status().message(),
                           right.ok() ? file_text(b) : right.status().message(), std::nullopt});
    return;
  }
  const std::size_t before = differences.size();
  diff_operators(node, left.value(), right.value(), differences);
  // Another exporter may have given them other names; another model has other weights.
  WeightDiff weights("weights", node, options, left.value().operators == right.value().operators);
  auto found = weights.run(weights_of(left.value()), weights_of(right.value()));
  differences.insert(differences.end(), found.begin(), found.end());
  // Then it is in names, attributes, order, or in numbers within the tolerance.
  if (differences.size() == before && options.atol == 0) {
    differences.push_back({"model", node, file_text(a), file_text(b), std::nullopt});
  }
}

void diff_node(const OpenedBundle& a, const OpenedBundle& b,
               std::pair<const bundle::Model*, const bundle::Model*> nodes, const NumberOptions& options,
               std::vector<BundleDifference>& differences) {
  const auto [one, other] = nodes;
  const std::string& name = one->name;
  const auto say = [&](const std::string& what, const std::string& left, const std::string& right) {
    if (left != right) differences.push_back({what, name, left, right, std::nullopt});
  };
  const auto opset = [](const bundle::Model& model) {
    return model.parameters.opset_version ? std::to_string(*model.parameters.opset_version) : "";
  };
  say("backend", one->parameters.backend.value_or(""), other->parameters.backend.value_or(""));
  say("opset", opset(*one), opset(*other));
  const auto left = read_model_facts(a, *one, options.files);
  const auto right = read_model_facts(b, *other, options.files);
  if (!left.ok() || !right.ok()) {
    const auto text = [](const Result<ModelFacts>& facts) {
      return facts.ok() ? file_text(facts.value()) : "unreadable: " + facts.status().message();
    };
    say("model", text(left), text(right));
    return;
  }
  if (left.value().digests == right.value().digests) return;
  if (one->parameters.format() == bundle::ModelFormat::kOnnx &&
      other->parameters.format() == bundle::ModelFormat::kOnnx) {
    diff_onnx(name, left.value(), right.value(), options, differences);
  } else {
    say("model", file_text(left.value()), file_text(right.value()));
  }
}

}  // namespace

std::vector<BundleDifference> diff_models(const OpenedBundle& a, const OpenedBundle& b, const NumberOptions& options) {
  std::vector<BundleDifference> differences;
  std::map<std::string_view, const bundle::Model*> others;
  for (const bundle::Model& model : b.spec.models) others.emplace(model.name, &model);
  std::size_t done = 0;
  for (const bundle::Model& one : a.spec.models) {
    if (options.progress) options.progress(done++);
    const auto other = others.find(one.name);
    if (other != others.end()) diff_node(a, b, {&one, other->second}, options, differences);
  }
  return differences;
}

std::vector<BundleDifference> diff_initial_values(const OpenedBundle& a, const OpenedBundle& b,
                                                  const NumberOptions& options) {
  std::vector<BundleDifference> differences;
  std::vector<std::vector<std::byte>> files;  // the weights point into them
  files.reserve(2);
  const auto read = [&](const OpenedBundle& opened) {
    std::vector<Weight> weights;
    if (!opened.spec.pipeline.initial_values) return weights;
    const std::string& name = *opened.spec.pipeline.initial_values;
    const auto path = bundle::locate_file(opened.folder, name, options.files);
    auto bytes = path.ok() ? bundle::read_file(path.value(), options.files.memory_limit)
                           : Result<std::vector<std::byte>>(path.status());
    const auto tensors = bytes.ok() ? bundle::parse_safetensors(files.emplace_back(std::move(bytes).value()))
                                    : Result<std::vector<bundle::StoredTensor>>(bytes.status());
    if (!tensors.ok()) {
      const std::string text = in_option_words(one_line(tensors.status().message()));
      differences.push_back({"initial values", name, &opened == &a ? text : "", &opened == &b ? text : "", {}});
      return weights;
    }
    for (const bundle::StoredTensor& tensor : tensors.value()) {
      weights.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes});
    }
    return weights;
  };
  const std::vector<Weight> left = read(a);
  const std::vector<Weight> right = read(b);
  auto found = WeightDiff("initial values", "", options, false).run(left, right);
  differences.insert(differences.end(), found.begin(), found.end());
  return differences;
}

}  // namespace leapp::inspect
