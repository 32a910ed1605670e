#include "platform/run/operations.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/arith/layer.h"
#include "models/arith/number.h"
#include "models/arith/softmax.h"
#include "platform/run/golden/golden_kernels.h"
#include "platform/run/golden/reference.h"
#include "platform/run/golden/tensors.h"
#include "platform/workload/workload.h"

namespace attnvp::job {

namespace {

GoldenResult check_softmax(const workload::RowOperation& n, const Tensors& t, const std::vector<arith::Half>& p) {
  const std::size_t columns = n.columns;
  Comparison all;
  for (std::size_t i = 0; i < n.rows; ++i) {
    all.begin_row(0, 0, i);
    std::vector<double> row = widened(t.q.data() + i * columns, columns);
    const double most = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double& x : row) sum += x = std::exp(x - most);
    for (std::size_t j = 0; j < columns; ++j) {
      const double expected = row[j] / sum, unit = arith::kSoftmaxRelativeError * expected;
      all.compare(j, expected, unit + kH * (expected + unit) + kHalfTiny, p[i * columns + j]);
    }
  }
  return all.result();
}

GoldenResult check_norm(const workload::RowOperation& n, const Tensors& t, const std::vector<arith::Half>& y) {
  const std::size_t columns = n.columns;
  const bool centred = n.norm == workload::Norm::kLayerNorm;
  const std::vector<double> gamma = widened(t.k.data(), columns), beta = widened(t.v.data(), centred ? columns : 0);
  const auto count = static_cast<double>(columns);
  const std::size_t all_rows = n.elements();
  Comparison all;
  for (std::size_t i = 0; i < n.rows; ++i) {
    all.begin_row(0, 0, i);
    const std::size_t at = i * columns;
    // The norm is of the stored sums.
    const std::vector<double> x = widened(n.has_residual ? y.data() + all_rows + at : t.q.data() + at, columns);
    const double mean = centred ? std::accumulate(x.begin(), x.end(), 0.0) / count : 0;
    double squares = 0;
    for (const double value : x) squares += (value - mean) * (value - mean);
    const double scale = 1 / std::sqrt(squares / count + static_cast<double>(workload::kNormEpsilon));
    for (std::size_t j = 0; j < columns; ++j) {
      const double d = x[j] - mean, expected = d * scale * gamma[j] + (centred ? beta[j] : 0);
      const double added =
          kOneRounding * (std::abs(gamma[j]) * scale * (std::abs(mean) + 5 * std::abs(d)) + std::abs(expected));
      all.compare(j, expected, rounded(expected, added), y[at + j]);
    }
  }
  for (std::size_t at = 0; n.has_residual && at < all_rows; ++at) {
    if (at % columns == 0) all.begin_row(0, 0, at / columns);
    const double expected = double{arith::float_from_half(t.q[at])} + arith::float_from_half(t.q[all_rows + at]);
    all.compare(at % columns, expected, rounded(expected, kOneRounding * std::abs(expected)), y[all_rows + at]);
  }
  return all.result();
}

GoldenResult check_elementwise(const workload::RowOperation& n, const Tensors& t, const std::vector<arith::Half>& y) {
  Comparison all;
  for (std::size_t at = 0; at < y.size(); ++at) {
    if (at % n.columns == 0) all.begin_row(0, 0, at / n.columns);
    const double z = t.k.empty() ? 0 : double{arith::float_from_half(t.k[at])};
    const double expected = elementwise_result(n.opcode, double{arith::float_from_half(t.q[at])}, z);
    const double tolerance = n.opcode == hal::Opcode::kCopy ? 0 : rounded(expected, kOneRounding * std::abs(expected));
    all.compare(at % n.columns, expected, tolerance, y[at]);
  }
  return all.result();
}

GoldenResult check_conversion(const workload::RowOperation& n, const Tensors& t, const std::vector<arith::Half>& y) {
  const double scale = scale_of_result(n, t);
  const Conversion conversion(n.type);
  Comparison all;
  for (std::size_t at = 0; at < y.size(); ++at) {
    if (at % n.columns == 0) all.begin_row(0, 0, at / n.columns);
    const double code = conversion.value(arith::float_from_half(t.q[at]) / scale), expected = scale * code;
    all.compare(at % n.columns, expected, rounded(expected, scale * conversion.error(code, 0)), y[at]);
  }
  return all.result();
}

GoldenResult check_activation(const workload::RowOperation& n, const Tensors& t, const std::vector<arith::Half>& y) {
  const std::size_t columns = n.columns, width = n.is_gated ? 2 * columns : columns;
  Comparison all;
  for (std::size_t i = 0; i < n.rows; ++i) {
    all.begin_row(0, 0, i);
    for (std::size_t j = 0; j < columns; ++j) {
      const double x = arith::float_from_half(t.q[i * width + j]);
      const double factor = n.is_gated ? arith::float_from_half(t.q[i * width + columns + j]) : 1;
      const double expected = activation_of(n.function, x) * factor;
      const double added =
          2 * kOneRounding * std::abs(expected) + 2 * arith::kActivationError * std::abs(x * factor);  // with golden's
      all.compare(j, expected, rounded(expected, added), y[i * columns + j]);
    }
  }
  return all.result();
}

GoldenResult check_rotation(const workload::RowOperation& n, const Tensors& t, const std::vector<arith::Half>& out) {
  const std::size_t columns = n.columns, head = n.head, half = head / 2;
  Comparison all;
  for (std::size_t i = 0; i < n.rows; ++i) {
    all.begin_row(0, 0, i);
    const std::vector<double> row = widened(t.q.data() + i * columns, columns),
                              angles = widened(t.k.data() + i * head, head);
    for (std::size_t j = 0; j < columns; ++j) {
      const bool second = j % head >= half;
      const double c = angles[j % half], s = angles[half + j % half];
      const double a = row[j] * c, b = row[second ? j - half : j + half] * s, expected = second ? b + a : a - b;
      all.compare(j, expected, rounded(expected, 2 * kOneRounding * (std::abs(a) + std::abs(b))), out[i * columns + j]);
    }
  }
  return all.result();
}

// Further operands of a fused product. Gamma gives normalised rows the spread of others.
std::vector<arith::Half> random_further(const workload::Gemm& g, std::uint64_t seed) {
  const FusedOperands elements = fused_operands_of(g);
  std::vector<arith::Half> all = random_tensor(3 * seed, elements.all(), 1);
  const double spread = kScoreSpread / std::sqrt(static_cast<double>(g.depth));
  for (std::size_t i = 0; i < elements.gamma + elements.beta; ++i) all[i] = random_half(3 * seed, i, spread);
  return all;
}

}  // namespace

