// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "array_in.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "base/text.h"
#include "common/exceptions.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

constexpr std::int32_t kCudaHost = 3;  // memory of the CPU that a GPU sees too

std::optional<DType> integer(std::size_t width, bool is_signed) {
  switch (width) {
    case 1:
      return is_signed ? DType::kInt8 : DType::kUInt8;
    case 2:
      return is_signed ? DType::kInt16 : DType::kUInt16;
    case 4:
      return is_signed ? DType::kInt32 : DType::kUInt32;
    case 8:
      return is_signed ? DType::kInt64 : DType::kUInt64;
    default:
      return std::nullopt;
  }
}

std::optional<DType> floating(std::size_t width) {
  return width == 2   ? std::optional(DType::kFloat16)
         : width == 4 ? std::optional(DType::kFloat32)
         : width == 8 ? std::optional(DType::kFloat64)
                      : std::nullopt;
}

/// What a format of the buffer protocol means, if it is one letter in this machine's byte order.
std::optional<DType> from_format(const char* format, std::size_t width) {
  if (format == nullptr) return DType::kUInt8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (*format == '>' && width == 1) ++format;
  if (*format == '\0' || format[1] != '\0') return std::nullopt;
  const std::string_view letter(format, 1);
  if (letter == "?") return DType::kBool;
  if (std::string_view("efd").find(letter) != std::string_view::npos) return floating(width);
  if (std::string_view("bhilqn").find(letter) != std::string_view::npos) return integer(width, true);
  if (std::string_view("BHILQN").find(letter) != std::string_view::npos) return integer(width, false);
  return std::nullopt;
}

std::optional<DType> from_dlpack(dlpack::DataType type) {
  if (type.lanes != 1) return std::nullopt;
  switch (type.code) {
    case dlpack::TypeCode::kInt:
      return integer(type.bits / 8U, true);
    case dlpack::TypeCode::kUInt:
      return integer(type.bits / 8U, false);
    case dlpack::TypeCode::kFloat:
      return type.bits % 8U == 0 ? floating(type.bits / 8U) : std::nullopt;
    case dlpack::TypeCode::kBFloat:
      return type.bits == 16 ? std::optional(DType::kBFloat16) : std::nullopt;
    case dlpack::TypeCode::kBool:
      return type.bits == 8 ? std::optional(DType::kBool) : std::nullopt;
  }
  return std::nullopt;
}

/// The attribute, or nothing and no exception.
nb::object attribute(nb::handle object, const char* name) {
  PyObject* found = PyObject_GetAttrString(object.ptr(), name);
  if (found == nullptr) PyErr_Clear();
  return nb::steal(found);
}

dlpack::ExchangeApi* exchange_api(nb::handle type) {
  const nb::object capsule = attribute(type, "__dlpack_c_exchange_api__");
  if (!capsule.is_valid() || !PyCapsule_CheckExact(capsule.ptr())) return nullptr;
  auto* api = static_cast<dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (api == nullptr) PyErr_Clear();
  while (api != nullptr && api->version.major != 1) api = api->previous;
  return api;
}

/// The method of torch's tensors that gives one whose memory holds its values and is the CPU's; null: it does already.
const char* needed_copy(nb::handle value, std::int32_t device) {
  if (device != dlpack::kCpu && device != kCudaHost) {
    return PyObject_HasAttrString(value.ptr(), "cpu") != 0 ? "cpu" : nullptr;
  }
  static PyObject* is_neg = nullptr;
  if (is_neg == nullptr) is_neg = PyUnicode_InternFromString("is_neg");
  const nb::object negative = nb::steal(PyObject_CallMethodObjArgs(value.ptr(), is_neg, nullptr));
  PyErr_Clear();
  return negative.ptr() == Py_True ? "resolve_neg" : nullptr;
}

/// A tensor of torch's on a device that DLPack has no word for, or that torch hands out only to its like.
bool is_elsewhere(nb::handle value) {
  return attribute(value, "is_cpu").ptr() == Py_False && attribute(value, "is_meta").ptr() != Py_True;
}

