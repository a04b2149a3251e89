# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Self-test of check_house.py: it finds what it is there to find."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from check_house import MOST_FILES, types_in, violations


class House(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name: str, text: str = "") -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_types_at_namespace_scope(self) -> None:
        text = """
        #define OPEN {
        namespace leapp::a {
        class Later;
        struct [[nodiscard]] Shown : Base<int> { struct Inner { int x; }; enum class Kind { kA }; };
        template <typename T> class LEAPP_API Box final { T t; };
        using Alias = std::vector<int>;
        using Other = b::Other;  // the same type
        inline void f() { struct Local {}; }
        enum class Colour : char { kRed };
        // struct Comment {};
        }  // namespace leapp::a
        """
        self.assertEqual(list(types_in(text)), ["Shown", "Box", "Alias", "Colour"])

    def test_a_name_that_two_headers_define(self) -> None:
        self.write("src/a/x.h", "namespace a { struct Same {}; }")
        self.write("src/b/y.h", "namespace b { struct Same {}; }")
        self.write("src/b/y_test.cpp", "struct Same {};")
        self.write("src/README.md")
        self.assertEqual(
            violations(self.root),
            ["src/a/x.h, src/b/y.h: 2 types named Same: give the internal one a name of its own"],
        )

    def test_a_folder_that_is_too_full(self) -> None:
        for i in range(MOST_FILES + 1):
            self.write(f"src/a/x{i}.cpp")
            self.write(f"src/a/x{i}_test.cpp")
        self.write("src/README.md")
        self.assertEqual(len(violations(self.root)), 1)
        self.assertIn(f"src/a: {MOST_FILES + 1} files", violations(self.root)[0])

    def test_a_folder_of_folders_without_a_readme(self) -> None:
        self.write("src/a/b/x.cpp")
        self.write("src/README.md")
        self.assertEqual(violations(self.root), ["src/a: no README.md that says what its folders are for"])


if __name__ == "__main__":
    unittest.main()
