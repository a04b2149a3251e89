// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/declared_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "onnx_proto/reader.h"

namespace leapp::runtime {
namespace {

bool shape_fits(const onnx::ValueInfoView& info, const bundle::Port& port) {
  if (!info.dims) return true;
  return std::equal(info.dims->begin(), info.dims->end(), port.shape.begin(), port.shape.end(),
                    [](std::int64_t model, std::int64_t ours) { return model < 0 || model == ours; });
}

Status check(const std::vector<bundle::Port>& ports, const std::vector<onnx::ValueInfoView>& infos, const char* what) {
  std::unordered_map<std::string_view, const onnx::ValueInfoView*> named;
  for (const onnx::ValueInfoView& info : infos) named.emplace(info.name, &info);
  for (const bundle::Port& port : ports) {
    const auto info = named.find(port.name);
    if (info == named.end() || shape_fits(*info->second, port)) continue;
    return invalid_argument(fmt::format("{} {}: the bundle says {}, the model declares {}", what, quote(port.name),
                                        type_text(port.dtype, port.shape), shape_text(*info->second->dims)));
  }
  return {};
}

}  // namespace

Status check_declared_shapes(const bundle::Model& node, std::span<const std::byte> model) {
  LEAPP_ASSIGN_OR_RETURN(const onnx::ModelView view, onnx::read_model(model));
  LEAPP_RETURN_IF_ERROR(check(node.inputs, view.graph.inputs, "input"));
  return check(node.outputs, view.graph.outputs, "output");
}

}  // namespace leapp::runtime
