#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "platform/workload/layer/layer.h"

namespace attnvp::workload {

namespace {

// Operands of a fused product behind A and B: weights of a second product, then in the order of the job (FusedProduct).
enum class FurtherOperand : std::uint8_t { kSecond, kGamma, kBeta, kBias, kAngles, kResidual };

std::size_t position_of(const Fusion& f, FurtherOperand operand) {
  const bool before[] = {f.down > 0, f.norm != Norm::kNone, f.norm == Norm::kLayerNorm, f.has_bias, f.rotated > 0};
  return 2 + static_cast<std::size_t>(std::count(before, before + static_cast<std::size_t>(operand), true));
}

void insert(LayerOperation& o, FurtherOperand operand, const std::string& tensor) {
  const std::size_t at = position_of(o.workload.gemm()->fusion, operand);
  o.inputs.insert(o.inputs.begin() + static_cast<std::ptrdiff_t>(at), tensor);
}

class Fuser {
 public:
  Fuser(std::vector<LayerOperation> operations, const FusionChoice& choice)
      : all_(std::move(operations)), choice_(choice) {}

  std::vector<LayerOperation> run() {
    for (std::size_t p = 0; p < all_.size(); ++p) {
      if (all_[p].workload.gemm() == nullptr || all_[p].count != 1) continue;
      std::size_t at = p;  // of the product, which moves to its last part
      while (const auto next = with_next(at)) at = *next;
      const std::size_t moved = at > p ? 1 : 0;
      p -= moved + (at - with_norm(at));  // operations that are gone before the next one
    }
    for (std::size_t a = 0; a + 1 < all_.size(); ++a) {
      if (with_experts(a)) --a;
    }
    for (std::size_t p = 0; p + 1 < all_.size(); ++p) {
      if (all_[p].workload.gemm() != nullptr && with_second(p)) --p;
    }
    for (std::size_t a = 0; a < all_.size(); ++a) {
      if (all_[a].workload.is_attention() && all_[a].workload.attention().append) with_append(a);
    }
    return std::move(all_);
  }

 private:
  // Operations and views that read a tensor.
  struct Readers {
    std::vector<std::size_t> operations;
    std::size_t views = 0;
  };
  Readers readers_of(const std::string& tensor) const {
    Readers readers;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      for (const TensorView& v : all_[i].views) {
        for (const StridedCopy& part : v.parts) readers.views += part.input == tensor ? 1 : 0;
      }
      for (const std::string& input : all_[i].inputs) {
        if (input == tensor) readers.operations.push_back(i);
      }
    }
    return readers;
  }

  // Fuses the product at `p` with the operation on its result. Returns the new position; none: nothing is fused.
  std::optional<std::size_t> with_next(std::size_t p) {
    const Readers readers = readers_of(all_[p].outputs.front());
    if (readers.views == 0 && readers.operations.size() == 1) return with_rows(p, readers.operations.front());
    if (readers.operations.empty() && readers.views > 0) return with_rotation(p);
    return std::nullopt;
  }

  std::optional<std::size_t> with_rows(std::size_t p, std::size_t q) {
    const LayerOperation &product = all_[p], &next = all_[q];
    const Gemm& g = *product.workload.gemm();
    const RowOperation* const r = next.workload.rows();
    if (r == nullptr || next.count != 1 || r->rows != g.rows || g.fusion.out) return std::nullopt;
    LayerOperation both = product;
    Fusion f = g.fusion;
    std::string residual;
    if (r->opcode == hal::Opcode::kActivate && !f.activation && f.down == 0 && !f.has_residual &&
        r->columns * (r->is_gated ? 2 : 1) == g.columns) {
      f.activation = r->function;
      f.is_gated = r->is_gated;
    } else if (r->opcode == hal::Opcode::kConvert && is_result_type(r->type) && r->columns == g.result_columns()) {
      f.out = r->type;
    } else if (r->opcode == hal::Opcode::kAdd && !f.has_residual && r->columns == g.result_columns()) {
      f.has_residual = true;
      residual = next.inputs[next.inputs[0] == product.outputs[0] ? 1 : 0];
    } else {
      return std::nullopt;
    }
    set(both, f);
    if (!residual.empty()) insert(both, FurtherOperand::kResidual, residual);
    both.name += fmt::format(" + {}", r->opcode == hal::Opcode::kAdd ? "sum" : r->word());
    both.outputs = next.outputs;
    return replace(p, q, std::move(both));
  }

