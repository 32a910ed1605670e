"""The ATen operations of a torch module in the common form: by torch.export, or by FX tracing where torch has no export."""

from __future__ import annotations

import inspect
import math
import operator
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .._error import Error
from . import attention
from .nodes import UNKNOWN, Node, Nodes, Value

_TYPES = {"float16": "fp16", "float32": "fp32", "float64": "fp64", "bfloat16": "bf16", "float8_e4m3fn": "fp8_e4m3",
          "float8_e5m2": "fp8_e5m2", "complex64": "fp32", "complex128": "fp64"}
_MOST_FOLDED = 1 << 24  # elements of a constant that is computed

# Names of ATen operations, without overload, a leading and a trailing '_'.
_SAME = ("add", "sub", "mul", "div", "pow", "neg", "sqrt", "rsqrt", "reciprocal", "exp", "erf", "tanh", "sigmoid", "relu",
         "silu", "where")
_VIEWS = {
    "identity": ("clone", "detach", "contiguous", "alias", "to", "to_copy", "type_as", "dropout", "lift_fresh",
                 "lift_fresh_copy", "native_dropout", "float", "half", "bfloat16"),
    "reshape": ("view", "unsafe_view", "reshape", "unsqueeze", "squeeze", "flatten", "unflatten", "reshape_alias"),
    "transpose": ("permute", "transpose", "t", "movedim", "swapaxes", "numpy_T"),
    "slice": ("slice", "select", "narrow", "split", "split_with_sizes", "chunk", "unbind", "tensor_split"),
    "concat": ("cat", "concat", "stack"),
    "expand": ("expand", "expand_as", "repeat", "broadcast_to"),
}
_VIEW_OF = {name: view for view, names in _VIEWS.items() for name in names}
_GATHERS = ("index", "index_select", "gather", "repeat_interleave")


def read(module: Any, example_inputs: Sequence[Any], name: Optional[str]) -> Nodes:
    try:
        import torch
    except ImportError:
        raise Error("package torch is not installed; from_torch needs it, as Debian's python3-torch", 2) from None
    if not isinstance(module, torch.nn.Module):
        raise Error(f"module: found {type(module).__name__}; allowed is a torch.nn.Module", 2)
    if not isinstance(example_inputs, (tuple, list)):
        raise Error(f"example_inputs: found {type(example_inputs).__name__}; allowed is a tuple of the module's arguments", 2)
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        graph, known = _traced(torch, module, tuple(example_inputs))
        return _Reader(torch, name or type(module).__name__).read(graph, known, list(inspect.signature(module.forward).parameters))
    finally:
        for part, mode in modes:
            part.training = mode


def _traced(torch: Any, module: Any, inputs: Tuple[Any, ...]) -> Tuple[Any, Dict[str, Tuple[str, Any, bool]]]:
    """A graph of ATen operations, and the name, value and kind (True: a parameter) of what its constant nodes are."""
    weights = dict(module.named_parameters(remove_duplicate=False)) if _exports(torch) else dict(module.named_parameters())
    try:
        if _exports(torch):
            program = torch.export.export(module, inputs)
            signature, known = program.graph_signature, {}
            for table in (signature.inputs_to_parameters, signature.inputs_to_buffers,
                          getattr(signature, "inputs_to_lifted_tensor_constants", {})):
                for node, target in table.items():
                    data = program.state_dict.get(target, getattr(program, "constants", {}).get(target))
                    known[node] = (target, data, target in weights)
            return program.graph, known
        from torch.fx.experimental.proxy_tensor import make_fx

        # Inputs with gradients keep nn.MultiheadAttention from its fused operation.
        graded = [value.detach().clone().requires_grad_() if isinstance(value, torch.Tensor) and value.is_floating_point()
                  else value for value in inputs]
        traced = make_fx(module)(*graded)
        traced.graph.eliminate_dead_code()
    except Exception as problem:  # any error of the module's own code
        reason = (str(problem).strip().splitlines() or [type(problem).__name__])[0][:80]
        raise Error(f"module: {type(module).__name__} cannot be traced with these inputs: {reason}", 2) from problem
    names = {id(value): name for name, value in (*module.named_buffers(), *weights.items())}
    known = {}
    for node in traced.graph.nodes:
        if node.op == "get_attr":
            value = getattr(traced, node.target)
            name = names.get(id(value), node.name)
            known[node.name] = (name, value, name in weights)
    return traced.graph, known


