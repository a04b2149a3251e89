// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/torchscript/emitter.h"

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "emit/torchscript/evaluator.h"
#include "graph/passes/fold_constants.h"
#include "graph/text.h"
#include "torch_types/tensors.h"

namespace leapp::emit {
namespace {

using Tensors = std::vector<at::Tensor>;

graph::Graph parsed(const std::string& text) {
  auto graph = graph::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message() << "\n" << text;
  return graph.ok() ? std::move(graph).value() : graph::Graph();
}

std::string emitted(const std::string& text) {
  auto bytes = emit_torchscript(parsed(text));
  EXPECT_TRUE(bytes.ok()) << bytes.status().message() << "\n" << text;
  return bytes.ok() ? std::move(bytes).value() : std::string();
}

torch::jit::Module loaded(const std::string& text) {
  std::istringstream stream(emitted(text));
  return torch::jit::load(stream);
}

// Three times: the profiling executor runs other code from the second call on.
Tensors run(torch::jit::Module module, const Tensors& inputs) {
  Tensors results;
  for (int pass = 0; pass < 3; ++pass) {
    const c10::IValue output = module.forward({inputs.begin(), inputs.end()});
    Tensors outputs;
    if (output.isTensor()) {
      outputs = {output.toTensor()};
    } else {
      for (const c10::IValue& item : output.toTupleRef().elements()) outputs.push_back(item.toTensor());
    }
    for (std::size_t i = 0; pass > 0 && i < outputs.size(); ++i) {
      EXPECT_TRUE(at::allclose(outputs[i], results[i], 0, 0, /*equal_nan=*/true)) << "differs on call " << pass + 1;
    }
    results = std::move(outputs);
  }
  return results;
}

Tensors run(const std::string& text, const Tensors& inputs) { return run(loaded(text), inputs); }

// One operator on one input %x; `type` is the result's.
at::Tensor run_op(const std::string& operation, const std::string& type, const at::Tensor& x) {
  std::string shape;
  for (const auto size : x.sizes()) shape += (shape.empty() ? "" : ",") + std::to_string(size);
  const std::string input = std::string(dtype_name(*to_dtype(x.scalar_type()))) + "[" + shape + "]";
  const Tensors results =
      run("graph g(%x: " + input + ") {\n%0: " + type + " = " + operation + "\nreturn (y=%0)\n}", {x});
  return results.at(0);
}

void expect_same(const at::Tensor& found, const at::Tensor& expected) {
  EXPECT_EQ(found.scalar_type(), expected.scalar_type());
  EXPECT_EQ(found.sizes(), expected.sizes());
  EXPECT_TRUE(at::allclose(found, expected, 0, 0, /*equal_nan=*/true)) << found << "\nexpected\n" << expected;
}

at::Tensor floats() { return at::tensor({-1.5, -0.25, 0.0, 0.5, 2.0, 3.25}, at::kFloat).view({2, 3}); }
at::Tensor ints() { return at::arange(6).view({2, 3}); }

// Torch's optimiser drops both operators, and with them the type.
TEST(EmitTorchscript, BoolsTimesOneAreIntegers) {
  const Tensors made = run(loaded(R"(graph (%x: bool[3]) {
  %0: bool[3] = aten::logical_not(self=%x)
  %1: int64[3] = aten::mul.Tensor(self=%0, other=1)
  %2: int64[3] = aten::add.Tensor(self=%0, other=0, alpha=1)
  %3: int64[3] = aten::sub.Tensor(self=%1, other=%2, alpha=1)
  return (one=%1, zero=%2, difference=%3)
}
)"),
                           {at::tensor({1, 0, 1}).to(at::kBool)});
  EXPECT_EQ(made[0].scalar_type(), at::kLong);
  EXPECT_EQ(made[1].scalar_type(), at::kLong);
  EXPECT_TRUE(made[2].equal(at::zeros({3}, at::kLong)));
}

TEST(Torchscript, OneOutputIsATensorSeveralAreATuple) {
  const std::string head =
      "graph g(%\"my port\": float32[2], %\"my-port\": float32[2]) {\n"
      "%d: float32[2] = aten::sub.Tensor(self=%\"my port\", other=%\"my-port\", alpha=1)\n";
  const at::Tensor a = at::ones({2}), b = at::full({2}, 3.0);
  auto module = loaded(head + "return (y=%d)\n}");
  EXPECT_TRUE(module.forward({a, b}).isTensor());
  const auto& schema = module.get_method("forward").function().getSchema();
  EXPECT_EQ(schema.arguments()[1].name(), "my_port");
  EXPECT_EQ(schema.arguments()[2].name(), "my_port_1");
  const Tensors several = run(head + "return (y=%d, x=%\"my port\", again=%d)\n}", {a, b});
  ASSERT_EQ(several.size(), 3U);
  expect_same(several[0], a - b);
  expect_same(several[1], a);
}

TEST(Torchscript, NumbersForTensorsPromoteAsNumbers) {
  const at::Tensor x = floats(), i = ints(), mask = x > 0;
  expect_same(run_op("aten::add.Tensor(self=%x, other=2.5, alpha=1)", "float32[2,3]", i), i + 2.5);
  expect_same(run_op("aten::add.Tensor(self=2.5, other=%x, alpha=1)", "float32[2,3]", i), i + 2.5);
  expect_same(run_op("aten::sub.Tensor(self=2, other=%x, alpha=1)", "float32[2,3]", x), 2 - x);
  expect_same(run_op("aten::eq.Tensor(self=%x, other=0)", "bool[2,3]", x), x == 0);
  expect_same(run_op("aten::pow.Tensor_Tensor(self=%x, exponent=2)", "float32[2,3]", x), at::pow(x, 2));
  expect_same(run_op("aten::pow.Tensor_Tensor(self=2, exponent=%x)", "float32[2,3]", x), at::pow(2, x));
  expect_same(run_op("aten::div.Tensor_mode(self=%x, other=2, rounding_mode=\"floor\")", "float32[2,3]", x),
              at::div(x, 2, "floor"));
  expect_same(run_op("aten::bitwise_and.Tensor(self=3, other=%x)", "int64[2,3]", i), at::bitwise_and(i, 3));
  expect_same(run_op("aten::where.self(condition=%x, self=1.5, other=2)", "float32[2,3]", mask),
              at::where(mask, 1.5, 2));
  expect_same(run_op("aten::clamp.Tensor(self=%x, min=0, max=None)", "float32[2,3]", x), x.clamp_min(0));
  expect_same(run_op("aten::maximum(self=%x, other=0)", "float32[2,3]", x), x.clamp_min(0));
  // 0.1 unrounded, as torch computes with a Python number.
  const at::Tensor half = x.to(at::kHalf);
  expect_same(run_op("aten::mul.Tensor(self=0.1, other=%x)", "float16[2,3]", half),
              at::mul(at::native::wrapped_scalar_tensor(0.1), half));
}

TEST(Torchscript, BoolsStayBools) {
  const at::Tensor mask = floats() > 0;
  for (const std::string op : {"aten::add.Tensor", "aten::add.Scalar"}) {
    expect_same(run_op(op + "(self=%x, other=True, alpha=1)", "bool[2,3]", mask), at::add(mask, c10::Scalar(true)));
  }
  expect_same(run_op("aten::full(size=[2], fill_value=True, dtype=None, layout=None, device=None, pin_memory=None)",
                     "bool[2]", mask),
              at::ones({2}, at::kBool));
}

TEST(Torchscript, LiteralsSurviveTheSourceText) {
  const at::Tensor x = floats().to(at::kDouble);
  for (const char* text : {"1e10", "12345678901.0", "-1e16", "1e17", "inf", "-inf", "nan", "-0.0", "5e-324", "1e-310",
                           "0.1", "1.7976931348623157e308", "123456789.123456789"}) {
    const double value = std::strtod(text, nullptr);
    SCOPED_TRACE(text);
    const at::Tensor product = run_op("aten::mul.Scalar(self=%x, other=" + std::string(text) + ")", "float64[2,3]", x);
    expect_same(product, x * value);
    expect_same(product.signbit(), (x * value).signbit());
    // An int would give int64.
    expect_same(run_op("aten::mul.Scalar(self=%x, other=" + std::string(text) + ")", "float32[2,3]", ints()),
                ints() * value);
  }
  const at::Tensor product = run_op("aten::mul.Scalar(self=%x, other=complex(1.0, -0.0))", "complex64[2,3]", floats());
  expect_same(at::view_as_real(product).signbit(),
              at::view_as_real(floats() * c10::complex<double>(1.0, -0.0)).signbit());
  expect_same(run_op("aten::mul.Scalar(self=%x, other=-9223372036854775808)", "int64[2,3]", ints()),
              ints() * std::numeric_limits<std::int64_t>::min());
}

TEST(Torchscript, EveryKindOfArgument) {
  const at::Tensor x = floats();
  expect_same(run_op("aten::_to_copy(self=%x, dtype=float64, layout=layout(\"strided\"), device=device(\"cpu\"), "
                     "pin_memory=None, non_blocking=False, memory_format=memory_format(\"preserve_format\"))",
                     "float64[2,3]", x),
              x.to(at::kDouble));
  expect_same(run_op("aten::sum.dim_IntList(self=%x, dim=int[], keepdim=False, dtype=None)", "float32[]", x), x.sum());
  expect_same(run_op("aten::any.dims(self=%x, dim=None, keepdim=False)", "bool[]", x > 0), (x > 0).any());
  expect_same(run_op("aten::std.correction(self=%x, dim=None, correction=None, keepdim=False)", "float32[]", x),
              x.std());
  expect_same(run_op("aten::einsum(equation=\"ij,ij->i\", tensors=[%x, %x], path=None)", "float32[2]", x),
              at::einsum("ij,ij->i", {x, x}));
  const at::Tensor image = at::arange(4, at::kFloat).view({1, 1, 2, 2});
  expect_same(run_op("aten::upsample_nearest2d.vec(input=%x, output_size=None, scale_factors=[2.0, 2.0])",
                     "float32[1,1,4,4]", image),
              at::upsample_nearest2d(image, {4, 4}));
  expect_same(run_op("aten::max_pool2d(self=%x, kernel_size=2, stride=int[], padding=0, dilation=1, ceil_mode=False)",
                     "float32[1,1,1,1]", image),
              at::max_pool2d(image, 2));
  const at::Tensor certain = at::tensor({0.0, 1.0, 0.0});
  expect_same(run("graph g(%x: float64[3]) {\n%0: int64[1] = random aten::multinomial(self=%x, num_samples=1, "
                  "replacement=False, generator=None)\nreturn (y=%0)\n}",
                  {certain.to(at::kDouble)})[0],
              at::ones({1}, at::kLong));
}

TEST(Torchscript, OptionalTensorsInLists) {
  const at::Tensor x = floats(), index = at::tensor({2, 0}, at::kLong);
  expect_same(run("graph g(%x: float32[2,3], %i: int64[2]) {\n"
                  "%0: float32[2,2] = aten::index.Tensor(self=%x, indices=[None, %i])\nreturn (y=%0)\n}",
                  {x, index})[0],
              x.index_select(1, index));
  expect_same(run("graph g(%x: float32[2,3], %i: int64[2]) {\n"
                  "%0: float32[2,3] = aten::index.Tensor(self=%x, indices=[%i])\nreturn (y=%0)\n}",
                  {x, at::tensor({1, 0}, at::kLong)})[0],
              x.flip(0));
}

TEST(Torchscript, ListsOfResultsAreUnpacked) {
  const at::Tensor x = floats();
  const Tensors split =
      run("graph g(%x: float32[2,3]) {\n%0: float32[2,1], %1: float32[2,1], %2: float32[2,1] = "
          "aten::split.Tensor(self=%x, split_size=1, dim=1)\nreturn (a=%2, b=%0)\n}",
          {x});
  expect_same(split[0], x.narrow(1, 2, 1));
  expect_same(split[1], x.narrow(1, 0, 1));
  const Tensors foreach =
      run("graph g(%x: float32[2,3], %z: int64[2,3]) {\n%0: float32[2,3], %1: float32[2,3] = "
          "aten::_foreach_add.ScalarList(self=[%x, %z], scalars=scalar[2, 1.5])\n"
          "return (a=%0, b=%1)\n}",
          {x, ints()});
  expect_same(foreach[0], x + 2);
  expect_same(foreach[1], ints() + 1.5);
  const Tensors maximum =
      run("graph g(%x: float32[2,3]) {\n%0: float32[2], %1: int64[2] = "
          "aten::max.dim(self=%x, dim=1, keepdim=False)\nreturn (i=%1)\n}",
          {x});
  expect_same(maximum[0], x.argmax(1));
}

// Inputs with strides and offsets of their own, which no value of a graph has.
TEST(Torchscript, LayoutOfInputsDoesNotShow) {
  const at::Tensor memory = at::arange(24, at::kFloat);
  for (const at::Tensor& x : {memory.slice(0, 3, 13), memory.slice(0, 1, 21, 2)}) {
    const at::Tensor plain = x.clone(at::MemoryFormat::Contiguous);
    expect_same(run_op("aten::as_strided(self=%x, size=[2, 2], stride=[1, 3], storage_offset=4)", "float32[2,2]", x),
                plain.as_strided({2, 2}, {1, 3}, 4));
    const Tensors scattered =
        run("graph g(%x: float32[10], %s: float32[2]) {\n"
            "%0: float32[10] = aten::as_strided_scatter(self=%x, src=%s, size=[2], stride=[3], storage_offset=4)\n"
            "%1: float32[2] = aten::as_strided(self=%0, size=[2], stride=[3], storage_offset=4)\n"
            "return (y=%0, z=%1)\n}",
            {x, at::full({2}, 99.0)});
    expect_same(scattered[0], at::as_strided_scatter(plain, at::full({2}, 99.0), {2}, {3}, 4));
    expect_same(scattered[1], at::full({2}, 99.0));
    expect_same(run_op("aten::view.dtype(self=%x, dtype=float64)", "float64[5]", x), plain.view(at::kDouble));
    expect_same(run_op("aten::view.dtype(self=%x, dtype=int32)", "int32[10]", x), plain.view(at::kInt));
    const at::Tensor pairs = x.as_strided({5, 2}, {x.stride(0) * 2, x.stride(0)}, x.storage_offset());
    expect_same(run_op("aten::view_as_complex(self=%x)", "complex64[5]", pairs),
                at::view_as_complex(pairs.clone(at::MemoryFormat::Contiguous)));
  }
}

// The reader of a file has one name for all of these.
TEST(Torchscript, AliasesOfOperators) {
  const at::Tensor x = floats(), square = at::eye(3) * 0.5;
  expect_same(run_op("aten::true_divide.Tensor(self=%x, other=2)", "float32[2,3]", ints()), ints() / 2);
  expect_same(run_op("aten::divide.Tensor(self=%x, other=%x)", "float32[2,3]", x), x / x);
  expect_same(run_op("aten::divide.Tensor_mode(self=%x, other=2, rounding_mode=\"floor\")", "float32[2,3]", x),
              at::div(x, 2, "floor"));
  expect_same(run_op("aten::matrix_exp(self=%x)", "float32[3,3]", square), at::matrix_exp(square));
  expect_same(run_op("aten::special_polygamma(n=1, self=%x)", "float32[2,3]", x), at::polygamma(1, x));
  expect_same(run_op("aten::swapdims(self=%x, dim0=0, dim1=1)", "float32[3,2]", x), x.t());
  expect_same(run_op("aten::moveaxis.int(self=%x, source=0, destination=1)", "float32[3,2]", x), x.t());
  expect_same(run_op("aten::clip(self=%x, min=0, max=1)", "float32[2,3]", x), x.clamp(0, 1));
}

TEST(Torchscript, ReversedSubtraction) {
  const at::Tensor x = floats(), other = at::tensor({4.0, 5.0, 6.0}, at::kFloat);
  expect_same(run("graph g(%x: float32[2,3], %o: float32[3]) {\n"
                  "%0: float32[2,3] = aten::rsub.Tensor(self=%x, other=%o, alpha=2)\nreturn (y=%0)\n}",
                  {x, other})[0],
              other - 2 * x);
  expect_same(run_op("aten::rsub.Tensor(self=%x, other=3, alpha=2)", "float32[2,3]", x), 3 - 2 * x);
  expect_same(run_op("aten::rsub.Tensor(self=3, other=%x, alpha=2)", "float32[2,3]", x), x - 6);
  expect_same(run_op("aten::rsub.Scalar(self=%x, other=1.5, alpha=1)", "float32[2,3]", ints()), at::rsub(ints(), 1.5));
}

TEST(Torchscript, NoneFitsSeveralOverloads) {
  const at::Tensor x = floats();
  for (const std::string overload : {"atol_rtol_tensor", "atol_rtol_float"}) {
    expect_same(
        run_op("aten::linalg_pinv." + overload + "(self=%x, atol=None, rtol=None, hermitian=False)", "float32[3,2]", x),
        at::linalg_pinv(x, std::optional<double>(), std::optional<double>(), false));
  }
  expect_same(run("graph g(%x: float32[2,3], %t: float32[]) {\n%0: float32[3,2] = aten::linalg_pinv.atol_rtol_tensor("
                  "self=%x, atol=%t, rtol=None, hermitian=False)\nreturn (y=%0)\n}",
                  {x, at::scalar_tensor(100.0)})[0],
              at::zeros({3, 2}));
}

TEST(Torchscript, BitsOfConjugatesAreResolved) {
  const at::Tensor x = at::complex(at::arange(3, at::kFloat), at::ones({3}));
  const std::string head = "graph g(%x: complex64[3]) {\n%0: complex64[3] = aten::conj(self=%x)\n";
  expect_same(run(head + "%1: complex64[3] = aten::resolve_conj(self=%0)\n"
                         "%2: float32[3,2] = aten::view_as_real(self=%1)\nreturn (y=%2)\n}",
                  {x})[0],
              at::view_as_real(x.conj_physical()));
  expect_same(run(head + "%1: float32[3] = aten::imag(self=%0)\n"
                         "%2: float32[3] = aten::resolve_neg(self=%1)\nreturn (y=%2)\n}",
                  {x})[0],
              at::full({3}, -1.0));
}

TEST(Torchscript, ViewsOfAnotherDtypeAndBack) {
  const at::Tensor x = floats();
  expect_same(run("graph g(%x: float32[2,3]) {\n"
                  "%0: int32[2,3] = aten::view.dtype(self=%x, dtype=int32)\n"
                  "%1: int32[2,3] = aten::bitwise_and.Scalar(self=%0, other=2147483647)\n"
                  "%2: int32[6] = aten::reshape(self=%1, shape=[6])\n"
                  "%3: float32[6] = aten::view.dtype(self=%2, dtype=float32)\n"
                  "%4: float32[6] = aten::add.Tensor(self=%3, other=0, alpha=1)\nreturn (y=%4)\n}",
                  {x})[0],
              x.abs().view({6}));
}

void* emit_chain(void* result) {
  graph::Graph graph("chain");
  graph::Value* value = graph.add_input("x", {DType::kFloat32, {2}});
  for (int i = 0; i < 50'000; ++i) {
    value = graph.append({.op = "aten::neg", .arguments = {{"self", value}}, .results = {value->type()}})->result();
  }
  graph.add_output("y", value);
  *static_cast<Result<std::string>*>(result) = emit_torchscript(graph);
  return nullptr;
}

// Torch's printer recurses into nested expressions: 100 bytes of stack for each of these operators.
TEST(Torchscript, LongChainsNeedLittleStack) {
  Result<std::string> bytes = internal_error("did not run");
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  pthread_t thread = {};
  ASSERT_EQ(pthread_create(&thread, &attributes, emit_chain, &bytes), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
}

TEST(Torchscript, ConstantsKeepTheirNames) {
  const auto module = loaded(
      "graph policy(%x: float32[1,2]) {\n"
      "%actor.0.weight = parameter float32[2,2] [1, 2, 3, 4]\n"
      "%actor = constant int64[2] [1, 1]\n"
      "%torch = parameter float32[2] [1, 1]\n"
      "%\"class.my buffer\" = constant float32[2] [1, 1]\n"
      "%0: float32[1,2] = aten::linear(input=%x, weight=%actor.0.weight, bias=%torch)\n"
      "%1: float32[1,2] = aten::mul.Tensor(self=%0, other=%actor)\n"
      "%2: float32[1,2] = aten::mul.Tensor(self=%1, other=%\"class.my buffer\")\n"
      "return (y=%2)\n}");
  std::vector<std::string> parameters, buffers;
  for (const auto& item : module.named_parameters()) {
    parameters.push_back(item.name);
    EXPECT_FALSE(item.value.requires_grad());
  }
  for (const auto& item : module.named_buffers()) buffers.push_back(item.name);
  EXPECT_EQ(parameters, (std::vector<std::string>{"actor.0.weight", "torch"}));
  EXPECT_EQ(buffers, (std::vector<std::string>{"actor_1", "class_.my_buffer"}));
  EXPECT_EQ(module.type()->name()->qualifiedName(), "__torch__.policy");
  expect_same(run(module, {at::ones({1, 2})})[0], at::tensor({4.0, 8.0}, at::kFloat).view({1, 2}));
}

TEST(Torchscript, SharedConstantsAreStoredOnce) {
  graph::Graph graph("g");
  const auto constant = to_constant(at::rand({1000}));
  ASSERT_TRUE(constant);
  graph.add_output("a", graph.add_constant(*constant, "a"));
  const std::size_t once = emit_torchscript(graph).value().size();
  graph::Constant folded = *constant;
  folded.type.shape = {10, 100};
  graph.add_output("b", graph.add_constant(folded, "b"));
  EXPECT_LT(emit_torchscript(graph).value().size(), once + 1000);
}

TEST(Torchscript, EveryDtypeGoesThroughAFile) {
  for (int i = 0; i <= static_cast<int>(DType::kFloat8E5M2); ++i) {
    const auto dtype = static_cast<DType>(i);
    SCOPED_TRACE(dtype_name(dtype));
    graph::Graph graph("g");
    const at::Tensor bytes = at::arange(static_cast<std::int64_t>(2 * dtype_size(dtype)), at::kByte);
    auto constant = to_constant(dtype == DType::kBool ? bytes.to(at::kBool) : bytes);
    constant->type = {dtype, {2}};
    graph.add_output("y", graph.add_constant(*constant, "c"));
    const auto emitted = emit_torchscript(graph);
    ASSERT_TRUE(emitted.ok()) << emitted.status().message();
    std::istringstream stream(emitted.value());
    const auto result = to_constant(torch::jit::load(stream).forward({}).toTensor());
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->same_content(*constant));
  }
}

TEST(Torchscript, BytesAreTheSameEachTime) {
  const std::string text =
      "graph g(%x: float32[2]) {\n%a.b = constant float32[2] [1, 2]\n"
      "%0: float32[2] = aten::add.Tensor(self=%x, other=1e10, alpha=1) @ \"a.py\":3 in \"f\"\n"
      "%1: float32[2] = aten::mul.Tensor(self=%0, other=%a.b) @ \"a.py\":4 in \"f\"\n"
      "return (y=%1)\n}";
  EXPECT_EQ(emitted(text), emitted(text));
}

TEST(Torchscript, ErrorsOfTheModelNameTheUsersLine) {
  auto module = loaded(
      "graph g(%x: float32[2]) {\n"
      "%0: float32[2] = aten::mm(self=%x, mat2=%x) @ \"policy.py\":12 in \"f\"\nreturn (y=%0)\n}");
  try {
    module.forward({at::ones({2})});
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("policy.py\", line 12, in f"), std::string::npos) << error.what();
  }
}