  // Fuses the activation at `a` with the products of experts, whose rows a view puts together: with all or with none.
  bool with_experts(std::size_t a) {
    const LayerOperation& activation = all_[a];
    const RowOperation* const r = activation.workload.rows();
    if (r == nullptr || r->opcode != hal::Opcode::kActivate) return false;
    const std::vector<TensorView>& views = activation.views;
    const auto rows = std::find_if(views.begin(), views.end(),
                                   [&](const TensorView& v) { return v.output == activation.inputs.front(); });
    if (rows == views.end()) return false;
    if (const Readers of_rows = readers_of(rows->output); of_rows.views > 0 || of_rows.operations.size() != 1)
      return false;
    const std::uint32_t width = r->is_gated ? 2 : 1;
    std::vector<std::pair<std::size_t, LayerOperation>> products;  // position, and with the activation
    TensorView results{activation.outputs.front(), rows->elements / width, rows->parts};
    for (StridedCopy& part : results.parts) {
      const auto p = std::find_if(all_.begin(), all_.end(),
                                  [&](const LayerOperation& o) { return o.outputs.front() == part.input; });
      const Gemm* const g = p == all_.end() ? nullptr : p->workload.gemm();
      if (g == nullptr || g->fusion.has_epilogue() || width * r->columns != g->columns) return false;
      const Readers readers = readers_of(part.input);
      const bool is_whole = part.from == 0 && part.extent[2] == std::uint64_t{g->rows} * p->count &&
                            part.extent[3] == g->columns && part.from_stride[2] == g->columns;
      if (!is_whole || readers.views != 1 || !readers.operations.empty()) return false;
      Fusion f = g->fusion;
      f.activation = r->function;
      f.is_gated = r->is_gated;
      LayerOperation both = *p, own = activation;
      set(both, f);
      both.name += " + " + r->word();
      own.workload.operation = activate_rows(r->function, r->is_gated, g->rows, r->columns);
      if (!refusal_of(*both.workload.gemm()).empty() || !choice_({&*p, &own}, {&both})) return false;
      products.emplace_back(static_cast<std::size_t>(p - all_.begin()), std::move(both));
      part.extent[3] /= width, part.from_stride[2] /= width, part.to /= width, part.to_stride[2] /= width;
    }
    std::vector<TensorView> moved{std::move(results)};
    std::copy_if(views.begin(), views.end(), std::back_inserter(moved),
                 [&](const TensorView& v) { return v.output != activation.inputs.front(); });
    for (auto& [position, both] : products) all_[position] = std::move(both);
    std::vector<TensorView>& next = all_[a + 1].views;
    next.insert(next.begin(), std::make_move_iterator(moved.begin()), std::make_move_iterator(moved.end()));
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(a));
    return true;
  }

  // Rotary embedding of the leading columns: a view takes them from the product, and later ones put the result in their
  // place, for which the fused product's columns stand.
  std::optional<std::size_t> with_rotation(std::size_t p) {
    const LayerOperation& product = all_[p];
    const Gemm& g = *product.workload.gemm();
    if (g.fusion.out) return std::nullopt;
    const std::string tensor = product.outputs.front();
    for (std::size_t q = p + 1; q < all_.size(); ++q) {
      const RowOperation* const r = all_[q].workload.rows();
      if (r == nullptr || r->opcode != hal::Opcode::kRotate || r->rows != g.rows) continue;
      const std::vector<TensorView>& views = all_[q].views;
      const auto view = std::find_if(views.begin(), views.end(),
                                     [&](const TensorView& v) { return v.output == all_[q].inputs.front(); });
      if (view == views.end() || view->parts.size() != 1) continue;
      const StridedCopy& part = view->parts.front();
      const bool is_leading = part.input == tensor && part.from == 0 && part.extent[1] == g.rows &&
                              part.from_stride[1] == g.columns && part.from_stride[2] == r->head &&
                              part.extent[3] == r->head;
      if (!is_leading || readers_of(view->output).operations.size() != 1) continue;
      LayerOperation both = product;
      const std::uint64_t rows = g.rows, columns = g.columns;
      Fusion f = g.fusion;
      f.head = r->head;
      f.rotated = r->columns;
      set(both, f);
      insert(both, FurtherOperand::kAngles, all_[q].inputs[1]);
      both.name += " + rope";
      const std::string rotated = all_[q].outputs.front();
      std::vector<TensorView> others;
      std::copy_if(views.begin(), views.end(), std::back_inserter(others),
                   [&](const TensorView& v) { return v.output != all_[q].inputs.front(); });
      std::vector<LayerOperation> before = all_;
      all_[q].views = std::move(others);
      const auto at = replace(p, q, std::move(both));
      if (!at) {
        all_ = std::move(before);
        return std::nullopt;
      }
      for (LayerOperation& o : all_) read_instead(o, rotated, f.rotated, tensor, columns);
      const auto reader = std::find_if(all_.begin(), all_.end(), [&](const LayerOperation& o) {
        return std::find(o.inputs.begin(), o.inputs.end(), rotated) != o.inputs.end();
      });
      if (reader != all_.end()) {  // of the whole tensor: a conversion
        reader->views.insert(reader->views.begin(), view_of_rows(rotated, tensor, rows, f.rotated, {0, columns}));
      }
      return at;
    }
    return std::nullopt;
  }
  // Rows of `tensor`, with `stride` elements, stand for those of `rotated`, with `width` elements.
  static void read_instead(LayerOperation& o, const std::string& rotated, std::uint64_t width,
                           const std::string& tensor, std::uint64_t stride) {
    for (TensorView& v : o.views) {
      for (StridedCopy& part : v.parts) {
        if (part.input != rotated) continue;
        part.input = tensor;
        part.from = part.from / width * stride + part.from % width;
        for (std::uint64_t& step : part.from_stride) {
          if (step >= width) step = step / width * stride;
        }
      }
    }
  }

