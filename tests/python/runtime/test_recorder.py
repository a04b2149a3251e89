# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings: what other programs read in them, that they can be done again, and what becomes of them in a bad end."""

from __future__ import annotations

import io
import json
import os
import random
import resource
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bundle_runner
import hand_made
import leapp
import mcap.exceptions
import numpy as np
import pytest
import torch
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from leapp import GraphConfigs, InferenceManager, Loop, Recorder, TensorSemantics, annotate
from mcap.reader import NonSeekingReader, SeekingReader

JOINTS = [None, ["hip", "left-knee", "ankle"]]
BUILD = bundle_runner.BUILD
PROGRAM = BUILD / "bin" / "leapp"
VICTIM = BUILD / "src" / "runtime" / "recorder_victim"


def export(folder: Path, limit: float, name: str = "walk") -> Path:
    """action = min(q + h, limit), h = h / 2 + q; 50 Hz."""
    leapp.start(name, save_path=folder)
    for _ in range(2):
        q = annotate.input_tensors("policy", TensorSemantics("q", torch.ones(1, 3), element_names=JOINTS))
        h = annotate.state_tensors("policy", {"h": torch.zeros(1, 3)})
        annotate.update_state("policy", {"h": h / 2 + q})
        action = (q + h).clamp(max=limit)
        annotate.output_tensors("policy", TensorSemantics("action", action, element_names=JOINTS), export_with="onnx")
    leapp.stop()
    leapp.compile_graph(visualize=False, validate=False, graph_configs=GraphConfigs(frequency=50.0))
    return folder / name


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("recorder"), 20)


def step(manager: InferenceManager, value: float) -> None:
    manager({"policy/q": np.full((1, 3), value, np.float32)})


def record(bundle: Path, file: Path, steps: int = 20, **options: Any) -> Path:
    manager = InferenceManager(bundle)
    with Recorder(manager, file, **options) as recorder:
        for i in range(steps):
            step(manager, i)
            assert recorder.record()
    return file


def replay(bundle: Path, file: Path, *options: object, code: int = 0) -> dict[str, Any]:
    done = run(bundle, file, *options, "--json")
    assert done.returncode == code, done.stderr + done.stdout
    found: dict[str, Any] = json.loads(done.stdout)["replay"]
    return found


def run(bundle: Path, file: Path, *options: object) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, "run", bundle, "--replay", file, *options]
    environment = {**os.environ, **bundle_runner.ONNXRUNTIME}
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment, check=False)


class Decoder:
    """Decodes messages by what the file says of them, and nothing else."""

    def __init__(self) -> None:
        self.types: dict[int, Any] = {}

    def __call__(self, schema: Any, data: bytes) -> Any:
        if schema.id not in self.types:
            assert schema.encoding == "protobuf"
            pool = descriptor_pool.DescriptorPool()
            for file in descriptor_pb2.FileDescriptorSet.FromString(schema.data).file:
                pool.Add(file)
            self.types[schema.id] = message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.name))
        return self.types[schema.id].FromString(data)


def messages(file: Path, reader: Any = SeekingReader) -> Iterator[tuple[str, Any, Any]]:
    decode = Decoder()
    found = reader(io.BytesIO(file.read_bytes()), validate_crcs=True)
    for schema, channel, message in found.iter_messages(log_time_order=False):
        assert channel.message_encoding == "protobuf"
        yield channel.topic, message, decode(schema, message.data)


# ------------------------------------------------------------------ what others read


