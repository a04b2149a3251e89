// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/history/find.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "graph/text.h"

namespace leapp::graph {
namespace {

using From = StageInput::From;

/// Stages from text. Every output that has an input's name with a tick (h → h') is that state's next value.
class Pipeline {
 public:
  Pipeline& stage(const std::string& text) {
    auto parsed = parse(text);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    graphs_.push_back(std::make_unique<Graph>(std::move(parsed).value()));
    const Graph& graph = *graphs_.back();
    Stage stage{.name = graph.name(), .graph = &graph};
    for (const auto& value : graph.inputs()) {
      StageInput input{.name = value->name(), .type = value->type()};
      for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
        if (graph.outputs()[i].name != value->name() + "_next") continue;
        input.from = From::kLastStep;
        input.source = {stages_.size(), i};
      }
      stage.inputs.push_back(std::move(input));
    }
    for (const Output& output : graph.outputs()) {
      stage.outputs.push_back(output.value->type());
      stage.published.push_back(!output.name.ends_with("_next"));
    }
    stages_.push_back(std::move(stage));
    return *this;
  }

  StageInput& input(std::size_t stage, const std::string& name) {
    auto& inputs = stages_[stage].inputs;
    return *std::find_if(inputs.begin(), inputs.end(), [&](const StageInput& one) { return one.name == name; });
  }
  Pipeline& feed(std::size_t stage, const std::string& name, StagePort source, From from = From::kSameStep) {
    input(stage, name).from = from;
    input(stage, name).source = source;
    if (from == From::kSameStep) stages_[source.stage].published[source.port] = false;
    return *this;
  }
  Pipeline& declare(const std::string& state, const std::string& from) {
    input(0, state).declared = from;
    return *this;
  }
  Pipeline& hide(std::size_t stage) {
    stages_[stage].graph = nullptr;
    return *this;
  }

  /// "h: axis 1, 3 frames, last: x": one line for each.
  std::string found() const {
    std::string text;
    for (const FoundHistory& history : find_histories(stages_)) {
      text += (text.empty() ? "" : "\n") + name(history.state) + ":";
      for (const FoundPart& part : history.parts) text += " " + describe(part) + ";";
      if (!history.why.empty()) text += std::string(history.refused ? " refused: " : " not: ") + history.why;
    }
    return text;
  }

 private:
  [[nodiscard]] std::string name(StagePort at) const { return stages_[at.stage].inputs[at.port].name; }

  [[nodiscard]] std::string describe(const FoundPart& part) const {
    const FrameLayout& layout = part.layout;
    std::string text = "whole";
    if (layout.axis) {
      text = fmt::format("axis {} [{},{}) {}x{}{}", *layout.axis, layout.start, layout.stop, layout.frames, layout.size,
                         layout.newest_first ? " first" : "");
    }
    if (part.from == FoundPart::From::kInput) return text + " = " + name(part.source);
    if (part.from == FoundPart::From::kState) return text + " = next " + name(part.source);
    for (const StagePort at : part.made) text += (at == part.made.front() ? " of " : ",") + name(at);
    return text;
  }

  std::vector<std::unique_ptr<Graph>> graphs_;
  Stages stages_;
};

std::string found(const std::string& text) { return Pipeline().stage(text).found(); }

TEST(Histories, ShiftedAndAppended) {
  EXPECT_EQ(found(R"(graph g(%x: float32[1,2], %h: float32[1,3,2]) {
    %0: float32[1,2,2] = aten::slice.Tensor(self=%h, dim=1, start=1, end=3, step=1)
    %1: float32[1,1,2] = aten::unsqueeze(self=%x, dim=1)
    %2: float32[1,3,2] = aten::cat(tensors=[%0, %1], dim=1)
    %3: float32[1,2] = aten::sum.dim_IntList(self=%2, dim=[1], keepdim=False, dtype=None)
    return (y=%3, h_next=%2)
  })"),
            "h: axis 1 [0,3) 3x1 = x;");
}

