# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""The same programs on the LEAPP of PyPI and on this one: the same ports, edges and numbers.

Every difference is in DIFFERENCES, with the reason, and in docs/coming_from_leapp.md. A difference that is gone fails
too. The other package lives in an environment of its own, which `scripts/setup --peer` makes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEER = ROOT / "build" / "peer-venv" / "bin" / "python"
pytestmark = pytest.mark.skipif(
    not PEER.exists(), reason=f"{PEER.relative_to(ROOT)} does not exist; scripts/setup --peer makes it"
)

# program -> part that differs -> why. "peer raises": ours runs, and the other package does not.
DIFFERENCES: dict[str, dict[str, str]] = {
    "method_namedtuple": {"peer raises": "a named tuple gives its fields' names to the ports"},
    "method_arguments": {"ports": "*rest becomes rest_0, rest_1 after the parameter, not arg_0, arg_1"},
    "static_edge": {"edges": "a static output that a later node is given is an edge"},
    "delay": {"peer raises": "an output of an earlier pass may feed a node beside the output of this pass"},
    "one_output_two_inputs": {"peer raises": "one output may feed several inputs of a node"},
    "out_argument": {"peer raises": "out= is recorded"},
    "unannounced_edge": {"peer raises": "an output that was not announced as input becomes one, with a warning"},
    "registered_buffer_with_history": {"ports": "content that survives the call is state"},
    "write_through_a_view": {"numbers": "a write through a view of a view reaches the tensor"},
    "module_in_place": {"ports": "a buffer that is written in place is state, as one that is reassigned"},
}


def run(python: Path | str, folder: Path) -> dict[str, str | None]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if str(python) == sys.executable:
        environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    command = [str(python), str(HERE / "run_programs.py"), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (folder / "results.json").exists(), done.stdout[-2000:] + done.stderr[-2000:]
    results: dict[str, str | None] = json.loads((folder / "results.json").read_text())
    return results


class Both:
    """Where the two left their bundles."""

    def __init__(self, folder: Path) -> None:
        self.folders = {"peer": folder / "peer", "ours": folder / "ours"}
        self.errors = {"peer": run(PEER, folder / "peer"), "ours": run(sys.executable, folder / "ours")}

    def bundles(self, program: str) -> tuple[Bundle, Bundle]:
        return Bundle(self.folders["peer"] / program), Bundle(self.folders["ours"] / program)


class Bundle:
    def __init__(self, folder: Path) -> None:
        (self.file,) = folder.glob("**/*.yaml")
        self.yaml: dict[str, Any] = yaml.safe_load(self.file.read_text())
        self.pipeline = self.yaml["pipeline"]

    def ports(self) -> Any:
        def described(port: dict[str, Any]) -> dict[str, Any]:
            return {key: value for key, value in port.items() if key != "type"}

        return {
            node: {direction: [described(port) for port in model[direction]] for direction in ("inputs", "outputs")}
            for node, model in self.yaml["models"].items()
        }

    def edges(self) -> Any:
        def targets(flow: dict[str, list[str]]) -> dict[str, set[str]]:
            return {source: set(found) for source, found in flow.items()}

        flows = (targets(self.pipeline["data_flow"]), targets(self.pipeline["feedback_flow"]))
        return (*flows, self.pipeline["inputs"], self.pipeline["outputs"], self.pipeline.get("configs"))

    def order(self) -> list[str]:
        return list(self.yaml["models"])

    def initial(self) -> dict[str, Any]:
        file = self.pipeline.get("initial_values")
        if file is None:
            return {}
        data = (self.file.parent / file).read_bytes()
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        header.pop("__metadata__", None)
        return {
            name: (entry["dtype"], entry["shape"], data[8 + length :][slice(*entry["data_offsets"])])
            for name, entry in header.items()
        }

    def backends(self) -> list[Any]:
        return [model["parameters"]["backend"] for model in self.yaml["models"].values()]

    def numbers(self, seed: int) -> dict[str, list[Any]]:
        """What each model gives for the same random inputs."""
        found = {}
        for node, model in self.yaml["models"].items():
            if model["parameters"]["backend"] != "jit":
                continue
            torch.manual_seed(seed)
            inputs = [(torch.randn(port["shape"]) * 5).to(getattr(torch, port["dtype"])) for port in model["inputs"]]
            module = torch.jit.load(str(self.file.parent / model["parameters"]["model_path"]))
            with torch.no_grad():
                outputs = module(*inputs)
            found[node] = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
        return found


PARTS: dict[str, Callable[[Bundle], Any]] = {
    "ports": Bundle.ports,
    "order": Bundle.order,
    "edges": Bundle.edges,
    "initial values": Bundle.initial,
    "backends": Bundle.backends,
}


def differing_parts(both: Both, program: str) -> dict[str, Any]:
    """Part -> (the peer's, ours)."""
    errors = {who: both.errors[who][program] for who in ("peer", "ours")}
    assert errors["ours"] is None, errors["ours"]
    if errors["peer"] is not None:
        return {"peer raises": (errors["peer"], None)}
    peer, ours = both.bundles(program)
    found = {name: (part(peer), part(ours)) for name, part in PARTS.items() if part(peer) != part(ours)}
    if "ports" not in found:
        for seed in (1, 2):
            try:
                torch.testing.assert_close(ours.numbers(seed), peer.numbers(seed))
            except AssertionError as error:
                found["numbers"] = str(error)
    return found


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(tmp_path_factory.mktemp("parity"))


def names() -> list[str]:
    """Of all programs, without importing them: they import leapp."""
    source = (HERE / "programs.py").read_text().split("\n")
    own = [source[i + 1][4:].partition("(")[0] for i, line in enumerate(source) if line == "@program"]
    seeds = ["my_pipeline_jit", "complete_pipeline", "static_example", "buffer_mirror", "lifecycle_head"]
    return [*seeds, "stateful_policy", "stateful_gru_jit", "sample_feedback_graph", *own]


@pytest.mark.parametrize("program", names())
def test_the_same_bundle(program: str, both: Both) -> None:
    found = differing_parts(both, program)
    known = DIFFERENCES.get(program, {})
    # Where ports differ, so do the edges and the state that go through them.
    follows = {"edges", "initial values"} if "ports" in known else set()
    unknown = {part: values for part, values in found.items() if part not in known and part not in follows}
    assert not unknown, f"the peer's and ours differ: {unknown}"
    assert set(known) <= set(found), f"no longer different: {set(known) - set(found)}"


def test_every_difference_is_documented() -> None:
    page = (ROOT / "docs" / "coming_from_leapp.md").read_text()
    missing = [program for program in DIFFERENCES if f"`{program}`" not in page]
    assert not missing, f"not in docs/coming_from_leapp.md: {missing}"
