// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the native engine: loops over raw memory, written once with Google Highway and compiled for every
// instruction set that the machine may turn out to have. Nothing here knows of graphs.
//
// Every kernel is a function of one struct of sizes and pointers. Sizes are right and memory is there: whoever makes
// the plan has checked that. A kernel allocates nothing, takes no lock, makes no system call and throws nothing; memory
// to work in is given by the caller, who asks for its size when planning. Outputs overlap no input unless a comment
// says that they may be the same memory. Equal inputs give equal bits, whatever the alignment and the thread. A tensor
// is dense and row-major where no stride is given; strides count elements. Extents may be 0 unless it says otherwise.
// Memory is aligned to 64 bytes where the caller can see to it (arena, packed weights), ports always, slices not.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leapp::native::kernels {

/// How numbers lie in memory. Arithmetic is in float32 registers; narrower ones are widened when read and rounded to
/// nearest even when written. A bool is one byte, 0 or 1; in registers it is 0.0F or 1.0F.
enum class Storage : std::uint8_t { kFloat32, kFloat16, kBFloat16, kBool };

/// Functions of one number, with the meaning of the ONNX operators of these names (NaN in, NaN out where those do so).
enum class Unary : std::uint8_t {
  kIdentity,
  kAbs,
  kNeg,
  kExp,
  kLog,
  kSqrt,
  kReciprocal,
  kFloor,
  kCeil,
  kRound,  ///< half to even
  kSign,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kSigmoid,
  kErf,
  kRelu,
  kLeakyRelu,        ///< alpha
  kElu,              ///< alpha
  kSelu,             ///< alpha, beta is ONNX's gamma
  kCelu,             ///< alpha
  kThresholdedRelu,  ///< alpha
  kSoftplus,
  kSoftsign,
  kHardSigmoid,  ///< alpha, beta
  kHardSwish,
  kMish,
  kGelu,      ///< with erf
  kGeluTanh,  ///< ONNX's approximate="tanh"
  kSwish,     ///< x * sigmoid(alpha * x)
  kClip,      ///< min(max(x, alpha), beta); NaN stays NaN
  kNot,       ///< 1 where x is 0, else 0
  kIsNaN,
  kIsInf,  ///< alpha != 0: +inf counts; beta != 0: -inf counts
};

/// Functions of two. Comparisons and the logical ones give 0 or 1.
enum class Binary : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
  kMax,    ///< NaN if one of them is
  kMin,    ///< NaN if one of them is
  kFmod,   ///< C's fmod: the sign of a
  kPRelu,  ///< a < 0 ? a * b : a
  kEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kAnd,
  kOr,
  kXor,
};

/// A function that is applied to a result before it is written.
struct Activation {
  Unary function = Unary::kIdentity;
  float alpha = 0;
  float beta = 0;
};

// --- chains of elementwise operators: elementwise.cpp -----------------------------------------------------------

/// One operation on registers. A register is a block of float32 numbers, some hundred long, that stays in the first
/// cache.
struct ElementwiseOp {
  enum class Kind : std::uint8_t { kUnary, kBinary, kWhere };  // where: a != 0 ? b : c
  Kind kind = Kind::kUnary;
  Unary unary = Unary::kIdentity;
  Binary binary = Binary::kAdd;
  std::uint8_t result = 0;  ///< a register; may be one of a, b, c
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint8_t c = 0;
  float alpha = 0;
  float beta = 0;
};

/// An operand in memory, seen as rows x columns of the result: a stride of 0 repeats.
struct ElementwiseOperand {
  void* data = nullptr;  ///< read only where it is an input
  Storage storage = Storage::kFloat32;
  std::uint8_t reg = 0;            ///< the register it is read into before, or written from after, the operations
  std::uint8_t column_stride = 1;  ///< 0 or 1; 1 for outputs
  std::int64_t row_stride = 0;     ///< elements
};

inline constexpr std::size_t kElementwiseRegisters = 16;
inline constexpr std::size_t kElementwiseOperands = 12;
inline constexpr std::size_t kElementwiseOps = 32;

/// Reads the inputs, runs the operations in order, writes the outputs; block by block. An output may be the memory of
/// an input of the same storage and strides.
struct Elementwise {
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::uint8_t input_count = 0;
  std::uint8_t output_count = 0;
  std::uint8_t op_count = 0;
  ElementwiseOperand operands[kElementwiseOperands];  ///< inputs, then outputs
  ElementwiseOp ops[kElementwiseOps];
};
void elementwise(const Elementwise& args) noexcept;

// --- matrices: matmul.cpp ---------------------------------------------------------------------------------------

