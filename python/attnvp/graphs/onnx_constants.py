"""ONNX nodes of constant inputs are computed: shapes, masks and tables that exporters write as nodes."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional


def fold(op: str, inputs: List[Any], attributes: Dict[str, Any], onnx: Any, results: int) -> Optional[List[Any]]:
    """The results of a node as NumPy arrays; None if this does not compute it."""
    import numpy

    function = _FUNCTIONS.get(op)
    if function is None and op != "Cast":
        return None
    try:
        values = {key: onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
                  for key, value in attributes.items()}
        with numpy.errstate(all="ignore"):
            found = inputs[0].astype(_numpy_types(onnx)[values["to"]]) if function is None else function(numpy, inputs, values)
        arrays = [numpy.asarray(array) for array in (found if isinstance(found, list) else [found])]
    except Exception:  # a form that the function does not have: the node stays
        return None
    return arrays if len(arrays) == results and all(array.dtype.kind in "biuf" for array in arrays) else None


def _numpy_types(onnx: Any) -> Dict[int, Any]:
    if hasattr(onnx.helper, "tensor_dtype_to_np_dtype"):
        return {number: onnx.helper.tensor_dtype_to_np_dtype(number) for number in (1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13)}
    return onnx.mapping.TENSOR_TYPE_TO_NP_TYPE


def _same(word: str) -> Callable[..., Any]:
    def apply(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
        result = getattr(numpy, word)(*x)
        return result if result.dtype == bool else result.astype(x[0].dtype)
    return apply


def _div(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
    if x[0].dtype.kind not in "iu":
        return x[0] / x[1]
    return numpy.trunc(numpy.true_divide(x[0], x[1])).astype(x[0].dtype)


def _shape(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
    return numpy.array(x[0].shape[a.get("start", 0):a.get("end")], numpy.int64)


def _constant(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
    value = next(iter(a.values()))
    kind = {"value_int": numpy.int64, "value_ints": numpy.int64, "value_float": numpy.float32,
            "value_floats": numpy.float32}.get(next(iter(a)))
    return numpy.asarray(value, kind) if kind else value


def _axes(x: List[Any], a: Dict[str, Any]) -> Any:
    axes = x[1] if len(x) > 1 and x[1] is not None else a.get("axes")
    return None if axes is None else tuple(int(axis) for axis in axes)


def _unsqueeze(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
    axes = _axes(x, a)
    rank = x[0].ndim + len(axes)
    return numpy.expand_dims(x[0], tuple(axis % rank for axis in axes))


def _slice(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
    if len(x) == 1:
        starts, ends, axes, steps = a["starts"], a["ends"], a.get("axes"), None
    else:
        starts, ends, axes, steps = x[1], x[2], *([*x[3:], None, None][:2])
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    window = [slice(None)] * x[0].ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        last = None if step < 0 and end < -x[0].shape[axis] else int(end)
        window[int(axis)] = slice(int(start), last, int(step))
    return x[0][tuple(window)]


def _reshape(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
    shape = [x[0].shape[i] if extent == 0 and not a.get("allowzero") else int(extent) for i, extent in enumerate(x[1])]
    return x[0].reshape(shape)


def _expand(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
    return numpy.broadcast_to(x[0], numpy.broadcast_shapes(x[0].shape, tuple(int(extent) for extent in x[1])))


def _split(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
    sizes = x[1] if len(x) > 1 and x[1] is not None else a["split"]
    return numpy.split(x[0], numpy.cumsum(sizes)[:-1], a.get("axis", 0))


def _constant_of_shape(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
    value = a.get("value", numpy.zeros(1, numpy.float32))
    return numpy.full([int(extent) for extent in x[0]], value.flat[0], value.dtype)


def _cumsum(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
    if a.get("exclusive") or a.get("reverse"):
        raise NotImplementedError
    return numpy.cumsum(x[0], int(x[1].flat[0])).astype(x[0].dtype)


def _trilu(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
    k = int(x[1].flat[0]) if len(x) > 1 and x[1] is not None else 0
    return numpy.triu(x[0], k) if a.get("upper", 1) else numpy.tril(x[0], k)


def _reduced(word: str) -> Callable[..., Any]:
    def apply(numpy: Any, x: List[Any], a: Dict[str, Any]) -> Any:
        result = getattr(numpy, word)(x[0], axis=_axes(x, a), keepdims=bool(a.get("keepdims", 1)))
        return numpy.asarray(result).astype(x[0].dtype)
    return apply


_FUNCTIONS: Dict[str, Callable[..., Any]] = {
    **{op: _same(word) for op, word in {
        "Add": "add", "Sub": "subtract", "Mul": "multiply", "Pow": "power", "Neg": "negative", "Sqrt": "sqrt", "Exp": "exp",
        "Log": "log", "Sin": "sin", "Cos": "cos", "Floor": "floor", "Ceil": "ceil", "Abs": "abs", "Reciprocal": "reciprocal",
        "Equal": "equal", "Less": "less", "LessOrEqual": "less_equal", "Greater": "greater",
        "GreaterOrEqual": "greater_equal", "Not": "logical_not", "And": "logical_and", "Or": "logical_or", "Mod": "mod",
        "MatMul": "matmul", "Identity": "array"}.items()},
    "Div": _div, "Shape": _shape, "Constant": _constant, "Slice": _slice, "Reshape": _reshape, "Expand": _expand,
    "Unsqueeze": _unsqueeze, "Split": _split, "ConstantOfShape": _constant_of_shape, "CumSum": _cumsum, "Trilu": _trilu,
    "Squeeze": lambda numpy, x, a: numpy.squeeze(x[0], _axes(x, a)),
    "Size": lambda numpy, x, a: numpy.array(x[0].size, numpy.int64),
    "Min": lambda numpy, x, a: numpy.minimum.reduce(numpy.broadcast_arrays(*x)),
    "Max": lambda numpy, x, a: numpy.maximum.reduce(numpy.broadcast_arrays(*x)),
    "Where": lambda numpy, x, a: numpy.where(x[0], x[1], x[2]).astype(x[1].dtype),
    "Gather": lambda numpy, x, a: numpy.take(x[0], x[1], a.get("axis", 0)),
    "Concat": lambda numpy, x, a: numpy.concatenate(x, a["axis"]),
    "Transpose": lambda numpy, x, a: numpy.transpose(x[0], a.get("perm")),
    "Range": lambda numpy, x, a: numpy.arange(x[0].flat[0], x[1].flat[0], x[2].flat[0]).astype(x[0].dtype),
    "Tile": lambda numpy, x, a: numpy.tile(x[0], x[1]),
    "NonZero": lambda numpy, x, a: numpy.array(numpy.nonzero(x[0]), numpy.int64),
    "ReduceProd": _reduced("prod"), "ReduceSum": _reduced("sum"), "ReduceMax": _reduced("max"), "ReduceMin": _reduced("min"),
}
