# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Layers: which folder may include what.

    check_layers.py [--root REPOSITORY] [--build BUILD_FOLDER]

Reads every #include of our C++ files. With --build, also looks at the shared runtime libraries found there: they may
need neither torch nor Python. Sources of some folders must have a test beside them. Prints one line per violation and
exits with 1 if there is any.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Layer:
    """What a folder may include, besides itself and the standard library."""

    uses: tuple[str, ...] = ()
    third_party: tuple[str, ...] = ()


# The table. The longest prefix of a file's path (under src/ or include/leapp/, or from the root) is its layer.
# bench/, fuzz/ and tests/ may include anything and are not looked at.
LAYERS: dict[str, Layer] = {
    "base": Layer(third_party=("fmt", "spdlog", "openssl")),
    "graph": Layer(("base",), ("fmt",)),
    "bundle": Layer(("base",), ("fmt", "yaml", "json")),
    "torch_types": Layer(("base", "graph"), ("torch",)),
    "capture": Layer(("base", "graph", "torch_types", "capture.h"), ("fmt", "torch")),
    "onnx_proto": Layer(("base",), ("fmt", "protozero")),
    "emit": Layer(("base", "graph"), ("fmt",)),
    "emit/torchscript": Layer(("base", "graph", "torch_types", "emit"), ("fmt", "torch")),
    "emit/onnx": Layer(("base", "graph", "emit", "onnx_proto"), ("fmt",)),
    "draw": Layer(("base", "bundle"), ("fmt", "graphviz", "json")),
    "engine": Layer(("base", "bundle"), ("fmt",)),
    # Loops over memory: of ours they know how numbers are stored.
    "engine/native/kernels": Layer(("base",), ("highway",)),
    "engine/ort": Layer(("base", "bundle", "engine"), ("fmt", "onnxruntime")),
    "engine/native": Layer(("base", "engine", "engine/native/kernels", "onnx_proto"), ("fmt",)),
    "engine/torch": Layer(("base", "bundle", "engine", "torch_types"), ("fmt", "torch")),
    # A container format: records and nothing of what is in them.
    "mcap": Layer(("base",), ("fmt",)),
    "runtime": Layer(
        (
            *("base", "bundle", "engine", "engine/native", "engine/ort", "mcap", "onnx_proto"),
            *("runtime/simd", "leapp.h"),
        ),
        ("fmt",),
    ),
    # Loops over the elements of ports, which know nothing of ports.
    "runtime/simd": Layer(("engine/native/kernels",), ("highway",)),
    # The public header of the C interface, include/leapp/leapp.h.
    "leapp.h": Layer(),
    "exporter": Layer(
        (
            *("base", "graph", "bundle", "torch_types", "capture", "capture.h"),
            *("emit", "emit/torchscript", "emit/onnx", "onnx_proto", "draw", "engine", "engine/ort", "runtime"),
        ),
        ("fmt", "json", "torch"),
    ),
    # The source form of the native engine's plans.
    "codegen": Layer(("base", "bundle", "engine", "engine/native", "engine/native/kernels", "onnx_proto"), ("fmt",)),
    # Bundles opened, checked, described and compared: data in, data out, nothing printed.
    "inspect": Layer(("base", "bundle", "engine", "onnx_proto", "runtime"), ("fmt", "json")),
    # Bundles in the form that servers take.
    "fleet": Layer(("base", "bundle", "inspect", "onnx_proto", "runtime"), ("fmt",)),
    "cli": Layer(
        (
            *("base", "bundle", "codegen", "draw", "engine", "engine/native", "fleet", "inspect", "mcap"),
            *("onnx_proto", "runtime"),
        ),
        ("fmt", "json", "cli11", "libzip"),
    ),
    # The public header, include/leapp/capture.h: shared by the folders that implement it.
    "capture.h": Layer(("base", "bundle"), ("torch",)),
    "python/bindings": Layer(
        (
            "base",
            "graph",
            "bundle",
            "torch_types",
            "capture",
            "capture.h",
            "emit",
            "exporter",
            "python/bindings/common",
        ),
        ("fmt", "python", "torch"),
    ),
    # What both modules share.
    "python/bindings/common": Layer(("base",), ("python",)),
    # The module that runs bundles: without torch, and so without the rest of the bindings.
    "python/bindings/runtime": Layer(
        ("base", "bundle", "draw", "engine", "python/bindings/common", "runtime"), ("fmt", "python")
    ),
    "examples": Layer(("base", "bundle", "runtime", "capture.h"), ("torch",)),
    "examples/mujoco": Layer(("base", "runtime"), ("mujoco",)),
}

# Folders in which every source has a test beside it, x_test.cpp.
TESTED = ("src/capture",)

# Of capture, the exporter sees what a session has left (record.h) and the functions of that; how operators are recorded
# is for the API alone, and for tests.
RECORDED = (
    *("expand", "branch_report", "record", "slice", "source_location", "tensor_content", "to_graph"),
    *("front_end", "unrecorded"),
)
PARTS: dict[tuple[str, str], tuple[str, ...]] = {("exporter", "capture"): RECORDED}
PARTS_EXCEPT = ("src/exporter/api.cpp",)

# The public headers that may include something of others'.
PUBLIC_EXCEPTIONS: dict[str, tuple[str, ...]] = {"include/leapp/capture.h": ("torch",)}

