# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the libraries that let a torchvision linked with CUDA load beside a torch without it.

make_stand_ins.py FOLDER    for the torchvision that this interpreter finds

torchvision/_C.so has its operators for the CPU and for CUDA. What it looks for in CUDA's libraries is written as
functions that return nothing, in libraries of the same names. Only the operators for the CPU may then be called.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

CUDA_LIBRARIES = ("libcudart", "libc10_cuda", "libtorch_cuda")


def lines_of(*command: str) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def operators() -> Path:
    """The library, without importing it."""
    spec = importlib.util.find_spec("torchvision")
    if spec is None or spec.origin is None:
        raise SystemExit(f"make_stand_ins: {sys.executable} finds no torchvision")
    return Path(spec.origin).with_name("_C.so")


def wanted_libraries(library: Path) -> list[str]:
    needed = [line.split("[")[1].rstrip("]") for line in lines_of("readelf", "-d", str(library)) if "(NEEDED)" in line]
    return [name for name in needed if name.startswith(CUDA_LIBRARIES)]


def wanted_symbols(library: Path) -> dict[str, str]:
    """Symbol -> version, empty if it has none."""
    undefined = [line.split()[-1] for line in lines_of("nm", "-D", "--undefined-only", str(library))]
    return {name: version for name, _, version in (s.partition("@") for s in undefined) if "cuda" in name.lower()}


def build(folder: Path, name: str, symbols: list[str], version: str) -> None:
    source, script = folder / f"{name}.s", folder / f"{name}.map"
    body = "".join(f".globl {symbol}\n.type {symbol},@function\n{symbol}: xor %eax,%eax\nret\n" for symbol in symbols)
    source.write_text('.section .note.GNU-stack,"",@progbits\n.text\n' + body)
    script.write_text(f"{version} {{ global: *; }};\n" if version else "{ global: *; };\n")
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{name}", f"-Wl,--version-script={script}"]
    subprocess.run(["g++", *options, "-o", str(folder / name), str(source)], check=True)
    source.unlink()
    script.unlink()


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    library = operators()
    symbols = wanted_symbols(library)
    for name in wanted_libraries(library):
        version = name if name in symbols.values() else ""
        plain = name.startswith("libtorch_cuda")  # takes all that have no version
        mine = [symbol for symbol, of in symbols.items() if (of == name if of else plain)]
        build(folder, name, mine, version)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
