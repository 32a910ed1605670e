#!/usr/bin/env python3
"""Measures parameters of a machine file on a CUDA GPU: rates, bandwidths, latencies, launches, and their power.

    measure_parameters.py [--out parameters.csv] [--energy-ms 500]

Needs CuPy; pynvml adds power. Columns: parameter, value, unit, power_w, clock_mhz (of the multiprocessors, from their
own cycle counter), note. Inputs are random: power depends on the bits that toggle.
"""

import argparse
import csv
import io
import statistics
import sys
import time

SOURCE = r"""
extern "C" {
__global__ void empty() {}

// All blocks read `bytes` of memory `rounds` times, past L1.
__global__ void __launch_bounds__(512, 2) read_global(const uint4* data, size_t count, int rounds, unsigned* out, long long* cycles) {
  const long long begin = clock64();
  uint4 sum{0, 0, 0, 0};
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  for (int r = 0; r < rounds; ++r) {
    size_t i = (size_t)((blockIdx.x + r * 37) % gridDim.x) * blockDim.x + threadIdx.x;
    for (; i + 3 * stride < count; i += 4 * stride) {
      const uint4 a = __ldcg(data + i), b = __ldcg(data + i + stride);
      const uint4 c = __ldcg(data + i + 2 * stride), d = __ldcg(data + i + 3 * stride);
      sum.x ^= a.x ^ b.x ^ c.x ^ d.x;
      sum.y ^= a.y ^ b.y ^ c.y ^ d.y;
      sum.z ^= a.z ^ b.z ^ c.z ^ d.z;
      sum.w ^= a.w ^ b.w ^ c.w ^ d.w;
    }
  }
  if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 0x12345678) *out = sum.x;
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - begin;
}

__global__ void __launch_bounds__(512, 2) copy_global(const uint4* data, uint4* to, size_t count, int rounds, long long* cycles) {
  const long long begin = clock64();
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  for (int r = 0; r < rounds; ++r)
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) __stcg(to + i, __ldcg(data + i));
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - begin;
}

__global__ void chase(const unsigned* next, unsigned at, int steps, unsigned* out, long long* cycles) {
  for (int i = 0; i < 64; ++i) at = __ldcg(next + at);
  const long long begin = clock64();
  for (int i = 0; i < steps; ++i) at = __ldcg(next + at);
  *cycles = (clock64() - begin) / steps;
  *out = at;
}

__global__ void read_shared(const uint4* data, int rounds, unsigned* out, long long* cycles) {
  __shared__ uint4 tile[1024];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  const unsigned base = (unsigned)__cvta_generic_to_shared(tile);
  const long long begin = clock64();
  uint4 sum{0, 0, 0, 0};
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      uint4 a;
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(a.x), "=r"(a.y), "=r"(a.z), "=r"(a.w)
                   : "r"(base + 16 * ((threadIdx.x + 32 * (i + (sum.x & 1))) & 1023)));
      sum.x ^= a.x; sum.y ^= a.y; sum.z ^= a.z; sum.w ^= a.w;
    }
  }
  if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 0x12345678) *out = sum.x;
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - begin;
}

// Four independent products of m16n8k16 a warp, FP16 with FP32 sums.
__global__ void tensor(const unsigned* data, int rounds, float* out, long long* cycles) {
  unsigned a[4], b[8];
  for (int i = 0; i < 4; ++i) a[i] = data[(threadIdx.x * 12 + i) & 4095] & 0x3bff3bff;
  for (int i = 0; i < 8; ++i) b[i] = data[(threadIdx.x * 12 + 4 + i) & 4095] & 0xbbff3bff;
  float c[4][4] = {};
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * i]), "r"(b[2 * i + 1]));
  }
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];
  if (sum == 1.25f) *out = sum;
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - begin;
}

__global__ void multiply_add(const float* data, int rounds, float* out, long long* cycles) {
  float x[8];
  for (int i = 0; i < 8; ++i) x[i] = data[(threadIdx.x * 8 + i) & 4095];
  const float m = data[threadIdx.x & 4095] * 1e-3f + 1.0f, n = data[(threadIdx.x + 7) & 4095];
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = fmaf(x[i], m, n);
  }
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += x[i];
  if (sum == 1.25f) *out = sum;
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - begin;
}

__global__ void exponential(const float* data, int rounds, float* out, long long* cycles) {
  float x[8];
  for (int i = 0; i < 8; ++i) x[i] = data[(threadIdx.x * 8 + i) & 4095];
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 8; ++i) asm volatile("ex2.approx.f32 %0, %0;" : "+f"(x[i]));
  }
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += x[i];
  if (sum == 1.25f) *out = sum;
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - begin;
}
}
"""


