// Python binding of the golden reference and check (platform/run/golden/golden.h) for NumPy arrays, without copies.
// python/attnvp/_golden.py supplies and checks shapes and masks.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "platform/run/golden/golden.h"

namespace py = pybind11;

namespace attnvp {
namespace {

// float16 in C order, [batch, heads, rows, width].
const arith::Half* halves(const py::array& a) {
  const bool fits = a.dtype().kind() == 'f' && a.itemsize() == sizeof(arith::Half) && a.ndim() == 4 &&
                    (a.flags() & py::array::c_style) != 0;
  if (!fits) throw py::type_error("an array is not float16 of four dimensions in C order");
  return static_cast<const arith::Half*>(a.data());
}

job::AttentionShape shape(const py::array& q, const py::array& k, const py::array& v, float scale, double cap,
                          const hal::Mask& mask) {
  job::AttentionShape s;
  const auto extent = [](const py::array& a, int i) { return static_cast<std::size_t>(a.shape(i)); };
  s.batch = extent(q, 0);
  s.heads = extent(q, 1);
  s.queries = extent(q, 2);
  s.keys = extent(k, 2);
  s.width = extent(q, 3);
  s.value_width = extent(v, 3);
  s.scale = scale;
  s.cap = cap;
  s.mask = mask;
  return s;
}

py::array_t<double> reference(const py::array& q, const py::array& k, const py::array& v, float scale, double cap,
                              const hal::Mask& mask) {
  const job::AttentionShape s = shape(q, k, v, scale, cap, mask);
  const arith::Half *pq = halves(q), *pk = halves(k), *pv = halves(v);
  auto result = std::make_unique<std::vector<double>>();
  {
    py::gil_scoped_release others;
    *result = job::reference_attention(s, pq, pk, pv);
  }
  double* data = result->data();
  const py::capsule owner(result.release(), [](void* p) { delete static_cast<std::vector<double>*>(p); });
  return py::array_t<double>({s.batch, s.heads, s.queries, s.values()}, data, owner);
}

job::GoldenResult check(const py::array& q, const py::array& k, const py::array& v, const py::array& output,
                        float scale, double cap, const hal::Mask& mask) {
  const job::AttentionShape s = shape(q, k, v, scale, cap, mask);
  const arith::Half *pq = halves(q), *pk = halves(k), *pv = halves(v), *po = halves(output);
  py::gil_scoped_release others;
  return job::check_attention(s, pq, pk, pv, po);
}

}  // namespace
}  // namespace attnvp

PYBIND11_MODULE(_attnvp_native, m) {
  using namespace attnvp;
  py::class_<hal::Mask>(m, "Mask").def(py::init([](bool causal, std::uint32_t queries, std::uint32_t history,
                                                   std::uint32_t window, std::uint32_t sinks, std::uint32_t prefix) {
                                         hal::Mask mask{};
                                         mask.causal = causal ? 1 : 0;
                                         mask.queries = queries;
                                         mask.history = history;
                                         mask.window = window;
                                         mask.sinks = sinks;
                                         mask.prefix = prefix;
                                         return mask;
                                       }),
                                       py::kw_only(), py::arg("causal"), py::arg("queries"), py::arg("history"),
                                       py::arg("window"), py::arg("sinks"), py::arg("prefix"));
  py::class_<job::GoldenResult>(m, "GoldenResult")
      .def_readonly("passed", &job::GoldenResult::passed)
      .def_readonly("failures", &job::GoldenResult::failures)
      .def_readonly("rows", &job::GoldenResult::rows)
      .def_readonly("rows_of_score_overflow", &job::GoldenResult::rows_of_score_overflow)
      .def_readonly("rows_of_result_overflow", &job::GoldenResult::rows_of_result_overflow)
      .def_readonly("max_abs_error", &job::GoldenResult::max_abs_error)
      .def_readonly("batch", &job::GoldenResult::batch)
      .def_readonly("head", &job::GoldenResult::head)
      .def_readonly("row", &job::GoldenResult::row)
      .def_readonly("column", &job::GoldenResult::column)
      .def_readonly("expected", &job::GoldenResult::expected)
      .def_readonly("actual", &job::GoldenResult::actual)
      .def_readonly("tolerance", &job::GoldenResult::tolerance)
      .def("__str__", &job::GoldenResult::to_string);
  m.def("reference", &reference);
  m.def("check", &check);
}
