from __future__ import annotations

from typing import Any


class Error(Exception):
    """Failure of a command; its text is the program's message: what is wrong, where, the value, and what is allowed.

    status: 1 where the simulated machine, its firmware or the golden check failed, 2 for wrong usage, configuration or
        output; the command line's exit status.
    result: partial result, such as the report of a run that failed the golden check; otherwise None."""

    def __init__(self, sentence: str, status: int = 1, result: Any = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.result = result
