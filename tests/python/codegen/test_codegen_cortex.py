# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The source form on a Cortex-M4, in an emulator: what the pipeline gives, over 100 steps."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import codegen_kit as kit
import codegen_policies
import pytest
from test_codegen import STEPS, operator_sources, operators, relative, wrong_results

BOARD = kit.ROOT / "tests/cortex_m4"
CPU = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
COMPILER = ["arm-none-eabi-g++", *CPU, "-O2", "-ffunction-sections", "-fdata-sections"]
MISSING = [tool for tool in ("arm-none-eabi-g++", "qemu-system-arm") if shutil.which(tool) is None]
pytestmark = pytest.mark.skipif(
    bool(MISSING) and "LEAPP_CI" not in os.environ, reason=f"no {' and no '.join(MISSING)} here"
)

MAIN = """
#include "startup.h"
#include <stddef.h>

extern const unsigned char input_data[];
static size_t input_at = 0;
static int32_t output_file = -1;

static bool read(void* to, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) static_cast<unsigned char*>(to)[i] = input_data[input_at++];
  return true;
}
static bool write(const void* from, size_t bytes) {
  if (output_file < 0) output_file = host_open("out.bin");
  return host_write(output_file, from, static_cast<uint32_t>(bytes));
}
"""


def on_the_board(sources: list[kit.Source], folder: Path) -> list[kit.Steps]:
    """Compiles for the board, runs the emulator, and takes apart what it wrote."""
    data = b"".join(one.input_bytes() for one in sources)
    (folder / "inputs.cpp").write_text(
        "extern const unsigned char input_data[];\nconst unsigned char input_data[] = {"
        + ",".join(map(str, data))
        + "};\n"
    )
    (folder / "main.cpp").write_text(kit.driver_text(sources, MAIN))
    kit.compile_all(sources, folder, COMPILER)
    kit.run(
        # The C compiler's driver: no C++ library is linked, and none is needed.
        ["arm-none-eabi-gcc", *CPU, "-O2", "-std=c++17", "-fno-exceptions", "-fno-rtti", "-Wl,--gc-sections", "-I",
         BOARD, "-nostartfiles", "-T", BOARD / "mps2_an386.ld", "main.cpp", "inputs.cpp", BOARD / "startup.cpp",
         "all.o", "-lm", "-o", "program.elf"],
        folder,
    )  # fmt: skip
    kit.run(
        ["qemu-system-arm", "-machine", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none",
         "-semihosting-config", "enable=on,target=native", "-kernel", "program.elf"],
        folder,
    )  # fmt: skip
    return kit.split_all(sources, (folder / "out.bin").read_bytes())


def test_policies_on_a_cortex_m4(tmp_path: Path) -> None:
    """The same tolerance as on this machine."""
    sources, expected = [], []
    for make in codegen_policies.POLICIES:
        bundle = make(tmp_path)
        (tmp_path / f"{bundle.name}_source").mkdir()
        inputs, outputs = kit.steps_of_bundle(bundle, STEPS, tmp_path / f"{bundle.name}_source")
        name = kit.generate(bundle, tmp_path / f"{bundle.name}_source" / "cpp")
        sources.append(kit.Source(name, tmp_path / f"{bundle.name}_source" / "cpp", inputs, STEPS))
        expected.append(outputs)
    errors = {}
    for one, found, right in zip(sources, on_the_board(sources, tmp_path), expected, strict=True):
        assert found.keys() == right.keys()
        errors[one.name] = max(relative(found[port], right[port]) for port in right)
    assert max(errors.values()) < 1e-5, errors


def test_every_operator_on_a_cortex_m4(tmp_path: Path) -> None:
    """With the functions of newlib, and double precision in software."""
    found = operators()
    wrong = wrong_results(found, on_the_board(operator_sources(found, tmp_path), tmp_path))
    assert not wrong, "\n".join(wrong)


def test_the_sizes_on_the_page(tmp_path: Path) -> None:
    """docs/how_to/generate_source.md says what the MLP takes: weights and code, state."""
    bundle = codegen_policies.mlp(tmp_path)
    kit.generate(bundle, tmp_path / "cpp")
    kit.run([*COMPILER, *kit.FLAGS, "-Os", "-c", "cpp/mlp.cpp", "-o", "mlp.o"], tmp_path)
    text = subprocess.run(["arm-none-eabi-size", tmp_path / "mlp.o"], capture_output=True, text=True, check=True).stdout
    code, data, bss = (int(word) for word in text.splitlines()[1].split()[:3])
    assert (data, bss) == (0, 0)  # nothing but constants
    page = (kit.ROOT / "docs/how_to/generate_source.md").read_text()
    stated = re.search(r"\| 12-32-32-8 MLP \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|", page)
    assert stated is not None
    flash, weights, ram = (int(number.replace(",", "")) for number in stated.groups())
    sizes = kit.leapp_program("codegen", bundle, "--output", tmp_path / "cpp")
    assert (weights, ram) == (sizes["weight_bytes"], sizes["state_bytes"])
    # Compilers differ a little.
    assert code == pytest.approx(flash, rel=0.05)
