"""ONNX operations, and those that ONNX Runtime's optimiser writes (com.microsoft), as nodes of the common form."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Sequence, Tuple

from . import attention
from .nodes import UNKNOWN

_SAME = {op: op.lower() for op in ("Add", "Sub", "Mul", "Div", "Pow", "Neg", "Sqrt", "Reciprocal", "Exp", "Erf", "Tanh",
                                   "Sigmoid", "Relu", "Where")}
_VIEWS = {"Identity": "identity", "Cast": "identity", "CastLike": "identity", "Dropout": "identity", "Reshape": "reshape",
          "Flatten": "reshape", "Squeeze": "reshape", "Unsqueeze": "reshape", "Transpose": "transpose", "Slice": "slice",
          "Split": "slice", "Concat": "concat", "Expand": "expand", "Tile": "expand"}
# Results are as their first input where ONNX has no inference.
SHAPE_OF_FIRST = frozenset({
    "Gelu", "FastGelu", "BiasGelu", "QuickGelu", "SkipLayerNormalization", "LayerNormalization", "RMSNormalization", "RMSNorm",
    "SimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", "RotaryEmbedding", "MultiHeadAttention",
    "GroupQueryAttention"})


def emit(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    """Adds the nodes of one ONNX node."""
    special = _SPECIAL.get(node.op_type)
    inputs = [i for i in node.input if i]
    out = node.output[0]
    if any(reader.nodes[i].shape == UNKNOWN for i in inputs):
        _other(reader, node, name, a)
    elif special is not None:
        special(reader, node, name, a)
    elif node.op_type in _VIEWS:
        op = _VIEWS[node.op_type]
        for output in (o for o in (node.output if node.op_type == "Split" else [out]) if o):
            whole = op in ("slice", "expand") and reader.nodes[output].elements == reader.nodes[inputs[0]].elements
            reader.emit("reshape" if whole else op, node, name, inputs if op == "concat" else inputs[:1], output)
    elif node.op_type in _SAME:
        reader.emit(_SAME[node.op_type], node, name, inputs, out)
    else:
        _other(reader, node, name, a)


def _other(reader: Any, node: Any, name: str, a: Dict[str, Any], macs: int = 0) -> None:
    reader.emit("other", node, name, [i for i in node.input if i], node.output[0], macs=macs)
    reader.nodes.nodes[-1].outputs = [o for o in node.output if o]


def _product(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    reader.emit("matmul", node, name, node.input[:2], node.output[0])


def _fused_product(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    nodes = reader.nodes
    operands = []
    for key, operand in zip(("transA", "transB"), node.input):
        shape = nodes[operand].shape
        if a.get(key):
            turned = nodes.temporary(operand, (*shape[:-2], shape[-1], shape[-2]), nodes[operand].type)
            nodes[turned].is_weight = nodes[operand].is_weight
            reader.emit("transpose", node, name, [operand], turned)
            operand, shape = turned, nodes[turned].shape
        operands.append(operand)
    shapes = [nodes[operand].shape for operand in operands]
    nodes[node.output[0]].shape = (*max((shape[:-2] for shape in shapes), key=math.prod), shapes[0][-2], shapes[1][-1])
    if a.get("alpha", 1.0) == 1.0:
        reader.emit("matmul", node, name, operands, node.output[0])
        return
    product = nodes.temporary(node.output[0], nodes[node.output[0]].shape, nodes[node.output[0]].type)
    reader.emit("matmul", node, name, operands, product)
    reader.emit("mul", node, name, [product, nodes.constant(a["alpha"])], node.output[0])


def _integer_product(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    at = 3 if node.op_type == "QLinearMatMul" else 1
    reader.nodes[node.output[0]].type = "int8" if at == 3 else "fp32"
    reader.emit("matmul", node, name, [node.input[0], node.input[at]], node.output[0], type="int8")


def _general_product(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    flags = {key: True for key, word in (("transpose_a", "transA"), ("transpose_b", "transB")) if a.get(word)}
    if len(node.input) > 2 and node.input[2]:
        flags["bias"] = node.input[2]
    reader.emit("matmul", node, name, node.input[:2], node.output[0], **flags)


def _softmax(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    # Before opset 13 the default is 1, of a matrix; files without `axis` mean the last one.
    rank = len(reader.nodes[node.input[0]].shape)
    axis = a.get("axis", -1) % max(rank, 1)
    reader.emit("softmax", node, name, node.input[:1], node.output[0], axis=axis)


def _mean(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    rank = len(reader.nodes[node.input[0]].shape)
    given = reader.nodes[node.input[1]].data if len(node.input) > 1 and node.input[1] else a.get("axes")
    axes = sorted(int(axis) % max(rank, 1) for axis in (range(rank) if given is None else given))
    reader.emit("mean", node, name, node.input[:1], node.output[0], axes=axes)


def _norm(op: str) -> Callable[..., None]:
    def emit_norm(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
        shape = reader.nodes[node.input[0]].shape
        axis = a.get("axis", -1) % max(len(shape), 1)
        reader.emit(op, node, name, [i for i in node.input[:3] if i], node.output[0], columns=math.prod(shape[axis:]))
    return emit_norm


def _sum_and_norm(op: str) -> Callable[..., None]:
    """The norm of a sum, which is the fourth result."""
    def emit_norm(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
        nodes = reader.nodes
        x, skip, *weights = node.input
        total = node.output[3] if len(node.output) > 3 and node.output[3] else nodes.temporary(name, (), nodes[x].type)
        nodes[total].shape = nodes[x].shape
        reader.emit("add", node, f"{name}.sum", [x, skip], total)
        affine = [i for i in weights[:2 if op == "layernorm" else 1] if i]
        reader.emit(op, node, name, [total, *affine], node.output[0], columns=nodes[x].shape[-1])
    return emit_norm


def _gelu(op: str) -> Callable[..., None]:
    """With a bias, which is the second input, in the product before it if there is one."""
    def emit_gelu(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
        x, nodes = node.input[0], reader.nodes
        if len(node.input) > 1 and node.input[1]:
            biased = nodes.temporary(name, nodes[x].shape, nodes[x].type)
            reader.emit("add", node, f"{name}.bias", node.input[:2], biased)
            x = biased
        word = "gelu_tanh" if a.get("approximate", b"none") == b"tanh" else op
        reader.emit(word, node, name, [x], node.output[0])
    return emit_gelu


def _gather(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    """Constant indices of a computed tensor cut it; others look up rows of a table."""
    if reader.nodes[node.input[1]].data is None or reader.nodes[node.input[0]].is_weight:
        _other(reader, node, name, a)
    elif reader.nodes[node.output[0]].elements > reader.nodes[node.input[0]].elements:
        reader.emit("expand", node, name, node.input[:1], node.output[0])
    else:
        reader.emit("slice", node, name, node.input[:1], node.output[0])


def _dequantized(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    """Weights keep their type; activations are converted, which takes an operation."""
    if reader.nodes[node.input[0]].is_weight:
        reader.emit("identity", node, name, node.input[:1], node.output[0])
    else:
        _other(reader, node, name, a)


def _embedded(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    """Rows of tables, added and normalised."""
    nodes = reader.nodes
    ids, table = node.input[0], node.input[2]
    out = nodes[node.output[0]]
    out.shape, out.type = (*nodes[ids].shape, nodes[table].shape[1]), nodes[table].type
    rows = nodes.temporary(name, out.shape, out.type)
    reader.emit("other", node, name, [i for i in node.input[:5] if i], rows)
    reader.emit("layernorm", node, f"{name}.norm", [rows, *node.input[5:7]], node.output[0], columns=out.shape[-1])


def _convolution(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    """Patches that do not overlap are rows of a product."""
    nodes = reader.nodes
    kernel, out = nodes[node.input[1]].shape, nodes[node.output[0]].elements
    depth, spatial = math.prod(kernel[1:]), tuple(kernel[2:])
    strides = tuple(a.get("strides", [1] * len(spatial)))
    plain = a.get("group", 1) == 1 and not any(a.get("pads", [])) and a.get("auto_pad", b"NOTSET") in (b"NOTSET", b"VALID")
    if node.op_type == "Conv" and plain and strides == spatial and set(a.get("dilations", [1])) == {1}:
        bias = {"bias": node.input[2]} if len(node.input) > 2 and node.input[2] else {}
        extents = (1, out // kernel[0], kernel[0], depth)
        reader.emit("matmul", node, name, node.input[:2], node.output[0], extents=extents, **bias)
        return
    macs = nodes[node.input[0]].elements * depth if node.op_type == "ConvTranspose" else out * depth
    _other(reader, node, name, a, macs)


def _sum_of_products(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    """An Einsum of two operands is a product of matrices: indices of both and of the result count them, indices of both but
    not of the result are the depth."""
    nodes = reader.nodes
    terms, _, result = a["equation"].decode().replace(" ", "").partition("->")
    left, _, right = terms.partition(",")
    extents = {letter: extent for term, i in zip((left, right), node.input) for letter, extent in zip(term, nodes[i].shape)}
    nodes[node.output[0]].shape = tuple(extents.get(letter, 0) for letter in result)
    depth = [letter for letter in left if letter in right and letter not in result]
    matrices = [letter for letter in left if letter in right and letter in result]
    rows = [letter for letter in left if letter not in right]
    columns = [letter for letter in right if letter not in left]
    ordered = [len(set(term)) == len(term) and term.isalpha() for term in (left, right, result)]
    if not all(ordered) or set(result) != {*matrices, *rows, *columns} or len(node.input) != 2 or not depth:
        _other(reader, node, name, a, math.prod(extents.values()) if len(node.input) > 1 else 0)
        return

    def arranged(operand: str, term: str, groups: List[List[str]]) -> str:
        """The operand with its indices in groups, of which the last two are one extent each."""
        wanted = [letter for group in groups for letter in group]
        shape = [extents[letter] for letter in groups[0]] + [math.prod(extents[i] for i in group) for group in groups[1:]]
        if wanted == list(term) and len(shape) == len(term):
            return operand
        view = nodes.temporary(operand, shape, nodes[operand].type)
        nodes[view].is_weight = nodes[operand].is_weight
        reader.emit("transpose", node, name, [operand], view)
        return view

    x = arranged(node.input[0], left, [matrices, rows, depth])
    y = arranged(node.input[1], right, [matrices, depth, columns])
    if list(result) == [*matrices, *rows, *columns] and len(rows) == len(columns) == 1:
        reader.emit("matmul", node, name, [x, y], node.output[0])
        return
    product = nodes.temporary(name, (*nodes[x].shape[:-1], nodes[y].shape[-1]), nodes[x].type)
    reader.emit("matmul", node, name, [x, y], product)
    reader.emit("transpose", node, name, [product], node.output[0])


def _recurrent(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    """Products of weights with each step's input and state."""
    steps = math.prod(reader.nodes[node.input[0]].shape[:2])
    _other(reader, node, name, a, steps * sum(reader.nodes[i].elements for i in node.input[1:3]))


