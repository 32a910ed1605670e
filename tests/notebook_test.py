#!/usr/bin/env python3
"""Executes the code cells of notebooks in order, each notebook in a folder of its own.
    notebook_test.py NOTEBOOK...    exit status 77 if a needed program is missing"""

import ast
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

NEEDS = {"write-and-debug-a-dataflow": "riscv64-unknown-elf-gcc"}


def run_cell(source, place, names):
    """Executes a cell; the value of its last expression is shown, as in a notebook."""
    tree = ast.parse(source, place)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, place, "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), place, "eval"), names)
        print(value._repr_html_() if hasattr(value, "_repr_html_") else value)


# With a compiler cache, firmware projects share the objects of the runtime.
if shutil.which("ccache"):
    os.environ.update(CCACHE_NOHASHDIR="1", MAKEFLAGS=r"-- CC=ccache\ riscv64-unknown-elf-gcc")

for notebook in map(Path, sys.argv[1:]):
    if shutil.which(NEEDS.get(notebook.stem, "sh")) is None:
        print(f"{notebook.name} needs {NEEDS[notebook.stem]}")
        sys.exit(77)
    cells = json.loads(notebook.read_text())["cells"]
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names = {}
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                run_cell("".join(cell["source"]), f"{notebook.name}, cell {number}", names)
        os.chdir(before)
