"""Weave held against mas, flat, fusemax and tileflow on machines and layers at random, each with the tiles that the
platform chooses for it: a Markdown page on stdout, docs/weave.md. Half an hour on two cores.

    python3 tests/explore/weave_campaign.py build/release/cli/attnvp [FIRST LAST] > docs/weave.md
"""

import concurrent.futures
import json
import math
import random
import subprocess
import sys

OTHERS = ["mas", "flat", "fusemax", "tileflow"]
SECONDS = 200  # for all dataflows of one case together


def case(number):
    r = random.Random(number * 7919 + 5)
    array = r.choice([8, 16, 32, 64, 128, 256])
    l0 = max(48, 16 * array * array // 1024)
    l1 = max(r.choice([64, 128, 256, 512, 1024, 2048, 5120, 16384, 32768]), 2 * l0)
    keys = [f"clusters={r.choice([1, 1, 2, 4, 16, 64])}", f"cores={r.choice([1, 2, 4])}",
            f"mac.rows={array}", f"mac.columns={array}", f"vec.lanes={r.choice([16, 64, 256])}",
            f"l0.size={l0} KiB", f"l1.size={l1} KiB",
            f"dram.bandwidth={r.choice([4, 10, 30, 100, 500, 2000])} GB/s"]
    if r.random() < 0.3:
        keys.append(f"mac.resident_tiles={r.choice([8, 32])}")
    heads = r.choice([2, 4, 8, 12, 32])
    net = f"H={heads},N={r.choice([100, 128, 196, 256, 512, 1024, 2048])},E={r.choice([32, 64, 80, 128])}"
    if heads >= 4 and r.random() < 0.3:
        net += f",HKV={heads // 4}"
    if r.random() < 0.35:
        net += ",causal=1"
    return keys, net


def run(binary, number):
    """Cycles by dataflow and weave's walk; None where they take too long."""
    keys, net = case(number)
    command = [binary, "compare", "--hw", "edge", "--net", net, "--dataflow", ",".join(OTHERS + ["weave"]),
               "--data", "timing", "--jobs", "1", "--json", "-"]
    for key in keys:
        command += ["--set", key]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        rows = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return None
    cycles = {row["dataflow"]: row["cycles"] for row in rows if row.get("cycles")}
    if "weave" not in cycles:
        return None
    walk = next(row["tiling"]["walk"] for row in rows if row["dataflow"] == "weave")
    return number, keys, net, cycles, walk


def page(results, left_out):
    """The page's lines."""
    rows = []
    for number, keys, net, cycles, walk in results:
        others = {d: cycles[d] for d in OTHERS if d in cycles}
        best = min(others, key=others.get)
        rows.append((cycles["weave"] / others[best], number, keys, net, best, walk, others, cycles["weave"]))
    rows.sort(key=lambda row: -row[0])
    ratios = [row[0] for row in rows]
    walks = {}
    for row in rows:
        walks[row[5]] = walks.get(row[5], 0) + 1
    yield "# Weave on machines and layers at random"
    yield ""
    yield (f"`weave` beside `mas`, `flat`, `fusemax` and `tileflow`, each with the tiles that are chosen for it, on {len(rows)} machines "
           "(1 to 64 clusters of 1 to 4 cores, arrays of 8 to 256 rows, L1 of 64 KiB to 32 MiB, 4 to 2,000 GB/s) and layers (2 to 32 heads, "
           f"100 to 2,048 tokens, some causal, some with grouped queries). {left_out} more took longer than {SECONDS} seconds "
           "and are left out. Made by `tests/explore/weave_campaign.py`.")
    yield ""
    yield (f"Against the best of the four: median {sorted(ratios)[len(ratios) // 2]:.3f} of its cycles; more than 1% faster in "
           f"{sum(r < 0.99 for r in ratios)}, within 1% in {sum(0.99 <= r <= 1.01 for r in ratios)}, slower in {sum(r > 1.01 for r in ratios)}, "
           f"by more than 5% in {sum(r > 1.05 for r in ratios)}.")
    yield ""
    yield "| beside | weave faster by more than 1% | within 1% | weave slower by more than 1% | geometric mean of their cycles over weave's |"
    yield "|---|---|---|---|---|"
    for d in OTHERS:
        over = [row[6][d] / row[7] for row in rows if d in row[6]]
        mean = math.exp(sum(math.log(x) for x in over) / len(over))
        yield (f"| `{d}` | {sum(x > 1.01 for x in over)} | {sum(0.99 <= x <= 1.01 for x in over)} | "
               f"{sum(x < 0.99 for x in over)} | {mean:.2f} |")
    yield ""
    yield "Walks that were chosen: " + ", ".join(f"`{w}` {walks[w]}" for w in sorted(walks, key=walks.get, reverse=True)) + "."
    yield ""
    yield "## Where it loses"
    yield ""
    yield ("`mas`, `flat` and `fusemax` are walks of weave to the cycle (a test), and each walk is chosen for as its dataflow is; `tileflow` "
           "is its `pairs` drained for every head. What can be lost is lost where an estimate is more than 6% off, where a schedule has too "
           "many commands (300,000) to be run by the choice, or where `pairs` is given other tiles than `tileflow`. "
           "`--tiling walk=...` or `search` find the others.")
    yield ""
    yield "| weave over the best | best | walk | layer | machine (over `edge`) |"
    yield "|---|---|---|---|---|"
    for ratio, _, keys, net, best, walk, _, _ in rows:
        if ratio > 1.01:
            yield f"| {ratio:.3f} | `{best}` | `{walk}` | {net} | {', '.join(keys)} |"


def main():
    binary = sys.argv[1]
    first, last = (int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 3 else (2000, 2500)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda number: run(binary, number), range(first, last)))
    done = [r for r in results if r is not None]
    print("\n".join(page(done, len(results) - len(done))))


if __name__ == "__main__":
    main()
