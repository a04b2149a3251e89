// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "engine/native/kernels/levels_test.h"

namespace leapp::native::kernels {
namespace {

class RecurrentTest : public LevelTest {};
INSTANTIATE_TEST_SUITE_P(Levels, RecurrentTest, all_levels(), level_name);

double gate_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A cell with random numbers in all its places.
struct Cell {
  Cell(std::int64_t gates, std::int64_t rows, std::int64_t units)
      : batch(rows),
        hidden(units),
        x(random_floats(batch * gates * hidden, 1)),
        weights(random_floats(gates * hidden * hidden, 2)),
        bias(random_floats(gates * hidden, 3)),
        peephole(random_floats(3 * hidden, 4)),
        h(random_floats(batch * hidden, 5)),
        c(random_floats(batch * hidden, 6)),
        packed(packed_matrix_bytes(hidden, gates * hidden, Storage::kFloat32)),
        scratch(static_cast<std::size_t>(batch * ((gates + 1) * hidden + 16))),
        gate_count(gates) {
    pack_matrix({weights.data(), Storage::kFloat32, hidden, gates * hidden, 1, hidden, packed.data()});
    args.from_input = x.data();
    args.from_input_stride = gates * hidden;
    args.recurrent = packed.data();
    args.recurrent_bias = bias.data();
    args.h = h.data(), args.c = c.data();
    h_next = h, c_next = c;
    args.h_next = h_next.data(), args.c_next = c_next.data();
    args.batch = batch, args.hidden = hidden;
    args.scratch = scratch.data();
  }

  [[nodiscard]] double input(std::int64_t row, std::int64_t gate, std::int64_t i) const {
    return x[static_cast<std::size_t>((row * gate_count + gate) * hidden + i)];
  }

  /// R h + Rb of a gate, with h what `of` says.
  template <class F>
  [[nodiscard]] double recurrent(std::int64_t gate, std::int64_t i, F of) const {
    double sum = bias[static_cast<std::size_t>(gate * hidden + i)];
    for (std::int64_t k = 0; k < hidden; ++k) {
      sum += of(k) * weights[static_cast<std::size_t>((gate * hidden + i) * hidden + k)];
    }
    return sum;
  }

  std::int64_t batch;
  std::int64_t hidden;
  std::vector<float> x, weights, bias, peephole, h, c, h_next, c_next;
  Aligned packed;
  std::vector<float> scratch;
  std::int64_t gate_count;
  RecurrentCell args;
};

const std::pair<std::int64_t, std::int64_t> kSizes[] = {{1, 1}, {1, 8}, {2, 12}, {3, 16}, {1, 37}, {8, 24}};

TEST_P(RecurrentTest, GruBothWays) {
  for (const auto& [batch, hidden] : kSizes) {
    for (const bool linear : {false, true}) {
      Cell cell(3, batch, hidden);
      cell.args.linear_before_reset = linear;
      gru_cell(cell.args);
      for (std::int64_t row = 0; row < batch; ++row) {
        const auto h = [&, at = row * hidden](std::int64_t k) { return cell.h[static_cast<std::size_t>(at + k)]; };
        const auto reset = [&](std::int64_t k) {
          return gate_sigmoid(cell.input(row, 1, k) + cell.recurrent(1, k, h));
        };
        for (std::int64_t i = 0; i < hidden; ++i) {
          const double z = gate_sigmoid(cell.input(row, 0, i) + cell.recurrent(0, i, h));
          const double inner = linear ? reset(i) * cell.recurrent(2, i, h)
                                      : cell.recurrent(2, i, [&](std::int64_t k) { return reset(k) * h(k); });
          const double wanted = (1 - z) * std::tanh(cell.input(row, 2, i) + inner) + z * h(i);
          ASSERT_NEAR(cell.h_next[static_cast<std::size_t>(row * hidden + i)], wanted, 1e-5)
              << batch << ' ' << hidden << ' ' << linear << ' ' << i;
        }
      }
    }
  }
}

TEST_P(RecurrentTest, GruInPlace) {
  for (const bool linear : {false, true}) {
    Cell apart(3, 2, 20);
    Cell in_place(3, 2, 20);
    apart.args.linear_before_reset = in_place.args.linear_before_reset = linear;
    in_place.args.h_next = in_place.h.data();
    gru_cell(apart.args);
    gru_cell(in_place.args);
    EXPECT_EQ(apart.h_next, in_place.h);
  }
}

TEST_P(RecurrentTest, LstmWithAndWithoutPeepholes) {
  for (const auto& [batch, hidden] : kSizes) {
    for (const bool peephole : {false, true}) {
      Cell cell(4, batch, hidden);
      if (peephole) cell.args.peephole = cell.peephole.data();
      lstm_cell(cell.args);
      for (std::int64_t row = 0; row < batch; ++row) {
        const auto h = [&, at = row * hidden](std::int64_t k) { return cell.h[static_cast<std::size_t>(at + k)]; };
        for (std::int64_t i = 0; i < hidden; ++i) {
          const auto gate = [&](std::int64_t g) { return cell.input(row, g, i) + cell.recurrent(g, i, h); };
          const auto peek = [&, hidden = hidden](std::int64_t g) {
            return peephole ? static_cast<double>(cell.peephole[static_cast<std::size_t>(g * hidden + i)]) : 0.0;
          };
          const double c = cell.c[static_cast<std::size_t>(row * hidden + i)];
          const double next =
              gate_sigmoid(gate(2) + peek(2) * c) * c + gate_sigmoid(gate(0) + peek(0) * c) * std::tanh(gate(3));
          ASSERT_NEAR(cell.c_next[static_cast<std::size_t>(row * hidden + i)], next, 1e-5);
          ASSERT_NEAR(cell.h_next[static_cast<std::size_t>(row * hidden + i)],
                      gate_sigmoid(gate(1) + peek(1) * next) * std::tanh(next), 1e-5);
        }
      }
    }
  }
}

TEST_P(RecurrentTest, SimpleLayer) {
  Cell cell(1, 2, 19);
  cell.args.activation.function = Unary::kTanh;
  simple_cell(cell.args);
  for (std::int64_t i = 0; i < 2 * 19; ++i) {
    const auto h = [&](std::int64_t k) { return cell.h[static_cast<std::size_t>(i / 19 * 19 + k)]; };
    const double sum = cell.input(i / 19, 0, i % 19) + cell.recurrent(0, i % 19, h);
    ASSERT_NEAR(cell.h_next[static_cast<std::size_t>(i)], std::tanh(sum), 1e-5);
  }
}

}  // namespace
}  // namespace leapp::native::kernels
