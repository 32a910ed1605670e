#include "platform/run/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "platform/run/golden/golden_kernels.h"
#include "platform/run/golden/reference.h"

namespace attnvp::job {

using workload::LayerOperation;

namespace {

constexpr double kRotaryBase = 10000;

template <typename Number>
Number number(arith::Half x) {
  if constexpr (std::is_same_v<Number, arith::Half>) {
    return x;
  } else {
    return static_cast<Number>(arith::float_from_half(x));
  }
}

// Tensors that a file does not name get the names of their operation.
std::string input_of(const workload::LayerOperation& o, std::size_t input) {
  return input < o.inputs.size() ? o.inputs[input] : fmt::format("{} operand {}", o.name, input + 1);
}

// First input that is gamma.
std::size_t vectors_of(const workload::RowOperation& norm) { return norm.has_residual ? 2 : 1; }

std::uint64_t hash_of(const std::string& text) {  // FNV-1a
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

std::size_t columns_of(const workload::Workload& w) {
  if (w.gemm() != nullptr) return w.gemm()->result_columns();
  return w.rows() != nullptr ? w.rows()->columns : w.attention().values();
}

double rms(double squares, std::size_t count) {
  return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
}

}  // namespace

LayerChain::LayerChain(const workload::LayerGroup& group, std::uint64_t seed)
    : operations_(group.operations), seed_(seed), memory_(fmt::format("the tensors of {}", group.name)) {
  for (const LayerOperation& o : operations_) {
    for (const std::string& tensor : o.outputs) writers_.emplace(tensor, &o);
    for (const workload::TensorView& view : o.views) views_.emplace(view.output, &view);
  }
  for (const LayerOperation& o : operations_) note_given(o);
  for (const LayerOperation& o : operations_) {
    if (!o.workload.is_attention()) continue;
    const workload::Attention& a = o.workload.attention();
    const double factor = std::sqrt(kScoreSpread / static_cast<double>(a.scale) / std::sqrt(a.emb));
    for (const std::size_t input : {0U, 1U}) scale_scores(input_of(o, input), factor);
  }
  note_uses();
}

void LayerChain::note_given(const LayerOperation& o) {
  const auto note = [&](std::size_t input, double spread, std::uint32_t head = 0) {
    const std::string tensor = input_of(o, input);
    if (!is_written(tensor) && views_.count(tensor) == 0) given_[tensor] = {spread, head};
  };
  if (const workload::Gemm* g = o.workload.gemm()) {
    note(1, 1 / std::sqrt(static_cast<double>(g->depth)));
    const workload::Fusion& f = g->fusion;
    if (f.down > 0) note(2, 1 / std::sqrt(static_cast<double>(g->first_columns())));
    const std::size_t before = (f.norm == workload::Norm::kNone      ? 0
                                : f.norm == workload::Norm::kRmsNorm ? 1
                                                                     : 2) +
                               (f.has_bias ? 1 : 0);  // further operands
    if (f.rotated > 0) note(2 + before, 1, f.head);
  }
  const workload::RowOperation* r = o.workload.rows();
  if (r != nullptr && r->opcode == hal::Opcode::kRotate) note(1, 1, r->head);
}

// Scales the weights or vectors of the operations that write a tensor, before rotary embedding.
void LayerChain::scale_scores(const std::string& tensor, double factor) {
  if (const auto view = views_.find(tensor); view != views_.end()) {
    for (const workload::StridedCopy& part : view->second->parts) scale_scores(part.input, factor);
    return;
  }
  const auto scale = [&](const std::string& other, double spread) {
    if (!is_written(other) && views_.count(other) == 0) given_[other].spread = spread;
  };
  const auto writer = writers_.find(tensor);
  if (writer == writers_.end()) return scale(tensor, factor);
  const LayerOperation& o = *writer->second;
  if (const workload::Gemm* g = o.workload.gemm()) {
    return scale(input_of(o, 1), factor / std::sqrt(static_cast<double>(g->depth)));
  }
  const workload::RowOperation* r = o.workload.rows();
  if (r == nullptr) return;
  if (r->opcode == hal::Opcode::kRotate || r->opcode == hal::Opcode::kConvert) scale_scores(input_of(o, 0), factor);
  if (r->opcode != hal::Opcode::kNorm) return;
  for (std::size_t i = 0; i < 2; ++i) scale(input_of(o, vectors_of(*r) + i), factor);
}

void LayerChain::note_uses() {
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const LayerOperation& o = operations_[i];
    for (const std::string& tensor : o.inputs) last_uses_[tensor] = i;
    for (const workload::TensorView& view : o.views) {
      last_uses_[view.output] = i;
      for (const workload::StridedCopy& part : view.parts) {
        const bool is_own = std::find(o.outputs.begin(), o.outputs.end(), part.input) != o.outputs.end();
        if (!is_own) last_uses_[part.input] = i;
      }
    }
  }
}

bool LayerChain::reads_itself(const LayerOperation& o) const {
  return std::any_of(o.views.begin(), o.views.end(), [&](const workload::TensorView& view) {
    return std::any_of(view.parts.begin(), view.parts.end(),
                       [&](const workload::StridedCopy& part) { return part.input == o.outputs.front(); });
  });
}

arith::Half LayerChain::given(const std::string& tensor, std::uint64_t index) const {
  const auto known = given_.find(tensor);
  const Given what = known == given_.end() ? Given() : known->second;
  if (what.head == 0) return random_half(seed_ ^ hash_of(tensor), index, what.spread);
  const std::uint64_t half = what.head / 2, j = index % what.head;
  const double turn = std::pow(kRotaryBase, -2.0 * static_cast<double>(j % half) / what.head);
  const double angle = static_cast<double>(index / what.head) * turn;
  return arith::half_from_double(j < half ? std::cos(angle) : std::sin(angle));
}

template <typename Number>
std::vector<Number> LayerChain::fetch(const Store<Number>& store, const LayerOperation& o, std::size_t input,
                                      std::uint64_t elements, std::uint32_t time) const {
  const std::string tensor = input_of(o, input);
  std::vector<Number> result(elements);
  const auto found = store.find(tensor);
  const std::uint64_t first = time * elements;
  if (found == store.end()) {
    if (is_written(tensor)) return result;  // its own result, before the first time
    const Given what = given_.count(tensor) == 0 ? Given() : given_.at(tensor);
    const std::uint64_t seed = seed_ ^ hash_of(tensor);
    for (std::uint64_t i = 0; i < elements; ++i) {
      result[i] = number<Number>(what.head > 0 ? given(tensor, first + i) : random_half(seed, first + i, what.spread));
    }
    return result;
  }
  const std::vector<Number>& all = found->second;
  const std::uint64_t from = all.size() >= first + elements ? first : 0;
  std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(from), std::min<std::uint64_t>(elements, all.size()),
              result.begin());
  return result;
}

