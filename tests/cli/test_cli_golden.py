# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What each subcommand prints, as text and as JSON."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import bundles
import numpy as np
import pytest
import tool
from leapp import InferenceManager, Recorder


def golden(leapp: tool.Tool, name: str, *arguments: object, code: int = 0) -> None:
    """Both forms. Paths in them are relative: the program runs where the bundles are."""
    tool.check_golden(f"{name}.txt", leapp(*arguments, code=code))
    tool.check_golden(f"{name}.json", leapp(*arguments, "--json", code=code))


@pytest.mark.parametrize("name", ["stateful_gru", "my_pipeline", "sample_feedback_graph"])
def test_inspect_of_the_peers_bundles(leapp: tool.Tool, name: str) -> None:
    leapp.cwd = bundles.PEER
    golden(leapp, f"inspect_{name}", "inspect", name)


def test_inspect(leapp: tool.Tool, walk: Path) -> None:
    golden(leapp, "inspect_walk", "inspect", "walk/walk.yaml")


def test_check(leapp: tool.Tool, walk: Path) -> None:
    golden(leapp, "check_walk", "check", "walk")
    golden(leapp, "check_walk_isaac_ros", "check", "walk", "--target", "isaac-ros", code=1)


def test_check_without_findings(leapp: tool.Tool) -> None:
    leapp.cwd = bundles.PEER
    golden(leapp, "check_stateful_gru", "check", "stateful_gru")
    leapp("check", "stateful_gru", "--strict", code=1)


def test_run(leapp: tool.Tool, walk: Path) -> None:
    golden(leapp, "run_walk", "run", "walk", "--steps", 5, "--output", "out.csv", "--trace", "trace.npz")
    golden(leapp, "run_walk_replayed", "run", "walk", "--replay", "trace.npz", "--no-fuse")


def test_replay_that_differs(leapp: tool.Tool, walk: Path) -> None:
    leapp("run", "walk", "--steps", 5, "--trace", "trace.npz")
    trace = dict(np.load(leapp.cwd / "trace.npz"))
    trace["outputs/policy/y"][3, 0, 2] += 1
    trace["outputs/post/y"][4, 0, 0] = np.nan
    np.savez(leapp.cwd / "trace.npz", **trace)
    golden(leapp, "run_walk_differs", "run", "walk", "--replay", "trace.npz", code=1)


def test_replay_of_a_recording(leapp: tool.Tool, walk: Path) -> None:
    manager = InferenceManager(walk)
    with Recorder(manager, leapp.cwd / "run.mcap") as recorder:
        for i in range(100):
            manager({"pre/x": np.full((1, 4), i / 10, np.float32)})
            assert recorder.record()
    golden(leapp, "run_walk_recorded", "run", "walk", "--replay", "run.mcap")
    # y = x / 2 at the end becomes y = 2x + 1.
    spec = bundles.read(walk)
    target = spec["models"]["post"]["outputs"]
    spec["models"]["post"] = bundles.node(
        walk.parent, "post", bundles.MODELS / "affine.onnx", [bundles.port("x")], target
    )
    bundles.write(walk.parent, spec)
    golden(leapp, "run_walk_changed", "run", "walk", "--replay", "run.mcap", code=1)


def test_diff(leapp: tool.Tool, walk: Path) -> None:
    other = leapp.cwd / "other"
    spec = bundles.recurrent(other)
    (other / "other_initial_values.safetensors").write_bytes(
        bundles.safetensors({"policy/h_in": np.array([[1, 2, 3, 4.5]], np.float32)})
    )
    # 2x + 1 becomes x/2: the same operators, other weights.
    spec["models"]["pre"] = bundles.node(
        other,
        "pre",
        bundles.MODELS / "halve.onnx",
        [bundles.port("x", kind="state/joint/velocity")],
        [bundles.port("y")],
    )
    spec["models"]["post"] = bundles.node(
        other, "post", bundles.MODELS / "warns.onnx", [bundles.port("x")], [bundles.port("y", gain=2)]
    )
    spec["pipeline"]["configs"]["frequency"] = 100.0
    spec["system information"]["torch version"] = "2.14.0"
    bundles.write(other, spec)
    golden(leapp, "diff_walk_other", "diff", "walk", "other", code=1)
    golden(leapp, "diff_walk_walk", "diff", "walk", "walk/walk.yaml")


