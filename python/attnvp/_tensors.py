"""Transfer of NumPy arrays to the worker's process and back, with one copy: an input is written from the array's bytes
into shared memory, and the output is mapped as the process wrote it."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Dict, List, Optional

from ._error import Error
from ._worker import FIRST_INPUT


def is_array(value: Any) -> bool:
    return hasattr(value, "__array__")


def numbers(array: Any, name: str) -> Any:
    import numpy

    data = numpy.asarray(array)
    if data.dtype.kind in "cOSUMm" or data.dtype.names is not None:
        raise Error(f"{name}: found elements of type {data.dtype}; allowed are real numbers", 2)
    return data


def _bytes(data: Any) -> int:
    return int(data.size) * (2 if data.dtype.str[1:] == "f2" else 4)


def _share(data: Any, name: str) -> int:
    import numpy

    if data.dtype not in (numpy.float16, numpy.float32):
        data = data.astype(numpy.float32)  # the program rounds from float32
    file = os.memfd_create(name)
    with open(file, "wb", closefd=False) as out:
        numpy.lib.format.write_array(out, numpy.asarray(data, order="C"), allow_pickle=False)
    return file


def _whole(path: str) -> Optional[int]:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):  # "max": no limit
        return None


def _available() -> int:
    """Free bytes of this host and its container."""
    left = 1 << 62
    with open("/proc/meminfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                left = int(line.split()[1]) * 1024
    most, used = (_whole(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
    return left if most is None or used is None else min(left, max(most - used, 0))


_UNITS = {"B": 1, "kB": 1000, **{f"{letter}B": 1000**(i + 1) for i, letter in enumerate("KMGT")},
          **{f"{letter}iB": 1024**(i + 1) for i, letter in enumerate("KMGT")}}


def _limit(given: Any) -> Optional[int]:
    """Bytes of the option --memory-limit; None: invalid, and the program reports the error."""
    if given is None:
        return _available() // 10 * 9
    found = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]+)\s*", str(given))
    try:
        return int(float(found[1]) * _UNITS[found[2]]) if found else None
    except (KeyError, ValueError):
        return None


def _require(arrays: Dict[str, Any], given: Any) -> None:
    needed, limit = sum(map(_bytes, arrays.values())), _limit(given)
    if limit is not None and needed > limit:
        raise Error(f"{', '.join(arrays)}: the arrays would need {needed:,} bytes of the host's memory; allowed are {limit:,} "
                    "(memory_limit)", 1)


class Tensors:
    """`options` with arrays among q, k, v as files of the process, and `out=True` as one to be read back."""

    def __init__(self, options: Dict[str, Any]) -> None:
        self.files: List[int] = []
        self._stack = ExitStack()
        self._out: Optional[Path] = None
        arrays = {name: numbers(options[name], name) for name in ("q", "k", "v") if is_array(options.get(name))}
        if arrays:
            _require(arrays, options.get("memory_limit"))
        for name, data in arrays.items():
            self.files.append(_share(data, name))
            options[name] = f"/dev/fd/{FIRST_INPUT + len(self.files) - 1}"
        if options.get("out") is True or (arrays and options.get("out") is None):
            shared = "/dev/shm"
            folder = tempfile.TemporaryDirectory(prefix="attnvp-", dir=shared if os.access(shared, os.W_OK) else None)
            self._out = Path(self._stack.enter_context(folder)) / "out.npy"
            options["out"] = self._out

    def __enter__(self) -> "Tensors":
        return self

    def __exit__(self, *_: Any) -> None:
        for file in self.files:
            os.close(file)
        self._stack.close()  # a mapped file exists as long as its array

    def output(self) -> Any:
        if self._out is None or not self._out.exists():
            return None
        import numpy

        return numpy.load(self._out, mmap_mode="c")
