"""The ATen operations of a torch module in the common form: by torch.export, or by FX tracing where torch has no export."""

from __future__ import annotations

import inspect
import math
import operator
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .._error import Error
from .nodes import UNKNOWN, Node, Nodes, Value
from .torch_operations import SPECIAL, leaves

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
    fused: Any = getattr(torch.backends, "mha", None)  # of nn.MultiheadAttention, in newer versions
    was_fused = fused is not None and fused.get_fastpath_enabled()
    try:
        if was_fused:
            fused.set_fastpath_enabled(False)
        graph, known = _traced(torch, module, tuple(example_inputs))
        arguments = list(inspect.signature(module.forward).parameters)
        return _Reader(torch, name or type(module).__name__).read(graph, known, arguments)
    finally:
        if was_fused:
            fused.set_fastpath_enabled(True)
        for part, mode in modes:
            part.training = mode


def _traced(torch: Any, module: Any, inputs: Tuple[Any, ...]) -> Tuple[Any, Dict[str, Tuple[str, Any, bool]]]:
    """A graph of ATen operations, and the name, value and kind (True: a parameter) of what its constant nodes are."""
    weights = {f"{path}.{name}" if path else name: weight for path, part in module.named_modules(remove_duplicate=False)
               for name, weight in part.named_parameters(recurse=False)}
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

        # Inputs with gradients keep nn.MultiheadAttention from its fused operation; sums may be changed in place.
        graded = [value.detach().requires_grad_() + 0 if isinstance(value, torch.Tensor) and value.is_floating_point()
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
        self.nodes = Nodes(name)
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
                for argument in leaves(node.args):
                    if argument in self._names:
                        self.nodes.outputs += [n for n in leaves(self._names[argument])]
            elif node.target is operator.getitem:
                self._part(node)
            elif not self._folded(node):
                self._call(node)
        return self.nodes

    def _value(self, name: str, node: Any) -> str:
        meta = node.meta.get("val", node.meta.get("tensor_meta"))
        shape: Tuple[int, ...] = UNKNOWN
        type_ = "fp32"
        if hasattr(meta, "shape"):
            shape, type_ = tuple(int(extent) for extent in meta.shape), _type(meta.dtype)
        self.nodes.values[name] = Value(name, shape, type_)
        return name

    def _constant(self, node: Any, name: str, tensor: Any, is_parameter: bool) -> None:
        if not is_parameter and tensor is not None and tensor.numel() <= _MOST_FOLDED:
            self._constants[node] = tensor.detach()
        data = self._array(self._constants.get(node))
        self.nodes.values[name] = Value(name, tuple(tensor.shape), _type(tensor.dtype), data, True)
        self._names[node] = name

    def _array(self, tensor: Any) -> Any:
        if tensor is None or tensor.dtype.is_complex:
            return None
        wide = tensor.float() if tensor.is_floating_point() and tensor.dtype != self._torch.float64 else tensor
        return wide.cpu().numpy()

    def _folded(self, node: Any) -> bool:
        """Computes a node that depends on constants only, none of them a parameter."""
        arguments = list(node.all_input_nodes)
        if not hasattr(node.target, "_schema") or any(argument not in self._constants for argument in arguments):
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
            if self.nodes[named].shape == UNKNOWN:
                self._value(named, node)
        else:
            self._names[node] = self._value(node.name, node)

    def operand(self, argument: Any) -> Any:
        """The name of an argument's value; None if it is no number or tensor."""
        if isinstance(argument, (int, float)) and not isinstance(argument, bool):
            return self.nodes.constant(float(argument))
        named = self._names.get(argument) if isinstance(argument, self._torch.fx.Node) else None
        return named if isinstance(named, str) else None

    def emit(self, op: str, node: Any, inputs: Sequence[Any], **attributes: Any) -> None:
        name = self._names[node] = self._value(node.name, node)
        names = [i for i in inputs if i is not None]
        self.nodes.add(Node(op, names, [name], name, str(node.target).replace(".default", ""), attributes))

    def _view(self, op: str, node: Any, inputs: Sequence[str], **attributes: Any) -> None:
        self.emit(op, node, inputs, **attributes)
        whole = op in ("slice", "expand") and self.nodes[self._names[node]].elements == self.nodes[inputs[0]].elements
        if whole:
            self.nodes.nodes[-1].op = "reshape"

    def _call(self, node: Any) -> None:
        op = str(getattr(node.target, "__name__", node.target)).split("::")[-1].split(".")[0].strip("_")
        special = SPECIAL.get(op)
        inputs = [self.operand(argument) for argument in leaves(node.args)] if special or op in _SAME else []
        tensors = [name for name in map(self.operand, node.all_input_nodes) if name is not None]
        if special is not None:
            special(self, node, inputs)
        elif op in ("split", "split_with_sizes", "chunk", "unbind", "tensor_split"):
            self._names[node] = _Split(tensors[0])
        elif op in _VIEW_OF and tensors:
            view = _VIEW_OF[op]
            self._view(view, node, tensors if view == "concat" else tensors[:1])
        elif op in _GATHERS and tensors and self._gathers(node):
            self._view("slice" if self._result(node) <= self.nodes[tensors[0]].elements else "expand", node, tensors[:1])
        elif op in _SAME and node.kwargs.get("alpha", 1) == 1:
            self.emit(op, node, inputs)
        else:
            self.emit("other", node, tensors)

    def _result(self, node: Any) -> int:
        return math.prod(self.nodes[self._value(node.name, node)].shape)

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
