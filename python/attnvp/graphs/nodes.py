"""The common form of models that the importers fill and the patterns rewrite: nodes in an order in which they can run.

Operations of nodes:
- views: identity (also casts), reshape, transpose, slice, concat, expand
- element by element, with scalars or tensors: add, sub, mul, div, pow, neg, sqrt, rsqrt, reciprocal, exp, erf, tanh,
  sigmoid, relu, silu, gelu, gelu_tanh, where
- mean, variance (axes), softmax (axis), layernorm, rmsnorm (columns)
- matmul (transpose_a, transpose_b, extents, type, bias); attention, rope, gated activations: lowering.py
- other: what no pattern has; `macs` of it where known"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

VIEWS = frozenset({"identity", "reshape", "transpose", "slice", "concat", "expand"})
# Views whose result has the elements of their input, each one once or several times.
WHOLE = VIEWS - {"slice", "concat"}
UNKNOWN = (0,)  # the shape of a value whose extents could not be derived


@dataclass
class Value:
    name: str
    shape: Tuple[int, ...]
    type: str = "fp32"
    data: Any = None         # the NumPy array of a constant, if it is known
    is_weight: bool = False  # constant, or computed from constants only

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


@dataclass
class Node:
    op: str
    inputs: List[str]
    outputs: List[str]
    name: str
    source: str  # the operation's name in the model's own format
    attributes: Dict[str, Any] = field(default_factory=dict)


class Nodes:
    def __init__(self, name: str) -> None:
        self.name = name
        self.values: Dict[str, Value] = {}
        self.nodes: List[Node] = []
        self.outputs: List[str] = []
        self._producers: Optional[Dict[str, Node]] = None
        self._users: Dict[str, List[Node]] = {}

    def add(self, node: Node) -> None:
        self.nodes.append(node)
        if self._producers is not None:
            self._register(node)

    def constant(self, data: Any) -> str:
        """A new constant of a number or NumPy array."""
        import numpy

        array = numpy.asarray(data)
        name = f"constant.{len(self.values)}"
        self.values[name] = Value(name, array.shape, str(array.dtype), array, True)
        return name

    def temporary(self, stem: str, shape: Iterable[int], type_: str) -> str:
        name = f"{stem}.{len(self.values)}"
        self.values[name] = Value(name, tuple(shape), type_)
        return name

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def _index(self) -> None:
        self._producers, self._users = {}, {}
        for node in self.nodes:
            self._register(node)

    def _register(self, node: Node) -> None:
        assert self._producers is not None
        for name in node.outputs:
            self._producers[name] = node
        for name in dict.fromkeys(node.inputs):
            self._users.setdefault(name, []).append(node)

    def producer(self, name: str, *ops: str) -> Optional[Node]:
        """The node that makes a value; with `ops` only if it is one of these operations."""
        if self._producers is None:
            self._index()
        assert self._producers is not None
        node = self._producers.get(name)
        return node if node is not None and (not ops or node.op in ops) else None

    def users(self, name: str) -> List[Node]:
        if self._producers is None:
            self._index()
        return self._users.get(name, [])

    def scalar(self, name: str) -> Optional[float]:
        """The number that a constant of one element is; otherwise None."""
        data = self.values[name].data
        return float(data.flat[0]) if data is not None and data.size == 1 and data.dtype.kind in "biuf" else None

    def back(self, name: str, ops: Iterable[str] = ("identity",)) -> str:
        """The value behind a chain of such operations."""
        node = self.producer(name, *ops)
        while node is not None:
            name = node.inputs[0]
            node = self.producer(name, *ops)
        return name

    def chain(self, name: str, ops: Iterable[str] = WHOLE) -> Iterator[str]:
        """The value and those behind it, through such operations."""
        yield name
        node = self.producer(name, *ops)
        while node is not None:
            yield node.inputs[0]
            node = self.producer(node.inputs[0], *ops)

    def forward(self, name: str, ops: Iterable[str] = ("identity",)) -> List[Node]:
        """The users of a value, those of views of it in place of the views."""
        found: List[Node] = []
        for node in self.users(name):
            found += self.forward(node.outputs[0], ops) if node.op in ops else [node]
        return found

    def operands(self, node: Node) -> Tuple[str, str]:
        return node.inputs[0], node.inputs[1]

    def replace(self, output: str, node: Node) -> None:
        """Puts `node`, whose result is `output`, in the place of the node that made it."""
        old = self.producer(output)
        at = next(i for i, entry in enumerate(self.nodes) if entry is old)
        assert old is not None and self._producers is not None
        self.nodes[at] = node
        for name in dict.fromkeys(old.inputs):
            self._users[name] = [user for user in self._users[name] if user is not old]
        for name in old.outputs:
            del self._producers[name]
        self._register(node)

    def drop_constant(self) -> None:
        """Marks values that depend on constants only as weights and removes their nodes, except views."""
        kept = []
        for node in self.nodes:
            if node.inputs and all(self.values[name].is_weight for name in node.inputs):
                for name in node.outputs:
                    self.values[name].is_weight = True
                if node.op not in VIEWS or node.op == "concat":
                    continue
            kept.append(node)
        self.nodes, self._producers = kept, None

    def drop_dead(self) -> None:
        """Removes nodes whose results are not used."""
        used, kept = set(self.outputs), []
        for node in reversed(self.nodes):
            if used.intersection(node.outputs):
                used.update(node.inputs)
                kept.append(node)
        self.nodes, self._producers = kept[::-1], None