  // Fuses the product at `p` with the norm that it reads. Returns the product's position.
  std::size_t with_norm(std::size_t p) {
    const std::string tensor = all_[p].inputs.front();
    const Readers readers = readers_of(tensor);
    if (readers.views > 0 || readers.operations.size() != 1) return p;
    for (std::size_t q = 0; q < p; ++q) {
      const RowOperation* const r = all_[q].workload.rows();
      const Gemm& g = *all_[p].workload.gemm();
      if (r == nullptr || r->opcode != hal::Opcode::kNorm || all_[q].outputs.front() != tensor) continue;
      if (r->has_residual || r->rows != g.rows || r->columns != g.depth) continue;
      LayerOperation both = all_[p];
      Fusion f = g.fusion;
      f.norm = r->norm;
      set(both, f);
      both.inputs[0] = all_[q].inputs[0];
      insert(both, FurtherOperand::kGamma, all_[q].inputs[1]);
      if (r->norm == Norm::kLayerNorm) insert(both, FurtherOperand::kBeta, all_[q].inputs[2]);
      both.name = fmt::format("{} + {}", r->word(), both.name);
      return replace(q, p, std::move(both)).value_or(p);
    }
    return p;
  }

  // Fuses the product at `p` with a product that alone reads its result.
  bool with_second(std::size_t p) {
    const LayerOperation& first = all_[p];
    const Readers readers = readers_of(first.outputs.front());
    if (readers.views > 0 || readers.operations.size() != 1) return false;
    const std::size_t q = readers.operations.front();
    const LayerOperation& second = all_[q];
    const Gemm &g = *first.workload.gemm(), *const next = second.workload.gemm();
    if (next == nullptr || first.count != 1 || second.count != 1 || second.inputs[0] != first.outputs.front())
      return false;
    Fusion own = next->fusion;
    own.has_residual = false;
    const bool is_alike = next->rows == g.rows && next->type == g.type && next->weights.text() == g.weights.text();
    if (!is_alike || own.any() || g.fusion.down > 0 || g.fusion.has_residual || g.fusion.out) return false;
    LayerOperation both = first;
    Fusion f = g.fusion;
    f.down = next->columns;
    f.has_residual = next->fusion.has_residual;
    set(both, f);
    insert(both, FurtherOperand::kSecond, second.inputs[1]);
    if (f.has_residual) insert(both, FurtherOperand::kResidual, second.inputs[2]);
    both.name += ", " + second.name;
    both.outputs = second.outputs;
    return replace(p, q, std::move(both)).has_value();
  }