def test_diff_of_wiring_and_operators(leapp: tool.Tool, walk: Path) -> None:
    spec = bundles.recurrent(leapp.cwd / "short")
    del spec["models"]["post"]
    spec["models"]["policy"] = bundles.node(
        leapp.cwd / "short", "policy", bundles.MODELS / "affine.onnx", [bundles.port("x")], [bundles.port("y")]
    )
    spec["pipeline"].update(data_flow={"pre/y": ["policy/x"]}, feedback_flow={}, outputs={"policy": ["y"]})
    del spec["pipeline"]["initial_values"]
    bundles.write(leapp.cwd / "short", spec)
    golden(leapp, "diff_walk_short", "diff", "walk", "short", code=1)


def test_diff_of_models_that_are_not_onnx(leapp: tool.Tool) -> None:
    shutil.copytree(bundles.PEER / "stateful_policy", leapp.cwd / "a")
    shutil.copytree(bundles.PEER / "stateful_policy", leapp.cwd / "b")
    (leapp.cwd / "b/policy.pt").write_bytes((bundles.PEER / "static_example/my_node.pt").read_bytes())
    golden(leapp, "diff_jit", "diff", "a/stateful_policy.yaml", "b/stateful_policy.yaml", code=1)


def test_fuse(leapp: tool.Tool, walk: Path) -> None:
    text = leapp("fuse", "walk", "--output", "fused").replace(str(leapp.cwd), "FOLDER")
    tool.check_golden("fuse_walk.txt", text)
    found = leapp("fuse", "walk", "--output", "fused", "--json").replace(str(leapp.cwd), "FOLDER")
    tool.check_golden("fuse_walk.json", found)
    tool.check_golden("fuse_walk.yaml.txt", without_digests(leapp.cwd / "fused/fused.yaml"))


def without_digests(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if "sum:" not in line)


def test_bench(leapp: tool.Tool, walk: Path) -> None:
    arguments = ("bench", "walk", "--steps", 50, "--warmup", 5)
    text = leapp(*arguments)
    bucket = "N time N time N\n"  # as many lines as this run's times are spread over
    shape = re.sub(f"({bucket})+$", bucket, tool.without_numbers(text))
    tool.check_golden("bench_walk.txt", shape)
    found = leapp.json(*arguments)
    assert list(found) == [
        *("name", "steps", "fused", "engines", "intra_op_threads", "inter_op_threads"),
        *("whole", "nodes", "allocations", "histogram", "rate"),
    ]
    assert [node["node"] for node in found["nodes"]] == ["pre", "policy", "post"]
    times = found["whole"]
    ordered = [times[key] for key in ("min_us", "p50_us", "p90_us", "p99_us", "p99.9_us", "max_us")]
    assert ordered == sorted(ordered)
    assert sum(bucket["count"] for bucket in found["histogram"]) == found["steps"] == 50
    assert found["rate"] is None


@pytest.mark.parametrize(
    "command",
    [
        None,
        *(
            "inspect",
            "check",
            "run",
            "bench",
            "diff",
            "fuse",
            "codegen",
            "export-triton",
            "view",
            "keygen",
            "sign",
            "verify",
        ),
    ],
)
def test_help_has_an_example(leapp: tool.Tool, command: str | None) -> None:
    text = leapp(*([command] if command else []), "--help")
    assert max(map(len, text.splitlines())) <= 100
    if command:
        assert f"\nExamples:\n  leapp {command} " in text
        tool.check_golden(f"help_{command}.txt", text)
