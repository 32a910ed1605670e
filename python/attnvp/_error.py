from __future__ import annotations

from typing import Any


class Error(Exception):
    """A command did not end well; its text is the program's own sentence: what, where, which value, what is allowed.

    status: 1 where the simulated machine, its firmware or the golden check failed, 2 for wrong usage, configuration or
        output; the command line's exit status.
    result: what there is nevertheless, such as the report of a run that failed the golden check; else None."""

    def __init__(self, sentence: str, status: int = 1, result: Any = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.result = result
