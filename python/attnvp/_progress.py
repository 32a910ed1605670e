"""Progress of a command: a bar of tqdm if it is installed, otherwise one line that is rewritten."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Optional


def wanted() -> bool:
    """Whether output is interactive: a terminal or a notebook."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


class Bar:
    """Called with the completed and the total amount; nothing is shown before the first call."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._bar: Any = None
        self._line = 0

    def __call__(self, done: int, total: int) -> None:
        make = _tqdm()
        if make is None:
            text = f"{self._what}: {done:,} of {total:,}"
            self._line = max(self._line, len(text))
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
            return
        if self._bar is None:  # earlier work does not count for the rate
            self._bar = make(total=total or None, initial=done, desc=self._what, leave=False)
        self._bar.total = total or None
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._line:
            print("\r" + self._line * " " + "\r", end="", file=sys.stderr, flush=True)


def _tqdm() -> Optional[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tqdm warns in notebooks without widgets
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm
