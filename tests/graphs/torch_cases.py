"""Graphs of torch modules, and of what torch exports for them as ONNX: operations that were derived by hand."""

import importlib.util
import io
import math
import operator
import types
import unittest
import warnings
from unittest import mock

import attnvp

from graphs.checked import Checked, nets

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_ONNX = importlib.util.find_spec("onnx") is not None
if HAS_TORCH:
    import torch
    from torch.nn import functional

    from graphs.models import BertLayer, LlamaBlock, Of, VitBlock, rotate_half
if HAS_ONNX:
    import onnx

# Two samples of eight tokens.
BERT = [*3 * ["gemm:16x32x32"], "B=2,H=4,N=8,E=8,scale=1/sqrt(E)", "gemm:16x32x32", "add:16x32", "layernorm:16x32",
        "gemm:16x64x32", "gelu:16x64", "gemm:16x32x64", "add:16x32", "layernorm:16x32"]
# One of sixteen tokens.
LLAMA = ["rmsnorm:16x32", "gemm:16x32x32", "gemm:16x16x32", "gemm:16x16x32", "rope:16x16x8", "rope:16x32x8",
         "H=4,HKV=2,N=16,E=8,causal=1,scale=1/sqrt(E)", "gemm:16x32x32", "add:16x32", "rmsnorm:16x32", "gemm:16x80x32",
         "gemm:16x80x32", "swiglu:16x80", "gemm:16x32x80", "add:16x32"]
# One of 16 x 16 pixels: 16 patches of 4 x 4 x 3 and a class token.
VIT = ["gemm:16x24x48", "add:17x24", "layernorm:17x24", "gemm:17x72x24", "H=3,N=17,E=8,scale=1/sqrt(E)", "gemm:17x24x24",
       "add:17x24", "layernorm:17x24", "gemm:17x96x24", "gelu_tanh:17x96", "gemm:17x24x96", "add:17x24"]


