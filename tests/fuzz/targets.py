"""Targets of fuzzing: one for every file format, one for the command line, and one for jobs that must succeed. A target
makes a random case: files, and command lines that use them."""
import glob
import json
import os

import mutators

SMALL = "H=1,N=16,E=16"


class Case:
    def __init__(self, files, commands, checks=None):
        self.files = files        # name: bytes
        self.commands = commands  # lists of arguments
        self.checks = checks      # for cases that must succeed: called with the folder and the results


def seeds_of(root, pattern):
    return {path: open(path, "rb").read() for path in sorted(glob.glob(os.path.join(root, pattern)))}


class Corpus:
    """Initial texts, by purpose."""

    def __init__(self, root, made):
        self.made = made  # folder with files written by the program
        self.texts = {name: [data.decode("utf-8") for data in seeds_of(root, pattern).values()]
                      for name, pattern in {"hardware": "configs/hardware/*.yaml", "network": "configs/networks/*.yaml",
                                            "tiling": "configs/tilings/*.yaml", "energy": "configs/energy/*.yaml",
                                            "stream": "configs/streams/*.yaml", "dram": "configs/dram/*.yaml"}.items()}

    def written(self, name):
        with open(os.path.join(self.made, name), "rb") as file:
            return file.read()


SWEEP = """hardware: edge-16nm
network: H=1,N=32,E=16
dataflow: [mas, flat]
axes:
  l1.size: [1 MiB, 2 MiB]
set:
  l1.ports: = 2 * cores + 1
"""
REQUESTS = "new_tokens,cached_tokens\n4,12\n1,30\n16,0\n"
PAGED = "new_tokens,cached_tokens,block_table\n4,12,0 1\n1,30,2 3 4\n16,0,5\n"


def hardware(dice, corpus):
    text = mutators.text(dice, dice.choice(corpus.texts["hardware"]))
    commands = [["describe", "in.yaml"]]
    if dice.random() < 0.5:
        commands.append(["run", "--hw", "in.yaml", "--net", SMALL, "--data", "timing", "--memory-limit", "2 GiB"])
    return Case({"in.yaml": text}, commands)


def network(dice, corpus):
    text = mutators.text(dice, dice.choice(corpus.texts["network"]))
    return Case({"in.yaml": text}, [["describe", "in.yaml"]])


def tiling(dice, corpus):
    text = mutators.text(dice, dice.choice(corpus.texts["tiling"]))
    return Case({"in.yaml": text}, [["run", "--net", SMALL, "--tiling", "in.yaml", "--data", "timing"]])


def energy(dice, corpus):
    text = mutators.text(dice, dice.choice(corpus.texts["energy"]))
    return Case({"in.yaml": text}, [["run", "--net", SMALL, "--set", "energy=in.yaml", "--data", "timing"]])


def dram(dice, corpus):
    text = mutators.text(dice, dice.choice(corpus.texts["dram"]))
    return Case({"in.yaml": text}, [["describe", "edge", "--set", "dram.policy=banked", "--set", "dram.part=in.yaml"]])


def sweep(dice, corpus):
    return Case({"in.yaml": mutators.text(dice, SWEEP)}, [["sweep", "in.yaml", "--dry-run", "--db", "out.db"]])


def stream(dice, corpus):
    text = mutators.text(dice, dice.choice(corpus.texts["stream"]))
    return Case({"in.yaml": text}, [["stream", "in.yaml", "--n", "8", "--d", "2"]])


def requests(dice, corpus):
    text = mutators.text(dice, dice.choice([REQUESTS, PAGED]))
    shape = "HKV=1,H=2,E=16,causal=1" + (",page=16" if dice.random() < 0.5 else "")
    return Case({"in.csv": text}, [["run", "--net", shape, "--requests", "in.csv", "--dataflow", "flash2", "--data", "timing"]])


def report(dice, corpus):
    text = corpus.written("run.json").decode()
    data = mutators.text(dice, text)
    if dice.random() < 0.4:  # still JSON, of another shape
        document = json.loads(text)
        for _ in range(dice.randrange(1, 4)):
            at = document
            while isinstance(at, (dict, list)) and at:
                keys = list(at) if isinstance(at, dict) else list(range(len(at)))
                key = dice.choice(keys)
                if dice.random() < 0.4 or not isinstance(at[key], (dict, list)):
                    at[key] = dice.choice([None, -1, 1e300, "x\u0007", [], {}, True, "</script>"])
                    break
                at = at[key]
        data = json.dumps(document).encode()
    return Case({"in.json": data}, [["report", "in.json", "--output", "out.html"]])


def database(dice, corpus):
    data = mutators.binary(dice, corpus.written("sweep.db"))
    return Case({"in.db": data}, [dice.choice([["pareto", "in.db"], ["sensitivity", "in.db"],
                                               ["merge", "in.db", "--db", "out.db"]])])


def elf(dice, corpus):
    data = mutators.binary(dice, corpus.written("firmware.elf"))
    return Case({"in.elf": data}, [dice.choice([
        ["describe", "in.elf"], ["riscv", "in.elf", "--max-cycles", "100000"],
        ["schedule", "--firmware", "in.elf", "--net", SMALL, "--most", "10"]])])


