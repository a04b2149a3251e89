// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/declared.h"

#include <algorithm>
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <span>

#include "onnx_proto/fields.h"
#include "onnx_proto/messages.h"

namespace leapp::onnx {
namespace {

constexpr protozero::pbf_tag_type kDims = 3;  // of a sparse tensor

void multiply(protozero::pbf_reader& message, double& count) {
  if (message.wire_type() == protozero::pbf_wire_type::varint) {
    count *= std::max(0.0, static_cast<double>(message.get_int64()));
  } else if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const std::int64_t extent : message.get_packed_int64()) count *= std::max(0.0, static_cast<double>(extent));
  } else {
    message.skip();
  }
}

}  // namespace

Declared declared(Encoded bytes) {
  Declared tensor;
  protozero::pbf_reader message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (message.next()) {
    const bool varint = message.wire_type() == protozero::pbf_wire_type::varint;
    if (message.tag() == number(TensorField::kDims)) {
      multiply(message, tensor.elements);
    } else if (varint && message.tag() == number(TensorField::kDataType)) {
      const auto dtype = dtype_of(message.get_int32());
      tensor.width = dtype ? static_cast<double>(dtype_size(*dtype)) : Declared().width;
    } else if (varint && message.tag() == number(TensorField::kDataLocation)) {
      tensor.external = message.get_int32() == kExternalLocation;
    } else {
      message.skip();
    }
  }
  return tensor;
}

double dense_bytes(Encoded bytes) {
  Declared dense;
  protozero::pbf_reader message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (message.next()) {
    if (message.tag() == kDims) {
      multiply(message, dense.elements);
    } else if (message.tag() == number(SparseTensorField::kValues) &&
               message.wire_type() == protozero::pbf_wire_type::length_delimited) {
      const protozero::data_view values = message.get_view();
      dense.width = declared(std::as_bytes(std::span(values.data(), values.size()))).width;
    } else {
      message.skip();
    }
  }
  return dense.bytes();
}

}  // namespace leapp::onnx
