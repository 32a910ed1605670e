"""ATen operations that are more than one word of the common form."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List

from . import attention
from .nodes import Node


def leaves(arguments: Any) -> List[Any]:
    if isinstance(arguments, (tuple, list)):
        return [leaf for argument in arguments for leaf in leaves(argument)]
    if isinstance(arguments, dict):
        return leaves(list(arguments.values()))
    return [arguments]


def _argument(node: Any, at: int, key: str, default: Any) -> Any:
    value = node.args[at] if len(node.args) > at else node.kwargs.get(key, default)
    return default if value is None else value


def _axis(axis: int, rank: int) -> int:
    return axis % max(rank, 1)


def _softmax(reader: Any, node: Any, inputs: List[Any]) -> None:
    rank = len(reader.nodes[inputs[0]].shape)
    reader.emit("softmax", node, inputs[:1], axis=_axis(_argument(node, 1, "dim", -1), rank))


def _moment(op: str) -> Callable[[Any, Any, List[Any]], None]:
    def emit(reader: Any, node: Any, inputs: List[Any]) -> None:
        rank = len(reader.nodes[inputs[0]].shape)
        axes = _argument(node, 1, "dim", list(range(rank)))
        axes = [axes] if isinstance(axes, int) else axes
        correction = node.kwargs.get("correction", 1 if _argument(node, 2, "unbiased", True) else 0)
        kind = op if op == "mean" or correction == 0 else "other"
        reader.emit(kind, node, inputs[:1], axes=sorted(_axis(axis, rank) for axis in axes))
    return emit


def _layer_norm(reader: Any, node: Any, inputs: List[Any]) -> None:
    columns = math.prod(_argument(node, 1, "normalized_shape", [1]))
    affine = [reader.operand(_argument(node, at, key, None)) for at, key in ((2, "weight"), (3, "bias"))]
    reader.emit("layernorm", node, [inputs[0], *affine], columns=columns)


def _rms_norm(reader: Any, node: Any, inputs: List[Any]) -> None:
    columns = math.prod(_argument(node, 1, "normalized_shape", [1]))
    reader.emit("rmsnorm", node, [inputs[0], reader.operand(_argument(node, 2, "weight", None))], columns=columns)


def _gelu(reader: Any, node: Any, inputs: List[Any]) -> None:
    reader.emit("gelu_tanh" if _argument(node, 1, "approximate", "none") == "tanh" else "gelu", node, inputs[:1])


def _product(reader: Any, node: Any, inputs: List[Any]) -> None:
    reader.emit("matmul", node, inputs[:2])


def _linear(reader: Any, node: Any, inputs: List[Any]) -> None:
    bias = {"bias": inputs[2]} if len(inputs) > 2 and inputs[2] is not None else {}
    reader.emit("matmul", node, inputs[:2], transpose_b=True, **bias)


def _added_product(reader: Any, node: Any, inputs: List[Any]) -> None:
    """addmm, baddbmm: the sum of the first operand and a product."""
    nodes = reader.nodes
    addend, a, b = inputs[:3]
    if nodes[b].is_weight and nodes[addend].is_weight:
        reader.emit("matmul", node, [a, b], bias=addend)
        return
    shape = (*nodes[a].shape[:-1], nodes[b].shape[-1])
    product = nodes.temporary(f"{node.name}.product", shape, nodes[a].type)
    nodes.add(Node("matmul", [a, b], [product], product, str(node.target)))
    reader.emit("add", node, [product, addend])


def _masked_fill(reader: Any, node: Any, inputs: List[Any]) -> None:
    reader.emit("where", node, [inputs[1], inputs[2], inputs[0]])


def _reversed_difference(reader: Any, node: Any, inputs: List[Any]) -> None:
    reader.emit("sub", node, inputs[1::-1])


def _scaled_attention(reader: Any, node: Any, inputs: List[Any]) -> None:
    nodes = reader.nodes
    q, k, v = inputs[:3]
    before, (queries, width), (keys, width_of_v) = nodes[q].shape[:-2], nodes[q].shape[-2:], nodes[v].shape[-2:]
    shape = (before[0] if len(before) > 1 else 1, math.prod(before[1:]) if len(before) > 1 else math.prod(before), queries,
             keys, width, width_of_v)
    names = [argument.name for argument in node.target._schema.arguments] if hasattr(node.target, "_schema") else []
    given = {**dict(zip(names, node.args)), **node.kwargs}
    scale = given.get("scale")
    attributes: Dict[str, Any] = {"scale": width**-0.5 if scale is None else scale}
    built = attention.attention(nodes, shape, (q, k, v), attributes)
    if built is None:
        reader.emit("other", node, inputs[:3], macs=math.prod(shape[:4]) * (width + width_of_v))
        return
    mask = reader.operand(given.get("attn_mask", given.get("attn_bias")))
    kind = "show" if mask is not None and nodes[mask].type == "bool" else "add"
    attention.take_masks(nodes, shape, [(mask, kind)] if mask is not None else [], attributes)
    if given.get("is_causal"):
        attributes["causal"] = 1
    reader.emit("attention", node, built, **attributes)


def _convolution(reader: Any, node: Any, inputs: List[Any]) -> None:
    """Patches that do not overlap are rows of a product."""
    nodes = reader.nodes
    x, weight = inputs[:2]
    kernel = nodes[weight].shape
    out = math.prod(node.meta["tensor_meta"].shape if "val" not in node.meta else node.meta["val"].shape)
    strides, padding = _argument(node, 3, "stride", [1]), _argument(node, 4, "padding", [0])
    depth, transposed = math.prod(kernel[1:]), _argument(node, 6, "transposed", False) is True
    spatial = kernel[2:]
    strides = [strides] * len(spatial) if isinstance(strides, int) else list(strides) * (len(spatial) // len(strides))
    if tuple(strides) == spatial and not any(leaves(padding)) and not transposed and kernel[1] == nodes[x].shape[1]:
        reader.emit("matmul", node, [x, weight], extents=(1, out // kernel[0], kernel[0], depth),
                     **({"bias": inputs[2]} if inputs[2] is not None else {}))
    else:
        macs = nodes[x].elements * math.prod(kernel[1:]) if transposed else out * depth
        reader.emit("other", node, inputs[:3], macs=macs)


def _complex(op: str) -> Callable[[Any, Any, List[Any]], None]:
    return lambda reader, node, inputs: reader.emit("reshape", node, inputs[:1], complex=op)


SPECIAL: Dict[str, Callable[[Any, Any, List[Any]], None]] = {
    "softmax": _softmax, "safe_softmax": _softmax, "mean": _moment("mean"), "var": _moment("variance"),
    "layer_norm": _layer_norm, "native_layer_norm": _layer_norm, "rms_norm": _rms_norm, "gelu": _gelu,
    "mm": _product, "bmm": _product, "matmul": _product, "linear": _linear, "addmm": _added_product,
    "baddbmm": _added_product, "masked_fill": _masked_fill, "rsub": _reversed_difference,
    "convolution": _convolution, "conv2d": _convolution, "conv1d": _convolution,
    "view_as_complex": _complex("pairs"), "view_as_real": _complex("real"),
    **{name: _scaled_attention for name in (
        "scaled_dot_product_attention", "scaled_dot_product_flash_attention", "scaled_dot_product_efficient_attention",
        "scaled_dot_product_cudnn_attention", "scaled_dot_product_flash_attention_for_cpu")},
}