def npy(dice, corpus):
    data = mutators.binary(dice, corpus.written("out.npy"))
    return Case({"in.npy": data}, [["run", "--net", SMALL, "--q", "in.npy"]])


def measurements(dice, corpus):
    text = "M,N,K,L,mM,mK1,mK2,rtl_cycles\n64,64,64,64,16,16,16,9000\n128,64,64,32,32,16,16,12000\n"
    return Case({"in.csv": mutators.text(dice, text)}, [["validate", "--data", "in.csv"]])


WORDS = ["run", "compare", "list", "describe", "search", "sweep", "schedule", "check", "stream", "report", "new", "riscv",
         "pareto", "merge", "help", "--hw", "edge", "--net", SMALL, "--dataflow", "mas", "flat:prefetch=off", "--set",
         "l1.size=1 KiB", "cores=0", "clusters=1000000", "--tiling", "nq=0", "nq=16,nkv=16", "--json", "-", "/dev/full",
         "/nowhere/x.json", "--data", "timing", "--jitter", "--check", "--seed", "18446744073709551615", "-1", "--vcd",
         "/dev/null", "--trace-from", "5 parsecs", "--most", "0", "--help", "--version", "--", "", "\x07", "\udce9", "a\nb", "keys",
         "H=0", "H=1,N=1,E=1", "H=99999999,N=99999999,E=1", "--n", "--d", "--memory-limit", "1 KiB", "--vec", "rtl", "--cpu",
         "riscv", "--timeline", "--profile", "x.html", "--out", "o.npy", "--trace-scope", "*"]


def command_line(dice, corpus):
    words = ["run", "--net", SMALL, "--data", "timing"] if dice.random() < 0.5 else []
    for _ in range(dice.randrange(0, 7)):
        words.insert(dice.randrange(len(words) + 1), dice.choice(WORDS).replace("\0", ""))
    if words and words[0] in ("search", "validate", "bench", "reproduce", "calibrate", "worker"):
        words[0] = "describe"
    return Case({}, [words])


def jobs(dice, corpus):
    """A job that may be refused but not fail: golden bytes, no findings, equal results for all latencies."""
    heads, keys, width = dice.randrange(1, 5), dice.randrange(1, 100), dice.randrange(1, 60)
    queries = dice.choice([1, keys, dice.randrange(1, keys + 1)])
    net = f"B={dice.choice([1, 1, 2])},H={heads},NQ={queries},NKV={keys},E={width}"
    if dice.random() < 0.4:
        net += ",causal=1" + (f",window={dice.randrange(1, keys + 1)}" if dice.random() < 0.5 else "")
    if dice.random() < 0.3:
        net += f",HKV={dice.choice([h for h in range(1, heads + 1) if heads % h == 0])}"
    if dice.random() < 0.3:
        net += f",type={dice.choice(['int8', 'fp8_e4m3', 'fp8_e5m2', 'bf16'])}"
    flow = dice.choice(["layerwise", "softpipe", "flat", "flat:prefetch=off", "tileflow", "mas", "mas:overwrite=on", "fusemax",
                        "cascade", "lean", "flash-decoding", "flash2", "flash3", "flash2:kernels=2", "flash3:grid=blocks"])
    job = ["run", "--hw", dice.choice(["edge", "edge-small", "cluster3", "edge-lpddr4", "fusemax"]), "--net", net,
           "--dataflow", flow]
    if dice.random() < 0.5:
        job += ["--set", f"l1.size={dice.choice([16, 64, 256])} KiB"]
    if dice.random() < 0.3:
        job += ["--tiling", f"nq={dice.randrange(1, queries + 1)}"]

    def checks(folder, results):
        statuses = {status for status, _, _ in results}
        if statuses != {0}:
            same = len(statuses) == 1 and statuses <= {1, 2}
            return None if same and b"golden" not in results[0][2] else "does not end as it does otherwise"
        full, timing, shaken = (json.loads(out) for _, out, _ in results)
        for result in (full, shaken):
            if not result["golden"]["passed"]:
                return "the golden check failed"
        if full["check"]["found"] != 0:
            return "the checker has findings: " + full["check"]["findings"][0]["text"]
        if full["cycles"] != timing["cycles"] or full["dram"] != timing["dram"]:
            return "timing and full data differ"
        with open(os.path.join(folder, "a.npy"), "rb") as a, open(os.path.join(folder, "b.npy"), "rb") as b:
            return None if a.read() == b.read() else "random delays change the output"

    commands = [job + ["--check", "--out", "a.npy", "--json", "-"], job + ["--data", "timing", "--json", "-"],
                job + ["--jitter", str(dice.randrange(1 << 32)), "--out", "b.npy", "--json", "-"]]
    return Case({}, commands, checks)


TARGETS = [hardware, network, tiling, energy, dram, sweep, stream, requests, report, database, elf, npy, measurements,
           command_line, jobs]
