"""Graphs of ONNX models that are written here as exporters write them: operations that were derived by hand."""

import importlib.util
import tempfile
import unittest
from pathlib import Path

import attnvp

from graphs.checked import Checked

HAS_ONNX = importlib.util.find_spec("onnx") is not None
if HAS_ONNX:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper


class Model:
    """An ONNX model that is written node by node; arrays are initializers."""

    def __init__(self, opset=13, **inputs):
        self.opset, self.nodes, self.constants = opset, [], []
        self.inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]

    def array(self, data, name=None):
        self.constants.append(numpy_helper.from_array(numpy.asarray(data), name or f"c{len(self.constants)}"))
        return self.constants[-1].name

    def numbers(self, *shape, name=None):
        return self.array(numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32), name)

    def __call__(self, op, *inputs, results=1, domain="", name=None, **attributes):
        names = [i if isinstance(i, str) else self.array(numpy.asarray(i, numpy.float32)) for i in inputs]
        outputs = [f"v{len(self.nodes)}{'' if results == 1 else f'.{i}'}" for i in range(results)]
        self.nodes.append(helper.make_node(op, names, outputs, name or f"{op}_{len(self.nodes)}", domain=domain, **attributes))
        return outputs[0] if results == 1 else outputs

    def proto(self, *outputs):
        results = [onnx.ValueInfoProto(name=name) for name in outputs]
        graph = helper.make_graph(self.nodes, "written", self.inputs, results, self.constants)
        sets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=sets)

    def graph(self, *outputs, **options):
        return attnvp.from_onnx(self.proto(*outputs), **options)

    def layer_norm(self, x, columns):
        """As PyTorch exports it before opset 17."""
        centred = self("Sub", x, self("ReduceMean", x, axes=[-1]))
        variance = self("ReduceMean", self("Pow", centred, 2.0), axes=[-1])
        normal = self("Div", centred, self("Sqrt", self("Add", variance, 1e-5)))
        return self("Add", self("Mul", normal, self.numbers(columns)), self.numbers(columns))

    def moments_norm(self, x, columns):
        """As Keras and TensorFlow export it: x * s + (beta - mean * s)."""
        mean = self("ReduceMean", x, axes=[-1])
        centred = self("Sub", x, mean)
        variance = self("ReduceMean", self("Mul", centred, centred), axes=[-1])
        inverse = self("Reciprocal", self("Sqrt", self("Add", variance, 1e-12)))
        scale = self("Mul", inverse, self.numbers(columns))
        return self("Add", self("Mul", x, scale), self("Sub", self.numbers(columns), self("Mul", mean, scale)))


