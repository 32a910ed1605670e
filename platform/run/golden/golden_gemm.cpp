#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "models/arith/layer.h"
#include "models/arith/number.h"
#include "platform/run/golden/golden_kernels.h"
#include "platform/run/golden/reference.h"

namespace attnvp::job {

namespace {

constexpr std::size_t kRowsAtATime = 64;
constexpr double kSteepest = 1.13;  // derivative of an activation, at most

// A number in double precision, and the bound of the machine's error.
struct Bounded {
  double value = 0, error = 0;
};

// The row operations of a product, row by row.
class FusedRows {
 public:
  FusedRows(const workload::Gemm& g, const std::vector<arith::Half>& operands) : g_(g), conversion_(g.out()) {
    const FusedOperands sizes = fused_operands_of(g);
    const arith::Half* next = operands.data();
    const auto take = [&next](std::uint64_t padded, std::uint64_t elements) {
      std::vector<double> numbers = widened(next, padded > 0 ? elements : 0);
      next += padded;
      return numbers;
    };
    gamma_ = take(sizes.gamma, g.depth);
    beta_ = take(sizes.beta, g.depth);
    bias_ = take(sizes.bias, g.columns);
    angles_ = take(sizes.angles, std::uint64_t{g.rows} * g.fusion.head);
    residual_ = take(sizes.residual, std::uint64_t{g.rows} * g.result_columns());
  }

  // Normalises a row of A. Returns the 2-norm of its errors.
  double normalise(double* x) const {
    if (gamma_.empty()) return 0;
    const std::size_t n = g_.depth;
    const auto count = static_cast<double>(n);
    const double mean = beta_.empty() ? 0 : std::accumulate(x, x + n, 0.0) / count;
    double squares = 0, errors = 0;
    for (std::size_t j = 0; j < n; ++j) squares += (x[j] - mean) * (x[j] - mean);
    const double scale = 1 / std::sqrt(squares / count + static_cast<double>(workload::kNormEpsilon));
    for (std::size_t j = 0; j < n; ++j) {
      const double d = x[j] - mean;
      x[j] = d * scale * gamma_[j] + (beta_.empty() ? 0 : beta_[j]);
      const double added =
          kOneRounding * (std::abs(gamma_[j]) * scale * (std::abs(mean) + 5 * std::abs(d)) + std::abs(x[j]));
      const double error = rounded(x[j], added);
      errors += error * error;
    }
    return std::sqrt(errors);
  }

  // Applies the row operations of the first product to a row of it as stored.
  void finish_first(std::size_t row, std::vector<Bounded>& x) const {
    const workload::Fusion& f = g_.fusion;
    for (std::size_t j = 0; j < bias_.size(); ++j) x[j] = sum(x[j], bias_[j]);
    if (f.rotated > 0) rotate(row, x);
    const std::size_t width = g_.first_columns();
    for (std::size_t j = 0; f.activation && j < width; ++j) {
      x[j] = activated(*f.activation, x[j], f.is_gated ? x[width + j] : Bounded{1, 0});
    }
  }
  // Adds the residual tensor to a row of the last product, and converts it.
  void finish_last(std::size_t row, std::vector<Bounded>& x) const {
    const std::size_t width = g_.result_columns();
    for (std::size_t j = 0; !residual_.empty() && j < width; ++j) x[j] = sum(x[j], residual_[row * width + j]);
    for (std::size_t j = 0; g_.fusion.out && j < width; ++j) {
      const double y = conversion_.value(x[j].value);
      x[j] = {y, rounded(y, conversion_.error(y, x[j].error))};
    }
  }

 private:
  static Bounded sum(const Bounded& x, double z) {
    const double y = x.value + z;
    return {y, rounded(y, x.error + kOneRounding * (std::abs(y) + x.error))};
  }
  static Bounded activated(hal::Activation f, const Bounded& x, const Bounded& z) {
    const double of_x = activation_of(f, x.value), y = of_x * z.value, factor = std::abs(z.value) + z.error;
    const double taken = kSteepest * x.error * factor + std::abs(of_x) * z.error;
    const double own =
        2 * kOneRounding * (std::abs(y) + taken) + 2 * arith::kActivationError * std::abs(x.value) * factor;
    return {y, rounded(y, taken + own)};
  }
  void rotate(std::size_t row, std::vector<Bounded>& x) const {
    const std::size_t head = g_.fusion.head, half = head / 2;
    const double* const angles = angles_.data() + row * head;
    for (std::size_t first = 0; first < g_.fusion.rotated; first += head) {
      for (std::size_t j = 0; j < half; ++j) {
        const Bounded a = x[first + j], b = x[first + half + j];
        x[first + j] = turned(a, angles[j], b, -angles[half + j]);
        x[first + half + j] = turned(b, angles[j], a, angles[half + j]);
      }
    }
  }
  static Bounded turned(const Bounded& a, double c, const Bounded& b, double s) {
    const double y = a.value * c + b.value * s, taken = a.error * std::abs(c) + b.error * std::abs(s);
    const double size = std::abs(a.value * c) + std::abs(b.value * s) + taken;
    return {y, rounded(y, taken + 2 * kOneRounding * size)};
  }