@pytest.mark.parametrize("reader", [SeekingReader, NonSeekingReader])
def test_the_mcap_package_reads_it(bundle: Path, tmp_path: Path, reader: Any) -> None:
    file = record(bundle, tmp_path / "run.mcap", 50, chunk_bytes=1000)
    state = np.zeros(3, np.float32)
    seen: dict[str, int] = {}
    for topic, message, decoded in messages(file, reader):
        i = message.sequence
        seen[topic] = seen.get(topic, 0) + 1
        if topic == "/inputs/policy/q":
            assert [decoded.hip, decoded.left_knee, decoded.ankle] == [i] * 3
        elif topic == "/outputs/policy/action":
            assert [decoded.hip, decoded.left_knee, decoded.ankle] == np.minimum(state + i, 20).tolist()
        elif topic == "/state/policy/h_in":
            state = state / 2 + i
            assert list(decoded.values) == state.tolist()
        elif topic == "/step":
            assert decoded.number == i
            assert decoded.result == 0
            assert decoded.begin_ns <= decoded.end_ns
    assert seen == {
        "/start/policy/h_in": 1,
        "/inputs/policy/q": 50,
        "/outputs/policy/action": 50,
        "/state/policy/h_in": 50,
        "/step": 50,
    }


def test_the_index_is_good_for_topics_and_times(bundle: Path, tmp_path: Path) -> None:
    file = record(bundle, tmp_path / "run.mcap", 50, chunk_bytes=1000)
    reader = SeekingReader(io.BytesIO(file.read_bytes()), validate_crcs=True)
    summary = reader.get_summary()
    assert summary is not None
    assert summary.statistics is not None
    assert summary.statistics.chunk_count > 5
    assert summary.statistics.message_count == 50 * 4 + 1
    times = [message.log_time for _, _, message in reader.iter_messages(topics=["/step"])]
    assert times == sorted(times)
    assert abs(times[-1] / 1e9 - time.time()) < 600
    half = list(reader.iter_messages(topics=["/inputs/policy/q"], starting_at=times[25]))
    assert [message.sequence for _, _, message in half] == list(range(25, 50))
    channel = next(each for each in summary.channels.values() if each.topic == "/inputs/policy/q")
    assert json.loads(channel.metadata["element_names"]) == JOINTS
    assert channel.metadata["dtype"] == "float32"
    assert channel.metadata["shape"] == "[1,3]"
    metadata = {record.name: record.metadata for record in reader.iter_metadata()}
    assert metadata["leapp"]["bundle"] == "walk"
    assert set(metadata["leapp_files"]) == {path.name for path in bundle.iterdir() if path.name != "log.txt"}


def test_every_dtype_and_every_bit(tmp_path: Path) -> None:
    """Infinities, NaN with something in it, denormals: what a viewer reads is what was there."""
    bundle = hand_made.every_type(tmp_path)
    manager = InferenceManager(bundle)
    inputs: dict[str, torch.Tensor] = manager.get_mock_input(seed=1)
    for value in inputs.values():
        if value.is_floating_point():
            tiny = torch.finfo(value.dtype).smallest_normal / 2
            value.reshape(-1)[:5] = torch.tensor([torch.inf, -torch.inf, -0.0, tiny, torch.nan]).to(value.dtype)
    with Recorder(manager, tmp_path / "run.mcap") as recorder:
        manager(inputs)
        assert recorder.record()
    read = {}
    for topic, _, decoded in messages(tmp_path / "run.mcap"):
        if topic.startswith("/inputs/"):
            read[topic.removeprefix("/inputs/")] = list(decoded.values)
    assert set(read) == set(inputs)
    for name, value in inputs.items():
        found = torch.tensor(read[name], dtype=torch.float64 if value.is_floating_point() else torch.int64)
        torch.testing.assert_close(found.to(value.dtype), value.reshape(-1), rtol=0, atol=0, equal_nan=True)
    assert replay(bundle, tmp_path / "run.mcap")["agrees"]


def test_times_of_a_loop(bundle: Path, tmp_path: Path) -> None:
    manager = InferenceManager(bundle)
    ticks = []
    with Recorder(manager, tmp_path / "run.mcap") as recorder:

        def call(tick: Any) -> bool:
            ticks.append(tick)
            tick.set_input_time(time.monotonic())
            step(manager, 1)
            recorder.record(tick)
            return len(ticks) < 3

        Loop(1000.0).run(call)
    found = [decoded for topic, _, decoded in messages(tmp_path / "run.mcap") if topic == "/step"]
    assert [each.deadline_ns / 1e9 for each in found] == pytest.approx([tick.deadline for tick in ticks], abs=1e-6)
    assert [each.woken_ns / 1e9 for each in found] == pytest.approx([tick.woken for tick in ticks], abs=1e-6)
    assert all(each.woken_ns <= each.input_ns <= each.begin_ns <= each.end_ns for each in found)


