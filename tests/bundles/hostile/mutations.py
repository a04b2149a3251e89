# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles that were damaged by someone who knows how they are made: the same number makes the same bundle.

A change of bytes is found by the first check that reads them. Here a value is exchanged for another one that may stand
there: a key, a name, an attribute, an extent, an offset.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import shutil
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attacks
import leapp
import onnx
import yaml
from onnx import TensorProto, helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "support"))
import native_cases as native

INTEGERS = [0, 1, -1, 2, 3, 7, 63, 64, 65, 255, 4096, -4, -128, 1 << 16, 1 << 31, -(1 << 31), (1 << 32) + 1]
INTEGERS += [1 << 40, 1 << 62, (1 << 63) - 1, -(1 << 63), -(1 << 62)]
NUMBERS = [0.0, -0.0, 0.5, -1.0, 1e-40, 1e30, 3e38, float("inf"), float("-inf"), float("nan")]
NAMES = [
    "",
    "x",
    "y",
    "policy",
    "m/s",
    "/",
    "..",
    "../../etc/passwd",
    "/dev/zero",
    "/dev/stdin",
    "a\0b",
    "\x1b[2J",
    "\u202eok",
]
NAMES += [
    "\ufeff",
    "\ud7ff\U0010ffff",
    "é" * 600,
    "n" * 5000,
    "x" * 3 + "\n- y",
    "{}",
    "[",
    "&a",
    "*a",
    "!!python/none",
    "1",
    "true",
]
OPERATORS = [
    "Loop",
    "If",
    "Scan",
    "Abs",
    "Add",
    "Concat",
    "Reshape",
    "Conv",
    "MatMul",
    "Gather",
    "Slice",
    "Pad",
    "Resize",
]
OPERATORS += [
    "QuantizeLinear",
    "DequantizeLinear",
    "QLinearMatMul",
    "MatMulInteger",
    "DynamicQuantizeLinear",
    "ConvInteger",
]
OPERATORS += [
    "Range",
    "Tile",
    "Expand",
    "NonZero",
    "Unique",
    "StringNormalizer",
    "SequenceAt",
    "Optional",
    "Einsum",
    "GRU",
]


# ---- trees of YAML and JSON ----


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Each place in it: what holds it, and the key or index there."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(items):
        yield tree, key
        yield from places(value)


def other_value(rng: random.Random, tree: Any) -> Any:
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(INTEGERS)
    if kind == 1:
        return rng.choice(NUMBERS)
    if kind == 2:
        return rng.choice(NAMES)
    if kind == 3:
        return rng.choice([None, True, [], {}, [[]], {"a": []}, [None], {"": ""}, [rng.choice(INTEGERS)] * 3])
    holder, key = rng.choice(list(places(tree)))
    return copy.deepcopy(holder[key])


def change_tree(rng: random.Random, tree: Any) -> None:
    found = list(places(tree))
    if not found:
        return
    holder, key = rng.choice(found)
    kind = rng.randrange(5)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[rng.choice(NAMES)] = holder.pop(key)
    elif kind == 1:
        holder.insert(key, copy.deepcopy(holder[key]))
    elif kind == 2 and isinstance(holder[key], str) and holder[key]:
        at = rng.randrange(len(holder[key]))
        holder[key] = holder[key][:at] + rng.choice(["/", "\0", "", "a", "\u202e", "-"]) + holder[key][at + 1 :]
    else:
        holder[key] = other_value(rng, tree)


# ---- messages of protobuf ----


def messages(message: Any) -> Iterator[Any]:
    yield message
    for field, value in message.ListFields():
        if field.type != field.TYPE_MESSAGE:
            continue
        for inner in value if field.is_repeated else [value]:
            yield from messages(inner)


def other_scalar(rng: random.Random, field: Any, names: list[str]) -> Any:
    if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
        return rng.choice(NUMBERS)
    if field.type == field.TYPE_STRING:
        return rng.choice(NAMES + OPERATORS + 3 * names)
    if field.type == field.TYPE_BYTES:
        return rng.choice(
            [b"", b"\0" * 8, b"\xff" * 64, rng.randbytes(16), b"NOTSET", b"SAME_UPPER", b"reflect", b"linear"]
        )
    if field.type == field.TYPE_ENUM:
        return rng.choice([value.number for value in field.enum_type.values])
    number = rng.choice(INTEGERS + list(range(-4, 24)))
    small = field.type in (field.TYPE_INT32, field.TYPE_UINT32)
    number = (number + (1 << 31)) % (1 << 32) - (1 << 31) if small else number
    return abs(number) if field.type in (field.TYPE_UINT32, field.TYPE_UINT64) else number


def change_field(rng: random.Random, message: Any, field: Any, names: list[str]) -> None:
    if not field.is_repeated:
        if field.type == field.TYPE_MESSAGE:
            message.ClearField(field.name)
        else:
            setattr(message, field.name, other_scalar(rng, field, names))
        return
    values = getattr(message, field.name)
    kind = rng.randrange(4)
    if not values or (kind == 0 and field.type != field.TYPE_MESSAGE):
        if field.type == field.TYPE_MESSAGE:
            values.add()
        else:
            values.append(other_scalar(rng, field, names))
    elif kind == 1:
        del values[rng.randrange(len(values))]
    elif kind == 2 and field.type == field.TYPE_MESSAGE:
        values.add().CopyFrom(rng.choice(list(values)))
    elif field.type != field.TYPE_MESSAGE:
        values[rng.randrange(len(values))] = other_scalar(rng, field, names)


