"""Results of commands: the command line's JSON with attributes. A class names the stable keys with their types. All keys
of the JSON are available as attributes and as ["key"]."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union, get_type_hints

from . import _html
from ._error import Error

if TYPE_CHECKING:
    import numpy
    import pandas


@lru_cache(maxsize=None)
def _types(record: type) -> Dict[str, type]:
    return {name: kind for name, kind in get_type_hints(record).items()
            if isinstance(kind, type) and issubclass(kind, Record)}


class Record(Mapping[str, Any]):
    """An object of JSON: `record.key`, `record["key"]`, `dict(record)`."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no '{name}'; there are: {', '.join(self._data)}") from None

    def __getitem__(self, key: str) -> Any:
        value = self._data[key]
        if not isinstance(value, dict):
            return value
        return _types(type(self)).get(key, Record)(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._data]

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Record) else NotImplemented

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self._data)!r})"

    def to_dict(self) -> Dict[str, Any]:
        """The JSON without `simulation`, the only part that may differ between equal runs."""
        return {key: copy.deepcopy(value) for key, value in self._data.items() if key != "simulation"}


def flat(data: Mapping[str, Any], prefix: str = "") -> Dict[str, Any]:
    """One row of a table: {"golden": {"passed": True}} is the column "golden.passed". Counters of modules are omitted."""
    row: Dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, Mapping) and key not in ("counters", "time", "simulation"):
            row.update(flat(value, f"{prefix}{key}."))
        elif not isinstance(value, (Mapping, list)):
            row[prefix + key] = value
    return row


def frame(rows: Sequence[Mapping[str, Any]]) -> "pandas.DataFrame":
    try:
        import pandas
    except ImportError:
        raise ImportError("a frame needs pandas (Debian: python3-pandas)") from None
    return pandas.DataFrame(list(rows))


class Network(Record):
    name: str
    batch: int
    heads: int
    seq_q: int  # queries
    seq_kv: int  # keys and values
    emb: int  # per head


class Golden(Record):
    checked: bool
    passed: Optional[bool]  # None: not checked
    max_abs_error: float
    max_ulp_error: int  # units in the last place of float16
    # A failed run also has `failure`, a sentence.


class Utilization(Record):
    """Busy cycles as a fraction of the run's cycles, mean over instances."""

    mac: float
    vec: float
    dma: float
    dram: float


class Memory(Record):
    """Sums over all instances; `peak_bytes`, if present, is the maximum of one instance."""

    read_bytes: int
    write_bytes: int


class Overwrites(Record):
    count: int
    reload_bytes: int


class Bound(Record):
    """The binding resource: the one with the greatest demand in cycles."""

    resource: str
    cycles: float
    advice: List[Dict[str, Any]]  # key, factor, settings, same_tiling, speedup_at_most, then, reason, text, tried


class Result(Record):
    """One run: a dataflow on a layer on a machine."""

    schema: int
    version: str
    command: str  # repeats it
    hardware: str
    machine_hash: str
    overrides: Record
    network: Network
    dataflow: str
    tiling: Record
    cycles: int  # of the platform's clock
    frequency_hz: float
    seconds: float  # simulated
    golden: Golden
    utilization: Utilization
    dram: Memory
    l1: Memory
    l0: Memory
    overwrites: Overwrites
    energy_pj: Record  # total, and by part
    power_w: Record
    area_mm2: Record
    bound: Bound
    time: Record  # cycles of every engine by reason
    counters: Record  # of every module
    simulation: Record  # of the simulator: wall_seconds, events, skipped_cycles

    _output: Any = None

    @property
    def output(self) -> "numpy.ndarray":
        """O, float16 of shape [batch, heads, seq_q, emb]; for runs with `out=True` or with arrays as inputs."""
        if self._output is None:
            raise Error("this run kept no output; out=True does, with data='full'", 2)
        return self._output

    def __repr__(self) -> str:
        return (f"<attnvp.Result: {self.dataflow} for {self.network.name} on {self.hardware}, {self.cycles:,} cycles, "
                f"{self.energy_pj['total'] * 1e-6:,.0f} uJ>")

    def _repr_html_(self) -> str:
        return _html.run(self._data)


class Operation(Record):
    """One operation of a layer."""

    operation: str  # "qkv", "attention", ...
    run: Result  # on a machine of its own

    @property
    def group(self) -> Optional[str]:
        """The layers that have it, with scope=model."""
        return self._data.get("group")

    @property
    def count(self) -> int:
        """How often a layer has it."""
        return self._data.get("count", 1)


