#include "platform/run/golden/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/arith/number.h"
#include "platform/run/golden/golden_kernels.h"

namespace attnvp::job {

double elementwise_result(hal::Opcode operation, double x, double z) {
  switch (operation) {
    case hal::Opcode::kAdd:
      return x + z;
    case hal::Opcode::kCopy:
    case hal::Opcode::kConvert:
      return x;
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

namespace {

// Extents of a product, and the first element of its weights.
struct ProductPlace {
  std::size_t rows, columns, depth, first;
};
ProductPlace first_of(const workload::Gemm& g) { return {g.rows, g.columns, g.depth, 0}; }
ProductPlace second_of(const workload::Gemm& g) {
  return {g.rows, g.fusion.down, g.first_columns(), g.second_weights_at()};
}

// `weight(i)`: element i of the weights.
template <typename Weight>
std::vector<double> product(const ProductPlace& g, const std::vector<double>& rows, const Weight& weight) {
  constexpr std::size_t kColumnsAtATime = 512;  // limits memory
  const std::size_t depth = g.depth, columns = g.columns;
  std::vector<double> result(g.rows * columns), part;
  for (std::size_t first = 0; first < columns; first += kColumnsAtATime) {
    const std::size_t some = std::min(kColumnsAtATime, columns - first);
    Panels<double> b(depth, some);
    for (std::size_t j = 0; j < some; ++j) {
      for (std::size_t d = 0; d < depth; ++d) b.at(d, j) = weight(g.first + (first + j) * depth + d);
    }
    part.resize(g.rows * b.columns());
    multiply(rows.data(), g.rows, depth, b, part.data());
    for (std::size_t i = 0; i < g.rows; ++i) {
      const auto from = part.begin() + static_cast<std::ptrdiff_t>(i * b.columns());
      std::copy_n(from, some, result.begin() + static_cast<std::ptrdiff_t>(i * columns + first));
    }
  }
  return result;
}

std::vector<double> softmax(const workload::RowOperation& r, std::vector<double> x) {
  for (std::size_t first = 0; first < x.size(); first += r.columns) {
    double* const row = x.data() + first;
    const double most = *std::max_element(row, row + r.columns);
    double sum = 0;
    for (std::size_t j = 0; j < r.columns; ++j) sum += row[j] = std::exp(row[j] - most);
    for (std::size_t j = 0; j < r.columns; ++j) row[j] /= sum;
  }
  return x;
}

std::vector<double> norm(const workload::RowOperation& r, const WideOperands& o) {
  const std::size_t columns = r.columns, all = r.elements();
  const auto count = static_cast<double>(columns);
  std::vector<double> y(o.q.begin(), o.q.begin() + static_cast<std::ptrdiff_t>(all));
  if (r.has_residual) {
    for (std::size_t i = 0; i < all; ++i) y[i] += o.q[all + i];
    y.insert(y.end(), y.begin(), y.begin() + static_cast<std::ptrdiff_t>(all));  // the sums are a second result
  }
  for (std::size_t first = 0; first < all; first += columns) {
    double* const row = y.data() + first;
    const double mean = o.v.empty() ? 0 : std::accumulate(row, row + columns, 0.0) / count;
    double squares = 0;
    for (std::size_t j = 0; j < columns; ++j) squares += (row[j] - mean) * (row[j] - mean);
    const double scale = 1 / std::sqrt(squares / count + static_cast<double>(workload::kNormEpsilon));
    for (std::size_t j = 0; j < columns; ++j) {
      row[j] = (row[j] - mean) * scale * o.k[j] + (o.v.empty() ? 0 : o.v[j]);
    }
  }
  return y;
}

std::vector<double> activation(const workload::RowOperation& r, const std::vector<double>& x) {
  std::vector<double> y(r.elements());
  const std::size_t width = (r.is_gated ? 2 : 1) * std::size_t{r.columns};
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t at = i / r.columns * width + i % r.columns;
    y[i] = activation_of(r.function, x[at]) * (r.is_gated ? x[at + r.columns] : 1);
  }
  return y;
}

std::vector<double> rotation(const workload::RowOperation& r, const WideOperands& o) {
  std::vector<double> y(r.elements());
  const std::size_t half = r.head / 2;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double* const angles = o.k.data() + i / r.columns * r.head;
    const std::size_t j = i % r.head;
    const double c = angles[j % half], s = angles[half + j % half];
    y[i] = j < half ? o.q[i] * c - o.q[i + half] * s : o.q[i] * c + o.q[i - half] * s;
  }
  return y;
}

std::vector<double> row_result(const workload::RowOperation& r, const WideOperands& o) {
  switch (r.opcode) {
    case hal::Opcode::kSoftmax:
      return softmax(r, o.q);
    case hal::Opcode::kNorm:
      return norm(r, o);
    case hal::Opcode::kActivate:
      return activation(r, o.q);
    case hal::Opcode::kRotate:
      return rotation(r, o);
    default:
      break;
  }
  std::vector<double> y = o.q;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = elementwise_result(r.opcode, y[i], o.k.empty() ? 0 : o.k[i]);
  return y;
}

// A product with its row operations. `multiply`: one of its products of rows; `keep`: as a result is stored.
template <typename Multiply, typename Keep>
std::vector<double> fused_product(const workload::Gemm& g, std::vector<double> x, const std::vector<double>& further,
                                  const Multiply& multiply, const Keep& keep) {
  const workload::Fusion& f = g.fusion;
  const std::vector<FusedOperand> operands = list_of_fused(g);
  std::size_t next = 0;
  std::uint64_t at = 0;
  const auto take = [&] {
    const auto first = further.begin() + static_cast<std::ptrdiff_t>(at);
    at += operands[next].padded;
    return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(operands[next++].elements));
  };
  if (f.norm != workload::Norm::kNone) {
    std::vector<double> gamma = take(), beta;
    if (f.norm == workload::Norm::kLayerNorm) beta = take();
    x = keep(norm(workload::norm_rows(f.norm, g.rows, g.depth), {std::move(x), std::move(gamma), std::move(beta), {}}));
  }
  std::vector<double> y = keep(multiply(first_of(g), x));
  if (f.has_bias) {
    const std::vector<double> bias = take();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i % g.columns];
    y = keep(std::move(y));
  }
  if (f.rotated > 0) {
    std::vector<double> heads;
    for (std::size_t first = 0; first < y.size(); first += g.columns) {
      const auto row = y.begin() + static_cast<std::ptrdiff_t>(first);
      heads.insert(heads.end(), row, row + f.rotated);
    }
    heads = rotation(workload::rotate_rows(g.rows, f.rotated, f.head), {std::move(heads), take(), {}, {}});
    for (std::size_t i = 0; i < heads.size(); ++i) y[i / f.rotated * g.columns + i % f.rotated] = heads[i];
    y = keep(std::move(y));
  }
  if (f.activation)
    y = keep(activation(workload::activate_rows(*f.activation, f.is_gated, g.rows, g.first_columns()), y));
  if (f.down > 0) y = keep(multiply(second_of(g), y));
  if (f.has_residual) {
    const std::vector<double> residual = take();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += residual[i];
    y = keep(std::move(y));
  }
  return y;
}

