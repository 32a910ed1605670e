"""Nodes become a graph: operations as texts of --net, views, and what remains."""

from __future__ import annotations

import math
import re
from typing import Dict, List, Sequence, Set, Tuple

from . import attention, patterns
from .graph import Graph, Operation, Tensor, Unsupported, View, macs_of
from .nodes import VIEWS, WHOLE, Node, Nodes

# Types of tensors and of operands of products; the machine has no FP32 operands, and FP32 tensors are run as FP16.
_TYPES = {"fp16": "fp16", "fp32": "fp16", "fp64": "fp16", "bf16": "bf16", "fp8_e4m3": "fp8_e4m3", "fp8_e5m2": "fp8_e5m2",
          "int8": "int8", "uint8": "int8"}
_ACTIVATIONS = ("relu", "silu", "gelu", "gelu_tanh")
_GATED = ("reglu", "swiglu", "geglu", "geglu_tanh")
_LONGEST, _DEEPEST = 4194304, 65536  # rows or columns; depth, heads and width of a head


def lower(nodes: Nodes) -> Graph:
    nodes.drop_dead()
    nodes.drop_constant()
    patterns.rewrite(nodes)
    attention.rewrite(nodes)
    return _Lowering(nodes).graph()


class _Lowering:
    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._names: Dict[str, str] = {}
        self._taken: Dict[str, Set[str]] = {"tensor": set(), "operation": set()}
        self._tensors: Dict[str, Tensor] = {}
        self._operations: List[Operation] = []
        self._rest: List[Tuple[str, str, int, int]] = []  # name, op, elements, macs
        self._views: Dict[str, List[str]] = {}

    def graph(self) -> Graph:
        for node in self._nodes.nodes:
            if node.op in VIEWS:
                continue
            for name in node.attributes.get("masked", []):
                elements = math.prod(node.attributes[key] for key in ("batch", "heads", "seq_q", "seq_kv"))
                self._rest.append((self._unique(f"{node.name}.mask", "operation"), "Mask", elements, 0))
            if not self._expressed(node):
                elements = sum(self._nodes[name].elements for name in node.outputs)
                self._rest.append((self._unique(node.name, "operation"), node.source, elements, self._macs(node)))
        total = sum(o.macs for o in self._operations) + sum(macs for *_, macs in self._rest)
        return Graph(self._nodes.name, self._tensors, self._operations,
                     [View(name, tuple(outputs)) for name, outputs in self._views.items()],
                     [Unsupported(*entry, entry[-1] / total if total else 0.0) for entry in self._rest])

    def _expressed(self, node: Node) -> bool:
        """Adds the operation of a node if there is a text of --net for it."""
        values = [self._nodes[name] for name in (*node.inputs, node.outputs[0])]
        if any(value.elements == 0 for value in values) or self._nodes[node.outputs[0]].type not in _TYPES:
            return False
        if node.op == "matmul":
            return self._product(node)
        if node.op == "attention":
            return self._attention(node)
        out = self._nodes[node.outputs[0]]
        columns = out.shape[-1] if out.shape else 1
        inputs = node.inputs
        if node.op in ("layernorm", "rmsnorm"):
            columns = node.attributes["columns"]
        elif node.op == "rope":
            columns = node.attributes["heads"] * node.attributes["head"]
        elif node.op == "softmax":
            if node.attributes["axis"] != len(out.shape) - 1:
                return False
        elif node.op == "add":
            if any(self._nodes.scalar(name) is not None for name in inputs):
                return False
        elif node.op not in _ACTIVATIONS + _GATED:
            return False
        rows = out.elements // columns
        if max(rows, columns) > _LONGEST or (node.op == "rope" and node.attributes["head"] % 2):
            return False
        head = f"x{node.attributes['head']}" if node.op == "rope" else ""
        if node.op == "add":
            inputs = [self._spread(name, out.shape) for name in inputs]
        self._emit(node, f"{node.op}:{rows}x{columns}{head}", inputs)
        return True

    def _extents(self, node: Node) -> Tuple[int, int, int, int]:
        """Products of a node, and rows, columns and depth of each."""
        if "extents" in node.attributes:
            return node.attributes["extents"]
        a, b = (self._nodes[name].shape for name in node.inputs[:2])
        out = self._nodes[node.outputs[0]]
        depth = a[-2] if node.attributes.get("transpose_a") else a[-1]
        columns = 1 if len(b) == 1 else b[-2] if node.attributes.get("transpose_b") else b[-1]
        if math.prod(b[:-2]) == 1:
            return 1, out.elements // columns, columns, depth
        rows = 1 if len(a) == 1 else a[-2]
        return out.elements // (rows * columns), rows, columns, depth

    def _macs(self, node: Node) -> int:
        if any(self._nodes[name].elements == 0 for name in (*node.inputs, *node.outputs)):
            return 0
        if node.op == "matmul":
            return math.prod(self._extents(node))
        if node.op == "attention":
            return macs_of(self._attention_text(node))
        return node.attributes.get("macs", 0)

    def _product(self, node: Node) -> bool:
        count, rows, columns, depth = self._extents(node)
        type_ = node.attributes.get("type") or _TYPES.get(self._nodes[node.inputs[0]].type)
        if max(rows, columns) > _LONGEST or depth > _DEEPEST or type_ is None:
            return False
        kind = "" if type_ == "fp16" else f",type={type_}"
        note = "with bias" if "bias" in node.attributes else ""
        operands = list(node.inputs[:2])
        if count > 1:
            operands = [self._spread(operands[0], (count, rows, depth)), self._spread(operands[1], (count, columns, depth))]
        self._emit(node, f"gemm:{rows}x{columns}x{depth}{kind}", operands, count, note)
        return True

    def _attention_text(self, node: Node) -> str:
        a = node.attributes
        words = [f"B={a['batch']}"] if a["batch"] > 1 else []
        words.append(f"H={a['heads']}")
        words += [f"HKV={a['kv_heads']}"] if a["kv_heads"] != a["heads"] else []
        words += [f"N={a['seq_q']}"] if a["seq_q"] == a["seq_kv"] else [f"NQ={a['seq_q']}", f"NKV={a['seq_kv']}"]
        words.append(f"E={a['emb']}")
        words += [f"EV={a['value_emb']}"] if a["value_emb"] != a["emb"] else []
        words += [f"{key}={a[key]}" for key in ("causal", "window") if key in a]
        if math.isclose(a["scale"], a["emb"] ** -0.5, rel_tol=1e-3):
            words.append("scale=1/sqrt(E)")
        elif a["scale"] != 1:
            words.append(f"scale={a['scale']:.6g}")
        words += [f"softcap={a['soft_cap']:.6g}"] if a.get("soft_cap") else []
        type_ = _TYPES.get(self._nodes[node.inputs[0]].type, "fp16")
        return ",".join(words + ([f"type={type_}"] if type_ != "fp16" else []))

    def _attention(self, node: Node) -> bool:
        a = node.attributes
        if max(a["batch"], a["heads"], a["emb"], a["value_emb"]) > _DEEPEST or max(a["seq_q"], a["seq_kv"]) > _LONGEST:
            return False
        self._emit(node, self._attention_text(node), node.inputs[:3], 1, "a mask is left out" if a.get("masked") else "")
        return True

    def _emit(self, node: Node, net: str, inputs: Sequence[str], count: int = 1, note: str = "") -> None:
        names = tuple(self._tensor(name) for name in inputs)
        outputs = (self._tensor(node.outputs[0]),)
        self._operations.append(Operation(self._unique(self._title(node), "operation"), net, names, outputs, count, note))

    def _title(self, node: Node) -> str:
        """The name of the weights' module, if they have one."""
        if node.op in ("matmul", "layernorm", "rmsnorm") and len(node.inputs) > 1:
            module = re.fullmatch(r"(.*\w)[._]weight", self._nodes.back(node.inputs[1], WHOLE))
            if module is not None:
                return module.group(1)
        return node.name

    def _spread(self, name: str, shape: Tuple[int, ...]) -> str:
        """An operand that is broadcast is a view of this shape."""
        value = self._nodes[name]
        if value.elements == math.prod(shape):
            return name
        spread = self._nodes.temporary(name + ".spread", shape, value.type)
        self._nodes.add(Node("expand", [name], [spread], spread, "Expand"))
        return spread

    def _tensor(self, name: str) -> str:
        """The name of a tensor in the graph; views get entries of their own."""
        if name in self._names:
            return self._names[name]
        if self._nodes[name].is_weight:
            root = self._nodes.back(name, WHOLE)
            if root != name and self._nodes[root].elements == self._nodes[name].elements:
                self._names[name] = self._tensor(root)
                return self._names[name]
        value = self._nodes[name]
        own = self._names[name] = self._unique(name, "tensor")
        self._tensors[own] = Tensor(value.shape, _TYPES.get(value.type, "fp16"))
        for root in self._roots(name):
            self._views.setdefault(self._tensor(root), []).append(own)
        return own

    def _roots(self, name: str) -> List[str]:
        """The tensors that a view is a view of; none if it is not one."""
        node = self._nodes.producer(name, *VIEWS)
        if node is None:
            return []
        operands = node.inputs if node.op == "concat" else node.inputs[:1]
        return list(dict.fromkeys(root for operand in operands for root in self._roots(operand) or [operand]))

    def _unique(self, name: str, kind: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9_.]+", "_", name).strip("_.") or kind
        plain = f"t{plain}" if plain[0].isdigit() else plain
        candidate, n = plain, 1
        while candidate in self._taken[kind]:
            n += 1
            candidate = f"{plain}_{n}"
        self._taken[kind].add(candidate)
        return candidate