TEST(Torchscript, UnknownOperatorsNameTheUsersLine) {
  const auto bytes = emit_torchscript(parsed(
      "graph g(%x: float32[2]) {\n%0: float32[2] = my::op.v(self=%x) @ \"policy.py\":7 in \"f\"\nreturn (y=%0)\n}"));
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(bytes.status().message(), "my::op.v at policy.py:7: TorchScript has no such operator");
  EXPECT_EQ(emit_torchscript(parsed("graph g(%x: float32[2]) {\nreturn ()\n}")).status().code(),
            StatusCode::kInvalidArgument);
}

// The meta device stands for any other: an operand that stayed on the CPU is refused there.
TEST(Torchscript, ComputesWhereItWasLoadedTo) {
  const std::string made =
      "%0: float32[2] = aten::zeros(size=[2], dtype=float32, layout=None, device=device(\"cpu\"), pin_memory=None)\n"
      "%1: int64[2] = aten::arange(end=2, dtype=None, layout=None, device=None, pin_memory=None)\n"
      "%2: float32[2] = aten::add.Tensor(self=%0, other=%1, alpha=1)\n";
  const std::string with_input = "graph g(%x: float32[2]) {\n%c = constant float32[2] [1.0, 2.0]\n" + made +
                                 "%3: float32[2] = aten::mul.Tensor(self=%2, other=%c)\n"
                                 "%4: float32[2] = aten::add.Tensor(self=%3, other=%x, alpha=1)\n"
                                 "%5: int32[2] = aten::view.dtype(self=%4, dtype=int32)\nreturn (y=%4, z=%5)\n}";
  const std::string without = "graph g() {\n%c = constant float32[2] [1.0, 2.0]\n" + made +
                              "%3: float32[2] = aten::mul.Tensor(self=%2, other=%c)\nreturn (y=%3)\n}";
  expect_same(run(with_input, {at::ones({2})})[0], at::tensor({1.0, 3.0}, at::kFloat));
  expect_same(run(without, {})[0], at::tensor({0.0, 2.0}, at::kFloat));
  const auto there = [](const std::string& text, std::vector<c10::IValue> inputs) {
    std::istringstream stream(emitted(text));
    return torch::jit::load(stream, c10::Device(at::kMeta)).forward(std::move(inputs));
  };
  const c10::IValue both = there(with_input, {at::ones({2}, at::kMeta)});
  for (const c10::IValue& item : both.toTupleRef().elements()) EXPECT_TRUE(item.toTensor().is_meta());
  EXPECT_TRUE(there(without, {}).toTensor().is_meta());
}