# ------------------------------------------------------------------ done again


def test_a_run_is_the_same_again(bundle: Path, tmp_path: Path) -> None:
    file = record(bundle, tmp_path / "run.mcap")
    found = replay(bundle, file)
    assert found["agrees"]
    assert found["steps"] == 20
    assert found["notes"] == []
    assert found["cut_off"] is False
    text = run(bundle, file).stdout
    assert "2 ports over 20 steps, to the last bit" in text
    assert replay(bundle, file, "--steps", 5)["steps"] == 5


def test_everything_that_can_happen_happens_again(bundle: Path, tmp_path: Path) -> None:
    """Guards that clamp, hold and refuse, with what they remember; resets; state that is set; steps nobody records."""
    numbers = random.Random(7)
    manager = InferenceManager(bundle)
    manager.set_guards(
        {
            "policy/q": {"non_finite": "hold", "upper": 30, "bounds": "fail"},
            "policy/action": {"lower": -5, "upper": 5, "per_step": 0.7, "elements": {"ankle": {"upper": 1 / 3}}},
            "policy/h_in": {"upper": 9.5},
        }
    )
    refused = 0
    with Recorder(manager, tmp_path / "run.mcap") as recorder:
        for _ in range(400):
            chance = numbers.random()
            if chance < 0.05:
                manager.reset(numbers.choice(["zeros", "exported"]))
            elif chance < 0.1:
                manager.set_input_value("policy", "h", np.full((1, 3), numbers.uniform(-9, 9), np.float32))
            elif chance < 0.15:
                manager.set_last_good("policy/action", np.array([numbers.uniform(-1, 1) for _ in range(3)]))
            elif chance < 0.18:
                manager.forget_last_good()
            value = numbers.choice([numbers.gauss(0, 4), numbers.gauss(0, 4), float("nan"), 40.0, float("inf")])
            try:
                step(manager, value)
            except RuntimeError:
                refused += 1
            if numbers.random() < 0.9:
                assert recorder.record()
    assert 20 < refused < 300
    found = replay(bundle, tmp_path / "run.mcap")
    assert found["agrees"], found
    assert found["steps"] == recorder.summary.written > 300


def test_a_step_that_fails_fails_again(tmp_path: Path) -> None:
    bundle = hand_made.failing(tmp_path)
    manager = InferenceManager(bundle)
    failures = 0
    with Recorder(manager, tmp_path / "run.mcap") as recorder:
        for i in range(20):
            inputs = {"policy/x": np.full((1, 4), i, np.float32), "pick/index": np.array([0, i % 7], np.int64)}
            if i % 3 == 0:  # what is given to a step that fails is put back
                inputs["policy/h_in"] = np.full((1, 4), -i, np.float32)
            try:
                manager(inputs)
            except RuntimeError:
                failures += 1
            assert recorder.record()
    assert 0 < failures < 20
    assert replay(bundle, tmp_path / "run.mcap")["agrees"]


def test_a_changed_model_is_told_by_its_first_step(bundle: Path, tmp_path: Path) -> None:
    changed = export(tmp_path, 9)
    file = record(bundle, tmp_path / "run.mcap")
    found = replay(changed, file, code=1)
    # q + h passes 9 in step 4 (4 + 6.25 - 2 = ...): 0, 1, 3, 5.5, 8.25, 11.1.
    assert found["first_difference"] == {
        "step": 5,
        "port": "outputs/policy/action",
        "element": 0,
        "expected": "11.125",
        "found": "9",
    }
    assert found["notes"] == ["not the files that were recorded: policy.onnx, walk.yaml"]
    text = run(changed, file).stdout
    assert "differs from" in text
    assert "first in step 5, outputs/policy/action[0,0] (hip): expected 11.125, found 9" in text
    assert replay(changed, file, "--steps", 5)["agrees"]


