# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Without a session every annotation hands back what it was given, in the shape it has while tracing."""

from __future__ import annotations

import collections
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from leapp import TensorSemantics, annotate

A, B = torch.ones(2), torch.ones(3)
ARRAY = np.ones(2)
NESTED = {"k": [A, (B, 3)]}
Pair = collections.namedtuple("Pair", "left right")
PAIR = Pair(A, B)

ROWS: list[tuple[str, Callable[[], Any], Any]] = [
    ("one input", lambda: annotate.input_tensors("n", {"a": A}), A),
    ("two inputs", lambda: annotate.input_tensors("n", {"a": A, "b": B}), (A, B)),
    ("no input", lambda: annotate.input_tensors("n", {}), ()),
    ("an array", lambda: annotate.input_tensors("n", {"a": ARRAY}), ARRAY),
    ("nested", lambda: annotate.input_tensors("n", {"a": NESTED}), NESTED),
    ("named tuple", lambda: annotate.input_tensors("n", {"a": PAIR}), PAIR),
    ("another leaf", lambda: annotate.input_tensors("n", {"a": A, "b": 3}), (A, 3)),
    ("semantics", lambda: annotate.input_tensors("n", TensorSemantics("a", A)), A),
    ("a list of semantics", lambda: annotate.input_tensors("n", [TensorSemantics("a", A)]), A),
    ("two semantics", lambda: annotate.input_tensors("n", [TensorSemantics(n, A) for n in "ab"]), (A, A)),
    ("one output", lambda: annotate.output_tensors("n", {"a": A}, export_with="jit"), A),
    ("static", lambda: annotate.output_tensors("n", {"a": A}, static_outputs={"b": B}, export_with="jit"), A),
    ("two outputs", lambda: annotate.output_tensors("n", {"a": A, "b": B}), (A, B)),
    ("keywords", lambda: annotate.output_tensors(node_name="n", tensors={"a": A}, backend_params={"x": 1}), A),
    ("one state", lambda: annotate.state_tensors("n", {"a": A}), A),
    ("two states", lambda: annotate.state_tensors("n", {"a": A, "b": B}), (A, B)),
    ("one update", lambda: annotate.update_state("n", {"a": A}), A),
    ("two updates", lambda: annotate.update_state("n", {"a": A, "b": B}), (A, B)),
    ("one buffer", lambda: annotate.register_buffer("n", {"a": A}), A),
    ("two buffers", lambda: annotate.register_buffer("n", {"a": A, "b": B}), (A, B)),
    ("nested buffers", lambda: annotate.register_buffer("n", {"a": NESTED}), NESTED),
    ("module", lambda: annotate.module("n", torch.nn.BatchNorm1d(2)), None),
    ("mirror", lambda: annotate.mirror_leapp_tags(A, B), B),
    ("method", lambda: annotate.method(export_with="jit")(lambda x: None)(A), None),
]


def same(first: Any, second: Any) -> bool:
    if isinstance(second, tuple) and type(second) is tuple and isinstance(first, tuple):
        return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))
    return first is second


@pytest.mark.parametrize(("call", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_hands_back_what_it_was_given(call: Callable[[], Any], expected: Any) -> None:
    assert same(call(), expected)
    assert not isinstance(A, leapp.TracedTensor)


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import leapp
from leapp import annotate
from leapp.utils.enums import InputKindEnum

semantics = leapp.TensorSemantics("q", None, kind=InputKindEnum.WRENCH, element_names=[leapp.TemporalAxis(5.0)])
assert semantics.to_dict() == {
    "kind": "state/wrench", "element_names": ["__temporal_axis__"], "temporal_period_ms": 5.0
}
assert leapp.GraphConfigs(frequency=50).frequency == 50
assert not isinstance(3, leapp.TracedTensor)
for use in (
    lambda: leapp.start("g"),
    lambda: leapp.stop(),
    lambda: leapp.compile_graph(),
    lambda: annotate.input_tensors("n", {}),
    lambda: annotate.method()(lambda x: x)(3),
):
    try:
        use()
    except leapp.LeappError as error:
        assert isinstance(error, ImportError), type(error)
        assert "torch" in str(error), error
    else:
        raise AssertionError("nothing was raised")
import pydoc
assert "compile_graph" in pydoc.render_doc(leapp)
print("fine")
"""


def test_without_torch() -> None:
    """The package imports, and what needs torch says so when it is used."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=False)
    assert done.stdout == "fine\n", done.stderr


def test_import_does_not_import_torch() -> None:
    code = "import sys, leapp; print('torch' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_names_of_the_package() -> None:
    import pydoc

    for name in leapp.__all__:
        assert getattr(leapp, name).__doc__, name
        assert name in dir(leapp)
    text = pydoc.render_doc(leapp)
    for name in ("start", "compile_graph", "TensorSemantics", "LeappError"):
        assert name in text
    for name in annotate.__all__:
        assert ">>>" in getattr(annotate, name).__doc__, name
    with pytest.raises(AttributeError, match="nothing_like_it"):
        leapp.nothing_like_it  # noqa: B018


def test_isaac_lab_finds_its_names() -> None:
    from leapp.utils import enums, tensor_description

    assert enums.InputKindEnum is leapp.InputKindEnum
    assert enums.OutputKindEnum is leapp.OutputKindEnum
    assert tensor_description.TensorSemantics is leapp.TensorSemantics
    assert tensor_description.TemporalAxis is leapp.TemporalAxis
