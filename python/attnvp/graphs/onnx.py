"""The nodes of an ONNX model in the common form. Shapes come from ONNX's own inference, node by node."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from .._error import Error
from . import onnx_operations
from .nodes import UNKNOWN, Node, Nodes, Value
from .onnx_constants import fold

_MOST_FOLDED = 1 << 24  # elements of a constant that is computed
_MOST_SHOWN = 4096      # elements of a constant that shape inference sees


def read(model: Any, name: Optional[str], dimensions: Mapping[str, int], constants: Mapping[str, Any]) -> Nodes:
    try:
        import onnx
        import onnx.defs
        import onnx.helper
        import onnx.numpy_helper
        import onnx.shape_inference
    except ImportError:
        raise Error("package onnx is not installed; from_onnx needs it, as Debian's python3-onnx", 2) from None
    folder = "."
    if isinstance(model, (str, os.PathLike)):
        path = Path(model)
        try:
            loaded = onnx.load(os.fspath(path), load_external_data=False)
        except OSError as problem:
            raise Error(f"{path}: {problem.strerror or 'cannot be read'}; allowed is the path of an ONNX model", 2) from None
        except Exception:  # of the protocol buffers' own classes
            raise Error(f"{path}: is no ONNX model; allowed is the path of an ONNX model", 2) from None
        name, folder, model = name or path.stem, str(path.parent), loaded
    if not isinstance(model, onnx.ModelProto):
        raise Error(f"model: found {type(model).__name__}; allowed is a path or an onnx.ModelProto", 2)
    return _Reader(onnx, model, name or model.graph.name or "model", folder).read(dimensions, constants)


class _Reader:
    def __init__(self, onnx: Any, model: Any, name: str, folder: str) -> None:
        self.onnx, self.model, self.folder = onnx, model, folder
        self.nodes = Nodes(name)
        opset = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=1)
        self._is_inferred = opset <= onnx.defs.onnx_opset_version()  # by this version of the package

    def read(self, dimensions: Mapping[str, int], constants: Mapping[str, Any]) -> Nodes:
        graph = self.model.graph
        for tensor in graph.initializer:
            self._constant(tensor.name, tensor)
        for entry in graph.input:
            if entry.name not in self.nodes.values:
                self._input(entry, dimensions, constants)
        unknown = set(constants) - {entry.name for entry in graph.input}
        if unknown:
            raise Error(f"constants: {sorted(unknown)[0]} is no input of the model; there are: "
                        f"{', '.join(entry.name for entry in graph.input)}"[:160], 2)
        self._declared = {entry.name: entry for entry in (*graph.value_info, *graph.output)}
        self._dimensions = dimensions
        for node in self._sorted(graph.node):
            self._node(node, node.name or next(filter(None, node.output), node.op_type))
        self.nodes.outputs = [entry.name for entry in graph.output]
        return self.nodes

    def _sorted(self, nodes: Sequence[Any]) -> Iterator[Any]:
        """Nodes behind those that they depend on; some exporters write them in another order."""
        waiting = list(nodes)
        while waiting:
            late = []
            for node in waiting:
                if all(name in self.nodes.values for name in node.input if name):
                    yield node
                else:
                    late.append(node)
            if len(late) == len(waiting):
                name = next(name for name in late[0].input if name and name not in self.nodes.values)
                raise Error(f"model: operation {late[0].name or late[0].op_type} has input {name}, which nothing makes", 2)
            waiting = late

    def _constant(self, name: str, tensor: Any) -> None:
        shape = tuple(tensor.dims)
        value = Value(name, shape, self._type(tensor.data_type), None, True)
        self.nodes.values[name] = value
        if value.elements <= _MOST_FOLDED:
            try:
                value.data = self.onnx.numpy_helper.to_array(tensor, self.folder)
            except Exception:  # external data that are not there: a weight without values
                value.data = None

    def _type(self, number: int) -> str:
        try:
            word = self.onnx.TensorProto.DataType.Name(number).lower()
        except ValueError:  # newer than this package
            return f"type{number}"
        return {"float": "fp32", "float16": "fp16", "double": "fp64", "bfloat16": "bf16", "float8e4m3fn": "fp8_e4m3",
                "float8e5m2": "fp8_e5m2"}.get(word, word)

    def _input(self, entry: Any, dimensions: Mapping[str, int], constants: Mapping[str, Any]) -> None:
        type_ = self._type(entry.type.tensor_type.elem_type)
        if entry.name in constants:
            import numpy

            data = numpy.asarray(constants[entry.name])
            self.nodes.values[entry.name] = Value(entry.name, data.shape, type_, data, True)
            return
        shape = self._extents(entry, dimensions)
        for extent in shape:
            if not isinstance(extent, int):
                raise Error(f"input {entry.name}: its dimension {extent or 'without a name'} has no extent; "
                            f"dimensions={{'{extent or entry.name + '.0'}': N}} sets it", 2)
        self.nodes.values[entry.name] = Value(entry.name, tuple(shape), type_)

    def _extents(self, entry: Any, dimensions: Mapping[str, int]) -> List[Any]:
        """Extents of a declared tensor; names, or "", of those that are not known. INPUT.0 is that of a dimension without a
        name."""
        found: List[Any] = []
        for i, dim in enumerate(entry.type.tensor_type.shape.dim):
            given = dimensions.get(dim.dim_param, dimensions.get(f"{entry.name}.{i}"))
            is_set = dim.HasField("dim_value") and dim.dim_value >= 0
            found.append(dim.dim_value if is_set else given if given is not None else dim.dim_param)
        return found

    def _node(self, node: Any, name: str) -> None:
        if not any(node.output):
            return
        attributes = {a.name: self.onnx.helper.get_attribute_value(a) for a in node.attribute}
        known = {i: self.nodes[i].data for i in node.input if i}
        data: Optional[List[Any]] = None
        if all(array is not None for array in known.values()):
            data = fold(node.op_type, [known.get(i) for i in node.input], attributes, self.onnx, len(node.output))
        elif node.op_type == "Shape" and self.nodes[node.input[0]].shape != UNKNOWN:
            data = fold("Shape", [self.nodes[node.input[0]]], attributes, self.onnx, 1)
        if data is not None and all(array.size <= _MOST_FOLDED for array in data):
            for output, array in zip(node.output, data):
                type_ = self.onnx.numpy_helper.from_array(array[:0] if array.ndim else array).data_type
                self.nodes.values[output] = Value(output, array.shape, self._type(type_), array, True)
            return
        self._infer(node)
        onnx_operations.emit(self, node, name, attributes)

    def _infer(self, node: Any) -> None:
        """Shapes and types of a node's results."""
        helper = self.onnx.helper
        inferred: Dict[str, Any] = {}
        fits = typed = True
        if node.domain in ("", "ai.onnx"):
            inputs, initializers = [], []
            for name in dict.fromkeys(i for i in node.input if i):
                value = self.nodes[name]
                number = self._number(value.type)
                typed = typed and bool(number)
                if value.data is not None and value.elements <= _MOST_SHOWN:
                    initializers.append(self.onnx.numpy_helper.from_array(value.data, name))
                inputs.append(helper.make_tensor_value_info(name, number or 0, None if value.shape == UNKNOWN else value.shape))
            outputs = [helper.make_empty_tensor_value_info(name) if hasattr(helper, "make_empty_tensor_value_info")
                       else self.onnx.ValueInfoProto(name=name) for name in node.output if name]
            graph = helper.make_graph([node], "node", inputs, outputs, initializers)
            one = helper.make_model(graph, opset_imports=list(self.model.opset_import))
            is_known = typed and self._is_inferred and self.onnx.defs.has(node.op_type) and all(
                self.nodes[i].shape != UNKNOWN for i in node.input if i)
            try:
                found = self.onnx.shape_inference.infer_shapes(one, strict_mode=is_known).graph
                inferred = {entry.name: entry for entry in (*found.value_info, *found.output)}
            except Exception:  # of the inference's own classes: the operands do not fit
                fits = False
        for output in (o for o in node.output if o):
            self.nodes.values[output] = self._result(output, inferred.get(output), node)
            if not fits and self.nodes[output].shape == UNKNOWN:
                shapes = ", ".join(str(list(self.nodes[i].shape)) for i in node.input if i)
                raise Error(f"operation {node.name or output} ({node.op_type}): operands of {shapes[:60]} do not fit; "
                            "the model allows other dimensions", 2)

    def _result(self, name: str, entry: Any, node: Any) -> Value:
        for found in (entry, self._declared.get(name)):
            if found is not None and found.type.tensor_type.HasField("shape"):
                extents = self._extents(found, self._dimensions)
                if all(isinstance(extent, int) for extent in extents):
                    return Value(name, tuple(extents), self._type(found.type.tensor_type.elem_type))
        like = next((self.nodes[i] for i in node.input if i), None)
        if like is not None and node.op_type in onnx_operations.SHAPE_OF_FIRST and name == node.output[0]:
            return Value(name, like.shape, like.type)
        return Value(name, UNKNOWN, like.type if like is not None else "fp32")

    def _number(self, type_: str) -> Optional[int]:
        word = {"fp32": "FLOAT", "fp16": "FLOAT16", "fp64": "DOUBLE", "bf16": "BFLOAT16", "fp8_e4m3": "FLOAT8E4M3FN",
                "fp8_e5m2": "FLOAT8E5M2"}.get(type_, type_.upper())
        return self.onnx.TensorProto.DataType.Value(word) if word in self.onnx.TensorProto.DataType.keys() else None

    def emit(self, op: str, node: Any, name: str, inputs: Sequence[str], output: str, **attributes: Any) -> None:
        self.nodes.add(Node(op, list(inputs), [output], name, node.op_type, attributes))