def _exports(torch: Any) -> bool:
    return hasattr(torch, "export") and hasattr(torch.export, "export")


class _Reader:
    def __init__(self, torch: Any, name: str) -> None:
        self._torch = torch
        self._nodes = Nodes(name)
        self._names: Dict[Any, Any] = {}    # FX nodes: a value's name, or a list of them
        self._constants: Dict[Any, Any] = {}  # FX nodes that are constants: their tensors

    def read(self, graph: Any, known: Dict[str, Tuple[str, Any, bool]], arguments: List[str]) -> Nodes:
        taken = {node.name for node in graph.nodes}
        for node in graph.nodes:
            if node.name in known and node.op in ("get_attr", "placeholder"):
                self._constant(node, *known[node.name])
            elif node.op == "placeholder":
                argument = arguments.pop(0) if arguments else node.name
                self._names[node] = self._value(node.name if argument in taken else argument, node)
            elif node.op == "output":
                for argument in _leaves(node.args):
                    if argument in self._names:
                        self._nodes.outputs += [n for n in _leaves(self._names[argument])]
            elif node.target is operator.getitem:
                self._part(node)
            elif not self._folded(node):
                self._call(node)
        return self._nodes

    def _value(self, name: str, node: Any) -> str:
        meta = node.meta.get("val", node.meta.get("tensor_meta"))
        shape, type_ = UNKNOWN, "fp32"
        if hasattr(meta, "shape"):
            shape, type_ = tuple(int(extent) for extent in meta.shape), _type(meta.dtype)
        self._nodes.values[name] = Value(name, shape, type_)
        return name

    def _constant(self, node: Any, name: str, tensor: Any, is_parameter: bool) -> None:
        if not is_parameter and tensor is not None and tensor.numel() <= _MOST_FOLDED:
            self._constants[node] = tensor.detach()
        data = self._array(self._constants.get(node))
        self._nodes.values[name] = Value(name, tuple(tensor.shape), _type(tensor.dtype), data, True)
        self._names[node] = name

    def _array(self, tensor: Any) -> Any:
        if tensor is None or tensor.dtype.is_complex:
            return None
        wide = tensor.float() if tensor.is_floating_point() and tensor.dtype != self._torch.float64 else tensor
        return wide.cpu().numpy()

    def _folded(self, node: Any) -> bool:
        """Computes a node that depends on constants only, none of them a parameter."""
        arguments = list(node.all_input_nodes)
        if any(argument not in self._constants for argument in arguments):
            return False
        look_up = self._constants.__getitem__
        args, kwargs = (self._torch.fx.node.map_arg(part, look_up) for part in (node.args, node.kwargs))
        try:
            result = node.target(*args, **kwargs)
        except Exception:  # the node stays as it is
            return False
        if not isinstance(result, self._torch.Tensor):
            self._constants[node] = result
            return True
        if result.numel() > _MOST_FOLDED:
            return False
        self._constant(node, node.name, result, False)
        return True

    def _part(self, node: Any) -> None:
        """An element of a tuple of results."""
        source, index = node.args[:2]
        if source in self._constants:
            if isinstance(self._constants[source][index], self._torch.Tensor):
                self._constant(node, node.name, self._constants[source][index], False)
            return
        named = self._names[source]
        if isinstance(named, _Split):
            self._view("slice", node, [named.input])
        elif index == 0:
            self._names[node] = named
            if self._nodes[named].shape == UNKNOWN:
                self._value(named, node)
        else:
            self._names[node] = self._value(node.name, node)

    def _operand(self, argument: Any) -> Any:
        """The name of an argument's value; None if it is no number or tensor."""
        if isinstance(argument, (int, float)) and not isinstance(argument, bool):
            return self._nodes.constant(float(argument))
        named = self._names.get(argument) if isinstance(argument, self._torch.fx.Node) else None
        return named if isinstance(named, str) else None

    def _emit(self, op: str, node: Any, inputs: Sequence[Any], **attributes: Any) -> None:
        name = self._names[node] = self._value(node.name, node)
        names = [i for i in inputs if i is not None]
        self._nodes.add(Node(op, names, [name], name, str(node.target).replace(".default", ""), attributes))

    def _view(self, op: str, node: Any, inputs: Sequence[str], **attributes: Any) -> None:
        self._emit(op, node, inputs, **attributes)
        whole = op in ("slice", "expand") and self._nodes[self._names[node]].elements == self._nodes[inputs[0]].elements
        if whole:
            self._nodes.nodes[-1].op = "reshape"

    def _call(self, node: Any) -> None:
        op = str(getattr(node.target, "__name__", node.target)).split("::")[-1].split(".")[0].strip("_")
        special = _SPECIAL.get(op)
        inputs = [self._operand(argument) for argument in _leaves(node.args)] if special or op in _SAME else []
        tensors = [name for name in map(self._operand, node.all_input_nodes) if name is not None]
        if special is not None:
            special(self, node, inputs)
        elif op in ("split", "split_with_sizes", "chunk", "unbind", "tensor_split"):
            self._names[node] = _Split(tensors[0])
        elif op in _VIEW_OF and tensors:
            view = _VIEW_OF[op]
            self._view(view, node, tensors if view == "concat" else tensors[:1])
        elif op in _GATHERS and tensors and self._gathers(node):
            self._view("slice" if self._result(node) <= self._nodes[tensors[0]].elements else "expand", node, tensors[:1])
        elif op in _SAME and node.kwargs.get("alpha", 1) == 1:
            self._emit(op, node, inputs)
        else:
            self._emit("other", node, tensors)

    def _result(self, node: Any) -> int:
        return math.prod(self._nodes[self._value(node.name, node)].shape)

    def _gathers(self, node: Any) -> bool:
        """Constant indices of a tensor that is none."""
        source, *indices = node.all_input_nodes
        return all(index in self._constants for index in indices) and source not in self._constants