template <typename Number>
std::vector<double> attention(const workload::Attention& a, const Quantised& kept, const Number* q, const Number* k,
                              const Number* v, bool rounds) {
  std::vector<double> result;
  for (AttentionPart& part : parts_of(a, kept)) {
    part.shape.rounds = rounds;
    if (!rounds) part.shape.type = part.shape.out = hal::ElementType::kFp16;
    const std::vector<double> rows = reference_attention(part.shape, q + part.query, k + part.key, v + part.value);
    result.insert(result.end(), rows.begin(), rows.end());
  }
  return result;
}

// As an output that the host reads: BF16 numbers become FP16 numbers.
std::vector<arith::Half> stored(hal::ElementType type, const std::vector<double>& x) {
  std::vector<arith::Half> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto value = static_cast<float>(x[i]);
    if (type == hal::ElementType::kBf16) {
      std::uint16_t bits = 0;
      arith::from_floats(type, &value, &bits, 1);
      value = arith::float_from_bf16(bits);
      y[i] = arith::half_from_float(value);
    } else {
      y[i] = arith::half_from_double(x[i]);
    }
  }
  return y;
}

std::vector<arith::Half> converted(hal::ElementType type, float scale, const std::vector<arith::Half>& x) {
  std::vector<unsigned char> bytes(x.size() * hal::element_bytes(type));
  arith::convert_row(x.data(), 1 / scale, type, bytes.data(), x.size());
  return converted_numbers(type, scale, bytes.data(), x.size());
}

}  // namespace

std::vector<double> exact_result(const workload::Workload& w, const WideOperands& o) {
  if (const workload::Gemm* g = w.gemm()) {
    const auto multiply = [&](const ProductPlace& place, const std::vector<double>& rows) {
      if (o.weights.empty()) return product(place, rows, [&o](std::size_t i) { return o.k[i]; });
      return product(place, rows, [&o](std::size_t i) { return double{arith::float_from_half(o.weights[i])}; });
    };
    return fused_product(*g, o.q, o.v, multiply, [](std::vector<double> x) { return x; });
  }
  if (w.rows() != nullptr) return row_result(*w.rows(), o);
  return attention(w.attention(), {}, o.q.data(), o.k.data(), o.v.data(), false);
}

std::vector<arith::Half> rounded_result(const workload::Workload& w, const Tensors& operands) {
  Quantised kept;
  if (w.has_typed_operands()) kept = quantised(w, operands);
  const Tensors& t = w.has_typed_operands() ? kept.numbers : operands;
  if (const workload::Gemm* g = w.gemm()) {
    const double factor = kept.factors.empty() ? 1 : static_cast<double>(kept.factors.front().score);
    const auto multiply = [&](const ProductPlace& place, const std::vector<double>& rows) {
      std::vector<double> y =
          product(place, rows, [&t](std::size_t i) { return double{arith::float_from_half(t.k[i])}; });
      for (double& x : y) x *= factor;
      return y;
    };
    if (!g->fusion.any()) return stored(w.out(), multiply(first_of(*g), widened(t.q.data(), t.q.size())));
    const auto keep = [](const std::vector<double>& x) {
      const std::vector<arith::Half> halves = stored(hal::ElementType::kFp16, x);
      return widened(halves.data(), halves.size());
    };
    const std::vector<arith::Half> y =
        stored(g->product_type(),
               fused_product(*g, widened(t.q.data(), t.q.size()), widened(t.v.data(), t.v.size()), multiply, keep));
    return g->fusion.out ? converted(*g->fusion.out, 1, y) : y;
  }
  if (w.rows() != nullptr && w.rows()->opcode == hal::Opcode::kConvert) {
    const float scale = scale_of_result(*w.rows(), t);
    return converted(w.out(), scale, t.q);
  }
  if (w.rows() != nullptr) {
    const auto wide = [](const std::vector<arith::Half>& x) { return widened(x.data(), x.size()); };
    return stored(w.out(), row_result(*w.rows(), {wide(t.q), wide(t.k), wide(t.v), {}}));
  }
  return stored(w.out(), attention(w.attention(), kept, t.q.data(), t.k.data(), t.v.data(), true));
}

}  // namespace attnvp::job