def test_tolerance(bundle: Path, tmp_path: Path) -> None:
    changed = export(tmp_path, 19.999)
    file = record(bundle, tmp_path / "run.mcap")
    assert not replay(changed, file, code=1)["agrees"]
    found = replay(changed, file, "--atol", "0.01")
    assert found["agrees"]
    assert found["atol"] == 0.01
    assert found["rtol"] == 0
    assert not replay(changed, file, "--rtol", "1e-9", code=1)["agrees"]


def test_guards_that_came_later_are_not_replayed(bundle: Path, tmp_path: Path) -> None:
    manager = InferenceManager(bundle)
    with Recorder(manager, tmp_path / "run.mcap") as recorder:
        for i in range(4):
            if i == 3:
                manager.set_guards({"policy/q": {"upper": 1}})
            step(manager, i)
            recorder.record()
    done = run(bundle, tmp_path / "run.mcap")
    assert done.returncode == 2
    assert "step 3: the guards were changed" in done.stderr
    assert replay(bundle, tmp_path / "run.mcap", "--steps", 3)["agrees"]


def test_a_bundle_with_other_ports(bundle: Path, tmp_path: Path) -> None:
    file = record(bundle, tmp_path / "run.mcap", 2)
    done = run(hand_made.recurrent(tmp_path), file)
    assert done.returncode == 2
    assert "policy/q float32[1,3]" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("option", [["--trace", "t.npz"], ["--output", "o.npz"], ["--reset", "zeros"]])
def test_options_that_are_for_other_runs(bundle: Path, tmp_path: Path, option: list[str]) -> None:
    file = record(bundle, tmp_path / "run.mcap", 2)
    done = run(bundle, file, *option)
    assert done.returncode == 2
    assert option[0] in done.stderr


def test_files_that_are_no_recordings(bundle: Path, tmp_path: Path) -> None:
    from mcap.writer import CompressionType, Writer

    foreign = tmp_path / "foreign.mcap"
    with foreign.open("wb") as stream:
        writer = Writer(stream, compression=CompressionType.ZSTD)
        writer.start(profile="ros2")
        writer.finish()
    for name, data, words in [
        ("foreign.mcap", foreign.read_bytes(), "expected a recording of LEAPP"),
        ("text.mcap", b"hello", "expected an MCAP file"),
        ("empty.mcap", b"", "expected an MCAP file"),
    ]:
        (tmp_path / name).write_bytes(data)
        done = run(bundle, tmp_path / name)
        assert done.returncode == 2
        assert words in done.stderr
        assert name in done.stderr
    assert run(bundle, tmp_path / "nowhere.mcap").returncode == 2


# ------------------------------------------------------------------ a bad end


def steps_in(file: Path) -> int:
    """How many the mcap package finds before the file ends."""
    found = 0
    try:
        for topic, message, decoded in messages(file, NonSeekingReader):
            if topic == "/inputs/policy/q":
                assert decoded.hip == message.sequence
            found += topic == "/step"
    except (mcap.exceptions.EndOfFile, struct.error):
        pass  # the package's words for a record, and for an index of messages, that is cut off
    return found


def kill_at(bundle: Path, file: Path, delay: float) -> None:
    with subprocess.Popen([VICTIM, bundle, file], stdout=subprocess.PIPE) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == b"recording\n"
        time.sleep(delay)
        victim.kill()


def check_kills(bundle: Path, folder: Path, moments: int) -> None:
    numbers = random.Random(moments)
    most = 0
    for i in range(moments):
        file = folder / f"{i}.mcap"
        kill_at(bundle, file, numbers.uniform(0, 0.03))
        found = replay(bundle, file)
        assert found["agrees"]
        assert found["cut_off"]
        assert found["steps"] == steps_in(file)
        most = max(most, found["steps"])
    assert most > 50


def test_a_program_that_is_killed_leaves_whole_chunks(bundle: Path, tmp_path: Path) -> None:
    check_kills(bundle, tmp_path, 10)


