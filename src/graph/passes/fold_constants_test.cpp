// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/fold_constants.h"

#include "graph/passes/pass_testing.h"

namespace leapp::graph {
namespace {

// Fills every result with 7; cannot do aten::strange, and gets aten::wrong wrong.
std::optional<std::vector<Constant>> sevens(const Node& node) {
  if (node.op() == "aten::strange") return std::nullopt;
  std::vector<Constant> constants;
  for (const auto& result : node.results()) {
    Constant constant{result->type(), nullptr};
    auto bytes = std::make_shared<std::vector<std::uint8_t>>(constant.byte_size(), 7);
    constant.data = std::shared_ptr<const void>(bytes, bytes->data());
    if (node.op() == "aten::wrong") constant.type.shape = {1};
    constants.push_back(std::move(constant));
  }
  return constants;
}

std::string folded(const std::string& text, std::size_t max_bytes = 1024) {
  return testing::after(text, [&](Graph& graph) { return fold_constants(graph, sevens, {max_bytes}); });
}

TEST(FoldConstants, FoldsThroughChainsAndNames) {
  EXPECT_EQ(folded(R"(graph (%x: uint8[2]) {
  %actor.weight = constant uint8[2] [1, 2]
  %constant_0 = constant uint8[2] [3, 4]
  %0: uint8[2] = aten::t(self=%actor.weight)
  %1: uint8[2] = aten::add.Tensor(self=%constant_0, other=%constant_0, alpha=1)
  %mask: uint8[1] = aten::zeros(size=[1])
  %2: uint8[2] = aten::mul.Tensor(self=%1, other=2)
  %3: uint8[2] = aten::cat(tensors=[%0, %2, %x], dim=0)
  return (y=%3, z=%mask)
}
)"),
            R"(graph (%x: uint8[2]) {
  %actor.weight = constant uint8[2] [1, 2]
  %constant_0 = constant uint8[2] [3, 4]
  %actor.weight_t = constant uint8[2] [7, 7]
  %constant_2 = constant uint8[2] [7, 7]
  %mask = constant uint8[1] [7]
  %constant_4 = constant uint8[2] [7, 7]
  %3: uint8[2] = aten::cat(tensors=[%actor.weight_t, %constant_4, %x], dim=0)
  return (y=%3, z=%mask)
}
)");
}

TEST(FoldConstants, LeavesRandomUnknownWrongAndNoResult) {
  const std::string text = R"(graph () {
  %0: uint8[2] = random aten::rand(size=[2])
  %1: uint8[2] = aten::strange(size=[2])
  %2: uint8[2] = aten::wrong(size=[2])
  aten::nothing()
  return (a=%0, b=%1, c=%2)
}
)";
  EXPECT_EQ(folded(text), text);
}

TEST(FoldConstants, LeavesWhatGrows) {
  EXPECT_EQ(folded(R"(graph () {
  %w = constant uint8[9] [1, 2, 3, 4, 5, 6, 7, 8, 9]
  %0: uint8[9] = aten::zeros(size=[9])
  %1: uint8[9] = aten::neg(self=%w)
  %2: uint8[10] = aten::pad(self=%w)
  %3: uint8[8] = aten::zeros(size=[8])
  return (a=%0, b=%1, c=%2, d=%3)
}
)",
                   8),
            R"(graph () {
  %w = constant uint8[9] [1, 2, 3, 4, 5, 6, 7, 8, 9]
  %w_neg = constant uint8[9] [7, 7, 7, 7, 7, 7, 7, 7, 7]
  %constant_1 = constant uint8[8] [7, 7, 7, 7, 7, 7, 7, 7]
  %0: uint8[9] = aten::zeros(size=[9])
  %2: uint8[10] = aten::pad(self=%w)
  return (a=%0, b=%w_neg, c=%2, d=%constant_1)
}
)");
}

}  // namespace
}  // namespace leapp::graph