TEST(Histories, WhatIsScaledFirstIsComputed) {
  EXPECT_EQ(found(R"(graph g(%x: float32[1,2], %z: float32[1,2], %h: float32[1,6]) {
    %s = constant float32[2] [0.5, 2]
    %0: float32[1,4] = aten::slice.Tensor(self=%h, dim=1, start=2, end=6, step=1)
    %1: float32[1,2] = aten::mul.Tensor(self=%x, other=%s)
    %2: float32[1,2] = aten::add.Tensor(self=%1, other=%z, alpha=1)
    %3: float32[1,6] = aten::cat(tensors=[%0, %2], dim=1)
    %4: float32[1] = aten::sum.dim_IntList(self=%3, dim=[1], keepdim=False, dtype=None)
    return (y=%4, h_next=%3)
  })"),
            "h: axis 1 [0,6) 3x2 of x,z;");
}

TEST(Histories, NearMisses) {
  EXPECT_EQ(found(R"(graph g(%x: float32[4], %h: float32[4]) {
    %0: float32[4] = aten::mul.Scalar(self=%h, other=0.9)
    %1: float32[4] = aten::add.Tensor(self=%0, other=%x, alpha=1)
    return (y=%1, h_next=%1)
  })"),
            "")
      << "a leaky integrator";
  EXPECT_EQ(found(R"(graph g(%x: float32[1], %h: float32[4]) {
    %0: float32[3] = aten::slice.Tensor(self=%h, dim=0, start=1, end=4, step=1)
    %1: float32[1] = aten::select.int(self=%h, dim=0, index=3)
    %2: float32[1] = aten::add.Tensor(self=%1, other=%x, alpha=1)
    %3: float32[4] = aten::cat(tensors=[%0, %2], dim=0)
    return (y=%0, h_next=%3)
  })"),
            "")
      << "what is appended depends on the history";
  EXPECT_EQ(found(R"(graph g(%x: float32[1], %h: float32[4]) {
    %0: float32[2] = aten::slice.Tensor(self=%h, dim=0, start=2, end=4, step=1)
    %1: float32[1] = aten::slice.Tensor(self=%h, dim=0, start=3, end=4, step=1)
    %3: float32[4] = aten::cat(tensors=[%0, %1, %x], dim=0)
    return (y=%0, h_next=%3)
  })"),
            "")
      << "by two, with one appended";
  EXPECT_EQ(found(R"(graph g(%x: float32[3], %h: float32[3]) {
    %c = constant float32[1] [7]
    %0: float32[2] = aten::slice.Tensor(self=%h, dim=0, start=1, end=3, step=1)
    %3: float32[3] = aten::cat(tensors=[%0, %c], dim=0)
    %4: float32[3] = aten::add.Tensor(self=%x, other=%h, alpha=1)
    return (y=%4, h_next=%3)
  })"),
            "")
      << "only a constant is appended";
}

TEST(Histories, ActionsAreNoObservations) {
  EXPECT_EQ(found(R"(graph g(%x: float32[1,2], %h: float32[1,4]) {
    %w = parameter float32[2,2] [1, 2, 3, 4]
    %a: float32[1,2] = aten::linear(input=%x, weight=%w, bias=None)
    %0: float32[1,2] = aten::slice.Tensor(self=%h, dim=1, start=2, end=4, step=1)
    %1: float32[1,4] = aten::cat(tensors=[%0, %a], dim=1)
    %2: float32[1] = aten::sum.dim_IntList(self=%1, dim=[1], keepdim=False, dtype=None)
    return (y=%2, h_next=%1)
  })"),
            "h: not: what is put into it was computed with weights, so it may not be an observation");
  const std::string given_out = R"(graph g(%x: float32[1,2], %h: float32[1,4]) {
    %a: float32[1,2] = aten::neg(self=%x)
    %0: float32[1,2] = aten::slice.Tensor(self=%h, dim=1, start=2, end=4, step=1)
    %1: float32[1,4] = aten::cat(tensors=[%0, %a], dim=1)
    return (y=%a, h_next=%1)
  })";
  EXPECT_EQ(found(given_out), "h: not: what is put into it is also an output, so it may be a history of actions");
  EXPECT_EQ(Pipeline().stage(given_out).declare("h", "x").found(), "h: axis 1 [0,4) 2x2 of x;") << "said otherwise";
  EXPECT_EQ(found(R"(graph g(%x: float32[1,2], %last: float32[1,2]) {
    %a: float32[1,2] = aten::neg(self=%x)
    %b: float32[1,2] = aten::add.Tensor(self=%a, other=%last, alpha=1)
    return (y=%a, z=%b, last_next=%a)
  })"),
            "")
      << "the last action";
}

