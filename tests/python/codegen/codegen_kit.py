# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles as source: generates, compiles many at once, and steps them with the inputs a test gives.

What runs them is a program made of the headers alone: it reads the inputs of all steps and writes the outputs.
"""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import yaml
from onnx import helper, numpy_helper

Array = np.ndarray[Any, Any]
Steps = dict[str, Array]  # by port, "node/port"; the first axis is the step

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get("LEAPP_PROGRAM", ROOT / "build/default/bin/leapp"))
FLAGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fno-exceptions", "-fno-rtti"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
C_TYPES = {
    "float": np.float32, "double": np.float64, "Float16": np.float16, "BFloat16": np.uint16, "bool": np.bool_,
    "int8_t": np.int8, "int16_t": np.int16, "int32_t": np.int32, "int64_t": np.int64, "uint8_t": np.uint8,
    "uint16_t": np.uint16, "uint32_t": np.uint32, "uint64_t": np.uint64,
}  # fmt: skip


def onnxruntime_folder() -> str:
    import importlib.util

    spec = importlib.util.find_spec("onnxruntime")
    assert spec is not None
    assert spec.submodule_search_locations
    return str(Path(spec.submodule_search_locations[0]) / "capi")


def leapp_program(*arguments: object, code: int = 0) -> Any:
    """What the program prints as JSON."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments), "--json"],
        env={"LEAPP_ONNXRUNTIME": onnxruntime_folder()},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stderr + done.stdout
    return json.loads(done.stdout)


@dataclass
class Field:
    """A member of a generated struct, and the port that its comment names."""

    name: str
    c_type: str
    elements: int
    comment: str


def fields_of(header: str, struct: str) -> list[Field]:
    body = re.search(rf"^struct {struct} {{\n(.*?)^}};", header, re.DOTALL | re.MULTILINE)
    assert body is not None, struct
    found = re.findall(r"^(?:  // (.*)\n)?  (\w+) (\w+)\[(\d+)\];$", body[1], re.MULTILINE)
    return [Field(name, c_type, int(count), comment) for comment, c_type, name, count in found]


@dataclass
class Source:
    """One bundle as source, and what to step it with."""

    name: str
    folder: Path
    inputs: Steps
    steps: int
    header: str = field(init=False)

    def __post_init__(self) -> None:
        self.header = (self.folder / f"{self.name}.h").read_text()

    def driver(self) -> str:
        """A function that steps it with what it reads, and writes what comes out."""
        reads = "\n".join(
            f"    ok = read(inputs.{one.name}, sizeof inputs.{one.name}) && ok;" for one in self.inputs_of()
        )
        writes = "\n".join(f"    write(outputs.{one.name}, sizeof outputs.{one.name});" for one in self.outputs_of())
        return f"""
static bool run_{self.name}() {{
  static {self.name}::State state;
  static {self.name}::Inputs inputs;
  static {self.name}::Outputs outputs;
  bool ok = true;
  {self.name}::init(state);
  for (int i = 0; i < {self.steps}; ++i) {{
{reads}
    if ({self.name}::step(state, inputs, outputs) != 0) ok = false;
{writes}
  }}
  return ok;
}}
"""

    def inputs_of(self) -> list[Field]:
        return fields_of(self.header, "Inputs")

    def outputs_of(self) -> list[Field]:
        return fields_of(self.header, "Outputs")

    def input_bytes(self) -> bytes:
        """What the driver reads: step by step, in the order of the fields."""
        parts = []
        for step in range(self.steps):
            for one, array in zip(self.inputs_of(), self.inputs.values(), strict=True):
                wanted = C_TYPES[one.c_type]
                values = np.ascontiguousarray(array[step])
                values = values.view(np.uint16) if one.c_type == "BFloat16" else values.astype(wanted, copy=False)
                assert values.size == one.elements or (values.size == 0 and one.elements == 1)
                parts.append(values.tobytes() if values.size else bytes(np.dtype(wanted).itemsize))
        return b"".join(parts)

    def split(self, data: memoryview) -> tuple[Steps, int]:
        """The outputs by port, and how many bytes of `data` they took."""
        columns: dict[str, list[Array]] = {}
        at = 0
        for _ in range(self.steps):
            for one in self.outputs_of():
                dtype = np.dtype(C_TYPES[one.c_type])
                columns.setdefault(one.comment.split(" ")[0], []).append(
                    np.frombuffer(data, dtype, one.elements, at).copy()
                )
                at += dtype.itemsize * one.elements
        return {name: np.stack(rows) for name, rows in columns.items()}, at


def generate(bundle: Path, output: Path) -> str:
    """Writes the source of a bundle; the name of its namespace."""
    return str(leapp_program("codegen", bundle, "--output", output)["namespace"])


