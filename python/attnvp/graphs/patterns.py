"""Norms, activations and biases that models write as several nodes become one node each."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .nodes import Node, Nodes

# A transcendental function of an activation and its farthest relatives, in nodes.
_REACH = 6


def rewrite(nodes: Nodes) -> None:
    """Norms, activations, biases and gated activations, in this order."""
    for rewritten in (_norms, _activations, _biases, _gates):
        rewritten(nodes)
        nodes.drop_dead()


def _norms(nodes: Nodes) -> None:
    for node in list(nodes.nodes):
        if node.op == "mean":
            squared = _squared(nodes, nodes.back(node.inputs[0]))
            if squared is not None:
                _norm_of(nodes, node, squared)
        elif node.op == "variance":
            _norm_of(nodes, node, None)


def _squared(nodes: Nodes, name: str) -> Optional[str]:
    """x of x * x and x^2."""
    node = nodes.producer(name, "mul", "pow")
    if node is None:
        return None
    a, b = nodes.operands(node)
    if node.op == "mul":
        return a if nodes.back(a) == nodes.back(b) else None
    return a if nodes.scalar(b) == 2 else None


def _centred(nodes: Nodes, name: str) -> Optional[str]:
    """x of x - mean(x)."""
    node = nodes.producer(nodes.back(name), "sub")
    if node is None:
        return None
    mean = nodes.producer(nodes.back(node.inputs[1]), "mean")
    x = nodes.back(node.inputs[0])
    return x if mean is not None and nodes.back(mean.inputs[0]) == x else None


def _is_same(nodes: Nodes, a: str, b: str) -> bool:
    return nodes.back(a) == nodes.back(b) or (
        (x := _centred(nodes, a)) is not None and x == _centred(nodes, b))


def _norm_of(nodes: Nodes, moment: Node, deviation: Optional[str]) -> None:
    """Rewrites the norm whose mean square of `deviation`, or variance, `moment` is."""
    source = nodes[moment.inputs[0]].shape
    axes = moment.attributes["axes"]
    if tuple(axes) != tuple(range(len(source) - len(axes), len(source))):
        return
    columns = math.prod(source[axis] for axis in axes)
    out = moment.outputs[0]
    for add in nodes.forward(out):  # epsilon; some models have none
        if add.op == "add" and any(nodes.scalar(name) is not None for name in add.inputs):
            out = add.outputs[0]
            break
    normalised = _divided(nodes, out, deviation)
    if normalised is None:
        _scaled_and_shifted(nodes, moment, out, columns)
        return
    top, numerator = normalised
    x = _centred(nodes, numerator)
    if deviation is None and x != nodes.back(moment.inputs[0]):
        return
    inputs = [x or nodes.back(numerator)]
    top, inputs = _affine(nodes, top, "mul", columns, inputs)
    if x is not None and len(inputs) == 2:
        top, inputs = _affine(nodes, top, "add", columns, inputs)
    op = "rmsnorm" if x is None else "layernorm"
    nodes.replace(top, Node(op, inputs, [top], moment.name, moment.source, {"columns": columns}))


def _divided(nodes: Nodes, square: str, deviation: Optional[str]) -> Optional[Tuple[str, str]]:
    """The deviation divided by the root of `square`: the result's name and the deviation's."""
    def is_numerator(name: str) -> bool:
        return _centred(nodes, name) is not None if deviation is None else _is_same(nodes, name, deviation)

    for root in nodes.forward(square):
        if root.op == "sqrt" or (root.op == "pow" and nodes.scalar(root.inputs[1]) == 0.5):
            for user in nodes.forward(root.outputs[0]):
                if user.op == "div" and is_numerator(user.inputs[0]):
                    return user.outputs[0], user.inputs[0]
    for inverse in _inverses(nodes, square):
        for user in nodes.forward(inverse):
            if user.op == "mul":
                for name in user.inputs:
                    if nodes.back(name) != inverse and is_numerator(name):
                        return user.outputs[0], name
    return None


def _scaled_and_shifted(nodes: Nodes, moment: Node, variance: str, columns: int) -> None:
    """The form x * s + (beta - mean * s), where s is gamma by the root of the variance."""
    for inverse in _inverses(nodes, variance):
        for scale in nodes.forward(inverse):
            gamma = next((name for name in scale.inputs if nodes[name].is_weight and nodes[name].elements == columns), None)
            if scale.op != "mul" or gamma is None:
                continue
            for scaled in nodes.forward(scale.outputs[0]):
                for top in nodes.forward(scaled.outputs[0]) if scaled.op == "mul" else []:
                    shift = next((nodes.producer(nodes.back(name), "sub") for name in top.inputs
                                  if nodes.producer(nodes.back(name), "sub") is not None), None)
                    if top.op == "add" and shift is not None and nodes[shift.inputs[0]].is_weight:
                        x = next(name for name in scaled.inputs if nodes.back(name) != scale.outputs[0])
                        nodes.replace(top.outputs[0], Node("layernorm", [x, gamma, shift.inputs[0]], top.outputs,
                                                           moment.name, moment.source, {"columns": columns}))
                        return


def _inverses(nodes: Nodes, square: str) -> List[str]:
    """Values of 1 / root of `square`."""
    found = []
    for root in nodes.forward(square):
        power = nodes.scalar(root.inputs[1]) if root.op == "pow" else None
        if root.op == "rsqrt" or power == -0.5:
            found.append(root.outputs[0])
        elif root.op == "sqrt" or power == 0.5:
            found += [user.outputs[0] for user in nodes.forward(root.outputs[0]) if user.op == "reciprocal"
                      or (user.op == "div" and nodes.scalar(user.inputs[0]) == 1)]
    return found


def _affine(nodes: Nodes, top: str, op: str, columns: int, inputs: List[str]) -> Tuple[str, List[str]]:
    """Takes gamma or beta, a weight of `columns` elements, into a norm."""
    users = nodes.forward(top)
    if len(users) == 1 and users[0].op == op and top not in nodes.outputs:
        for name in users[0].inputs:
            if nodes[name].is_weight and nodes[name].elements == columns:
                return users[0].outputs[0], [*inputs, name]
    return top, inputs


_SAMPLES = (-3.0, -2.2, -1.0, -0.4, 0.3, 1.0, 2.2, 3.0)


def _erf(x: float) -> float:
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def _tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


_ACTIVATIONS: Dict[str, Callable[[float], float]] = {
    "silu": lambda x: x / (1 + math.exp(-x)), "gelu": _erf, "gelu_tanh": _tanh}
_FUNCTIONS: Dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "pow": math.pow, "neg": lambda a: -a, "sqrt": math.sqrt, "rsqrt": lambda a: 1 / math.sqrt(a),
    "reciprocal": lambda a: 1 / a, "exp": math.exp, "erf": math.erf, "tanh": math.tanh,
    "sigmoid": lambda a: 1 / (1 + math.exp(-a)), "identity": lambda a: a}


class _Unknown(Exception):
    pass


def _evaluate(nodes: Nodes, top: str, x: str, number: float) -> float:
    """The value of `top` if `x` is a number; fails if it depends on anything else."""
    known = {x: number}

    def value(name: str, depth: int) -> float:
        if name not in known:
            constant = nodes.scalar(name)
            node = nodes.producer(name)
            if constant is not None:
                known[name] = constant
            elif node is None or node.op not in _FUNCTIONS or depth == 0:
                raise _Unknown
            else:
                known[name] = _FUNCTIONS[node.op](*(value(operand, depth - 1) for operand in node.inputs))
        return known[name]

    return value(top, 2 * _REACH)


def _is_activation(nodes: Nodes, top: str, x: str, function: Callable[[float], float]) -> bool:
    try:
        return all(abs(_evaluate(nodes, top, x, s) - function(s)) < 2e-4 for s in _SAMPLES)
    except (_Unknown, ValueError, ZeroDivisionError, OverflowError):
        return False


def _reached(names: Sequence[str], step: Callable[[str], List[str]]) -> List[str]:
    """Names within reach, nearest first."""
    found: List[str] = []
    for _ in range(_REACH):
        names = [name for near in names for name in step(near) if name not in found]
        found += dict.fromkeys(names)
    return found


def _activations(nodes: Nodes) -> None:
    """Activations are found by their values: any form of a function is that function."""
    def before(name: str) -> List[str]:
        node = nodes.producer(name)
        return [] if node is None or node.op not in _FUNCTIONS else [
            operand for operand in node.inputs if nodes.scalar(operand) is None]

    def behind(name: str) -> List[str]:
        return [node.outputs[0] for node in nodes.users(name) if node.op in _FUNCTIONS]

    for node in list(nodes.nodes):
        if node.op not in ("erf", "tanh", "sigmoid", "exp"):
            continue
        tops = _reached([node.outputs[0]], behind)[::-1]
        arguments = _reached([node.outputs[0]], before)
        found = next(((top, x, word) for top in tops for x in arguments for word, function in _ACTIVATIONS.items()
                      if _is_activation(nodes, top, x, function)), None)
        if found is not None:
            top, x, word = found
            nodes.replace(top, Node(word, [x], [top], node.name, node.source))


def _biases(nodes: Nodes) -> None:
    """A product takes the bias that is added to its result."""
    for node in list(nodes.nodes):
        if node.op != "matmul" or "bias" in node.attributes or not nodes[node.inputs[1]].is_weight:
            continue
        out = node.outputs[0]
        columns = nodes[out].shape[-1]
        users = nodes.forward(out, ("identity", "reshape"))
        if len(users) != 1 or users[0].op != "add" or out in nodes.outputs:
            continue
        add = users[0]
        bias = next((name for name in add.inputs if nodes[name].is_weight
                     and nodes[name].elements == columns == nodes[name].shape[-1]), None)
        if bias is not None and nodes[add.outputs[0]].elements == nodes[out].elements:
            attributes: Dict[str, Any] = {**node.attributes, "bias": bias}
            nodes.replace(add.outputs[0], Node("matmul", node.inputs, add.outputs, node.name, node.source, attributes))


_GATED = {"relu": "reglu", "silu": "swiglu", "gelu": "geglu", "gelu_tanh": "geglu_tanh"}


def _gates(nodes: Nodes) -> None:
    """The product of an activation and another tensor."""
    for node in list(nodes.nodes):
        if node.op != "mul":
            continue
        for gate, factor in (nodes.operands(node), nodes.operands(node)[::-1]):
            activation = nodes.producer(nodes.back(gate), *_GATED)
            if activation is None or nodes[factor].is_weight or nodes[factor].shape != nodes[gate].shape:
                continue
            nodes.replace(node.outputs[0], Node(_GATED[activation.op], [activation.inputs[0], factor], node.outputs,
                                                node.name, node.source))
            break
