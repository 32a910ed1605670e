#!/usr/bin/env python3
"""The Python package compared with the command line: equal results and messages. ATTNVP_PROGRAM names the program."""

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest
from pathlib import Path

import attnvp
from attnvp import _golden, _worker

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None

SMALL = dict(H=2, N=64, E=16)
SWEEP = """network: H=2,N=64,E=16
dataflow: [flat, mas]
axes:
  l1.size: [256 KiB, 1 MiB]
"""


def command_line(*words):
    return subprocess.run([_worker.program(), *words], capture_output=True, text=True)


class Runs(unittest.TestCase):
    def test_result_is_the_command_lines_json(self):
        words = ["run", "--net", "H=2,N=64,E=16", "--set", "l1.size=1 MiB", "--data", "timing"]
        expected = json.loads(command_line(*words, "--json", "-").stdout)
        del expected["simulation"]
        result = attnvp.run(net=SMALL, set={"l1.size": "1 MiB"}, data="timing")
        self.assertEqual(result.to_dict(), expected)
        self.assertEqual(result, attnvp.run(net=SMALL, set={"l1.size": "1 MiB"}, data="timing"))
        self.assertNotEqual(result, attnvp.run(net=SMALL, data="timing"))

    def test_attributes_have_their_types(self):
        result = attnvp.run(net=SMALL)
        self.assertIs(result.golden.passed, True)
        self.assertEqual(result.energy_pj["total"], result.energy_pj.total)
        self.assertIsInstance(result.utilization, attnvp.Utilization)
        for name, kind in typing.get_type_hints(attnvp.Result).items():
            if not name.startswith("_") and isinstance(kind, type):
                self.assertIsInstance(getattr(result, name), kind, name)
        with self.assertRaisesRegex(AttributeError, "no 'cycle'; there are: .*cycles"):
            result.cycle
        self.assertIn("<table>", result._repr_html_())

    def test_errors_are_the_command_lines_sentence(self):
        for words, options in (["--hw", "edgy"], dict(hw="edgy")), (["--trace-form", "3"], dict(trace_form=3)):
            with self.assertRaises(attnvp.Error) as caught:
                attnvp.run(**options)
            self.assertEqual(f"attnvp: {caught.exception}\n", command_line("run", *words).stderr)
            self.assertEqual(caught.exception.status, 2)
        with self.assertRaisesRegex(attnvp.Error, "L1 is too small") as caught:
            attnvp.run(net="bert-base", set={"l1.size": "96 KiB"}, tiling=dict(nq=512, nkv=512), data="timing")
        self.assertEqual(caught.exception.status, 1)

    def test_folder_and_environment_are_those_of_the_call(self):
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            try:
                os.chdir(folder)
                attnvp.run(net=SMALL, data="timing", timeline="t.json")
                self.assertTrue(Path(folder, "t.json").exists())
                os.environ["ATTNVP_CONFIGS"] = "nowhere"
                with self.assertRaisesRegex(attnvp.Error, "ATTNVP_CONFIGS names 'nowhere'"):
                    attnvp.run()
            finally:
                os.environ.pop("ATTNVP_CONFIGS", None)
                os.chdir(before)

    def test_version(self):
        self.assertEqual(attnvp.command("--version").split()[1], attnvp.__version__)

    def test_threads(self):
        cycles = {}

        def run(heads):
            cycles[heads] = attnvp.run(net=dict(H=heads, N=64, E=16), data="timing").cycles

        threads = [threading.Thread(target=run, args=(heads,)) for heads in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(cycles, {n: attnvp.run(net=dict(H=n, N=64, E=16), data="timing").cycles for n in cycles})

    def test_another_worker_takes_a_dead_ones_place(self):
        first = attnvp.run(net=SMALL)
        _worker._worker._process.kill()
        _worker._worker._process.wait()
        self.assertEqual(attnvp.run(net=SMALL), first)

    def test_a_worker_that_is_killed_at_any_time(self):
        first = attnvp.run(net=SMALL)
        # Between calls; its end has not been waited for.
        _worker._worker._process.kill()
        self.assertEqual(attnvp.run(net=SMALL), first)
        # With a request that it has not received.
        worker = _worker._worker._process
        os.kill(worker.pid, signal.SIGSTOP)
        threading.Timer(0.3, worker.kill).start()
        self.assertEqual(attnvp.run(net=SMALL), first)
        # While it runs a request: that request fails, the next succeeds.
        threading.Timer(0.5, lambda: _worker._worker._process.kill()).start()
        with self.assertRaisesRegex(attnvp.Error, "the worker was ended while it ran this"):
            attnvp.command("bench", "--seconds", "600")
        self.assertEqual(attnvp.run(net=SMALL), first)

    def test_options_that_give_no_result(self):
        for name, hint in ("help", "'--help'"), ("version", "__version__"), ("json", "to_dict"), ("help_all", "--help-all"):
            for call in attnvp.run, attnvp.compare, attnvp.search, attnvp.validate, attnvp.sweep, attnvp.pareto:
                with self.assertRaisesRegex(attnvp.Error, f"option '{name}' is not a keyword: .*{hint}"):
                    call(*(["edge"] if call in (attnvp.sweep, attnvp.pareto) else []), **{name: True})

    def test_text_that_is_none(self):
        with self.assertRaisesRegex(attnvp.Error, r"an argument is not valid text: found '.*udcff.*ud800', which has a lone surrogate"):
            attnvp.run(net="\udcff\ud800")
        with self.assertRaisesRegex(attnvp.Error, "no such file"):  # names may hold bytes that are not UTF-8
            attnvp.run(hw="./\udcff.yaml")

    def test_no_program(self):
        os.environ["ATTNVP_PROGRAM"], before = "/nowhere", os.environ["ATTNVP_PROGRAM"]
        try:
            with self.assertRaisesRegex(attnvp.Error, "not at /nowhere, which ATTNVP_PROGRAM names"):
                _worker.program()
        finally:
            os.environ["ATTNVP_PROGRAM"] = before


class Interrupts(unittest.TestCase):
    def test_ctrl_c_ends_the_run_and_not_the_worker(self):
        attnvp.run(net=SMALL, data="timing")
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            attnvp.command("bench", "--seconds", "600")
        worker = _worker._worker._process
        children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children")
        for _ in range(100):
            if not children.read_text():
                break
            time.sleep(0.05)
        self.assertEqual(children.read_text(), "")
        self.assertEqual(attnvp.run(net=SMALL, data="timing").hardware, "edge")
        self.assertIsNone(worker.poll())

    def test_a_process_that_dies_is_an_error(self):
        def kill():
            worker = _worker._worker._process
            os.kill(int(Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()[0]), signal.SIGKILL)

        attnvp.run(net=SMALL, data="timing")
        threading.Timer(0.3, kill).start()
        with self.assertRaisesRegex(attnvp.Error, "the simulator was ended: Killed"):
            attnvp.command("bench", "--seconds", "600")


@unittest.skipIf(numpy is None, "no NumPy")
class Tensors(unittest.TestCase):
    def test_arrays_in_and_out(self):
        random = numpy.random.default_rng(1)
        q = random.normal(size=(2, 32, 16)).astype(numpy.float16)
        k = random.normal(size=(2, 48, 16)).astype(numpy.float16)
        v = random.normal(size=(2, 48, 16)).astype(numpy.float32)
        result = attnvp.run(q=q, k=k, v=v)
        self.assertEqual((result.network.heads, result.network.seq_q, result.network.seq_kv), (2, 32, 48))
        self.assertEqual((result.output.shape, result.output.dtype), ((1, 2, 32, 16), numpy.float16))
        scores = q.astype(float) @ k.astype(float).transpose(0, 2, 1)
        p = numpy.exp(scores - scores.max(-1, keepdims=True))
        exact = p / p.sum(-1, keepdims=True) @ v.astype(float)
        self.assertLess(abs(result.output[0] - exact).max(), 0.02)
        self.assertEqual(result, attnvp.run(q=q[None], k=k[None], v=v[None]))

    def test_wrong_shape(self):
        with self.assertRaisesRegex(attnvp.Error, r"--q .*: found shape \(3, 3\); allowed is"):
            attnvp.run(q=numpy.zeros((3, 3)), net=SMALL)

    def test_arrays_that_are_no_tensors(self):
        array = numpy.zeros((2, 16, 16), numpy.float16)
        for bad in numpy.float16(3), numpy.zeros(()), numpy.zeros(3), numpy.zeros((2, 2)), numpy.zeros((1, 1, 2, 16, 16)):
            for q, k in (bad, array), (array, bad):
                with self.assertRaisesRegex(attnvp.Error, r"[qk]: found shape \[.*\]; allowed is \[B, H, N, E\] or \[H, N, E\]"):
                    attnvp.run(q=q, k=k, v=array)
        with self.assertRaisesRegex(attnvp.Error, r"--q .*: found shape \(\); allowed is"):
            attnvp.run(q=numpy.float16(3), net=SMALL)
        for bad in array.astype(complex), array.astype(object), array.astype(str):
            with self.assertRaisesRegex(attnvp.Error, "v: found elements of type .*; allowed are real numbers"):
                attnvp.run(q=array, k=array, v=bad)

    def test_memory_limit_is_held_before_anything_is_copied(self):
        huge = numpy.lib.stride_tricks.as_strided(numpy.zeros(1, numpy.float16), (1 << 20, 1 << 20, 16), (0, 0, 0))
        small = numpy.zeros((2, 64, 16), numpy.float16)
        with self.assertRaisesRegex(attnvp.Error, "q: the arrays would need 35,184,372,088,832 bytes") as caught:
            attnvp.run(q=huge, net=SMALL)
        self.assertEqual(caught.exception.status, 1)
        with self.assertRaisesRegex(attnvp.Error, "q, k: the arrays would need 8,192 bytes .* allowed are 8,191 "):
            attnvp.run(q=small, k=small, memory_limit="8191 B")
        with self.assertRaisesRegex(attnvp.Error, "--memory-limit: .*no unit"):
            attnvp.run(q=small, k=small, memory_limit=1000)
        self.assertTrue(attnvp.run(q=small, k=small, memory_limit="4 GiB").golden.passed)

    def test_no_output(self):
        with self.assertRaisesRegex(attnvp.Error, "out=True"):
            attnvp.run(net=SMALL).output


def native():
    try:
        _golden._native()
    except attnvp.Error:
        return False
    return numpy is not None


@unittest.skipUnless(native(), "the extension module is not built for this Python")
class Reference(unittest.TestCase):
    def setUp(self):
        r = numpy.random.default_rng(5)
        self.q, self.k, self.v = (r.standard_normal(shape).astype(numpy.float16)
                                  for shape in [(2, 4, 24, 16), (2, 2, 40, 16), (2, 2, 40, 8)])

    def by_numpy(self, mask):
        k, v = (numpy.repeat(a.astype(float), 2, axis=1) for a in (self.k, self.v))
        scores = numpy.where(mask, 0.25 * self.q.astype(float) @ k.swapaxes(2, 3), -numpy.inf)
        weights = numpy.exp(scores - scores.max(axis=3, keepdims=True))
        return weights / weights.sum(axis=3, keepdims=True) @ v

    def test_is_numpys(self):
        behind = numpy.arange(24)[:, None] + 16 - numpy.arange(40)[None, :]
        for options, mask in [({}, behind > -99), ({"causal": True}, behind >= 0),
                              ({"causal": True, "window": 5, "sinks": 2}, (behind >= 0) & ((behind < 5) | (numpy.arange(40) < 2)))]:
            got = attnvp.reference(self.q, self.k, self.v, scale=0.25, **options)
            self.assertEqual((got.dtype, got.shape), (numpy.float64, (2, 4, 24, 8)))
            numpy.testing.assert_allclose(got, self.by_numpy(mask), rtol=0, atol=1e-11)

    def test_check_passes_what_is_near_and_nothing_else(self):
        output = attnvp.reference(self.q, self.k, self.v).astype(numpy.float16)
        self.assertTrue(attnvp.check(self.q, self.k, self.v, output).passed)
        output[1, 2, 3, 4] += 0.05
        found = attnvp.check(self.q, self.k, self.v, output)
        self.assertFalse(found.passed)
        self.assertEqual((found.failures, found.batch, found.head, found.column), (1, 1, 1, 4))

    def test_check_sees_at_large_scores(self):
        q, k = numpy.zeros((1, 1, 4, 128), numpy.float16), numpy.zeros((1, 1, 64, 128), numpy.float16)
        v = numpy.random.default_rng(1).standard_normal((1, 1, 64, 128)).astype(numpy.float16)
        q[..., 0] = 448
        for first in (120, 1000):  # one key leads by 317 and more: O is its value
            k[0, 0, :, 0] = -(numpy.arange(64) * 8 + first)
            right = numpy.ascontiguousarray(numpy.broadcast_to(v[:, :, :1], q.shape))
            self.assertTrue(attnvp.check(q, k, v, right, scale=128 ** -0.5).passed)
            for wrong in (0 * right, 0 * right + 1000):
                self.assertFalse(attnvp.check(q, k, v, wrong, scale=128 ** -0.5).passed)

    def test_overflow_is_no_pass(self):
        q, k = (60 * a for a in (self.q, self.k))
        right = attnvp.reference(q, k, self.v)
        self.assertTrue(numpy.isfinite(right).all())
        self.assertTrue(attnvp.check(q, k, self.v, right.astype(numpy.float16)).passed)
        q[0, 0, 0] *= 100
        none = right.astype(numpy.float16)
        none[0, 0, 0] = numpy.nan
        found = attnvp.check(q, k, self.v, none)
        self.assertEqual((found.passed, found.failures, found.rows_of_score_overflow, found.rows), (False, 8, 1, 192))
        self.assertIn("scores overflow FP16 in 1 of 192 rows", str(found))

    def test_a_runs_output_passes(self):
        result = attnvp.run(q=self.q[0], k=self.k[0], v=self.k[0], net="H=4,HKV=2,NQ=24,NKV=40,E=16")
        self.assertTrue(attnvp.check(self.q[0], self.k[0], self.k[0], result.output[0]).passed)

    def test_nothing_is_copied(self):
        q = numpy.asarray(self.q, order="C")
        self.assertTrue(numpy.shares_memory(_golden._half("q", q), q))

    def test_mistakes_are_sentences(self):
        for pattern, arguments, options in [
                ("k: found shape .2, 2, 40, 8.", (self.q, self.v, self.v), {}),
                ("v: found shape", (self.q, self.k, self.q), {}),
                ("q: found shape .16.; allowed", (self.q[0, 0, 0], self.k, self.v), {}),
                ("history: 30 keys and 24 new ones", (self.q, self.k, self.v), {"causal": True, "history": 30}),
                ("q: found shape ..; allowed", (self.q[0, 0, 0, 0], self.k, self.v), {}),
                ("k: found elements of type complex128", (self.q, self.k.astype(complex), self.v), {}),
                ("window: found nan", (self.q, self.k, self.v), {"window": float("nan")}),
                ("window: found 'a'", (self.q, self.k, self.v), {"window": "a"}),
                ("causal: found 2; allowed are False and True", (self.q, self.k, self.v), {"causal": 2}),
                ("scale: found nan; allowed is a number from 5.96046e-08 to 1024", (self.q, self.k, self.v), {"scale": numpy.nan}),
                ("scale: found 0; allowed", (self.q, self.k, self.v), {"scale": 0}),
                ("scale: found inf; allowed", (self.q, self.k, self.v), {"scale": float("inf")}),
                ("soft_cap: found nan; allowed is .* or 0", (self.q, self.k, self.v), {"soft_cap": float("nan")}),
                ("window: found -1", (self.q, self.k, self.v), {"window": -1})]:
            with self.assertRaisesRegex(attnvp.Error, pattern):
                attnvp.reference(*arguments, **options)


class Layers(unittest.TestCase):
    LAYER = dict(H=2, N=32, E=16, hidden=32, ffn=64)

    def test_are_typed_as_runs_are(self):
        for scope in "layer", "model":
            result = attnvp.run(net=dict(self.LAYER, scope=scope), dataflow="flat")
            self.assertIsInstance(result, attnvp.LayerResult)
            for name, kind in typing.get_type_hints(attnvp.LayerResult).items():
                if isinstance(kind, type):
                    self.assertIsInstance(getattr(result, name), kind, name)
            self.assertEqual(result.scope, scope)
            self.assertIn(f"of H=2,N=32,E=16,hidden=32,ffn=64,scope={scope} on edge", repr(result))
            self.assertIs(result.golden.passed, True)
            runs = [entry.run for entry in result.operations]
            self.assertIn("attention", [entry.operation for entry in result.operations])
            self.assertTrue(all(isinstance(run, attnvp.Result) for run in runs))
            self.assertEqual(result.cycles, sum(run.cycles for run in runs))
            for part, pj in result.energy_pj.items():
                self.assertAlmostEqual(pj, sum(run.energy_pj.get(part, 0) for run in runs), delta=1e-9 * (1 + pj))
                self.assertAlmostEqual(result.power_w[part], pj * 1e-12 / result.seconds, delta=1e-9 * result.power_w["total"])
            self.assertEqual(result.area_mm2, runs[0].area_mm2)
            self.assertGreater(result.area_mm2["total"], 0)
            page = result._repr_html_()
            self.assertTrue(page.count("<tr>") == len(runs) + 2 and f"{result.cycles:,}" in page, page)
            if pandas is not None:
                frame = result.frame()
                self.assertEqual(list(frame["operation"]), [entry.operation for entry in result.operations])
                self.assertEqual(list(frame["cycles"]), [run.cycles for run in runs])

    def test_jobs_side_by_side(self):
        result = attnvp.run(net=SMALL, set={"clusters": 2}, clusters="0", beside=["net=H=1,N=64,E=16 clusters=1"], data="timing")
        self.assertIsInstance(result, attnvp.SideBySide)
        self.assertEqual(len(result.jobs), 2)
        self.assertIn(f"2 jobs on edge, {result.together.cycles:,} cycles", repr(result))
        self.assertIn("together", result._repr_html_())
        if pandas is not None:
            self.assertEqual(list(result.frame()["cycles"]), [job.cycles for job in result.jobs])


class Others(unittest.TestCase):
    def test_compare(self):
        runs = attnvp.compare(net=SMALL, dataflow=["flat", "mas"], data="timing")
        self.assertEqual({run.dataflow for run in runs}, {"flat", "mas"})
        self.assertEqual(runs.best.cycles, min(run.cycles for run in runs))
        self.assertEqual(runs["flat"].to_dict()["cycles"], runs["flat"].cycles)
        self.assertIn("flat", runs._repr_html_())
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder, "runs.csv")
            attnvp.compare(net=SMALL, dataflow=["flat", "mas"], data="timing", csv=table)
            with open(table, newline="") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual([int(row["cycles"]) for row in rows], [run.cycles for run in runs])
        self.assertEqual({(row["network.name"], row["golden.passed"]) for row in rows}, {("H=2,N=64,E=16", "")})
        runs = attnvp.compare(net=dict(H=1, N=512, E=16), set={"dram.size": "1 MiB"}, data="timing")
        self.assertIn("with layerwise: ", runs.left_out)
        if pandas is not None:
            self.assertEqual(list(runs.frame()["cycles"]), [run.cycles for run in runs])

    def test_search_describe_validate(self):
        found = attnvp.search(net=SMALL, budget=8)
        self.assertEqual(attnvp.run(net=SMALL, tiling=found.tiling, data="timing").cycles, found.cycles)
        self.assertIn("l1.size", attnvp.describe("edge", set={"l1.size": "3 MiB"}) + attnvp.describe("keys"))
        self.assertIn("mas", attnvp.command("list", "dataflows"))

    def test_sweep_and_front(self):
        with tempfile.TemporaryDirectory() as folder:
            file, db = Path(folder, "tiny.yaml"), Path(folder, "tiny.db")
            file.write_text(SWEEP)
            sweep = attnvp.sweep(file, db=db, jobs=1)
            self.assertEqual((len(sweep), sweep.failed), (4, []))
            row = sweep.rows('dataflow = \'mas\' and "l1.size" = 1048576')[0]
            self.assertEqual(row["cycles"], attnvp.run(net=SMALL, set={"l1.size": "1 MiB"}, data="timing").cycles)
            file.write_text(SWEEP.replace("256 KiB", "60 KiB"))
            with self.assertWarnsRegex(UserWarning, "2 of 4 jobs did not end well"):
                failed = attnvp.sweep(file, db=Path(folder, "failed.db"), jobs=1).failed
            self.assertEqual(len(failed), 2)
            self.assertIn("l0.size", failed[0]["error"])
            front = attnvp.pareto(sweep, x="cycles", y="l1.size")
            self.assertEqual(front[0]["cycles"], min(row["cycles"] for row in sweep.rows()))
            if pandas is not None:
                self.assertEqual(len(sweep.frame()), 4)


