// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "bundle/folder/folder.h"
#include "exporter/prepare.h"
#include "leapp/bundle/spec.h"

namespace leapp::exporter {

/// Brings the users' own models into a bundle: a copy under the file's own name, or a path that leads to the file.
class GivenModels {
 public:
  /// `taken`: names in the bundle that other files have. `target`: where the bundle will stand.
  GivenModels(std::set<std::string> taken, std::filesystem::path target)
      : taken_(std::move(taken)), target_(std::move(target)) {}

  /// Fills in the parameters. Two nodes that bring one file share the copy; two files of one name get two names.
  Status add(const PreparedNode& node, bundle::StagedFolder& folder, bundle::ModelParameters& parameters);

  /// Files inside the bundle's folder that are the users' and stay where they are.
  [[nodiscard]] const std::set<std::string>& referenced() const { return referenced_; }

 private:
  std::string name_for(const std::filesystem::path& file, const std::string& node);

  std::set<std::string> taken_;
  std::filesystem::path target_;
  std::map<std::filesystem::path, std::string> copied_;
  std::map<std::filesystem::path, bundle::YamlMap> data_;  // the entry for the weights beside a copied model
  std::set<std::string> referenced_;
};

}  // namespace leapp::exporter