template <typename T>
void gather(const std::byte* from, std::int64_t stride, std::int64_t count, std::byte*& to) {
  for (std::int64_t i = 0; i < count; ++i, to += sizeof(T)) std::memcpy(to, from + i * stride, sizeof(T));
}

/// One row of elements `stride` bytes apart.
void gather_row(const std::byte* from, std::int64_t stride, std::int64_t count, std::size_t width, std::byte*& to) {
  if (width == 1) return gather<std::uint8_t>(from, stride, count, to);
  if (width == 2) return gather<std::uint16_t>(from, stride, count, to);
  if (width == 4) return gather<std::uint32_t>(from, stride, count, to);
  gather<std::uint64_t>(from, stride, count, to);
}

}  // namespace

ArrayIn::~ArrayIn() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
  if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
  if (versioned_ != nullptr && versioned_->deleter != nullptr) versioned_->deleter(versioned_);
}

void ArrayIn::open(nb::handle value, std::string_view where) {
  owner_ = nb::borrow(value);
  const bool seen = open_buffer(value) || open_exchange(value) || open_capsule(value);
  if (!seen && PyErr_Occurred() != nullptr) {
    raise(invalid_argument(
        fmt::format("{}: this {} cannot be read: {}", where, python::type_text(value), take_exception())));
  }
  if (!seen) {
    raise(wrong_type(fmt::format("{}: expected a torch tensor, a NumPy array or another array with DLPack, found {}",
                                 where, python::type_text(value))));
  }
  if (device_ != dlpack::kCpu && device_ != kCudaHost) {
    raise(invalid_argument(
        fmt::format("{}: expected memory of the CPU, found a device of DLPack's type {}", where, device_)));
  }
  std::int64_t count = 1;
  for (const std::int64_t extent : shape()) count *= extent;
  if (data_ == nullptr && count != 0) {
    raise(invalid_argument(fmt::format("{}: this {} has no memory to read from", where, python::type_text(value))));
  }
}

std::string ArrayIn::type_text() const {
  return dtype_ ? leapp::type_text(*dtype_, shape()) : fmt::format("{} {}", unknown_type_, shape_text(shape()));
}

bool ArrayIn::open_buffer(nb::handle value) {
  if (PyObject_CheckBuffer(value.ptr()) == 0) return false;
  if (PyObject_GetBuffer(value.ptr(), &buffer_, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return open_bfloat16(value);
  }
  see_buffer();
  return true;
}

// NumPy has no bfloat16; packages that add it cannot show it as a buffer.
bool ArrayIn::open_bfloat16(nb::handle value) {
  const nb::object dtype = attribute(value, "dtype");
  const nb::object name = dtype.is_valid() ? attribute(dtype, "name") : nb::object();
  if (!name.is_valid() || !nb::isinstance<nb::str>(name)) return false;
  if (text_of(name) != "bfloat16") return false;
  owner_ = value.attr("view")("uint16");
  if (PyObject_GetBuffer(owner_.ptr(), &buffer_, PyBUF_RECORDS_RO) != 0) return false;
  see_buffer();
  dtype_ = DType::kBFloat16;
  return true;
}

void ArrayIn::see_buffer() {
  static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
  data_ = static_cast<const std::byte*>(buffer_.buf);
  width_ = static_cast<std::size_t>(buffer_.itemsize);
  rank_ = static_cast<std::size_t>(buffer_.ndim);
  shape_ = reinterpret_cast<const std::int64_t*>(buffer_.shape);
  strides_ = reinterpret_cast<const std::int64_t*>(buffer_.strides);
  dtype_ = from_format(buffer_.format, width_);
  if (!dtype_) unknown_type_ = fmt::format("format '{}'", buffer_.format);
}

// torch, and whoever else has it: without a call into Python.
bool ArrayIn::open_exchange(nb::handle value) {
  const dlpack::ExchangeApi* api = exchange_api(value.type());
  if (api == nullptr || api->tensor_from_object == nullptr) return false;
  dlpack::DLTensor tensor;
  if (api->tensor_from_object(value.ptr(), &tensor) != 0) {
    nb::python_error refusal;  // takes the exception
    if (!is_elsewhere(value)) refusal.restore();
    return false;
  }
  if (const char* remedy = needed_copy(value, tensor.device.device_type)) {
    const nb::object copy = attribute(value, remedy);
    owner_ = nb::steal(PyObject_CallNoArgs(copy.ptr()));
    if (!owner_.is_valid() || api->tensor_from_object(owner_.ptr(), &tensor) != 0) return false;
  }
  see_tensor(tensor);
  return true;
}

bool ArrayIn::open_capsule(nb::handle value) {
  if (PyErr_Occurred() != nullptr) return false;
  nb::object source = nb::borrow(value);
  if (attribute(value, "requires_grad").ptr() == Py_True) source = value.attr("detach")();
  if (is_elsewhere(source)) source = source.attr("cpu")();
  if (const char* remedy = needed_copy(source, dlpack::kCpu)) source = source.attr(remedy)();
  const nb::object make = attribute(source, "__dlpack__");
  if (!make.is_valid()) return false;
  nb::object capsule;
  try {
    capsule = make(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) return error.restore(), false;
    capsule = nb::steal(PyObject_CallNoArgs(make.ptr()));  // before DLPack 1.0
    if (!capsule.is_valid()) return false;
  }
  // A capsule is used up by giving it another name.
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    versioned_ =
        static_cast<dlpack::ManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    see_tensor(versioned_->tensor);
    return true;
  }
  managed_ = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (managed_ == nullptr) return false;
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  see_tensor(managed_->tensor);
  return true;
}