  const workload::Gemm& g_;
  Conversion conversion_;
  std::vector<double> gamma_, beta_, bias_, angles_, residual_;
};

}  // namespace

FusedOperands fused_operands_of(const workload::Gemm& g) {
  constexpr std::uint64_t kGrain = 64 / sizeof(arith::Half);
  const auto padded = [](bool is, std::uint64_t elements) {
    return is ? (elements + kGrain - 1) / kGrain * kGrain : 0;
  };
  const workload::Fusion& f = g.fusion;
  FusedOperands o;
  o.gamma = padded(f.norm != workload::Norm::kNone, g.depth);
  o.beta = padded(f.norm == workload::Norm::kLayerNorm, g.depth);
  o.bias = padded(f.has_bias, g.columns);
  o.angles = padded(f.rotated > 0, std::uint64_t{g.rows} * f.head);
  o.residual = padded(f.has_residual, std::uint64_t{g.rows} * g.result_columns());
  return o;
}

std::vector<FusedOperand> list_of_fused(const workload::Gemm& g) {
  const FusedOperands sizes = fused_operands_of(g);
  const std::uint64_t rows = g.rows;
  std::vector<FusedOperand> all;
  for (const FusedOperand& o : {FusedOperand{g.depth, sizes.gamma},
                                {g.depth, sizes.beta},
                                {g.columns, sizes.bias},
                                {rows * g.fusion.head, sizes.angles},
                                {rows * g.result_columns(), sizes.residual}}) {
    if (o.padded > 0) all.push_back(o);
  }
  return all;
}

namespace {

// B, or E of a second product.
class WeightPanels {
 public:
  WeightPanels(const arith::Half* weights, std::size_t columns, std::size_t depth)
      : columns_(columns), depth_(depth), panels_(depth, columns), norms_(columns) {
    for (std::size_t j = 0; j < columns; ++j) {
      double square = 0;
      for (std::size_t d = 0; d < depth; ++d) {
        const double x = arith::float_from_half(weights[j * depth + d]);
        panels_.at(d, j) = x;
        square += x * x;
      }
      norms_[j] = std::sqrt(square);
    }
  }

  // Products of `rows` rows, whose errors have the 2-norms `errors`, times `factor`, with the bounds of their sums.
  std::vector<std::vector<Bounded>> times(const std::vector<double>& rows, const std::vector<double>& errors,
                                          double factor) const {
    std::vector<double> sums(errors.size() * panels_.columns());
    multiply(rows.data(), errors.size(), depth_, panels_, sums.data());
    std::vector<std::vector<Bounded>> result(errors.size(), std::vector<Bounded>(columns_));
    for (std::size_t i = 0; i < errors.size(); ++i) {
      double square = 0;
      for (std::size_t d = 0; d < depth_; ++d) square += rows[i * depth_ + d] * rows[i * depth_ + d];
      const double unit = 1.01 * static_cast<double>(depth_) * kU * (std::sqrt(square) + errors[i]) + errors[i];
      for (std::size_t j = 0; j < columns_; ++j) {
        const double expected = factor * sums[i * panels_.columns() + j];
        result[i][j] = {expected, factor * unit * norms_[j] + (factor != 1 ? 2.02 * kU * std::abs(expected) : 0)};
      }
    }
    return result;
  }

 private:
  std::size_t columns_, depth_;
  Panels<double> panels_;
  std::vector<double> norms_;
};

}  // namespace

GoldenResult check_product(const workload::Gemm& n, const Tensors& t, const std::vector<arith::Half>& c,
                           double factor) {
  const bool bf16 = n.product_type() == hal::ElementType::kBf16;  // rounded to BF16, then to the host's FP16
  const arith::Rounding loss = arith::rounding_of(n.product_type());
  const double relative = loss.relative + (bf16 ? kH : 0), least = loss.least + (bf16 ? kHalfTiny : 0);
  const auto store = [&](std::vector<Bounded>& row) {
    for (Bounded& x : row) x.error += relative * (std::abs(x.value) + x.error) + least;
  };
  const std::size_t rows = n.rows, depth = n.depth, hidden = n.first_columns(), width = n.result_columns();
  const FusedRows fused(n, t.v);
  const WeightPanels first(t.k.data(), n.columns, depth);
  std::optional<WeightPanels> second;
  if (n.fusion.down > 0) second.emplace(t.k.data() + n.second_weights_at(), width, hidden);
  Comparison all;
  for (std::size_t from = 0; from < rows; from += kRowsAtATime) {
    const std::size_t here = std::min(kRowsAtATime, rows - from);
    std::vector<double> q = widened(t.q.data() + from * depth, here * depth), errors(here);
    for (std::size_t i = 0; i < here; ++i) errors[i] = fused.normalise(q.data() + i * depth);
    std::vector<std::vector<Bounded>> products = first.times(q, errors, factor);
    for (std::size_t i = 0; i < here; ++i) {
      store(products[i]);
      fused.finish_first(from + i, products[i]);
    }
    if (second) {
      q.resize(here * hidden);
      for (std::size_t i = 0; i < here; ++i) {
        double square = 0;
        for (std::size_t j = 0; j < hidden; ++j) {
          q[i * hidden + j] = products[i][j].value;
          square += products[i][j].error * products[i][j].error;
        }
        errors[i] = std::sqrt(square);
      }
      products = second->times(q, errors, 1);
      for (std::vector<Bounded>& row : products) store(row);
    }
    for (std::size_t i = 0; i < here; ++i) {
      all.begin_row(0, 0, from + i);
      fused.finish_last(from + i, products[i]);
      for (std::size_t j = 0; j < width; ++j) {
        all.compare(j, products[i][j].value, products[i][j].error, c[(from + i) * width + j]);
      }
    }
  }
  return all.result();
}

}  // namespace attnvp::job
