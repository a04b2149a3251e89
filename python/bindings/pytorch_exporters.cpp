// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "pytorch_exporters.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor_caster.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

using exporter::Pt2Model;
using exporter::PytorchAnswer;
using exporter::PytorchRequest;

/// A graph as leapp.pytorch_exporters takes it.
class GraphToPython {
 public:
  explicit GraphToPython(const PytorchRequest& request)
      : request_(request),
        torch_(nb::module_::import_("torch")),
        exporters_(nb::module_::import_("leapp.exporters.pytorch")) {}

  [[nodiscard]] nb::object graph(const graph::Graph& graph) const {
    nb::list inputs;
    for (const auto& input : graph.inputs()) inputs.append(input->name());
    nb::list constants;
    for (const auto& value : graph.constants()) {
      const at::Tensor& tensor = request_.constants.at(value.get());
      constants.append(nb::make_tuple(value->name(), tensor, value->constant().parameter));
    }
    nb::list operators;
    for (const auto& node : graph.nodes()) operators.append(operator_of(*node));
    nb::list outputs;
    for (const graph::Output& output : graph.outputs()) outputs.append(output.value->name());
    return exporters_.attr("Graph")(inputs, constants, operators, outputs);
  }

  [[nodiscard]] nb::object request() const {
    const exporter::PreparedNode& node = *request_.node;
    const exporter::Backend& options = node.backend;
    nb::dict fields;
    fields["backend"] = request_.backend;
    fields["graph"] = graph(*request_.graph);
    fields["torchscript"] = nb::bytes(request_.torchscript.data(), request_.torchscript.size());
    fields["sample"] = request_.sample;
    fields["input_names"] = node.input_names;
    fields["output_names"] = node.output_names;
    fields["metadata"] = request_.metadata;
    fields["opset_version"] = options.opset_version;
    fields["ir_version"] = options.ir_version;
    fields["optimize"] = options.optimize;
    fields["report"] = options.report;
    fields["verify"] = options.verify;
    return exporters_.attr("Request")(**fields);
  }

 private:
  [[nodiscard]] nb::object operator_of(const graph::Node& node) const {
    nb::dict arguments;
    for (const graph::Argument& argument : node.arguments()) {
      arguments[nb::str(argument.name.c_str())] = attribute(argument.value);
    }
    nb::list results;
    for (const auto& result : node.results()) results.append(result->name());
    const graph::SourceLocation& at = node.location();
    const std::string where = at.file.empty() ? "" : at.file + ":" + std::to_string(at.line);
    return exporters_.attr("Operator")(node.op(), node.overload(), arguments, results, where);
  }

  [[nodiscard]] nb::object attribute(const graph::Attribute& value) const {
    return std::visit([this](const auto& held) { return convert(held); }, value);
  }

  [[nodiscard]] nb::object convert(std::monostate) const { return nb::none(); }
  [[nodiscard]] nb::object convert(bool value) const { return nb::bool_(value); }
  [[nodiscard]] nb::object convert(std::int64_t value) const { return nb::int_(value); }
  [[nodiscard]] nb::object convert(double value) const { return nb::float_(value); }
  [[nodiscard]] nb::object convert(const graph::Complex& value) const {
    return nb::steal(PyComplex_FromDoubles(value.real(), value.imag()));
  }
  [[nodiscard]] nb::object convert(const std::string& value) const { return nb::str(value.c_str(), value.size()); }
  [[nodiscard]] nb::object convert(DType value) const { return torch_.attr(std::string(dtype_name(value)).c_str()); }
  [[nodiscard]] nb::object convert(const graph::Device& value) const { return torch_.attr("device")(value.name); }
  [[nodiscard]] nb::object convert(const graph::Layout& value) const { return torch_.attr(value.name.c_str()); }
  [[nodiscard]] nb::object convert(const graph::MemoryFormat& value) const { return torch_.attr(value.name.c_str()); }
  [[nodiscard]] nb::object convert(const graph::Scalar& value) const {
    return std::visit([this](const auto& number) { return convert(number); }, value);
  }
  [[nodiscard]] nb::object convert(graph::Value* value) const {
    return value == nullptr ? nb::none() : exporters_.attr("Ref")(value->name());
  }
  [[nodiscard]] nb::object convert(const graph::GraphPtr& side) const { return graph(*side); }
  template <typename T>
  [[nodiscard]] nb::object convert(const std::vector<T>& values) const {
    nb::list list;
    for (const auto& value : values) list.append(convert(static_cast<const T&>(value)));
    return list;
  }

  const PytorchRequest& request_;
  nb::object torch_;
  nb::object exporters_;
};

/// The Python errors that mean something to the caller; the rest is the exporter's own trouble.
Status status_of(const nb::python_error& error) {
  const std::string text = nb::str(error.value()).c_str();
  if (error.matches(PyExc_ValueError)) return invalid_argument(text);
  return unimplemented(std::string(nb::str(error.type().attr("__name__")).c_str()) + ": " + text);
}

/// Calls with Python's lock, and gives back what went wrong as a Status.
template <typename T, typename Call>
T with_python(Call call) {
  const nb::gil_scoped_acquire lock;
  try {
    return call();
  } catch (const nb::python_error& error) {
    return T{status_of(error)};
  } catch (const std::exception& error) {
    return T{internal_error(error.what())};
  }
}

PytorchAnswer emit(const PytorchRequest& request) {
  return with_python<PytorchAnswer>([&]() -> PytorchAnswer {
    const nb::object answer =
        nb::module_::import_("leapp.exporters.pytorch").attr("export_model")(GraphToPython(request).request());
    PytorchAnswer result;
    result.chatter = nb::cast<std::string>(answer.attr("chatter"));
    const auto problem = nb::cast<std::string>(answer.attr("problem"));
    if (!problem.empty()) {
      const bool theirs = nb::cast<bool>(answer.attr("bad_option"));
      result.model = theirs ? invalid_argument(problem) : unimplemented(problem);
      return result;
    }
    const auto bytes = nb::cast<nb::bytes>(answer.attr("model"));
    result.model = std::string(bytes.c_str(), bytes.size());
    return result;
  });
}

Result<Pt2Model> load(const std::filesystem::path& file) {
  return with_python<Result<Pt2Model>>([&]() -> Result<Pt2Model> {
    // Whoever lets go of the model last need not hold Python's lock.
    const std::shared_ptr<nb::object> model(
        new nb::object(nb::module_::import_("leapp.exporters.pytorch").attr("load_program")(file.string())),
        [](nb::object* held) {
          const nb::gil_scoped_acquire lock;
          delete held;
        });
    return Pt2Model([model](const std::vector<at::Tensor>& inputs) {
      return with_python<Result<std::vector<at::Tensor>>>(
          [&]() -> Result<std::vector<at::Tensor>> { return nb::cast<std::vector<at::Tensor>>((*model)(inputs)); });
    });
  });
}

Result<std::vector<std::string>> inputs(const std::filesystem::path& file) {
  return with_python<Result<std::vector<std::string>>>([&]() -> Result<std::vector<std::string>> {
    const nb::object names = nb::module_::import_("leapp.exporters.pytorch").attr("program_inputs")(file.string());
    return nb::cast<std::vector<std::string>>(names);
  });
}

}  // namespace

const exporter::PytorchExporters& python_exporters() {
  static const auto* tools = new exporter::PytorchExporters{.emit = emit, .load = load, .inputs = inputs};
  return *tools;
}

}  // namespace leapp::python