class LayerResult(Record):
    """All operations of a layer, one after the other: `net` with scope=layer or scope=model. Sums are of one layer,
    those of `model` of all layers."""

    schema: int
    version: str
    command: str  # repeats it
    hardware: str
    machine_hash: str
    overrides: Record
    network: Network
    scope: str  # "layer" or "model"
    tokens: int
    layers: int  # one, or all of a model
    cycles: int
    frequency_hz: float
    seconds: float  # simulated
    energy_pj: Record  # total, and by part
    power_w: Record
    area_mm2: Record
    dram_bytes: int
    macs: int
    tokens_per_second: float  # of all layers
    golden: Record  # checked, passed

    @property
    def model(self) -> Optional[Record]:
        """Sums of all layers and `layer_groups`, with scope=model."""
        return Record(self._data["model"]) if "model" in self._data else None

    @property
    def operations(self) -> List[Operation]:
        """Operations in their order."""
        return [Operation(entry) for entry in self._data["operations"]]

    def frame(self) -> "pandas.DataFrame":
        """One row per operation; columns: operation, and those of a comparison."""
        return frame([{"operation": entry.operation, **flat(entry.run)} for entry in self.operations])

    def __repr__(self) -> str:
        return (f"<attnvp.LayerResult: {len(self.operations)} operations of {self.network.name} on {self.hardware}, "
                f"{self.cycles:,} cycles, {self.energy_pj['total'] * 1e-6:,.0f} uJ>")

    def _repr_html_(self) -> str:
        return _html.layer(self._data)


class SideBySide(Record):
    """Concurrent jobs on clusters of one machine: `run` with `clusters` or `beside`."""

    hardware: str
    together: Record  # cycles, seconds, energy_pj, ... of the machine

    @property
    def jobs(self) -> List[Record]:
        return [Record(job) for job in self._data["jobs"]]

    def frame(self) -> "pandas.DataFrame":
        """One row per job."""
        return frame([flat(job) for job in self.jobs])

    def __repr__(self) -> str:
        return f"<attnvp.SideBySide: {len(self.jobs)} jobs on {self.hardware}, {self.together.cycles:,} cycles>"

    def _repr_html_(self) -> str:
        return _html.side_by_side(self._data)


def result_of(document: Mapping[str, Any]) -> "Union[Result, LayerResult, SideBySide]":
    """Result of `run` from its JSON."""
    kind = LayerResult if "operations" in document else SideBySide if "together" in document else Result
    return kind(document)


class Comparison(Sequence[Result]):
    """Runs of several dataflows, quickest first."""

    def __init__(self, runs: Sequence[Mapping[str, Any]], left_out: str = "") -> None:
        self.left_out = left_out  # reasons why other dataflows are absent
        self._runs = [Result(run) for run in runs]

    def __getitem__(self, place: Any) -> Any:
        """By position or by the dataflow's name."""
        if not isinstance(place, str):
            return self._runs[place]
        for run in self._runs:
            if run.dataflow == place:
                return run
        raise KeyError(f"{place}; there are: {', '.join(run.dataflow for run in self._runs)}")

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def best(self) -> Result:
        """The run with the fewest cycles."""
        return self._runs[0]

    def to_dict(self) -> List[Dict[str, Any]]:
        return [run.to_dict() for run in self._runs]

    def frame(self) -> "pandas.DataFrame":
        """One row per run; columns as in sweeps: cycles, energy_pj.total, utilization.mac, ..."""
        return frame([flat(run) for run in self._runs])

    def __repr__(self) -> str:
        return f"<attnvp.Comparison: {', '.join(f'{run.dataflow} {run.cycles:,}' for run in self._runs)}>"

    def _repr_html_(self) -> str:
        return _html.comparison([run.to_dict() for run in self._runs])


class SearchResult(Record):
    """The best tiling found; `run(tiling=found.tiling)` uses it."""

    network: str
    dataflow: str
    objective: str
    unit: str
    best: float  # in `unit`
    lower_bound: float
    gap: float  # a fraction
    complete: bool  # nothing in the space is better
    cycles: int
    energy_pj: float
    tiling: Record
    evaluations: int  # simulations

    def _repr_html_(self) -> str:
        return _html.table(["", "value"], flat(self.to_dict()).items())


class Validation(Record):
    """Predictions compared with measurements. Errors are fractions of the measured value."""

    set: str
    hardware: str
    rows: List[Dict[str, Any]]  # row, measured, predicted, unit
    mape: float  # mean absolute error
    bias: float
    spearman: float  # rank correlation

    def frame(self) -> "pandas.DataFrame":
        return frame(self.rows)

    def __repr__(self) -> str:
        return f"<attnvp.Validation: {self.set}, {len(self.rows)} rows, mean error {self.mape:.1%}>"


class Description(str):
    """A text that notebooks show unchanged."""

    def _repr_html_(self) -> str:
        return _html.text(self)
