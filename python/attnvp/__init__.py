"""AttnVP: a virtual platform for attention accelerators.

    import attnvp
    result = attnvp.run(hw="edge", net="bert-base", dataflow="mas", set={"l1.size": "1 MiB"}, data="timing")
    result.cycles, result.energy_pj["total"], result.utilization.mac

Keywords are the command line's options. Every run has a process of its own, forked from a warm worker, so that any number
of machines can be run, also from several threads, and a crash of one does not affect this process."""

from ._commands import command, compare, describe, pareto, run, search, sweep, validate
from ._error import Error
from ._golden import check, reference
from ._results import (Bound, Comparison, Description, Golden, LayerResult, Memory, Network, Operation, Overwrites, Record,
                       Result, SearchResult, SideBySide, Utilization, Validation)
from ._sweeps import Front, Sweep, Table
from ._version import __version__
from .graphs import Graph, from_onnx, from_torch

__all__ = [
    "run", "compare", "search", "sweep", "pareto", "describe", "validate", "command", "reference", "check",
    "from_onnx", "from_torch", "Graph",
    "Error", "Result", "LayerResult", "Operation", "SideBySide", "Comparison", "SearchResult", "Sweep", "Front", "Table", "Validation", "Description", "Record",
    "Bound", "Golden", "Memory", "Network", "Overwrites", "Utilization",
]