class _Split:
    """The results of a split, each of which is a slice."""

    def __init__(self, input_: str) -> None:
        self.input = input_


def _type(dtype: Any) -> str:
    word = str(dtype).replace("torch.", "")
    return _TYPES.get(word, word)


def _leaves(arguments: Any) -> List[Any]:
    if isinstance(arguments, (tuple, list)):
        return [leaf for argument in arguments for leaf in _leaves(argument)]
    if isinstance(arguments, dict):
        return _leaves(list(arguments.values()))
    return [arguments]


def _argument(node: Any, at: int, key: str, default: Any) -> Any:
    value = node.args[at] if len(node.args) > at else node.kwargs.get(key, default)
    return default if value is None else value


def _axis(axis: int, rank: int) -> int:
    return axis % max(rank, 1)


def _softmax(reader: _Reader, node: Any, inputs: List[Any]) -> None:
    rank = len(reader._nodes[inputs[0]].shape)
    reader._emit("softmax", node, inputs[:1], axis=_axis(_argument(node, 1, "dim", -1), rank))


def _moment(op: str) -> Callable[[_Reader, Any, List[Any]], None]:
    def emit(reader: _Reader, node: Any, inputs: List[Any]) -> None:
        rank = len(reader._nodes[inputs[0]].shape)
        axes = _argument(node, 1, "dim", list(range(rank)))
        axes = [axes] if isinstance(axes, int) else axes
        correction = node.kwargs.get("correction", 1 if _argument(node, 2, "unbiased", True) else 0)
        kind = op if op == "mean" or correction == 0 else "other"
        reader._emit(kind, node, inputs[:1], axes=sorted(_axis(axis, rank) for axis in axes))
    return emit


def _layer_norm(reader: _Reader, node: Any, inputs: List[Any]) -> None:
    columns = math.prod(_argument(node, 1, "normalized_shape", [1]))
    affine = [reader._operand(_argument(node, at, key, None)) for at, key in ((2, "weight"), (3, "bias"))]
    reader._emit("layernorm", node, [inputs[0], *affine], columns=columns)


def _rms_norm(reader: _Reader, node: Any, inputs: List[Any]) -> None:
    columns = math.prod(_argument(node, 1, "normalized_shape", [1]))
    reader._emit("rmsnorm", node, [inputs[0], reader._operand(_argument(node, 2, "weight", None))], columns=columns)


def _gelu(reader: _Reader, node: Any, inputs: List[Any]) -> None:
    reader._emit("gelu_tanh" if _argument(node, 1, "approximate", "none") == "tanh" else "gelu", node, inputs[:1])


