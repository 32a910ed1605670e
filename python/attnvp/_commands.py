"""The commands. Keywords are the command line's options (`--trace-from` is `trace_from`) with its defaults;
`attnvp COMMAND --help` lists them. A command raises Error if its exit status is not 0, and KeyboardInterrupt on Ctrl-C,
after its process has ended."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import _progress
from ._error import Error
from ._options import words_of
from ._results import Comparison, Description, LayerResult, Result, SearchResult, SideBySide, Validation, result_of
from ._sweeps import Front, Sweep, read_csv, temporary
from ._tensors import Tensors, is_array
from ._worker import Answer, execute

PathLike = Union[str, "os.PathLike[str]"]
Settings = Union[Mapping[str, Any], Sequence[str]]  # {"l1.size": "1 MiB"} or ["l1.size=1 MiB"]
Tiling = Union[str, Mapping[str, Any]]
Net = Union[str, Mapping[str, Any]]  # a name, a path, or a shape: dict(H=12, N=512, E=64)
Progress = Union[bool, Callable[[int, int], None], None]


def _execute(words: Sequence[str], files: Sequence[int] = (), progress: Progress = None) -> Answer:
    if progress is None:
        progress = _progress.wanted()
    bar = _progress.Bar(str(words[0]))
    try:
        return execute(words, files, progress if callable(progress) else bar if progress else None)
    finally:
        bar.close()


def _checked(answer: Answer, result: Any = None) -> Answer:
    if answer.status == 130:
        raise KeyboardInterrupt(answer.sentence)
    if answer.status != 0:
        raise Error(answer.sentence, answer.status, result)
    return answer


def _document(answer: Answer, make: Callable[[Any], Any]) -> Any:
    """JSON that a command wrote with --json -."""
    result = make(json.loads(answer.stdout)) if answer.stdout else None
    _checked(answer, result)
    return result


def _shape(q: Any, k: Any) -> Dict[str, int]:
    """The layer of arrays [B,H,N,E] or [H,N,E]."""
    for name, array in (("q", q), ("k", k)):
        if len(array.shape) not in (3, 4):
            raise Error(f"{name}: found shape {list(array.shape)}; allowed is [B, H, N, E] or [H, N, E]", 2)
    (*batch, heads, queries, emb), (*_, kv_heads, keys, _) = q.shape, k.shape
    sizes = {"B": batch[0] if batch else 1, "H": heads, "NQ": queries, "NKV": keys, "E": emb, "HKV": kv_heads}
    if kv_heads == heads:
        del sizes["HKV"]
    return sizes


def command(*words: Any) -> str:
    """Any command of the command line, as text: `attnvp.command("list", "dataflows")`."""
    answer = _execute([str(word) for word in words])
    return Description(_checked(answer).stdout)


def run(hw: Optional[PathLike] = None, net: Optional[Net] = None, dataflow: Optional[str] = None, *,
        set: Optional[Settings] = None, tiling: Optional[Tiling] = None, data: Optional[str] = None,
        q: Any = None, k: Any = None, v: Any = None, out: Union[bool, PathLike, None] = None,
        **options: Any) -> Union[Result, LayerResult, SideBySide]:
    """Runs one layer with one dataflow on one machine.

    hw: a name under configs/hardware or a path (default: edge).
    net: a name under configs/networks, a path, or a shape such as dict(H=12, N=512, E=64) (default: bert-base, or the
        shape of `q` and `k` where these are arrays).
    dataflow: "mas", "flat:prefetch=off", ... (default: mas); `command("list", "dataflows")` has them.
    set: keys of the machine, {"l1.size": "1 MiB"}; units are part of values.
    tiling: tile sizes, dict(nq=64, nkv=512), a name, a path, or "auto": searched. What is not given is chosen.
    data: "full" moves, computes and checks float16 tensors; "timing" gives the same cycles and counts, sooner.
    q, k, v: NumPy arrays of float16 or float32 (rounded to float16), [B, H, N, E] or [H, N, E], or .npy files. What is
        not given is random (`seed`).
    out: True keeps O as `result.output`, which arrays as inputs do by themselves; a path writes it as .npy.

    Raises Error with status 2 for wrong options, configurations and tensors, 1 when the simulated machine or its firmware
    failed or the golden check did; the report of the latter is the error's `result`.

    Returns a Result; a LayerResult with scope=layer or scope=model in `net`; a SideBySide with `clusters` or `beside`."""
    if net is None and is_array(q) and is_array(k):
        net = _shape(q, k)
    if tiling is not None and not isinstance(tiling, str):
        tiling = dict(tiling)
    given = dict(hw=hw, net=net, dataflow=dataflow, set=set, tiling=tiling, data=data, q=q, k=k, v=v, out=out, **options)
    with Tensors(given) as tensors:
        answer = _execute(["run", *words_of(given), "--json", "-"], tensors.files)

        def make(document: Dict[str, Any]) -> Union[Result, LayerResult, SideBySide]:
            result = result_of(document)
            if isinstance(result, Result):
                result._output = tensors.output()
            return result

        return _document(answer, make)


def compare(hw: Optional[PathLike] = None, net: Optional[Net] = None, dataflow: Union[str, Sequence[str], None] = None, *,
            set: Optional[Settings] = None, tiling: Optional[Tiling] = None, data: Optional[str] = None,
            progress: Progress = None, **options: Any) -> Comparison:
    """One layer under several dataflows (default: all that fit; `left_out` says which do not). As `run`."""
    given = dict(hw=hw, net=net, dataflow=dataflow, set=set, tiling=tiling, data=data, **options)
    answer = _execute(["compare", *words_of(given), "--json", "-"], progress=progress)
    return _document(answer, lambda runs: Comparison(runs, answer.sentence if answer.stderr else ""))


def search(hw: Optional[PathLike] = None, net: Optional[Net] = None, dataflow: Optional[str] = None, *,
           set: Optional[Settings] = None, objective: Optional[str] = None, strategy: Optional[str] = None,
           budget: Optional[int] = None, seed: Optional[int] = None, progress: Progress = None,
           **options: Any) -> SearchResult:
    """The best tiling of a layer on a machine.

    objective: "cycles", "energy" (pJ) or "edp"; strategy: "grid", "ga" or "mcts"; budget: simulations at most."""
    given = dict(hw=hw, net=net, dataflow=dataflow, set=set, objective=objective, strategy=strategy, budget=budget,
                 seed=seed, **options)
    return _document(_execute(["search", *words_of(given), "--json", "-"], progress=progress), SearchResult)


def sweep(sweep: PathLike, db: Optional[PathLike] = None, *, jobs: Optional[int] = None, progress: Progress = None,
          **options: Any) -> Sweep:
    """Runs the jobs that a sweep's database lacks, in `jobs` processes (default: one per processor).

    sweep: a name under configs/sweeps, or a path. db: the database (default: that of the command line). After Ctrl-C
    the same call resumes the sweep. A warning reports failed jobs; `failed` of the sweep lists them."""
    answer = _execute(["sweep", os.fspath(sweep), *words_of(dict(db=db, jobs=jobs, **options))], progress=progress)
    said = dict(line.split(None, 1) for line in answer.stdout.splitlines() if " " in line)
    path = os.fspath(db) if db is not None else said.get("database", "")
    result = Sweep(path, answer.stdout)
    if answer.status == 1 and path and Path(path).exists():
        warnings.warn(answer.sentence if answer.stderr else "some jobs did not end well", stacklevel=2)
    else:
        _checked(answer)
    return result


def pareto(db: Union[PathLike, Sweep], x: Optional[str] = None, y: Optional[str] = None, z: Optional[str] = None, *,
           where: Optional[str] = None, **options: Any) -> Front:
    """The Pareto front of a sweep: jobs that no other job dominates.

    x, y, z: columns or expressions that are to be least, "max:..." most (default: cycles and energy_pj.total).
    where: condition on the jobs, such as "cores == 2".
    network: names of networks in expressions, {"decode": "H=8,N=1,NKV=256,E=64"}; then a point is a design."""
    path = db.db if isinstance(db, Sweep) else os.fspath(db)
    with temporary() as folder:
        csv = Path(folder) / "front.csv"
        given = dict(x=x, y=y, z=z, where=where, **options)
        _checked(_execute(["pareto", path, *words_of(given), "--csv", str(csv)]))
        rows = read_csv(csv)
    goals = [goal.removeprefix("max:") for goal in (x or "cycles", y or "energy_pj.total", z or "")]
    return Front(rows, ["hardware", "network", "dataflow", *goals])


def describe(what: PathLike, *, set: Optional[Settings] = None, **options: Any) -> Description:
    """A machine, a layer, a dataflow, an energy table, a firmware program, or "keys", as text; `area=True`: the area of
    a machine in square millimetres."""
    answer = _execute(["describe", os.fspath(what), *words_of(dict(set=set, **options))])
    return Description(_checked(answer).stdout)


def validate(set_name: Optional[str] = None, *, data: Optional[PathLike] = None, hw: Optional[PathLike] = None,
             net: Optional[Net] = None, set: Optional[Settings] = None, progress: Progress = None,
             **options: Any) -> Validation:
    """Predictions compared with published measurements: a set under configs/validation, or `data`, a CSV file that is
    identified by its columns."""
    words: List[str] = ["validate", *([set_name] if set_name else [])]
    given = dict(data=data, hw=hw, net=net, set=set, **options)
    return _document(_execute([*words, *words_of(given), "--json", "-"], progress=progress), Validation)