template <typename Number>
void LayerChain::make_views(Store<Number>& store, const LayerOperation& o) const {
  for (const workload::TensorView& view : o.views) {
    std::vector<Number> made(view.elements);
    for (const workload::StridedCopy& c : view.parts) {
      const auto found = store.find(c.input);
      const std::vector<Number>* const source = found == store.end() ? nullptr : &found->second;
      if (source == nullptr && is_written(c.input)) continue;  // its own result, before the first time
      const auto element = [&](std::uint64_t at) {
        if (source == nullptr) return number<Number>(given(c.input, at));
        return at < source->size() ? (*source)[at] : Number();
      };
      for (std::uint64_t b = 0; b < c.extent[0]; ++b) {
        for (std::uint64_t h = 0; h < c.extent[1]; ++h) {
          for (std::uint64_t n = 0; n < c.extent[2]; ++n) {
            const std::uint64_t from = c.from + b * c.from_stride[0] + h * c.from_stride[1] + n * c.from_stride[2];
            const std::uint64_t to = c.to + b * c.to_stride[0] + h * c.to_stride[1] + n * c.to_stride[2];
            for (std::uint64_t e = 0; e < c.extent[3]; ++e) {
              made.at(to + e * c.to_stride[3]) = element(from + e * c.from_stride[3]);
            }
          }
        }
      }
    }
    store[view.output] = std::move(made);
  }
}