/// A constant matrix [k, n] in panels as matmul_packed reads them. `storage` is that of the panels: float32, float16 or
/// bfloat16.
[[nodiscard]] std::size_t packed_matrix_bytes(std::int64_t k, std::int64_t n, Storage storage) noexcept;

/// Element (row, column) is source[row * row_stride + column * column_stride]. `to` is aligned to 64 bytes.
struct PackMatrix {
  const void* source = nullptr;  ///< of `storage`
  Storage storage = Storage::kFloat32;
  std::int64_t k = 0;
  std::int64_t n = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  void* to = nullptr;  ///< packed_matrix_bytes
};
void pack_matrix(const PackMatrix& args) noexcept;

/// y[m, n] = activation(x[m, k] * packed[k, n] + bias[n] + addend[m, n]). Also for k of 0.
struct MatMulPacked {
  const float* x = nullptr;
  const void* packed = nullptr;
  Storage storage = Storage::kFloat32;
  const float* bias = nullptr;    ///< null: none
  const float* addend = nullptr;  ///< null: none; rows are y_stride apart; may be y
  float* y = nullptr;
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  std::int64_t x_stride = 0;  ///< from row to row
  std::int64_t y_stride = 0;
  Activation activation;
};
void matmul_packed(const MatMulPacked& args) noexcept;

/// y[m, n] = activation(scale * a[m, k] * b[k, n]) of matrices that both change; any strides.
struct MatMul {
  const float* a = nullptr;
  const float* b = nullptr;
  float* y = nullptr;  ///< dense rows, y_stride apart
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  std::int64_t a_row_stride = 0;
  std::int64_t a_column_stride = 1;
  std::int64_t b_row_stride = 0;
  std::int64_t b_column_stride = 1;
  std::int64_t y_stride = 0;
  float scale = 1;
  Activation activation;
  /// So many products one after the other, these strides apart.
  std::int64_t batch = 1;
  std::int64_t a_batch_stride = 0;
  std::int64_t b_batch_stride = 0;
  std::int64_t y_batch_stride = 0;
  void* scratch = nullptr;  ///< matmul_scratch_bytes, aligned to 64
};
[[nodiscard]] std::size_t matmul_scratch_bytes(std::int64_t m, std::int64_t k, std::int64_t n) noexcept;
void matmul(const MatMul& args) noexcept;

// --- recurrent cells: recurrent.cpp -----------------------------------------------------------------------------

/// One time step of a GRU, LSTM or simple layer for `batch` rows. What the input contributes, W x + Wb, is there
/// already, for all gates at once: `from_input` is [batch, gates * hidden] in ONNX's order of gates (GRU z r h; LSTM
/// i o f c; simple: one). `recurrent` is R transposed, [hidden, gates * hidden], packed. Gates use sigmoid and tanh.
struct RecurrentCell {
  const float* from_input = nullptr;
  std::int64_t from_input_stride = 0;  ///< from row to row
  const void* recurrent = nullptr;
  Storage storage = Storage::kFloat32;
  const float* recurrent_bias = nullptr;  ///< [gates * hidden]; null: none
  const float* peephole = nullptr;        ///< LSTM: [3 * hidden] (i o f); null: none
  const float* h = nullptr;               ///< [batch, hidden]
  const float* c = nullptr;               ///< LSTM
  float* h_next = nullptr;                ///< may be h
  float* c_next = nullptr;                ///< LSTM; may be c
  std::int64_t batch = 1;
  std::int64_t hidden = 0;
  bool linear_before_reset = false;  ///< GRU
  Activation activation;             ///< of a simple layer
  float* scratch = nullptr;          ///< batch * ((gates + 1) * hidden + 16)
};
void gru_cell(const RecurrentCell& args) noexcept;
void lstm_cell(const RecurrentCell& args) noexcept;
void simple_cell(const RecurrentCell& args) noexcept;

// --- convolution and pooling: convolution.cpp, pooling.cpp ------------------------------------------------------

/// Two spatial axes; for one, the first has extent 1. The amount of padding behind follows from the result's extents.
struct Window {
  std::int64_t kernel[2] = {1, 1};
  std::int64_t stride[2] = {1, 1};
  std::int64_t dilation[2] = {1, 1};
  std::int64_t pad[2] = {0, 0};  ///< before
};

struct ConvolutionShape {
  std::int64_t batch = 1;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t groups = 1;
  std::int64_t in[2] = {1, 1};
  std::int64_t out[2] = {1, 1};
  Window window;
};

/// The weights [out_channels, in_channels / groups, kernel...] as convolution reads them.
[[nodiscard]] std::size_t packed_convolution_bytes(const ConvolutionShape& shape, Storage storage) noexcept;
struct PackConvolution {
  ConvolutionShape shape;
  const void* source = nullptr;  ///< dense, of `storage`
  Storage storage = Storage::kFloat32;
  void* to = nullptr;
};
void pack_convolution(const PackConvolution& args) noexcept;

