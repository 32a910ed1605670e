"""Tables for notebooks. Colours are the notebook's own, so that they fit its theme."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, List, Mapping, Sequence


def text(content: str) -> str:
    return f"<pre>{escape(content)}</pre>"


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    def line(cells: Sequence[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + line(header, "th") + "".join(line(row, "td") for row in rows) + "</table>"


def _golden(golden: Mapping[str, Any]) -> str:
    if not golden["checked"]:
        return "not checked"
    return "passed" if golden["passed"] else "FAILED"


_HEADER = ["dataflow", "cycles", "time", "energy", "MAC", "VEC", "DRAM", "DRAM bytes", "golden"]


def _row(run: Mapping[str, Any]) -> List[str]:
    use, dram = run["utilization"], run["dram"]
    return [run["dataflow"], f"{run['cycles']:,}", f"{run['seconds'] * 1e6:,.1f} µs",
            f"{run['energy_pj']['total'] * 1e-6:,.0f} µJ", *(f"{use[unit]:.1%}" for unit in ("mac", "vec", "dram")),
            f"{dram['read_bytes'] + dram['write_bytes']:,}", _golden(run["golden"])]


def comparison(runs: Sequence[Mapping[str, Any]]) -> str:
    first = runs[0]
    return f"<p>{escape(first['network']['name'])} on {escape(first['hardware'])}</p>" + table(_HEADER, map(_row, runs))


def run(data: Mapping[str, Any]) -> str:
    advice = "".join(f"<li>{escape(entry['text'])}</li>" for entry in data["bound"].get("advice", []))
    return comparison([data]) + (f"<ul>{advice}</ul>" if advice else "")
