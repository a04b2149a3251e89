// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "exporter/pytorch_exporters.h"
#include "exporter/validate/runners/runner.h"

namespace leapp::exporter {
namespace {

class Pt2Runner final : public ModelRunner {
 public:
  explicit Pt2Runner(Pt2Model model) : model_(std::move(model)) {}

  Result<std::vector<at::Tensor>> run(const std::vector<at::Tensor>& inputs) override {
    std::vector<at::Tensor> own;
    for (const at::Tensor& input : inputs) own.push_back(input.clone());
    return model_(own);
  }

 private:
  Pt2Model model_;
};

}  // namespace

Result<std::unique_ptr<ModelRunner>> open_pt2_runner(const WrittenModel& written) {
  if (!has_pytorch_exporters()) return not_found("nothing here runs 'pt2' models: they need Python");
  auto model = load_pt2(written.file);
  // "Not found" says that there is nothing to validate with, and nothing else.
  if (!model.ok()) return internal_error(model.status().message());
  return std::unique_ptr<ModelRunner>(std::make_unique<Pt2Runner>(std::move(model).value()));
}

}  // namespace leapp::exporter
