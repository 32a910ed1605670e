#!/usr/bin/env python3
"""The measuring kit: its rows without a GPU, what it refuses, and its CSV with a stand-in for PyTorch.

    measure_test.py ATTNVP SOURCE_DIR
"""
import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ATTNVP, SOURCE = sys.argv.pop(1), Path(sys.argv.pop(1))
KIT = SOURCE / "examples/measure/measure_gpu.py"
PARAMETERS = SOURCE / "examples/measure/measure_parameters.py"

# Each launch takes 3 us, also by the host's clock. NVML counts 2 mJ of each replayed launch.
TORCH = """
import sys, time, types
launches = energy = slept = 0
def sleep(seconds):
    global slept
    slept += seconds
time.sleep, time.monotonic = sleep, lambda: slept + launches * 3e-6
class Graph:
    def __init__(self): self.count = 0
    def replay(self):
        global launches, energy
        launches += self.count
        energy += 2 * self.count
class Capture:
    def __init__(self, graph): self.graph = graph
    def __enter__(self): self.before = launches
    def __exit__(self, *_): self.graph.count = launches - self.before
class Event:
    def __init__(self, enable_timing): pass
    def record(self): self.at = launches
    def synchronize(self): pass
    def elapsed_time(self, end): return (end.at - self.at) * 0.003
def launch(*_, **__):
    global launches
    launches += 1
__version__, bfloat16, float16, int8 = "stand-in", "bf16", "fp16", "int8"
version = types.SimpleNamespace(cuda="none")
randn = lambda *shape, **_: shape
zeros = lambda size, **_: None
nn = types.ModuleType("torch.nn")
nn.functional = types.SimpleNamespace(linear=launch, scaled_dot_product_attention=launch, silu=launch)
nn.attention = types.ModuleType("torch.nn.attention")
import contextlib, enum
nn.attention.SDPBackend = enum.Enum("SDPBackend", "FLASH_ATTENTION CUDNN_ATTENTION EFFICIENT_ATTENTION MATH")
nn.attention.sdpa_kernel = contextlib.nullcontext
sys.modules["torch.nn"], sys.modules["torch.nn.attention"] = nn, nn.attention
cuda = types.SimpleNamespace(
    is_available=lambda: True, set_device=lambda index: None, synchronize=lambda: None, CUDAGraph=Graph, graph=Capture,
    Event=Event, get_device_properties=lambda index: types.SimpleNamespace(
        name="Stand-in", multi_processor_count=3, L2_cache_size=4096, pci_domain_id=0, pci_bus_id=1, pci_device_id=2))
"""
PYNVML = """
import torch
class NVMLError(Exception): pass
NVML_CLOCK_SM, NVML_CLOCK_MEM = 0, 1
def nvmlInit(): pass
def nvmlSystemGetDriverVersion(): return "1.2"
def nvmlDeviceGetHandleByPciBusId(address): return address
def nvmlDeviceGetEnforcedPowerLimit(device): raise NVMLError()
def nvmlDeviceGetMaxClockInfo(device, kind): return 1500
def nvmlDeviceGetClockInfo(device, kind): return 1400
def nvmlDeviceGetTotalEnergyConsumption(device): return torch.energy
"""


def kit(*words, modules=None, script=KIT):
    command = [sys.executable, "-S", str(script), *words]  # -S: without installed packages
    return subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(modules or "")})


class Kit(unittest.TestCase):
    def test_prints_its_rows_without_pytorch(self):
        run = kit("--dry-run")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        rows = list(csv.DictReader(run.stdout.splitlines()))
        nets = [row["net"] for row in rows]
        self.assertEqual(len(set(nets)), len(nets))
        self.assertEqual(sum(net.startswith("gemm:") for net in nets), 24)
        self.assertEqual(sum("NQ=1," in net for net in nets), 9)
        self.assertEqual(sum(":" in net and not net.startswith("gemm:") for net in nets), 20)
        self.assertTrue(all(row["time_us"] == "" for row in rows))

    def test_refuses_in_a_sentence(self):
        for words, part in ((["--net", "H=2,N=8"], "no key 'E'"), (["--net", "gemm:1x2x3,type=fp4"], "type 'fp4'"),
                            (["--net", "H=2,N=8,E=8,window=4"], "key 'window'"),
                            (["--net", "H=2,NQ=8,NKV=16,E=8,causal=1"], "allowed are equal lengths"),
                            (["--net", "tanh:4x4"], "operation 'tanh'"), (["--repeats", "0"], "--repeats 0"), ([], "PyTorch is missing")):
            run = kit(*words)
            self.assertEqual((run.returncode, run.stdout), (2, ""), words)
            self.assertIn(part, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1)

    def test_parameters_need_cupy_and_a_time(self):
        for words, part in (([], "CuPy is missing"), (["--energy-ms", "0"], "--energy-ms 0")):
            run = kit(*words, script=PARAMETERS)
            self.assertEqual((run.returncode, run.stdout), (2, ""), words)
            self.assertIn(part, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1)

    def test_writes_what_validate_reads(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "torch.py").write_text(TORCH)
            (Path(folder) / "pynvml.py").write_text(PYNVML)
            out = Path(folder) / "mine.csv"
            run = kit("--net", "H=2,N=64,E=16,causal=1", "--net", "gemm:64x32x16,type=bf16", "--net", "silu:64x32",
                      "--kernel", "cudnn", "--cold", "--out", str(out), "--energy-ms", "1", modules=folder)
            self.assertEqual(run.returncode, 0, run.stderr)
            lines = out.read_text().splitlines()
            self.assertIn("# Stand-in, 3 multiprocessors", lines)
            rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
            self.assertEqual([row["kernel"] for row in rows], ["sdpa_cudnn", "linear", "silu"])
            for row in rows:
                # 2 mJ in 3 us
                self.assertEqual((row["time_us"], row["energy_mj"], row["power_w"]), ("3.000", "2", "666.7"))
                self.assertEqual((row["steady_us"], row["clock_mhz"], row["cache"]), ("3.000", "1400", "cold"))
            run = subprocess.run([ATTNVP, "validate", "--data", out, "--hw", "edge"], capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertIn("rows             3\n", run.stdout)
            self.assertIn("steady_energy", run.stdout)


if __name__ == "__main__":
    unittest.main()