Operands operands_of(const workload::Workload& w) {
  if (const workload::Gemm* g = w.gemm()) {
    return {std::uint64_t{g->rows} * g->depth, g->weight_elements(), fused_operands_of(*g).all()};
  }
  const workload::RowOperation& r = *w.rows();
  if (r.opcode == hal::Opcode::kSoftmax) return {r.rows, r.columns, 0};  // random_operands makes scores of them
  const bool is_centred = r.norm == workload::Norm::kLayerNorm;
  const auto elements = [&](std::uint8_t index) -> std::uint64_t {
    for (const hal::OperandInfo& o : hal::find(r.opcode)->operands) {
      if (o.name == nullptr || o.index != index) continue;
      if (o.when == hal::When::kGiven || (o.when == hal::When::kCentred && !is_centred))
        return 0;  // factors: in Q's rows
      const std::uint64_t columns = o.columns == hal::OperandExtent::kLength ? r.columns : r.head;
      return (o.rows == hal::OperandExtent::kOne ? 1 : r.rows) * columns;
    }
    return 0;
  };
  return {(r.is_gated ? 2 : 1) * r.result_elements(), elements(2), elements(3)};
}

bool takes_row_step(const workload::Workload& w) {
  return w.rows() != nullptr && w.rows()->opcode != hal::Opcode::kSoftmax;
}

Tensors random_operands(const workload::Workload& w, std::uint64_t seed) {
  if (takes_row_step(w)) {
    const Operands elements = operands_of(w);
    return {random_tensor(3 * seed, elements.q, kScoreSpread), random_tensor(3 * seed + 1, elements.k, 1),
            random_tensor(3 * seed + 2, elements.v, 1)};
  }
  const workload::Extents e = w.extents();
  AttentionShape shape{1, 1, e.seq_q, e.seq_kv, e.emb};
  double spread = kScoreSpread;
  if (w.rows() != nullptr) {  // scores
    shape.keys = 0;
    shape.width = e.seq_kv;
    spread *= std::sqrt(static_cast<double>(e.seq_kv));
  }
  AttentionTensors t = random_attention(shape, seed, spread);
  if (w.gemm() == nullptr) return {std::move(t.q), std::move(t.k), {}};
  const workload::Gemm& g = *w.gemm();
  const std::uint64_t first = g.second_weights_at(), all = g.weight_elements();
  t.k.resize(all);  // weights of a second product keep the spread of its rows
  const double of_second = 1 / std::sqrt(static_cast<double>(g.first_columns()));
  for (std::uint64_t i = first; i < all; ++i) t.k[i] = random_half(3 * seed + 1, i, of_second);
  return {std::move(t.q), std::move(t.k), random_further(g, seed)};
}

std::uint64_t operand_address(const workload::Workload& w, const hal::Layer& layer) {
  return w.rows() != nullptr && !takes_row_step(w) ? layer.c : layer.q;
}

std::uint64_t result_address(const workload::Workload& w, const hal::Layer& layer) {
  return w.gemm() != nullptr ? layer.c : layer.p;
}

GoldenResult check_operation(const workload::Workload& w, const Tensors& t, const std::vector<arith::Half>& result,
                             float factor) {
  if (const workload::Gemm* g = w.gemm()) return check_product(*g, t, result, factor);
  const workload::RowOperation& r = *w.rows();
  switch (r.opcode) {
    case hal::Opcode::kSoftmax:
      return check_softmax(r, t, result);
    case hal::Opcode::kNorm:
      return check_norm(r, t, result);
    case hal::Opcode::kActivate:
      return check_activation(r, t, result);
    case hal::Opcode::kRotate:
      return check_rotation(r, t, result);
    case hal::Opcode::kConvert:
      return check_conversion(r, t, result);
    default:
      return check_elementwise(r, t, result);
  }
}

}  // namespace attnvp::job