// The weights of a product that are given are left out if not wanted.
template <typename Number, typename Operands>
void LayerChain::bind(const Store<Number>& store, const LayerOperation& o, std::uint32_t time, Operands& to,
                      bool with_weights) const {
  const auto input = [&](std::size_t i, std::uint64_t elements) { return fetch(store, o, i, elements, time); };
  if (const workload::Gemm* g = o.workload.gemm()) {
    to.q = input(0, std::uint64_t{g->rows} * g->depth);
    const std::size_t products = g->fusion.down > 0 ? 2 : 1;
    const bool has_computed = store.count(input_of(o, 1)) + (products > 1 ? store.count(input_of(o, 2)) : 0) > 0;
    if (with_weights || has_computed) {
      to.k = input(1, std::uint64_t{g->columns} * g->depth);
      if (products > 1) {
        const std::vector<Number> second = input(2, std::uint64_t{g->fusion.down} * g->first_columns());
        to.k.resize(g->second_weights_at());
        to.k.insert(to.k.end(), second.begin(), second.end());
      }
    }
    std::size_t further = 1 + products, padded = 0;
    for (const FusedOperand& operand : list_of_fused(*g)) {
      const std::vector<Number> elements = input(further++, operand.elements);
      to.v.insert(to.v.end(), elements.begin(), elements.end());
      to.v.resize(padded += operand.padded);
    }
    return;
  }
  if (o.workload.is_attention()) {
    const workload::Attention& a = o.workload.attention();
    to.q = input(0, a.query_elements());
    to.k = input(1, a.key_elements());
    to.v = input(2, a.value_elements());
    if (a.shares_pages()) {
      share_pages(a, a.emb, to.k);
      share_pages(a, a.values(), to.v);
    }
    return;
  }
  const workload::RowOperation& r = *o.workload.rows();
  const std::uint64_t all = r.elements(), columns = r.columns;
  if (r.opcode == hal::Opcode::kActivate && r.is_gated && o.inputs.size() > 1) {  // rows of gates and factors
    const std::vector<Number> gates = input(0, all), factors = input(1, all);
    for (std::uint64_t row = 0; row < all; row += columns) {
      const auto at = static_cast<std::ptrdiff_t>(row), end = static_cast<std::ptrdiff_t>(row + columns);
      to.q.insert(to.q.end(), gates.begin() + at, gates.begin() + end);
      to.q.insert(to.q.end(), factors.begin() + at, factors.begin() + end);
    }
    return;
  }
  to.q = input(0, r.opcode == hal::Opcode::kActivate && r.is_gated ? 2 * all : all);
  if (r.opcode == hal::Opcode::kNorm) {
    if (r.has_residual) {
      const std::vector<Number> residual = input(1, all);
      to.q.insert(to.q.end(), residual.begin(), residual.end());
    }
    to.k = input(vectors_of(r), columns);
    if (r.norm == workload::Norm::kLayerNorm) to.v = input(vectors_of(r) + 1, columns);
  } else if (r.opcode == hal::Opcode::kRotate) {
    to.k = input(1, std::uint64_t{r.rows} * r.head);
  } else if (r.opcode != hal::Opcode::kSoftmax && hal::find(r.opcode)->operands[2].name != nullptr) {  // two tensors
    to.k = input(1, all);
  }
}

// Returns whether the tensor has changed.
template <typename Number>
bool LayerChain::write(Store<Number>& store, const LayerOperation& o, std::uint32_t time,
                       const std::vector<Number>& result) const {
  const workload::RowOperation* r = o.workload.rows();
  const std::uint64_t parts = r != nullptr && r->has_residual ? 2 : 1, elements = result.size() / parts;
  bool has_changed = false;
  for (std::uint64_t p = 0; p < parts && p < o.outputs.size(); ++p) {
    std::vector<Number>& all = store[o.outputs[p]];
    all.resize(elements * o.count);
    Number* const to = all.data() + time * elements;
    const Number* const from = result.data() + p * elements;
    has_changed = has_changed || std::memcmp(to, from, elements * sizeof(Number)) != 0;
    std::copy_n(from, elements, to);
  }
  return has_changed;
}

Tensors LayerChain::operands(std::size_t operation, std::uint32_t time) {
  const LayerOperation& o = operations_[operation];
  if (time == 0) make_views(machine_, o);
  Tensors t;
  bind(machine_, o, time, t, true);
  if (const workload::RowOperation* r = o.workload.rows(); r != nullptr && r->opcode == hal::Opcode::kConvert) {
    scales_[o.outputs.front()] = t.scales.q = scale_of_result(*r, t);
  } else if (o.workload.has_typed_operands()) {
    t.scales.q = scale_of(input_of(o, 0));
    if (o.workload.is_attention()) t.scales.k = scale_of(input_of(o, 1)), t.scales.v = scale_of(input_of(o, 2));
  }
  return t;
}

