// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of the text form: a trace in which every fact stands.
#pragma once

namespace leapp::capture::testing {

inline constexpr const char* kWholeTrace = R"(call pre in pass 0
graph pre(%x: float32[2]) {
  %w = parameter float32[2] [1, 2]
  %0: float32[2] = aten::mul.Tensor(self=%x, other=%w)  @ "pre.py":2
  %1: float32[1], %2: int64[1] = aten::topk(self=%0, k=1, dim=-1, largest=True, sorted=True)  @ "pre.py":3
  %3: float32[3] = aten::cat(tensors=[%0, %1], dim=0)
  return (features=%3)
}
constant %w named "gain" at "pre.py":2
keep %0 in attribute "last"
keep %1 in variable "top"
call policy in pass 1
graph policy(%obs: float32[2], %h: float32[2]) {
  %a = constant float32[2] [1, 2]
  %b = constant float32[3] [0, 0, 0]
  %c = constant float32[3] [4, 5, 6]
  %0: float32[2] = aten::add.Tensor(self=%a, other=%obs, alpha=1)
  return (action=%0, h=%a)
}
memory @m = float32[2,2] [1, 2, 3, 4]
wrote @m float32[2]
took @m float32[2] offset 2
holds @m float32[2] strides [2] offset 1 = %0
memory @gone = int64[1] [7] gone
constant %a given overwritten copied from pre %0 of pass 0 in @m float32[2] offset 2 covered float32[1]
constant %b alone from pre/features of pass 0
constant %c random from pre/features of pass 0 through "aten::neg"
buffer "layer.m" declared in @m float32[2,2]
buffer "layer.n" in @gone int64[1] gone
buffer "layer.o" in @m float32[2] becomes %0
number %0 at "policy.py":8
state h
call policy in pass 2
graph policy(%obs: float32[2], %h: float32[2]) {
  %a = constant float32[2] [1, 2]
  %0: float32[2] = aten::add.Tensor(self=%a, other=%obs, alpha=1)
  return (action=%0, h=%a)
}
memory @m
constant %a from policy %0 of pass 1 part
state h
)";

/// A call that decides twice, and its facts.
inline constexpr const char* kGuards = R"(call n in pass 0
graph n(%x: float32[2]) {
  %0: bool[2] = aten::gt.Scalar(self=%x, other=0)
  %1: bool[] = aten::all(self=%0)
  return (y=%x)
}
guard %1 true at "p.py":3
rows %1 false at "p.py":4
)";

}  // namespace leapp::capture::testing
