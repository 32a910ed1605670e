"""The golden reference for arrays of this process, without copies, by an extension module. Its build needs Python's
headers and pybind11."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Tuple

from ._error import Error
from ._tensors import numbers
from ._worker import program

if TYPE_CHECKING:
    import numpy

_MODULE = "_attnvp_native"


def _native() -> Any:
    if _MODULE in sys.modules:
        return sys.modules[_MODULE]
    places = [Path(__file__).resolve().parent, Path(program()).resolve().parents[1] / "python"]  # of a wheel, of a build
    spec = importlib.machinery.PathFinder.find_spec(_MODULE, [str(place) for place in places])
    if spec is None or spec.loader is None:
        raise Error(f"module {_MODULE} is not built for Python {sys.version_info.major}.{sys.version_info.minor}; Debian's "
                    "python3-dev and pybind11-dev are needed for it, and ./vp build", 2)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[_MODULE] = module
    return module


def _half(name: str, array: Any) -> "numpy.ndarray":
    import numpy

    data = numpy.asarray(numbers(array, name), dtype=numpy.float16, order="C")  # no copy if it already has this form
    if data.ndim not in (3, 4) or 0 in data.shape:
        raise Error(f"{name}: found shape {list(data.shape)}; allowed is [B, H, N, E] or [H, N, E]", 2)
    return data if data.ndim == 4 else data[None]


def _counted(name: str, value: Any) -> int:
    number = _number(value)
    if isinstance(value, bool) or number is None or number != number // 1 or not 0 <= number < 2**32:
        raise Error(f"{name}: found {value!r}; allowed is a whole number from 0 to {2**32 - 1}", 2)
    return int(number)


def _number(value: Any) -> Optional[float]:
    """The number if it is finite, otherwise None."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _factors(scale: Any, soft_cap: Any) -> Tuple[float, float]:
    return _factor("scale", scale, 2**-24, 1024), _factor("soft_cap", soft_cap, 2**-10, 32768, none=0)


def _factor(name: str, value: Any, least: float, most: float, none: Optional[float] = None) -> float:
    """A number as in the key of a layer; `none` stands for its absence."""
    number = _number(value)
    if number is None or not (number == none or least <= number <= most):
        or_none = "" if none is None else f" or {none:g}"
        raise Error(f"{name}: found {value!r}; allowed is a number from {least:g} to {most:g}{or_none}", 2)
    return number


def _prepared(q: Any, k: Any, v: Any, causal: bool, history: Any, counts: dict) -> Tuple[Any, ...]:
    q4, k4, v4 = _half("q", q), _half("k", k), _half("v", v)
    batch, heads, queries, width = q4.shape
    groups, keys = k4.shape[1], k4.shape[2]
    if k4.shape[0] != batch or k4.shape[3] != width or heads % groups:
        raise Error(f"k: found shape {list(k4.shape)} beside q's {list(q4.shape)}; allowed is [B, HKV, keys, E] with HKV that "
                    "divides H", 2)
    if causal not in (False, True):
        raise Error(f"causal: found {causal!r}; allowed are False and True", 2)
    if v4.shape[:3] != k4.shape[:3]:
        raise Error(f"v: found shape {list(v4.shape)} beside k's {list(k4.shape)}; allowed is [B, HKV, keys, EV]", 2)
    masked = causal or counts["window"] != 0
    behind = _counted("history", max(keys - queries, 0) if history is None and masked else history or 0)
    if masked and behind + queries > keys:
        raise Error(f"history: {behind} keys and {queries} new ones are more than k's {keys}", 2)
    mask = _native().Mask(causal=bool(causal), queries=queries, history=behind,
                          **{name: _counted(name, value) for name, value in counts.items()})
    return q4.reshape(batch, groups, -1, width), k4, v4, mask  # queries of a group are rows of one head, as in the machine


def reference(q: Any, k: Any, v: Any, *, scale: float = 1.0, causal: bool = False, window: int = 0, sinks: int = 0,
              prefix: int = 0, history: Any = None, soft_cap: float = 0.0) -> "numpy.ndarray":
    """softmax(scale Q K^T) V in double precision over the visible keys: the reference of every run.

    q: [B, H, N, E] or [H, N, E]; k: [B, HKV, keys, E]; v: [B, HKV, keys, EV]. float16 arrays in C order are read where they
        are; others are rounded to that first.
    causal, window, sinks, prefix, history, soft_cap: as keys of a layer; history: keys before the new ones (default: all
        that k has besides, with a mask).

    Returns float64, [B, H, N, EV] or [H, N, EV]; NaN only where double precision has no number."""
    import numpy

    q4, k4, v4, mask = _prepared(q, k, v, causal, history, dict(window=window, sinks=sinks, prefix=prefix))
    result = _native().reference(q4, k4, v4, *_factors(scale, soft_cap), mask)
    return result.reshape(*numpy.shape(q)[:-1], v4.shape[3])


def check(q: Any, k: Any, v: Any, output: Any, *, scale: float = 1.0, causal: bool = False, window: int = 0,
          sinks: int = 0, prefix: int = 0, history: Any = None, soft_cap: float = 0.0) -> Any:
    """Compares `output`, [B, H, N, EV], with the reference as a run's golden check does: within a tolerance that is derived
    for every element from the data. Other arguments as of `reference`.

    An element that is not finite fails where double precision has a number. `rows_of_score_overflow` and
    `rows_of_result_overflow` count, of all `rows`, those where numbers beyond float16's range are the cause.

    Returns an object with `passed`, `failures`, these counts, `max_abs_error`, and the worst element: `batch`, `head`, `row`
    (of its group), `column`, `expected`, `actual`, `tolerance`; str() of it is a sentence."""
    q4, k4, v4, mask = _prepared(q, k, v, causal, history, dict(window=window, sinks=sinks, prefix=prefix))
    out = _half("output", output)
    wanted = (*_half("q", q).shape[:3], v4.shape[3])
    if out.shape != wanted:
        raise Error(f"output: found shape {list(out.shape)}; allowed is {list(wanted)}", 2)
    return _native().check(q4, k4, v4, out.reshape(*q4.shape[:3], -1), *_factors(scale, soft_cap), mask)