def change_model(rng: random.Random, model: onnx.ModelProto) -> None:
    names = [name for node in model.graph.node for name in (*node.input, *node.output)]
    # Attributes and the tensors of constants are where most of a handler's work is.
    found = [each for each in messages(model) for _ in range(4 if isinstance(each, onnx.AttributeProto) else 1)]
    message = rng.choice(found)
    used = [field for field, _ in message.ListFields()]
    fields = used if used and rng.randrange(4) else list(message.DESCRIPTOR.fields)
    change_field(rng, message, rng.choice(fields), names)


# ---- bundles ----


def model_of(case: native.Case) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """One node, and what makes one number of its first result: whatever shape that has, the port fits."""
    model, feeds = native.model_of(case)
    del model.graph.value_info[:]
    model.graph.node.append(helper.make_node("Cast", ["y0"], ["floats"], to=TensorProto.FLOAT))
    model.graph.node.append(helper.make_node("ReduceMax", ["floats"], ["top"], keepdims=0))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("top", TensorProto.FLOAT, []))
    return model, feeds


def cases() -> list[native.Case]:
    kinds = (native.elementwise, native.layout, native.reductions, native.layers, native.recurrent)
    return [case for kind in kinds for case in kind()]


def write_one_node(folder: Path, model: onnx.ModelProto, feeds: dict[str, Any]) -> Path:
    ports = [{"name": k, "dtype": native.NAMES[v.dtype], "shape": list(v.shape)} for k, v in feeds.items()]
    tree = {
        "models": {
            "m": {
                "inputs": ports,
                "outputs": [{"name": "top", "dtype": "float32", "shape": []}],
                "parameters": {"backend": "onnx", "model_path": "m.onnx"},
            }
        },
        "pipeline": {"inputs": {"m": list(feeds)}, "outputs": {"m": ["top"]}},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    return attacks.write_yaml(folder, yaml.safe_dump(tree, sort_keys=False))


def changed_model(folder: Path, number: int) -> Path:
    rng = random.Random(number)
    every = cases()
    model, feeds = model_of(every[number % len(every)])
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        change_model(rng, model)
    return write_one_node(folder, model, feeds)


def chain(folder: Path) -> Path:
    """No attack: three nodes, wired, with state, names of elements, a checksum and settings."""
    file = attacks.stateful(folder)
    tree = yaml.safe_load(file.read_text())
    first = copy.deepcopy(tree["models"]["m"])
    for port in (*first["inputs"], *first["outputs"]):
        port["element_names"] = [["a", "b", "c", "d"]]
        port["kind"] = "state"
    sums = hashlib.sha256((folder / "m.onnx").read_bytes()).hexdigest()
    first["parameters"]["sha256sum"] = sums
    tree["models"] = {"n": first, "m": tree["models"]["m"]}
    tree["pipeline"]["data_flow"] = {"n/y": ["m/x"]}
    tree["pipeline"]["feedback_flow"]["n/t"] = ["n/s"]
    tree["pipeline"]["inputs"] = {"n": ["x"]}
    tree["pipeline"]["configs"] = {"frequency": 50}
    tree["system information"] = {"leapp config version": "1.4", "os": "none"}
    values = struct.pack("<8f", *range(8))
    entry = {"dtype": "F32", "shape": [4]}
    header = json.dumps(
        {"n/s": {**entry, "data_offsets": [0, 16]}, "m/s": {**entry, "data_offsets": [16, 32]}}
    ).encode()
    (folder / "state.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + values)
    return attacks.write_yaml(folder, yaml.safe_dump(tree, sort_keys=False))


def changed_yaml(folder: Path, number: int) -> Path:
    rng = random.Random(number)
    file = chain(folder)
    tree = yaml.safe_load(file.read_text())
    for _ in range(rng.choice([1, 1, 2, 4])):
        change_tree(rng, tree)
    return attacks.write_yaml(folder, yaml.safe_dump(tree, sort_keys=False, allow_unicode=bool(number % 2)))


def changed_state(folder: Path, number: int) -> Path:
    rng = random.Random(number)
    file = chain(folder)
    stored = (folder / "state.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", stored[:8])
    tree = json.loads(stored[8 : 8 + length])
    for _ in range(rng.choice([1, 1, 2])):
        change_tree(rng, tree)
    header = json.dumps(tree).encode(errors="surrogatepass")
    shown = rng.choice([len(header)] * 6 + [abs(n) for n in INTEGERS])
    (folder / "state.safetensors").write_bytes(struct.pack("<Q", shown) + header + stored[8 + length :])
    return file


def use(bundle: Path) -> str:
    """Loads and steps it; what is no error of ours is a finding."""
    try:
        manager = leapp.InferenceManager(bundle, timeout=2, memory_limit=256_000_000, allow_torchscript=False)
        for _ in range(2):
            manager.run_policy(manager.zeros_input())
        return "runs"
    except leapp.LeappError:
        return "refused"
    except Exception as problem:
        return f"{type(problem).__name__} {problem}"


def main() -> None:
    kind, begin, end, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    for number in range(begin, end):
        bundle = KINDS[kind](folder / f"{kind}{number}", number)
        print(f"{kind} {number}", flush=True)
        signal.alarm(12)
        print(f"{kind} {number}: {use(bundle)}", flush=True)
        shutil.rmtree(bundle.parent)


KINDS: dict[str, Callable[[Path, int], Path]] = {
    "model": changed_model,
    "yaml": changed_yaml,
    "state": changed_state,
}


if __name__ == "__main__":
    main()