TEST(Histories, ThePreviousObservationIsOneFrame) {
  EXPECT_EQ(found(R"(graph g(%x: float32[1,2], %last: float32[1,2]) {
    %0: float32[1,2] = aten::sub.Tensor(self=%x, other=%last, alpha=1)
    return (y=%0, last_next=%x)
  })"),
            "last: whole = x;");
}

TEST(Histories, ADequeOfStates) {
  EXPECT_EQ(found(R"(graph g(%x: float32[2], %a: float32[2], %b: float32[2], %c: float32[2]) {
    %0: float32[2] = aten::add.Tensor(self=%a, other=%x, alpha=1)
    return (y=%0, a_next=%b, b_next=%c, c_next=%x)
  })"),
            "a: whole = x;\nb: whole = x;\nc: whole = x;");
  EXPECT_EQ(found(R"(graph g(%x: float32[2], %a: float32[2], %b: float32[2]) {
    %0: float32[2] = aten::add.Tensor(self=%a, other=%x, alpha=1)
    %s: float32[2] = aten::mul.Scalar(self=%x, other=2.0)
    return (y=%0, a_next=%b, b_next=%s)
  })"),
            "a: whole = next b;\nb: whole of x;");
  EXPECT_EQ(found(R"(graph g(%x: float32[2], %a: float32[2], %b: float32[2]) {
    %0: float32[2] = aten::add.Tensor(self=%a, other=%x, alpha=1)
    return (y=%0, a_next=%b, b_next=%a)
  })"),
            "")
      << "two that change places";
}

TEST(Histories, AHistoryOfAHistory) {
  const std::string text = found(R"(graph g(%x: float32[1], %h: float32[3], %m: float32[2]) {
    %0: float32[2] = aten::slice.Tensor(self=%h, dim=0, start=1, end=3, step=1)
    %1: float32[3] = aten::cat(tensors=[%0, %x], dim=0)
    %2: float32[1] = aten::mean.dim(self=%1, dim=[0], keepdim=True, dtype=None)
    %3: float32[1] = aten::slice.Tensor(self=%m, dim=0, start=1, end=2, step=1)
    %4: float32[2] = aten::cat(tensors=[%3, %2], dim=0)
    %5: float32[] = aten::sum(self=%4, dtype=None)
    return (y=%5, h_next=%1, m_next=%4)
  })");
  EXPECT_EQ(text, "h: axis 0 [0,3) 3x1 = x;\nm: axis 0 [0,2) 2x1 of x,h;");
}

TEST(Histories, ThatWaitForEachOther) {
  EXPECT_EQ(found(R"(graph g(%x: float32[1], %h: float32[2], %m: float32[2]) {
    %0: float32[1] = aten::slice.Tensor(self=%h, dim=0, start=1, end=2, step=1)
    %1: float32[1] = aten::slice.Tensor(self=%m, dim=0, start=1, end=2, step=1)
    %2: float32[1] = aten::add.Tensor(self=%0, other=%x, alpha=1)
    %3: float32[1] = aten::add.Tensor(self=%1, other=%x, alpha=1)
    %4: float32[2] = aten::cat(tensors=[%0, %3], dim=0)
    %5: float32[2] = aten::cat(tensors=[%1, %2], dim=0)
    %6: float32[] = aten::sum(self=%4, dtype=None)
    return (y=%6, h_next=%4, m_next=%5)
  })"),
            "h: not: what is put into it depends on a history that depends on it\n"
            "m: not: what is put into it depends on a history that depends on it");
}

TEST(Histories, InAnotherNodeThanTheInput) {
  Pipeline pipeline;
  pipeline.stage(R"(graph pre(%obs: float32[1,2]) {
    %0: float32[1,2] = aten::clamp(self=%obs, min=-1.0, max=1.0)
    return (features=%0)
  })");
  pipeline.stage(R"(graph policy(%features: float32[1,2], %h: float32[1,4]) {
    %0: float32[1,2] = aten::slice.Tensor(self=%h, dim=1, start=0, end=2, step=1)
    %1: float32[1,4] = aten::cat(tensors=[%features, %0], dim=1)
    %2: float32[1] = aten::sum.dim_IntList(self=%1, dim=[1], keepdim=False, dtype=None)
    return (y=%2, h_next=%1)
  })");
  pipeline.feed(1, "features", {0, 0});
  EXPECT_EQ(pipeline.found(), "h: axis 1 [0,4) 2x2 first of obs;");
  EXPECT_EQ(pipeline.hide(0).found(),
            "h: not: what is put into it was computed with weights, so it may not be an observation");
}

