# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Weights beside a model, and files that are something else to one of their readers."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

import onnx
from odd_graph import FLOAT, STRING, Case, Write, built, bundle, node
from onnx import TensorProto


def external(name: str, dims: list[int], **entries: object) -> onnx.TensorProto:
    tensor = TensorProto(name=name, data_type=FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


MEMORY = "*/_ORT_MEM_ADDR_/*"


def beside() -> Iterator[Case]:
    """Weights in other files, at odd places of them, or in what is no file."""

    def one(files: dict[str, bytes | int] | None = None, **entries: object) -> Write:
        return bundle(built([node("Add", ["x", "w"], ["y"])], [external("w", [4], **entries)]), files)

    good: dict[str, bytes | int] = {"w.bin": b"\0" * 64}
    yield "external", one(good, location="w.bin", offset=0, length=16)
    for offset, length in (
        (0, 15),
        (0, 17),
        (60, 16),
        (64, 16),
        (1 << 40, 16),
        (-16, 16),
        (0, -1),
        (0, 1 << 62),
        (3, 16),
        (1 << 63, 16),
        ("x", 16),
        ("0x10", 16),
        ("1e1", 16),
        ("", ""),
        ("18446744073709551600", 16),
    ):
        yield f"external_{offset}_{length}", one(good, location="w.bin", offset=offset, length=length)
    yield "external_without_length", one(good, location="w.bin")
    yield "external_without_location", one(good, offset=0, length=16)
    yield "external_empty_location", one(good, location="", offset=0, length=16)
    for location in (
        "../w.bin",
        "/etc/passwd",
        "./w.bin",
        "sub/../w.bin",
        "w.bin/",
        "nobody.bin",
        "policy.onnx",
        "w.bin\0x",
        "file:///etc/passwd",
        ".",
        "w.bin\n",
    ):
        yield (
            f"external_at_{location!r}",
            one({**good, "sub/w.bin": b"\0" * 64}, location=location, offset=0, length=16),
        )
    for memory in (MEMORY, "*/_ORT_NATIVE_ENDIAN_MEM_ADDR_/*"):
        for offset in (0, 4096, 1 << 40, 0x7F0000000000):
            yield (
                f"external_memory_{memory[7:10]}_{offset}",
                one({memory: b"\0" * 64}, location=memory, offset=offset, length=16),
            )
    twice = external("w", [4], location="w.bin", offset=0, length=16)
    twice.external_data.add(key="location", value="../../../../etc/passwd")
    yield "external_two_locations", bundle(built([node("Add", ["x", "w"], ["y"])], [twice]), good)
    raw = external("w", [4], location="w.bin", offset=0, length=16)
    raw.raw_data = b"\0" * 16
    yield "external_and_raw", bundle(built([node("Add", ["x", "w"], ["y"])], [raw]), good)
    yield "external_checksum", one(good, location="w.bin", offset=0, length=16, checksum="0" * 40)
    inner = node("Constant", [], ["w"], value=external("w", [4], location="w.bin", offset=0, length=16))
    yield "external_constant", bundle(built([inner, node("Add", ["x", "w"], ["y"])]), good)
    inner = node("Constant", [], ["w"], value=external("w", [4], location="/etc/passwd", offset=0, length=16))
    yield "external_constant_outside", bundle(built([inner, node("Add", ["x", "w"], ["y"])]), good)
    inner = node("Constant", [], ["w"], value=external("w", [4], location=MEMORY, offset=64, length=16))
    yield "external_constant_memory", bundle(built([inner, node("Add", ["x", "w"], ["y"])]), {MEMORY: b"\0" * 64})
    strings = TensorProto(name="t", data_type=STRING, dims=[4], data_location=TensorProto.EXTERNAL)
    strings.external_data.add(key="location", value="w.bin")
    yield (
        "external_strings",
        bundle(built([node("Equal", ["t", "t"], ["b"]), node("Cast", ["b"], ["y"], to=FLOAT)], [strings]), good),
    )
    holes = 64 << 20
    many = [external(f"w{k}", [holes // 4], location="w.bin", offset=0, length=holes) for k in range(60)]
    nodes = [node("ReduceSum", [f"w{k}"], [f"s{k}"], keepdims=0) for k in range(60)]
    nodes += [node("Sum", [f"s{k}" for k in range(60)], ["s"]), node("Mul", ["x", "s"], ["y"])]
    yield "external_again_and_again", bundle(built(nodes, many), {"w.bin": holes})

    def linked(target: str) -> Write:
        def write(folder: Path) -> Path:
            folder.mkdir(parents=True)
            (folder / "w.bin").symlink_to(target)
            return one(location="w.bin", offset=0, length=16)(folder)

        return write

    for target in ("/etc/passwd", "/dev/zero", "w.bin", "/proc/self/mem", "policy.onnx", "."):
        yield f"external_link_to_{target}", linked(target)

    def pipe(folder: Path) -> Path:
        folder.mkdir(parents=True)
        os.mkfifo(folder / "w.bin")
        return one(location="w.bin", offset=0, length=16)(folder)

    yield "external_pipe", pipe
    training = built([node("Abs", ["x"], ["y"])])
    training.training_info.add().initialization.initializer.append(external("w", [4], location="/etc/passwd"))
    yield "external_training", bundle(training)


def formats() -> Iterator[Case]:
    """Files that are something else to one of the readers."""
    good = built([node("Abs", ["x"], ["y"])]).SerializeToString()
    yield "two_formats", bundle(of_two_formats(good))
    yield "flatbuffer", bundle(struct.pack("<I", 16) + b"ORTM" + b"\0" * 64)
    yield "two_graphs", bundle(good + good)
    yield "trailing", bundle(good + b"\0" * 100)
    yield "group", bundle(good + b"\x0b\x0c")
    yield "deep_groups", bundle(good + b"\x93\x3f" * 100_000)
    yield "unknown_fields", bundle(good + b"\xfa\x3f\x05hello" * 100_000)
    yield "last_wins", bundle(good + onnx.ModelProto(ir_version=3).SerializeToString())
    yield "packed_graph", bundle(good.replace(b"\x3a", b"\x38", 1))
    for key, value in (
        ("ort_config", '{"session_options": {"enable_profiling": true, "optimized_model_path": "/tmp/stolen"}}'),
        ("ai.onnxruntime_config", '{"session_options": {"intra_op_num_threads": 10000}}'),
        ("model_hash", "x" * 1_000_000),
    ):
        model = built([node("Abs", ["x"], ["y"])])
        model.metadata_props.add(key=key, value=value)
        model.metadata_props.add(key=key, value=value)
        yield f"metadata_{key}", bundle(model)


def of_two_formats(model: bytes) -> bytes:
    """An ONNX model that begins like a file of ONNX Runtime's own format, which names itself in the second four bytes.

    To a reader of protobuf the first four say that a text follows (who made the model), and how long it is.
    """
    length = 1 << 20
    field = bytes([0x12, 0x80 | length & 0x7F, 0x80 | length >> 7 & 0x7F, length >> 14])
    return field + b"ORTM" + bytes(length - 4) + model