void ArrayIn::see_tensor(const dlpack::DLTensor& tensor) {
  data_ = static_cast<const std::byte*>(tensor.data);
  if (data_ != nullptr) data_ += tensor.byte_offset;
  device_ = tensor.device.device_type;
  width_ = (static_cast<std::size_t>(tensor.dtype.bits) * tensor.dtype.lanes + 7) / 8;
  rank_ = static_cast<std::size_t>(tensor.ndim);
  shape_ = tensor.shape;
  strides_ = tensor.strides;
  stride_unit_ = static_cast<std::int64_t>(width_);
  dtype_ = from_dlpack(tensor.dtype);
  if (!dtype_) {
    unknown_type_ = fmt::format("type {} of DLPack with {} bits", static_cast<int>(tensor.dtype.code),
                                tensor.dtype.bits * tensor.dtype.lanes);
  }
}

void ArrayIn::copy_to(void* target) const {
  auto* to = static_cast<std::byte*>(target);
  // The axes from `dense` on lie in memory as they shall lie in the target.
  std::size_t dense = rank_;
  auto row = static_cast<std::int64_t>(width_);
  while (dense > 0 && (strides_ == nullptr || shape_[dense - 1] == 1 || strides_[dense - 1] * stride_unit_ == row)) {
    row *= shape_[--dense];
  }
  if (dense == 0) {
    if (row != 0) std::memcpy(to, data_, static_cast<std::size_t>(row));
    return;
  }
  for (const std::int64_t extent : shape()) {
    if (extent == 0) return;
  }
  std::vector<std::int64_t> at(dense, 0);
  const std::size_t last = dense - 1;
  const bool single = row == static_cast<std::int64_t>(width_);
  const std::byte* from = data_;
  while (true) {
    const std::int64_t stride = strides_[last] * stride_unit_;
    if (single) {
      gather_row(from, stride, shape_[last], width_, to);
    } else {
      for (std::int64_t i = 0; i < shape_[last]; ++i, to += row) std::memcpy(to, from + i * stride, row);
    }
    std::size_t axis = last;
    while (true) {
      if (axis == 0) return;
      --axis;
      from += strides_[axis] * stride_unit_;
      if (++at[axis] < shape_[axis]) break;
      from -= strides_[axis] * stride_unit_ * shape_[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace leapp::python
