# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs: the bundle, wired as its YAML says, gives for fresh inputs what eager torch gives.

A program is three numbers; a failure prints them. To run that program alone:
LEAPP_PROGRAM=seed,operators,nodes pytest tests/python/programs/test_properties.py
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import leapp
import pytest
import torch
from harness import difference, difference_in_bits, read_yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from leapp import annotate
from random_programs import Program
from torch import Tensor

EXAMPLES = int(os.environ.get("LEAPP_PROGRAMS", "200"))  # the same ones each time; 2,000 in make test-long


# ---- Export and compare ----------------------------------------------------------------------------------------------


class Bundle:
    """What was written, loaded by plain torch."""

    def __init__(self, folder: Path) -> None:
        bundle = read_yaml(folder)
        pipeline = bundle["pipeline"]
        self.nodes = bundle["models"]
        self.models = {node: torch.jit.load(str(folder / f"{node}.pt")) for node in self.nodes}
        self.initial = initial_values(folder, pipeline.get("initial_values"))
        self.sources = {target: source for source, targets in pipeline["data_flow"].items() for target in targets}

    def run(self, external: dict[str, Tensor]) -> dict[str, Tensor]:
        """The models as the YAML wires them, from the initial state: "node/port" -> value."""
        found: dict[str, Tensor] = {}
        known = external | self.initial
        for node, description in self.nodes.items():
            keys = [f"{node}/{port['name']}" for port in description["inputs"]]
            inputs = [found[self.sources[key]] if key in self.sources else known[key] for key in keys]
            with torch.no_grad():
                outputs = self.models[node](*(tensor.clone() for tensor in inputs))
            outputs = [outputs] if isinstance(outputs, Tensor) else outputs
            names = [port["name"] for port in description["outputs"]]
            found.update({f"{node}/{name}": value for name, value in zip(names, outputs, strict=True)})
        return found


def initial_values(folder: Path, file: str | None) -> dict[str, Tensor]:
    """What state held before the first call: the content of buffers that are read before they are written."""
    if file is None:
        return {}
    data = (folder / file).read_bytes()
    length = int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            first, last = (8 + length + offset for offset in entry["data_offsets"])
            dtype = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64, "BOOL": torch.bool}[entry["dtype"]]
            found[name] = torch.frombuffer(bytearray(data[first:last]), dtype=dtype).reshape(entry["shape"])
    return found


def problem_of(program: Program, folder: Path) -> str | None:
    """What is wrong with the export of the program, or None."""
    program.run(1, captured=False)
    expected = program.last
    leapp.start("g", save_path=str(folder))
    program.run(1, captured=True)
    leapp.stop()
    problem = difference_in_bits(list(expected.values()), list(program.last.values()))
    if problem is not None:
        return f"capture changed what the program computes: {problem}"
    leapp.compile_graph(visualize=False, validate=False)
    bundle = Bundle(folder / "g")
    for values in (1, 2):
        program.run(values, captured=False)
        found = bundle.run(program.external)
        for port, value in program.last.items():
            problem = difference([value], [found[port]], rtol=1e-4, atol=1e-5)
            if problem is not None:
                return f"{port} with inputs {values}: {problem}"
    return None


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    # In memory where there is such a place: a hundred thousand small files are written.
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    path = Path(tempfile.mkdtemp(dir=shared))
    yield path
    shutil.rmtree(path)


def check(numbers: tuple[int, int, int], folder: Path) -> None:
    replay_with = "LEAPP_PROGRAM=" + ",".join(map(str, numbers))
    try:
        problem = problem_of(Program(*numbers), folder)
    except Exception as error:
        raise AssertionError(f"{replay_with}: {error}") from error
    assert problem is None, f"{replay_with}: {problem}"


def test_random_programs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    one = os.environ.get("LEAPP_PROGRAM")
    if one is not None:
        seed, operators, nodes = map(int, one.split(","))
        check((seed, operators, nodes), folder)
        return

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(st.integers(0, 2**48), st.integers(5, 30), st.integers(1, 4))
    def run(seed: int, operators: int, nodes: int) -> None:
        check((seed, operators, nodes), folder)

    run()


# ---- Payloads --------------------------------------------------------------------------------------------------------

NAMES = st.text("ab_0", min_size=1, max_size=3)
PAYLOADS = st.dictionaries(
    NAMES,
    st.recursive(
        st.lists(st.integers(1, 3), min_size=1, max_size=2),  # a shape
        lambda inner: st.one_of(
            st.dictionaries(NAMES, inner, min_size=1, max_size=3),
            st.lists(inner, min_size=1, max_size=3).map(tuple),
        ),
        max_leaves=6,
    ),
    min_size=1,
    max_size=3,
)


def filled(shapes: Any) -> Any:
    """A payload: tensors where the shapes are; tuples of odd length become lists."""
    if isinstance(shapes, dict):
        return {key: filled(inner) for key, inner in shapes.items()}
    if isinstance(shapes, tuple):
        return [filled(inner) for inner in shapes] if len(shapes) % 2 else tuple(filled(inner) for inner in shapes)
    return torch.rand(shapes)


def flat(name: str, value: Any) -> list[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        return [(name, value)]
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    return [leaf for key, inner in parts for leaf in flat(f"{name}_{key}", inner)]


def mapped(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: mapped(function, inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(function, inner) for inner in value)
    return function(value)


def test_random_payloads(folder: Path) -> None:
    @settings(max_examples=EXAMPLES // 10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(PAYLOADS)
    def run(shapes: dict[str, Any]) -> None:
        payload = filled(shapes)
        leaves = [leaf for name, value in payload.items() for leaf in flat(name, value)]
        names = [name for name, _ in leaves]
        if len(set(names)) != len(names):
            leapp.start("p", save_path=str(folder))
            with pytest.raises(ValueError, match=r"unique|twice|two"):
                annotate.input_tensors("n", payload)
            leapp.stop()
            return
        leapp.start("p", save_path=str(folder))
        given = annotate.input_tensors("n", payload)
        given = given if len(payload) > 1 else (given,)
        assert repr(mapped(lambda t: t.shape, tuple(given))) == repr(
            mapped(lambda t: t.shape, tuple(payload.values()))
        ), "the structure comes back"
        results = {name: mapped(lambda t: t * 2 + 1, value) for name, value in zip(payload, given, strict=True)}
        annotate.output_tensors("n", results, export_with="jit")
        leapp.stop()
        leapp.compile_graph(visualize=False, validate=False)
        ports = read_yaml(folder / "p")["models"]["n"]
        assert [port["name"] for port in ports["inputs"]] == names
        assert [port["name"] for port in ports["outputs"]] == names
        model = torch.jit.load(str(folder / "p" / "n.pt"))
        fresh = [torch.rand_like(tensor) for _, tensor in leaves]
        outputs = model(*fresh)
        outputs = [outputs] if isinstance(outputs, Tensor) else outputs
        assert difference([tensor * 2 + 1 for tensor in fresh], list(outputs)) is None

    run()