THIRD_PARTY: dict[str, str] = {
    "cli11": r"CLI/",
    "fmt": r"fmt/",
    "graphviz": r"graphviz/",
    "highway": r"hwy/",
    "gtest": r"g(test|mock)/",
    "json": r"nlohmann/",
    "mujoco": r"mujoco/mujoco\.h$",
    "onnxruntime": r"(onnxruntime/)?onnxruntime_",
    "openssl": r"openssl/",
    "protozero": r"protozero/",
    "python": r"nanobind/|pybind11/|(Python|frameobject|structmember)\.h$",
    "spdlog": r"spdlog/",
    "torch": r"torch/|ATen/|c10/|caffe2/",
    "yaml": r"yaml-cpp/",
    "libzip": r"zip\.h$",
}
SYSTEM = re.compile(
    r"[a-z_0-9]+$|(sys|linux|bits)/.*\.h$"
    r"|(cpuid|dirent|dlfcn|elf|errno|fcntl|immintrin|limits|link|malloc|pthread|sched|signal|spawn|unistd|xmmintrin|cxxabi)\.h$"
    r"|(stddef|stdint|time)\.h$"
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?P<bracket>[<"])(?P<path>[^>"]+)[>"]', re.MULTILINE)


@dataclass
class Checker:
    """Collects violations as `file:line: message`."""

    root: Path
    violations: list[str] = field(default_factory=list)
    files: int = 0

    def check_tree(self) -> None:
        for folder in ("include", "src", "python/bindings", "examples"):
            for path in sorted((self.root / folder).rglob("*")):
                if path.suffix in (".h", ".cpp"):
                    self.check_file(path.relative_to(self.root).as_posix(), path.read_text(encoding="utf-8"))

    def check_tests(self) -> None:
        for folder in TESTED:
            for path in sorted((self.root / folder).rglob("*.cpp")):
                file = path.relative_to(self.root).as_posix()
                test = f"{path.stem}_test.cpp"
                if not path.stem.endswith("_test") and not path.with_name(test).is_file():
                    self.violations.append(f"{file}:1: no test beside it, {test}")

    def check_file(self, file: str, text: str) -> None:
        self.files += 1
        layer = layer_of(file)
        if layer is None:
            self.violations.append(f"{file}:1: no rule for this folder; give it one in tests/layering/check_layers.py")
            return
        for match in INCLUDE.finditer(text):
            complaint = self._complaint(file, layer, match["path"])
            if complaint:
                line = text.count("\n", 0, match.start("path")) + 1
                self.violations.append(f"{file}:{line}: {complaint}")

    def _complaint(self, file: str, layer: str, include: str) -> str | None:
        public = file.startswith("include/")
        ours = self._resolve(file, include)
        if ours is not None:
            if public and not ours.startswith("include/"):
                return f"a public header includes {include}, which is not public"
            target = layer_of(ours)
            if target is not None and target in LAYERS[layer].uses:
                parts = PARTS.get((layer, target))
                if parts is None or Path(ours).stem in parts or file in PARTS_EXCEPT or file.endswith("_test.cpp"):
                    return None
                return f"{layer} may not use {include}; of {target} it may use {', '.join(parts)}"
            if target is None or target == layer:
                return None
            return f"{layer} may not use {target} ({include}); it may use {', '.join(LAYERS[layer].uses) or 'nothing'}"

        group = next((name for name, pattern in THIRD_PARTY.items() if re.match(pattern, include)), None)
        if group is None:
            return None if SYSTEM.match(include) else f"{include}: neither ours nor a known third-party header"
        if public:
            return None if group in PUBLIC_EXCEPTIONS.get(file, ()) else f"a public header includes {include}"
        allowed = LAYERS[layer].third_party
        if group in allowed or (group == "gtest" and re.search(r"_test(ing)?[_.][^/]*$", file)):
            return None
        return f"{layer} may not include {group} ({include}); it may include {', '.join(allowed) or 'nothing'}"

    def _resolve(self, file: str, include: str) -> str | None:
        """The path from the root of one of our own headers, also of one that does not exist (yet)."""
        for folder in (Path(file).parent.as_posix(), "src", "include", "python/bindings"):
            candidate = f"{folder}/{include}"
            if (self.root / candidate).is_file():
                return candidate
        if include.startswith("leapp/"):
            return f"include/{include}"
        return f"src/{include}" if include.split("/")[0] in LAYERS else None

    def check_binaries(self, build: Path) -> None:
        for library in sorted(build.rglob("libleapp_runtime*.so")):
            needed = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
            for name in re.findall(r"\(NEEDED\).*\[(.+)\]", needed):
                if re.match(r"lib(torch|c10|python)", name):
                    self.violations.append(f"{library}: needs {name}")


def layer_of(file: str) -> str | None:
    """The name in LAYERS with the longest match, of a path from the root; None if there is none."""
    path = re.sub(r"^(src/|include/leapp/)", "", file)
    matches = [name for name in LAYERS if re.match(rf"{re.escape(name)}($|[/_.])", path)]
    return max(matches, key=len, default=None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--build", type=Path)
    arguments = parser.parse_args()

    checker = Checker(arguments.root)
    checker.check_tree()
    checker.check_tests()
    if arguments.build:
        checker.check_binaries(arguments.build)
    for violation in checker.violations:
        print(violation)
    print(f"{checker.files} files, {len(checker.violations)} violations")
    return 1 if checker.violations or not checker.files else 0


if __name__ == "__main__":
    sys.exit(main())
