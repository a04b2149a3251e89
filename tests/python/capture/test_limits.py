# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""docs/concepts/limits.md, row by row: what capture cannot follow, and what happens then.

Each program runs three times with other inputs. "warned": the log says that a value leaves, with the line. Warned or
not, the exported model fails the check, because what was baked in differs from call to call.
"""

from __future__ import annotations

import copy
import ctypes
import io
import multiprocessing
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import leapp
import numpy as np
import pytest
import torch
from harness import line_of, location_pattern, read_log, warnings_in
from leapp import annotate
from numpy import asarray as asarray_of_before
from torch import tensor as tensor_of_before

PAGE = Path(__file__).resolve().parents[3] / "docs" / "concepts" / "limits.md"


@dataclass
class Limit:
    function: Callable[[Any], Any]
    arrays: bool  # the input is a NumPy array
    warned: bool
    patching: bool = True

    @property
    def name(self) -> str:
        return self.function.__name__


LIMITS: list[Limit] = []


def limit(arrays: bool, warned: bool, patching: bool = True) -> Callable[[Any], Any]:
    def add(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        LIMITS.append(Limit(function, arrays, warned, patching))
        return function

    return add


# ---- NumPy arrays ----------------------------------------------------------------------------------------------------


@limit(arrays=True, warned=False)
def memory_view(x: Any) -> Any:
    return x * float(memoryview(x)[0])


@limit(arrays=True, warned=False)
def assignment_into_a_plain_array(x: Any) -> Any:
    kept = np.zeros(3)
    kept[:] = x
    return x + kept


@limit(arrays=True, warned=False)
def iterator_of_numpy(x: Any) -> Any:
    return x * sum(float(element) for element in np.nditer(x))


@limit(arrays=True, warned=True)
def view_as_a_plain_array(x: Any) -> Any:
    return x + x.view(np.ndarray) * 2  # here


@limit(arrays=True, warned=False)
def from_buffer(x: Any) -> Any:
    return x + np.frombuffer(x)


@limit(arrays=True, warned=False)
def function_imported_before_start(x: Any) -> Any:
    return x + asarray_of_before(x)


@limit(arrays=True, warned=False, patching=False)
def asarray_without_patching(x: Any) -> Any:
    return x + np.asarray(x)


@limit(arrays=True, warned=True)
def list_of_elements(x: Any) -> Any:
    return x * np.mean([x[0], x[1]])  # here


@limit(arrays=True, warned=True)
def scalar_type(x: Any) -> Any:
    return x * np.float64(x[0])  # here


@limit(arrays=True, warned=True)
def from_iterator(x: Any) -> Any:
    return x + np.fromiter(iter(x), float, 3)  # here


@limit(arrays=True, warned=True)
def output_into_a_plain_array(x: Any) -> Any:
    result = np.zeros(3)
    np.sin(x, out=result)  # here
    return x + result


@limit(arrays=True, warned=True)
def pickled_array(x: Any) -> Any:
    return x + pickle.loads(pickle.dumps(x))  # here


# ---- Tensors ---------------------------------------------------------------------------------------------------------


@limit(arrays=False, warned=False)
def read_through_a_pointer(x: Any) -> Any:
    return x * ctypes.cast(x.data_ptr(), ctypes.POINTER(ctypes.c_float))[0]


@limit(arrays=False, warned=False)
def write_through_a_pointer(x: Any) -> Any:
    y = x * 1
    ctypes.cast(y.data_ptr(), ctypes.POINTER(ctypes.c_float))[0] = 50.0
    return y


@limit(arrays=False, warned=False)
def another_library_over_dlpack(x: Any) -> Any:
    y = x * 1
    np.from_dlpack(y)[0] = 50.0
    return y


@limit(arrays=False, warned=True)
def pickled_tensor(x: Any) -> Any:
    return x + pickle.loads(pickle.dumps(x))  # here


@limit(arrays=False, warned=True)
def saved_tensor(x: Any) -> Any:
    file = io.BytesIO()
    torch.save(x, file)  # here
    file.seek(0)
    return x + torch.load(file)


@limit(arrays=False, warned=True)
def numpy_function_of_a_tensor(x: Any) -> Any:
    return x + np.sin(x)  # here


@limit(arrays=False, warned=True)
def tensor_of_a_list(x: Any) -> Any:
    return x * tensor_of_before([x[0], x[1], x[2]])  # here


@limit(arrays=False, warned=True, patching=False)
def numpy_without_patching(x: Any) -> Any:
    return x + torch.tensor(np.sin(x.numpy()))  # here


def doubled(values: list[float]) -> list[float]:
    return [value * 2 for value in values]


@limit(arrays=False, warned=True)
def another_process(x: Any) -> Any:
    values = x.tolist()  # here
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return x + torch.tensor(pool.apply(doubled, (values,)))


# ---- State that is no tensor -----------------------------------------------------------------------------------------


class Counter:
    number = 0
    array = np.zeros(3)


@limit(arrays=False, warned=False)
def counter_in_python(x: Any) -> Any:
    Counter.number += 1
    return x * Counter.number


@limit(arrays=True, warned=False)
def state_in_a_plain_array(x: Any) -> Any:
    Counter.array += 1.0
    return x + Counter.array


# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("case", LIMITS, ids=lambda case: case.name)
def test_what_happens(case: Limit, tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path), global_patching=case.patching)
    for value in (1.0, 2.0, 3.0):
        given = torch.tensor([value, value + 1, value + 3])
        x = annotate.input_tensors("n", {"x": given.double().numpy().copy() if case.arrays else given})
        annotate.output_tensors("n", {"y": case.function(x)}, export_with="jit")
    leapp.stop()
    result = leapp.compile_graph(strict=False).nodes["n"]
    found = [line for line in warnings_in(read_log(tmp_path / "g")) if "leaves the graph" in line]
    if case.warned:
        here = location_pattern(__file__, line_of(case.function, "# here"))
        assert any(here.search(line) for line in found), found
    else:
        assert not found, "noticed after all: say so in docs/concepts/limits.md"
    assert result.status == "failed", "the model must not pass for right"


def test_what_looks_alike_and_is_followed(tmp_path: Path) -> None:
    leapp.start("g", save_path=str(tmp_path))
    x = annotate.input_tensors("n", {"x": torch.ones(3)})
    y = copy.copy(x) + copy.deepcopy(x) + torch.from_dlpack(x) + torch.frombuffer(x.numpy(), dtype=torch.float32)
    zeros = x * 1
    zeros.untyped_storage().fill_(0)
    annotate.output_tensors("n", {"y": y + zeros}, export_with="jit")
    leapp.stop()
    leapp.compile_graph()
    assert not warnings_in(read_log(tmp_path / "g"))
    model = torch.jit.load(str(tmp_path / "g" / "n.pt"))
    assert torch.equal(model(torch.full((3,), 5.0)), torch.full((3,), 20.0))


def test_the_page_has_every_row_and_no_other() -> None:
    rows = set(re.findall(r"(?m)^\| `(\w+)` \|", PAGE.read_text()))
    assert rows == {case.name for case in LIMITS}


@pytest.mark.parametrize("case", LIMITS, ids=lambda case: case.name)
def test_the_page_says_whether_it_is_noticed(case: Limit) -> None:
    (row,) = re.findall(rf"(?m)^\| `{case.name}` \|.*$", PAGE.read_text())
    assert ("| a warning |" if case.warned else "| nothing |") in row
