"""Options of the command line from keywords: `trace_from=0` is `--trace-from 0`, True a flag, None no option."""

from __future__ import annotations

import os
from typing import Any, Iterable, List, Mapping

from ._error import Error

_SHORT = {"x", "y", "z"}  # pareto's -x; --q, --k and --v are long ones
_ELSEWHERE = {  # options whose output is not a result
    "help": "attnvp.command(COMMAND, '--help') is the help's text",
    "help_all": "attnvp.command('--help-all') is the help's text",
    "version": "attnvp.__version__ is the version",
    "json": "the result's to_dict() is the JSON",
}
_REPEATED = {"set", "network"}  # one option per pair; other options join pairs: --tiling nq=64,nkv=128


def _one(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else os.fsdecode(value) if isinstance(value, os.PathLike) else str(value)


def _pairs(value: Mapping[str, Any]) -> List[str]:
    return [f"{key}={_one(entry)}" for key, entry in value.items()]


def _words(option: str, texts: Iterable[str]) -> List[str]:
    words: List[str] = []
    for text in texts:
        words += [f"{option}={text}"] if text.startswith("-") and option.startswith("--") else [option, text]
    return words


def words_of(options: Mapping[str, Any]) -> List[str]:
    """Arguments of a command line for keywords, in their order."""
    words: List[str] = []
    for name, value in options.items():
        if name in _ELSEWHERE:
            raise Error(f"option '{name}' is not a keyword: {_ELSEWHERE[name]}", 2)
        option = f"-{name}" if name in _SHORT else "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, Mapping):
            pairs = _pairs(value)
            words += _words(option, pairs if name in _REPEATED else [",".join(pairs)])
        elif isinstance(value, (list, tuple)):
            words += _words(option, map(_one, value))
        else:
            words += _words(option, [_one(value)])
    return words
