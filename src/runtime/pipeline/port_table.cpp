// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/port_table.h"

#include <algorithm>

namespace leapp::runtime {
namespace {

void add(const EndPlan& end, const PipelinePlan& plan, const Buffers& buffers, std::vector<PortTable::End>& ends) {
  const BufferPlan& buffer = plan.buffers[end.place.buffer];
  ends.push_back({end.name, buffer.dtype, buffer.shape, buffers.at(end.place, 0)});
}

}  // namespace

std::shared_ptr<const PortTable> PortTable::make(const PipelinePlan& plan, const Buffers& buffers) {
  auto face = std::make_shared<PortTable>();
  for (const EndPlan& end : plan.inputs) {
    add(end, plan, buffers, face->inputs);
    face->input_names.push_back(end.name);
  }
  for (const EndPlan& end : plan.outputs) {
    add(end, plan, buffers, face->outputs);
    face->output_names.push_back(end.name);
  }
  face->memory = buffers.memory();
  return face;
}

const PortTable::End* PortTable::find(const std::vector<End>& ends, std::string_view name) {
  const auto at = std::find_if(ends.begin(), ends.end(), [&](const End& end) { return end.name == name; });
  return at == ends.end() ? nullptr : &*at;
}

const PortTable::End* PortTable::find_input(std::string_view name) const {
  if (const End* end = find(inputs, name)) return end;
  return find(inputs, std::string(name) + "_in");
}

}  // namespace leapp::runtime
