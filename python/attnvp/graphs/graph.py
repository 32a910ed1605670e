"""A graph of operations that `--net graph.yaml` runs: docs/reference/file-formats.md describes the file."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Tuple, Union

VERSION = 1

# Words that YAML does not read as text.
_NO_TEXT = re.compile(r"(?i)y|n|yes|no|on|off|true|false|null")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


@dataclass(frozen=True)
class Tensor:
    shape: Tuple[int, ...]  # row-major
    type: str = "fp16"      # as in texts of --net


@dataclass(frozen=True)
class Operation:
    """One operation as a text of --net; with `count` it runs so many times, one after the other."""

    name: str
    net: str
    inputs: Tuple[str, ...]
    outputs: Tuple[str, ...]
    count: int = 1
    note: str = ""  # a comment of the file, such as "with bias"

    @property
    def macs(self) -> int:
        """Multiply-accumulates without regard to a mask."""
        return self.count * macs_of(self.net)


@dataclass(frozen=True)
class View:
    """Tensors that are reshapes, transposes, slices or concatenations of another one."""

    input: str
    outputs: Tuple[str, ...]


@dataclass(frozen=True)
class Unsupported:
    """An operation that no text of --net expresses."""

    name: str
    op: str               # its name in the model's own format
    elements: int         # of its results
    macs: int             # multiply-accumulates
    share_of_macs: float  # of those of the whole model


def macs_of(net: str) -> int:
    """Multiply-accumulates of a matrix product or an attention; 0 for operations on rows."""
    if net.startswith("gemm:"):
        return math.prod(int(extent) for extent in net[len("gemm:"):].split(",")[0].split("x"))
    if ":" in net:
        return 0
    words = dict(word.split("=") for word in net.split(","))
    n = words.get("N", "0")
    queries, keys, width = int(words.get("NQ", n)), int(words.get("NKV", n)), int(words["E"])
    return int(words.get("B", 1)) * int(words["H"]) * queries * keys * (width + int(words.get("EV", width)))


@dataclass
class Graph:
    name: str
    tensors: Dict[str, Tensor] = field(default_factory=dict)
    operations: List[Operation] = field(default_factory=list)
    views: List[View] = field(default_factory=list)
    unsupported: List[Unsupported] = field(default_factory=list)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the operations that can be expressed."""
        return sum(operation.macs for operation in self.operations)

    @property
    def share_supported(self) -> float:
        """Share of the model's multiply-accumulates that `operations` have; 1 if it has none."""
        total = self.macs + sum(entry.macs for entry in self.unsupported)
        return self.macs / total if total else 1.0

    def text(self) -> str:
        """The file's text. Equal graphs have equal texts."""
        lines = ["GRAPH:", f"  version: {VERSION}", f"  name: {_word(self.name)}", _head("tensors", self.tensors, "{}")]
        for name, tensor in self.tensors.items():
            shape = f"shape: [{', '.join(map(str, tensor.shape))}]"
            kind = "" if tensor.type == "fp16" else f", type: {tensor.type}"
            lines.append(f"    {_word(name)}: {{{shape}{kind}}}")
        lines.append(_head("operations", self.operations))
        for o in self.operations:
            count = "" if o.count == 1 else f", count: {o.count}"
            note = f"  # {o.note}" if o.note else ""
            lines.append(f"    - {{name: {_word(o.name)}, net: {_quoted(o.net)}, inputs: {_words(o.inputs)}, "
                         f"outputs: {_words(o.outputs)}{count}}}{note}")
        lines.append(_head("views", self.views))
        lines += [f"    - {{input: {_word(v.input)}, outputs: {_words(v.outputs)}}}" for v in self.views]
        lines.append(_head("unsupported", self.unsupported))
        lines += [f"    - {{name: {_word(u.name)}, op: {_word(u.op)}, elements: {u.elements}, "
                  f"share_of_macs: {_share(u.share_of_macs)}}}" for u in self.unsupported]
        return "\n".join(lines) + "\n"

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(self.text())

    def __repr__(self) -> str:
        return (f"<Graph {self.name}: {len(self.operations)} operations, {len(self.unsupported)} unsupported, "
                f"{self.share_supported:.1%} of {self.macs + sum(u.macs for u in self.unsupported):,} MACs supported>")


def _head(key: str, entries: Any, empty: str = "[]") -> str:
    return f"  {key}:" if entries else f"  {key}: {empty}"


def _quoted(text: str) -> str:
    escaped = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{escaped}"'


def _word(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and not _NO_TEXT.fullmatch(text) else _quoted(text)


def _words(texts: Tuple[str, ...]) -> str:
    return f"[{', '.join(map(_word, texts))}]"


def _share(share: float) -> str:
    return f"{share:.6f}".rstrip("0") + ("0" if share == round(share) else "")