@unittest.skipUnless(HAS_TORCH, "no torch")
class Torch(Checked):
    def setUp(self):
        torch.manual_seed(1)
        warnings.simplefilter("ignore")

    def both(self, module, inputs, expected, unsupported=()):
        """The graph of the module, and that of what torch exports for it."""
        graph = attnvp.from_torch(module, inputs)
        self.check(graph, expected, unsupported)
        if HAS_ONNX:
            with io.BytesIO() as file:
                torch.onnx.export(module.eval(), inputs, file, opset_version=14)
                exported = attnvp.from_onnx(onnx.load_from_string(file.getvalue()))
            self.check(exported, expected, ["Mask"] if "Mask" in unsupported else [entry.op for entry in exported.unsupported])
            self.assertEqual(len(exported.unsupported), len(graph.unsupported))
            self.assertEqual(exported.macs, graph.macs)
        return graph

    def test_bert_layer(self):
        graph = self.both(BertLayer(), (torch.randn(2, 8, 32),), BERT)
        self.assertEqual(graph.macs, 4 * 16 * 32 * 32 + 2 * 16 * 32 * 64 + 2 * 4 * 8 * 8 * 16)
        self.assertEqual([o.name for o in graph.operations][:5], ["query", "key", "value", "attention", "dense"])
        self.assertEqual((graph.operations[0].note, graph.operations[5].inputs[1]), ("with bias", "hidden"))
        masked = self.both(BertLayer(), (torch.randn(2, 8, 32), torch.ones(2, 8)), BERT, ["Mask"])
        self.assertEqual((masked.unsupported[-1].elements, masked.share_supported), (2 * 4 * 8 * 8, 1))

    def test_llama_block(self):
        graph = self.both(LlamaBlock(), (torch.randn(1, 16, 32),), LLAMA)
        self.assertEqual(graph.macs, 16 * (2 * 32 * 32 + 2 * 16 * 32 + 3 * 80 * 32) + 4 * 16 * 16 * 16)
        attention = graph.operations[6]
        self.assertEqual([self.elements(graph, [name]) for name in attention.inputs], [4 * 16 * 8, 2 * 16 * 8, 2 * 16 * 8])

    def test_vit_block(self):
        self.both(VitBlock(), (torch.randn(1, 3, 16, 16),), VIT)

    def test_torchs_own_layers(self):
        layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, activation="gelu")
        expected = ["gemm:16x96x32", "H=8,N=8,E=8,scale=1/sqrt(E)", "gemm:16x32x32", "add:16x32", "layernorm:16x32",
                    "gemm:16x64x32", "gelu:16x64", "gemm:16x32x64", "add:16x32", "layernorm:16x32"]
        self.both(layer, (torch.randn(2, 8, 32),), expected)  # its batches are heads
        self.assertTrue(layer.train().training)
        attnvp.from_torch(layer, (torch.randn(2, 8, 32),))
        self.assertTrue(layer.training and layer.dropout.training)

    def test_forms_of_attention(self):
        q, kv, causal = torch.randn(2, 4, 16, 8), torch.randn(2, 2, 16, 8), torch.ones(16, 16).tril()
        behind = torch.arange(16)[:, None] - torch.arange(16)
        band = torch.where((behind >= 0) & (behind < 4), 0.0, -3e38)
        plain = "B=2,H=4,N=16,E=8,scale=1/sqrt(E)"
        for function, expected, inputs in [
                (lambda s, q, k, v: (q * 8**-0.25 @ (k * 8**-0.25).transpose(2, 3)).softmax(-1) @ v, plain, (q, q, q)),
                (lambda s, q, k, v: torch.einsum("bhij,bhjd->bhid", (torch.einsum("bhid,bhjd->bhij", q, k) / 8**0.5).softmax(-1), v),
                 plain, (q, q, q)),
                (lambda s, q, k, v: (q @ k.transpose(2, 3) / 8**0.5).masked_fill(s.m == 0, -torch.inf).softmax(-1) @ v,
                 "B=2,H=4,N=16,E=8,causal=1,scale=1/sqrt(E)", (q, q, q)),
                (lambda s, q, k, v: (q @ k.transpose(2, 3) + s.n).softmax(-1) @ v,
                 "B=2,H=4,N=16,E=8,causal=1,window=4", (q, q, q)),
                (lambda s, q, k, v: (torch.tanh(q @ k.transpose(2, 3) * 0.25 / 50) * 50).softmax(-1) @ v,
                 "B=2,H=4,N=16,E=8,scale=0.25,softcap=50", (q, q, q)),
                (lambda s, q, k, v: (q @ k.repeat_interleave(2, 1).transpose(2, 3) / 8**0.5).softmax(-1) @ v.repeat_interleave(2, 1),
                 "B=2,H=4,HKV=2,N=16,E=8,scale=1/sqrt(E)", (q, kv, kv)),
                (lambda s, q, k, v: (q.view(2, 2, 2, 16, 8) @ k[:, :, None].transpose(3, 4) / 8**0.5).softmax(-1) @ v[:, :, None],
                 "B=2,H=4,HKV=2,N=16,E=8,scale=1/sqrt(E)", (q, kv, kv)),
                (lambda s, q, k, v: (q @ k.transpose(2, 3) / 8**0.5).softmax(-1) @ v, "H=8,HKV=4,N=16,E=8,scale=1/sqrt(E)",
                 (q, q[:1], q[:1])),
                (lambda s, q, k, v: (q @ k.expand(2, 4, 16, 8).transpose(2, 3)).softmax(-1) @ v.expand(2, 4, 16, 8),
                 "B=2,H=4,N=16,E=8", (q, q[:, :, :1], q[:, :, :1])),
                (lambda s, q, k, v: (q[:, :, :4] @ k.transpose(2, 3)).softmax(-1) @ torch.cat((v, v), -1),
                 "B=2,H=4,NQ=4,NKV=16,E=8,EV=16", (q, q, q))]:
            with self.subTest(expected):
                self.both(Of(function, b_m=causal, b_n=band), inputs, [expected])

    def test_forms_of_activations_and_norms(self):
        x, weight = torch.randn(2, 8, 16), torch.randn(16)
        square = torch.randn(16, 64)
        tanh = lambda y: 0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * torch.pow(y, 3))))
        for expected, function in [
                ("gelu_tanh:16x16", lambda s, x: tanh(x)), ("gelu:16x16", lambda s, x: x * 0.5 * (1 + torch.erf(x / 2**0.5))),
                ("silu:16x16", lambda s, x: x * torch.sigmoid(x)), ("silu:16x16", lambda s, x: x / (1 + torch.exp(-x))),
                ("gemm:16x64x16 geglu:16x32", lambda s, x: (lambda a, b: functional.gelu(a) * b)(*(x @ s.u).chunk(2, -1))),
                ("gemm:16x64x16 reglu:16x32", lambda s, x: (lambda a, b: a.relu() * b)(*(x @ s.u).split(32, -1))),
                ("rmsnorm:16x16", lambda s, x: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * (1 + s.w)),
                ("rmsnorm:16x16", lambda s, x: s.w * (x / torch.sqrt(x.pow(2).mean(-1, keepdim=True)))),
                ("layernorm:16x16", lambda s, x: s.w * ((x - x.mean(-1, keepdim=True)) / torch.sqrt(
                    x.var(-1, keepdim=True, unbiased=False) + 1e-5)) + s.w)]:
            with self.subTest(expected):
                self.both(Of(function, w=weight, u=square), (x,), expected.split())

    def test_forms_of_rotary_embedding(self):
        q, wide, half = torch.randn(2, 4, 16, 8), torch.randn(16, 8), torch.randn(16, 4)

        def pairs(s, q):
            a, b = q[..., ::2], q[..., 1::2]
            return q * s.w + torch.stack((-b, a), -1).flatten(-2) * s.w

        def stacked(s, q):
            a, b = q[..., ::2], q[..., 1::2]
            return torch.stack((a * s.h - b * s.i, a * s.i + b * s.h), -1).flatten(-2)

        def halves(s, q):
            a, b = q.chunk(2, -1)
            return torch.cat((a * s.h - b * s.i, b * s.h + a * s.i), -1)

        def part(s, q):
            turned = q[..., :4]
            return torch.cat((turned * s.h + rotate_half(turned) * s.i, q[..., 4:]), -1)

        for function, expected in ((pairs, "rope:32x32x8"), (stacked, "rope:32x32x8"), (halves, "rope:32x32x8"),
                                   (part, "rope:32x16x4")):
            with self.subTest(function.__name__):
                self.both(Of(function, b_w=wide, b_h=half, b_i=half + 1), (q,), [expected])

        def complex_(s, q):
            turned = torch.view_as_complex(q.float().reshape(*q.shape[:-1], -1, 2)) * s.t[:, None]
            return torch.view_as_real(turned).flatten(3).type_as(q)

        def unturned(s, q):
            return q * s.w + torch.cat((q[..., 4:], q[..., :4]), -1) * s.w

        def foreign(s, q):
            a, b = q[:2, :, :, :4], q.flip(0)[:, :, :, :4]
            return torch.cat((a * s.h - b * s.i, b * s.h + a * s.i), -1)

        for function in (unturned, foreign):
            with self.subTest(function.__name__):
                graph = attnvp.from_torch(Of(function, b_w=wide, b_h=half, b_i=half + 1), (q,))
                self.assertNotIn("rope", {net.split(":")[0] for net in nets(graph)})
                self.assertIn("aten.mul.Tensor", {entry.op for entry in graph.unsupported})

        by_tokens = Of(complex_, b_t=torch.polar(torch.ones(16, 4), half))
        self.check(attnvp.from_torch(by_tokens, (torch.randn(2, 16, 4, 8),)), ["rope:32x32x8"])

    def test_types_and_what_is_left(self):
        graph = self.both(Of(lambda s, x: x @ s.w, w=torch.randn(16, 8).bfloat16()), (torch.randn(4, 16).bfloat16(),),
                          ["gemm:4x8x16,type=bf16"])
        self.assertEqual(graph.tensors["w"].type, "bf16")
        graph = self.both(Of(lambda s, x: functional.conv1d(x, s.w, padding=1) * 2, w=torch.randn(8, 16, 3)),
                          (torch.randn(2, 16, 32),), [], ["aten.convolution", "aten.mul.Tensor"])
        self.assertEqual([(u.elements, u.macs, u.share_of_macs) for u in graph.unsupported],
                         [(512, 2 * 8 * 32 * 48, 1), (512, 0, 0)])
        self.assertEqual(graph.share_supported, 0)

    def test_equal_modules_give_equal_bytes(self):
        texts = {attnvp.from_torch(LlamaBlock(), (torch.randn(1, 16, 32),)).text() for _ in range(2)}
        self.assertEqual(len(texts), 1)

    def test_operations_that_torch_export_writes(self):
        """This torch may have no export: the test builds the graph of one, with its operations."""
        graph = torch.fx.Graph()
        value = lambda node, *shape: node.meta.update(val=torch.empty(shape)) or node
        weight, bias, x = (value(graph.placeholder(name), *shape) for name, shape in (
            ("p_w", (24, 8)), ("p_b", (24,)), ("x", (2, 4, 8))))
        aten = torch.ops.aten
        packed = value(graph.call_function(aten.linear.default, (x, weight, bias)), 2, 4, 24)
        parts = graph.call_function(aten.chunk.default, (packed, 3, -1))
        taken = [value(graph.call_function(operator.getitem, (parts, i)), 2, 4, 8) for i in range(3)]
        heads = [value(graph.call_function(aten.view.default, (part, [2, 4, 2, 4])), 2, 4, 2, 4) for part in taken]
        q, k, v = (value(graph.call_function(aten.transpose.int, (part, 1, 2)), 2, 2, 4, 4) for part in heads)
        attended = graph.call_function(getattr(aten, "scaled_dot_product_attention", aten._scaled_dot_product_attention).default,
                                       (q, k, v), {"is_causal": True})
        first = value(graph.call_function(operator.getitem, (attended, 0)), 2, 2, 4, 4)
        graph.output((first,))
        program = types.SimpleNamespace(
            graph=graph, state_dict={"qkv.weight": torch.empty(24, 8), "qkv.bias": torch.empty(24)},
            graph_signature=types.SimpleNamespace(inputs_to_parameters={"p_w": "qkv.weight", "p_b": "qkv.bias"},
                                                  inputs_to_buffers={}))
        module = torch.nn.Module()
        module.qkv = torch.nn.Linear(8, 24)
        module.forward = lambda x: x
        with mock.patch.object(torch, "export", types.SimpleNamespace(export=lambda *_: program), create=True):
            found = attnvp.from_torch(module, (torch.empty(2, 4, 8),), "exported")
        self.check(found, ["gemm:8x24x8", "B=2,H=2,N=4,E=4,causal=1,scale=1/sqrt(E)"])
        self.assertEqual([(o.name, o.note) for o in found.operations][0], ("qkv", "with bias"))

    def test_errors_are_sentences(self):
        def broken(s, x):
            raise ValueError("no such x")

        for pattern, module, inputs in [("module: found int; allowed is a torch.nn.Module", 3, ()),
                                        ("example_inputs: found Tensor; allowed is a tuple", Of(None), torch.ones(1)),
                                        ("module: Of cannot be traced with these inputs: no such x", Of(broken), (torch.ones(1),))]:
            with self.assertRaisesRegex(attnvp.Error, pattern):
                attnvp.from_torch(module, inputs)