// Scale of a converted tensor, or of a view that has parts of one; 0: none.
float LayerChain::scale_of(const std::string& tensor) const {
  if (const auto known = scales_.find(tensor); known != scales_.end()) return known->second;
  const auto view = views_.find(tensor);
  if (view == views_.end()) return 0;
  for (const workload::StridedCopy& part : view->second->parts) {
    if (const float scale = scale_of(part.input); scale > 0) return scale;
  }
  return 0;
}

bool LayerChain::keep(std::size_t operation, std::uint32_t time, const Tensors& operands,
                      const std::vector<arith::Half>& result) {
  const LayerOperation& o = operations_[operation];
  const bool again = reads_itself(o);
  if (write(machine_, o, time, result) && again) return false;
  do {
    if (time == 0) make_views(exact_, o);
    WideOperands wide;
    bind(exact_, o, time, wide, false);
    if (o.workload.gemm() != nullptr && wide.k.empty()) wide.weights = stored_weights(*o.workload.gemm(), operands.k);
    if (!write(exact_, o, time, exact_result(o.workload, wide))) break;
  } while (again);
  do {
    if (time == 0) make_views(rounded_, o);
    Tensors t;
    bind(rounded_, o, time, t, false);
    if (o.workload.gemm() != nullptr && t.k.empty()) t.k = operands.k;
    t.scales = operands.scales;
    if (!write(rounded_, o, time, rounded_result(o.workload, t))) break;
  } while (again);
  memory_.require(bytes());
  if (time + 1 == o.count) release(operation);
  return true;
}

// Tensors that no later operation reads.
void LayerChain::release(std::size_t operation) {
  for (const auto& [tensor, last] : last_uses_) {
    if (last != operation) continue;
    machine_.erase(tensor);
    exact_.erase(tensor);
    rounded_.erase(tensor);
  }
}

std::uint64_t LayerChain::bytes() const {
  std::uint64_t all = 0;
  for (const auto& [tensor, numbers] : exact_) all += numbers.size() * (sizeof(double) + 2 * sizeof(arith::Half));
  return all;
}

std::vector<ChainResult> LayerChain::check() const {
  std::vector<ChainResult> results;
  for (const LayerOperation& o : operations_) {
    for (const std::string& tensor : o.outputs) {
      if (last_uses_.count(tensor) != 0 || exact_.count(tensor) == 0) continue;
      const std::vector<double>& exact = exact_.at(tensor);
      const std::vector<arith::Half>&actual = machine_.at(tensor), &rounded = rounded_.at(tensor);
      const std::size_t columns = columns_of(o.workload), rows = exact.size() / columns;
      std::vector<double> squares(rows), magnitudes(rows);  // sums of the rows' squares
      double noise = 0, error = 0;
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const double d = arith::float_from_half(rounded[i]) - exact[i],
                     e = arith::float_from_half(actual[i]) - exact[i];
        if (!std::isfinite(d) || !std::isfinite(e)) continue;
        squares[i / columns] += d * d;
        magnitudes[i / columns] += exact[i] * exact[i];
        noise += d * d;
        error += e * e;
      }
      const double mean_noise = rms(noise, exact.size()), mean_error = rms(error, exact.size());
      Comparison comparison;
      for (std::size_t i = 0; i < exact.size(); ++i) {
        if (i % columns == 0) comparison.begin_row(0, 0, i / columns);
        const double of_row = std::max(rms(squares[i / columns], columns), mean_noise);
        const double size = std::abs(exact[i]), row_size = rms(magnitudes[i / columns], columns);
        const double of_element = of_row * (size > row_size ? size / row_size : 1);
        comparison.compare(i % columns, exact[i], kNoiseFactor * of_element + kH * size + kHalfTiny, actual[i]);
      }
      ChainResult one{tensor, comparison.result(), mean_error, mean_noise};
      if (mean_error > kMeanFactor * mean_noise) one.golden.passed = false;
      results.push_back(std::move(one));
    }
  }
  return results;
}

}  // namespace attnvp::job
