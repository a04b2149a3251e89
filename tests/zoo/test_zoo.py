# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Ten networks of the zoo, in `make test`: those for which nothing has to be installed. `make test-zoo` runs all."""

from __future__ import annotations

from pathlib import Path

import pytest
import run_one
import zoo_page

TEN = [
    "hand-written/rotary in parts",
    "hand-written/grouped experts",
    "hand-written/image tokens",
    "hand-written/packed lstm",
    "hand-written/fourier operator 2d",
    "hand-written/thresholded points",
    "memories/decoder, counting tensor",
    "memories/world model",
    "memories/rwkv",
    "memories/kalman",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["jit", "onnx"])
@pytest.mark.parametrize("name", TEN)
def test_the_model_is_right(name: str, way: str, tmp_path: Path) -> None:
    outcome = run_one.run(name, way, tmp_path)
    assert outcome.status == "right", outcome.reason


def found(status: str, **figures: float) -> dict[str, object]:
    return {"status": status, "reason": "" if status == "right" else "why", "seconds": 1.0, "megabytes": 2.0, **figures}


def test_one_wrong_network_fails_the_zoo() -> None:
    good = {f"a/{i}": {"jit": found("right"), "onnx": found("right")} for i in range(20)}
    assert zoo_page.as_expected(good)
    assert not zoo_page.as_expected({**good, "a/0": {"jit": found("right"), "onnx": found("wrong")}})
    assert zoo_page.as_expected({**good, "a/0": {"jit": found("right"), "onnx": found("refused")}})
    assert not zoo_page.as_expected({**good, "a/0": {"jit": found("failed"), "onnx": found("right")}})


def test_the_table_says_what_was_found() -> None:
    fast, slow = found("right", seconds=0.5), found("right", seconds=10.0)
    text = zoo_page.written({"a/b": {"jit": found("refused"), "onnx": fast, "torch": slow}})
    assert "| `a/b` | 0.00 | refused | right | 0.50 | 2 | exported | 10.00 | 2 |" in text
    assert "- `a/b`, jit, refused: why" in text
    assert "20 times faster in the median of 1" in text
