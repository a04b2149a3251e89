# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""A captured graph as the module that PyTorch's exporters take."""

from __future__ import annotations

import keyword
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx

__all__ = ["Graph", "Operator", "Ref", "find_culprit", "to_module"]

# They look at the layout of their first operand, and a captured value has none: it counts as contiguous.
_SEE_LAYOUT = {
    ("aten::as_strided", ""),
    ("aten::as_strided_copy", ""),
    ("aten::as_strided_scatter", ""),
    ("aten::view", "dtype"),
    ("aten::view_as_complex", ""),
}


@dataclass(frozen=True)
class Ref:
    """An argument that is a value of the graph."""

    name: str


@dataclass(frozen=True)
class Operator:
    name: str  # "aten::add"
    overload: str  # "Tensor", may be empty
    arguments: dict[str, Any]  # by the names of the schema; a Ref for a tensor
    results: list[str]
    location: str  # "file:line", may be empty

    def __str__(self) -> str:
        name = f"{self.name}.{self.overload}" if self.overload else self.name
        return f"{name} at {self.location}" if self.location else name

    def sides(self) -> list[Graph]:
        """What runs when the condition of a branch is true, and when it is not; nothing for any other operator."""
        return [self.arguments["then"], self.arguments["else"]] if self.name == "leapp::if" else []


@dataclass(frozen=True)
class Graph:
    inputs: list[str]
    constants: list[tuple[str, torch.Tensor, bool]]  # name, value, whether it was a module's parameter
    operators: list[Operator]
    outputs: list[str]

    def first(self, count: int) -> Graph:
        """The first operators only, with all their results as outputs."""
        kept = self.operators[:count]
        return Graph(self.inputs, self.constants, kept, [name for each in kept for name in each.results])

    def inner_constants(self) -> list[tuple[str, torch.Tensor, bool]]:
        """Those of the sides of branches, and of the sides inside these."""
        found = []
        for each in self.operators:
            for side in each.sides():
                found += side.constants + side.inner_constants()
        return found


def to_module(graph: Graph) -> torch.fx.GraphModule:
    """A module whose ``forward`` takes the inputs in order and returns a tensor, or a tuple of several."""
    return _Builder(graph).build()


def find_culprit(graph: Graph, works: Callable[[Graph], bool]) -> Operator | None:
    """The first operator that makes ``works`` false, by halving; None when it is none of them."""
    low, high = 0, len(graph.operators)
    while high - low > 1:
        middle = (low + high) // 2
        if works(graph.first(middle)):
            low = middle
        else:
            high = middle
    return None if high == 0 or works(graph.first(high)) else graph.operators[high - 1]


