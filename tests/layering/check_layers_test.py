# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""That check_layers.py sees what it should see."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from check_layers import LAYERS, THIRD_PARTY, Checker, layer_of


class Layers(unittest.TestCase):
    def violations(self, file: str, *includes: str) -> list[str]:
        with tempfile.TemporaryDirectory() as root:
            checker = Checker(Path(root))
            checker.check_file(file, "#pragma once\n" + "".join(f"#include {include}\n" for include in includes))
        return checker.violations

    def assert_refused(self, file: str, include: str, message: str) -> None:
        violations = self.violations(file, include)
        self.assertEqual(len(violations), 1, violations)
        self.assertTrue(violations[0].startswith(f"{file}:2: "), violations[0])
        self.assertIn(message, violations[0])

    def assert_accepted(self, file: str, *includes: str) -> None:
        self.assertEqual(self.violations(file, *includes), [])

    def test_layers_point_one_way(self) -> None:
        self.assert_refused("src/graph/graph.h", '"capture/session/session.h"', "graph may not use capture")
        self.assert_refused("src/base/text.h", '"graph/graph.h"', "base may not use graph")
        self.assert_refused(
            "src/capture/hook/hook.cpp", '"emit/torchscript/emit.h"', "capture may not use emit/torchscript"
        )
        self.assert_refused("src/runtime/pipeline/plan.cpp", '"graph/graph.h"', "runtime may not use graph")
        self.assert_refused("src/graph/graph.cpp", '"leapp/capture.h"', "graph may not use capture.h")
        self.assert_accepted(
            "src/capture/hook/hook.cpp", '"graph/graph.h"', '"leapp/base/status.h"', '"capture/session/session.h"'
        )
        self.assert_accepted("src/exporter/export.cpp", '"leapp/capture.h"', '"emit/torchscript/emit.h"')

    def test_the_exporter_sees_what_a_session_leaves(self) -> None:
        self.assert_accepted("src/exporter/prepare.cpp", '"capture/trace/record.h"', '"capture/hook/unrecorded.h"')
        self.assert_refused(
            "src/exporter/prepare.cpp",
            '"capture/recorder/op_recorder.h"',
            "exporter may not use capture/recorder/op_recorder.h",
        )
        self.assert_refused(
            "src/exporter/validate/samples.cpp", '"capture/hook/hook.h"', "of capture it may use expand"
        )
        self.assert_accepted("src/exporter/api.cpp", '"capture/session/session.h"')
        self.assert_accepted("src/exporter/api_test.cpp", '"capture/hook/hook.h"')

    def test_sources_of_capture_have_tests(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root) / "src" / "capture" / "hook"
            folder.mkdir(parents=True)
            for name in ("memory.cpp", "memory_test.cpp", "memory_testing.h", "hook.cpp"):
                (folder / name).touch()
            checker = Checker(Path(root))
            checker.check_tests()
        self.assertEqual(checker.violations, ["src/capture/hook/hook.cpp:1: no test beside it, hook_test.cpp"])

    def test_torch_stays_where_it_may_be(self) -> None:
        for header in ("<torch/torch.h>", "<ATen/ATen.h>", "<c10/util/Exception.h>"):
            for file in ("src/graph/a.cpp", "src/bundle/a.cpp", "src/emit/emitter.h", "src/runtime/a.cpp"):
                self.assert_refused(file, header, "may not include torch")
            for file in ("src/capture/a.cpp", "src/emit/torchscript/a.h", "src/exporter/a.cpp", "src/engine/torch/a.h"):
                self.assert_accepted(file, header)
        self.assert_accepted("python/bindings/capture_module.cpp", "<torch/extension.h>", "<nanobind/nanobind.h>")
        self.assert_refused("python/bindings/runtime_module.cpp", "<ATen/ATen.h>", "may not include torch")
        self.assert_refused("src/capture/a.cpp", "<Python.h>", "may not include python")

    def test_a_header_beside_the_file_is_ours(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            bindings = Path(root, "python/bindings")
            bindings.mkdir(parents=True)
            (bindings / "tensor_caster.h").write_text("#include <ATen/ATen.h>\n")
            (bindings / "runtime_module.cpp").write_text('#include "tensor_caster.h"\n')
            checker = Checker(Path(root))
            checker.check_tree()
        self.assertEqual(checker.files, 2)
        self.assertEqual(len(checker.violations), 1, checker.violations)
        self.assertIn("python/bindings/runtime may not use python/bindings", checker.violations[0])

    def test_protozero_has_one_user(self) -> None:
        users = [name for name, layer in LAYERS.items() if "protozero" in layer.third_party]
        self.assertEqual(users, ["onnx_proto"])
        self.assert_refused("src/emit/onnx/a.cpp", "<protozero/pbf_writer.hpp>", "may not include protozero")

    def test_public_headers_include_only_the_standard_library_and_each_other(self) -> None:
        self.assert_refused("include/leapp/base/status.h", "<fmt/format.h>", "a public header includes")
        self.assert_refused("include/leapp/bundle/spec.h", "<yaml-cpp/yaml.h>", "a public header includes")
        self.assert_refused("include/leapp/bundle/spec.h", "<ATen/ATen.h>", "a public header includes")
        self.assert_refused("include/leapp/bundle/spec.h", '"base/text.h"', "not public")
        self.assert_accepted("include/leapp/bundle/spec.h", '"leapp/base/dtype.h"', "<string_view>", "<cstdint>")
        self.assert_accepted("include/leapp/capture.h", "<ATen/core/Tensor.h>", '"leapp/base/status.h"')

    def test_only_tests_include_gtest(self) -> None:
        self.assert_accepted("src/base/text_test.cpp", "<gtest/gtest.h>")
        self.assert_accepted("src/base/text_test_cases.h", "<gtest/gtest.h>")
        self.assert_accepted("src/graph/passes/pass_testing.h", "<gtest/gtest.h>")
        self.assert_refused("src/base/text.cpp", "<gtest/gtest.h>", "may not include gtest")

    def test_unknown_things_are_refused(self) -> None:
        self.assert_refused("src/base/text.cpp", "<boost/any.hpp>", "neither ours nor a known third-party header")
        self.assertIn("no rule for this folder", self.violations("src/new_folder/a.cpp")[0])

    def test_table_is_consistent(self) -> None:
        for name, layer in LAYERS.items():
            self.assertEqual([used for used in layer.uses if used not in LAYERS], [], name)
            self.assertEqual([group for group in layer.third_party if group not in THIRD_PARTY], [], name)
        self.assertEqual(layer_of("src/runtime/simd/port_simd.cpp"), "runtime/simd")
        self.assertEqual(layer_of("src/runtime/pipeline/plan.cpp"), "runtime")
        self.assertEqual(layer_of("include/leapp/capture.h"), "capture.h")


if __name__ == "__main__":
    unittest.main()
