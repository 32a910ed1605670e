"""`--dataflow auto` held against every dataflow on machines and layers at random, each with the tiles that are chosen for
it, the best of them with tiles that are searched: a Markdown page on stdout, docs/auto.md. Some half an hour.

    python3 tests/explore/auto_campaign.py build/release/cli/attnvp [FIRST LAST] > docs/auto.md
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import threading

BUDGET = 40    # simulations of the search
SECONDS = 120  # for each command


def case(number):
    r = random.Random(number * 6151 + 11)
    array = r.choice([8, 16, 32, 64, 128, 256])
    l0 = max(48, 16 * array * array // 1024)
    l1 = max(r.choice([128, 256, 512, 1024, 2048, 5120, 16384]), 2 * l0)
    keys = [f"clusters={r.choice([1, 1, 2, 4, 16, 64])}", f"cores={r.choice([1, 2, 4])}",
            f"mac.rows={array}", f"mac.columns={array}", f"vec.lanes={r.choice([16, 64, 256])}",
            f"l0.size={l0} KiB", f"l1.size={l1} KiB",
            f"dram.bandwidth={r.choice([10, 30, 100, 500, 2000])} GB/s"]
    heads = r.choice([2, 4, 8, 12])
    net = f"H={heads},E={r.choice([32, 64, 128])}"
    if heads >= 4 and r.random() < 0.4:
        net += f",HKV={heads // 4}"
    if r.random() < 0.25:
        return keys, net + f",phase=decode,batch={r.choice([1, 4, 16])},cache={r.choice([256, 1000, 4096])}"
    tokens = r.choice([100, 128, 196, 256, 512, 1024])
    net += f",N={tokens}"
    kind = r.random()
    if kind < 0.35:
        net += ",causal=1"
    elif kind < 0.5:
        net += f",causal=1,window={tokens // 4}"
    return keys, net


class Timed:
    """A command's standard output as JSON, and the processor's seconds that it took."""

    def __init__(self, command):
        # rusage of one child, whatever others run beside it
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
            watch = threading.Timer(SECONDS, child.kill)
            watch.start()
            _, _, usage = os.wait4(child.pid, 0)
            watch.cancel()
            child.returncode = 0
            out.seek(0)
            self.json = json.loads(out.read())
        self.seconds = usage.ru_utime + usage.ru_stime


def run(binary, number):
    """What came out for one case; None where a command takes too long or nothing fits."""
    keys, net = case(number)
    common = ["--hw", "edge", "--net", net]
    for key in keys:
        common += ["--set", key]
    timing = ["--data", "timing", "--json", "-"]
    try:
        auto = Timed([binary, "run", *common, "--dataflow", "auto", *timing])
        rows = Timed([binary, "compare", *common, "--jobs", "1", *timing]).json
        rows = sorted((r for r in rows if r.get("cycles")), key=lambda r: r["cycles"])
        best = rows[0]
        found = Timed([binary, "search", *common, "--dataflow", best["dataflow"], "--budget", str(BUDGET),
                       "--jobs", "1", "--json", "-"]).json
        tiling = ",".join(f"{k}={v}" for k, v in auto.json["tiling"].items())
        alone = [binary, "run", *common, "--dataflow", auto.json["dataflow"], "--tiling", tiling, *timing]
        runs = [Timed(alone) for _ in range(3)]
        once = min(r.seconds for r in runs)
        simulation = min(r.json["simulation"]["wall_seconds"] for r in runs)
    except (json.JSONDecodeError, KeyError, IndexError):
        return None
    return {"keys": keys, "net": net, "auto": auto.json["dataflow"], "cycles": auto.json["cycles"],
            "chosen": best["cycles"], "of": best["dataflow"], "searched": min(found["cycles"], best["cycles"]),
            "runs": auto.seconds / once, "simulations": auto.seconds / simulation, "seconds": auto.seconds}


def page(results, left_out):
    """The page's lines."""
    ratio = sorted(r["cycles"] / r["searched"] for r in results)
    mean = math.exp(sum(math.log(x) for x in ratio) / len(ratio))
    runs, simulations, seconds = (sorted(r[k] for r in results) for k in ("runs", "simulations", "seconds"))
    yield "# The dataflow that is picked, on machines and layers at random"
    yield ""
    yield (f"`--dataflow auto` on {len(results)} machines (1 to 64 clusters of 1 to 4 cores, arrays of 8 to 256 rows, L1 of 128 KiB to 16 MiB, 10 to "
           "2,000 GB/s) and layers (prefill of 100 to 1,024 tokens, half of them under a causal mask or a window, and decode; some with "
           "grouped queries), beside the best of all dataflows with the tiles that are chosen for each, and those of the best one "
           f"searched with {BUDGET} simulations more. {left_out} more did not fit or took longer than {SECONDS} seconds and are left out. Made by "
           "`tests/explore/auto_campaign.py`.")
    yield ""
    yield (f"Cycles against that best: within 2% in {sum(x <= 1.02 for x in ratio)}, fewer by more than 1% in {sum(x < 0.99 for x in ratio)}, "
           f"median {ratio[len(ratio) // 2]:.3f}, geometric mean {mean:.3f}, worst {ratio[-1]:.3f}.")
    yield ""
    yield (f"Time, the processor's seconds of the command with `auto` over those of the command that runs what it picked with its tiles given: median "
           f"{runs[len(runs) // 2]:.0f} runs, at most 20 in {sum(x <= 20 for x in runs)}, worst {runs[-1]:.0f}. Over that run's simulation alone, "
           f"without what a command takes besides: median {simulations[len(simulations) // 2]:.0f}, at most 20 in "
           f"{sum(x <= 20 for x in simulations)}. In seconds: median {seconds[len(seconds) // 2]:.2f}, worst {seconds[-1]:.1f}.")
    yield ""
    picked = {}
    for r in results:
        picked[r["auto"]] = picked.get(r["auto"], 0) + 1
    yield "Picked: " + ", ".join(f"`{d}` {picked[d]}" for d in sorted(picked, key=picked.get, reverse=True)) + "."
    yield ""
    yield "| cycles over the best | picked | best | layer | machine (over `edge`) |"
    yield "|---|---|---|---|---|"
    for r in sorted(results, key=lambda r: -r["cycles"] / r["searched"]):
        if r["cycles"] > 1.01 * r["searched"]:
            yield f"| {r['cycles'] / r['searched']:.3f} | `{r['auto']}` | `{r['of']}` | {r['net']} | {', '.join(r['keys'])} |"


def main():
    binary = sys.argv[1]
    first, last = (int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 3 else (580, 880)
    results = [run(binary, number) for number in range(first, last)]  # one at a time, as time is measured
    done = [r for r in results if r is not None]
    print("\n".join(page(done, len(results) - len(done))))


if __name__ == "__main__":
    main()
