"""Graphs of operations, imported from models: `from_onnx` and `from_torch` make a Graph, whose file `--net` runs.

graph.py has the file's form. An importer (onnx.py, torch.py) fills the common form of nodes.py; patterns.py and attention.py
recognise operations there, and lowering.py writes them as texts of --net."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Sequence, Union

from .graph import Graph, Operation, Tensor, Unsupported, View
from .lowering import lower

__all__ = ["Graph", "Operation", "Tensor", "Unsupported", "View", "from_onnx", "from_torch"]


def from_onnx(model: Union[str, "os.PathLike[str]", Any], name: Optional[str] = None, *,
              dimensions: Optional[Mapping[str, int]] = None, constants: Optional[Mapping[str, Any]] = None) -> Graph:
    """The graph of an ONNX model: a path or an onnx.ModelProto. Needs the package onnx.

    name: of the graph; default: the file's, or that of the model's graph.
    dimensions: extents of the inputs' symbolic dimensions: {"batch": 1, "sequence": 128}.
    constants: values of inputs that are always the same, such as an attention mask of ones."""
    from . import onnx as importer

    return lower(importer.read(model, name, dimensions or {}, constants or {}))


def from_torch(module: Any, example_inputs: Sequence[Any], name: Optional[str] = None) -> Graph:
    """The graph of a torch.nn.Module for inputs such as `example_inputs`, a tuple. Needs the package torch; runs on the CPU.

    name: of the graph; default: that of the module's class."""
    from . import torch as importer

    return lower(importer.read(module, example_inputs, name))
