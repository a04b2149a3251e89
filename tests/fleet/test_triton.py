# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Model repositories, checked with Triton's own messages and served by its server."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import tritonclient.grpc as triton
from fleet_bundles import adding, renaming
from google.protobuf import text_format
from leapp import InferenceManager
from leapp.__main__ import find_tool
from tritonclient.grpc import model_config_pb2


def export(bundle: Path, repository: Path, *arguments: str, code: int = 0) -> str:
    tool = find_tool()
    assert tool is not None
    command = [str(tool), "export-triton", str(bundle), "--output", str(repository), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def config_of(repository: Path, model: str) -> Any:
    """Parsed with Triton's own description of the message: a field that it does not know is an error."""
    return text_format.Parse((repository / model / "config.pbtxt").read_text(), model_config_pb2.ModelConfig())


def test_a_fused_model_has_its_state_kept_by_the_server(recurrent_bundle: Path, tmp_path: Path) -> None:
    export(recurrent_bundle, tmp_path / "models")
    config = config_of(tmp_path / "models", "bundle")
    assert (config.name, config.backend, config.max_batch_size) == ("bundle", "onnxruntime", 0)
    model = onnx.load(tmp_path / "models" / "bundle" / "1" / "model.onnx")
    onnx.checker.check_model(model)
    named = {info.name for info in [*model.graph.input, *model.graph.output]}
    states = list(config.sequence_batching.state)
    used = {tensor.name for tensor in [*config.input, *config.output]}
    used |= {state.input_name for state in states} | {state.output_name for state in states}
    assert used == named
    assert list(states[0].dims) == [1, 4]
    assert states[0].data_type == model_config_pb2.TYPE_FP32
    start = states[0].initial_state[0]
    content = (tmp_path / "models" / "bundle" / "initial_state" / start.data_file).read_bytes()
    assert np.frombuffer(content, np.float32).tolist() == [1, 2, 3, 4]


def test_what_the_server_would_do_is_what_the_bundle_does(delays_bundle: Path, tmp_path: Path) -> None:
    """Steps the repository by its configuration alone, as the sequence batcher does."""
    export(delays_bundle, tmp_path / "models")
    config = config_of(tmp_path / "models", "bundle")
    session = onnxruntime.InferenceSession(tmp_path / "models" / "bundle" / "1" / "model.onnx")
    outputs = [state.output_name for state in config.sequence_batching.state]
    assert len(set(outputs)) == len(outputs) == 2  # one for each state
    state = {one.input_name: np.zeros(list(one.dims), np.float32) for one in config.sequence_batching.state}
    manager = InferenceManager(delays_bundle)
    for step in range(5):
        value = np.full((1, 4), 0.5 + step, np.float32)
        found = session.run(None, {config.input[0].name: value, **state})
        by_name = dict(zip([one.name for one in session.get_outputs()], found, strict=True))
        state = {one.input_name: by_name[one.output_name] for one in config.sequence_batching.state}
        expected = np.asarray(manager({"a/x": value})["b/y"])
        np.testing.assert_allclose(by_name[config.output[0].name], expected, rtol=1e-6)


def test_nodes_that_cannot_be_one_are_an_ensemble(recurrent_bundle: Path, tmp_path: Path) -> None:
    # Another version of the operators in one node: two models that do not fuse.
    folder = recurrent_bundle.parent
    model = onnx.load(folder / "pre.onnx")
    model.opset_import[0].version = 17 if model.opset_import[0].version != 17 else 16
    onnx.save(model, folder / "pre.onnx")
    printed = export(recurrent_bundle, tmp_path / "models", "--name", "walk", "--no-verify")
    assert "an ensemble, for" in printed
    ensemble = config_of(tmp_path / "models", "walk")
    assert ensemble.platform == "ensemble"
    steps = list(ensemble.ensemble_scheduling.step)
    assert [step.model_name for step in steps] == ["walk_pre", "walk_policy", "walk_post"]
    inside = {name: config_of(tmp_path / "models", name) for name in ("walk_pre", "walk_policy", "walk_post")}
    made = {tensor.name for tensor in ensemble.input}
    for step in steps:
        assert set(step.input_map.values()) <= made
        assert set(step.input_map) == {tensor.name for tensor in inside[step.model_name].input}
        assert set(step.output_map) == {tensor.name for tensor in inside[step.model_name].output}
        made |= set(step.output_map.values())
    assert {tensor.name for tensor in ensemble.output} <= made
    assert [state.input_name for state in inside["walk_policy"].sequence_batching.state] == ["h_in"]


def test_what_triton_cannot_keep_is_refused(delays_bundle: Path, tmp_path: Path) -> None:
    folder = delays_bundle.parent
    model = onnx.load(folder / "a.onnx")
    model.opset_import[0].version = 17 if model.opset_import[0].version != 17 else 16
    onnx.save(model, folder / "a.onnx")
    message = export(delays_bundle, tmp_path / "models", "--no-verify", code=2)
    assert "feedback from a/h_out to b/h_in: Triton keeps state within a model only" in message
    assert not (tmp_path / "models").exists()


TYPES = {"float32": "FP32", "float16": "FP16", "float64": "FP64", "int8": "INT8", "int16": "INT16", "int32": "INT32"}
TYPES |= {"int64": "INT64", "uint8": "UINT8", "bool": "BOOL"}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("with_input", [True, False])
def test_state_of_every_type_is_stepped_by_its_configuration(tmp_path: Path, dtype: str, with_input: bool) -> None:
    bundle = adding(tmp_path / "adding", dtype, with_input)
    export(bundle, tmp_path / "models")
    config = config_of(tmp_path / "models", "adding")
    (state,) = config.sequence_batching.state
    assert state.data_type == getattr(model_config_pb2, f"TYPE_{TYPES[dtype]}")
    assert [one.data_type for one in [*config.input, *config.output]] == [state.data_type] * (1 + with_input)
    session = onnxruntime.InferenceSession(tmp_path / "models" / "adding" / "1" / "model.onnx")
    manager, kept = InferenceManager(bundle), np.zeros(list(state.dims), dtype)
    for step in range(3):
        given = {one.name: np.full(list(one.dims), step, dtype) for one in config.input}
        found = session.run([config.output[0].name, state.output_name], {**given, state.input_name: kept})
        expected = manager({f"node/{name}": value for name, value in given.items()})["node/y"]
        np.testing.assert_array_equal(found[0], np.asarray(expected))
        kept = found[1]


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a b", "日本", "a\nb", "a{", "0", "'"])
@pytest.mark.parametrize("backend", ["onnx", "python"])
def test_names_are_what_they_are_in_the_bundle(tmp_path: Path, name: str, backend: str) -> None:
    bundle = renaming(tmp_path / "walk it", [("node", name, f"{name}_out")])
    export(bundle, tmp_path / "models", *(["--backend", backend] if backend == "python" else []))
    config = config_of(tmp_path / "models", "walk it")
    prefix = "node/" if backend == "python" else ""
    assert [one.name for one in [*config.input, *config.output]] == [prefix + name, f"{prefix}{name}_out"]


# ---- the server ----


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def server(repository: Path, folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Triton's server with its Python back end, of the interpreter that runs the test."""
    # Only found, not imported: that wants packages which the program does not need.
    found = importlib.util.find_spec("pytriton")
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    program = package / "tritonserver"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    shutil.copytree(program / "backends", folder / "backends")
    stub = program / "python_backend_stubs" / version / "triton_python_backend_stub"
    shutil.copy(stub, folder / "backends" / "python" / "triton_python_backend_stub")
    address = f"127.0.0.1:{(port := free_port())}"
    command = [str(program / "bin" / "tritonserver"), f"--model-repository={repository}"]
    command += [f"--backend-directory={folder / 'backends'}", f"--grpc-port={port}", "--grpc-address=127.0.0.1"]
    command += ["--allow-http=false", "--allow-metrics=false", "--exit-on-error=true"]
    libraries = package.parent / "nvidia_pytriton.libs"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    environment["LD_LIBRARY_PATH"] = os.pathsep.join([str(libraries), os.environ.get("LD_LIBRARY_PATH", "")])
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            yield address, process
        finally:
            process.terminate()
            process.wait(60)


def connect(address: str, model: str, process: subprocess.Popen[bytes], log: Path) -> triton.InferenceServerClient:
    client = triton.InferenceServerClient(address)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if client.is_server_ready() and client.is_model_ready(model):
                return client
        except triton.InferenceServerException:
            pass
        time.sleep(0.2)
    pytest.fail(log.read_text()[-4000:])


def test_two_interleaved_sequences_over_grpc_are_local_stepping(gru_bundle: Path, tmp_path: Path) -> None:
    export(gru_bundle, tmp_path / "models", "--backend", "python", "--instances", "2")
    config_of(tmp_path / "models", "gru")
    local = {7: InferenceManager(gru_bundle), 9: InferenceManager(gru_bundle)}
    random = np.random.default_rng(0)
    with server(tmp_path / "models", tmp_path) as (address, process):
        client = connect(address, "gru", process, tmp_path / "log.txt")
        for step in range(200):
            for number, manager in local.items():
                value = random.standard_normal((1, 48)).astype(np.float32)
                given = triton.InferInput("policy/obs", [1, 48], "FP32")
                given.set_data_from_numpy(value)
                answer = client.infer(
                    "gru", [given], sequence_id=number, sequence_start=step == 0, sequence_end=step == 199
                )
                expected = np.asarray(manager({"policy/obs": value})["policy/action"])
                np.testing.assert_array_equal(answer.as_numpy("policy/action"), expected)
        client.close()
