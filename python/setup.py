"""A wheel holds a built program (./vp build, or the one that ATTNVP_PROGRAM names) and its configurations, with the paths of
an installation. It needs that program's shared libraries."""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("ATTNVP_PROGRAM", ROOT / "build/release/cli/attnvp"))


class WithProgram(build_py):
    def run(self):
        super().run()
        if not PROGRAM.is_file():
            raise SystemExit(f"{PROGRAM} is not built; ./vp build makes it")
        package = Path(self.build_lib, "attnvp")
        share = package / "share/attnvp"
        shutil.rmtree(share, ignore_errors=True)
        (package / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copy2(PROGRAM, package / "bin/attnvp")
        shutil.copytree(ROOT / "configs", share / "configs")
        shutil.copytree(ROOT / "firmware", share / "firmware")
        for elf in PROGRAM.resolve().parents[1].glob("firmware/riscv/attnvp*.elf"):
            shutil.copy2(elf, share / "firmware")
        for module in PROGRAM.resolve().parents[1].glob("python/_attnvp_native*.so"):  # for the Python that it was built for
            shutil.copy2(module, package)


class ForAnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithBinary(Distribution):
    def has_ext_modules(self):
        return True


setup(distclass=WithBinary, cmdclass={"build_py": WithProgram, "bdist_wheel": ForAnyPython})