def _product(reader: _Reader, node: Any, inputs: List[Any]) -> None:
    reader._emit("matmul", node, inputs[:2])


def _linear(reader: _Reader, node: Any, inputs: List[Any]) -> None:
    bias = {"bias": inputs[2]} if len(inputs) > 2 and inputs[2] is not None else {}
    reader._emit("matmul", node, inputs[:2], transpose_b=True, **bias)


def _added_product(reader: _Reader, node: Any, inputs: List[Any]) -> None:
    """addmm, baddbmm: the sum of the first operand and a product."""
    nodes = reader._nodes
    addend, a, b = inputs[:3]
    if nodes[b].is_weight and nodes[addend].is_weight:
        reader._emit("matmul", node, [a, b], bias=addend)
        return
    shape = (*nodes[a].shape[:-1], nodes[b].shape[-1])
    product = nodes.temporary(f"{node.name}.product", shape, nodes[a].type)
    nodes.add(Node("matmul", [a, b], [product], product, str(node.target)))
    reader._emit("add", node, [product, addend])


def _masked_fill(reader: _Reader, node: Any, inputs: List[Any]) -> None:
    reader._emit("where", node, [inputs[1], inputs[2], inputs[0]])


def _reversed_difference(reader: _Reader, node: Any, inputs: List[Any]) -> None:
    reader._emit("sub", node, inputs[1::-1])


def _scaled_attention(reader: _Reader, node: Any, inputs: List[Any]) -> None:
    nodes = reader._nodes
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
        reader._emit("other", node, inputs[:3], macs=math.prod(shape[:4]) * (width + width_of_v))
        return
    mask = reader._operand(given.get("attn_mask", given.get("attn_bias")))
    kind = "show" if mask is not None and nodes[mask].type == "bool" else "add"
    attention.take_masks(nodes, shape, [(mask, kind)] if mask is not None else [], attributes)
    if given.get("is_causal"):
        attributes["causal"] = 1
    reader._emit("attention", node, built, **attributes)


def _convolution(reader: _Reader, node: Any, inputs: List[Any]) -> None:
    """Patches that do not overlap are rows of a product."""
    nodes = reader._nodes
    x, weight = inputs[:2]
    kernel = nodes[weight].shape
    out = math.prod(node.meta["tensor_meta"].shape if "val" not in node.meta else node.meta["val"].shape)
    strides, padding = _argument(node, 3, "stride", [1]), _argument(node, 4, "padding", [0])
    depth, transposed = math.prod(kernel[1:]), _argument(node, 6, "transposed", False) is True
    spatial = kernel[2:]
    strides = [strides] * len(spatial) if isinstance(strides, int) else list(strides) * (len(spatial) // len(strides))
    if tuple(strides) == spatial and not any(_leaves(padding)) and not transposed and kernel[1] == nodes[x].shape[1]:
        reader._emit("matmul", node, [x, weight], extents=(1, out // kernel[0], kernel[0], depth),
                     **({"bias": inputs[2]} if inputs[2] is not None else {}))
    else:
        macs = nodes[x].elements * math.prod(kernel[1:]) if transposed else out * depth
        reader._emit("other", node, [i for i in inputs if i is not None], macs=macs)


def _complex(op: str) -> Callable[[_Reader, Any, List[Any]], None]:
    return lambda reader, node, inputs: reader._emit("reshape", node, inputs[:1], complex=op)


_SPECIAL: Dict[str, Callable[[_Reader, Any, List[Any]], None]] = {
    "softmax": _softmax, "safe_softmax": _softmax, "mean": _moment("mean"), "var": _moment("variance"),
    "layer_norm": _layer_norm, "native_layer_norm": _layer_norm, "rms_norm": _rms_norm, "gelu": _gelu,
    "mm": _product, "bmm": _product, "matmul": _product, "linear": _linear, "addmm": _added_product,
    "baddbmm": _added_product, "masked_fill": _masked_fill, "rsub": _reversed_difference, "convolution": _convolution, "conv2d": _convolution,
    "conv1d": _convolution, "view_as_complex": _complex("pairs"), "view_as_real": _complex("real"),
    **{name: _scaled_attention for name in (
        "scaled_dot_product_attention", "scaled_dot_product_flash_attention", "scaled_dot_product_efficient_attention",
        "scaled_dot_product_cudnn_attention", "scaled_dot_product_flash_attention_for_cpu")},
}
