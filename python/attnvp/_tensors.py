"""NumPy arrays to the worker's process and back. They cross once: an input is written from the array's own bytes into
memory that both share, and the output is mapped as the process wrote it."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Dict, List, Optional

from ._worker import FIRST_INPUT


def is_array(value: Any) -> bool:
    return hasattr(value, "__array__")


def _share(array: Any, name: str) -> int:
    import numpy

    data = numpy.asarray(array)
    if data.dtype not in (numpy.float16, numpy.float32):
        data = data.astype(numpy.float32)  # what the program rounds from
    file = os.memfd_create(name)
    with open(file, "wb", closefd=False) as out:
        numpy.lib.format.write_array(out, numpy.ascontiguousarray(data), allow_pickle=False)
    return file


class Tensors:
    """`options` with arrays among q, k, v as files of the process, and `out=True` as one to be read back."""

    def __init__(self, options: Dict[str, Any]) -> None:
        self.files: List[int] = []
        self._stack = ExitStack()
        self._out: Optional[Path] = None
        arrays = [name for name in ("q", "k", "v") if is_array(options.get(name))]
        for name in arrays:
            self.files.append(_share(options[name], name))
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
        self._stack.close()  # a mapped file stays as long as its array

    def output(self) -> Any:
        if self._out is None or not self._out.exists():
            return None
        import numpy

        return numpy.load(self._out, mmap_mode="c")