MAIN = """
#include <stdio.h>

static bool read(void* to, size_t bytes) { return fread(to, 1, bytes, stdin) == bytes; }
static void write(const void* from, size_t bytes) { fwrite(from, 1, bytes, stdout); }
"""


def driver_text(sources: Sequence[Source], main: str = MAIN) -> str:
    text = "".join(f'#include "{one.folder / one.name}.h"\n' for one in sources) + main
    text += "".join(one.driver() for one in sources)
    calls = "\n".join(f"  if (!run_{one.name}()) return {min(i + 1, 255)};" for i, one in enumerate(sources))
    return f"{text}\nint main() {{\n{calls}\n  return 0;\n}}\n"


def compile_all(sources: Sequence[Source], folder: Path, compiler: Sequence[str], output: str = "all.o") -> Path:
    """One object of all sources: their namespaces keep them apart."""
    (folder / "all.cpp").write_text("".join(f'#include "{one.folder / one.name}.cpp"\n' for one in sources))
    run([*compiler, *FLAGS, "-c", "all.cpp", "-o", output], folder)
    return folder / output


def run(command: Sequence[object], folder: Path, data: bytes | None = None) -> bytes:
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, input=data, capture_output=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stderr.decode(errors='replace')[:4000]}"
    return done.stdout


def step_all(sources: Sequence[Source], folder: Path) -> list[Steps]:
    """Compiles them for this machine, and steps each, with every access to memory and every overflow looked at."""
    compile_all(sources, folder, ["g++", "-O1"])
    compile_all(sources, folder, ["g++", "-O0", *SANITIZERS], "checked.o")
    (folder / "main.cpp").write_text(driver_text(sources))
    run(["g++", "-std=c++17", *SANITIZERS, "main.cpp", "checked.o", "-o", "program", "-lm"], folder)
    return split_all(sources, run([folder / "program"], folder, b"".join(one.input_bytes() for one in sources)))


def split_all(sources: Sequence[Source], written: bytes) -> list[Steps]:
    data = memoryview(written)
    results = []
    for one in sources:
        outputs, used = one.split(data)
        results.append(outputs)
        data = data[used:]
    assert not data
    return results


def undefined_symbols(objects: Path) -> set[str]:
    text = subprocess.run(["nm", "-u", objects], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in text.splitlines()}


# ---- bundles written by hand ----


NAMES = {
    np.dtype(name): name
    for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")
}


def port(name: str, array: Array, **more: Any) -> dict[str, Any]:
    return {"name": name, "dtype": NAMES[array.dtype], "shape": list(array.shape), "type": "tensor", **more}


def write_bundle(folder: Path, model: onnx.ModelProto, inputs: dict[str, Array], outputs: dict[str, Array]) -> Path:
    """One node called "node"."""
    folder.mkdir(parents=True)
    (folder / "node.onnx").write_bytes(model.SerializeToString())
    spec = {
        "models": {
            "node": {
                "inputs": [port(name, array) for name, array in inputs.items()],
                "outputs": [port(name, array) for name, array in outputs.items()],
                "parameters": {"backend": "onnx", "model_path": "node.onnx"},
            }
        },
        "pipeline": {
            "data_flow": {},
            "feedback_flow": {},
            "inputs": {"node": list(inputs)},
            "outputs": {"node": list(outputs)},
        },
        "system information": {"leapp config version": "1.1"},
    }
    (folder / f"{folder.name}.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    return folder


def write_initial_values(path: Path, values: dict[str, Array]) -> None:
    """A safetensors file."""
    words = {"float32": "F32", "int64": "I64", "bool": "BOOL"}
    header: dict[str, Any] = {}
    data = b""
    for name, array in values.items():
        offsets = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": words[str(array.dtype)], "shape": list(array.shape), "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def graph_model(
    nodes: list[Any], inputs: dict[str, Array], constants: dict[str, Array], results: dict[str, Array]
) -> onnx.ModelProto:
    """`inputs` and `results` say what the ports are."""

    def info(name: str, array: Array) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    ports = [[info(name, array) for name, array in some.items()] for some in (inputs, results)]
    graph = helper.make_graph(nodes, "graph", ports[0], ports[1], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def steps_of_bundle(bundle: Path, steps: int, folder: Path, seed: int = 0) -> tuple[Steps, Steps]:
    """What the pipeline makes of made-up inputs: inputs and outputs of all steps."""
    leapp_program(
        "run", bundle, "--steps", steps, "--seed", seed, "--output", folder / "out.npz", "--trace", folder / "trace.npz"
    )
    trace = dict(np.load(folder / "trace.npz"))
    spec = yaml.safe_load((bundle / f"{bundle.name}.yaml").read_text())["pipeline"]
    wanted = [f"{node}/{name}" for node, names in spec.get("inputs", {}).items() for name in names]
    return {name: trace[f"inputs/{name}"] for name in wanted}, dict(np.load(folder / "out.npz"))
