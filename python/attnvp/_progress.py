"""How far a command is: a bar of tqdm's where that is installed, else one line that is written anew."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Optional


def wanted() -> bool:
    """Whether somebody watches: a terminal, or a notebook."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


class Bar:
    """Called with how much is done and of how much; nothing is shown before the first call."""

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
        if self._bar is None:  # what was done before took no time
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
            warnings.simplefilter("ignore")  # of a notebook without widgets, where it is a line of text
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm
