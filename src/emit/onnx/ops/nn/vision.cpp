// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators of torchvision: regions of a picture, deformable convolutions, suppression of boxes that overlap.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/nn/sampling.h"

namespace leapp::onnx_ops {
namespace {

void roi_align(OpBuilder& b) {
  const Tensor x = b.tensor("input");
  const Tensor rois = b.operand("rois", x.dtype);
  const bool aligned = b.flag("aligned");
  if (aligned && b.opset() < 16) return b.refuse("regions aligned to pixels need opset 16 or later");
  const std::int64_t samples = std::max<std::int64_t>(b.integer("sampling_ratio"), 0);
  Attributes attributes = {{"mode", std::string("avg")},
                           {"output_height", b.integer("pooled_height")},
                           {"output_width", b.integer("pooled_width")},
                           {"sampling_ratio", samples},
                           {"spatial_scale", static_cast<float>(b.number("spatial_scale"))}};
  if (b.opset() >= 16) {
    attributes.push_back({"coordinate_transformation_mode", std::string(aligned ? "half_pixel" : "output_half_pixel")});
  }
  const Tensor image = b.cast(b.select(rois, 1, 0), DType::kInt64);
  b.bind(b.add("RoiAlign", {x, b.slice(rois, 1, 1, 5), image}, b.result(), std::move(attributes)));
}

struct Deformed {
  std::int64_t height = 0;  ///< of the result
  std::int64_t width = 0;
  std::int64_t kernel_height = 0;
  std::int64_t kernel_width = 0;
  std::int64_t offset_groups = 0;
  [[nodiscard]] std::int64_t taps() const { return kernel_height * kernel_width; }
  [[nodiscard]] std::int64_t places() const { return height * width; }
};

/// Where the kernel's elements would be without offsets, along one dimension: [taps, height, width].
Tensor regular_positions(OpBuilder& b, const Deformed& d, bool vertical, DType dtype) {
  const std::int64_t stride = b.integer(vertical ? "stride_h" : "stride_w");
  const std::int64_t pad = b.integer(vertical ? "pad_h" : "pad_w");
  const std::int64_t dilation = b.integer(vertical ? "dilation_h" : "dilation_w");
  std::vector<Scalar> positions;
  for (std::int64_t tap = 0; tap < d.taps(); ++tap) {
    const std::int64_t inside = vertical ? tap / d.kernel_width : tap % d.kernel_width;
    for (std::int64_t place = 0; place < d.places(); ++place) {
      const std::int64_t outside = vertical ? place / d.width : place % d.width;
      positions.emplace_back(static_cast<double>(outside * stride - pad + inside * dilation));
    }
  }
  return b.constant(positions, {dtype, {d.taps(), d.places()}});
}

/// The input at every tap of every place: [batch, channels, taps, places], what the convolution sums up.
Tensor columns_of(OpBuilder& b, const Tensor& x, const Deformed& d) {
  const std::int64_t batch = x.size(0);
  const std::int64_t groups = d.offset_groups;
  const Shape by_group = {batch * groups, x.size(1) / groups, x.size(2), x.size(3)};
  // Of each tap first the vertical offset, then the horizontal one.
  const Tensor offset = b.reshape(b.operand("offset", x.dtype), {batch * groups, d.taps(), 2, d.places()});
  std::vector<SampleTaps> taps;
  for (const bool vertical : {true, false}) {
    const Tensor moved =
        b.binary("Add", b.select(offset, 2, vertical ? 0 : 1), regular_positions(b, d, vertical, x.dtype));
    taps.push_back(neighbours_of(b, b.reshape(moved, {batch * groups, 1, d.taps() * d.places()})));
  }
  Tensor found = sample_at(b, b.reshape(x, by_group), taps);
  if (b.flag("use_mask")) {
    const Shape shape = {batch * groups, 1, d.taps() * d.places()};
    found = b.binary("Mul", found, b.reshape(b.operand("mask", x.dtype), shape));
  }
  return b.reshape(found, {batch, x.size(1), d.taps(), d.places()});
}

void deform_conv2d(OpBuilder& b) {
  const Tensor x = b.tensor("input");
  const Tensor weight = b.operand("weight", x.dtype);
  const Shape& result = b.result().shape;
  const Deformed d = {result[2], result[3], weight.size(2), weight.size(3), b.integer("offset_groups")};
  const std::int64_t groups = b.integer("groups");
  if (!b.ok() || graph::element_count(result) == 0) return b.bind(b.full(0.0, b.result()));
  const std::int64_t inner = x.size(1) / groups * d.taps();
  const Tensor columns = b.reshape(columns_of(b, x, d), {x.size(0), groups, inner, d.places()});
  const Tensor kernel = b.reshape(weight, {groups, weight.size(0) / groups, inner});
  const Tensor sum = b.reshape(b.matmul(kernel, columns), result);
  const Tensor bias = b.reshape(b.operand("bias", x.dtype), {1, weight.size(0), 1, 1});
  b.bind(b.binary("Add", sum, bias));
}

/// Positions of the boxes that stay, best first. How many depends on data: rows of that length are written densely
/// (graph/masks), and what is left of this operator is asked only which boxes are among them.
void nms(OpBuilder& b) {
  const Tensor boxes = b.unsqueeze(b.operand("dets", DType::kFloat32), {0});
  const Tensor scores = b.unsqueeze(b.operand("scores", DType::kFloat32), {0, 1});
  const Tensors inputs = {boxes, scores, b.ints({boxes.size(1)}),
                          b.constant(std::vector<Scalar>{b.number("iou_threshold")}, {DType::kFloat32, {1}})};
  const std::int64_t kept = b.result().shape[0];
  const Tensor found = b.add("NonMaxSuppression", inputs, {DType::kInt64, {kept, 3}});
  b.bind(b.select(found, 1, 2));
}

constexpr std::array kVisionOps = {
    EmitEntry{"torchvision::deform_conv2d", deform_conv2d},
    EmitEntry{"torchvision::nms", nms},
    EmitEntry{"torchvision::roi_align", roi_align},
};

}  // namespace

EmitEntries vision_ops() { return kVisionOps; }

}  // namespace leapp::onnx_ops
