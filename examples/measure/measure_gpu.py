#!/usr/bin/env python3
"""Measures attention, matrix products and operations on rows on a CUDA GPU, as rows that `attnvp validate --data` reads.

    measure_gpu.py --out mine.csv            the rows below, on GPU 0
    measure_gpu.py --dry-run                 prints the rows without measuring; needs neither PyTorch nor a GPU
    measure_gpu.py --net gemm:64x4096x4096   this row instead; may be given several times
    measure_gpu.py --kernel cudnn            attention by this kernel of PyTorch; default: the first that runs the shape

Needs PyTorch; pynvml adds clocks, power and energy. Columns: net, time_us (of short bursts), kernel, cache, and
of steady work steady_us, energy_mj, power_w, clock_mhz. A cell is empty where the driver has no such value. Comments name GPU, versions and method.
"""

import argparse
import csv
import io
import math
import re
import statistics
import sys
import time

COLUMNS = ["net", "time_us", "kernel", "cache", "steady_us", "energy_mj", "power_w", "clock_mhz"]
TYPES = {"fp16": "float16", "bf16": "bfloat16"}
KERNELS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH"}
ROWS = {  # operations on rows, as functions of PyTorch's functional module, rows, and the length of a row
    "softmax": lambda f, x, n: f.softmax(x, -1),
    "layernorm": lambda f, x, n: f.layer_norm(x, (n,)),
    "rmsnorm": lambda f, x, n: f.rms_norm(x, (n,)),
    "relu": lambda f, x, n: f.relu(x),
    "silu": lambda f, x, n: f.silu(x),
    "gelu": lambda f, x, n: f.gelu(x),
    "gelu_tanh": lambda f, x, n: f.gelu(x, approximate="tanh"),
    "copy": lambda f, x, n: x.clone(),
    "add": None,  # of two tensors
}
HEADS = (("H=32,HKV=8", 128), ("H=16,HKV=16", 64), ("H=8,HKV=8", 256))


def default_rows():
    """Prefill by head size and mask, decode by requests and context, products and operations on rows by rows."""
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
    for operation in ("rmsnorm", "layernorm", "softmax", "silu", "add"):
        for tokens in (1, 16, 256, 4096):
            rows.append(f"{operation}:{tokens}x4096")
    return rows


class Refused(Exception):
    pass


def parsed(net):
    """Kind and numbers of a text of --net: `gemm:RxCxD`, `OPERATION:RxC` or an attention shape. Raises Refused."""
    head, *settings = net.split(",")
    product = re.fullmatch(r"gemm:(\d+)x(\d+)x(\d+)", head)
    operation = re.fullmatch(r"(\w+):(\d+)x(\d+)", net)
    if operation:
        if operation[1] not in ROWS:
            raise Refused(f"operation '{operation[1]}' ({net}); allowed: gemm, {', '.join(ROWS)}")
        return operation[1], [int(operation[2]), int(operation[3])], "fp16"
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


def input_bytes(net):
    kind, sizes, _ = parsed(net)
    if kind == "gemm":
        rows, columns, depth = sizes
        return 2 * (rows + columns) * depth
    if kind in ROWS:
        return 2 * sizes[0] * sizes[1]
    batch, heads, groups, queries, keys, size, _ = sizes
    return 2 * batch * size * (heads * queries + 2 * groups * keys)


