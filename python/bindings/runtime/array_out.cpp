// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "array_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "common/exceptions.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

constexpr std::size_t kAlignment = 64;

dlpack::DataType to_dlpack(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * dtype_size(dtype));
  switch (dtype) {
    case DType::kFloat16:
    case DType::kFloat32:
    case DType::kFloat64:
      return {dlpack::TypeCode::kFloat, bits, 1};
    case DType::kBFloat16:
      return {dlpack::TypeCode::kBFloat, bits, 1};
    case DType::kUInt8:
      return {dlpack::TypeCode::kUInt, bits, 1};
    case DType::kBool:
      return {dlpack::TypeCode::kBool, bits, 1};
    default:
      return {dlpack::TypeCode::kInt, bits, 1};
  }
}

std::size_t padded(std::size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

/// A tensor of DLPack, its extents and, when it is not `borrowed`, its elements, in one piece of memory.
template <typename Managed>
Managed* make_managed(DType dtype, std::span<const std::int64_t> shape, void* borrowed) {
  std::size_t bytes = borrowed == nullptr ? dtype_size(dtype) : 0;
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  const std::size_t head = padded(sizeof(Managed) + 2 * shape.size() * sizeof(std::int64_t));
  void* memory = std::aligned_alloc(kAlignment, head + padded(std::max<std::size_t>(bytes, 1)));
  if (memory == nullptr) throw std::bad_alloc();
  auto* managed = new (memory) Managed;
  auto* extents = reinterpret_cast<std::int64_t*>(managed + 1);
  std::int64_t* strides = extents + shape.size();
  std::copy(shape.begin(), shape.end(), extents);
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  managed->tensor.data = borrowed == nullptr ? static_cast<std::byte*>(memory) + head : borrowed;
  managed->tensor.ndim = static_cast<std::int32_t>(shape.size());
  managed->tensor.dtype = to_dlpack(dtype);
  managed->tensor.shape = extents;
  managed->tensor.strides = strides;
  managed->deleter = [](Managed* self) { std::free(self); };
  return managed;
}

void drop_capsule(PyObject* capsule) {
  // A capsule that was used up has another name.
  if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;
  auto* managed = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  managed->deleter(managed);
}

nb::object to_torch(const dlpack::ExchangeApi* api, dlpack::ManagedTensorVersioned* managed) {
  void* object = nullptr;
  if (api->managed_tensor_to_object(managed, &object) != 0) throw nb::python_error();
  return nb::steal(static_cast<PyObject*>(object));
}

nb::object to_torch(const nb::object& from_capsule, dlpack::ManagedTensor* managed) {
  const nb::object capsule = nb::steal(PyCapsule_New(managed, "dltensor", drop_capsule));
  if (!capsule.is_valid()) throw nb::python_error();
  return from_capsule(capsule);
}

/// Null when torch is not loaded, or not yet whole.
nb::object loaded_torch() {
  static PyObject* name = nullptr;
  if (name == nullptr) name = PyUnicode_InternFromString("torch");
  PyObject* module = PyDict_GetItemWithError(PyImport_GetModuleDict(), name);
  if (module == nullptr || module == Py_None || PyObject_HasAttrString(module, "Tensor") == 0) return {};
  return nb::borrow(module);
}

struct TorchFunctions {
  const dlpack::ExchangeApi* exchange = nullptr;
  PyObject* from_capsule = nullptr;  // kept for good
};

const TorchFunctions& functions_of(const nb::object& torch) {
  static TorchFunctions* known = nullptr;
  if (known != nullptr) return *known;
  TorchFunctions functions;
  PyObject* capsule = PyObject_GetAttrString(torch.attr("Tensor").ptr(), "__dlpack_c_exchange_api__");
  if (capsule != nullptr) {
    functions.exchange = static_cast<dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
    Py_DECREF(capsule);
  }
  PyErr_Clear();
  while (functions.exchange != nullptr && functions.exchange->version.major != 1) {
    functions.exchange = functions.exchange->previous;
  }
  if (functions.exchange == nullptr) {
    functions.from_capsule = nb::object(nb::module_::import_("torch.utils.dlpack").attr("from_dlpack")).release().ptr();
  }
  known = new TorchFunctions(functions);
  return *known;
}

/// numpy.empty, and the dtypes of NumPy in the order of DType. Kept for good.
struct NumpyFunctions {
  PyObject* empty = nullptr;
  std::vector<PyObject*> dtypes;
};

// No guarded statics in this file: an import lets other threads run, and one of them would wait for the guard with
// Python's lock in its hands.
const NumpyFunctions& numpy() {
  static NumpyFunctions* known = nullptr;
  if (known != nullptr) return *known;
  const nb::module_ module = nb::module_::import_("numpy");
  auto* found = new NumpyFunctions;
  found->empty = nb::object(module.attr("empty")).release().ptr();
  for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kInt8,
                            DType::kInt16, DType::kInt32, DType::kInt64, DType::kUInt8, DType::kBool}) {
    const std::string name(dtype == DType::kBFloat16 ? "uint16" : dtype_name(dtype));
    found->dtypes.push_back(nb::object(module.attr("dtype")(name.c_str())).release().ptr());
  }
  known = found;
  return *known;
}

