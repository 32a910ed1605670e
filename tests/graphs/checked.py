"""What every graph of graphs_test.py has to be."""

import math
import unittest


def nets(graph):
    return [o.net for o in graph.operations]


class Checked(unittest.TestCase):
    def check(self, graph, expected, unsupported=()):
        """The graph has these nets, in order, and its tensors fit them."""
        self.assertEqual(nets(graph), list(expected))
        self.assertEqual([entry.op for entry in graph.unsupported], list(unsupported))
        made = {name for o in graph.operations for name in o.outputs}
        seen = set()
        viewed = {name: {v.input for v in graph.views if name in v.outputs} for v in graph.views for name in v.outputs}
        for o in graph.operations:
            for name in o.inputs:
                for root in viewed.get(name, {name}):
                    self.assertTrue(root not in made or root in seen, f"{o.name} runs before its input {root}")
            seen.update(o.outputs)
            self.assertEqual(self.elements(graph, o.inputs[:1]), self.inputs(o), o)
        names = [o.name for o in graph.operations] + [u.name for u in graph.unsupported]
        self.assertEqual(len(names), len(set(names)))
        used = {name for o in graph.operations for name in (*o.inputs, *o.outputs)}
        self.assertEqual(set(graph.tensors), used | {v.input for v in graph.views})

    def elements(self, graph, names):
        return sum(math.prod(graph.tensors[name].shape) for name in names)

    def inputs(self, operation):
        """Elements of the first input, from the text."""
        if "=" in operation.net.split(",")[0]:
            words = dict(word.split("=") for word in operation.net.split(","))
            return math.prod(int(words.get(key, words.get("N", 1) if key == "NQ" else 1)) for key in ("B", "H", "NQ", "E"))
        extents = [int(extent) for extent in operation.net.split(":")[1].split(",")[0].split("x")]
        if operation.net.startswith("gemm"):
            return operation.count * extents[0] * extents[2]
        return extents[0] * extents[1]