  // The product that a view of K or V takes the new rows from, with its columns `first` on: nullptr if those rows are
  // of another kind. The view begins with the cache.
  LayerOperation* writer_of_rows(const TensorView& view, const Attention& a, std::uint64_t first) {
    if (view.parts.size() < 2) return nullptr;
    const std::string& tensor = view.parts[1].input;
    const auto product =
        std::find_if(all_.begin(), all_.end(), [&](const LayerOperation& o) { return o.outputs.front() == tensor; });
    const Gemm* const g = product == all_.end() ? nullptr : product->workload.gemm();
    if (g == nullptr || product->count != 1) return nullptr;
    TensorView rows{view.output, view.elements, {}};
    const std::uint64_t all = g->columns, width = std::uint64_t{a.heads_of_kv()} * a.emb;
    if (all < 2 * width) return nullptr;
    add_keys(rows, a, a.emb, 0, {tensor, all - 2 * width + first, all, a.emb, a.emb});
    for (std::size_t i = 1; i < view.parts.size(); ++i) {  // with the rotary embedding, once more
      if (!is_same(view.parts[i], rows.parts[(i - 1) % rows.parts.size()])) return nullptr;
    }
    return &*product;
  }
  static bool is_same(const StridedCopy& x, const StridedCopy& y) {
    return x.input == y.input && x.from == y.from && x.to == y.to && x.extent == y.extent &&
           x.from_stride == y.from_stride && x.to_stride == y.to_stride;
  }

  // A product stores new rows of K and V into the cache, and the attention at `at` finds them there.
  void with_append(std::size_t at) {
    const Attention& a = all_[at].workload.attention();
    const bool is_whole = a.mask.history + std::uint64_t{a.seq_q} == a.seq_kv;  // new tokens are the last ones
    if (!a.requests.empty() || a.ragged() || a.page > 0 || a.values() != a.emb || !is_whole) return;
    const auto view_of = [&](std::size_t input) {
      return std::find_if(all_[at].views.begin(), all_[at].views.end(),
                          [&](const TensorView& v) { return v.output == all_[at].inputs[input]; });
    };
    const auto k = view_of(1), v = view_of(2), end = all_[at].views.end();
    if (k == end || v == end) return;
    const std::uint64_t width = std::uint64_t{a.heads_of_kv()} * a.emb;
    LayerOperation* const product = writer_of_rows(*k, a, 0);
    if (product == nullptr || writer_of_rows(*v, a, width) != product) return;
    const Gemm& g = *product->workload.gemm();
    if (g.out() != a.type || std::uint64_t{a.batch} * a.seq_q != g.rows) return;
    const Readers readers = readers_of(product->outputs.front());
    std::size_t own = 0;  // parts of attention's views that read it
    for (const TensorView& view : all_[at].views) {
      for (const StridedCopy& part : view.parts) own += part.input == product->outputs.front() ? 1 : 0;
    }
    if (!readers.operations.empty() || readers.views != own) return;
    LayerOperation storing = *product, reading = all_[at];
    Fusion f = g.fusion;
    f.append = {a.batch, a.heads_of_kv(), a.emb, a.seq_kv};
    set(storing, f);
    storing.name += " + append";
    reading.workload.attention().append = false;
    if (!refusal_of(*storing.workload.gemm()).empty() || !choice_({product, &all_[at]}, {&storing, &reading})) return;
    *product = std::move(storing);
    all_[at] = std::move(reading);
  }

  static void set(LayerOperation& o, const Fusion& f) {
    const Gemm& g = *o.workload.gemm();
    o.workload.operation = gemm(g.rows, g.columns, g.depth, g.type, f, g.weights);
  }

  // Puts `both` in place of the operations `first` and `last`, where `last` is. Views of `first` are made no later.
  std::optional<std::size_t> replace(std::size_t first, std::size_t last, LayerOperation both) {
    if (!refusal_of(*both.workload.gemm()).empty() || !choice_({&all_[first], &all_[last]}, {&both}))
      return std::nullopt;
    both.parameters = all_[first].parameters + all_[last].parameters;
    both.active = all_[first].active + all_[last].active;
    both.waiting = all_[all_[first].workload.gemm() == nullptr ? first : last].waiting;
    both.views = all_[last].views;
    std::vector<TensorView> views = all_[first].views;
    all_[last] = std::move(both);
    std::vector<TensorView>& next = all_[first + 1].views;
    next.insert(next.begin(), std::make_move_iterator(views.begin()), std::make_move_iterator(views.end()));
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(first));
    return last - 1;
  }

  std::vector<LayerOperation> all_;
  const FusionChoice& choice_;
};

}  // namespace

std::vector<LayerOperation> fused(std::vector<LayerOperation> operations, const FusionChoice& choice) {
  return Fuser(std::move(operations), choice).run();
}

}  // namespace attnvp::workload