TEST(Evaluator, FoldsConstants) {
  graph::Graph graph = parsed(
      "graph g(%x: float32[2]) {\n%c = constant int64[2] [1, 2]\n"
      "%0: float32[2] = aten::add.Tensor(self=%c, other=0.5, alpha=1)\n"
      "%1: float32[1], %2: float32[1] = aten::unbind.int(self=%0, dim=0)\n"
      "%3: float32[2] = random aten::rand_like(self=%0, dtype=None, layout=None, device=None, "
      "pin_memory=None, memory_format=None)\n"
      "%4: int64[2] = aten::index.Tensor(self=%c, indices=[%c])\n"
      "return (a=%0, b=%3, c=%4)\n}");
  EXPECT_TRUE(graph::fold_constants(graph, evaluate));
  const graph::Value* folded = graph.outputs()[0].value;
  ASSERT_EQ(folded->kind(), graph::ValueKind::kConstant);
  expect_same(to_tensor(folded->constant()), at::tensor({1.5, 2.5}, at::kFloat));
  EXPECT_EQ(graph.outputs()[1].value->kind(), graph::ValueKind::kResult);  // random
  EXPECT_EQ(graph.outputs()[2].value->kind(), graph::ValueKind::kResult);  // out of range: torch's error is not ours
}

TEST(Tensors, ShareMemory) {
  const at::Tensor tensor = at::rand({3});
  const auto constant = to_constant(tensor);
  ASSERT_TRUE(constant);
  EXPECT_EQ(constant->data.get(), tensor.const_data_ptr());
  EXPECT_EQ(to_tensor(*constant).const_data_ptr(), tensor.const_data_ptr());
  expect_same(to_tensor(*to_constant(at::arange(6).view({2, 3}).t())), at::arange(6).view({2, 3}).t());
  const auto complex = at::complex(at::ones({2}), at::ones({2})).conj();
  expect_same(to_tensor(*to_constant(complex)), complex);
}

}  // namespace
}  // namespace leapp::emit
