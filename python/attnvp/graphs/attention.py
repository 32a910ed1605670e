"""Attention and rotary embedding, which models write as products, softmax, views and sums, become one node each."""

from __future__ import annotations

import math
import re
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .nodes import VIEWS, WHOLE, Node, Nodes

_HIDDEN = -1000.0  # addends of scores from here down hide a key


def rewrite(nodes: Nodes) -> None:
    for node in list(nodes.nodes):
        if node.op == "softmax" and node.attributes["axis"] == len(nodes[node.inputs[0]].shape) - 1:
            _attention(nodes, node)
    nodes.drop_dead()
    for node in list(nodes.nodes):
        if node.op == "add":
            _turned_whole(nodes, node)
        elif node.op == "concat":
            _turned_halves(nodes, node)
        elif node.op == "reshape":
            _turned_complex(nodes, node)
    nodes.drop_dead()


class _Scores:
    """What lies between the product of Q and K and softmax."""

    def __init__(self) -> None:
        self.scale, self.soft_cap = 1.0, 0.0
        self.masks: List[Tuple[str, str]] = []  # name and kind, as in _kind
        self.product: Optional[Node] = None


def _attention(nodes: Nodes, softmax: Node) -> None:
    weights = [user for user in nodes.forward(softmax.outputs[0], WHOLE) if user.op == "matmul"]
    if len(weights) != 1 or softmax.outputs[0] not in nodes.chain(weights[0].inputs[0]) or weights[0].attributes:
        return
    scores = _scores(nodes, softmax.inputs[0])
    if scores.product is None or scores.product.attributes or min(map(len, (
            nodes[name].shape for name in (*scores.product.inputs, *scores.product.outputs, *weights[0].outputs)))) < 2:
        return
    q, factor_of_q = _unscaled(nodes, scores.product.inputs[0])
    k, factor_of_k = _unscaled(nodes, scores.product.inputs[1])
    k = nodes.back(k, ("identity", "transpose"))
    out = weights[0].outputs[0]
    queries, keys = nodes[scores.product.outputs[0]].shape[-2:]
    attributes: Dict[str, Any] = {"scale": scores.scale * factor_of_q * factor_of_k, "soft_cap": scores.soft_cap}
    batch, heads = _batch_and_heads(nodes, scores.product)
    shape = (batch, heads, queries, keys, nodes[scores.product.inputs[0]].shape[-1], nodes[out].shape[-1])
    built = attention(nodes, shape, (q, k, weights[0].inputs[1]), attributes)
    if built is None:
        return
    take_masks(nodes, shape, scores.masks, attributes)
    nodes.replace(out, Node("attention", built, [out], re.sub("(?i)softmax", "attention", softmax.name),
                             "Attention", attributes))


def _scores(nodes: Nodes, name: str) -> _Scores:
    found = _Scores()
    while True:
        node = nodes.producer(name, *WHOLE, "mul", "div", "add", "sub", "where", "tanh", "matmul")
        if node is None or node.op == "matmul":
            found.product = node
            return found
        rest = 0  # the operand that leads to the product
        numbers = [nodes.scalar(operand) for operand in node.inputs]
        if node.op == "where":
            hidden = next((i for i, number in enumerate(numbers) if i > 0 and number is not None and number <= _HIDDEN), None)
            if hidden is None:
                return found
            found.masks.append((node.inputs[0], "hide" if hidden == 1 else "show"))
            rest = 3 - hidden
        elif node.op == "tanh":
            if found.soft_cap:
                return found
            found.soft_cap = found.scale
        elif node.op not in WHOLE:
            ways = [i for i in (0, 1) if _leads_to_product(nodes, node.inputs[i])]
            if len(ways) != 1:
                return found
            rest = ways[0]
            other = numbers[1 - rest]
            if node.op in ("add", "sub"):
                if other is None and (rest == 0 or node.op == "add"):
                    found.masks.append((node.inputs[1 - rest], node.op))
                elif other is None:
                    return found
            elif other:
                found.scale *= other if node.op == "mul" else 1 / other
            elif node.op == "mul" and other is None:
                found.masks.append((node.inputs[1 - rest], "show"))
            else:
                return found
        name = node.inputs[rest]


def _leads_to_product(nodes: Nodes, name: str) -> bool:
    if nodes[name].is_weight:
        return False
    node = nodes.producer(name)
    while node is not None and node.op in (*WHOLE, "mul", "div", "add", "sub", "where", "tanh"):
        computed = [operand for operand in node.inputs if not nodes[operand].is_weight]
        name = max(computed or node.inputs, key=lambda operand: nodes[operand].elements)
        node = nodes.producer(name)
    return node is not None and node.op == "matmul" and not nodes[node.inputs[1]].is_weight


