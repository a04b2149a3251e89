# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""How this package differs from leapp 0.7.2, program by program and probe by probe, and why.

test_parity.py fails on a difference that is not here, and on one that is here and is gone.
docs/reference/coming_from_leapp.md is made from this.
"""

from __future__ import annotations

# program -> part that differs -> what is here. "peer raises": ours runs, and the other package does not.
PROGRAMS: dict[str, dict[str, str]] = {
    "method_namedtuple": {"peer raises": "a named tuple gives its fields' names to the ports"},
    "method_arguments": {"ports": "`*rest` becomes `rest_0`, `rest_1` after the parameter, not `arg_0`, `arg_1`"},
    "static_edge": {"edges": "a static output that a later node is given is an edge"},
    "branch_on_data": {
        "numbers": "a branch has both sides, once both were seen",
        "validation": "a branch has both sides, once both were seen",
    },
    "delay": {"peer raises": "an output of an earlier pass may feed a node beside the output of this pass"},
    "one_output_two_inputs": {"peer raises": "one output may feed several inputs of a node"},
    "out_argument": {"peer raises": "`out=` is recorded"},
    "unannounced_edge": {"peer raises": "an output that was not announced as input becomes one, with a warning"},
    "registered_buffer_with_history": {"ports": "content that survives the call is state"},
    "write_through_a_view": {"numbers": "a write through a view of a view reaches the tensor"},
    "module_in_place": {"ports": "a buffer that is written in place is state, as one that is reassigned"},
    "input_announced_twice_in_a_call": {"peer raises": "the same input announced again is that input"},
    "input_read_again_between_calls": {"peer raises": "a call that is not finished gives way to the next"},
    "input_replaced_while_open": {"peer raises": "another tensor under the same name replaces the first"},
    "clock_in_an_attribute": {"ports": "state that nobody announced is found"},
    "part_of_a_buffer": {"validation": "the check carries the state from sample to sample"},
    "view_held_from_before": {"peer raises": "writes through a view reach the tensor, and are state"},
    "row_read_with_a_tensor": {"peer raises": "an index that is a tensor is recorded"},
    "outputs_that_left_torch": {"peer raises": "a node that gets no model need not be captured"},
    "last_action_only_fed_back": {"edges": "the action is in `pipeline.outputs`, so that the robot gets it"},
    "last_action_given_back": {"edges": "the action is in `pipeline.outputs`, so that the robot gets it"},
    "feedback_of_itself": {"edges": "an output whose only reader is its own node's next call is in `pipeline.outputs`"},
    "overwritten_input": {"ports": "an input that is overwritten before it is read is dropped"},
    "module_with_changed_buffer": {"validation": "the check carries the state from sample to sample"},
    "dry_run": {"validation": "a dry run names its nodes in what it returns"},
    "deque_history": {"ports": "states that begin as the same tensor are states of their own"},
    "compiled_policy": {"peer raises": "compiled modules run eagerly while tracing"},
    "ports_with_odd_names": {"peer raises": "keywords, dots and spaces are names of ports"},
}

# probe -> what is here, and why it is not as there.
PROBES: dict[str, str] = {
    "output_that_is_a_constant": "refused by `compile_graph`, when all calls are known: it may turn out to be state",
    "path_as_a_path": "a `pathlib.Path` is taken too",
    "last_action_is_given": "`run_policy` gives every output that no other node reads; there the last action is lost",
}
