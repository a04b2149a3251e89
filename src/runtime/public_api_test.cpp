// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls every public function that needs no torch, from a program that links libleapp_runtime.so and nothing else of
// ours: what is declared in a public header and not shown by the library fails to link here.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "leapp/base/dtype.h"
#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/base/tensor_view.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/reader.h"
#include "leapp/bundle/spec.h"
#include "leapp/engine/options.h"
#include "leapp/runtime/options.h"
#include "leapp/runtime/pipeline.h"

namespace leapp {
namespace {

TEST(PublicApi, Base) {
  EXPECT_EQ(dtype_name(DType::kBFloat16), "bfloat16");
  EXPECT_EQ(parse_dtype("int8"), DType::kInt8);
  EXPECT_EQ(dtype_size(DType::kFloat64), 8U);
  EXPECT_FALSE(is_port_dtype(DType::kComplex64));
  EXPECT_FALSE(internal_error("x").ok());
}

TEST(PublicApi, Bundle) {
  EXPECT_FALSE(bundle::parse_bundle("[").ok());
  EXPECT_EQ(bundle::read_bundle("/nowhere").status().code(), StatusCode::kIo);
  EXPECT_FALSE(bundle::locate_file("/", "nowhere").ok());
  EXPECT_FALSE(bundle::read_model("/", {}).ok());
  EXPECT_FALSE(bundle::parse_safetensors({}).ok());
  EXPECT_FALSE(bundle::read_file("/nowhere", 1).ok());
  bundle::BundleSpec spec;
  spec.models = {{.name = "a", .inputs = {}, .outputs = {{.name = "y", .shape = {1}}}, .parameters = {}}};
  EXPECT_FALSE(bundle::resolve_wiring(spec).problems.empty());
  EXPECT_FALSE(bundle::check_wiring(spec).ok());
  EXPECT_FALSE(bundle::join_problems(bundle::find_model_problems(spec)).ok());
}

// Never called: that it links is the test.
void use(runtime::Pipeline& pipeline) {
  (void)pipeline.prepare();
  (void)pipeline.step();
  (void)pipeline.error();
  (void)pipeline.fusion();
  pipeline.reset(runtime::ResetMode::kZeros);
  (void)pipeline.input<float>(pipeline.inputs().front());
  (void)pipeline.output<float>(pipeline.outputs().front());
  (void)pipeline.feedback_input(pipeline.feedback_inputs().front());
  (void)pipeline.set_input_value("a/x", {});
  (void)pipeline.spec();
  runtime::Pipeline other(std::move(pipeline));
  pipeline = std::move(other);
}

TEST(PublicApi, Runtime) {
  const runtime::LoadOptions options{.engine = {.intra_op_threads = 1}};
  auto pipeline = runtime::Pipeline::load("/nowhere.yaml", options);
  EXPECT_FALSE(pipeline.ok());
  if (pipeline.ok()) use(pipeline.value());
}

}  // namespace
}  // namespace leapp
