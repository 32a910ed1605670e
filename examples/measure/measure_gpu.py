#!/usr/bin/env python3
"""Measures attention and matrix products on a CUDA GPU, as rows that `attnvp validate --data` reads.

    measure_gpu.py --out mine.csv            the rows below, on GPU 0
    measure_gpu.py --dry-run                 prints the rows without measuring; needs neither PyTorch nor a GPU
    measure_gpu.py --net gemm:64x4096x4096   this row instead; may be given several times

Needs PyTorch; pynvml adds clocks, power and energy. Columns: net, time_us, kernel, cache, energy_mj, power_w,
clock_mhz. A cell is empty where the driver has no such value. Comments name GPU, versions and method.
"""

import argparse
import csv
import io
import math
import re
import statistics
import sys

COLUMNS = ["net", "time_us", "kernel", "cache", "energy_mj", "power_w", "clock_mhz"]
TYPES = {"fp16": "float16", "bf16": "bfloat16"}
HEADS = (("H=32,HKV=8", 128), ("H=16,HKV=16", 64), ("H=8,HKV=8", 256))


def default_rows():
    """Prefill by head size and mask, decode by requests and context, products by rows."""
    rows = []
    for heads, size in HEADS:
        for causal in (0, 1):
            for batch, tokens in ((16, 512), (8, 1024), (4, 2048), (2, 4096), (1, 8192)):
                rows.append(f"B={batch},{heads},N={tokens},E={size},causal={causal},type=bf16,scale=1/sqrt(E)")
    for batch in (1, 8, 64):
        for context in (512, 2048, 8192):
            rows.append(f"B={batch},H=32,HKV=8,NQ=1,NKV={context},E=128,type=bf16,scale=1/sqrt(E)")
    for columns, depth in ((6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336)):
        for tokens in (1, 16, 64, 256, 1024, 4096):
            rows.append(f"gemm:{tokens}x{columns}x{depth},type=bf16")
    return rows


class Refused(Exception):
    pass


def parsed(net):
    """Kind and numbers of a text of --net: `gemm:RxCxD` or an attention shape. Raises Refused."""
    head, *settings = net.split(",")
    product = re.fullmatch(r"gemm:(\d+)x(\d+)x(\d+)", head)
    values = dict(s.partition("=")[::2] for s in (settings if product else net.split(",")))
    name = values.pop("type", "fp16")
    if name not in TYPES:
        raise Refused(f"type '{name}' ({net}); allowed: {', '.join(TYPES)}")
    if product:
        if values:
            raise Refused(f"key '{min(values)}' ({net}); allowed of a product: type")
        return "gemm", [int(size) for size in product.groups()], name
    if values.pop("scale", "1/sqrt(E)") != "1/sqrt(E)":
        raise Refused(f"scale ({net}); allowed: 1/sqrt(E)")
    allowed = ("B", "H", "HKV", "N", "NQ", "NKV", "E", "causal")
    for key, text in values.items():
        if key not in allowed:
            raise Refused(f"key '{key}' ({net}); allowed: {', '.join(allowed)}, type, scale")
        if not text.isdigit() or (key != "causal" and int(text) == 0):
            raise Refused(f"'{key}={text}' ({net}); allowed is a whole number")
    number = {key: int(text) for key, text in values.items()}
    for key in ("H", "E"):
        if key not in number:
            raise Refused(f"no key '{key}' ({net})")
    queries = number.get("NQ", number.get("N"))
    keys = number.get("NKV", number.get("N"))
    if queries is None or keys is None:
        raise Refused(f"no length ({net}); allowed: N, or NQ and NKV")
    causal = number.get("causal", 0) == 1
    if causal and queries != keys:
        raise Refused(f"a causal mask of {queries} x {keys} ({net}); allowed are equal lengths")
    heads, groups = number["H"], number.get("HKV", number["H"])
    if heads % groups:
        raise Refused(f"{heads} heads of {groups} groups ({net}); allowed are equal groups")
    return "attention", [number.get("B", 1), heads, groups, queries, keys, number["E"], causal], name