def _attended(reader: Any, node: Any, name: str, shape: Tuple[int, ...], tensors: Sequence[str], scale: float,
              causal: bool, masks: List[str]) -> None:
    attributes: Dict[str, Any] = {"scale": scale}
    built = attention.attention(reader.nodes, shape, tensors, attributes)
    if built is None:
        _other(reader, node, name, {}, math.prod(shape[:4]) * sum(shape[4:]))
        return
    kinds = [(mask, "show" if reader.nodes[mask].type == "bool" else "add") for mask in masks]
    attention.take_masks(reader.nodes, shape, kinds, attributes)
    attributes.update({"causal": 1} if causal else {})
    reader.emit("attention", node, name, built, node.output[0], **attributes)


def _attention(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    """Of ONNX: Q, K, V by heads, or by tokens with all heads in a row; of com.microsoft: with the products before it."""
    nodes = reader.nodes
    if node.domain == "com.microsoft":
        _attention_with_products(reader, node, name, a)
        return
    q, k, v = (nodes[i].shape for i in node.input[:3])
    if len(q) == 4:
        (batch, heads, queries, width), keys, width_of_v = q, k[2], v[3]
    else:
        heads, batch, queries, keys = a["q_num_heads"], q[0], q[1], k[1]
        width, width_of_v = q[2] // heads, v[2] // a["kv_num_heads"]
    masks = [node.input[3]] if len(node.input) > 3 and node.input[3] else []
    if len(nodes[node.output[0]].shape) < 3:
        nodes[node.output[0]].shape = (*q[:-1], width_of_v if len(q) == 4 else heads * width_of_v)
    _attended(reader, node, name, (batch, heads, queries, keys, width, width_of_v), node.input[:3],
              a.get("scale", width**-0.5), bool(a.get("is_causal")), masks)


def _attention_with_products(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    nodes = reader.nodes
    x, weight = node.input[:2]
    if len(nodes[x].shape) != 3:
        _other(reader, node, name, a)
        return
    batch, tokens, _ = nodes[x].shape
    columns, heads = nodes[weight].shape[1], a["num_heads"]
    sizes = a.get("qkv_hidden_sizes") or [columns // 3] * 3
    packed = nodes.temporary(f"{name}.qkv", (batch, tokens, columns), nodes[x].type)
    bias = {"bias": node.input[2]} if len(node.input) > 2 and node.input[2] else {}
    reader.emit("matmul", node, f"{name}.qkv", [x, weight], packed, **bias)
    parts = []
    for part, size in zip("qkv", sizes):
        parts.append(nodes.temporary(f"{name}.{part}", (batch, tokens, size), nodes[x].type))
        reader.emit("slice", node, name, [packed], parts[-1])
    past = nodes[node.input[4]].shape[3] if len(node.input) > 4 and node.input[4] else 0
    if past:
        _other(reader, node, name, a, batch * tokens * (tokens + past) * (sizes[0] + sizes[2]))
        return
    nodes[node.output[0]].shape = (batch, tokens, sizes[2])
    shape = (batch, heads, tokens, tokens, sizes[0] // heads, sizes[2] // heads)
    masks = [i for i in node.input[3:4] if i and nodes[i].data is None]
    _attended(reader, node, name, shape, (parts[0], parts[1], parts[2]), a.get("scale") or max(shape[4], 1)**-0.5,
              bool(a.get("unidirectional")), masks)


def _attention_of_heads(reader: Any, node: Any, name: str, a: Dict[str, Any]) -> None:
    """MultiHeadAttention and GroupQueryAttention of com.microsoft with separate Q, K and V."""
    nodes, heads = reader.nodes, a["num_heads"]
    present = [bool(i) for i in (*node.input, "", "")]
    past = 6 if node.op_type == "MultiHeadAttention" else 3
    if not all(present[:3]) or (len(node.input) > past and node.input[past]) or len(nodes[node.input[1]].shape) != 3:
        _other(reader, node, name, a)
        return
    q, k, v = (nodes[i].shape for i in node.input[:3])
    width = q[2] // heads
    heads_of_kv = a.get("kv_num_heads", heads)
    masks = [i for i in node.input[4:6] if i] if node.op_type == "MultiHeadAttention" else []
    _attended(reader, node, name, (q[0], heads, q[1], k[1], width, v[2] // heads_of_kv), node.input[:3],
              a.get("scale") or width**-0.5, node.op_type == "GroupQueryAttention" or bool(a.get("unidirectional")), masks)


_SPECIAL: Dict[str, Callable[..., None]] = {
    "MatMul": _product, "FusedMatMul": _fused_product, "Gemm": _general_product, "MatMulInteger": _integer_product,
    "QLinearMatMul": _integer_product, "Softmax": _softmax, "ReduceMean": _mean, "LayerNormalization": _norm("layernorm"),
    "RMSNormalization": _norm("rmsnorm"), "RMSNorm": _norm("rmsnorm"), "SimplifiedLayerNormalization": _norm("rmsnorm"),
    "SkipLayerNormalization": _sum_and_norm("layernorm"), "SkipSimplifiedLayerNormalization": _sum_and_norm("rmsnorm"),
    "Gelu": _gelu("gelu"), "BiasGelu": _gelu("gelu"), "FastGelu": _gelu("gelu_tanh"), "Gather": _gather,
    "DequantizeLinear": _dequantized, "Conv": _convolution, "ConvTranspose": _convolution, "Einsum": _sum_of_products,
    "EmbedLayerNormalization": _embedded,
    "LSTM": _recurrent, "GRU": _recurrent, "RNN": _recurrent, "Attention": _attention,
    "MultiHeadAttention": _attention_of_heads, "GroupQueryAttention": _attention_of_heads,
}
