// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files that take messages apart share: protozero's types under our names.
#pragma once

#include <protozero/data_view.hpp>
#include <protozero/pbf_message.hpp>
#include <protozero/types.hpp>
#include <span>
#include <string_view>

#include "onnx_proto/reader.h"

namespace leapp::onnx {

// As deep as ONNX Runtime follows graphs at most.
inline constexpr int kDeepestGraph = 64;
// protobuf itself stops at a hundred messages inside each other.
inline constexpr int kDeepestMessage = 100;

template <typename Field>
using Message = protozero::pbf_message<Field>;

template <typename Field>
constexpr protozero::pbf_tag_type number(Field field) {
  return static_cast<protozero::pbf_tag_type>(field);
}

inline std::string_view text(protozero::data_view view) { return {view.data(), view.size()}; }
inline Encoded encoded(protozero::data_view view) { return std::as_bytes(std::span(view.data(), view.size())); }
inline protozero::data_view view_of(Encoded bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace leapp::onnx
