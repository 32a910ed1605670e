"""Tables for notebooks, in the colours of the notebook's theme."""

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


def layer(data: Mapping[str, Any]) -> str:
    rows = [[entry["operation"], *_row(entry["run"])] for entry in data["operations"]]
    total = ["layer", "", f"{data['cycles']:,}", f"{data['seconds'] * 1e6:,.1f} µs",
             f"{data['energy_pj']['total'] * 1e-6:,.0f} µJ", "", "", "", f"{data['dram_bytes']:,}", _golden(data["golden"])]
    title = f"<p>{escape(data['network']['name'])} on {escape(data['hardware'])}</p>"
    return title + table(["operation", *_HEADER], [*rows, total])


def side_by_side(data: Mapping[str, Any]) -> str:
    rows = [[job["network"], job["dataflow"], f"{job['cycles']:,}", f"{job['slowdown']:.2f}",
             f"{job['energy_pj']['total'] * 1e-6:,.0f} µJ", _golden(job["golden"])] for job in data["jobs"]]
    together = data["together"]
    total = ["together", "", f"{together['cycles']:,}", "", f"{together['energy_pj']['total'] * 1e-6:,.0f} µJ", ""]
    return f"<p>{escape(data['hardware'])}</p>" + table(
        ["job", "dataflow", "cycles", "slowdown", "energy", "golden"], [*rows, total])


def run(data: Mapping[str, Any]) -> str:
    advice = "".join(f"<li>{escape(entry['text'])}</li>" for entry in data["bound"].get("advice", []))
    return comparison([data]) + (f"<ul>{advice}</ul>" if advice else "")
