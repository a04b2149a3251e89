// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leapp::fleet {

/// model.py for Triton's Python back end: a bundle beside it, run through LEAPP's runtime. State is kept for each
/// sequence, by its number.
inline constexpr const char* kTritonModel = R"(# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the bundle beside this file, for Triton's Python back end. State is kept for each sequence."""

import json
import os
import sys
import time
from pathlib import Path

# The interpreter of the back end does not look at PYTHONPATH.
sys.path += [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path not in sys.path]

import numpy as np
import triton_python_backend_utils as pb_utils
from leapp import InferenceManager


def _unraisable(problem, usual=sys.unraisablehook):
    # Older back ends give a capsule back under a name that NumPy does not know, which NumPy complains of.
    if "PyCapsule_GetPointer called with incorrect name" not in str(problem.exc_value):
        usual(problem)


sys.unraisablehook = _unraisable


# Arrays go by DLPack: older back ends were built for NumPy 1 and misread the arrays of NumPy 2 without a word.
class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        folder = next(Path(__file__).parent.joinpath("bundle").iterdir())
        self._manager = InferenceManager(folder, missing="error")
        self._manager.reset()
        self._first = self._manager.state
        self._names = [one["name"] for one in config["input"]]
        self._outputs = [one["name"] for one in config["output"]]
        batching = config.get("sequence_batching", {})
        self._idle = int(batching.get("max_sequence_idle_microseconds", 0)) / 1e6
        self._sequences = {}  # number -> (when it was last heard of, state)

    def execute(self, requests):
        return [self._respond(request) for request in requests]

    def _respond(self, request):
        try:
            return pb_utils.InferenceResponse(output_tensors=self._step(request))
        except Exception as error:  # one request's error is not another's
            return pb_utils.InferenceResponse(output_tensors=[], error=pb_utils.TritonError(str(error)))

    def _value(self, request, name):
        tensor = pb_utils.get_input_tensor_by_name(request, name)
        return None if tensor is None else np.from_dlpack(tensor)

    def _step(self, request):
        values = {name: self._value(request, name) for name in self._names}
        state = {}
        if self._first:
            sequence = int(self._value(request, "CORRID").reshape(-1)[0])
            if self._value(request, "START").reshape(-1)[0]:
                self._sequences.pop(sequence, None)
            state = self._sequences.get(sequence, (0.0, self._first))[1]
        found = self._manager({**values, **state})
        if self._first:
            if self._value(request, "END").reshape(-1)[0]:
                self._sequences.pop(sequence, None)
            else:
                self._sequences[sequence] = (time.monotonic(), self._manager.state)
            self._forget()
        return [pb_utils.Tensor.from_dlpack(name, np.ascontiguousarray(found[name])) for name in self._outputs]

    def _forget(self):
        """Sequences that the server has given up."""
        if not self._idle:
            return
        limit = time.monotonic() - 2 * self._idle
        for sequence in [number for number, (seen, _) in self._sequences.items() if seen < limit]:
            del self._sequences[sequence]
)";

}  // namespace leapp::fleet