@pytest.mark.long
def test_a_program_that_is_killed_at_a_hundred_moments(bundle: Path, tmp_path: Path) -> None:
    check_kills(bundle, tmp_path, 100)


def test_a_file_that_was_cut_off(bundle: Path, tmp_path: Path) -> None:
    file = record(bundle, tmp_path / "run.mcap", 40, chunk_bytes=1500)
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    found = replay(bundle, file)
    assert found["agrees"]
    assert found["cut_off"]
    assert 5 < found["steps"] < 40
    assert f"the recording was cut off: {found['steps']} whole steps are there" in run(bundle, file).stdout
    assert run(bundle, file, "--steps", 39).returncode == 2


def test_a_full_disk_ends_the_recording_and_not_the_loop(bundle: Path, tmp_path: Path) -> None:
    manager = InferenceManager(bundle)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, before[1]))
    try:
        recorder = Recorder(manager, tmp_path / "run.mcap", chunk_bytes=2000, flush_interval=0)
        steps = 0
        deadline = time.monotonic() + 60
        while recorder.error is None and time.monotonic() < deadline:
            step(manager, steps)
            recorder.record()
            steps += 1
        assert recorder.error is not None
        assert "File too large" in recorder.error
        step(manager, 0)
        assert not recorder.record()
        with pytest.raises(OSError, match="recording has stopped"):
            recorder.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    summary = recorder.summary
    assert summary.steps == steps + 1 == summary.written + summary.dropped
    found = replay(bundle, tmp_path / "run.mcap")
    assert found["agrees"]
    assert found["steps"] == summary.written > 5


# ------------------------------------------------------------------ wrong use


def test_a_file_that_is_there(bundle: Path, tmp_path: Path) -> None:
    file = record(bundle, tmp_path / "run.mcap", 2)
    with pytest.raises(OSError, match="exists"):
        record(bundle, file)
    assert replay(bundle, record(bundle, file, 3, overwrite=True))["steps"] == 3


def test_one_recorder_at_a_time(bundle: Path, tmp_path: Path) -> None:
    manager = InferenceManager(bundle)
    recorder = Recorder(manager, tmp_path / "a.mcap")
    with pytest.raises(RuntimeError, match="already"):
        Recorder(manager, tmp_path / "b.mcap")
    assert not recorder.record()
    recorder.close()
    recorder.close()
    with Recorder(manager, tmp_path / "b.mcap") as second:
        step(manager, 1)
        assert not recorder.record()
        assert second.record()


@pytest.mark.parametrize(
    "options", [{"ring_bytes": -1}, {"chunk_bytes": 1 << 40}, {"flush_interval": -1}, {"flush_interval": float("nan")}]
)
def test_options_that_cannot_be_right(bundle: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Recorder(InferenceManager(bundle), tmp_path / "run.mcap", **options)
    assert list(tmp_path.iterdir()) == []


def test_an_exception_inside_matters_more(bundle: Path, tmp_path: Path) -> None:
    manager = InferenceManager(bundle)

    def fail() -> None:
        with Recorder(manager, tmp_path / "run.mcap") as recorder:
            step(manager, 1)
            recorder.record()
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()
    assert replay(bundle, tmp_path / "run.mcap")["steps"] == 1


def test_a_recorder_that_nobody_closes(bundle: Path, tmp_path: Path) -> None:
    manager = InferenceManager(bundle)
    recorder = Recorder(manager, tmp_path / "run.mcap")
    step(manager, 1)
    recorder.record()
    del recorder
    assert replay(bundle, tmp_path / "run.mcap")["cut_off"] is False
    step(manager, 2)


def test_a_bundle_that_was_renamed_is_the_same(bundle: Path, tmp_path: Path) -> None:
    file = record(bundle, tmp_path / "run.mcap")
    other = tmp_path / "run"
    shutil.copytree(bundle, other)
    (other / "walk.yaml").rename(other / "run.yaml")
    assert replay(other, file)["notes"] == []