def _unscaled(nodes: Nodes, name: str) -> Tuple[str, float]:
    """Behind products with a number."""
    factor, plain = 1.0, name
    for step in nodes.chain(name, (*WHOLE, "mul", "div")):
        node = nodes.producer(step, "mul", "div")
        if node is None:
            continue
        other = nodes.scalar(node.inputs[1])
        if other is None or other == 0:
            if node.op == "mul" and nodes.scalar(node.inputs[0]) is not None:  # number first: the chain ends here
                return node.inputs[1], factor * (nodes.scalar(node.inputs[0]) or 1)
            break
        factor *= other if node.op == "mul" else 1 / other
        plain = node.inputs[0]
    return plain, factor


def _batch_and_heads(nodes: Nodes, product: Node) -> Tuple[int, int]:
    before = nodes[product.outputs[0]].shape[:-2]
    if len(before) == 1:
        for name in nodes.chain(product.inputs[0], (*WHOLE, "mul", "div")):
            shape = nodes[name].shape
            if len(shape) == 4 and shape[0] * shape[1] == before[0] and shape[2:] == nodes[product.inputs[0]].shape[1:]:
                return shape[0], shape[1]
        return 1, before[0]
    return (before[0], math.prod(before[1:])) if before else (1, 1)


def attention(nodes: Nodes, shape: Tuple[int, ...], tensors: Sequence[str],
              attributes: Dict[str, Any]) -> Optional[List[str]]:
    """Completes `attributes` of an attention of [batch, heads, queries, keys, E, EV]; its Q, K and V, before heads of K and
    V are repeated."""
    batch, heads, queries, keys, width, width_of_v = shape
    if 0 in shape:
        return None
    q, k, v = tensors
    k, heads_of_k = _unrepeated(nodes, k, keys * width)
    v, heads_of_v = _unrepeated(nodes, v, keys * width_of_v)
    if batch > 1 and all(len(nodes[name].shape) > 3 and nodes[name].shape[0] == 1 for name in (k, v)):
        batch, heads = 1, batch * heads  # K and V of all batches: further heads of Q
    if heads_of_k != heads_of_v or heads_of_k < batch or heads_of_k % batch or heads % (heads_of_k // batch):
        return None
    attributes.update(batch=batch, heads=heads, kv_heads=heads_of_k // batch, seq_q=queries, seq_kv=keys, emb=width,
                      value_emb=width_of_v)
    return [q, k, v]


def _unrepeated(nodes: Nodes, name: str, elements: int) -> Tuple[str, int]:
    """The tensor before its heads are repeated, and its heads of so many elements each."""
    least = name
    for behind in nodes.chain(name):
        joined = nodes.producer(behind, "concat")
        parts = joined.inputs if joined is not None else []
        sources = {_source(nodes, part)[0] for part in parts}
        if len(sources) == 1 and all(any(nodes.producer(step, "expand") for step in nodes.chain(part)) for part in parts):
            behind = sources.pop()
        if nodes[behind].elements < nodes[least].elements:
            least = behind
    least = least if nodes[least].elements % elements == 0 else name
    return least, nodes[least].elements // elements


def take_masks(nodes: Nodes, shape: Tuple[int, ...], masks: List[Tuple[str, str]], attributes: Dict[str, Any]) -> None:
    """Takes constant masks into `attributes` as keys of --net; the names of the others are its `masked`."""
    attributes["masked"] = []
    for name, kind in masks:
        keys = _kind(nodes[name].data, shape, kind)
        if keys is None:
            attributes["masked"].append(name)
        else:
            attributes.update(keys)


def _kind(data: Any, shape: Tuple[int, ...], kind: str) -> Optional[Dict[str, int]]:
    """Keys of --net for a constant mask that is added or subtracted, or hides or shows the keys that it is true for; None
    for another one than causal and window."""
    import numpy

    queries, keys = shape[2:4]
    if data is None:
        return None
    if kind in ("hide", "show"):
        hidden = data.astype(bool) == (kind == "hide")
    else:
        addend = data if kind == "add" else -data
        hidden = addend <= _HIDDEN
        if not bool((hidden | (addend == 0)).all()):
            return None  # a bias
    if not hidden.any():
        return {}
    if hidden.ndim < 2 or hidden.shape[-2:] != (queries, keys):
        return None
    planes = hidden.reshape(-1, queries, keys)
    if not bool((planes == planes[0]).all()):
        return None
    behind = numpy.arange(queries)[:, None] + (keys - queries) - numpy.arange(keys)[None, :]
    window = int(abs(behind[~planes[0]]).max(initial=0)) + 1
    for words, visible in (({"causal": 1}, behind >= 0),
                           ({"causal": 1, "window": window}, (behind >= 0) & (behind < window)),
                           ({"window": window}, abs(behind) < window)):
        if bool((planes[0] == ~visible).all()):
            return words
    return None


def _source(nodes: Nodes, name: str) -> Tuple[str, bool]:
    """The tensor behind views, and whether it is negated on the way."""
    negative = False
    for step in nodes.chain(name, (*VIEWS - {"concat"}, "neg")):
        negative ^= nodes.producer(step, "neg") is not None
        name = step
        if nodes.producer(step, "slice") is not None:
            return nodes.producer(step, "slice").inputs[0], negative  # type: ignore[union-attr]
    return name, negative


def _rope(nodes: Nodes, top: str, x: str, table: str, node: Node) -> None:
    """A rotary embedding of heads as wide as the last extent of x; the table has 1 where x has heads."""
    shape = nodes[top].shape
    own = nodes[nodes.back(table, ("identity", "expand"))].shape
    aligned = (1,) * (len(shape) - len(own)) + own
    heads = math.prod(extent for extent, tabled in zip(shape[1:-1], aligned[1:-1]) if tabled == 1)
    x = next((name for name in nodes.chain(x, ("identity", "reshape")) if nodes[name].shape == shape), x)
    nodes.replace(top, Node("rope", [x], [top], node.name, "RotaryEmbedding", {"head": shape[-1], "heads": heads}))


def _turned_whole(nodes: Nodes, node: Node) -> None:
    """x * cos + turned(x) * sin, where turned(x) has the halves or pairs of x exchanged, one negated."""
    for a, b in (nodes.operands(node), nodes.operands(node)[::-1]):
        straight, turned = (nodes.producer(nodes.back(name), "mul") for name in (a, b))
        if straight is None or turned is None:
            return
        for other, sine in (nodes.operands(turned), nodes.operands(turned)[::-1]):
            joined = nodes.producer(nodes.back(other, WHOLE), "concat")
            if joined is None or len(joined.inputs) != 2:
                continue
            (first, negated), (second, plain) = (_source(nodes, name) for name in joined.inputs)
            roots = {nodes.back(first, WHOLE), nodes.back(second, WHOLE)}
            for x, cosine in (nodes.operands(straight), nodes.operands(straight)[::-1]):
                if negated != plain and roots == {nodes.back(x, WHOLE)} and nodes[x].shape == nodes[node.outputs[0]].shape:
                    _rope(nodes, node.outputs[0], x, cosine, node)
                    return


def _turned_halves(nodes: Nodes, node: Node) -> None:
    """The concatenation of a * cos - b * sin and b * cos + a * sin, where a and b are halves or pairs of x."""
    if len(node.inputs) != 2:
        return
    minus, plus = (nodes.producer(nodes.back(name, WHOLE), "sub", "add") for name in node.inputs)
    if minus is None or plus is None or {minus.op, plus.op} != {"sub", "add"}:
        return
    tables: Dict[str, List[str]] = {}
    sources = set()
    for part in (minus, plus):
        for name in part.inputs:
            product = nodes.producer(nodes.back(name), "mul")
            if product is None:
                return
            for half, table in (nodes.operands(product), nodes.operands(product)[::-1]):
                source = nodes[_source(nodes, half)[0]]
                is_half = nodes.producer(nodes.back(half, WHOLE), "slice") is not None and not source.is_weight
                if is_half and source.elements == nodes[node.outputs[0]].elements:
                    sources.add(source.name)
                    tables.setdefault(nodes.back(table, WHOLE), []).append(table)
                    break
    if len(sources) != 1 or sorted(map(len, tables.values())) != [2, 2]:
        return
    x = sources.pop()
    top = _flat(nodes, node.outputs[0], nodes[x])
    if top is not None:
        _rope(nodes, top, x, next(iter(tables.values()))[0], node)


def _flat(nodes: Nodes, name: str, x: Any) -> Optional[str]:
    """The value of x's shape behind reshapes of a concatenation."""
    while nodes[name].elements == x.elements:
        users = nodes.users(name)
        if len(nodes[name].shape) < 2 or nodes[name].shape[-1] > 2:
            return name
        if len(users) != 1 or users[0].op not in ("reshape", "identity"):
            return None
        name = users[0].outputs[0]
    return None


def _turned_complex(nodes: Nodes, node: Node) -> None:
    """Pairs that are multiplied as complex numbers."""
    if node.attributes.get("complex") != "real":
        return
    product = nodes.producer(nodes.back(node.inputs[0]), "mul")
    if product is None:
        return
    for x, table in (nodes.operands(product), nodes.operands(product)[::-1]):
        pairs = nodes.producer(nodes.back(x), "reshape")
        top = _flat(nodes, node.outputs[0], nodes[node.outputs[0]])
        if pairs is not None and pairs.attributes.get("complex") == "pairs" and top is not None:
            _rope(nodes, top, pairs.inputs[0], table, node)
            return