ArrayOut make_numpy(const PortInfo& port) {
  const NumpyFunctions& functions = numpy();
  PyObject* arguments[] = {nullptr, port.extents.ptr(), functions.dtypes[static_cast<std::size_t>(port.dtype)]};
  PyObject* array = PyObject_Vectorcall(functions.empty, arguments + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  if (array == nullptr) throw nb::python_error();
  ArrayOut made{nb::steal(array), nullptr};
  Py_buffer buffer;
  if (PyObject_GetBuffer(array, &buffer, PyBUF_CONTIG) != 0) throw nb::python_error();
  made.data = buffer.buf;  // stays: nobody else knows the array yet
  PyBuffer_Release(&buffer);
  return made;
}

}  // namespace

ArrayLibrary ArrayLibrary::current() {
  ArrayLibrary library;
  const nb::object torch = loaded_torch();
  if (!torch.is_valid()) return library;
  const TorchFunctions& functions = functions_of(torch);
  library.exchange_ = functions.exchange;
  if (functions.from_capsule != nullptr) library.from_capsule_ = nb::borrow(functions.from_capsule);
  return library;
}

void ArrayLibrary::check(const std::vector<PortInfo>& ports) const {
  if (exchange_ != nullptr || from_capsule_.is_valid()) return;
  for (const PortInfo& port : ports) {
    if (port.dtype != DType::kBFloat16) continue;
    raise(invalid_argument(fmt::format("{} is bfloat16, which NumPy does not have: import torch first", port.name)));
  }
}

ArrayOut ArrayLibrary::make(const PortInfo& port) const {
  return exchange_ != nullptr || from_capsule_.is_valid() ? make_torch(port) : make_numpy(port);
}

ArrayOut ArrayLibrary::make_torch(const PortInfo& port) const {
  if (exchange_ != nullptr) {
    auto* managed = make_managed<dlpack::ManagedTensorVersioned>(port.dtype, port.shape, nullptr);
    void* data = managed->tensor.data;
    return {to_torch(exchange_, managed), data};
  }
  auto* managed = make_managed<dlpack::ManagedTensor>(port.dtype, port.shape, nullptr);
  void* data = managed->tensor.data;
  return {to_torch(from_capsule_, managed), data};
}

nb::object borrowed_tensor(DType dtype, std::span<const std::int64_t> shape, void* data) {
  const TorchFunctions& functions = functions_of(nb::module_::import_("torch"));
  if (functions.exchange != nullptr) {
    return to_torch(functions.exchange, make_managed<dlpack::ManagedTensorVersioned>(dtype, shape, data));
  }
  return to_torch(nb::borrow(functions.from_capsule), make_managed<dlpack::ManagedTensor>(dtype, shape, data));
}

}  // namespace leapp::python
