#!/usr/bin/env python3
"""The source tree: includes point downwards only, and folders have at most 25 C++ files.

    tree_test.py SOURCE_DIR
"""
import re
import sys
from pathlib import Path

# Folders that the sources of a folder may include. The longest name that is a prefix of a path applies.
ABOVE = {
    "cli": ["cli", "explore", "platform", "models", "firmware", "benchmarks"],
    "explore": ["explore", "platform", "models", "firmware"],
    "platform": ["platform", "models", "firmware"],
    "rtl": ["rtl", "models", "firmware/hal"],
    "models": ["models", "firmware/hal"],
    "firmware": ["firmware"],
    "firmware/runtime": ["firmware/runtime", "firmware/hal"],
    "firmware/hal": ["firmware/hal"],
}
# Exceptions: includes that point upwards. The list may only shrink.
UPWARDS = {
    "models/control/riscv/elf_file.cpp": ["platform/base/files.h", "platform/machine/error.h"],
}
MOST_FILES = 25  # C++ files of a folder, its subfolders not counted


def included(file):
    """The project's own headers; generated ones have no folder."""
    return [name for name in re.findall(r'^#include "([^"]+)"', file.read_text(), re.M) if "/" in name]


def is_in(path, folder):
    return path.startswith(folder + "/")


def main(root):
    problems = []
    counts = {}
    for top in sorted({folder.split("/")[0] for folder in ABOVE} | {"tests", "benchmarks", "python"}):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".cpp", ".h"):
                continue
            path = file.relative_to(root).as_posix()
            folder = file.parent.relative_to(root).as_posix()
            counts[folder] = counts.get(folder, 0) + 1
            rules = [name for name in ABOVE if is_in(path, name)]
            if not rules:
                continue
            allowed = ABOVE[max(rules, key=len)]
            upwards = [name for name in included(file) if not any(is_in(name, below) for below in allowed)]
            known = UPWARDS.get(path, [])
            problems += [f"{path} includes {name}; allowed: {', '.join(allowed)}" for name in upwards if name not in known]
            problems += [f"{path} no longer includes {name}; remove it from UPWARDS" for name in known if name not in upwards]
    for folder, count in counts.items():
        if count > MOST_FILES:
            problems.append(f"{folder} has {count} C++ files; allowed are {MOST_FILES}")
    for problem in problems:
        print(problem)
    print(f"{sum(counts.values())} files in {len(counts)} folders, {len(problems)} problems")
    return 1 if problems or not counts else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