TQDM = """import sys
class tqdm:
    def __init__(self, total, initial, desc, leave):
        self.n, self.total = initial, total
        print("bar", desc, initial, total, file=sys.stderr)
    def update(self, n):
        self.n += n
    def close(self):
        print("end", self.n, file=sys.stderr)
"""


class Progress(unittest.TestCase):
    def calls(self, prepare):
        script = f"import sys\n{prepare}\nfrom attnvp._progress import Bar\nbar = Bar('sweep')\nbar(3, 12)\nbar(12, 12)\nbar.close()"
        return subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stderr.decode()

    def test_tqdm_where_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "tqdm").mkdir()
            Path(folder, "tqdm/__init__.py").write_text("")
            Path(folder, "tqdm/auto.py").write_text(TQDM)
            self.assertEqual(self.calls(f"sys.path.insert(0, {folder!r})"), "bar sweep 3 12\nend 12\n")

    def test_a_line_where_it_is_not(self):
        shown = self.calls("sys.modules['tqdm'] = None")
        self.assertEqual(shown, "\rsweep: 3 of 12\rsweep: 12 of 12\r" + 15 * " " + "\r")

    def test_nothing_where_nobody_watches(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "tiny.yaml").write_text(SWEEP)
            script = f"import attnvp; attnvp.sweep('{folder}/tiny.yaml', db='{folder}/tiny.db', jobs=1)"
            self.assertEqual(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr, "")
            calls = []
            attnvp.sweep(f"{folder}/tiny.yaml", db=f"{folder}/again.db", jobs=1, progress=lambda *of: calls.append(of))
            self.assertTrue(all(total == 4 for _, total in calls))


if __name__ == "__main__":
    sys.exit(unittest.main())