struct Convolution {
  ConvolutionShape shape;
  const float* x = nullptr;  ///< [batch, in_channels, in...]
  const void* packed = nullptr;
  Storage storage = Storage::kFloat32;
  const float* bias = nullptr;  ///< [out_channels]; null: none
  float* y = nullptr;           ///< [batch, out_channels, out...]
  Activation activation;
  void* scratch = nullptr;  ///< convolution_scratch_bytes, aligned to 64
};
[[nodiscard]] std::size_t convolution_scratch_bytes(const ConvolutionShape& shape) noexcept;
void convolution(const Convolution& args) noexcept;

/// The transposed convolution: weights [in_channels, out_channels / groups, kernel...], as they are in the model.
struct ConvolutionTransposed {
  ConvolutionShape shape;
  const float* x = nullptr;
  const float* weights = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;
  Activation activation;
};
void convolution_transposed(const ConvolutionTransposed& args) noexcept;

/// Planes [in...] to planes [out...]. Padding counts as minus infinity for the maximum; for the average it is counted
/// as zeros if `count_padding`, else left out of the divisor.
struct Pooling {
  const float* x = nullptr;
  float* y = nullptr;
  std::int64_t planes = 0;
  std::int64_t in[2] = {1, 1};
  std::int64_t out[2] = {1, 1};
  std::int64_t pad_end[2] = {0, 0};  ///< padding behind, for the divisor of averages
  Window window;
  bool average = false;
  bool count_padding = false;
};
void pooling(const Pooling& args) noexcept;

// --- rows: rows.cpp ---------------------------------------------------------------------------------------------

/// Along the columns of [rows, columns]; y may be x. Subtracts the maximum first.
struct Softmax {
  const float* x = nullptr;
  float* y = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool log = false;
};
void softmax(const Softmax& args) noexcept;

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias along the columns; y may be x. Two passes: the variance is
/// that of the differences. Row r reads scale and bias at (r % affine_rows) * affine_row_stride, and there one number
/// per column (affine_column_stride 1: layer norm) or one for the row (0: instance and group norm).
struct Normalise {
  const float* x = nullptr;
  float* y = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const float* scale = nullptr;  ///< null: 1
  const float* bias = nullptr;   ///< null: 0
  std::int64_t affine_rows = 1;
  std::int64_t affine_row_stride = 0;
  std::int64_t affine_column_stride = 1;
  float epsilon = 0;
  bool root_mean_square = false;       ///< RMS norm: no mean is subtracted
  float* mean = nullptr;               ///< [rows]; null: not wanted
  float* inverse_deviation = nullptr;  ///< [rows]; null: not wanted
};
void normalise(const Normalise& args) noexcept;

enum class Reduction : std::uint8_t { kSum, kMean, kMax, kMin, kProduct, kL1, kL2, kSumSquare, kLogSum, kLogSumExp };

/// y[outer, inner] of x[outer, reduced, inner]. reduced may be 0: the neutral element. NaN wins in kMax and kMin.
struct Reduce {
  Reduction reduction = Reduction::kSum;
  const float* x = nullptr;
  float* y = nullptr;
  std::int64_t outer = 1;
  std::int64_t reduced = 1;
  std::int64_t inner = 1;
};
void reduce(const Reduce& args) noexcept;

// --- attention: attention.cpp -----------------------------------------------------------------------------------

/// y = softmax(scale * q k^T + mask) v for each of `batch` heads. q is [queries, width], k [keys, width], v [keys,
/// value_width], with strides from head to head and row to row; columns are dense.
struct Attention {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  const float* mask = nullptr;  ///< [queries, keys] per head, or null
  float* y = nullptr;
  std::int64_t batch = 1;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t width = 0;
  std::int64_t value_width = 0;
  std::int64_t q_stride[2] = {0, 0};  ///< head, row
  std::int64_t k_stride[2] = {0, 0};
  std::int64_t v_stride[2] = {0, 0};
  std::int64_t y_stride[2] = {0, 0};
  std::int64_t mask_stride[2] = {0, 0};
  float scale = 1;
  void* scratch = nullptr;  ///< attention_scratch_bytes, aligned to 64
};
[[nodiscard]] std::size_t attention_scratch_bytes(const Attention& args) noexcept;
void attention(const Attention& args) noexcept;

/// The instruction set that the kernels use on this machine ("AVX3", "AVX2", "NEON"): for reports. The first call of
/// any kernel finds it out, which may make system calls: call this when loading.
[[nodiscard]] const char* instruction_set() noexcept;

}  // namespace leapp::native::kernels
