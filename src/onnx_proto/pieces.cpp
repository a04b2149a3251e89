// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/pieces.h"

#include <iterator>
#include <utility>

#include <protozero/pbf_writer.hpp>

namespace leapp::onnx {
namespace {

// Below this, keeping a piece costs more than copying it.
constexpr std::size_t kLong = 4096;

}  // namespace

void Pieces::append(std::string bytes) {
  if (bytes.empty()) return;
  auto block = std::make_shared<const std::string>(std::move(bytes));
  const auto view = std::as_bytes(std::span(*block));
  append(Bytes{std::move(block), view});
}

void Pieces::append(Bytes bytes) {
  if (bytes.view.empty()) return;
  size_ += bytes.view.size();
  pieces_.push_back(std::move(bytes));
}

void Pieces::append(Pieces pieces) {
  for (Bytes& piece : pieces.pieces_) append(std::move(piece));
}

void Pieces::append_zeros(std::size_t count) { append(std::string(count, '\0')); }

std::string Pieces::text() const {
  std::string text;
  text.reserve(size_);
  for (const Bytes& piece : pieces_) {
    text.append(reinterpret_cast<const char*>(piece.view.data()), piece.view.size());
  }
  return text;
}

void PieceBuilder::flush() { done_.append(std::exchange(text_, {})); }

void PieceBuilder::add(Bytes bytes) {
  if (bytes.view.size() < kLong) {
    text_.append(reinterpret_cast<const char*>(bytes.view.data()), bytes.view.size());
  } else {
    flush();
    done_.append(std::move(bytes));
  }
}

void PieceBuilder::add_shared(std::span<const std::byte> bytes) { add({nullptr, bytes}); }

void PieceBuilder::add_field(std::uint32_t field, std::string_view content) {
  text_ += field_header(field, content.size());
  text_ += content;
}

void PieceBuilder::add_field(std::uint32_t field, Pieces&& content) {
  text_ += field_header(field, content.size());
  for (const Bytes& piece : content.pieces()) add(piece);
}

void PieceBuilder::add_field(std::uint32_t field, std::int64_t value) {
  protozero::pbf_writer(text_).add_int64(field, value);
}

Pieces PieceBuilder::take() && {
  flush();
  return std::move(done_);
}

std::string field_header(std::uint32_t field, std::size_t length) {
  std::string text;
  constexpr std::uint32_t kLengthDelimited = 2;
  protozero::write_varint(std::back_inserter(text), (field << 3U) | kLengthDelimited);
  protozero::write_varint(std::back_inserter(text), length);
  return text;
}

}  // namespace leapp::onnx