class Gpu:
    """PyTorch on one GPU, with pynvml where it is installed."""

    def __init__(self, index, flush):
        try:
            import torch
        except ImportError:
            raise Refused("PyTorch is missing; install it, or use --dry-run") from None
        if not torch.cuda.is_available():
            raise Refused("PyTorch finds no CUDA GPU; --dry-run prints the rows")
        self.torch = torch
        torch.cuda.set_device(index)
        self.properties = torch.cuda.get_device_properties(index)
        cache = getattr(self.properties, "L2_cache_size", 64 << 20)
        self.flushed = torch.empty(2 * cache, dtype=torch.int8, device="cuda") if flush else None
        try:
            import pynvml

            pynvml.nvmlInit()
            self.nvml = pynvml
            # PyTorch counts visible GPUs only, in an order of its own: the bus address names the same one.
            address = f"{self.properties.pci_domain_id:08x}:{self.properties.pci_bus_id:02x}:" \
                      f"{self.properties.pci_device_id:02x}.0"
            self.device = pynvml.nvmlDeviceGetHandleByPciBusId(address.encode())
        except Exception:  # without NVML the columns stay empty
            self.nvml = None

    def asked(self, function, *arguments):
        """A value of the driver; None where it has none."""
        if self.nvml is None:
            return None
        try:
            return getattr(self.nvml, function)(self.device, *arguments)
        except self.nvml.NVMLError:
            return None

    def description(self):
        lines = [f"{self.properties.name}, {self.properties.multi_processor_count} multiprocessors",
                 f"PyTorch {self.torch.__version__}, CUDA {self.torch.version.cuda}"]
        if self.nvml is not None:
            driver = self.nvml.nvmlSystemGetDriverVersion()
            lines.append(f"driver {driver.decode() if isinstance(driver, bytes) else driver}")
            limit = self.asked("nvmlDeviceGetEnforcedPowerLimit")
            most = self.asked("nvmlDeviceGetMaxClockInfo", self.nvml.NVML_CLOCK_SM)
            memory = self.asked("nvmlDeviceGetClockInfo", self.nvml.NVML_CLOCK_MEM)
            lines += [] if limit is None else [f"power limit {limit / 1000:.0f} W"]
            lines += [] if most is None else [f"largest SM clock {most} MHz"]
            lines += [] if memory is None else [f"memory clock {memory} MHz"]
        return lines

    def call_of(self, net):
        """Name of the kernel and a function that launches it once."""
        torch = self.torch
        kind, sizes, name = parsed(net)
        dtype = getattr(torch, TYPES[name])

        def tensor(*shape):
            return torch.randn(*shape, dtype=dtype, device="cuda")

        if kind == "gemm":
            rows, columns, depth = sizes
            a, b = tensor(rows, depth), tensor(columns, depth)
            return "linear", lambda: torch.nn.functional.linear(a, b)
        batch, heads, groups, queries, keys, size, causal = sizes
        q, k, v = tensor(batch, heads, queries, size), *(tensor(batch, groups, keys, size) for _ in range(2))
        grouped = {"enable_gqa": True} if heads != groups else {}

        def attention():
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, **grouped)

        from torch.nn.attention import SDPBackend, sdpa_kernel

        for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH):
            def launch(backend=backend):
                with sdpa_kernel(backend):
                    return attention()

            try:
                launch()
                return f"sdpa_{backend.name.lower()}", launch
            except RuntimeError:
                continue
        raise Refused(f"no attention kernel of PyTorch runs it ({net})")

    def graph_of(self, launch, count):
        """`count` launches as one CUDA graph: the host's time per launch is not measured."""
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            for _ in range(count):
                launch()
        return graph

    def elapsed_us(self, graph):
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        if self.flushed is not None:
            self.flushed.zero_()
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1000

    def measure(self, net, repeats, energy_ms):
        kernel, launch = self.call_of(net)
        for _ in range(5):
            launch()
        self.torch.cuda.synchronize()
        once = self.graph_of(launch, 1)
        count = 1
        if self.flushed is None:  # as many launches as take 2 ms, at most 1,000
            count = max(1, min(1000, math.ceil(2000 / max(self.elapsed_us(once), 1))))
        graph = once if count == 1 else self.graph_of(launch, count)
        self.elapsed_us(graph)
        time_us = statistics.median(self.elapsed_us(graph) for _ in range(repeats)) / count
        row = dict.fromkeys(COLUMNS, "")
        row.update(net=net, time_us=f"{time_us:.3f}", kernel=kernel, cache="warm" if self.flushed is None else "flushed")
        row.update(self.energy(graph, count, time_us, energy_ms))
        return row

    def energy(self, graph, count, time_us, energy_ms):
        """Energy of a launch from the driver's counter, over a time that is long beside its period of update."""
        before = self.asked("nvmlDeviceGetTotalEnergyConsumption")
        if before is None or self.flushed is not None:
            return {}
        replays = max(1, math.ceil(energy_ms * 1000 / (time_us * count)))
        for _ in range(replays):
            graph.replay()
        clock = self.asked("nvmlDeviceGetClockInfo", self.nvml.NVML_CLOCK_SM)  # the GPU is still busy
        self.torch.cuda.synchronize()
        each = (self.asked("nvmlDeviceGetTotalEnergyConsumption") - before) / (replays * count)
        return {"energy_mj": f"{each:.4g}", "power_w": f"{each / time_us * 1000:.1f}",
                "clock_mhz": "" if clock is None else str(clock)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", metavar="FILE", help="write the CSV here, not to standard output")
    parser.add_argument("--net", action="append", metavar="TEXT", help="measure this row, not the default ones")
    parser.add_argument("--gpu", type=int, default=0, metavar="INDEX", help="index of the GPU")
    parser.add_argument("--repeats", type=int, default=21, metavar="N", help="timings, of which the median is written")
    parser.add_argument("--energy-ms", type=int, default=500, metavar="T", help="time per row for its energy [ms]")
    parser.add_argument("--flush", action="store_true", help="overwrite the L2 before each launch; no energy")
    parser.add_argument("--dry-run", action="store_true", help="print the rows without measuring")
    options = parser.parse_args()
    nets = options.net or default_rows()
    for net in nets:
        parsed(net)
    for name in ("repeats", "energy_ms"):
        if getattr(options, name) < 1:
            raise Refused(f"--{name.replace('_', '-')} {getattr(options, name)}; allowed is 1 or more")
    rows, comments = [], []
    if options.dry_run:
        rows = [{**dict.fromkeys(COLUMNS, ""), "net": net} for net in nets]
    else:
        gpu = Gpu(options.gpu, options.flush)
        comments = gpu.description() + [
            f"median of {options.repeats} timings by CUDA events; "
            + ("L2 overwritten before each launch" if options.flush else "launches one after the other, as a CUDA graph")]
        for done, net in enumerate(nets, 1):
            rows.append(gpu.measure(net, options.repeats, options.energy_ms))
            print(f"{done}/{len(nets)} {net}: {rows[-1]['time_us']} us", file=sys.stderr)
    text = io.StringIO()
    text.writelines(f"# {line}\n" for line in comments)
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(text.getvalue())
    else:
        sys.stdout.write(text.getvalue())


if __name__ == "__main__":
    try:
        main()
    except (Refused, OSError) as problem:
        print(f"measure_gpu.py: {problem}", file=sys.stderr)
        sys.exit(2)
