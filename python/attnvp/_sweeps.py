"""Sweeps, and rows of their databases."""

from __future__ import annotations

import csv
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Sequence

from . import _html
from ._results import frame

if TYPE_CHECKING:
    import pandas


class Table(Sequence[Dict[str, Any]]):
    """Rows with named columns."""

    def __init__(self, rows: List[Dict[str, Any]], shown: Sequence[str] = ()) -> None:
        self._rows = rows
        self._shown = [name for name in shown if rows and name in rows[0]] or list(rows[0])[:12] if rows else []

    def __getitem__(self, place: Any) -> Any:
        return self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def frame(self) -> "pandas.DataFrame":
        """All rows and columns; needs pandas."""
        return frame(self._rows)

    def __repr__(self) -> str:
        return f"<attnvp.{type(self).__name__}: {len(self)} rows>"

    def _repr_html_(self) -> str:
        rows = ([row[name] for name in self._shown] for row in self._rows[:40])
        more = f"<p>and {len(self) - 40:,} more</p>" if len(self) > 40 else ""
        return _html.table(self._shown, rows) + more


class Front(Table):
    """The jobs that no other job dominates; `goals` are the minimised values."""


class Sweep:
    """A sweep's database. Columns: docs/reference/file-formats.md."""

    def __init__(self, db: str, summary: str = "") -> None:
        self.db = db
        self.summary = summary  # output of the command

    def rows(self, where: str = "1") -> List[Dict[str, Any]]:
        """Jobs as dictionaries, in the order of their keys. `where` is a condition in SQL; names with dots in double
        quotes: 'cycles < 1e6 and "l1.size" > 1048576'."""
        return list(self._select(where))

    def _select(self, where: str) -> Iterator[Dict[str, Any]]:
        with sqlite3.connect(f"file:{Path(self.db).absolute()}?mode=ro", uri=True) as connection:
            cursor = connection.execute(f"SELECT * FROM jobs WHERE {where} ORDER BY 1")
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row))

    @property
    def failed(self) -> List[Dict[str, Any]]:
        """Failed jobs; "error" gives the reason."""
        return self.rows("status <> 'done'")

    def __len__(self) -> int:
        return len(self.rows())

    def frame(self, where: str = "status = 'done'") -> "pandas.DataFrame":
        """One row per job; needs pandas."""
        return frame(self.rows(where))

    def __repr__(self) -> str:
        return f"<attnvp.Sweep: {self.db}>"

    def _repr_html_(self) -> str:
        return _html.text(self.summary or repr(self))


def read_csv(path: Path) -> List[Dict[str, Any]]:
    def value(text: str) -> Any:
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                pass
        return text or None

    with open(path, newline="", encoding="utf-8") as file:
        return [{name: value(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def temporary() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="attnvp-")
