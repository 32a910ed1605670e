#!/usr/bin/env python3
"""Graphs of ONNX models and torch modules: the file's form, and operations that were derived by hand. ATTNVP_PROGRAM names
the program. Cases that need onnx or torch are skipped without them."""

import os
import re
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

import attnvp
from attnvp.graphs import Graph, Operation, Tensor, Unsupported, View

from graphs.onnx_cases import HAS_ONNX, Onnx
from graphs.torch_cases import BERT, HAS_TORCH, LLAMA, VIT, Torch

PAGE = Path(__file__).parent.parent / "docs/how-to/import-a-graph.md"


class Form(unittest.TestCase):
    GRAPH = Graph("a-b", {"x": Tensor((2, 8)), "w": Tensor((4, 8), "int8"), "no": Tensor((2, 4)), "s": Tensor((4, 2))},
                  [Operation("p", "gemm:2x4x8", ("x", "w"), ("no",), 3, "with bias")], [View("no", ("s",))],
                  [Unsupported("q", "Conv", 12, 64, 0.25)])
    TEXT = """GRAPH:
  version: 1
  name: "a-b"
  tensors:
    x: {shape: [2, 8]}
    w: {shape: [4, 8], type: int8}
    "no": {shape: [2, 4]}
    s: {shape: [4, 2]}
  operations:
    - {name: p, net: "gemm:2x4x8", inputs: [x, w], outputs: ["no"], count: 3}  # with bias
  views:
    - {input: "no", outputs: [s]}
  unsupported:
    - {name: q, op: Conv, elements: 12, share_of_macs: 0.25}
"""

    def test_text_is_the_documented_one(self):
        self.assertEqual(self.GRAPH.text(), self.TEXT)
        with tempfile.TemporaryDirectory() as folder:
            self.GRAPH.save(Path(folder, "g.yaml"))
            self.assertEqual(Path(folder, "g.yaml").read_bytes(), self.TEXT.encode())
        self.assertEqual(Graph("e").text(), "GRAPH:\n  version: 1\n  name: e\n  tensors: {}\n  operations: []\n  views: []\n"
                                            "  unsupported: []\n")

    def test_counts(self):
        self.assertEqual((self.GRAPH.macs, self.GRAPH.share_supported), (192, 0.75))
        self.assertEqual(Graph("e").share_supported, 1)
        for net, macs in (("gemm:2x3x5,type=int8", 30), ("add:8x8", 0), ("B=2,H=3,NQ=4,NKV=5,E=6,EV=7,causal=1", 1560)):
            self.assertEqual(Operation("o", net, (), ()).macs, macs)

    def test_missing_packages_are_sentences(self):
        for name, call in ("onnx", lambda: attnvp.from_onnx("a.onnx")), ("torch", lambda: attnvp.from_torch(None, ())):
            with mock.patch.dict(sys.modules, {name: None}):
                with self.assertRaisesRegex(attnvp.Error, f"package {name} is not installed; from_{name} needs it") as caught:
                    call()
                self.assertEqual(caught.exception.status, 2)


class Program(unittest.TestCase):
    def test_takes_the_texts(self):
        more = ["H=1,NQ=1,NKV=5,E=2,causal=1,window=4,scale=0.25,softcap=50,type=bf16", "B=2,H=4,HKV=1,N=16,E=8,EV=12",
                "gemm:4x8x16,type=int8", "gemm:4x8x16,type=fp8_e4m3", *(f"{word}:8x16" for word in (
                    "softmax", "relu", "silu", "gelu", "gelu_tanh", "reglu", "swiglu", "geglu", "geglu_tanh"))]
        for net in dict.fromkeys([*BERT, *LLAMA, *VIT, *more]):
            with self.subTest(net):
                self.assertGreater(attnvp.run(net=net, data="timing").cycles, 0)


@unittest.skipUnless(HAS_ONNX and HAS_TORCH, "no onnx or no torch")
class Page(unittest.TestCase):
    def test_blocks_give_what_the_page_shows(self):
        names, before, count = {}, os.getcwd(), 0
        warnings.simplefilter("ignore")  # of torch's exporter
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S):
                    exec(block, names)
                    for line, shown in re.findall(r"^(\S.*?) +# (.*)$", block, re.M):
                        self.assertEqual(str(eval(line, names)), shown, line)
                        count += 1
            finally:
                os.chdir(before)
        self.assertGreater(count, 5)


if __name__ == "__main__":
    sys.exit(unittest.main())