@unittest.skipUnless(HAS_ONNX, "no onnx")
class Onnx(Checked):
    def test_norms_and_gelu_in_parts(self):
        m = Model(x=[2, 8, 16])
        y = m("Add", m("MatMul", m.layer_norm("x", 16), m.numbers(16, 64, name="fc.weight")), m.numbers(64))
        half = m("Mul", y, m("Add", m("Erf", m("Div", y, 1.4142135)), 1.0))
        out = m.moments_norm(m("Add", m("MatMul", m("Mul", half, 0.5), m.numbers(64, 16)), "x"), 16)
        graph = m.graph(out)
        self.check(graph, ["layernorm:16x16", "gemm:16x64x16", "gelu:16x64", "gemm:16x16x64", "add:16x16", "layernorm:16x16"])
        self.assertEqual(graph.macs, 2 * 16 * 64 * 16)
        self.assertEqual([(o.name, o.note) for o in graph.operations][1], ("fc", "with bias"))

    def test_decoder_attention_in_parts(self):
        """As GPT-2 is exported: one product for Q, K and V, a causal mask that is sliced from a table, and Where."""
        m = Model(x=["batch", "tokens", 16])
        packed = m("Add", m("MatMul", "x", m.numbers(16, 48)), m.numbers(48))
        parts = m("Split", packed, m.array([16, 16, 16]), results=3, axis=-1)
        shape = m("Concat", m("Shape", "x", start=0, end=2) if m.opset > 14 else m(
            "Slice", m("Shape", "x"), m.array([0]), m.array([2])), m.array([2, 8]), axis=0)
        q, k, v = (m("Transpose", m("Reshape", part, shape), perm=perm) for part, perm in zip(
            parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
        scores = m("Div", m("MatMul", q, k), m("Sqrt", 8.0))
        tokens = m("Gather", m("Shape", "x"), m.array(1), axis=0)
        end = m("Unsqueeze", tokens, m.array([0]))
        table = m.array(numpy.tril(numpy.ones((32, 32), bool))[None, None])
        mask = m("Slice", m("Slice", table, m.array([0]), end, m.array([2])), m.array([0]), end, m.array([3]))
        weights = m("Softmax", m("Where", mask, scores, -1e4), axis=-1)
        merged = m("Reshape", m("Transpose", m("MatMul", weights, v), perm=[0, 2, 1, 3]), m.array([0, 0, 16]))
        out = m("MatMul", merged, m.numbers(16, 16))
        graph = m.graph(out, dimensions={"batch": 1, "tokens": 12})
        self.check(graph, ["gemm:12x48x16", "H=2,N=12,E=8,causal=1,scale=1/sqrt(E)", "gemm:12x16x16"])
        with self.assertRaisesRegex(attnvp.Error, "input x: its dimension tokens has no extent; dimensions={'tokens': N} sets it"):
            m.graph(out, dimensions={"batch": 1})
        with self.assertRaisesRegex(attnvp.Error, r"operation Where_\d+ \(Where\): operands of .* do not fit"):
            m.graph(out, dimensions={"batch": 1, "tokens": 40})

    def test_mask_that_is_an_input(self):
        m = Model(x=[1, 2, 8, 8], mask=[1, 1, 8, 8])
        out = m("MatMul", m("Softmax", m("Add", m("MatMul", "x", m("Transpose", "x", perm=[0, 1, 3, 2])), "mask"), axis=-1), "x")
        graph = m.graph(out)
        self.check(graph, ["H=2,N=8,E=8"], ["Mask"])
        self.assertEqual((graph.unsupported[0].elements, graph.operations[0].note), (128, "a mask is left out"))
        causal = numpy.where(numpy.tril(numpy.ones((8, 8))) > 0, 0, -numpy.inf).astype(numpy.float32)[None, None]
        self.check(m.graph(out, constants={"mask": causal}), ["H=2,N=8,E=8,causal=1"])
        with self.assertRaisesRegex(attnvp.Error, "constants: maks is no input of the model; there are: x, mask"):
            m.graph(out, constants={"maks": causal})

    def test_mask_of_keys_is_no_bias(self):
        m = Model(x=[1, 2, 8, 8])
        scores = m("MatMul", "x", m("Transpose", "x", perm=[0, 1, 3, 2]))
        for hidden, unsupported in ((0, []), (3, ["Mask"])):
            row = m.array(numpy.where(numpy.arange(8) < hidden, -1e9, 0).astype(numpy.float32))
            out = m("MatMul", m("Softmax", m("Add", scores, row), axis=-1), "x")
            self.check(m.graph(out), ["H=2,N=8,E=8"], unsupported)

    def test_rms_norm_rotary_and_gate_in_parts(self):
        m = Model(x=[1, 16, 32])
        root = m("Sqrt", m("Add", m("ReduceMean", m("Mul", "x", "x"), axes=[2]), 1e-6))
        y = m("Mul", m("Mul", "x", m("Reciprocal", root)), m.numbers(32))
        heads = m("Transpose", m("Reshape", m("MatMul", y, m.numbers(32, 32)), m.array([1, 16, 4, 8])), perm=[0, 2, 1, 3])
        cut = [m("Slice", heads, m.array([start]), m.array([end]), m.array([-1])) for start, end in ((0, 4), (4, 1 << 31))]
        turned = m("Concat", m("Neg", cut[1]), cut[0], axis=-1)
        rotated = m("Add", m("Mul", heads, m.numbers(1, 1, 16, 8)), m("Mul", turned, m.numbers(1, 1, 16, 8, name="sin")))
        gate = m("MatMul", y, m.numbers(32, 64))
        gated = m("Mul", m("Mul", gate, m("Sigmoid", gate)), m("MatMul", y, m.numbers(32, 64)))
        graph = m.graph(rotated, m("MatMul", gated, m.numbers(64, 32)))
        self.check(graph, ["rmsnorm:16x32", "gemm:16x32x32", "rope:16x32x8", "gemm:16x64x32", "gemm:16x64x32", "swiglu:16x64",
                           "gemm:16x32x64"])

    def test_types(self):
        m = Model(x=[4, 16])
        weights, turned = m.array(numpy.ones((16, 8), numpy.int8), "w"), m.array(numpy.ones((8, 16), numpy.int8), "turned")
        zero = m.array(numpy.int8(0))
        left = m("MatMul", "x", m("Transpose", m("DequantizeLinear", turned, 0.5, zero)))
        quantized = m("QuantizeLinear", "x", 0.5, zero)
        graph = m.graph(left, m("MatMulInteger", quantized, weights))
        self.check(graph, ["gemm:4x8x16", "gemm:4x8x16,type=int8"], ["QuantizeLinear"])
        self.assertEqual([o.inputs[1] for o in graph.operations], ["turned", "w"])
        self.assertEqual([graph.tensors[name].type for name in ("turned", "w")], ["int8", "int8"])
        self.assertEqual((graph.share_supported, graph.unsupported[0].elements), (1, 64))

    def test_products_of_other_kinds(self):
        m = Model(a=[2, 4, 8], b=[2, 8, 6], i=[1, 3, 8, 8])
        patches = m("Conv", "i", m.numbers(10, 3, 4, 4), strides=[4, 4])
        general = m("Gemm", m("Flatten", "i"), m.numbers(5, 192), m.numbers(5), transB=1)
        summed = m("Einsum", "a", "b", equation="bij,bjk->bik")
        around = m("Conv", "i", m.numbers(2, 3, 3, 3), pads=[1, 1, 1, 1])
        over = m("Conv", "i", m.numbers(2, 3, 3, 3))
        graph = m.graph(m("MatMul", "a", "b"), patches, general, summed, around, over)
        self.check(graph, ["gemm:4x10x48", "gemm:1x5x192", "gemm:4x6x8", "gemm:4x6x8"], ["Conv", "Conv"])
        self.assertEqual([o.count for o in graph.operations], [1, 1, 2, 2])
        macs = 4 * 10 * 48 + 5 * 192 + 2 * 2 * 4 * 6 * 8
        total = macs + 2 * (64 + 36) * 27
        self.assertEqual((graph.macs, [u.macs for u in graph.unsupported]), (macs, [2 * 64 * 27, 2 * 36 * 27]))
        self.assertAlmostEqual(graph.share_supported, macs / total)
        self.assertIn(f"share_of_macs: {2 * 64 * 27 / total:.6f}", graph.text())

    def test_operands_that_are_broadcast(self):
        m = Model(a=[4, 8], b=[2, 8, 6], c=[4, 6])
        graph = m.graph(m("Add", m("MatMul", "a", "b"), "c"))
        self.check(graph, ["gemm:4x6x8", "add:8x6"])
        (first, second), (left, right) = (o.inputs for o in graph.operations)
        self.assertEqual([graph.tensors[name].shape for name in (first, second, right)], [(2, 4, 8), (2, 8, 6), (2, 4, 6)])
        self.assertEqual({v.input: v.outputs for v in graph.views}, {"a": (first,), "c": (right,)})

    def test_fused_operations_of_onnx_runtime(self):
        m = Model(x=[1, 8, 16])
        fused = dict(domain="com.microsoft")
        attended = m("Attention", "x", m.numbers(16, 48), m.numbers(48), num_heads=2, unidirectional=1, **fused)
        normal = m("SkipLayerNormalization", attended, "x", m.numbers(16), m.numbers(16), **fused)
        out = m("FastGelu", m("MatMul", normal, m.numbers(16, 32)), m.numbers(32), **fused)
        self.check(m.graph(out), ["gemm:8x48x16", "H=2,N=8,E=8,causal=1,scale=1/sqrt(E)", "add:8x16", "layernorm:8x16",
                                  "gemm:8x32x16", "gelu_tanh:8x32"])

    def test_any_order_of_nodes(self):
        m = Model(x=[4, 16])
        out = m("Relu", m("MatMul", "x", m.numbers(16, 8)))
        expected = m.graph(out).text()
        m.nodes.reverse()
        self.assertEqual(m.graph(out).text(), expected)
        m.nodes.pop()
        with self.assertRaisesRegex(attnvp.Error, "operation Relu_1 has input v0, which nothing makes"):
            m.graph(out)

    def test_operations_that_nothing_expresses(self):
        m = Model(x=[4, 16], y=[4, 16])
        graph = m.graph(m("Mul", "x", "y"), m("Foo", "x"), m("Mul", "x", 2.0), m("Softmax", "x", axis=0), m("Add", "x", 1.0))
        self.check(graph, [], ["Mul", "Foo", "Mul", "Softmax", "Add"])
        self.assertEqual([u.elements for u in graph.unsupported], [64, 0, 64, 64, 64])

    def test_files(self):
        m = Model(x=[4, 16])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tiny.onnx")
            onnx.save(m.proto(m("Relu", "x")), path)
            self.assertEqual(attnvp.from_onnx(path).name, "tiny")
            self.assertEqual(attnvp.from_onnx(str(path), "other").name, "other")
            path.write_bytes(b"no model")
            for pattern, model in (("tiny.onnx: is no ONNX model", path), ("none.onnx: No such file", Path(folder, "none.onnx")),
                                   ("model: found int; allowed is a path or an onnx.ModelProto", 3)):
                with self.assertRaisesRegex(attnvp.Error, pattern):
                    attnvp.from_onnx(model)