TEST(Histories, ThatGoThroughTwoNodes) {
  Pipeline pipeline;
  pipeline.stage(R"(graph shift(%h: float32[3]) {
    %0: float32[2] = aten::slice.Tensor(self=%h, dim=0, start=1, end=3, step=1)
    return (rest=%0)
  })");
  pipeline.stage(R"(graph append(%rest: float32[2], %x: float32[1]) {
    %0: float32[3] = aten::cat(tensors=[%rest, %x], dim=0)
    %1: float32[] = aten::sum(self=%0, dtype=None)
    return (y=%1, whole=%0)
  })");
  pipeline.feed(1, "rest", {0, 0}).feed(0, "h", {1, 1}, From::kLastStep);
  EXPECT_EQ(pipeline.found(), "h: axis 0 [0,3) 3x1 = x;");
}

const char* const kRing = R"(graph g(%x: float32[1,2], %h: float32[5,1,2], %at: int64[]) {
    %0: float32[5,1,2] = aten::index_put(self=%h, indices=[%at], values=%x, accumulate=False)
    %1: int64[] = aten::add.Scalar(self=%at, other=1, alpha=1)
    %2: int64[] = aten::remainder.Scalar(self=%1, other=5)
    %3: float32[] = aten::sum(self=%0, dtype=None)
    return (y=%3, h_next=%0, at_next=%2)
  })";

TEST(Histories, ACircularBuffer) { EXPECT_EQ(found(kRing), "h: axis 0 [0,5) 5x1 = x;"); }

TEST(Histories, TheProgramSaysSo) {
  const std::string masked = R"(graph g(%x: float32[1,2], %reset: bool[], %h: float32[1,3,2]) {
    %0: float32[1,2,2] = aten::slice.Tensor(self=%h, dim=1, start=1, end=3, step=1)
    %1: float32[1,1,2] = aten::unsqueeze(self=%x, dim=1)
    %2: float32[1,3,2] = aten::cat(tensors=[%0, %1], dim=1)
    %3: float32[1,3,2] = aten::where.self(condition=%reset, self=%h, other=%2)
    %4: float32[] = aten::sum(self=%3, dtype=None)
    return (y=%4, h_next=%3)
  })";
  EXPECT_EQ(found(masked), "") << "moved or not: that is no shift";
  EXPECT_EQ(Pipeline().stage(masked).declare("h", "x").found(), "h: axis 1 [0,3) 3x1 = x;");
  EXPECT_EQ(Pipeline().stage(masked).declare("h", "reset").found(),
            "h: refused: no axis of the state has frames of that shape");
  EXPECT_EQ(Pipeline().stage(masked).declare("h", "obs").found(),
            "h: refused: there is no such input that reaches an output");
  EXPECT_EQ(Pipeline().stage(masked).declare("h", "h").found(), "h: refused: that is state itself");
  EXPECT_EQ(Pipeline().stage(kRing).declare("h", "").found(), "") << "it says that it is none";
}

TEST(Histories, FramesThatCouldStandAlongTwoAxes) {
  EXPECT_EQ(Pipeline()
                .stage(R"(graph g(%x: float32[3], %h: float32[3,3]) {
    %0: float32[3,3] = aten::add.Tensor(self=%h, other=%x, alpha=1)
    %1: float32[] = aten::sum(self=%0, dtype=None)
    return (y=%1, h_next=%0)
  })")
                .declare("h", "x")
                .found(),
            "h: refused: more than one axis of the state could have frames of that shape");
}

TEST(Histories, StateOfAModelThatNobodyCanLookInto) {
  const std::string text = R"(graph g(%x: float32[1,2], %h: float32[1,8]) {
    %0: float32[1,8] = aten::neg(self=%h)
    %1: float32[1,2] = aten::neg(self=%x)
    return (y=%1, h_next=%0)
  })";
  EXPECT_EQ(Pipeline().stage(text).hide(0).found(), "");
  EXPECT_EQ(Pipeline().stage(text).hide(0).declare("h", "x").found(), "h: axis 1 [0,8) 4x2 = x;");
}

}  // namespace
}  // namespace leapp::graph