class _Builder:
    def __init__(self, graph: Graph, *, inside: bool = False) -> None:
        self.source = graph
        self.inside = inside  # a side of a branch: its results are new tensors, in a tuple
        self.root = torch.nn.Module()
        self.target = torch.fx.Graph()
        self.values: dict[str, torch.fx.Node] = {}

    def build(self) -> torch.fx.GraphModule:
        taken = {"self"}
        for index, name in enumerate(self.source.inputs):
            legal = name.isidentifier() and not keyword.iskeyword(name) and name not in taken
            spelling = name if legal else f"input_{index}"
            taken.add(spelling)
            self.values[name] = self.target.placeholder(spelling)
        used = self._used()
        for index, (name, tensor, parameter) in enumerate(self.source.constants):
            if name in used:
                self.values[name] = self.target.get_attr(self._register(index, name, tensor, parameter))
        for each in self.source.operators:
            self._add(each)
        outputs = [self._output(name) for name in self.source.outputs]
        self.target.output(outputs[0] if len(outputs) == 1 and not self.inside else tuple(outputs))
        return torch.fx.GraphModule(self.root, self.target)

    def _used(self) -> set[str]:
        used = set(self.source.outputs)
        for each in self.source.operators:
            for argument in each.arguments.values():
                items = argument if isinstance(argument, list) else [argument]
                used.update(item.name for item in items if isinstance(item, Ref))
        return used

    def _register(self, index: int, name: str, tensor: torch.Tensor, parameter: bool) -> str:
        """Under its own name ("actor.0.weight") where that can be."""
        path = name.split(".")
        owner = self.root
        if all(part.isidentifier() or part.isdigit() for part in path):
            for part in path[:-1]:
                if part not in owner._modules and hasattr(owner, part):
                    break
                if part not in owner._modules:
                    owner.add_module(part, torch.nn.Module())
                owner = owner.get_submodule(part)
            else:
                if not hasattr(owner, path[-1]):
                    return self._set(owner, name, tensor, parameter)
        return self._set(self.root, f"constant_value_{index}", tensor, parameter)

    def _set(self, owner: torch.nn.Module, name: str, tensor: torch.Tensor, parameter: bool) -> str:
        last = name.rpartition(".")[2]
        if parameter and tensor.is_floating_point():
            owner.register_parameter(last, torch.nn.Parameter(tensor, requires_grad=False))
        else:
            owner.register_buffer(last, tensor)
        return name

    def _output(self, name: str) -> torch.fx.Node:
        value = self.values[name]
        if self.inside:
            dense = {"memory_format": torch.contiguous_format}
            return self._call(torch.ops.aten.clone.default, (value,), dense)
        return value if value.op == "call_function" else self._call(torch.ops.aten.clone.default, (value,), {})

    def _call(self, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> torch.fx.Node:
        return self.target.call_function(function, arguments, keywords)

    def _branch(self, each: Operator) -> None:
        """``torch.cond``, which wants everything that a side reads handed in and nothing of it handed out."""
        given = [item.name for item in each.arguments["operands"]]
        constants: dict[str, torch.Tensor] = {}
        for side in each.sides():
            for name, tensor, parameter in side.constants + side.inner_constants():
                if constants.setdefault(name, tensor).data_ptr() != tensor.data_ptr():
                    raise ValueError(f"two constants named '{name}' in one branch")
                if name not in self.values:
                    self.values[name] = self.target.get_attr(self._register(len(self.values), name, tensor, parameter))
        modules = []
        for index, side in enumerate(each.sides()):
            taken = [*side.inputs, *(name for name in constants if name not in side.inputs)]
            inner = _Builder(Graph(taken, [], side.operators, side.outputs), inside=True)
            name = f"branch_{each.results[0]}_{('then', 'else')[index]}"
            self.root.add_module(name, inner.build())
            modules.append(self.target.get_attr(name))
        hoisted = [name for name in constants if name not in each.sides()[0].inputs]
        operands = tuple(self.values[name] for name in [*given, *hoisted])
        condition = self.values[each.arguments["condition"].name]
        call = self._call(torch.ops.higher_order.cond, (condition, *modules, operands), {})
        for index, result in enumerate(each.results):
            self.values[result] = self._call(operator.getitem, (call, index), {})

    def _add(self, each: Operator) -> None:
        if each.sides():
            self._branch(each)
            return
        namespace, _, name = each.name.partition("::")
        function = getattr(getattr(getattr(torch.ops, namespace), name), each.overload or "default")
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for place, formal in enumerate(function._schema.arguments):
            if formal.name not in each.arguments:
                continue
            value = self._argument(each.arguments[formal.name])
            # Behind an argument that was left out there are names only.
            if formal.kwarg_only or len(positional) < place:
                keywords[formal.name] = value
            else:
                positional.append(value)
        if (each.name, each.overload) in _SEE_LAYOUT:
            dense = {"memory_format": torch.contiguous_format}
            positional[0] = self._call(torch.ops.aten.clone.default, (positional[0],), dense)
        self._define(each, function._schema.returns, self._call(function, tuple(positional), keywords))

    def _argument(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._argument(item) for item in value]
        return self.values[value.name] if isinstance(value, Ref) else value

    def _define(self, each: Operator, returns: list[Any], call: torch.fx.Node) -> None:
        singles = sum(str(returned.type) == "Tensor" for returned in returns)
        names = iter(each.results)
        for index, returned in enumerate(returns):
            item = call if len(returns) == 1 else None
            if str(returned.type) == "Tensor":
                self.values[next(names)] = item or self._call(operator.getitem, (call, index), {})
            elif str(returned.type) == "List[Tensor]":
                item = item or self._call(operator.getitem, (call, index), {})
                for position in range(len(each.results) - singles):
                    self.values[next(names)] = self._call(operator.getitem, (item, position), {})
