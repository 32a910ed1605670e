#!/usr/bin/env python3
"""Fuzzing of the whole program: mutated files of every format, command lines, random jobs, kills and full disks.

  fuzz.py PROGRAM --minutes M [--seed S] [--only TARGET,...]   new cases, target after target, until the time is over
  fuzz.py PROGRAM --cases N                                    so many of each
  fuzz.py PROGRAM --regress                                    what was found before (tests/fuzz/regress), again

Equal seeds make equal cases. Exit status 1 with findings, each kept as a folder with its files and `command.json`."""
import argparse
import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import time

import campaigns
import oracle
import targets

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REGRESS = os.path.join(ROOT, "tests", "fuzz", "regress")


def corpus(program, folder):
    """Files written by the program, for mutation."""
    def must(*arguments):
        status, _, err = oracle.run([program, *arguments], folder)
        if status != 0:
            sys.exit(f"fuzz: {' '.join(arguments)}: {err.decode('utf-8', 'replace')}")
    must("run", "--net", targets.SMALL, "--json", "run.json", "--out", "out.npy")
    with open(os.path.join(folder, "sweep.yaml"), "w", encoding="utf-8") as file:
        file.write(targets.SWEEP)
    must("sweep", "sweep.yaml", "--db", "sweep.db")
    elf = os.path.join(os.path.dirname(os.path.dirname(program)), "firmware", "riscv")
    programs = [os.path.join(elf, name) for name in os.listdir(elf)] if os.path.isdir(elf) else []
    found = [name for name in programs if name.endswith(".elf")]
    if found:
        shutil.copy(sorted(found)[0], os.path.join(folder, "firmware.elf"))
    return targets.Corpus(ROOT, folder)


def attempt(program, case, env):
    """Finding in a case, or None."""
    with tempfile.TemporaryDirectory(prefix="attnvp-fuzz-") as folder:
        for name, data in case.files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        results = []
        for arguments in case.commands:
            words = [a.encode("utf-8", "surrogateescape") for a in arguments]
            results.append(oracle.run([program.encode(), *words], folder, env))
            wrong = oracle.check(results[-1][0], results[-1][2])
            if wrong:
                return f"{wrong}: {results[-1][2].decode('utf-8', 'replace')[:600]}"
        return case.checks(folder, results) if case.checks else None


def keep(where, target, seed, case, wrong):
    name = hashlib.sha256(repr((case.files, case.commands)).encode()).hexdigest()[:12]
    folder = os.path.join(where, f"{target}-{name}")
    os.makedirs(folder, exist_ok=True)
    for file, data in case.files.items():
        with open(os.path.join(folder, file), "wb") as out:
            out.write(data)
    with open(os.path.join(folder, "command.json"), "w", encoding="utf-8") as out:
        json.dump({"target": target, "seed": seed, "commands": case.commands, "found": wrong}, out, indent=2)
        out.write("\n")
    return folder


def regress(program, env):
    failures = 0
    names = sorted(os.listdir(REGRESS)) if os.path.isdir(REGRESS) else []
    for name in names:
        folder = os.path.join(REGRESS, name)
        if not os.path.isdir(folder):
            continue
        with open(os.path.join(folder, "command.json"), encoding="utf-8") as file:
            commands = json.load(file)["commands"]
        files = {}
        for other in os.listdir(folder):
            if other != "command.json":
                with open(os.path.join(folder, other), "rb") as file:
                    files[other] = file.read()
        wrong = attempt(program, targets.Case(files, commands), env)
        if wrong:
            failures += 1
            print(f"{name}: {wrong}")
    print(f"{len(names)} inputs, {failures} findings")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--findings", default=os.path.join(ROOT, "build", "fuzz"))
    parser.add_argument("--regress", action="store_true")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:detect_stack_use_after_return=1:allocator_may_return_null=1")
    if arguments.regress:
        return 1 if regress(program, env) else 0

    only = arguments.only.split(",") if arguments.only else None
    outside = {"kill_and_resume": campaigns.kill_and_resume, "full_disk": campaigns.full_disk}
    known = {t.__name__: t for t in targets.TARGETS}
    names = [n for n in [*known, *outside] if only is None or n in only]
    end = time.monotonic() + 60 * arguments.minutes if arguments.minutes else None
    counts, findings = dict.fromkeys(names, 0), []
    with tempfile.TemporaryDirectory(prefix="attnvp-corpus-") as made:
        texts = corpus(program, made)
        number = 0
        while (end is None or time.monotonic() < end) and (arguments.cases is None or number < arguments.cases):
            for name in names:
                if end is not None and time.monotonic() >= end:
                    break
                if name in ("kill_and_resume", "full_disk") and number % 10 != 0:
                    continue
                if name == "elf" and not os.path.exists(os.path.join(made, "firmware.elf")):
                    continue
                seed = f"{arguments.seed}/{name}/{number}"
                dice = random.Random(seed)
                case = targets.Case({}, [])
                if name in outside:
                    with tempfile.TemporaryDirectory(prefix="attnvp-fuzz-") as folder:
                        wrong = outside[name](program, folder, dice)
                else:
                    case = known[name](dice, texts)
                    wrong = attempt(program, case, env)
                counts[name] += 1
                if wrong:
                    findings.append((name, keep(arguments.findings, name, seed, case, wrong), wrong))
                    print(f"{name} ({seed}): {wrong}\n  kept in {findings[-1][1]}", flush=True)
            number += 1
    print("cases: " + ", ".join(f"{name} {count}" for name, count in counts.items()))
    print(f"{sum(counts.values())} cases, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
