// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the native engine beside ONNX Runtime on one thread, in turns. Microseconds: the fastest and the
// median of the rounds, and the ratio of both.
//
//   kernel_models.py FOLDER && bench_kernels FOLDER LIBONNXRUNTIME
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/native/kernels/kernels.h"
#include "engine/ort/library.h"

namespace leapp::bench {
namespace {

namespace nk = native::kernels;
using Clock = std::chrono::steady_clock;

struct alignas(64) Line {
  float numbers[16];
};

/// Aligned memory that lives until the program ends, with small numbers in it.
float* memory(std::int64_t floats) {
  static std::vector<std::unique_ptr<std::vector<Line>>> all;
  all.push_back(std::make_unique<std::vector<Line>>(static_cast<std::size_t>(floats / 16 + 2)));
  float* data = all.back()->front().numbers;
  for (std::int64_t i = 0; i < floats; ++i) data[i] = 0.01F * static_cast<float>(i * 7919 % 13 - 6);
  return data;
}

const float* packed(std::int64_t k, std::int64_t n) {
  const float* source = memory(k * n);
  float* to = memory(static_cast<std::int64_t>(nk::packed_matrix_bytes(k, n, nk::Storage::kFloat32) / sizeof(float)));
  nk::pack_matrix({source, nk::Storage::kFloat32, k, n, n, 1, to});
  return to;
}

std::function<void()> mlp(std::int64_t rows, const std::vector<std::int64_t>& widths) {
  std::vector<nk::MatMulPacked> layers;
  const float* x = memory(rows * widths.front());
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    nk::MatMulPacked layer;
    layer.x = x;
    layer.m = rows, layer.k = layer.x_stride = widths[i], layer.n = layer.y_stride = widths[i + 1];
    layer.packed = packed(layer.k, layer.n);
    layer.bias = memory(layer.n);
    layer.y = memory(rows * layer.n);
    if (i + 2 < widths.size()) layer.activation = {nk::Unary::kElu, 1.0F};
    x = layer.y;
    layers.push_back(layer);
  }
  return [layers] {
    for (const nk::MatMulPacked& layer : layers) nk::matmul_packed(layer);
  };
}

std::function<void()> gru(std::int64_t width, std::int64_t hidden) {
  nk::MatMulPacked input;
  input.x = memory(width);
  input.packed = packed(width, 3 * hidden);
  input.bias = memory(3 * hidden);
  input.y = memory(3 * hidden);
  input.m = 1, input.k = input.x_stride = width, input.n = input.y_stride = 3 * hidden;
  nk::RecurrentCell cell;
  cell.from_input = input.y;
  cell.recurrent = packed(hidden, 3 * hidden);
  cell.recurrent_bias = memory(3 * hidden);
  cell.h = memory(hidden);
  cell.h_next = memory(hidden);
  cell.hidden = hidden;
  cell.linear_before_reset = true;
  cell.scratch = memory(4 * hidden + 16);
  return [input, cell] {
    nk::matmul_packed(input);
    nk::gru_cell(cell);
  };
}

nk::Convolution convolution(const float* x, std::int64_t in, std::int64_t side, std::int64_t out, std::int64_t kernel,
                            std::int64_t stride) {
  nk::Convolution args;
  args.shape.in_channels = in, args.shape.out_channels = out;
  for (int i = 0; i < 2; ++i) {
    args.shape.in[i] = side, args.shape.out[i] = (side - kernel) / stride + 1;
    args.shape.window.kernel[i] = kernel, args.shape.window.stride[i] = stride;
  }
  args.x = x;
  args.bias = memory(out);
  args.y = memory(out * args.shape.out[0] * args.shape.out[1]);
  args.activation.function = nk::Unary::kRelu;
  const auto floats = [](std::size_t bytes) { return static_cast<std::int64_t>(bytes / sizeof(float) + 1); };
  float* weights = memory(floats(nk::packed_convolution_bytes(args.shape, args.storage)));
  nk::pack_convolution({args.shape, memory(out * in * kernel * kernel), args.storage, weights});
  args.packed = weights;
  args.scratch = memory(floats(nk::convolution_scratch_bytes(args.shape)));
  return args;
}

std::function<void()> cnn() {
  const nk::Convolution first = convolution(memory(std::int64_t{4} * 84 * 84), 4, 84, 32, 8, 4);
  const nk::Convolution second = convolution(first.y, 32, 20, 64, 4, 2);
  const nk::Convolution third = convolution(second.y, 64, 9, 64, 3, 1);
  nk::MatMulPacked dense;
  dense.x = third.y;
  dense.m = 1, dense.k = dense.x_stride = 3136, dense.n = dense.y_stride = 512;
  dense.packed = packed(dense.k, dense.n);
  dense.bias = memory(dense.n);
  dense.y = memory(dense.n);
  dense.activation.function = nk::Unary::kRelu;
  return [=] {
    nk::convolution(first);
    nk::convolution(second);
    nk::convolution(third);
    nk::matmul_packed(dense);
  };
}

void check(const OrtApi& api, OrtStatus* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", api.GetErrorMessage(status));
  std::exit(1);
}

/// A run of the model with tensors in place. What it makes lives until the program ends.
std::function<void()> onnxruntime(const engine::ort::Library& library, const std::string& model,
                                  const std::vector<std::int64_t>& shape) {
  const OrtApi& api = *library.api;
  OrtSessionOptions* options = nullptr;
  check(api, api.CreateSessionOptions(&options));
  check(api, api.SetIntraOpNumThreads(options, 1));
  check(api, api.SetInterOpNumThreads(options, 1));
  check(api, api.SetSessionGraphOptimizationLevel(options, ORT_ENABLE_ALL));
  OrtSession* session = nullptr;
  check(api, api.CreateSession(library.env, model.c_str(), options, &session));
  OrtAllocator* allocator = nullptr;
  check(api, api.GetAllocatorWithDefaultOptions(&allocator));
  char* output_name = nullptr;
  check(api, api.SessionGetOutputName(session, 0, allocator, &output_name));
  OrtMemoryInfo* memory_info = nullptr;
  check(api, api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory_info));
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  OrtValue* input = nullptr;
  check(api,
        api.CreateTensorWithDataAsOrtValue(memory_info, memory(count), static_cast<std::size_t>(count) * sizeof(float),
                                           shape.data(), shape.size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
  auto output = std::make_shared<OrtValue*>(nullptr);
  return [&api, session, input, output_name, output] {
    const char* input_name = "x";
    const OrtValue* inputs[1] = {input};
    check(api, api.Run(session, nullptr, &input_name, inputs, 1, &output_name, 1, output.get()));
  };
}

/// Microseconds per call of each round.
std::vector<double> rounds(const std::function<void()>& call, int calls) {
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return times;
}

void compare(const char* name, const std::function<void()>& ours, const std::function<void()>& theirs) {
  std::vector<double> times[2];
  for (int round = 0; round < 60; ++round) {
    for (int side = 0; side < 2; ++side) {
      const std::vector<double> some = rounds(side == 0 ? ours : theirs, 60);
      times[side].insert(times[side].end(), some.begin() + 10, some.end());
    }
  }
  double fastest[2];
  double median[2];
  for (int side = 0; side < 2; ++side) {
    std::sort(times[side].begin(), times[side].end());
    fastest[side] = times[side][times[side].size() / 100];
    median[side] = times[side][times[side].size() / 2];
  }
  std::printf("%-10s  ours %8.2f %8.2f   theirs %8.2f %8.2f   ratio %.2f %.2f\n", name, fastest[0], median[0],
              fastest[1], median[1], fastest[0] / fastest[1], median[0] / median[1]);
}

int run(const std::string& folder, const std::string& path) {
  engine::Options options;
  options.onnxruntime_library = path;
  const auto library = engine::ort::find_library(options);
  if (!library.ok()) {
    std::fprintf(stderr, "%s\n", library.status().message().c_str());
    return 1;
  }
  const auto theirs = [&](const char* name, const std::vector<std::int64_t>& shape) {
    return onnxruntime(*library.value(), folder + "/" + name + ".onnx", shape);
  };
  std::printf("%s; 1st percentile and median in microseconds\n", nk::instruction_set());
  compare("mlp_small", mlp(1, {12, 32, 32, 8}), theirs("mlp_small", {1, 12}));
  compare("mlp", mlp(1, {48, 512, 256, 128, 12}), theirs("mlp", {1, 48}));
  // Reading the weights once is what a step cannot be faster than.
  const std::int64_t count = 48 * 512 + 512 * 256 + 256 * 128 + 128 * 12;
  const float* weights = memory(count);
  float* sum = memory(1);
  const auto reading = [=] { nk::reduce({nk::Reduction::kSum, weights, sum, 1, count, 1}); };
  compare("mlp/read", mlp(1, {48, 512, 256, 128, 12}), reading);
  compare("rows_50", mlp(50, {256, 1024, 256}), theirs("rows_50", {50, 256}));
  compare("gru", gru(64, 256), theirs("gru", {1, 1, 64}));
  compare("cnn", cnn(), theirs("cnn", {1, 4, 84, 84}));
  return 0;
}

}  // namespace
}  // namespace leapp::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_kernels FOLDER LIBONNXRUNTIME\n");
    return 2;
  }
  return leapp::bench::run(argv[1], argv[2]);
}