class Parameters:
    def __init__(self, energy_ms):
        import cupy

        self.cp, self.energy_ms, self.rows = cupy, energy_ms, []
        self.module = cupy.RawModule(code=SOURCE, options=("-std=c++17",))
        properties = cupy.cuda.runtime.getDeviceProperties(0)
        self.name, self.sms = properties["name"].decode(), properties["multiProcessorCount"]
        self.l2 = properties["l2CacheSize"]
        self.out = cupy.zeros(4, dtype=cupy.uint32)
        self.cycles = cupy.zeros(1, dtype=cupy.int64)
        try:
            import pynvml

            pynvml.nvmlInit()
            handle = pynvml.nvmlDeviceGetHandleByIndex(0)
            pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)
            self.energy_mj = lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)
        except Exception:  # without NVML the column stays empty
            self.energy_mj = None

    def timed_us(self, launch, times=1):
        start, end = self.cp.cuda.Event(), self.cp.cuda.Event()
        start.record()
        for _ in range(times):
            launch()
        end.record()
        end.synchronize()
        return self.cp.cuda.get_elapsed_time(start, end) * 1000 / times

    def add(self, parameter, value, unit, launch=None, clock_mhz="", note=""):
        power = ""
        if launch is not None and self.energy_mj is not None:
            times = max(1, int(10000 / self.timed_us(launch)))
            last, updates, begin = self.energy_mj(), [], time.monotonic()
            while len(updates) < 2 or updates[-1][0] - updates[0][0] < self.energy_ms / 1000:
                for _ in range(times):
                    launch()
                self.cp.cuda.Device().synchronize()
                now = self.energy_mj()
                # The counter is updated about ten times a second; a third of the time lets the clock settle.
                if now != last and time.monotonic() - begin > self.energy_ms / 3000:
                    updates.append((time.monotonic(), now))
                last = now
                if time.monotonic() - begin > 10 + self.energy_ms / 250:
                    break
            if len(updates) > 1:
                power = f"{(updates[-1][1] - updates[0][1]) / 1000 / (updates[-1][0] - updates[0][0]):.1f}"
        row = dict(parameter=parameter, value=f"{value:.6g}", unit=unit, power_w=power, clock_mhz=clock_mhz, note=note)
        self.rows.append(row)
        print(row, file=sys.stderr, flush=True)

    def rate(self, parameter, launch, work, unit, note):
        """`work` of a launch per multiprocessor and cycle, by time and by the clock that the launch had."""
        for _ in range(3):
            launch()
        us = statistics.median(self.timed_us(launch) for _ in range(9))
        clock_mhz = int(self.cycles[0]) / us
        self.add(parameter, work / self.sms / (us * clock_mhz), unit, launch, f"{clock_mhz:.0f}", note)

    def kernel(self, name, blocks, threads, *arguments):
        function = self.module.get_function(name)
        return lambda: function((blocks,), (threads,), arguments)

    def launches(self):
        stream = self.cp.cuda.Stream(non_blocking=True)
        for blocks, note in ((1, "an empty kernel of one block"), (self.sms, "of one block a multiprocessor"),
                             (32 * self.sms, "of 32 blocks a multiprocessor"), (256 * self.sms, "of 256")):
            with stream:
                function = self.module.get_function("empty")
                stream.begin_capture()
                for _ in range(500):
                    function((blocks,), (256,), ())
                graph = stream.end_capture()
                times = []
                for _ in range(7):
                    start, end = self.cp.cuda.Event(), self.cp.cuda.Event()
                    start.record()
                    graph.launch()
                    end.record()
                    end.synchronize()
                    times.append(self.cp.cuda.get_elapsed_time(start, end) * 1000 / 500)
            self.add("control.launch", statistics.median(times), "us", note=f"{note}, in a CUDA graph")

    def all(self):
        import numpy

        cp, sms = self.cp, self.sms
        random = cp.random.randint(0, 2**31 - 1, 4096, dtype=cp.int32).view(cp.uint32)
        floats = cp.random.rand(4096, dtype=cp.float32) - 0.5
        rounds = numpy.int32(20000)
        self.rate("mac", self.kernel("tensor", sms, 512, random, rounds, self.out.view(cp.float32), self.cycles),
                  sms * 16 * 4 * 16 * 8 * 16 * 20000, "multiply-adds per multiprocessor and cycle",
                  "mma.sync m16n8k16, FP16 with FP32 sums, operands in registers, 16 warps")
        self.rate("vec.lanes", self.kernel("multiply_add", sms, 1024, floats, rounds, self.out.view(cp.float32),
                                           self.cycles),
                  sms * 1024 * 8 * 20000, "FP32 multiply-adds per multiprocessor and cycle", "32 warps")
        self.rate("vec.exp", self.kernel("exponential", sms, 1024, floats, numpy.int32(4000),
                                         self.out.view(cp.float32), self.cycles),
                  sms * 1024 * 8 * 4000, "exponentials per multiprocessor and cycle", "ex2.approx, 32 warps")
        self.rate("l1.shared", self.kernel("read_shared", sms, 1024, random.view(cp.uint32), numpy.int32(4000), self.out,
                                           self.cycles),
                  sms * 1024 * 16 * 8 * 4000, "B per multiprocessor and cycle", "reads of 16 B, at least this rate")
        for size, rounds, parameter, note in ((4 << 20, 400, "dram.l2_bandwidth", "reads of 4 MiB"),
                                              (16 << 20, 100, "dram.l2_bandwidth", "reads of 16 MiB"),
                                              (24 << 20, 70, "dram.l2_bandwidth", "reads of 24 MiB"),
                                              (4 << 30, 1, "dram.bandwidth", "reads of 4 GiB")):
            data = cp.random.randint(0, 2**31 - 1, min(size, 1 << 28) // 4, dtype=cp.int32).view(cp.uint32)
            if data.nbytes < size:
                data = cp.tile(data, size // data.nbytes)
            launch = self.kernel("read_global", 2 * sms, 512, data, numpy.uint64(size // 16), numpy.int32(rounds),
                                 self.out, self.cycles)
            launch()
            us = statistics.median(self.timed_us(launch) for _ in range(9))
            clock_mhz = int(self.cycles[0]) / us
            self.add(parameter, size * rounds / us / 1e3, "GB/s", launch, f"{clock_mhz:.0f}", note)
            del data
        for size, rounds, parameter, note in ((4 << 20, 200, "dram.l2_bandwidth", "copies of 4 MiB, both ways counted"),
                                              (12 << 20, 70, "dram.l2_bandwidth", "copies of 12 MiB, both ways counted"),
                                              (2 << 30, 1, "dram.bandwidth", "copies of 2 GiB, both ways counted")):
            data = cp.zeros(size // 4, dtype=cp.uint32)
            data[:] = cp.tile(random, size // random.nbytes)
            to = cp.zeros_like(data)
            launch = self.kernel("copy_global", 2 * sms, 512, data, to, numpy.uint64(size // 16), numpy.int32(rounds),
                                 self.cycles)
            launch()
            us = statistics.median(self.timed_us(launch) for _ in range(9))
            self.add(parameter, 2 * size * rounds / us / 1e3, "GB/s", launch, f"{int(self.cycles[0]) / us:.0f}", note)
            del data, to
        for size, parameter in ((16 << 20, "dram.l2_latency"), (2 << 30, "dram.latency")):
            lines = size // 128
            order = cp.random.permutation(lines).astype(cp.uint32)
            data = cp.zeros(size // 4, dtype=cp.uint32)
            data[order.astype(cp.int64) * 32] = cp.roll(order, -1) * 32
            steps = min(lines // 4, 20000)
            if parameter == "dram.l2_latency":
                self.kernel("read_global", 2 * sms, 512, data, numpy.uint64(size // 16), numpy.int32(4), self.out,
                            self.cycles)()
            times = []
            for i in range(3):  # from elsewhere each time, so that the loads before it left nothing of use
                start = numpy.uint32(int(order[i * lines // 3]) * 32)
                times.append(self.timed_us(self.kernel("chase", 1, 1, data, start, numpy.int32(steps), self.out,
                                                       self.cycles)) / (steps + 64))
            us = statistics.median(times)
            self.add(parameter, us * 1000, "ns", note=f"a chain of loads over {size >> 20} MiB, to the thread")
            del data
        self.launches()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", metavar="FILE", help="write the CSV here, not to standard output")
    parser.add_argument("--energy-ms", type=int, default=500, metavar="T", help="time per row for its power [ms]")
    options = parser.parse_args()
    if options.energy_ms < 1:
        print(f"measure_parameters.py: --energy-ms {options.energy_ms}; allowed is 1 or more", file=sys.stderr)
        return 2
    try:
        parameters = Parameters(options.energy_ms)
    except ImportError:
        print("measure_parameters.py: CuPy is missing; install it", file=sys.stderr)
        return 2
    parameters.all()
    text = io.StringIO()
    text.write(f"# {parameters.name}, {parameters.sms} multiprocessors, L2 of {parameters.l2 >> 20} MiB\n")
    writer = csv.DictWriter(text, list(parameters.rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(parameters.rows)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(text.getvalue())
    else:
        sys.stdout.write(text.getvalue())
    return 0


if __name__ == "__main__":
    sys.exit(main())