class Gpu:
    """PyTorch on one GPU, with pynvml where it is installed."""

    def __init__(self, index, cold):
        try:
            import torch
        except ImportError:
            raise Refused("PyTorch is missing; install it, or use --dry-run") from None
        if not torch.cuda.is_available():
            raise Refused("PyTorch finds no CUDA GPU; --dry-run prints the rows")
        self.torch = torch
        torch.cuda.set_device(index)
        self.properties = torch.cuda.get_device_properties(index)
        self.cache_bytes = getattr(self.properties, "L2_cache_size", 64 << 20)
        self.cold = cold
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

    def idle(self, seconds=3):
        """Power of the GPU without work, as a line."""
        self.torch.zeros(1, device="cuda")
        time.sleep(1)
        before = self.asked("nvmlDeviceGetTotalEnergyConsumption")
        if before is None:
            return []
        begin = time.monotonic()
        time.sleep(seconds)
        used_mj = self.asked("nvmlDeviceGetTotalEnergyConsumption") - before
        return [f"idle power {used_mj / 1000 / (time.monotonic() - begin):.1f} W"]

    def call_of(self, net, kernels):
        """Name of the kernel and a function that launches it once. Attention: the first of `kernels` that runs it."""
        torch = self.torch
        kind, sizes, name = parsed(net)
        dtype = getattr(torch, TYPES[name])

        def tensor(*shape):
            return torch.randn(*shape, dtype=dtype, device="cuda")

        if kind == "gemm":
            rows, columns, depth = sizes
            a, b = tensor(rows, depth), tensor(columns, depth)
            return "linear", lambda: torch.nn.functional.linear(a, b)
        if kind in ROWS:
            x, length = tensor(*sizes), sizes[1]
            if kind == "add":
                y = tensor(*sizes)
                return kind, lambda: torch.add(x, y)
            return kind, lambda: ROWS[kind](torch.nn.functional, x, length)
        batch, heads, groups, queries, keys, size, causal = sizes
        q, k, v = tensor(batch, heads, queries, size), *(tensor(batch, groups, keys, size) for _ in range(2))
        grouped = {"enable_gqa": True} if heads != groups else {}

        def attention():
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, **grouped)

        from torch.nn.attention import SDPBackend, sdpa_kernel

        for kernel in kernels:
            backend = getattr(SDPBackend, KERNELS[kernel])

            def launch(backend=backend):
                with sdpa_kernel(backend):
                    return attention()

            try:
                launch()
                return f"sdpa_{kernel}", launch
            except RuntimeError:
                continue
        raise Refused(f"no attention kernel of {', '.join(kernels)} runs it ({net})")

    def graph_of(self, launches, count):
        """`count` launches in turn as one CUDA graph: the host's time per launch is not measured."""
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            for i in range(count):
                launches[i % len(launches)]()
        return graph

    def elapsed_us(self, graph):
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1000

    def measure(self, net, kernels, repeats, energy_ms):
        kernel, launch = self.call_of(net, kernels)
        launches = [launch]
        if self.cold:  # as many sets of inputs as are twice the L2
            launches += [self.call_of(net, kernels)[1] for _ in range(2 * self.cache_bytes // input_bytes(net))]
        for launch in launches * 3:
            launch()
        self.torch.cuda.synchronize()
        # As many launches as take 2 ms, at most 1,000, in rounds of all sets.
        each_us = self.elapsed_us(self.graph_of(launches, len(launches))) / len(launches)
        rounds = min(1000, math.ceil(2000 / max(each_us, 1))) / len(launches)
        count = max(1, math.ceil(rounds)) * len(launches)
        graph = self.graph_of(launches, count)
        self.elapsed_us(graph)
        time_us = statistics.median(self.elapsed_us(graph) for _ in range(repeats)) / count
        row = dict.fromkeys(COLUMNS, "")
        row.update(net=net, time_us=f"{time_us:.3f}", kernel=kernel, cache="cold" if self.cold else "warm")
        row.update(self.steady(graph, count, time_us, energy_ms))
        return row

    def steady(self, graph, count, time_us, energy_ms):
        """Time, power and energy of a launch while the GPU works without pause.

        The driver updates its energy counter about ten times a second: power is taken between two updates.
        """
        if self.asked("nvmlDeviceGetTotalEnergyConsumption") is None:
            return {}
        replays = max(1, math.ceil(10000 / (time_us * count)))  # in a batch of about 10 ms
        batches = [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]
        ends, updates, clocks = [], [], []

        def work(event):
            for _ in range(replays):
                graph.replay()
            event.record()

        for event in batches:
            work(event)
        begin = time.monotonic()
        last_mj = self.asked("nvmlDeviceGetTotalEnergyConsumption")
        # A third of the time lets the clock settle under the power limit.
        while not updates or updates[-1][0] - updates[0][0] < energy_ms / 1000 or len(updates) < 2:
            event = batches[len(ends) % 2]
            event.synchronize()
            ends.append(time.monotonic())
            work(event)
            now_mj = self.asked("nvmlDeviceGetTotalEnergyConsumption")
            if now_mj != last_mj and time.monotonic() - begin > energy_ms / 3000:
                updates.append((time.monotonic(), now_mj))
                clocks.append(self.asked("nvmlDeviceGetClockInfo", self.nvml.NVML_CLOCK_SM))
            last_mj = now_mj
            if time.monotonic() - begin > 10 + energy_ms / 250:
                break  # a counter that stands still
        self.torch.cuda.synchronize()
        if len(updates) < 2:
            return {}
        kept = [end for end in ends if end >= updates[0][0]]
        if len(kept) < 2:
            kept = ends[-2:]
        steady_us = (kept[-1] - kept[0]) * 1e6 / ((len(kept) - 1) * replays * count)
        watts = (updates[-1][1] - updates[0][1]) / 1000 / (updates[-1][0] - updates[0][0])
        row = {"steady_us": f"{steady_us:.3f}", "power_w": f"{watts:.1f}", "energy_mj": f"{watts * steady_us / 1000:.4g}"}
        if None not in clocks:
            row["clock_mhz"] = f"{statistics.mean(clocks):.0f}"
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", metavar="FILE", help="write the CSV here, not to standard output")
    parser.add_argument("--net", action="append", metavar="TEXT", help="measure this row, not the default ones")
    parser.add_argument("--kernel", choices=list(KERNELS), help="attention by this kernel of PyTorch")
    parser.add_argument("--gpu", type=int, default=0, metavar="INDEX", help="index of the GPU")
    parser.add_argument("--repeats", type=int, default=21, metavar="N", help="timings, of which the median is written")
    parser.add_argument("--energy-ms", type=int, default=500, metavar="T", help="time per row for its energy [ms]")
    parser.add_argument("--cold", action="store_true", help="inputs in turn from tensors of twice the L2")
    parser.add_argument("--dry-run", action="store_true", help="print the rows without measuring")
    options = parser.parse_args()
    nets = options.net or default_rows()
    for net in nets:
        parsed(net)
    for name in ("repeats", "energy_ms"):
        if getattr(options, name) < 1:
            raise Refused(f"--{name.replace('_', '-')} {getattr(options, name)}; allowed is 1 or more")
    kernels = [options.kernel] if options.kernel else ["flash", "efficient", "math"]
    rows, comments = [], []
    if options.dry_run:
        rows = [{**dict.fromkeys(COLUMNS, ""), "net": net} for net in nets]
    else:
        gpu = Gpu(options.gpu, options.cold)
        comments = gpu.description() + gpu.idle() + [
            f"median of {options.repeats} timings by CUDA events; "
            f"launches one after the other, as a CUDA graph, " +
            ("inputs in turn from tensors of twice the L2" if options.cold else "of the same inputs")]
        for done, net in enumerate(nets, 1):
            try:
                rows.append(gpu.measure(net, kernels, options.repeats, options.energy_ms))
                print(f"{done}/{len(nets)} {net}: {rows[-1]['time_us']} us", file=sys.stderr)
            except Refused as problem:  # the file says which rows it lacks
                comments.append(str(problem))
                print(f"{done}/{len(nets)} {problem}", file=sys.stderr)
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
